"""Collapsed Gibbs sweeps of LDA in vectors of eight topics, of several chains in turn; see `heldout.models.lda`.

A token's topic is drawn from

    p(z_i = k | z_-i, w) ∝ (N_kd + alpha_k) / (N_k + V beta) * (N_wk + beta),

all counts without the token; alpha may be a document's own. Counts are exact: int32, N_wk in float32 below 2^24, which
is checked. Weights are float32: lane l of row r of the vectors has topic k = 8 r + l, the sums run over r within a
lane, then over the lanes, and one uniform number of 24 bits picks the topic by inversion in that order. A draw's
probabilities carry a relative error of about 1e-6 (and an absolute one of 2^-24); fast-math is off, so that samples do
not depend on the CPU.

What bounds it. A draw waits for the one before: at K = 10 that takes about 70 cycles, from a topic through the choice
between two quotients that are ready, a product, the sums and the search, where the operations on vectors take 50 if
chains in turn hide the waiting. From K = 50 on these bound it, about 5 cycles for each eight topics up to `WIDE` topics
and 3 above, where a_k is kept and no longer divided anew for every topic. Random numbers take 6 cycles a token.
"""

from collections.abc import Sequence

import numba as nb
import numpy as np

from heldout.models.lda_kernel import Float32, Index
from heldout.models.simd import (
    CACHE_LINE,
    LANES,
    count,
    fill,
    floats,
    load,
    minus_ones,
    prefetch,
    store,
    sums_before,
    total,
    where,
)
from heldout.typing import Floats, Ints

