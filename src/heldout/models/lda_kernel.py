"""The Gibbs sampler of LDA: sweeps over all tokens, and the chain's log-likelihood; see `heldout.models.lda`.

A token's topic is drawn from

    p(z_i = k | z_-i, w) ∝ (N_kd + alpha_k) (N_wk + beta) / (N_k + V beta)

in training and, with the topics fixed, from p(z_i = k) ∝ (N_kd + alpha_k) phi[k, w], all counts without the token.

Counts are exact integers (in float32 below 2^24, which is checked). A token's K weights are float32, and one uniform
number of 24 bits picks the topic by inversion, so that a draw's probabilities carry a relative error of
about 1e-6 (and an absolute one of 2^-24). The order of the weights' sums is written out below and fast-math is off:
samples do not depend on the CPU.

Up to `NARROW` topics one or two scalar running sums are fastest. Above, training is `lda_sparse_kernel`'s; folding in,
where a word may have every topic, has 64 running sums in vector registers. Above `SERIAL` topics the inversion first
tests whether the token keeps its topic, and searches the others only if it does not.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.models.simd import prefetch
from heldout.typing import Floats, Ints

SERIAL = 32  # the largest K with one running sum; above, one for each half of the topics
NARROW = 100  # the largest K with halves; above, `SUMS` running sums, for folding in alone
HALVES = 2
SUMS = 64  # running sums above, number j over topics j, j + 64, j + 128, ...
AHEAD = 3  # tokens between the request for a row and its use
TABLE = 64  # counts below this have their terms of the log-likelihood kept
LARGEST_UINT16 = 2**16 - 1

Float32 = NDArray[np.float32]
Counts = NDArray[np.float32] | NDArray[np.uint16]
Index = NDArray[np.int32]

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@nb.njit(cache=True)
def _positive(row, beta, k, n_topics):  # type: ignore[no-untyped-def]
    """Return k or, if its weight is 0 (by rounding), the nearest topic before it (cyclically) of positive weight."""
    while np.float32(row[k]) + beta <= _ZERO:
        k = k - 1 if k > 0 else n_topics - 1
    return k


@nb.njit(cache=True)
def _draw_one(a, row, beta, sums, uniform, n_topics):  # type: ignore[no-untyped-def]
    """Return k with probability ∝ a[k] (row[k] + beta), by one running sum and a search along it."""
    total = _ZERO
    for k in range(n_topics):
        total += a[k] * (row[k] + beta)
        sums[k] = total
    x = uniform * total
    k = 0
    while k < n_topics - 1 and sums[k] <= x:
        k += 1
    return _positive(row, beta, k, n_topics)


@nb.njit(cache=True)
def _draw_two(a, row, beta, kept, sums, uniform, n_topics):  # type: ignore[no-untyped-def]
    """Return -1 with probability ∝ `kept`, or k with probability ∝ a[k] (row[k] + beta).

    Two running sums, one for each half of the topics, run independently. (As two branches of one function, this and
    `_draw_one` were markedly slower.)
    """
    size = a.shape[0] // HALVES
    a1, row1, sums1 = a[size:], row[size:], sums[size:]
    s0 = s1 = _ZERO
    for k in range(size):
        s0 += a[k] * (row[k] + beta)
        s1 += a1[k] * (row1[k] + beta)
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
    return _positive(row, beta, k, n_topics)


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
    return _positive(row, _ZERO, min(j + SUMS * place, n_topics - 1), n_topics)


@nb.njit(
    "void(int32[::1], int64[::1], int32[::1], float32[:, ::1], int64[::1], float32[::1], float32, float32[::1],"
    " float32[:, ::1], boolean)",
    cache=True,
)
def _sweeps(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, rows, totals, alpha, beta, reciprocals, uniforms, learn
):
    """Sweep over all tokens once per row of uniforms; see `gibbs_sweeps`."""
    n_topics, size = totals.shape[0], rows.shape[1]
    step = 1 if learn else 0
    moved = np.float32(step)
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
                a[k] = (document[k] + alpha[k]) * reciprocals[totals[k]]
            for i in range(start, end):
                row = rows[tokens[i]]
                if learn and i + AHEAD < tokens.shape[0]:
                    prefetch(rows[tokens[i + AHEAD]])
                old = assignments[i]
                kept, a_old = _ZERO, _ZERO
                if old >= 0:
                    document[old] -= _ONE
                    row[old] -= moved
                    totals[old] -= step
                    a_old = (document[old] + alpha[old]) * reciprocals[totals[old]]
                    a[old] = a_old
                if n_topics <= SERIAL:
                    k = _draw_one(a, row, beta, sums, uniforms[s, i], n_topics)
                else:
                    if old >= 0:
                        kept = a_old * (row[old] + beta)
                        a[old] = _ZERO
                    if n_topics <= NARROW:
                        k = _draw_two(a, row, beta, kept, sums, uniforms[s, i], n_topics)
                    else:
                        k = _draw_lanes(a, row, kept, sums, uniforms[s, i], n_topics)
                    if old >= 0:
                        a[old] = a_old
                        k = old if k < 0 else k
                assignments[i] = k
                document[k] += _ONE
                row[k] += moved
                totals[k] += step
                a[k] = (document[k] + alpha[k]) * reciprocals[totals[k]]


def padded_width(n_topics: int) -> int:
    """Return how many columns a row of counts needs: K, padded to two equal halves or to whole lanes."""
    multiple = HALVES if n_topics <= NARROW else SUMS
    return -(-n_topics // multiple) * multiple


@lru_cache(maxsize=1)  # for the next sweep, which takes little longer than this where topics are few
def reciprocals(n_tokens: int, n_words: int, beta: float) -> Float32:
    """Return 1 / (n + V beta) for n = 0, .., N, (N + 1,)."""
    of_totals: Float32 = np.float32(1.0) / (np.arange(n_tokens + 1) + n_words * beta).astype(np.float32)
    return of_totals


def gibbs_sweeps(
    tokens: Index,
    offsets: Ints,
    assignments: Index,
    rows: Float32,
    totals: Ints,
    alpha: Float32,
    beta: float,
    uniforms: Float32,
    *,
    learn: bool,
) -> None:
    """Run one Gibbs sweep per row of uniforms, in place.

    Args:
        tokens: (N,) words.
        offsets: (D + 1,) where documents begin.
        assignments: (N,) topics; -1 where a token has none yet. Updated.
        rows: (V, width) N_wk, updated, if `learn`; otherwise phi[k, w] up to a factor per word.
        totals: (K,) N_k; updated if `learn`.
        alpha: (width,) Dirichlet parameters, 0 beyond K.
        beta: added to every entry of `rows`; 0 unless `learn`.
        uniforms: (sweeps, N) in [0, 1), one per token and sweep.
        learn: whether the topics move with the assignments (training), of at most `NARROW`, or are fixed (fold-in).
    """
    scale = np.ones(1, dtype=np.float32)  # with fixed topics the totals stay 0 and the weights are not scaled
    if learn:
        scale = reciprocals(len(tokens), len(rows), beta)
    _sweeps(tokens, offsets, assignments, rows, totals, alpha, np.float32(beta), scale, uniforms, learn)


class OneChain:
    """The counts and assignments of one chain of LDA with at most `NARROW` topics; methods as of the other kernels'.

    Args:
        tokens: (N,) words, each below V.
        offsets: (D + 1,) where documents begin.
        n_words: V.
        n_topics: K.
    """

    def __init__(self, tokens: Index, offsets: Ints, n_words: int, n_topics: int) -> None:
        self._tokens, self._offsets = tokens, offsets
        self._rows = np.zeros((n_words, padded_width(n_topics)), dtype=np.float32)
        self._totals = np.zeros(n_topics, dtype=np.int64)
        self._assignments = np.full(len(tokens), -1, dtype=np.int32)

    def start(self, assignments: Index) -> None:
        """Assign topics, (M,), to the first M tokens, which have none yet."""
        first = self._tokens[: len(assignments)]
        np.add.at(self._rows, (first, assignments), _ONE)
        self._totals += np.bincount(assignments, minlength=len(self._totals))
        self._assignments[: len(assignments)] = assignments

    def sweep(self, alphas: Sequence[Floats], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep; each argument holds one chain's."""
        alpha = np.zeros(self._rows.shape[1], dtype=np.float32)
        alpha[: len(self._totals)] = alphas[0]
        state = self._tokens, self._offsets, self._assignments, self._rows, self._totals
        gibbs_sweeps(*state, alpha, betas[0], uniforms, learn=True)

    def chain(self, c: int) -> tuple[Index, Counts, Ints]:  # noqa: ARG002
        """Return the chain's assignments, (N,), N_wk, (V, width), and N_k, (K,)."""
        return self._assignments, self._rows, self._totals


@nb.njit(
    [
        f"float64(int64[::1], int32[::1], {rows}[:, ::1], int64[::1], float64[::1], float64)"
        for rows in ("float32", "uint16")
    ],
    cache=True,
)
def log_joint(offsets, assignments, rows, totals, alpha, beta):  # type: ignore[no-untyped-def]
    """Return log p(w, z | alpha, beta) in nats, all constants included."""
    n_words, n_topics = rows.shape[0], totals.shape[0]
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
    of_words = np.empty(TABLE)
    for n in range(TABLE):
        of_words[n] = math.lgamma(n + beta) - log_gamma_beta
    for w in range(n_words):
        row = rows[w]
        for k in range(n_topics):
            if row[k] > 0:
                n = np.int64(row[k])
                total += of_words[n] if n < TABLE else math.lgamma(n + beta) - log_gamma_beta
    for k in range(n_topics):
        total += math.lgamma(n_words * beta) - math.lgamma(totals[k] + n_words * beta)
    return total
