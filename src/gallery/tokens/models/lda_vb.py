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

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.sparse_products import products, ratios, with_values
from heldout.topics import Topics
from heldout.typing import Floats

Record = Callable[[int, Floats], None]
START_SHAPE = 100.0  # shape of the gamma, of mean 1, that b~ is drawn from at the start


def expected_log(parameters: Floats) -> Floats:
    """Return E log p, nats, of Dirichlet distributions whose parameters are the rows (27.40)."""
    return np.asarray(digamma(parameters) - digamma(parameters.sum(axis=-1, keepdims=True)))


def divergence(parameters: Floats, prior: Floats) -> Floats:
    """Return KL[Dir(parameters) || Dir(prior)], nats, of every row; the prior is one row."""
    logs = expected_log(parameters)
    prior_constant = gammaln(prior.sum()) - gammaln(prior).sum()
    posterior_constants = gammaln(parameters.sum(axis=-1)) - gammaln(parameters).sum(axis=-1)
    return np.asarray(posterior_constants - prior_constant + ((parameters - prior) * logs).sum(axis=-1))


def _exp(logs: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return exp(logs - highest), which does not underflow as a whole, and the highest logarithms along the axis."""
    highest = logs.max(axis=axis, keepdims=True)
    return np.exp(logs - highest), highest


def e_step(
    counts: sp.csr_array,
    log_b: Floats,
    alpha: Floats,
    *,
    start: Floats | None = None,
    iterations: int = 100,
    tolerance: float = 1e-3,
) -> tuple[Floats, Floats]:
    """Return pi~, (D, K), after 27.44 and 27.48 in turns, and the expected counts sum_i n_iv c~_ivk, (K, V).

    `log_b`, (K, V), is E log b, or log b where b is a point; words without probability anywhere have no tokens.
    `start`, (D, K), is pi~ to start from, for instance the last round's; None starts with equal components. A
    document stops after `iterations`, or when the mean over k of the change of pi~ is below the tolerance.
    """
    K = len(alpha)
    b, _ = _exp(log_b, axis=0)  # a factor of a word or of a document cancels from c~
    pseudo = (
        alpha + np.repeat(np.asarray(counts.sum(axis=1))[:, None] / K, K, axis=1) if start is None else start.copy()
    )
    open_rows, here = np.arange(counts.shape[0]), counts
    for _ in range(iterations):
        pi, _ = _exp(expected_log(pseudo[open_rows]), axis=1)
        raised = alpha + pi * (ratios(here, pi, b.T) @ b.T)
        change = np.abs(raised - pseudo[open_rows]).mean(axis=1)
        pseudo[open_rows] = raised
        going = change >= tolerance
        if not going.any():
            break
        open_rows, here = open_rows[going], here[going]
    pi, _ = _exp(expected_log(pseudo), axis=1)
    return pseudo, np.asarray((ratios(counts, pi, b.T).T @ pi).T * b)


def document_bounds(counts: sp.csr_array, log_b: Floats, alpha: Floats, pseudo: Floats) -> Floats:
    """Return the documents' terms of the bound, (D,) nats; `log_b` is as in `e_step`, `pseudo`, (D, K), is pi~."""
    (pi, document_peaks), (b, word_peaks) = _exp(expected_log(pseudo), axis=1), _exp(log_b, axis=0)
    logs = np.log(products(counts, pi, b.T)) + word_peaks[0, counts.indices]
    reconstruction = with_values(counts, counts.data * logs).sum(axis=1) + counts.sum(axis=1) * document_peaks[:, 0]
    return np.asarray(reconstruction - divergence(pseudo, alpha))


@estimator
class MeanField(Estimator):
    """Base class of models with Dirichlet weights and topics, fitted by variational EM or Bayes: parameters and E step.

    Args:
        alpha: the Dirichlet parameter of pi, one number.
        gamma: the parameter of the topics' prior, one number.
        iterations: rounds of E step and M step at most.
        tolerance: stop when a round raises the bound by less than this many nats per token.
        document_iterations: see `e_step`.
        document_tolerance: see `e_step`.
    """

    name: ClassVar[str]

    alpha: float = 0.1
    gamma: float = 0.1
    iterations: int = 100
    tolerance: float = 1e-6
    document_iterations: int = 100
    document_tolerance: float = 1e-3

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        if not (self.n_components >= 1 and self.iterations >= 1 and 0.0 < self.alpha < np.inf > self.gamma > 0.0):
            raise InputError(
                f"{self.name}: {self.n_components} components, {self.iterations} iterations, alpha {self.alpha}, gamma"
                f" {self.gamma}; these must be at least 1, positive and finite"
            )

    def _alphas(self) -> Floats:
        """Return the (K,) Dirichlet parameters of pi."""
        return np.full(self.n_components, self.alpha)

    def _e_step(
        self, counts: sp.csr_array, log_b: Floats, iterations: int | None = None, start: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return pi~ and the expected counts of `e_step` after `iterations`, or `document_iterations`, at most."""
        most = self.document_iterations if iterations is None else iterations
        return e_step(counts, log_b, self._alphas(), start=start, iterations=most, tolerance=self.document_tolerance)


@estimator
class LDAVB(MeanField):
    """LDA by batch variational Bayes on a (D, V) matrix of counts; arguments as in `MeanField`.

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

    name = "LDA by variational Bayes"

    def start(self, n_words: int, random: np.random.Generator) -> Floats:
        """Return b~, (K, V), to start from; raises InputError for a setting out of range."""
        self.check()
        return random.gamma(START_SHAPE, 1.0 / START_SHAPE, (self.n_components, n_words))

    def fit(
        self,
        X: sp.sparray | NDArray[Any],
        y: None = None,  # noqa: ARG002
        *,
        pseudo_counts: Floats | None = None,
        record: Record | None = None,
    ) -> Self:
        """Run the rounds on (D, V) counts X.

        They start from `pseudo_counts`, (K, V), or at random. `record` is called after every M step with the documents
        analysed so far, each visit counted, and b~.

        Raises:
            InputError: for a negative or undefined count, counts without tokens, or a setting out of range.
        """
        counts = checked_counts(X, self.name)
        random = np.random.default_rng(self.random_state)
        start = self.start(counts.shape[1], random)  # drawn in any case: orders follow it
        b = start = start if pseudo_counts is None else pseudo_counts
        tokens, bounds = float(counts.sum()), []
        for b in self.rounds(counts, start, random, record or (lambda _analysed, _b: None)):
            bounds.append(self.bound(counts, b))
            if len(bounds) > 1 and bounds[-1] - bounds[-2] < self.tolerance * tokens:
                break
        self.pseudo_counts_, self.bound_ = b, np.array(bounds)
        self.document_topics_ = self.transform(counts)
        return self

    def rounds(
        self,
        counts: sp.csr_array,
        b: Floats,
        random: np.random.Generator,  # noqa: ARG002
        record: Record,
    ) -> Iterator[Floats]:
        """Yield b~ after each round from b on; arguments as in `fit`."""
        for i in range(self.iterations):
            b = self.gamma + self._e_step(counts, expected_log(b))[1]
            record((i + 1) * counts.shape[0], b)
            yield b

    def bound(self, counts: sp.csr_array, b: Floats) -> float:
        """Return the bound on log p(w | alpha, gamma), nats, at b~ = b and the best pi~."""
        logs = expected_log(b)
        documents = document_bounds(counts, logs, self._alphas(), self._e_step(counts, logs)[0])
        return float(documents.sum() - divergence(b, np.full(b.shape[1], self.gamma)).sum())

    def transform(self, X: sp.sparray | NDArray[Any]) -> Floats:
        """Return pi~, (D, K), of the documents X."""
        counts = checked_counts(X, self.name, empty=True)
        return self._e_step(counts, expected_log(self.pseudo_counts_))[0]

    @property
    def components_(self) -> Floats:
        """The posterior means of the topics, (K, V)."""
        return np.asarray(self.pseudo_counts_ / self.pseudo_counts_.sum(axis=1, keepdims=True))

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return the posterior means of the topics with their prior, as the evaluators take them."""
        return Topics(self.components_, self._alphas(), vocabulary)
