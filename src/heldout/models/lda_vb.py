r"""LDA by batch variational Bayes, in its version for counts (Murphy 2012, section 27.3.6 and algorithm 27.1).

    q(pi_i, c_i, B) = Dir(pi_i | pi~_i) prod_v Mu(c_iv | n_iv, c~_iv) prod_k Dir(b_k | b~_k)      (27.47)
    c~_ivk ∝ exp(E log b_vk + E log pi_ik)                                                         (27.48)
    pi~_ik = alpha_k + sum_v n_iv c~_ivk                                                           (27.44)
    b~_vk  = gamma_v + sum_i n_iv c~_ivk                                                           (27.49)

with E log pi_ik = psi(pi~_ik) - psi(sum_k' pi~_ik') (27.40), and E log b_vk = psi(b~_vk) - psi(sum_v' b~_v'k). (27.49
prints no n_iv, and line 19 of algorithm 27.1 sums the second psi over topics; a topic is a distribution over words, so
the sum is over v.) At the best c~ the bound on the evidence log p(w | alpha, gamma) is

    sum_i { sum_v n_iv log sum_k exp(E log b_vk + E log pi_ik) - KL[Dir(pi~_i) || Dir(alpha)] }
        - sum_k KL[Dir(b~_k) || Dir(gamma)]

for any pi~ and b~; both updates raise it. With b given in place of E exp E log b, the first sum is the bound of
variational EM (27.43 to 27.46) on log p(w_i | alpha, b).

The start. Algorithm 27.1 takes EM for a multinomial mixture; as in Hoffman et al. (2010) and scikit-learn, b~ starts
from Gamma(100, 1/100) here. A document starts from pi~ = alpha + n / K, and stops when the mean change of pi~ falls
below the tolerance, whatever the other documents do.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts
from heldout.topics import Topics

Float = NDArray[np.float64]
Record = Callable[[int, Float], None]
START_SHAPE = 100.0  # of the gamma that b~ starts from, with mean 1


def expected_log(parameters: Float) -> Float:
    """Return E log p, nats, of Dirichlet distributions whose parameters are the rows (27.40)."""
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True)))


def divergence(parameters: Float, prior: Float) -> Float:
    """Return KL[Dir(parameters) || Dir(prior)], nats, of every row; the prior is one row."""
    logs = expected_log(parameters)
    of_prior = gammaln(prior.sum()) - gammaln(prior).sum()
    of_posterior = gammaln(parameters.sum(axis=-1)) - gammaln(parameters).sum(axis=-1)
    return np.asarray(of_posterior - of_prior + ((parameters - prior) * logs).sum(axis=-1))


def _norms(counts: sp.csr_array, pi: Float, b: Float) -> Float:
    """Return sum_k pi_ik b_kv at the (nnz,) entries of the counts."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return np.asarray(np.einsum("ik,ik->i", pi[rows], b.T[counts.indices]))


def _exp(logs: Float, axis: int) -> tuple[Float, Float]:
    """Return exp(logs - highest), which does not underflow as a whole, and the highest logarithms along the axis."""
    highest = logs.max(axis=axis, keepdims=True)
    return np.exp(logs - highest), highest


def e_step(
    counts: sp.csr_array,
    log_b: Float,
    alpha: Float,
    *,
    start: Float | None = None,
    iterations: int = 100,
    tolerance: float = 1e-3,
) -> tuple[Float, Float]:
    """Return pi~, (D, K), after 27.44 and 27.48 in turns, and the expected counts sum_i n_iv c~_ivk, (K, V).

    Args:
        counts: (D, V).
        log_b: (K, V), E log b, or log b where b is a point; words without probability anywhere have no tokens.
        alpha: (K,) Dirichlet parameters.
        start: (D, K), pi~ to start from, such as that of the last round; None starts where all components are alike.
        iterations: updates of a document at most.
        tolerance: a document stops when the mean over k of the change of pi~ is below it.
    """
    K = len(alpha)
    b, _ = _exp(log_b, axis=0)  # a factor of a word or of a document cancels from c~
    pseudo = (
        alpha + np.repeat(np.asarray(counts.sum(axis=1))[:, None] / K, K, axis=1) if start is None else start.copy()
    )
    open_rows, here = np.arange(counts.shape[0]), counts
    for _ in range(iterations):
        pi, _ = _exp(expected_log(pseudo[open_rows]), axis=1)
        raised = alpha + pi * (_with(here, here.data / _norms(here, pi, b)) @ b.T)
        change = np.abs(raised - pseudo[open_rows]).mean(axis=1)
        pseudo[open_rows] = raised
        going = change >= tolerance
        if not going.any():
            break
        open_rows, here = open_rows[going], here[going]
    pi, _ = _exp(expected_log(pseudo), axis=1)
    return pseudo, np.asarray((_with(counts, counts.data / _norms(counts, pi, b)).T @ pi).T * b)


