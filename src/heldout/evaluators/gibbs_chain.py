r"""A Markov chain over a document's topic assignments with the topics fixed, for several evaluators.

Gibbs sampling with theta integrated out draws a token's topic given all others, counts C without that token:

    p(z_l = k | z_-l, w) ∝ (C_k + alpha_k) phi[k, w_l].

The normaliser splits into the sum of C_k phi[k, w_l] over the topics that the document uses at the moment, and that of
alpha_k phi[k, w_l], whose cumulative sums are tabulated once. So a draw takes as many steps as topics are in use, and a
binary search if it falls into the second part. The chain starts by assigning the tokens in turn, each given those
before it.

A document may be shown in part: then the chain moves over its first tokens only, and from every state the other tokens
are assigned in turn, each given all before it; the chain's states do not depend on them. The product

    prod_{l >= shown} sum_k phi[k, w_l] (alpha_k + C_k) / (A + l),        A = sum_k alpha_k, C from the tokens before l,

is the importance weight of that assignment with respect to p(z_l | z_<l, w_l) as the proposal; its mean over
assignments is p(w_l, l >= shown | z_l, l < shown).
"""

import math
from typing import NamedTuple

import numba as nb
import numpy as np

from heldout.evaluators.evaluation import KernelArrays, log_mean
from heldout.evaluators.random_stream import first_above, starts, uniform
from heldout.typing import Floats, Ints

BELOW_ONE = 1.0 - 2.0**-53
BURN_IN = 20  # sweeps before the first state, including the pass that first assigns the tokens


class Chain(NamedTuple):
    """Log probabilities of tokens at the states of every document's chain.

    Attributes:
        log_fit: (D, S) log p(shown tokens | z) = sum_l log phi[z_l, w_l], nats; -inf where a word is impossible.
        log_ahead: (D, S) the logarithm of the product in the module's docstring, nats; -inf where a word is impossible.
    """

    log_fit: Floats
    log_ahead: Floats


@nb.njit(
    "void(int32[::1], int64[::1], int64[::1], float64[:, ::1], float64[::1], int64, uint64[:, ::1], float64[:, ::1],"
    " float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _run(tokens, offsets, shown, phi_by_word, alpha, burn_in, streams, log_fit, log_ahead):  # type: ignore[no-untyped-def]
    """Fill log_fit and log_ahead, document by document."""
    D, samples = log_fit.shape
    K, A = alpha.shape[0], alpha.sum()
    longest = 1
    for d in range(D):
        longest = max(longest, offsets[d + 1] - offsets[d])
    prior = np.empty((longest, K))  # cumulative sums of alpha_k phi[k, w_l]
    z = np.empty(longest, np.int64)
    counts = np.zeros(K)
    used, place = np.empty(K, np.int64), np.empty(K, np.int64)  # topics with tokens, and their places there
    for d in range(D):
        L = offsets[d + 1] - offsets[d]
        words = tokens[offsets[d] : offsets[d + 1]]
        possible = True
        for i in range(L):
            phi = phi_by_word[words[i]]
            total = 0.0
            for k in range(K):
                total += alpha[k] * phi[k]
                prior[i, k] = total
            possible = possible and total > 0.0
        if not possible:
            log_fit[d, :] = -np.inf
            log_ahead[d, :] = -np.inf
            continue
        z[:L] = -1
        counts[:] = 0.0
        n_used = 0
        for sweep in range(burn_in + samples):
            recorded = sweep >= burn_in
            ahead = 0.0
            for i in range(L if recorded else shown[d]):
                phi = phi_by_word[words[i]]
                k = z[i]
                if k >= 0:
                    counts[k] -= 1.0
                    if counts[k] == 0.0:
                        n_used -= 1
                        used[place[k]] = used[n_used]
                        place[used[n_used]] = place[k]
                seen = 0.0
                for j in range(n_used):
                    seen += counts[used[j]] * phi[used[j]]
                total = seen + prior[i, K - 1]
                if i >= shown[d]:
                    ahead += math.log(total / (A + i))
                x = uniform(streams[d]) * total
                if x < seen:
                    for j in range(n_used):
                        weight = counts[used[j]] * phi[used[j]]
                        if weight > 0.0:  # if rounding leaves a remainder, it goes to the last topic
                            k = used[j]
                            x -= weight
                            if x < 0.0:
                                break
                else:
                    k = first_above(prior[i], min(x - seen, prior[i, K - 1] * BELOW_ONE))
                z[i] = k
                if counts[k] == 0.0:
                    used[n_used] = k
                    place[k] = n_used
                    n_used += 1
                counts[k] += 1.0
            if recorded:
                fit = 0.0
                for i in range(shown[d]):
                    fit += math.log(phi_by_word[words[i], z[i]])
                log_fit[d, sweep - burn_in] = fit
                log_ahead[d, sweep - burn_in] = ahead
                for i in range(shown[d], L):
                    k = z[i]
                    z[i] = -1
                    counts[k] -= 1.0
                    if counts[k] == 0.0:
                        n_used -= 1
                        used[place[k]] = used[n_used]
                        place[used[n_used]] = place[k]


def run_chain(arrays: KernelArrays, shown: Ints, samples: int, rng: np.random.Generator) -> Chain:
    """Run one Markov chain per document over its first `shown` tokens, (D,), and read S states.

    One is read after every sweep but the first `BURN_IN`, to which the pass counts that first assigns the tokens.
    """
    D = len(arrays.lengths)
    streams = starts(rng, D)
    chain = Chain(np.empty((D, samples)), np.empty((D, samples)))
    _run(arrays.tokens, arrays.offsets, shown, arrays.phi_by_word, arrays.alpha, BURN_IN, streams, *chain)
    return chain


def log_mean_of_chain(log_weights: Floats) -> tuple[Floats, Floats]:
    """Return the log mean, (D,), nats, of weights along a Markov chain, and its standard error by the delta method.

    The variance of the mean of (D, S) weights comes from overlapping batches of sqrt(S) states (Meketon and Schmeiser
    1984), and is at least the variance of independent weights (`log_mean`). It misses correlations much longer than
    a batch; the error of a single weight is NaN.
    """
    value, error = log_mean(log_weights)
    S = log_weights.shape[1]
    size = int(math.sqrt(S))
    if size < 2:
        return value, error
    finite = np.isfinite(value)
    weights = np.exp(log_weights[finite] - value[finite, None])  # of mean 1
    sums = np.cumsum(np.concatenate([np.zeros((len(weights), 1)), weights], axis=1), axis=1)
    deviations = (sums[:, size:] - sums[:, :-size]) / size - 1.0
    variance = size / ((S - size) * (S - size + 1)) * np.square(deviations).sum(axis=1)
    error[finite] = np.maximum(error[finite], np.sqrt(variance))
    return value, error
