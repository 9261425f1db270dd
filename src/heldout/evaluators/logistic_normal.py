r"""The likelihood of documents under topics with a logistic-normal prior, by quadrature and by annealing.

In the correlated topic model (Blei and Lafferty, 2007), and in structural topic models, a document has the weights
theta = softmax(x_1, .., x_{K-1}, 0), x ~ N(mu, Sigma), so that

    p(w | mu, Sigma, phi) = ∫ exp(l(x)) N(x | mu, Sigma) dx,        l(x) = sum_v n_v log sum_k theta_k phi[k, v].

With r_vk = theta_k phi[k, v] / sum_j theta_j phi[j, v] and N tokens the gradient of l is sum_v n_v r_v - N theta, its
Hessian sum_v n_v (diag r_v - r_v r_v') - N (diag theta - theta theta'), both without their last component. The mode of
the integrand, by Newton steps without the Hessian's first, convex part, is the mean of the Laplace approximation q; its
precision is Sigma^-1 less the Hessian of l there (without its convex part where the whole is not definite), divided by
`WIDER`: where theta_k is near 0 the likelihood no longer depends on x_k, and the posterior has the prior's tail, which
a q of the mode's own width misses.

From q to the posterior goes the annealing of `heldout.evaluators.components_marginal`, of which one temperature is
importance sampling from q.

At K = 2 and 3 the trapezoidal rule gives the exact value, in coordinates z with x = mu + L z, L L' = Sigma: of a smooth
integrand that decays its error falls exponentially in the nodes (Trefethen and Weideman, 2014). Documents unlike the
model have posteriors with long tails on one side, on which a Gauss-Hermite rule at the mode does not settle. A coarse
grid over the prior finds the box where the integrand is not negligible, and the step is halved until the value settles.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.components_marginal import anneal_from_laplace
from heldout.evaluators.evaluation import Evaluation, check_samples, log_mean
from heldout.evaluators.trapezoid import log_integral
from heldout.topics import Topics

LARGEST = 3  # topics of the quadrature, whose nodes grow as their power
NEWTON_STEPS, SETTLED_MODE = 500, 1e-10  # nats, that a further step would gain; the mode only places q
WIDER = 4.0  # by which l's Hessian is divided for q
SYMMETRY = 1e-6  # relative
COARSE, REACH = 0.25, 9.0  # prior's standard deviations: the coarse grid's step and extent
MOST_NODES, BLOCK = 2**23, 2**20  # of a rule; entries of an array

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogisticNormalTopics:
    """Topics, and the logistic-normal prior of a document's weights on them.

    Attributes:
        phi: (K, V) p(w | z); every row sums to 1; K is 2 or more.
        mean: (K - 1,) mu, the mean of the logarithms of theta_k / theta_K.
        covariance: (K - 1, K - 1) Sigma, theirs; symmetric and positive definite.
        vocabulary: the V words.
        provenance: as of `heldout.topics.Topics`.

    Raises:
        InputError: for shapes that do not fit, numbers that are none, or a covariance that is none.
    """

    phi: Float
    mean: Float
    covariance: Float
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Topics(self.phi, np.ones(len(self.phi)), self.vocabulary)  # its checks
        n = len(self.phi) - 1
        if n < 1 or self.mean.shape != (n,) or self.covariance.shape != (n, n):
            raise InputError(
                f"logistic normal: a mean of {self.mean.shape} and a covariance of {self.covariance.shape} for"
                f" {n + 1} topics; give K or K - 1 of both, and K at least 2"
            )
        if not (np.isfinite(self.mean).all() and np.isfinite(self.covariance).all()):
            raise InputError("logistic normal: the mean or the covariance has a number that is not finite")
        asymmetry = np.abs(self.covariance - self.covariance.T).max()
        if asymmetry > SYMMETRY * np.abs(self.covariance).max() or np.linalg.eigvalsh(self.covariance).min() <= 0.0:
            raise InputError("logistic normal: the covariance is not symmetric and positive definite")

    @classmethod
    def of(
        cls,
        phi: ArrayLike,
        mean: ArrayLike,
        covariance: ArrayLike,
        vocabulary: tuple[str, ...],
        provenance: dict[str, Any] | None = None,
    ) -> Self:
        """Return topics whose theta is softmax(x) of K numbers x, or of K - 1 and a last one that is 0.

        Args:
            phi: (K, V).
            mean: of x, (K,), as tomotopy has it, or (K - 1,), as R has it.
            covariance: of x, (K, K) or (K - 1, K - 1).
            vocabulary: the V words.
            provenance: see the class.

        Examples:
            >>> topics = LogisticNormalTopics.of([[0.9, 0.1], [0.2, 0.8]], [1.0, 0.0], np.eye(2), ("ape", "bear"))
            >>> topics.mean, topics.covariance
            (array([1.]), array([[2.]]))
        """
        phi, mean, covariance = (np.asarray(values, dtype=np.float64) for values in (phi, mean, covariance))
        if phi.ndim == 2 and mean.shape == (len(phi),) and covariance.shape == (len(phi), len(phi)):
            difference = np.column_stack([np.eye(len(phi) - 1), -np.ones(len(phi) - 1)])
            mean, covariance = difference @ mean, difference @ covariance @ difference.T
        return cls(phi, mean, covariance, vocabulary, provenance or {})

    @property
    def n_topics(self) -> int:
        """K, the number of topics."""
        return len(self.phi)


@dataclass(frozen=True)
class _Document:
    """One document's integrand, and its Laplace approximation; see `components_marginal._Document`.

    Attributes:
        phi: (U, K) p(w | z) of its distinct words.
        counts: (U,) n_v.
        mean, precision: (K - 1,) and (K - 1, K - 1), of the prior.
        mode: (K - 1,).
        C: (K - 1, K - 1), upper triangular; q has the covariance C C'.
    """

    phi: Float
    counts: Float
    mean: Float
    precision: Float
    mode: Float
    C: Float

    def log_joint(self, x: Float) -> Float:
        """Return l + log N of every row of x, nats."""
        theta = softmax(np.column_stack([x, np.zeros(len(x))]), axis=1)
        deviation = x - self.mean
        with np.errstate(divide="ignore"):  # far out theta, and with it a word's probability, underflows
            value = np.log(theta @ self.phi.T) @ self.counts
        value -= 0.5 * np.einsum("ij,jk,ik->i", deviation, self.precision, deviation, optimize=True)
        log_joint: Float = value + 0.5 * (np.linalg.slogdet(self.precision)[1] - x.shape[1] * math.log(2.0 * math.pi))
        return log_joint

    def log_ratio(self, u: Float) -> Float:
        """Return the integrand's logarithm less that of q at mode + C u for every row of u, nats."""
        volume = 0.5 * len(self.mode) * math.log(2.0 * math.pi) + float(np.log(np.diag(self.C)).sum())
        log_ratio: Float = self.log_joint(self.mode + u @ self.C.T) + 0.5 * np.einsum("ik,ik->i", u, u) + volume
        return log_ratio


