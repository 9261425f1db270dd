r"""Topics that are multiplied: ProdLDA (Srivastava and Sutton, 2017), under its logistic-normal prior.

A document's words are drawn from a product of experts that is normalised over all V words,

    p(w | theta) = softmax(W theta + b)_w,        theta = softmax(x_1, .., x_{K-1}, 0),        x ~ N(mu, Sigma),

in which W and b hold the batch normalisation, with the running mean m and variance s^2 an affine map of each word's
logit: W = beta' / s and b = -m / s. As of a mixture of topics, p(w) is an integral over x of K - 1 dimensions, and
`heldout.evaluators.logistic_normal` takes it with l(x) = sum_v n_v (W theta + b)_v - N log sum_v exp(W theta + b)_v.
With J = W (diag theta - theta theta') and p = p(. | theta) the gradient of l in x is g = J' (n - N p), the Hessian
-N J' (diag p - p p') J + diag g - theta g' - g theta'.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from heldout.errors import InputError
from heldout.topics import LogisticNormalTopics, Mixture, check_logistic_normal, over_the_last
from heldout.typing import Floats


@dataclass(frozen=True, eq=False)
class ProductOfExperts:
    """Experts on words, W (V, K) and b (V,), and the logistic-normal prior of a document's weights on them.

    mu, (K - 1,), and Sigma, (K - 1, K - 1), are the mean and the covariance of the logarithms of theta_k / theta_K.

    Raises:
        InputError: for shapes that do not fit, numbers that are not finite, or a covariance that is none.
    """

    weights: Floats
    bias: Floats
    mean: Floats
    covariance: Floats
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        V = len(self.vocabulary)
        if self.weights.ndim != 2 or len(self.weights) != V or self.bias.shape != (V,):
            raise InputError(
                f"product of experts: W of {self.weights.shape} and b of {self.bias.shape} for {V} words; give (V, K)"
                " and (V,)"
            )
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise InputError("product of experts: W or b has a number that is not finite")
        if self.mean.ndim != 1:
            raise InputError(f"product of experts: mu of {self.mean.shape}; give one mean of all documents")
        check_logistic_normal(self.mean, self.covariance, self.n_topics)

    @classmethod
    def of(
        cls, weights: ArrayLike, bias: ArrayLike, mean: ArrayLike, covariance: ArrayLike, vocabulary: tuple[str, ...]
    ) -> Self:
        """Return experts with theta = softmax(x) of K numbers x, or of K - 1 numbers and a last one that is 0."""
        W, b, mu, Sigma = (np.asarray(values, dtype=np.float64) for values in (weights, bias, mean, covariance))
        return cls(W, b, *over_the_last(mu, Sigma, W.shape[-1] if W.ndim else 0), vocabulary)

    @property
    def n_topics(self) -> int:
        """Number of experts, K."""
        return len(self.weights.T)

    def likelihood_of(self, words: NDArray[np.int32], counts: Floats) -> "_Product":
        """Return the likelihood of a document with `counts` of these (U,) distinct words."""
        n = np.zeros(len(self.bias))
        n[words] = counts
        return _Product(self.weights, self.bias, n)


@dataclass(frozen=True)
class _Product:
    """The log-likelihood l of a document, as in `heldout.topics.Mixture`; n (V,)."""

    weights: Floats
    bias: Floats
    counts: Floats

    @property
    def width(self) -> int:
        return len(self.counts)

    def log_likelihood(self, theta: Floats) -> Floats:
        logits = theta @ self.weights.T + self.bias
        return np.asarray(logits @ self.counts - self.counts.sum() * logsumexp(logits, axis=1))

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        word_means, N = self.weights @ theta, self.counts.sum()
        logits = word_means + self.bias
        p = np.exp(logits - logsumexp(logits))
        J = theta * (self.weights - word_means[:, None])
        mean = p @ J
        concave = N * ((J * p[:, None]).T @ J - np.outer(mean, mean))
        gradient = (self.counts - N * p) @ J
        cross = np.outer(theta, gradient)
        return gradient, concave, np.diag(gradient) - cross - cross.T


LogisticNormalModel = LogisticNormalTopics | ProductOfExperts
Likelihood = Mixture | _Product  # likelihood of a document under given weights
