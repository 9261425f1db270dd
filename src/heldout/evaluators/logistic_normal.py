r"""The likelihood of documents under topics with a logistic-normal prior, by quadrature and by annealing.

In the correlated topic model (Blei and Lafferty, 2007), and in structural topic models, a document has the weights
theta = softmax(x_1, .., x_{K-1}, 0), x ~ N(mu, Sigma), mu of all documents, or by covariates its own, so that

    p(w | mu, Sigma, phi) = ∫ exp(l(x)) N(x | mu, Sigma) dx,        l(x) = sum_v n_v log sum_k theta_k phi[k, v].

With r_vk = theta_k phi[k, v] / sum_j theta_j phi[j, v] and N tokens the gradient of l is sum_v n_v r_v - N theta, its
Hessian sum_v n_v (diag r_v - r_v r_v') - N (diag theta - theta theta'), both without their last component. The mode of
the integrand, by Newton steps without the Hessian's first, convex part, is the mean of the Laplace approximation q; its
precision is Sigma^-1 less the Hessian of l there (without its convex part where the whole is not definite), divided by
`WIDER`: where theta_k is near 0 the likelihood no longer depends on x_k, and the posterior has the prior's tail, which
a q of the mode's own width misses.

From q to the posterior goes the annealing of `heldout.evaluators.components_marginal`, of which one temperature is
importance sampling from q. Run backwards from the x that a document was drawn with, its moves reversed, it gives the
inverse weight exp(-sum_t r(u_t) / T) with the mean 1 / p(w) (Grosse, Ghahramani and Adams, 2015).

At K = 2 and 3 the trapezoidal rule gives the exact value, in coordinates z with x = mu + L z, L L' = Sigma: of a smooth
integrand that decays its error falls exponentially in the nodes (Trefethen and Weideman, 2014). Documents unlike the
model have posteriors with long tails on one side, on which a Gauss-Hermite rule at the mode does not settle. A coarse
grid over the prior finds the box where the integrand is not negligible, and the step is halved until the value settles.

Tests hold the errors that the reference states under this prior to quadrature and to more work, on drawn documents.
Real documents under a trained model have rarer parts, and a few documents' errors may be understated there.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.bidirectional import simulate_given
from heldout.evaluators.components_marginal import Integrand, log_weights, slice_move
from heldout.evaluators.evaluation import Annealing, Evaluation, check_samples, log_mean
from heldout.evaluators.product_of_experts import Likelihood, LogisticNormalModel
from heldout.evaluators.trapezoid import log_integral
from heldout.topics import LogisticNormalTopics, softmax_over_the_last
from heldout.typing import Floats, Ints

LARGEST = 3  # most topics of the quadrature, whose nodes grow as their power
NEWTON_STEPS, SETTLED_MODE = 500, 1e-10  # most steps to a mode, and nats that a further one would gain
WIDER = 4.0  # divisor of l's Hessian in q
COARSE, REACH = 0.25, 9.0  # step and extent of the coarse grid, in the prior's standard deviations
MOST_NODES, ENTRIES = 2**23, 2**20  # largest numbers of a rule's nodes and of an array's entries
UPDATES_OF_A_MODE, UPDATES_OF_A_WORD = 2e6, 10.0  # costs in updates of `exact_marginal.UPDATES_PER_SECOND`, about


@dataclass(frozen=True)
class _Document(Integrand):
    """One document's integrand: l, the prior's mean and the triangular root, root root', of its precision."""

    likelihood: Likelihood
    mean: Floats
    root: Floats
    mode: Floats
    C: Floats

    @cached_property
    def log_volume(self) -> float:
        """The logarithm of the prior's density at its mean, nats."""
        return float(np.log(np.diag(self.root)).sum()) - 0.5 * len(self.mean) * math.log(2.0 * math.pi)

    def log_joint(self, x: Floats) -> Floats:
        """Return l + log N of every row of x, nats."""
        scaled = (x - self.mean) @ self.root
        log_prior = self.log_volume - 0.5 * np.einsum("ij,ij->i", scaled, scaled)
        return np.asarray(self.likelihood.log_likelihood(softmax_over_the_last(x)) + log_prior)


def _laplace(likelihood: Likelihood, mean: Floats, precision: Floats) -> _Document:
    """Return the document at its mode (see the module)."""
    n = len(mean)
    prior_root: NDArray[Any] = np.linalg.cholesky(precision)
    start = _Document(likelihood, mean, prior_root, mean, np.eye(n))
    x, value = mean, float(start.log_joint(mean[None])[0])
    for _ in range(NEWTON_STEPS):
        theta = softmax_over_the_last(x[None])[0]
        gradient, concave, convex = (part[..., :n] for part in likelihood.derivatives(theta))
        concave, convex = concave[:n], convex[:n]
        gradient = gradient - precision @ (x - mean)
        step = np.linalg.solve(precision + concave, gradient)
        gain, size = float(gradient @ step), 1.0
        while size > 1e-10:
            proposed = float(start.log_joint((x + size * step)[None])[0])
            if proposed >= value + 1e-4 * size * gain:
                break
            size /= 2.0
        if gain < SETTLED_MODE or size <= 1e-10:
            break
        x, value = x + size * step, proposed
    try:
        root = np.linalg.cholesky(precision + (concave - convex) / WIDER)
    except np.linalg.LinAlgError:
        root = np.linalg.cholesky(precision + concave / WIDER)
    return replace(start, mode=x, C=np.linalg.inv(root).T)


