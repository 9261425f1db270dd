r"""The sampler of the left-to-right estimators: collapsed Gibbs sampling of a document that grows by one token.

    p(w_1 .. w_L) = prod_l p(w_l | w_1 .. w_{l-1})                                       (Buntine, 2009, equation 5)

Derivation. With theta integrated out, topics are drawn from Polya's urn: given z_1 .. z_{l-1} with N_k tokens of topic
k, and A = sum_k alpha_k, the next token has topic k with probability (alpha_k + N_k) / (A + l - 1), hence

    p(w_l | z_1 .. z_{l-1}) = sum_k (alpha_k + N_k) phi[k, w_l] / (A + l - 1)            (equation 7)
    p(w_l | w_1 .. w_{l-1}) = E[p(w_l | z_1 .. z_{l-1}) | w_1 .. w_{l-1}]                (equation 6)

The urn is exchangeable: any token is the last one given the others. So token l' of a growing document is resampled by

    p(z_l' = k | the other topics, words) ∝ (alpha_k + N_k) phi[k, w_l'],    N without token l'.

Equation 7 is this conditional's normaliser for the token that comes next; the kernel takes both from one sum. For every
l, it repeats `sweeps` times: resample z_1 .. z_{l-1} in turn given w_1 .. w_{l-1}, record equation 7 for w_l; then it
draws z_l from its conditional. No topic behind a record of token l has seen w_l.

Work. The sum over K topics is not taken as it stands. With the floor f_k = min_w phi[k, w] it is either of

    sum_k (alpha_k + N_k) (phi[k, w] - f_k)  +  sum_k alpha_k f_k + sum_k N_k f_k
    sum_k N_k phi[k, w]                      +  sum_k alpha_k phi[k, w].

The first sum of the first line has only the topics that the word exceeds the floor in: few where the topics are
sparse and smoothed. That of the second line has only the topics in use: few where the document is about few. The
shorter one is taken. What stands to its right is constant or kept, and is drawn from by bisection of cumulative sums,
only when it is hit. The token's topic so far is tried first, since it is the most probable one.
"""

import math
from collections.abc import Callable

import numba as nb
import numpy as np
from numpy.typing import NDArray

from dlvm.corpora.corpus import Corpus
from dlvm.evaluators.evaluation import Evaluation, kernel_arrays
from dlvm.evaluators.random_stream import starts, uniform
from dlvm.models.topics import Topics

PLAIN = 64  # so many topics are summed faster than those that matter are told from the others

Records = NDArray[np.float64]


