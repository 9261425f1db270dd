"""Models in the form that the evaluators take: topics and the prior of their weights, or log-linear `Components`.

A model of topics mixes probabilities, p(w | d) = sum_k p(w | z = k) theta[d, k]; a log-linear model adds logits,
p(w | d) = exp(W h_d)_w / sum_w' exp(W h_d)_w'. The prior of theta is a Dirichlet (`Topics`), logistic normal
(`LogisticNormalTopics`), or a Dirichlet of every document's own (`OwnPriors`); `heldout.evaluators.priors` has the
likelihood under each.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numba as nb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from heldout.errors import InputError
from heldout.files import Saved
from heldout.seeds import generator
from heldout.typing import Floats, Ints

ROW_SUM_TOLERANCE = 1e-9
SYMMETRY = 1e-6  # relative tolerance
LEAST_PARAMETER = 1e-300  # parameter of a Dirichlet: the inverse of one below 1e-308 is infinite
DRAWS = 10_000  # draws of theta for its mean under a logistic-normal prior
ENTRIES = 2**19  # entries of a block of the documents x vocabulary array: 4 MB


@nb.njit(cache=True)  # without types it is compiled where it is called: an audit need not
def _add_probabilities(rows, words, phi_by_word, theta, out):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        h = theta[rows[i]]
        w = phi_by_word[words[i]]
        total = 0.0
        for k in range(h.shape[0]):
            total += h[k] * w[k]
        out[i] += total


class _UnderAnyPrior:
    """Topics under any prior of a document's weights on them: phi (K, V), the V words, the provenance."""

    phi: Floats
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any]

    @property
    def n_priors(self) -> int | None:
        """Number of documents that have a prior each; None where all share one."""
        return None

    def of_documents(self, places: Ints) -> Self:  # noqa: ARG002
        """Return the model of the documents at these places, with their priors."""
        return self

    def by_prior(self, documents: int, function: Callable[[Any, Ints], Floats]) -> Floats:
        """Return function(topics, places), (n,), joined over the sets of documents that share a prior, (D,)."""
        return function(self, np.arange(documents))

    def by_support(self, documents: int, function: Callable[[Any, Ints], Floats]) -> Floats:
        """Return weights (D, K) of `documents`: function(topics, places) of each set with the same topics.

        The function is of topics alone, and takes no account of the prior.
        """
        return function(self, np.arange(documents))

    @property
    def n_topics(self) -> int:
        """Number of topics, K."""
        return len(self.phi)

    @cached_property
    def phi_by_word(self) -> Floats:
        """The (V, K) transpose of phi, contiguous: the K probabilities of a word lie side by side for the kernels."""
        return np.ascontiguousarray(self.phi.T)

    def smoothed(self, constant: float) -> Self:
        """Return the topics with `constant` added to every p(w | z), renormalised (Welling et al. 2008, section 5).

        phi'[k, w] = (phi[k, w] + constant) / (1 + V constant)
        """
        phi = (self.phi + constant) / (1.0 + constant * self.phi.shape[1])
        return replace(self, phi=phi, provenance={**self.provenance, "smoothing": constant})  # type: ignore[type-var]

    def probabilities(self, theta: Floats, rows: Ints, words: NDArray[np.int32]) -> Floats:
        """Return p(w | d) = sum_k theta[d, k] phi[k, w], (n,), of n rows of theta (D, K), each with a word."""
        probabilities = np.zeros(len(rows))
        _add_probabilities(rows, words, self.phi_by_word, np.ascontiguousarray(theta), probabilities)
        return probabilities

    def _check_phi(self, rows: int, name: str) -> None:
        """Raise InputError for a phi that is not (rows, V) probabilities."""
        if self.phi.ndim != 2 or self.phi.shape != (rows, len(self.vocabulary)):
            raise InputError(
                f"topics: phi is {self.phi.shape}, but there are {rows} {name} and {len(self.vocabulary)} words"
            )
        if not np.all(self.phi >= 0.0):  # also False for NaN
            raise InputError("topics: phi has a negative or undefined entry")
        deviation = np.abs(self.phi.sum(axis=1) - 1.0)
        if len(deviation) == 0 or deviation.max() > ROW_SUM_TOLERANCE:
            row = int(deviation.argmax()) if len(deviation) else 0
            raise InputError(f"topics: row {row} of phi does not sum to 1; divide each row by its sum")


