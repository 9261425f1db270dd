r"""The posterior mean of a document's topic weights, the point of a plug-in predictive distribution.

The posterior is p(theta | w) ∝ prod_l (sum_k theta_k phi[k, w_l]) Dir(theta | alpha). Its mean-field approximation
(Blei, Ng and Jordan 2003; derived in `heldout.evaluators.mean_field_bound`) is q(theta) = Dir(gamma) with the fixed
point

    gamma_k = alpha_k + sum_w n(w) r[w, k],      r[w, k] ∝ phi[k, w] exp(psi(gamma_k)),

and the mean gamma_k / sum_j gamma_j. With gamma_k in the place of exp(psi(gamma_k)) the same iteration is EM for the
mode in the softmax basis (`heldout.evaluators.laplace_softmax`); `variational_gamma` does both. With few topics the
exact mean (`heldout.evaluators.exact_marginal.exact_posterior_mean`) shows the mean field's error.

The mean is scored like any folded-in point, on the document's own tokens: `full_folding_in` with `posterior_mean` as
its fold-in. At the exact mean the score is never below the likelihood: log p(w | theta) is concave, so that

    log p(w | E theta) >= E log p(w | theta) = log p(w) + KL(p(theta | w) || p(theta)),

the expectations over the posterior; a sample of the posterior exceeds the likelihood by that divergence on average.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import in_vocabulary
from heldout.models.plsa import explained_words, most_words
from heldout.models.simd import WIDTH, copy, dot
from heldout.topics import Topics
from heldout.typing import Floats

ITERATIONS = 2_000
TOLERANCE = 1e-6


@nb.njit("float64(float64)", cache=True)
def _digamma(x):  # type: ignore[no-untyped-def]
    """Return psi(x), x > 0: psi(x) = psi(x + 1) - 1 / x up to 10, from there the asymptotic series."""
    value = 0.0
    while x < 10.0:
        value -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return value + math.log(x) - 0.5 / x - series


@nb.njit(
    "void(int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[::1], boolean, int64, float64,"
    " float64[:, ::1])",
    cache=True,
)
def _iterate(  # type: ignore[no-untyped-def]
    indptr, indices, counts, phi_by_word, alpha, mean_field, iterations, tolerance, gamma
):
    """Iterate every row of gamma, from its current value."""
    n_documents, K = gamma.shape
    width = -(-K // WIDTH) * WIDTH
    longest = most_words(indptr)
    words = np.zeros((longest, width))
    explained = np.empty(longest)
    weight, update = np.zeros(width), np.empty(width)
    for d in range(n_documents):
        # a word that no topic gives has no effect on theta
        size = explained_words(indptr[d], indptr[d + 1], indices, counts, phi_by_word, 0.0, words, explained)
        if size == 0:
            copy(alpha, gamma[d])
            continue
        tokens = 0.0
        for i in range(size):
            tokens += explained[i]
        for _ in range(iterations):
            if mean_field:
                highest = 0.0
                for k in range(K):
                    highest = max(highest, gamma[d, k])
                shift = _digamma(highest)  # so that the largest weight is 1
                for k in range(K):
                    weight[k] = math.exp(_digamma(gamma[d, k]) - shift)
            else:
                copy(gamma[d], weight)
            update[:] = 0.0
            for i in range(size):
                total = dot(weight, words[i])
                if total > 0.0:  # otherwise the weights of the word's topics have underflowed
                    ratio = explained[i] / total
                    for k in range(width):
                        update[k] += ratio * words[i, k]
            change = 0.0
            for k in range(K):
                new = alpha[k] + weight[k] * update[k]
                change += abs(new - gamma[d, k])
                gamma[d, k] = new
            if change <= tolerance * tokens:
                break


def variational_gamma(
    topics: Topics,
    documents: Corpus,
    *,
    mean_field: bool,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> Floats:
    """Return gamma, (D, K): alpha_k of the prior plus every topic's expected number of tokens.

    It is the fixed point of the mean-field posterior, or else of the mode in the softmax basis; a word that no topic
    gives has no effect. The first gamma is alpha_k + L / K; a document is done when an iteration moves at most the
    share `tolerance` of its tokens, or after `iterations`.

    Raises:
        InputError: for fewer than one iteration, or a tolerance that is negative or NaN.
    """
    if iterations < 1 or not tolerance >= 0.0:
        raise InputError(f"gamma: {iterations} iterations, tolerance {tolerance}; give 1 or more, 0 or more")
    counts = documents.counts()
    gamma = topics.alpha + documents.lengths[:, None] / topics.n_topics
    alpha = np.ascontiguousarray(topics.alpha, dtype=np.float64)
    indptr, indices = counts.indptr.astype(np.int32), counts.indices.astype(np.int32)
    _iterate(indptr, indices, counts.data, topics.phi_by_word, alpha, mean_field, iterations, tolerance, gamma)
    return gamma


def posterior_mean(topics: Topics, documents: Corpus) -> Floats:
    """Return the mean-field posterior mean of theta, (D, K), rows sum to 1; for an empty document the prior's mean.

    Examples:
        >>> posterior_mean(topics, documents).round(2)
        array([[0.75, 0.25],
               [0.35, 0.65]])
    """
    documents, _ = in_vocabulary(documents, topics)
    gamma = variational_gamma(topics, documents, mean_field=True)
    mean: Floats = gamma / gamma.sum(axis=1, keepdims=True)
    return mean