WIDE = 64  # topics; above, quotients are kept: fewer operations on vectors, but a draw waits for a division
AHEAD = 4  # tokens between the request for a row and its use

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@nb.njit(
    "void(int32[::1], int64[::1], int32[:, ::1], float32[:, :, ::1], int32[:, ::1], float32[:, ::1], float32[::1],"
    " float32[::1], float32[:, ::1], int64)",
    cache=True,
    error_model="numpy",
)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, rows, totals, alpha, beta, beta_sum, uniforms, n_topics
):
    """Sweep once over all tokens in every chain; see `Chains`.

    Every store into arrays that the next token loads as vectors is of whole vectors at a known place: a load of a
    vector waits for a store of one number in it, and a store to a place that depends on a draw makes the loads after it
    wait for the draw, or be done again. So the last draw, `came`, enters the counts during the next token's pass.
    """
    chains, width, n_tokens = totals.shape[0], totals.shape[1], tokens.shape[0]
    stride = chains * width
    word_counts, number = rows.reshape(-1), totals.reshape(-1)
    topics = np.arange(width).astype(np.int32)
    document, a, sums = np.zeros(stride, np.int32), np.zeros(stride, np.float32), np.zeros(width, np.float32)
    came, a_came = np.full(chains, -1, np.int32), np.zeros(chains, np.float32)
    none, one = fill(_ZERO), fill(_ONE)
    for d in range(offsets.shape[0] - 1):
        start, end, prior = offsets[d], offsets[d + 1], alpha[min(d, alpha.shape[0] - 1)]
        document[:] = 0
        for c in range(chains):
            for i in range(start, end):
                if assignments[c, i] >= 0:
                    document[c * width + assignments[c, i]] += 1
            if n_topics > WIDE:
                for j in range(c * width, (c + 1) * width, LANES):
                    quotients = floats(load(number, j)) + fill(beta_sum[c])
                    store(a, j, (floats(load(document, j)) + load(prior, j)) / quotients)
        for i in range(start, end):
            if i + AHEAD < n_tokens:
                for j in range(0, stride, CACHE_LINE // 4):
                    prefetch(word_counts, stride * tokens[i + AHEAD] + j)
            for c in range(chains):
                own = c * width
                row = stride * tokens[i] + own
                old = assignments[c, i]
                added, v_beta = fill(beta[c]), fill(beta_sum[c])
                left, arrived = fill(old), fill(came[c])
                running = none
                if n_topics <= WIDE:
                    for j in range(0, width, LANES):
                        here = load(topics, j)
                        goes, comes = here == left, here == arrived
                        in_document = load(document, own + j) + minus_ones(goes)
                        in_all = load(number, own + j) + minus_ones(goes)
                        store(document, own + j, in_document - minus_ones(comes))
                        store(number, own + j, in_all - minus_ones(comes))
                        top, bottom = floats(in_document) + load(prior, own + j), floats(in_all) + v_beta
                        quotients = where(comes, (top + one) / (bottom + one), top / bottom)
                        running = running + quotients * ((load(word_counts, row + j) - where(goes, one, none)) + added)
                        store(sums, j, running)
                else:
                    a_left = _ZERO
                    if old >= 0:
                        cell = np.uint64(own + old)
                        document[cell] -= 1
                        number[cell] -= 1
                        a_left = (np.float32(document[cell]) + prior[cell]) / (np.float32(number[cell]) + beta_sum[c])
                    at_left, at_arrived = fill(a_left), fill(a_came[c])
                    for j in range(0, width, LANES):
                        here = load(topics, j)
                        goes = here == left
                        quotients = where(goes, at_left, where(here == arrived, at_arrived, load(a, own + j)))
                        store(a, own + j, quotients)
                        running = running + quotients * ((load(word_counts, row + j) - where(goes, one, none)) + added)
                        store(sums, j, running)
                if old >= 0:
                    word_counts[np.uint64(row + old)] -= _ONE
                limits = fill(uniforms[c, i] * total(running)) - sums_before(running)
                lanes_below, lanes = 0, 0
                for j in range(0, width, LANES):
                    lanes = count(load(sums, j) <= limits)
                    lanes_below += lanes
                new = min(LANES * lanes_below - (width - 1) * lanes, n_topics - 1)
                assignments[c, i] = new
                word_counts[np.uint64(row + new)] += _ONE
                came[c] = new
                if n_topics > WIDE:
                    cell = np.uint64(own + new)
                    document[cell] += 1
                    number[cell] += 1
                    a_came[c] = (np.float32(document[cell]) + prior[cell]) / (np.float32(number[cell]) + beta_sum[c])
        for c in range(chains):
            if n_topics <= WIDE and came[c] >= 0:
                number[c * width + came[c]] += 1
            came[c] = -1


class Chains:
    """The counts and assignments of C chains of LDA over the same documents.

    Args:
        tokens: (N,) words, each below V.
        offsets: (D + 1,) where documents begin.
        n_words: V.
        n_topics: K.
        chains: C.
    """

    def __init__(self, tokens: Index, offsets: Ints, n_words: int, n_topics: int, chains: int) -> None:
        self._tokens, self._offsets, self._n_topics = tokens, offsets, n_topics
        width = -(-n_topics // LANES) * LANES
        self._rows = np.zeros((n_words, chains, width), dtype=np.float32)
        self._totals = np.zeros((chains, width), dtype=np.int32)
        self._assignments = np.full((chains, len(tokens)), -1, dtype=np.int32)

    def start(self, assignments: Index) -> None:
        """Assign topics, (M,), to the first M tokens of each chain, which have none yet."""
        for rows in self._rows.swapaxes(0, 1):
            np.add.at(rows, (self._tokens[: len(assignments)], assignments), _ONE)
        self._totals += np.bincount(assignments, minlength=self._totals.shape[1]).astype(np.int32)
        self._assignments[:, : len(assignments)] = assignments

    def sweep(self, alphas: Sequence[Floats], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep of every chain.

        Args:
            alphas: (K,) Dirichlet parameters of theta, of each chain; or (D, K), every document's own.
            betas: the Dirichlet parameter of phi, of each chain.
            uniforms: (C, N) in [0, 1).
        """
        own = np.ndim(alphas[0]) == 2
        alpha = np.zeros((len(self._offsets) - 1 if own else 1, *self._totals.shape), dtype=np.float32)
        for c, chain_alpha in enumerate(alphas):
            alpha[:, c, : self._n_topics] = chain_alpha
        beta = np.array(betas)
        state = self._tokens, self._offsets, self._assignments, self._rows, self._totals
        beta_sum = beta * len(self._rows)
        _sweep(
            *state,
            alpha.reshape(len(alpha), -1),
            beta.astype(np.float32),
            beta_sum.astype(np.float32),
            uniforms,
            self._n_topics,
        )

    def chain(self, c: int) -> tuple[Index, Float32, Ints]:
        """Return a chain's assignments, (N,), N_wk, (V, width), and N_k, (K,)."""
        totals = self._totals[c, : self._n_topics].astype(np.int64)
        return self._assignments[c], np.ascontiguousarray(self._rows[:, c]), totals
