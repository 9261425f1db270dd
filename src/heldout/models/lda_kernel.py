"""Folding in by Gibbs sampling with the topics fixed, and the log-likelihood of LDA's chains; see `heldout.models.lda`.

A token's topic is drawn from p(z_i = k) ∝ (N_kd + alpha_k) phi[k, w], counts without the token. Counts are exact
integers in float32, below 2^24, which is checked. A token's K weights are float32, and one uniform number of 24 bits
picks the topic by inversion, so that a draw's probabilities carry a relative error of about 1e-6 (and an absolute one
of 2^-24). The order of the weights' sums is written out below and fast-math is off: samples do not depend on the CPU.

Up to `NARROW` topics one or two scalar running sums are fastest; above, 64 in vector registers. Above `SERIAL` topics
the inversion first tests whether the token keeps its topic, and searches the others only if it does not.
"""

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

SERIAL = 32  # largest K with one running sum; above, one for each half of the topics
NARROW = 100  # largest K with halves; above, `SUMS` running sums
HALVES = 2
SUMS = 64  # running sums above, number j over topics j, j + 64, j + 128, ...
TABLE = 64  # counts below this have their terms of the log-likelihood kept

Float32 = NDArray[np.float32]
Index = NDArray[np.int32]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@nb.njit(cache=True)
def _positive(row, k, n_topics):  # type: ignore[no-untyped-def]
    """Return k or, if its weight is 0 (by rounding), the nearest topic before it (cyclically) of positive weight."""
    while row[k] <= _ZERO:
        k = k - 1 if k > 0 else n_topics - 1
    return k


@nb.njit(cache=True)
def _draw_one(a, row, sums, uniform, n_topics):  # type: ignore[no-untyped-def]
    """Return k with probability ∝ a[k] row[k], by one running sum and a search along it."""
    total = _ZERO
    for k in range(n_topics):
        total += a[k] * row[k]
        sums[k] = total
    x = uniform * total
    k = 0
    while k < n_topics - 1 and sums[k] <= x:
        k += 1
    return _positive(row, k, n_topics)


@nb.njit(cache=True)
def _draw_two(a, row, kept, sums, uniform, n_topics):  # type: ignore[no-untyped-def]
    """Return -1 with probability ∝ `kept`, or k with probability ∝ a[k] row[k].

    Two running sums, one for each half of the topics, run independently. (As two branches of one function, this and
    `_draw_one` were markedly slower.)
    """
    size = a.shape[0] // HALVES
    a1, row1, sums1 = a[size:], row[size:], sums[size:]
    s0 = s1 = _ZERO
    for k in range(size):
        s0 += a[k] * row[k]
        s1 += a1[k] * row1[k]
        sums[k], sums1[k] = s0, s1
    x = uniform * (kept + (s0 + s1))
    if x < kept:
        return -1
    x -= kept
    past = int(x >= s0)  # arithmetic, because a branch on a random number is mispredicted half of the time
    x -= s0 * np.float32(past)
    k = size * past
    last = min(k + size, n_topics) - 1
    k = min(k, last)
    while k < last and sums[k] <= x:
        k += 1
    return _positive(row, k, n_topics)


@nb.njit(cache=True)
def _one_of_four(sums, x, j, step):  # type: ignore[no-untyped-def]
    """Find x among sums[j + (0, 1, 2, 3) step]: return x less the sums before, and the index; no branches."""
    t0 = sums[j]
    t1 = t0 + sums[j + step]
    t2 = t1 + sums[j + 2 * step]
    past0, past1, past2 = x >= t0, x >= t1, x >= t2
    x -= t2 if past2 else (t1 if past1 else (t0 if past0 else _ZERO))
    return x, j + step * (int(past0) + int(past1) + int(past2))