def _laplace(phi: Float, counts: Float, mean: Float, precision: Float) -> _Document:
    """Return the document at its mode (see the module)."""
    n = len(mean)
    start = _Document(phi, counts, mean, precision, mean, np.eye(n))
    x, value = mean, float(start.log_joint(mean[None])[0])
    for _ in range(NEWTON_STEPS):
        theta = softmax(np.append(x, 0.0))
        shares = phi * theta
        shares /= shares.sum(axis=1, keepdims=True)
        gradient = (counts @ shares - counts.sum() * theta)[:n] - precision @ (x - mean)
        concave = precision + counts.sum() * (np.diag(theta) - np.outer(theta, theta))[:n, :n]
        step = np.linalg.solve(concave, gradient)
        gain, size = float(gradient @ step), 1.0
        while size > 1e-10:
            proposed = float(start.log_joint((x + size * step)[None])[0])
            if proposed >= value + 1e-4 * size * gain:
                break
            size /= 2.0
        if gain < SETTLED_MODE or size <= 1e-10:
            break
        x, value = x + size * step, proposed
    convex = (np.diag(counts @ shares) - (shares * counts[:, None]).T @ shares)[:n, :n]
    try:
        root = np.linalg.cholesky(precision + (concave - precision - convex) / WIDER)
    except np.linalg.LinAlgError:
        root = np.linalg.cholesky(precision + (concave - precision) / WIDER)
    return _Document(phi, counts, mean, precision, x, np.linalg.inv(root).T)