def _documents(model: LogisticNormalModel, documents: Corpus) -> Iterator[tuple[int, _Document | None]]:
    """Yield the index and the integrand of every document with tokens; None for one of probability 0."""
    precision = np.linalg.inv(model.covariance)
    precision = (precision + precision.T) / 2.0
    for d in np.flatnonzero(documents.lengths > 0).tolist():
        words, counts = np.unique(documents.document(d), return_counts=True)
        likelihood = model.likelihood_of(words, counts.astype(np.float64))
        mean = model.mean if model.mean.ndim == 1 else model.mean[d]
        yield d, None if likelihood is None else _laplace(likelihood, mean, precision)


def logistic_normal(
    topics: LogisticNormalModel, documents: Corpus, samples: int, rng: np.random.Generator, *, temperatures: int = 30
) -> Evaluation:
    """Return log p(w | mu, Sigma, phi) of every document by annealed importance sampling.

    Arguments, result and errors are as in `heldout.evaluators`; topics may be experts. Samples are chains, whose
    weights, unbiased as probabilities, are averaged; the error does not cover weights that no chain has met.
    `temperatures` is T, the steps between Laplace approximation and posterior, with one elliptical slice move between
    two; 1 is importance sampling from the Laplace approximation.
    """
    check_samples("logistic normal", min(samples, temperatures))
    documents, left_out = documents.over(topics.vocabulary)
    steps = np.full(documents.n_documents, temperatures)
    value, error = log_mean(log_weights(_documents(topics, documents), steps, samples, rng))
    return Evaluation(value, documents.lengths, np.where(documents.lengths > 0, error, 0.0), left_out)


def annealing(topics: LogisticNormalModel, documents: Corpus, rng: np.random.Generator) -> Annealing:
    """Return the annealing of documents from the Laplace approximation to the posterior, for the reference."""
    documents, left_out = documents.over(topics.vocabulary)
    integrands = list(_documents(topics, documents))
    return Annealing(lambda steps, chains: log_weights(integrands, steps, chains, rng), documents.lengths, left_out)


def simulate(topics: LogisticNormalTopics, lengths: Ints, rng: np.random.Generator) -> tuple[Corpus, Floats]:
    """Draw documents of the (D,) lengths, and return them with the weights x that they were drawn with, (D, K - 1)."""
    x, theta = topics.weights(len(lengths), rng)
    return simulate_given(topics, theta, lengths, rng)[0], x


def logistic_normal_upper(
    topics: LogisticNormalModel,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    x: Floats,
    temperatures: int = 30,
) -> Evaluation:
    """Return a stochastic upper bound on log p(w | mu, Sigma, phi) of documents that `simulate` drew.

    Arguments are as of `logistic_normal`; every document's chains start from the x, (D, K - 1), that it was drawn with.
    The negative values are unbiased as inverse probabilities; no error is stated (NaN).
    """
    check_samples("logistic normal", min(samples, temperatures))
    documents, left_out = documents.over(topics.vocabulary)
    weights = np.zeros((documents.n_documents, samples))
    streams = rng.spawn(documents.n_documents)
    for d, document in _documents(topics, documents):
        assert document is not None  # it was drawn
        u = np.repeat(np.linalg.solve(document.C, x[d] - document.mode)[None], samples, axis=0)
        ratio = document.log_ratio(u)
        weights[d] = ratio / temperatures
        for step in range(temperatures - 1, 0, -1):
            u, ratio = slice_move(document, u, ratio, step / temperatures, streams[d])
            weights[d] += ratio / temperatures
    error = np.where(documents.lengths > 0, np.nan, 0.0)
    return Evaluation(-log_mean(-weights)[0], documents.lengths, error, left_out)


def logistic_normal_exact(topics: LogisticNormalModel, documents: Corpus) -> Evaluation:
    """Return log p(w | mu, Sigma, phi) of every document by the trapezoid rule, for two or three topics.

    Arguments and result are as in `heldout.evaluators`; two spacings of the rule agree (`trapezoid`).

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
                f"quadrature: {documents.documents[d]} of {documents.lengths[d]} tokens has not settled with"
                f" {MOST_NODES:,} nodes; anneal it"
            )
        value[d] = settled
    return Evaluation.deterministic(value, documents.lengths, left_out)


def cost(words: Iterable[int], topics: int) -> float:
    """Return the cost of `logistic_normal_exact` at K topics, in updates of `exact_marginal`; inf where it refuses.

    `words` are the numbers of distinct words of every document.
    """
    if topics > LARGEST:
        return math.inf
    nodes = (4.0 * 2.0 * REACH / COARSE) ** (topics - 1)  # two halvings of the step mostly settle the value
    return sum(UPDATES_OF_A_MODE + UPDATES_OF_A_WORD * nodes * U for U in words)


def _trapezoid(document: _Document, root: Floats) -> float | None:
    """Return log p(w) of one document, nats, with Sigma = root root'; None where the rule does not settle."""
    mode: NDArray[Any] = np.linalg.solve(root, document.mode - document.mean)

    def log_values(nodes: Floats) -> Floats:
        size = max(1, ENTRIES // document.likelihood.width)
        blocks = [nodes[i : i + size] for i in range(0, len(nodes), size)]
        return np.concatenate([document.log_joint(document.mean + z @ root.T) for z in blocks])

    low, high = np.minimum(mode, 0.0) - REACH, np.maximum(mode, 0.0) + REACH
    value = log_integral(log_values, low, high, COARSE, mode=mode, most_nodes=MOST_NODES)
    return None if value is None else value + float(np.log(np.diag(root)).sum())
