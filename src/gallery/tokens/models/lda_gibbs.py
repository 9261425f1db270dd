r"""LDA by Gibbs sampling without collapsing (Murphy 2012, equations 27.30 to 27.32).

    p(q_il = k | .) ∝ pi_ik b_k[y_il]                                                              (27.30)
    p(pi_i | .)     = Dir(alpha_k + c_ik)                                                          (27.31)
    p(b_k | .)      = Dir(gamma_v + c_vk)                                                          (27.32)

with c_ik and c_vk the tokens of topic k in document i and of word v. (27.31 and 27.32 write z and x for q and y.) Given
pi and b, the tokens of one word in one document are exchangeable: their counts by topic, which are all that 27.31 and
27.32 read, are multinomial. `heldout.models.lda` integrates pi and b out instead (27.37) and mixes faster.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.sparse_products import rows_of_entries
from heldout.topics import Topics
from heldout.typing import Floats


class State(NamedTuple):
    """A sample: weights, pi, (D, K), b, (K, V), and the counts c_ik, (D, K), and c_vk, (K, V), that they came from."""

    weights: Floats
    b: Floats
    in_document: Floats
    in_word: Floats


def split_counts(
    counts: sp.csr_array, weights: Floats, b: Floats, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the split of (D, V) counts over components, Mu(n_iv | weights_ik b_kv / sum_k').

    Returns c_ik, (D, K), and c_vk as (K, V); weights are (D, K), b is (K, V).
    """
    rows = rows_of_entries(counts)
    p = weights[rows] * b.T[counts.indices]
    drawn = random.multinomial(counts.data.astype(np.int64), p / p.sum(axis=1, keepdims=True)).astype(float)
    in_document, in_word = np.zeros((counts.shape[0], len(b))), np.zeros((counts.shape[1], len(b)))
    np.add.at(in_document, rows, drawn)
    np.add.at(in_word, counts.indices, drawn)
    return in_document, np.ascontiguousarray(in_word.T)


def dirichlet(parameters: Floats, random: np.random.Generator) -> Floats:
    """Draw one Dirichlet vector for each row of parameters; small ones underflow to 0 one entry at a time."""
    drawn = random.standard_gamma(parameters)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


@estimator
class GibbsChain(Estimator, ABC):
    """One Markov chain of a model of counts by sampling weights, topics and how the counts split over topics.

    Args:
        alpha: the parameter of the weights' prior, one number.
        gamma: the Dirichlet parameter of b, one number.
        sweeps: Gibbs sweeps; `components_` averages the last half of them.

    Attributes (after `fit`):
        state_: the last sample.
        components_: (K, V), the mean over the last half of the sweeps of (gamma + c_vk) / sum_v'; rows sum to 1.
    """

    name: ClassVar[str]

    alpha: float = 0.1
    gamma: float = 0.1
    sweeps: int = 200

    @abstractmethod
    def prepare(self, counts: sp.csr_array) -> None:
        """Set the attributes that the draws need; raises InputError for a setting out of range."""

    @abstractmethod
    def draw_weights(self, in_document: Floats, random: np.random.Generator) -> Floats:
        """Draw the weights, (D, K), given c_ik, (D, K)."""

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # noqa: ARG002
        """Run the chain on (D, V) counts X; raises InputError for bad counts or a setting out of range."""
        counts = checked_counts(X, self.name, whole=True)
        self.prepare(counts)
        random = np.random.default_rng(self.random_state)
        state, total = self.start(counts, random), np.zeros((self.n_components, counts.shape[1]))
        for sweep in range(self.sweeps):
            state = self.sweep(counts, state, random)
            if 2 * sweep >= self.sweeps - 1:
                total += (state.in_word + self.gamma) / (state.in_word + self.gamma).sum(axis=1, keepdims=True)
        self.state_ = state
        self.components_ = total / total.sum(axis=1, keepdims=True)
        return self

    def start(self, counts: sp.csr_array, random: np.random.Generator) -> State:
        """Return the sample that follows from assignments drawn uniformly."""
        D, V = counts.shape
        K = self.n_components
        return self._sample(*split_counts(counts, np.ones((D, K)), np.ones((K, V)), random), random)

    def sweep(self, counts: sp.csr_array, state: State, random: np.random.Generator) -> State:
        """Return the next sample: of LDA by 27.30, then 27.31 and 27.32."""
        return self._sample(*split_counts(counts, state.weights, state.b, random), random)

    def _sample(self, in_document: Floats, in_word: Floats, random: np.random.Generator) -> State:
        weights = self.draw_weights(in_document, random)
        return State(weights, dirichlet(self.gamma + in_word, random), in_document, in_word)


@estimator
class LDAGibbs(GibbsChain):
    """LDA by Gibbs sampling of topics, weights and assignments; arguments and attributes as in `GibbsChain`.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = LDAGibbs(2, alpha=0.5, gamma=0.1, sweeps=100, random_state=0).fit(counts)
        >>> model.components_.sum(axis=1).round(9)
        array([1., 1.])
    """

    name = "LDA by Gibbs sampling"

    def prepare(self, counts: sp.csr_array) -> None:  # noqa: ARG002
        """Raise InputError for a setting out of range."""
        if not (self.n_components >= 1 and self.sweeps >= 1 and 0.0 < self.alpha < np.inf > self.gamma > 0.0):
            raise InputError(
                f"{self.name}: {self.n_components} topics, {self.sweeps} sweeps, alpha {self.alpha}, gamma"
                f" {self.gamma}; these must be at least 1, positive and finite"
            )

    def draw_weights(self, in_document: Floats, random: np.random.Generator) -> Floats:
        """Draw pi, (D, K), by 27.31."""
        return dirichlet(self.alpha + in_document, random)

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return `components_` with their prior, as the evaluators take them."""
        return Topics(self.components_, np.full(self.n_components, self.alpha), vocabulary)
