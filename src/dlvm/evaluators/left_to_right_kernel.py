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

Work. The conditional's normaliser is taken apart as

    sum_k N_k phi[k, w]  +  sum_k alpha_k phi[k, w].

The second sum is constant. The first one is kept for every distinct word of the document and changes when a token
moves: phi's row of its new topic comes in, that of its old one goes out. So a token that stays costs the same whatever
K is. One that moves is drawn from what is left after its own topic, with the floor f_k = min_w phi[k, w], as

    sum_k (alpha_k + N_k) (phi[k, w] - f_k)  +  sum_k N_k f_k  +  sum_k alpha_k f_k.

The first sum has the topics alone in which the word exceeds the floor, few where topics are sparse and smoothed; they
are searched from the largest excess down. The second one is searched token by token (sum_k N_k f_k = sum_l f[z_l]), or
topic by topic where these are fewer; the third by bisection. A word that exceeds the floor in more than MOST topics
does with f_k = phi[k, w] and no first sum. Few topics are simply summed.
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

PLAIN = 20  # so many topics, or one in WORDS distinct words, are summed faster than told apart
WORDS = 8
MOST = 256  # topics of a word that are listed
RENEWED = 16  # tokens after which the sums that are kept are taken anew, so that rounding errors do not add up
BLOCK = 16  # columns are filled up to a multiple of it: vector instructions without a remainder

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
    "int64(uint32[::1], int64[::1], uint32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    " float64[::1], int64, int64, uint64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _sample_sparse(  # type: ignore[no-untyped-def]
    words, begins, listed, excess, phi, columns, prior, alpha, particles, sweeps, state, out
):
    """Write equation 7 for every record and token to out, (particles max(sweeps, 1), L); return the steps taken.

    words: (L,) rows of phi, numbered as they first appear; phi's last row is the floor. Row u exceeds it in the topics
    listed[begins[u]:begins[u + 1]], by excess, largest first; nothing is listed for a word that does without. columns:
    the words' phi by topic, filled up with a row and columns of zeros. prior: phi's rows times alpha, summed up over
    topics. A step is a draw, a topic or token that is looked at, or a bisection.
    """
    L, K = words.shape[0], alpha.shape[0]
    total_alpha = alpha.sum()
    floor_row = np.int64(phi.shape[0] - 1)
    z = np.empty(L, np.uint32)  # K where a token has no topic yet
    phi_z = np.empty(L)  # phi[z_l, w_l]
    count, weight = np.empty(K + 1), np.empty(K + 1)  # N_k, alpha_k + N_k
    sums = np.zeros(columns.shape[1])  # of every distinct word so far, sum_k N_k phi[k, w]
    work = 0
    for particle in range(particles):
        count[:] = 0.0
        weight[:K] = alpha
        n_seen = 0
        for last in range(L):
            begin = 0 if last % RENEWED == 0 else n_seen
            if words[last] == n_seen:
                n_seen += 1
            for i in range(begin, n_seen):
                s = 0.0
                for t in range(last):
                    s += phi[i, z[t]]
                sums[i] = s
            z[last] = K
            phi_z[last] = 0.0
            count[K] = 1.0
            for sweep in range(max(sweeps, 1)):
                for position in range(0 if sweeps > 0 else last, last + 1):
                    u = words[position]
                    total = max(sums[u] - phi_z[position], 0.0) + prior[u, K - 1]
                    if position == last:
                        out[particle * max(sweeps, 1) + sweep, last] = total / (total_alpha + last)
                        if sweep + 1 < sweeps:
                            break
                    old = z[position]
                    others = count[old] - 1.0
                    x = uniform(state) * total - others * phi_z[position]
                    work += 1
                    if x < 0.0:
                        continue
                    weight[old] = alpha[old] if position < last else 0.0  # its other tokens have been dealt with
                    new = np.uint32(K)
                    first, end = begins[u], begins[u + 1]
                    for i in range(first, end):
                        work += 1
                        x -= weight[listed[i]] * excess[i]
                        if x < 0.0:
                            new = listed[i]
                            break
                    if x >= 0.0:
                        row = floor_row if end > first else np.int64(u)
                        for t in range(min(last, K)):
                            work += 1
                            k = z[t] if last <= K else np.uint32(t)
                            if k != old:
                                x -= phi[row, k] if last <= K else phi[row, k] * count[k]
                                if x < 0.0:
                                    new = k
                                    break
                        if x >= 0.0 and prior[row, K - 1] == 0.0:  # no floor: rounding alone leads here
                            new = listed[first]
                        elif x >= 0.0:
                            x = min(x, prior[row, K - 1] * (1.0 - 1e-15))
                            start = 0  # of the topics whose cumulative sum may be the first above x
                            size = K
                            while size > 1:
                                half = size >> 1
                                start = start + half if prior[row, start + half - 1] <= x else start
                                size -= half
                                work += 1
                            new = np.uint32(start)
                    if new == old:
                        weight[old] = alpha[old] + count[old]
                        continue
                    if position < last:
                        count[old] = others
                        weight[old] = alpha[old] + others
                    count[new] += 1.0
                    weight[new] = alpha[new] + count[new]
                    z[position] = new
                    phi_z[position] = phi[u, new]
                    for i in range((n_seen + BLOCK - 1) & -BLOCK):
                        sums[i] += columns[new, i] - columns[old, i]
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
        if topics.n_topics <= max(PLAIN, len(distinct) // WORDS):
            work += _sample_plain(words, phi, arrays.alpha, particles, sweeps, states[d], records)
        else:
            above = phi > floor
            above[above.sum(axis=1) > MOST] = False
            rows, listed = np.nonzero(above)
            excess = (phi - floor)[rows, listed]
            largest_first = np.lexsort((-excess, rows))
            columns = np.zeros((topics.n_topics + 1, -(-len(distinct) // BLOCK) * BLOCK))
            columns[:-1, : len(distinct)] = phi.T
            work += _sample_sparse(
                words,
                np.searchsorted(rows, np.arange(len(distinct) + 1)),
                listed[largest_first].astype(np.uint32),
                excess[largest_first],
                np.vstack([phi, floor]),
                columns,
                np.vstack([prior, np.cumsum(arrays.alpha * floor)]),
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
