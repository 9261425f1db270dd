r"""Importance sampling of a document's topic assignments from a product of distributions, one per token.

Equation 2 of Buntine (2009): with z_s drawn from q(z) = prod_l q_l(z_l),

    p(w | alpha, phi) = E_q[p(w, z) / q(z)]  ~  (1/S) sum_s p(w, z_s) / q(z_s),

unbiased for every q that is positive wherever p(w, z) is. With A = sum_k alpha_k and C_k the tokens of topic k among
those before l, Polya's urn gives the weight of one draw as a product over the tokens in any order,

    p(w, z) / q(z) = prod_l  [phi[z_l, w_l] / q_l(z_l)]  (alpha_{z_l} + C_{z_l}) / (A + l),        l = 0, 1, ...

so a draw costs one logarithm and one search in a table of cumulative sums per token, linear in the length.

The best product. The minimum of KL(q || p(z | w)) over one factor, the others fixed, is q_l(z_l) ∝ exp(E log p(w, z)),
the expectation taken over the others. Of log p(w, z) = sum_l log phi[z_l, w_l] + sum_k log Gamma(alpha_k + C_k) + const
only the terms of z_l matter: with C'_k the tokens of topic k other than l, log Gamma(alpha_k + C_k) exceeds log
Gamma(alpha_k + C'_k) by log(alpha_k + C'_k) at k = z_l, and equals it elsewhere. Hence (equation 3, in which C' and
alpha are those of topic k_l)

    q_l(k) ∝ phi[k, w_l] exp(E log(alpha_k + C'_k)).

C'_k is a sum of independent indicators: u = alpha_k + C'_k has the mean m = alpha_k + sum_{j != l} q_j(k) and the
variance v = sum_{j != l} q_j(k) (1 - q_j(k)). Taylor's expansion of the logarithm around m,
E log u = log m - v / (2 m^2) + ..., gives

    first order     q_l(k) ∝ phi[k, w_l] m                       (equation 4: expected counts plus alpha),
    second order    q_l(k) ∝ phi[k, w_l] m exp(-v / (2 m^2))     (the variance-corrected form).

The expansion is in 1 / m: where m is small, v / (2 m^2) reaches 1 / (8 alpha_k), too large a correction for a topic
that is hardly used (the expansion may fall below log alpha_k; E log u cannot). The correction is limited to
`LARGEST_CORRECTION`, which no alpha_k >= 1/240 reaches, so that q stays positive wherever phi is.

Start: q_l(k) ∝ alpha_k phi[k, w_l], the posterior of the token on its own. A cycle updates every token's q_l once,
either in sequence, each from the newest values of all others (coordinate ascent: equation 4 as a rewrite rule), or all
in parallel from the values of the previous cycle.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples, kernel_arrays, log_mean
from heldout.evaluators.random_stream import first_above, starts, uniform
from heldout.models.plsa import most_words
from heldout.topics import Topics

LARGEST_CORRECTION = 30.0
CYCLES = 10  # updates of every token's distribution before sampling, as in section 4.1


@nb.njit(
    "void(int32[::1], int64[::1], float64[:, ::1], float64[::1], int64, boolean, boolean, uint64[:, ::1],"
    " float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _log_weights(tokens, offsets, phi_by_word, alpha, cycles, in_sequence, second_order, streams, out):  # type: ignore[no-untyped-def]
    """Write log p(w, z_s) - log q(z_s) of every document and sample to out, (D, S)."""
    K, A = alpha.shape[0], alpha.sum()
    longest = most_words(offsets)
    q, ratio = np.empty((longest, K)), np.empty((longest, K))  # after the cycles q holds cumulative sums
    new, counts = np.empty(K), np.empty(K)
    means, variances = np.empty(K), np.empty(K)  # of the number of tokens per topic, all included
    old_means, old_variances = means, variances
    if not in_sequence:
        old_means, old_variances = np.empty(K), np.empty(K)
    for d in range(out.shape[0]):
        first, L = offsets[d], offsets[d + 1] - offsets[d]
        means[:] = 0.0
        variances[:] = 0.0
        possible = True
        for i in range(L):
            phi = phi_by_word[tokens[first + i]]
            total = 0.0
            for k in range(K):
                q[i, k] = alpha[k] * phi[k]
                total += q[i, k]
            possible = possible and total > 0.0
            if not possible:
                break
            for k in range(K):
                q[i, k] /= total
                means[k] += q[i, k]
                variances[k] += q[i, k] * (1.0 - q[i, k])
        if not possible:  # no topic gives one of the words
            out[d, :] = -np.inf
            continue
        for _ in range(cycles):
            if not in_sequence:
                old_means[:] = means
                old_variances[:] = variances
            for i in range(L):
                phi = phi_by_word[tokens[first + i]]
                total = 0.0
                for k in range(K):
                    mean = alpha[k] + max(0.0, old_means[k] - q[i, k])
                    weight = phi[k] * mean
                    if second_order:
                        variance = max(0.0, old_variances[k] - q[i, k] * (1.0 - q[i, k]))
                        weight *= math.exp(-min(LARGEST_CORRECTION, 0.5 * variance / (mean * mean)))
                    new[k] = weight
                    total += weight
                for k in range(K):
                    value = new[k] / total
                    means[k] += value - q[i, k]
                    variances[k] += value * (1.0 - value) - q[i, k] * (1.0 - q[i, k])
                    q[i, k] = value
        for i in range(L):
            phi = phi_by_word[tokens[first + i]]
            total = 0.0
            for k in range(K):
                ratio[i, k] = phi[k] / (q[i, k] * (A + i)) if q[i, k] > 0.0 else 0.0
                total += q[i, k]
                q[i, k] = total
            for k in range(K):  # log q must match the draws: normalised by the sum that the search uses
                ratio[i, k] *= total
        for s in range(out.shape[1]):
            counts[:] = alpha
            value = 0.0
            for i in range(L):
                x = uniform(streams[d]) * q[i, K - 1]
                k = first_above(q[i], x)
                value += math.log(ratio[i, k] * counts[k])
                counts[k] += 1.0
            out[d, s] = value


def importance_sampling(
    estimator: str,
    topics: Topics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    in_sequence: bool,
    second_order: bool,
) -> Evaluation:
    """Return log p(w | alpha, phi) by importance sampling from a product of distributions (Buntine, equation 2).

    Other arguments, result and errors are as in `heldout.evaluators`. A sample is a draw of all the assignments of a
    document. `estimator` is the name in error messages. Every token's distribution is updated `CYCLES` times before
    sampling, one token after the other if `in_sequence`, else all in parallel; `second_order` says
    whether to correct by the variance of the counts.
    """
    check_samples(estimator, samples)
    arrays = kernel_arrays(topics, documents)
    streams = starts(rng, len(arrays.lengths))
    log_weights = np.empty((len(arrays.lengths), samples))
    _log_weights(*arrays[:4], CYCLES, in_sequence, second_order, streams, log_weights)
    value, error = log_mean(log_weights)
    error[(arrays.lengths == 0) | np.isneginf(value)] = 0.0  # exact without sampling
    return Evaluation(value, arrays.lengths, error, arrays.left_out)