def document_bounds(counts: sp.csr_array, log_b: Float, alpha: Float, pseudo: Float) -> Float:
    """Return the documents' terms of the bound, (D,) nats; see the module.

    Args:
        counts: (D, V).
        log_b: (K, V), E log b or log b.
        alpha: (K,) Dirichlet parameters.
        pseudo: (D, K), pi~.
    """
    (pi, of_document), (b, of_word) = _exp(expected_log(pseudo), axis=1), _exp(log_b, axis=0)
    logs = np.log(_norms(counts, pi, b)) + of_word[0, counts.indices]
    reconstruction = _with(counts, counts.data * logs).sum(axis=1) + counts.sum(axis=1) * of_document[:, 0]
    return np.asarray(reconstruction - divergence(pseudo, alpha))


def _with(counts: sp.csr_array, data: Float) -> sp.csr_array:
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


class LDAVB(Estimator):
    """LDA by batch variational Bayes on a (D, V) matrix of counts.

    Args:
        n_components: K.
        alpha: the Dirichlet parameter of pi, one number.
        gamma: the Dirichlet parameter of b, one number.
        iterations: rounds of E step and M step at most.
        tolerance: stop when a round raises the bound by less than this many nats per token.
        document_iterations: see `e_step`.
        document_tolerance: see `e_step`.
        random_state: generator of the start.

    Attributes (after `fit`):
        pseudo_counts_: (K, V), b~; components_, (K, V): its rows normalised, the posterior means of the topics.
        document_topics_: (D, K), pi~.
        bound_: the bound on log p(w | alpha, gamma), nats, after each round.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> LDAVB(2, alpha=0.5, gamma=0.1, random_state=0).fit(counts).components_.round(2)
        array([[0.01, 0.01, 0.49, 0.49],
               [0.49, 0.49, 0.01, 0.01]])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        gamma: float = 0.1,
        iterations: int = 100,
        tolerance: float = 1e-6,
        document_iterations: int = 100,
        document_tolerance: float = 1e-3,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.gamma = gamma
        self.iterations = iterations
        self.tolerance = tolerance
        self.document_iterations = document_iterations
        self.document_tolerance = document_tolerance
        self.random_state = random_state

    def start(self, n_words: int, random: np.random.Generator) -> Float:
        """Return b~, (K, V), to start from.

        Raises:
            InputError: for a setting out of range.
        """
        if not (self.n_components >= 1 and self.iterations >= 0 and 0.0 < self.alpha < np.inf > self.gamma > 0.0):
            raise InputError(
                f"LDA by variational Bayes: {self.n_components} topics, {self.iterations} iterations, alpha"
                f" {self.alpha}, gamma {self.gamma}; these must be at least 1 and 0, positive and finite"
            )
        return random.gamma(START_SHAPE, 1.0 / START_SHAPE, (self.n_components, n_words))

    def fit(
        self,
        X: sp.sparray | NDArray[Any],
        y: None = None,  # noqa: ARG002
        *,
        pseudo_counts: Float | None = None,
        record: Record | None = None,
    ) -> Self:
        """Run the rounds on counts X.

        Args:
            X: (D, V) counts.
            y: ignored.
            pseudo_counts: (K, V) to start from; None is a random start.
            record: called after every round with the documents analysed so far, each visit counted, and b~.

        Raises:
            InputError: for a negative or undefined count, counts without tokens, or a setting out of range.
        """
        counts = checked_counts(X, "LDA by variational Bayes")
        b = self.start(counts.shape[1], np.random.default_rng(self.random_state))
        b = b if pseudo_counts is None else pseudo_counts
        tokens, bounds = float(counts.sum()), []
        for _ in range(self.iterations):
            _, expected = self._e_step(counts, b)
            b = self.gamma + expected
            bounds.append(self.bound(counts, b))
            if record is not None:
                record(len(bounds) * counts.shape[0], b)
            if len(bounds) > 1 and bounds[-1] - bounds[-2] < self.tolerance * tokens:
                break
        self.pseudo_counts_, self.bound_ = b, np.array(bounds)
        self.document_topics_ = self.transform(counts)
        return self

    def bound(self, counts: sp.csr_array, b: Float) -> float:
        """Return the bound on log p(w | alpha, gamma), nats, at b~ = b and the best pi~."""
        pseudo, _ = self._e_step(counts, b)
        documents = document_bounds(counts, expected_log(b), self._alpha(), pseudo)
        return float(documents.sum() - divergence(b, np.full(b.shape[1], self.gamma)).sum())

    def transform(self, X: sp.sparray | NDArray[Any]) -> Float:
        """Return pi~, (D, K), of the documents X."""
        return self._e_step(checked_counts(X, "LDA by variational Bayes", empty=True), self.pseudo_counts_)[0]

    @property
    def components_(self) -> Float:
        """The posterior means of the topics, (K, V)."""
        return np.asarray(self.pseudo_counts_ / self.pseudo_counts_.sum(axis=1, keepdims=True))

    def topics(self, vocabulary: tuple[str, ...], provenance: dict[str, Any] | None = None) -> Topics:
        """Return the posterior means of the topics with their prior, as the evaluators take them."""
        return Topics(self.components_, self._alpha(), vocabulary, dict(provenance or {}))

    def _alpha(self) -> Float:
        return np.full(self.n_components, self.alpha)

    def _e_step(self, counts: sp.csr_array, b: Float) -> tuple[Float, Float]:
        return e_step(
            counts,
            expected_log(b),
            self._alpha(),
            iterations=self.document_iterations,
            tolerance=self.document_tolerance,
        )
