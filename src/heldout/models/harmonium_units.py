r"""Units of a harmonium, the parts of both layers of a restricted Boltzmann machine (Murphy 2012, table 27.2).

A layer of units x with natural parameters eta has the density q(x) exp(eta' x - A(eta)); `log_normaliser` is A:

    binary         x in {0, 1}^R                              A = sum_r log(1 + exp eta_r)              (27.98)
    categorical    x one of M_r columns in each block r       A = sum_r log sum_m exp eta_rm            (27.105)
    gaussian       q = exp(-|x|^2 / 2)                        A = |eta|^2 / 2 + R log(2 pi) / 2         (27.108)
    multinomial    x counts of L tokens, one block            A = L log sum_v exp eta_v                 (27.129)

A multinomial layer sums over the V^L sequences of tokens, not over counts, so that probabilities are those of
sequences, as everywhere in this project. L is the layer's `size`; that of all others is 1.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numba as nb
import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.typing import Floats

BINARY, CATEGORICAL, GAUSSIAN, MULTINOMIAL = "binary", "categorical", "gaussian", "multinomial"
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def _sum(data: Floats, weights: Floats | None) -> Floats:
    return np.asarray(data.sum(axis=0) if weights is None else weights @ data)


def _total(data: Floats, weights: Floats | None) -> float:
    return float(len(data)) if weights is None else float(weights.sum())


class Units(ABC):
    """A layer of units of one kind.

    Attributes:
        kind: its name.
    """

    kind: ClassVar[str]

    @abstractmethod
    def check(self, X: Any) -> Floats:
        """Return data as a dense (N, R) array; raises InputError for values that the units cannot take."""

    @abstractmethod
    def log_normaliser(self, eta: Floats) -> Floats:
        """Return the log normaliser A of (N, R) natural parameters, (N,) nats; for multinomial units, of one token."""

    @abstractmethod
    def mean(self, eta: Floats) -> Floats:
        """Return the mean E[x], (N, R); for multinomial units, of one token."""

    @abstractmethod
    def draw(self, eta: Floats, size: Floats, random: np.random.Generator) -> Floats:
        """Draw x, (N, R), given natural parameters and sizes, (N,)."""

    @abstractmethod
    def bias(self, data: Floats, weights: Floats | None = None) -> Floats:
        """Return the (R,) natural parameters with the smoothed mean of (N, R) data, weighted by (N,)."""

    def size(self, x: Floats) -> Floats:
        """Return the factor of the hidden biases in the energy, (N,): L for multinomial units, 1 for all others."""
        return np.ones(len(x))

    def log_base(self, x: Floats) -> Floats:
        """Return log q(x), (N,) nats."""
        return np.zeros(len(x))


class Binary(Units):
    """Bernoulli units."""

    kind = BINARY

    def check(self, X: Any) -> Floats:
        """Return data of zeros and ones."""
        data = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        if data.ndim != 2 or not data.size or not np.isin(data, (0.0, 1.0)).all():
            raise InputError("binary units: expected a matrix of zeros and ones")
        return data

    def log_normaliser(self, eta: Floats) -> Floats:
        """Return sum_r log(1 + exp eta_r)."""
        return np.asarray(np.logaddexp(0.0, eta).sum(axis=-1))

    def mean(self, eta: Floats) -> Floats:
        """Return sigm(eta), (27.103) and (27.104)."""
        return np.asarray(expit(eta))

    def draw(self, eta: Floats, size: Floats, random: np.random.Generator) -> Floats:  # noqa: ARG002
        """Draw from (27.101) or (27.102)."""
        return np.asarray(random.random(eta.shape) < expit(eta), dtype=float)

    def bias(self, data: Floats, weights: Floats | None = None) -> Floats:
        """Return the log odds of the means, half a count added to either value."""
        mean = (_sum(data, weights) + 0.5) / (_total(data, weights) + 1.0)
        return np.asarray(np.log(mean) - np.log1p(-mean))


class Categorical(Units):
    """One column of ones and zeros for each value of each variable; one value of each variable is 1.

    Args:
        blocks: the numbers of values of the variables.
    """

    kind = CATEGORICAL

    def __init__(self, blocks: Sequence[int]) -> None:
        if not blocks or min(blocks) < 1:
            raise InputError(f"categorical units: blocks {tuple(blocks)}; each needs a column")
        self.starts = np.concatenate([[0], np.cumsum(blocks)[:-1]])
        self.blocks = np.asarray(blocks)

    def check(self, X: Any) -> Floats:
        """Return data with one 1 in each block."""
        data = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        if data.ndim != 2 or data.shape[1] != self.blocks.sum() or not len(data):
            raise InputError(f"categorical units: expected a matrix of {self.blocks.sum()} columns")
        if not np.isin(data, (0.0, 1.0)).all() or not (self._sums(data) == 1.0).all():
            raise InputError("categorical units: expected one 1 in each block of every row and 0 elsewhere")
        return data

    def _sums(self, values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def _exp(self, eta: Floats) -> tuple[Floats, Floats]:
        """Return exp(eta - m) and m, (.., B), the blocks' maxima."""
        highest = np.maximum.reduceat(eta, self.starts, axis=-1)
        return np.exp(eta - np.repeat(highest, self.blocks, axis=-1)), highest

    def log_normaliser(self, eta: Floats) -> Floats:
        """Return the sum over blocks of log sum exp."""
        x, highest = self._exp(eta)
        return np.asarray((np.log(self._sums(x)) + highest).sum(axis=-1))

    def mean(self, eta: Floats) -> Floats:
        """Return the softmax of each block (27.106)."""
        x, _ = self._exp(eta)
        return np.asarray(x / np.repeat(self._sums(x), self.blocks, axis=-1))

    def draw(self, eta: Floats, size: Floats, random: np.random.Generator) -> Floats:  # noqa: ARG002
        """Draw from (27.106): the column of the largest eta plus Gumbel noise."""
        noisy = eta - np.log(random.standard_exponential(eta.shape))
        drawn = np.zeros_like(eta)
        for start, width in zip(self.starts, self.blocks, strict=True):
            drawn[np.arange(len(eta)), start + noisy[:, start : start + width].argmax(axis=1)] = 1.0
        return drawn

    def bias(self, data: Floats, weights: Floats | None = None) -> Floats:
        """Return the logarithms of the values' shares, half a count added to each."""
        counts = _sum(data, weights) + 0.5
        return np.asarray(np.log(counts) - np.log(np.repeat(self._sums(counts), self.blocks)))