@dataclass(frozen=True, eq=False)
class Topics(_UnderAnyPrior, Saved):
    """Topics over a vocabulary, and the Dirichlet prior of a document's weights on them.

    A token of a document with weights theta is word w with probability sum_k theta[k] phi[k, w].

    Attributes:
        phi: (K, V) float64, p(w | z); every row sums to 1.
        alpha: (K,) float64, the Dirichlet parameters of theta; all positive.
        vocabulary: the V words.
        provenance: their training: software, documents and settings; JSON-compatible.

    Raises:
        InputError: on a NaN, a negative entry, a row that does not sum to 1, a parameter below
            `LEAST_PARAMETER`, or shapes that do not fit.

    Examples:
        >>> phi = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
        >>> topics = Topics(phi, alpha=np.array([1.0, 1.0]), vocabulary=("heat", "flow", "wing"))
        >>> topics.n_topics
        2
        >>> theta = np.array([[0.5, 0.5], [1.0, 0.0]])  # the weights of two documents
        >>> topics.probabilities(theta, rows=np.array([0, 0, 1]), words=np.array([0, 1, 2], dtype=np.int32))
        array([0.25, 0.5 , 0.  ])
        >>> topics.smoothed(0.1).phi[0].round(3)
        array([0.462, 0.462, 0.077])
    """

    _saved = ("topics", "train again", True)

    phi: Floats
    alpha: Floats
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_phi(len(self.alpha), "Dirichlet parameters")
        if not np.all((self.alpha >= LEAST_PARAMETER) & np.isfinite(self.alpha)):
            raise InputError(f"topics: every Dirichlet parameter must be at least {LEAST_PARAMETER:g}, and finite")

    @property
    def parameters(self) -> dict[str, Floats]:
        """The prior's parameters by name."""
        return {"alpha": self.alpha}

    @property
    def mean_weights(self) -> Floats:
        """The prior mean of theta, (K,)."""
        return np.asarray(self.alpha / self.alpha.sum())


