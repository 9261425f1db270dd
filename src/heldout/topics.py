"""The socket between models and evaluators."""

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.files import reading_arrays, replacing

ROW_SUM_TOLERANCE = 1e-9


@nb.njit("void(int64[::1], int32[::1], float64[:, ::1], float64[:, ::1], float64[::1])", cache=True)
def _add_probabilities(rows, words, phi_by_word, theta, out):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        h = theta[rows[i]]
        w = phi_by_word[words[i]]
        total = 0.0
        for k in range(h.shape[0]):
            total += h[k] * w[k]
        out[i] += total


@dataclass(frozen=True, eq=False)
class Topics:
    """Topics over a vocabulary and the Dirichlet prior of a document's weights on them.

    Attributes:
        phi: (K, V) float64, p(w | z); every row sums to 1.
        alpha: (K,) float64, the Dirichlet parameters of theta; all positive.
        vocabulary: the V words.
        provenance: who trained them, on what and how; JSON-compatible.

    Raises:
        InputError: on a NaN, a negative entry, a row that does not sum to 1, a parameter that is not
            positive, or shapes that do not fit.
    """

    phi: NDArray[np.float64]
    alpha: NDArray[np.float64]
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.phi.ndim != 2 or self.phi.shape != (len(self.alpha), len(self.vocabulary)):
            raise InputError(
                f"topics: phi is {self.phi.shape}, but there are {len(self.alpha)} Dirichlet parameters"
                f" and {len(self.vocabulary)} words"
            )
        if not np.all(self.phi >= 0.0):  # also False for NaN
            raise InputError("topics: phi has a negative or undefined entry")
        deviation = np.abs(self.phi.sum(axis=1) - 1.0)
        if len(deviation) == 0 or deviation.max() > ROW_SUM_TOLERANCE:
            row = int(deviation.argmax()) if len(deviation) else 0
            raise InputError(f"topics: row {row} of phi does not sum to 1; divide each row by its sum")
        if not np.all((self.alpha > 0.0) & np.isfinite(self.alpha)):
            raise InputError("topics: every Dirichlet parameter must be positive and finite")

    @property
    def n_topics(self) -> int:
        """K, the number of topics."""
        return len(self.alpha)

    @cached_property
    def phi_by_word(self) -> NDArray[np.float64]:
        """(V, K) contiguous copy of phi's transpose: what a kernel reads of one word lies together."""
        return np.ascontiguousarray(self.phi.T)

    def smoothed(self, constant: float) -> "Topics":
        """Return the topics with `constant` added to every p(w | z) and renormalised (section 5).

        phi'[k, w] = (phi[k, w] + constant) / (1 + V constant)
        """
        phi = (self.phi + constant) / (1.0 + constant * self.phi.shape[1])
        return replace(self, phi=phi, provenance={**self.provenance, "smoothing": constant})

    def probabilities(
        self, theta: NDArray[np.float64], rows: NDArray[np.int64], words: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return p(w | d) = sum_k phi[k, w] theta[d, k], (n,), of n pairs of a row of theta (D, K) and a word."""
        probabilities = np.zeros(len(rows))
        _add_probabilities(rows, words, self.phi_by_word, np.ascontiguousarray(theta), probabilities)
        return probabilities

    def save(self, path: Path) -> None:
        """Write the topics to one compressed .npz file; the same topics always give the same bytes."""
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file,
                phi=self.phi,
                alpha=self.alpha,
                vocabulary=np.array(self.vocabulary, dtype=np.str_),
                provenance=np.array(json.dumps(self.provenance, sort_keys=True)),
            )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read topics that `save` wrote.

        Raises:
            InputError: when the file is missing, truncated, or does not hold topics.
        """
        with reading_arrays(path, "topics", "train again with `heldout train`") as file:
            return cls(
                phi=file["phi"],
                alpha=file["alpha"],
                vocabulary=tuple(file["vocabulary"].tolist()),
                provenance=json.loads(str(file["provenance"])),
            )