@nb.njit(
    "int64(uint32[::1], float64[:, ::1], float64[::1], int64, int64, uint64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _sample_plain(words, phi, alpha, particles, sweeps, state, out):  # type: ignore[no-untyped-def]
    """Write equation 7 for every record and token to out, (particles max(sweeps, 1), L); return the terms summed.

    words: (L,) rows of phi.
    """
    L, K = words.shape[0], alpha.shape[0]
    total_alpha = alpha.sum()
    z = np.empty(L, np.uint32)
    count, weight, cumulative = np.empty(K), np.empty(K), np.empty(K)  # N_k, alpha_k + N_k, running sum
    work = 0
    for particle in range(particles):
        count[:] = 0.0
        weight[:] = alpha
        for last in range(L):
            for sweep in range(max(sweeps, 1)):
                for position in range(0 if sweeps > 0 else last, last + 1):
                    if position < last:
                        old = z[position]
                        count[old] -= 1.0
                        weight[old] = alpha[old] + count[old]
                    row = phi[words[position]]
                    total = 0.0
                    for k in range(K):
                        total += weight[k] * row[k]
                        cumulative[k] = total
                    work += K
                    if position == last:
                        out[particle * max(sweeps, 1) + sweep, last] = total / (total_alpha + last)
                        if sweep + 1 < sweeps:
                            break
                    x = uniform(state) * total
                    new = 0
                    while new < K - 1 and cumulative[new] <= x:
                        new += 1
                    count[new] += 1.0
                    weight[new] = alpha[new] + count[new]
                    z[position] = new
    return work


@nb.njit(
    "int64(uint32[::1], int64[::1], uint32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1],"
    " float64[::1], float64[::1], int64, int64, uint64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _sample_sparse(  # type: ignore[no-untyped-def]
    words, begins, listed, excess, phi, prior, floor, floor_prior, alpha, particles, sweeps, state, out
):
    """Write equation 7 for every record and token to out, (particles max(sweeps, 1), L); return the work.

    words: (L,) rows of phi. Row u exceeds the floor in the
    topics listed[begins[u]:begins[u + 1]], by excess. prior and floor_prior: cumulative sums over topics of alpha phi
    and alpha floor. The work is counted in steps: a topic of a list, a bisection.
    """
    L, K = words.shape[0], alpha.shape[0]
    total_alpha = alpha.sum()
    z = np.empty(L, np.uint32)
    phi_z = np.empty(L)  # phi[z_l, w_l]
    count, weight = np.empty(K), np.empty(K)  # N_k, alpha_k + N_k
    used, place = np.empty(K, np.uint32), np.empty(K, np.uint32)  # the topics in use, and where each stands among them
    work = 0
    for particle in range(particles):
        count[:] = 0.0
        weight[:] = alpha
        n_used = 0
        for last in range(L):
            floor_count = 0.0  # sum_k N_k f_k
            for i in range(n_used):
                floor_count += count[used[i]] * floor[used[i]]
            for sweep in range(max(sweeps, 1)):
                for position in range(0 if sweeps > 0 else last, last + 1):
                    u = words[position]
                    row = phi[u]
                    fresh = position == last
                    old = np.uint32(K) if fresh else z[position]
                    before = floor_count
                    if not fresh:
                        count[old] -= 1.0
                        weight[old] = alpha[old] + count[old]
                        floor_count -= floor[old]
                    first, end = begins[u], begins[u + 1]
                    by_word = end - first <= n_used
                    terms = end - first if by_word else n_used
                    own = rest = 0.0
                    even = odd = 0.0
                    if by_word:
                        for i in range(first, end - 1, 2):
                            even += weight[listed[i]] * excess[i]
                            odd += weight[listed[i + 1]] * excess[i + 1]
                        if terms & 1:
                            even += weight[listed[end - 1]] * excess[end - 1]
                        rest = floor_prior[K - 1] + floor_count
                        if not fresh:
                            own = weight[old] * (phi_z[position] - floor[old])
                    else:
                        for i in range(0, n_used - 1, 2):
                            even += count[used[i]] * row[used[i]]
                            odd += count[used[i + 1]] * row[used[i + 1]]
                        if terms & 1:
                            even += count[used[n_used - 1]] * row[used[n_used - 1]]
                        rest = prior[u, K - 1]
                        if not fresh:
                            own = count[old] * phi_z[position]
                    mass = even + odd
                    work += terms
                    if fresh:
                        out[particle * max(sweeps, 1) + sweep, last] = (mass + rest) / (total_alpha + last)
                        if sweep + 1 < sweeps:
                            break
                    x = uniform(state) * (mass + rest)
                    new = old
                    if x >= own:
                        x -= own
                        if x >= mass - own and rest > 0.0:
                            x -= mass - own
                        elif by_word:
                            for i in range(first, end):
                                work += 1
                                if listed[i] != old:
                                    new = listed[i]
                                    x -= weight[new] * excess[i]
                                    if x < 0.0:
                                        break
                        else:
                            for i in range(n_used):
                                k = used[i]
                                work += 1
                                if k != old and count[k] * row[k] > 0.0:
                                    new = k
                                    x -= count[k] * row[k]
                                    if x < 0.0:
                                        break
                        if x >= 0.0 and rest > 0.0:
                            table = prior[u]
                            if by_word:
                                table = floor_prior
                                for i in range(n_used):
                                    k = used[i]
                                    work += 1
                                    new = k
                                    x -= count[k] * floor[k]
                                    if x < 0.0:
                                        break
                            if x >= 0.0:
                                x = min(x, table[K - 1] * (1.0 - 1e-15))
                                start = 0  # of the topics whose cumulative sum may be the first above x
                                size = K
                                while size > 1:
                                    half = size >> 1
                                    start = start + half if table[start + half - 1] <= x else start
                                    size -= half
                                    work += 1
                                new = np.uint32(start)
                    if new == old and not fresh:
                        count[old] += 1.0
                        weight[old] = alpha[old] + count[old]
                        floor_count = before
                        continue
                    if not fresh and count[old] == 0.0:
                        n_used -= 1
                        used[place[old]] = used[n_used]
                        place[used[n_used]] = place[old]
                    if count[new] == 0.0:
                        used[n_used] = new
                        place[new] = n_used
                        n_used += 1
                    count[new] += 1.0
                    weight[new] = alpha[new] + count[new]
                    floor_count += floor[new]
                    z[position] = new
                    phi_z[position] = row[new]
    return work


def sample(
    topics: Topics,
    documents: Corpus,
    rng: np.random.Generator,
    *,
    particles: int,
    sweeps: int,
    error: Callable[[Records], float],
) -> tuple[Evaluation, int]:
    """Estimate every document's log p(w | alpha, phi), the logarithm of the product over tokens of the mean record.

    Args:
        topics: phi and alpha.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        rng: seeds one stream per document.
        particles: independent runs over a document.
        sweeps: of resampling before each token, and records of it; 0 for one record without resampling.
        error: of a document's log-likelihood, from its records: equation 7, (particles max(sweeps, 1), L), the
            particles one after the other, divided by each token's mean.

    Returns:
        log-likelihoods in nats with their errors; -inf where a word has probability 0 under every topic, 0 for an empty
        document, both with error 0. And the work: how many topics were visited in all.
    """
    arrays = kernel_arrays(topics, documents)
    states = starts(rng, len(arrays.lengths))
    floor = topics.phi.min(axis=1)
    log_likelihood, standard_error = np.zeros(len(arrays.lengths)), np.zeros(len(arrays.lengths))
    work = 0
    for d in np.flatnonzero(arrays.lengths):
        distinct, first, words = np.unique(
            arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        words = np.argsort(order)[words]
        phi = arrays.phi_by_word[distinct[order]]
        prior = np.cumsum(phi * arrays.alpha, axis=1)
        if prior[:, -1].min() == 0.0:
            log_likelihood[d] = -math.inf
            continue
        words = words.astype(np.uint32)
        records = np.empty((particles * max(sweeps, 1), len(words)))
        if topics.n_topics <= PLAIN:
            work += _sample_plain(words, phi, arrays.alpha, particles, sweeps, states[d], records)
        else:
            rows, listed = np.nonzero(phi > floor)
            work += _sample_sparse(
                words,
                np.searchsorted(rows, np.arange(len(distinct) + 1)),
                listed.astype(np.uint32),
                (phi - floor)[rows, listed],
                phi,
                prior,
                floor,
                np.cumsum(arrays.alpha * floor),
                arrays.alpha,
                particles,
                sweeps,
                states[d],
                records,
            )
        means = records.mean(axis=0)
        log_likelihood[d] = np.log(means).sum()
        standard_error[d] = error(records / means)
    return Evaluation(log_likelihood, arrays.lengths, standard_error, arrays.left_out), work