class Gaussian(Units):
    """Real units of variance 1 given the other layer."""

    kind = GAUSSIAN

    def check(self, X: Any) -> Floats:
        """Return finite data."""
        data = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        if data.ndim != 2 or not data.size or not np.isfinite(data).all():
            raise InputError("Gaussian units: expected a matrix of finite numbers")
        return data

    def log_normaliser(self, eta: Floats) -> Floats:
        """Return |eta|^2 / 2 + R log(2 pi) / 2."""
        return np.asarray(0.5 * (eta**2).sum(axis=-1) + HALF_LOG_2PI * eta.shape[-1])

    def mean(self, eta: Floats) -> Floats:
        """Return eta (27.110)."""
        return eta

    def draw(self, eta: Floats, size: Floats, random: np.random.Generator) -> Floats:  # noqa: ARG002
        """Draw from N(eta, I) (27.110)."""
        return eta + random.standard_normal(eta.shape)

    def bias(self, data: Floats, weights: Floats | None = None) -> Floats:
        """Return the means."""
        return np.asarray(data.mean(axis=0) if weights is None else weights @ data / weights.sum())

    def log_base(self, x: Floats) -> Floats:
        """Return -|x|^2 / 2."""
        return np.asarray(-0.5 * (x**2).sum(axis=-1))


class Multinomial(Units):
    """The counts of a document's words: the visible layer of the replicated softmax."""

    kind = MULTINOMIAL

    def check(self, X: Any) -> Floats:
        """Return whole counts."""
        return np.asarray(checked_counts(X, "replicated softmax", whole=True).toarray())

    def size(self, x: Floats) -> Floats:
        """Return L."""
        return np.asarray(x.sum(axis=-1))

    def log_normaliser(self, eta: Floats) -> Floats:
        """Return log sum_v exp eta_v."""
        highest = eta.max(axis=-1)
        return np.asarray(np.log(np.exp(eta - highest[..., None]).sum(axis=-1)) + highest)

    def mean(self, eta: Floats) -> Floats:
        """Return the softmax."""
        x = np.exp(eta - eta.max(axis=-1, keepdims=True))
        x /= x.sum(axis=-1, keepdims=True)
        return np.asarray(x)

    def draw(self, eta: Floats, size: Floats, random: np.random.Generator) -> Floats:
        """Draw the counts of L tokens."""
        lengths = size.astype(np.int64)
        uniforms = random.random(int(lengths.sum()))
        return np.asarray(_drawn_counts(np.ascontiguousarray(self.mean(eta)), lengths, uniforms))

    def bias(self, data: Floats, weights: Floats | None = None) -> Floats:
        """Return the logarithms of the words' shares, half a count added to each."""
        counts = _sum(data, weights) + 0.5
        return np.asarray(np.log(counts / counts.sum()))


@nb.njit(cache=True)  # without types it is compiled where it is called: no audit of topics needs it
def _drawn_counts(p, lengths, uniforms):  # type: ignore[no-untyped-def]
    """Return the words' counts of lengths[n] tokens, each drawn from row n of p by inversion of a uniform number."""
    N, V = p.shape
    counts, sums, place = np.zeros((N, V)), np.empty(V), 0
    for n in range(N):
        total = 0.0
        for v in range(V):
            total += p[n, v]
            sums[v] = total
        for _ in range(lengths[n]):
            u = uniforms[place] * total
            place += 1
            low, high = 0, V - 1
            while low < high:
                middle = (low + high) // 2
                if sums[middle] > u:
                    high = middle
                else:
                    low = middle + 1
            counts[n, low] += 1.0
    return counts


def units(kind: str, blocks: Sequence[int] = ()) -> Units:
    """Return a layer of a kind; `blocks` is read by categorical units alone.

    Raises:
        InputError: for another kind.
    """
    simple: dict[str, type[Units]] = {one.kind: one for one in (Binary, Gaussian, Multinomial)}
    if kind == CATEGORICAL:
        return Categorical(blocks)
    if kind not in simple:
        raise InputError(f"harmonium: there are no {kind} units; take {', '.join([*simple, CATEGORICAL])}")
    return simple[kind]()