def _documents(topics: LogisticNormalTopics, documents: Corpus) -> Iterator[tuple[int, _Document | None]]:
    """Yield the index and the integrand of every document with tokens; None for one of probability 0."""
    precision = np.linalg.inv(topics.covariance)
    precision = (precision + precision.T) / 2.0
    for d in np.flatnonzero(documents.lengths > 0).tolist():
        words, counts = np.unique(documents.document(d), return_counts=True)
        phi = np.ascontiguousarray(topics.phi[:, words].T)
        possible = bool((phi.sum(axis=1) > 0.0).all())
        yield d, _laplace(phi, counts.astype(np.float64), topics.mean, precision) if possible else None


def logistic_normal(
    topics: LogisticNormalTopics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    temperatures: int = 30,
) -> Evaluation:
    """Return log p(w | mu, Sigma, phi) of every document by annealed importance sampling.

    Args:
        topics: phi and the prior.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        samples: chains per document, whose weights are averaged.
        rng: random numbers; every document gets its own stream.
        temperatures: T, steps between Laplace approximation and posterior, with one elliptical slice move between two;
            1 is importance sampling from the Laplace approximation.

    Returns:
        log-likelihoods in nats, unbiased as probabilities; the standard error is that of the mean weight by the delta
        method, NaN for a single chain, and does not cover weights that no chain has met.

    Raises:
        InputError: for fewer than one sample or step.
    """
    check_samples("logistic normal", min(samples, temperatures))
    documents, left_out = documents.over(topics.vocabulary)
    log_weights = np.zeros((documents.n_documents, samples))
    streams = rng.spawn(documents.n_documents)
    for d, document in _documents(topics, documents):
        if document is None:
            log_weights[d] = -np.inf
        else:
            log_weights[d] = anneal_from_laplace(document, temperatures, samples, streams[d])
    value, error = log_mean(log_weights)
    return Evaluation(value, documents.lengths, np.where(documents.lengths > 0, error, 0.0), left_out)


def logistic_normal_exact(topics: LogisticNormalTopics, documents: Corpus) -> Evaluation:
    """Return log p(w | mu, Sigma, phi) of every document by the trapezoid rule, for two or three topics.

    Args:
        topics: phi and the prior; K is 2 or 3.
        documents: D documents; words outside the topics' vocabulary are left out and counted.

    Returns:
        log-likelihoods in nats, without Monte Carlo error; two spacings of the rule agree (`trapezoid`).

    Raises:
        InputError: for more topics, or a document whose value does not settle.

    Examples:
        >>> topics = LogisticNormalTopics.of([[0.9, 0.1], [0.2, 0.8]], [0.0], [[1.0]], ("ape", "bear"))
        >>> one_each = Corpus.from_documents("two", [("a", ["ape"]), ("b", ["bear"])])
        >>> np.exp(logistic_normal_exact(topics, one_each).log_likelihood).round(6)
        array([0.55, 0.45])
    """
    if topics.n_topics > LARGEST:
        raise InputError(f"quadrature: {topics.n_topics} topics; take {LARGEST} or fewer, or anneal")
    documents, left_out = documents.over(topics.vocabulary)
    value = np.zeros(documents.n_documents)
    root: NDArray[Any] = np.linalg.cholesky(topics.covariance)
    for d, document in _documents(topics, documents):
        settled = -math.inf if document is None else _trapezoid(document, root)
        if settled is None:
            raise InputError(
                f"quadrature: document {documents.documents[d]} of {documents.lengths[d]} tokens has not settled with"
                f" {MOST_NODES:,} nodes; anneal it"
            )
        value[d] = settled
    return Evaluation.deterministic(value, documents.lengths, left_out)


def _trapezoid(document: _Document, root: Float) -> float | None:
    """Return log p(w) of one document, nats, with Sigma = root root'; None where the rule does not settle."""
    mode: NDArray[Any] = np.linalg.solve(root, document.mode - document.mean)

    def log_values(nodes: Float) -> Float:
        size = max(1, BLOCK // len(document.counts))
        blocks = [nodes[i : i + size] for i in range(0, len(nodes), size)]
        return np.concatenate([document.log_joint(document.mean + z @ root.T) for z in blocks])

    low, high = np.minimum(mode, 0.0) - REACH, np.maximum(mode, 0.0) + REACH
    value = log_integral(log_values, low, high, COARSE, near=mode, most_nodes=MOST_NODES)
    return None if value is None else value + float(np.log(np.diag(root)).sum())