@dataclass(frozen=True, eq=False)
class LogisticNormalTopics(_UnderAnyPrior):
    """Topics, and the logistic-normal prior of a document's weights on them.

    theta = softmax(x_1, .., x_{K-1}, 0), x ~ N(mu, Sigma).

    Attributes:
        phi: (K, V) p(w | z); every row sums to 1; K is 2 or more.
        mean: (K - 1,) mu, the mean of the logarithms of theta_k / theta_K; or (D, K - 1), one of every document.
        covariance: (K - 1, K - 1) Sigma, theirs; symmetric and positive definite.
        vocabulary: the V words.
        provenance: as of `Topics`.

    Raises:
        InputError: for shapes that do not fit, numbers that are none, or a covariance that is none.
    """

    phi: Floats
    mean: Floats
    covariance: Floats
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_phi(len(self.phi), "topics")
        check_logistic_normal(self.mean, self.covariance, len(self.phi))

    @classmethod
    def of(
        cls,
        phi: ArrayLike,
        mean: ArrayLike,
        covariance: ArrayLike,
        vocabulary: tuple[str, ...],
        provenance: dict[str, Any] | None = None,
    ) -> Self:
        """Return topics with theta = softmax(x) of K numbers x, or of K - 1 numbers and a last one that is 0.

        As tomotopy has them, (K,) and (K, K), or as R has them, (K - 1,) and (K - 1, K - 1); documents' own means are
        (D, K) or (D, K - 1).

        Examples:
            >>> topics = LogisticNormalTopics.of([[0.9, 0.1], [0.2, 0.8]], [1.0, 0.0], np.eye(2), ("ape", "bear"))
            >>> topics.mean, topics.covariance
            (array([1.]), array([[2.]]))
        """
        phi, mean, covariance = (np.asarray(values, dtype=np.float64) for values in (phi, mean, covariance))
        return cls(phi, *over_the_last(mean, covariance, len(np.atleast_1d(phi))), vocabulary, provenance or {})

    @property
    def parameters(self) -> dict[str, Floats]:
        """The prior's parameters by name."""
        return {"mean": self.mean, "covariance": self.covariance}

    @property
    def n_priors(self) -> int | None:
        """Number of documents that have a mean each; None where all share one."""
        return len(self.mean) if self.mean.ndim == 2 else None

    def of_documents(self, places: Ints) -> "LogisticNormalTopics":
        """Return the model of the documents at these places."""
        return self if self.mean.ndim == 1 else replace(self, mean=self.mean[places])

    @cached_property
    def mean_weights(self) -> Floats:
        """The prior mean of theta, (K,), over `DRAWS` draws; the same for the same prior, and of one of all means."""
        one = self.of_documents(np.arange(DRAWS) % (self.n_priors or 1))
        weights: Floats = one.weights(DRAWS, generator("logistic-normal-mean"))[1].mean(axis=0)
        return weights

    def likelihood_of(self, words: NDArray[np.int32], counts: Floats) -> "Mixture | None":
        """Return the likelihood of a document with `counts` of these (U,) distinct words; None where it is 0."""
        phi = np.ascontiguousarray(self.phi[:, words].T)
        return Mixture(phi, counts) if (phi.sum(axis=1) > 0.0).all() else None

    def weights(self, documents: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw x, (D, K - 1), and theta, (D, K), of `documents` documents."""
        x = self.mean + rng.standard_normal((documents, self.mean.shape[-1])) @ np.linalg.cholesky(self.covariance).T
        return x, softmax_over_the_last(x)


@dataclass(frozen=True)
class Mixture:
    """The log-likelihood sum_v n_v log sum_k theta_k phi[k, v] of a document; phi (U, K) and n (U,) are its words'."""

    phi: Floats
    counts: Floats

    @property
    def width(self) -> int:
        """Approximate number of values computed for each theta."""
        return len(self.counts)

    def log_likelihood(self, theta: Floats) -> Floats:
        """Return l, (J,) nats, at (J, K) weights."""
        with np.errstate(divide="ignore"):  # far out theta, and with it a word's probability, underflows
            return np.asarray(np.log(theta @ self.phi.T) @ self.counts)

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return l's gradient in log weights, (K,), and (K, K) A and B: -Hessian A - B, A positive semidefinite."""
        shares = self.phi * theta
        shares /= shares.sum(axis=1, keepdims=True)
        expected_counts, N = self.counts @ shares, self.counts.sum()
        convex = np.diag(expected_counts) - (shares * self.counts[:, None]).T @ shares
        return expected_counts - N * theta, N * (np.diag(theta) - np.outer(theta, theta)), convex


@dataclass(frozen=True, eq=False)
class OwnPriors(_UnderAnyPrior):
    """Topics, and the Dirichlet parameters of some documents' weights on them.

    Attributes:
        phi: (K, V) p(w | z); every row sums to 1.
        alphas: (D, K), 0 where a document does not have a topic; a row for every document that is scored.
        vocabulary: the V words.
        provenance: as of `Topics`.

    Raises:
        InputError: as `Topics` does, for parameters below `LEAST_PARAMETER` but 0, or a row without a topic.
    """

    phi: Floats
    alphas: Floats
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.alphas.ndim != 2 or self.alphas.shape[1] != len(self.phi):
            raise InputError(f"own priors: parameters of shape {self.alphas.shape}; give {len(self.phi)} to a document")
        known = np.isfinite(self.alphas) & ((self.alphas == 0.0) | (self.alphas >= LEAST_PARAMETER))
        bad = ~known.all(axis=1) | ~(self.alphas > 0.0).any(axis=1)
        if bad.any():
            raise InputError(
                f"own priors: document {int(bad.argmax())} has a Dirichlet parameter below {LEAST_PARAMETER:g} or"
                " undefined, or no topic; 0 is for topics that it does not have"
            )
        self._check_phi(len(self.phi), "topics")

    @property
    def parameters(self) -> dict[str, Floats]:
        """The priors' parameters by name."""
        return {"alphas": self.alphas}

    @property
    def n_priors(self) -> int:
        """Number of documents, each with a prior."""
        return len(self.alphas)

    def of_documents(self, places: Ints) -> "OwnPriors":
        """Return the model of the documents at these places."""
        return replace(self, alphas=self.alphas[places])

    def by_prior(self, documents: int, function: Callable[[Any, Ints], Floats]) -> Floats:
        """Return function(topics, places), joined over the sets of documents that share a prior, (D,)."""
        values = np.zeros(documents)
        for places, topics in self.groups():
            values[places] = function(topics, places)
        return values

    def by_support(self, documents: int, function: Callable[[Any, Ints], Floats]) -> Floats:
        """Return weights, (D, K), of the sets of documents with the same topics; 0 on topics that they lack."""
        theta = np.zeros((documents, self.n_topics))
        for places, topics in replace(self, alphas=(self.alphas > 0.0).astype(np.float64)).groups():
            theta[np.ix_(places, np.flatnonzero(self.alphas[places[0]]))] = function(topics, places)
        return theta

    def groups(self) -> Iterator[tuple[Ints, Topics]]:
        """Yield the places of documents that share a prior, and their topics under it."""
        distinct, group = np.unique(self.alphas, axis=0, return_inverse=True)
        for g, alpha in enumerate(distinct):
            has = np.flatnonzero(alpha)
            yield np.flatnonzero(group == g), Topics(np.ascontiguousarray(self.phi[has]), alpha[has], self.vocabulary)


AnyTopics = Topics | LogisticNormalTopics | OwnPriors


def require_dirichlet(topics: AnyTopics, name: str) -> Topics:
    """Return the topics of the named model with a Dirichlet prior; raises InputError for another prior."""
    if not isinstance(topics, Topics):
        kind = "a logistic-normal prior" if isinstance(topics, LogisticNormalTopics) else "priors of the documents' own"
        raise InputError(f"{name}: {kind}, where one Dirichlet prior is needed")
    return topics


def check_logistic_normal(mean: Floats, covariance: Floats, topics: int) -> None:
    """Check the prior of K - 1 log weights, or the priors of D documents, with a mean each.

    Raises:
        InputError: for shapes that do not fit, numbers that are none, or a covariance that is none.
    """
    n = topics - 1
    if n < 1 or mean.ndim not in (1, 2) or mean.shape[-1] != n or covariance.shape != (n, n):
        raise InputError(
            f"logistic normal: a mean of {mean.shape} and a covariance of {covariance.shape} for {topics} topics; give"
            " K or K - 1 of both, K at least 2, or a mean for every document, in rows"
        )
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
        raise InputError("logistic normal: the mean or the covariance has a number that is not finite")
    asymmetry = np.abs(covariance - covariance.T).max()
    if asymmetry > SYMMETRY * np.abs(covariance).max() or np.linalg.eigvalsh(covariance).min() <= 0.0:
        raise InputError("logistic normal: the covariance is not symmetric and positive definite")


def over_the_last(mean: Floats, covariance: Floats, topics: int) -> tuple[Floats, Floats]:
    """Return the prior of x_k - x_K, k < K, from a prior of K numbers; any other prior as it is."""
    if mean.shape[-1:] != (topics,) or covariance.shape != (topics, topics):
        return mean, covariance
    difference = np.column_stack([np.eye(topics - 1), -np.ones(topics - 1)])
    return (difference @ mean.T).T, difference @ covariance @ difference.T


def softmax_over_the_last(x: Floats) -> Floats:
    """Return theta = softmax(x, 0), (J, K), of every row of x, (J, K - 1)."""
    theta = np.zeros((len(x), x.shape[1] + 1))
    theta[:, :-1] = x
    theta -= theta.max(axis=1, keepdims=True)
    np.exp(theta, out=theta)
    theta /= theta.sum(axis=1, keepdims=True)
    return theta


def block_of_documents(n_documents: int, n_words: int) -> Iterator[slice]:
    """Yield slices of the documents: 16 each, or as many as have at most `ENTRIES` entries over the vocabulary."""
    size = max(16, ENTRIES // max(n_words, 1))
    for start in range(0, n_documents, size):
        yield slice(start, min(start + size, n_documents))


@dataclass(frozen=True, eq=False)
class Components(Saved):
    """Weights of a log-linear model over a vocabulary: p(w | h) = exp(W h)_w / sum_w' exp(W h)_w'.

    Attributes:
        weights: (V, K) float64, W; finite.
        centre: (K,) float64, the training documents' mean h, weighted by their tokens; folding-in starts there.
        vocabulary: the V words.
        provenance: their training: software, documents and settings; JSON-compatible. `smoothing`, where present, is
            the constant of `smoothed`.

    Raises:
        InputError: on a number that is not finite, or shapes that do not fit.

    Examples:
        >>> components = Components(np.log([[1.0], [2.0], [1.0]]), np.zeros(1), ("heat", "flow", "wing"))
        >>> h = np.array([[1.0], [0.0]])  # the coordinates of two documents
        >>> components.probabilities(h, rows=np.array([0, 1]), words=np.array([1, 1], dtype=np.int32)).round(3)
        array([0.5  , 0.333])
    """

    _saved = ("components", "train again", False)

    weights: Floats
    centre: Floats
    vocabulary: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.weights.shape != (len(self.vocabulary), len(self.centre)):
            raise InputError(
                f"components: the weights are {self.weights.shape}, but there are {len(self.vocabulary)} words"
                f" and a centre of {len(self.centre)}"
            )
        if self.weights.size == 0:
            raise InputError("components: there must be one word and one component or more")
        if not (np.all(np.isfinite(self.weights)) and np.all(np.isfinite(self.centre))):
            raise InputError("components: a weight or the centre is infinite or undefined; train again")

    @property
    def n_topics(self) -> int:
        """Number of components, K."""
        return len(self.centre)

    def smoothed(self, constant: float) -> "Components":
        """Return components whose `probabilities` have `constant` added to every p(w | d), renormalised.

        p'(w | d) = (p(w | d) + constant) / (1 + V constant)

        Section 5 of Welling et al. (2008) adds the constant to p(w | z), which EPCA does not have. Adding it to
        p(w | d) is our interpretation; for a model that mixes probabilities both give the same p'(w | d). Weights
        and folding-in do not change.
        """
        return replace(self, provenance={**self.provenance, "smoothing": constant})

    def probabilities(self, h: Floats, rows: Ints, words: NDArray[np.int32]) -> Floats:
        """Return p(w | d), (n,), of n pairs: rows (n,) of the coordinates h (D, K), ascending, and words (n,)."""
        probabilities = np.empty(len(rows))
        for block in block_of_documents(len(h), len(self.vocabulary)):
            logits = h[block] @ self.weights.T
            logits -= logits.max(axis=1, keepdims=True)
            pairs = slice(*np.searchsorted(rows, (block.start, block.stop)))
            here = logits[rows[pairs] - block.start, words[pairs]]
            probabilities[pairs] = np.exp(here) / np.exp(logits).sum(axis=1)[rows[pairs] - block.start]
        constant = float(self.provenance.get("smoothing", 0.0))
        return (probabilities + constant) / (1.0 + constant * len(self.vocabulary)) if constant else probabilities


def load_topics(path: Path) -> Topics | Components:
    """Read a trained model's file: `Components` where it holds weights, `Topics` otherwise.

    Raises:
        InputError: when the file is missing, truncated, or holds neither.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            names = file.files
    except Exception:  # Topics.load reports whatever is wrong with the file
        names = []
    return Components.load(path) if "weights" in names else Topics.load(path)


def perplexity(log_likelihood: float, tokens: int) -> float:
    """Return exp(-log_likelihood / tokens), equation 5.37; inf where a token has probability 0.

    Examples:
        >>> round(perplexity(-20.0, 10), 2)
        7.39
    """
    if tokens == 0:
        raise InputError("perplexity: there are no tokens to score")
    exponent = -log_likelihood / tokens
    return math.exp(exponent) if exponent < 700.0 else math.inf
