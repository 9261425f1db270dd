r"""LDA's variational lower bound on documents with the topics fixed (Blei, Ng and Jordan 2003, section 5).

Equation 4.29 of Welling et al. (2008), B_1 = max_q E_q[log p(w, h)] + S(q) <= log p(w), where the latent variables are
theta and every token's topic, and q factorises:

    q(theta, z) = Dir(theta | gamma) prod_l r[l, z_l].

Derivation. With E_k = E_q[log theta_k] = psi(gamma_k) - psi(sum_j gamma_j),

    B(gamma, r) = sum_l sum_k r[l, k] (E_k + log phi[k, w_l] - log r[l, k]) - KL(Dir(gamma) || Dir(alpha)).

For a given gamma the best r is r[l, k] ∝ phi[k, w_l] exp(E_k), which turns the first sum into a logarithm; tokens of
the same word share it:

    B(gamma) = sum_w n(w) log sum_k phi[k, w] exp(E_k) - KL(Dir(gamma) || Dir(alpha)),
    KL = log Gamma(sum_k gamma_k) - log Gamma(A)
         + sum_k (log Gamma(alpha_k) - log Gamma(gamma_k) + (gamma_k - alpha_k) E_k),    A = sum_k alpha_k.

For given r the best q(theta) has gamma_k = alpha_k + sum_w n(w) r[w, k]. Alternating the two never lowers B, and B is a
lower bound at any gamma, so also where the iteration stops. B may have several local maxima; the iteration starts from
gamma_k = alpha_k + L / K.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.models.plsa import most_words
from heldout.models.simd import WIDTH, copy, dot
from heldout.topics import Topics

HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


@nb.njit(cache=True)  # without types these are compiled where they are called: an audit's first result is not
def _digamma_and_log_gamma(x):  # type: ignore[no-untyped-def]
    """Return psi(x) and log Gamma(x), x > 0, by asymptotic series from 10 on.

    Gamma(x + n) = P(x) Gamma(x), P(x) = x (x + 1) .. (x + n - 1), so psi(x) = psi(x + n) - P'(x) / P(x): one division
    and one logarithm, where n would be taken.
    """
    P, derivative = 1.0, 0.0
    while x < 10.0:
        derivative = derivative * x + P
        P *= x
        x += 1.0
    log_x = math.log(x)
    z = 1.0 / x
    y = z * z
    psi_sum = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    rest = 1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * (691 / 360360 - y / 156)))
    log_gamma = (x - 0.5) * log_x - x + HALF_LOG_2_PI + z * (1 / 12 - y * (1 / 360 - y * rest)) - math.log(P)
    return log_x - 0.5 * z - psi_sum - derivative / P, log_gamma


@nb.njit(cache=True)
def _bounds(indptr, indices, counts, phi_by_word, alpha, iterations, tolerance, out):  # type: ignore[no-untyped-def]
    """Write every document's B to out."""
    K, A = alpha.shape[0], 0.0
    prior_terms = np.empty(K)
    for k in range(K):
        A += alpha[k]
        prior_terms[k] = _digamma_and_log_gamma(alpha[k])[1]
    width = -(-K // WIDTH) * WIDTH
    words = np.zeros((most_words(indptr), width))
    gamma, log_weight, weight, update = np.empty(K), np.empty(K), np.zeros(width), np.empty(width)
    for d in range(out.shape[0]):
        n, size = counts[indptr[d] : indptr[d + 1]], indptr[d + 1] - indptr[d]
        for i in range(size):
            copy(phi_by_word[indices[indptr[d] + i]], words[i])
        tokens = 0.0
        for i in range(size):
            tokens += n[i]
        for k in range(K):
            gamma[k] = alpha[k] + tokens / K
        bound = -np.inf
        for _ in range(iterations):
            expected, normaliser = _digamma_and_log_gamma(A + tokens)  # gamma always has this sum
            raised, highest = _digamma_and_log_gamma(A)[1] - normaliser, -np.inf
            for k in range(K):
                digamma, log_gamma = _digamma_and_log_gamma(gamma[k])
                log_weight[k] = digamma - expected
                raised += log_gamma - prior_terms[k] - (gamma[k] - alpha[k]) * log_weight[k]
                highest = max(highest, log_weight[k])
            raised += tokens * highest
            for k in range(K):
                weight[k] = math.exp(log_weight[k] - highest)
            update[:] = 0.0
            for i in range(size):
                total = dot(weight, words[i])
                if total == 0.0:
                    raised = -np.inf
                    break
                raised += n[i] * math.log(total)
                ratio = n[i] / total
                for k in range(width):
                    update[k] += ratio * words[i, k]
            met = raised - bound <= tolerance * tokens or raised == -np.inf
            bound = raised
            if met:
                break
            for k in range(K):
                gamma[k] = alpha[k] + weight[k] * update[k]
        out[d] = bound


def mean_field_bound(
    topics: Topics, documents: Corpus, *, iterations: int = 10_000, tolerance: float = 1e-9
) -> Evaluation:
    """Return the mean-field lower bound on every document's log p(w | alpha, phi).

    Arguments, result and errors are as in `heldout.evaluators`. A document is done when an iteration raises its bound
    by at most `tolerance` nats per token, or after `iterations` evaluations of the bound.

    Examples:
        >>> mean_field_bound(topics, documents).log_likelihood.round(2)
        array([-3.91, -0.87])
    """
    if iterations < 1 or not tolerance >= 0.0:
        raise InputError(f"mean-field bound: {iterations} iterations, tolerance {tolerance}; give 1 or more, 0 or more")
    documents, left_out = in_vocabulary(documents, topics)
    counts = documents.counts()
    bounds = np.empty(documents.n_documents)
    indptr, indices = counts.indptr.astype(np.int32), counts.indices.astype(np.int32)
    alpha = np.ascontiguousarray(topics.alpha, dtype=np.float64)
    _bounds(indptr, indices, counts.data, topics.phi_by_word, alpha, iterations, tolerance, bounds)
    return Evaluation.deterministic(bounds, documents.lengths, left_out)