@nb.njit(cache=True)
def _draw_lanes(a, row, kept, sums, uniform, n_topics):  # type: ignore[no-untyped-def]
    """Return -1 with probability ∝ `kept`, or k with probability ∝ a[k] row[k], drawn from 64 running sums.

    The search finds the lane in a tree of fourfold sums over lanes, then the place in the lane.
    """
    size = a.shape[0]
    for i in range(SUMS):
        sums[i] = a[i] * row[i]
    for i in range(SUMS, np.int32(size)):
        sums[i] = sums[i - SUMS] + a[i] * row[i]
    lanes = sums[size - SUMS : size]
    sixteen = sums[size : size + 16]
    four = sums[size + 16 : size + 20]
    for j in range(16):
        sixteen[j] = (lanes[j] + lanes[j + 16]) + (lanes[j + 32] + lanes[j + 48])
    for j in range(4):
        four[j] = (sixteen[j] + sixteen[j + 4]) + (sixteen[j + 8] + sixteen[j + 12])
    x = uniform * (kept + ((four[0] + four[1]) + (four[2] + four[3])))
    if x < kept:
        return -1
    x -= kept
    x, j = _one_of_four(four, x, 0, 1)
    x, j = _one_of_four(sixteen, x, j, 4)
    x, j = _one_of_four(lanes, x, j, 16)
    place = 0
    for i in range((n_topics - 1 - j) // SUMS):
        place += sums[j + SUMS * i] <= x
    return _positive(row, min(j + SUMS * place, n_topics - 1), n_topics)


@nb.njit("void(int32[::1], int64[::1], int32[::1], float32[:, ::1], float32[::1], float32[:, ::1], int64)", cache=True)
def gibbs_sweeps(tokens, offsets, assignments, rows, alpha, uniforms, n_topics):  # type: ignore[no-untyped-def]
    """Run one Gibbs sweep per row of uniforms, with the topics fixed.

    Args:
        tokens: (N,) words.
        offsets: (D + 1,) where documents begin.
        assignments: (N,) topics; -1 where a token has none yet. Updated.
        rows: (V, width) phi[k, w] up to a factor per word, 0 beyond K.
        alpha: (width,) Dirichlet parameters, 0 beyond K.
        uniforms: (sweeps, N) in [0, 1), one per token and sweep.
        n_topics: K.
    """
    size = rows.shape[1]
    a, document = np.zeros(size, np.float32), np.zeros(size, np.float32)
    sums = np.zeros(size + 20, np.float32)  # the search among 64 has 20 more
    for s in range(uniforms.shape[0]):
        for d in range(offsets.shape[0] - 1):
            start, end = offsets[d], offsets[d + 1]
            document[:] = _ZERO
            for i in range(start, end):
                if assignments[i] >= 0:
                    document[assignments[i]] += _ONE
            for k in range(n_topics):
                a[k] = document[k] + alpha[k]
            for i in range(start, end):
                row, old = rows[tokens[i]], assignments[i]
                kept, a_old = _ZERO, _ZERO
                if old >= 0:
                    document[old] -= _ONE
                    a_old = document[old] + alpha[old]
                    a[old] = a_old
                if n_topics <= SERIAL:
                    k = _draw_one(a, row, sums, uniforms[s, i], n_topics)
                else:
                    if old >= 0:
                        kept = a_old * row[old]
                        a[old] = _ZERO
                    if n_topics <= NARROW:
                        k = _draw_two(a, row, kept, sums, uniforms[s, i], n_topics)
                    else:
                        k = _draw_lanes(a, row, kept, sums, uniforms[s, i], n_topics)
                    if old >= 0:
                        a[old] = a_old
                        k = old if k < 0 else k
                assignments[i] = k
                document[k] += _ONE
                a[k] = document[k] + alpha[k]


def padded_width(n_topics: int) -> int:
    """Return how many columns a row of counts needs: K, padded to two equal halves or to whole lanes."""
    multiple = HALVES if n_topics <= NARROW else SUMS
    return -(-n_topics // multiple) * multiple


@nb.njit("float64(int64[::1], int32[::1], float32[:, ::1], int64[::1], float64[::1], float64)", cache=True)
def log_joint(offsets, assignments, rows, totals, alpha, beta):  # type: ignore[no-untyped-def]
    """Return log p(w, z | alpha, beta) in nats, all constants included."""
    n_words, n_topics = rows.shape[0], alpha.shape[0]
    alpha_sum, total = 0.0, 0.0
    log_gamma_alpha = np.empty(n_topics)
    for k in range(n_topics):
        alpha_sum += alpha[k]
        log_gamma_alpha[k] = math.lgamma(alpha[k])
    document = np.zeros(n_topics, np.int64)
    known = np.full((n_topics, TABLE), np.nan)  # counts are small and few: the same terms come again and again
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            document[assignments[i]] += 1
        total += math.lgamma(alpha_sum) - math.lgamma(alpha_sum + (offsets[d + 1] - offsets[d]))
        for i in range(offsets[d], offsets[d + 1]):
            k = assignments[i]
            n = document[k]
            if n > 0:
                term = known[k, n] if n < TABLE else np.nan
                if math.isnan(term):
                    term = math.lgamma(n + alpha[k]) - log_gamma_alpha[k]
                    if n < TABLE:
                        known[k, n] = term
                total += term
                document[k] = 0
    log_gamma_beta = math.lgamma(beta)
    word_terms = np.empty(TABLE)
    for n in range(TABLE):
        word_terms[n] = math.lgamma(n + beta) - log_gamma_beta
    for w in range(n_words):
        row = rows[w]
        for k in range(n_topics):
            if row[k] > 0:
                n = np.int64(row[k])
                total += word_terms[n] if n < TABLE else math.lgamma(n + beta) - log_gamma_beta
    for k in range(n_topics):
        total += math.lgamma(n_words * beta) - math.lgamma(totals[k] + n_words * beta)
    return total
