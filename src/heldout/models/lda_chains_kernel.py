"""Gibbs sweeps of several chains of LDA at once, chain c in lane c of every vector; see `heldout.models.lda_kernel`.

Chains over the same documents meet the same words in the same order, so that one token's weights of up to 16 chains are
computed by the same vector operations, in each lane those of the kernel for one chain in the same order: draws are the
same bit for bit. One chain alone waits for its own last addition most of the time.

Counts N_wk of all chains stand together, in uint16: of word w, row[k C + c] is chain c's. A vector load of 16 counts at
k C also reads those that follow; their lanes have weight 0 and are not used.
"""

from collections.abc import Sequence

import numba as nb
import numpy as np

from heldout.models.lda_kernel import (
    AHEAD,
    LARGEST_UINT16,
    NARROW,
    SERIAL,
    Counts,
    Float32,
    Index,
    padded_width,
    reciprocals,
)
from heldout.models.simd import LANES, one_running_sum, places_in_one, places_in_two, prefetch, two_running_sums
from heldout.typing import Floats, Ints

TOPICS_PER_CHAIN = 32  # above, with half empty vectors and more counts than the caches hold, they do not gain by it

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@nb.njit(
    "void(int32[::1], int64[::1], int32[::1], uint16[:, ::1], int32[::1], float32[:, ::1], float32[::1],"
    " float32[:, ::1], float32[:, ::1], int64)",
    cache=True,
)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, rows, totals, alpha, beta, reciprocals, uniforms, n_topics
):
    """Sweep once over all tokens in every chain; see `Chains`.

    A vector load after a scalar store into the same vector waits for the store. So a chain's counts change after its
    draw, only if its topic does, and until then `two_running_sums` puts the old topic's weight in its place.
    """
    chains, width = uniforms.shape[0], alpha.shape[0]
    two = n_topics > SERIAL
    size = width // 2 if two else n_topics  # of each part of the topics that is summed on its own
    document, a = np.zeros(width * LANES, np.float32), np.zeros(width * LANES, np.float32)
    sums = np.zeros(width * LANES, np.float32)
    kept, a_kept, x = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.zeros(LANES, np.float32)
    nothing, past, found = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32), np.zeros(LANES, np.int32)
    alphas = alpha.reshape(-1)
    sums0, sums1 = sums[(size - 1) * LANES :], sums[(width - 1) * LANES :]
    for d in range(offsets.shape[0] - 1):
        start, end = offsets[d], offsets[d + 1]
        document[:] = _ZERO
        for i in range(start, end):
            for c in range(chains):
                old = assignments[i * chains + c]
                if old >= 0:
                    document[old * LANES + c] += _ONE
        for k in range(n_topics):
            for c in range(chains):
                at = k * LANES + c
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[at]]
        for i in range(start, end):
            row, here = rows[tokens[i]], assignments[i * chains :]
            if i + AHEAD < tokens.shape[0]:
                prefetch(rows[tokens[i + AHEAD]])
            for c in range(chains):
                old = here[c]
                x[c] = uniforms[c, i]
                kept[c] = _ZERO
                if old >= 0:
                    at = old * LANES + c
                    a_kept[c] = (document[at] - _ONE + alphas[at]) * reciprocals[c, totals[at] - 1]
                    kept[c] = a_kept[c] * (np.float32(row[old * chains + c]) - _ONE + beta[c])
            if two:
                two_running_sums(a, row, beta, nothing, here, sums, size, chains)
                for c in range(LANES):
                    u = x[c] * (kept[c] + (sums0[c] + sums1[c]))
                    stays = u < kept[c]
                    u -= kept[c]
                    later = u >= sums0[c]
                    x[c] = u - (sums0[c] if later else _ZERO)
                    past[c] = -1 if stays else (size if later else 0)
                places_in_two(sums, x, past, size, found)
            else:
                one_running_sum(a, row, beta, kept, here, sums, size, chains)
                for c in range(LANES):
                    x[c] = x[c] * sums0[c]
                places_in_one(sums, x, past, size, found)
            for c in range(chains):
                old = here[c]
                new = min(past[c] + found[c], n_topics - 1)
                if past[c] < 0 or new == old:
                    continue
                if old >= 0:
                    at = old * LANES + c
                    document[at] -= _ONE
                    row[old * chains + c] -= 1
                    totals[at] -= 1
                    a[at] = a_kept[c]
                here[c] = new
                at = new * LANES + c
                document[at] += _ONE
                row[new * chains + c] += 1
                totals[at] += 1
                a[at] = (document[at] + alphas[at]) * reciprocals[c, totals[at]]


def most_together(tokens: Index, n_topics: int, chains: int) -> int:
    """Return how many of the chains run together: 1 where that is no gain, or a count may not fit."""
    fit = int(np.bincount(tokens).max(initial=0)) <= LARGEST_UINT16
    return LANES if fit and n_topics <= min(NARROW, TOPICS_PER_CHAIN * chains) else 1


class Chains:
    """The counts and assignments of C chains of LDA over the same documents, C from 1 to 16, K at most `NARROW`.

    Args:
        tokens: (N,) words, each below V.
        offsets: (D + 1,) where documents begin.
        n_words: V.
        n_topics: K.
        chains: C.
    """

    def __init__(self, tokens: Index, offsets: Ints, n_words: int, n_topics: int, chains: int) -> None:
        self._tokens, self._offsets, self._shape = tokens, offsets, (n_topics, chains)
        self._width = padded_width(n_topics)
        self._rows = np.zeros((n_words, (self._width - 1) * chains + LANES), dtype=np.uint16)
        self._totals = np.zeros(self._width * LANES, dtype=np.int32)  # N_k of chain c at 16 k + c
        self._assignments = np.full(len(tokens) * chains + LANES, -1, dtype=np.int32)
        self._betas: list[float] = []  # those of the reciprocals
        self._reciprocals = np.empty((0, 0), dtype=np.float32)

    def sweep(self, alphas: Sequence[Floats], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep of every chain.

        Args:
            alphas: (K,) Dirichlet parameters of theta, of each chain.
            betas: the Dirichlet parameter of phi, of each chain.
            uniforms: (C, N) in [0, 1).
        """
        n_topics, chains = self._shape
        alpha = np.zeros((self._width, LANES), dtype=np.float32)
        alpha[:n_topics, :chains] = np.stack(alphas, axis=1)
        added = np.zeros(LANES, dtype=np.float32)
        added[:chains] = betas
        if list(betas) != self._betas:
            self._betas = list(betas)
            self._reciprocals = np.stack([reciprocals(len(self._tokens), len(self._rows), beta) for beta in betas])
        state = self._tokens, self._offsets, self._assignments, self._rows, self._totals
        _sweep(*state, alpha, added, self._reciprocals, uniforms, n_topics)

    def chain(self, c: int) -> tuple[Index, Counts, Ints]:
        """Return a chain's assignments, (N,), N_wk, (V, K), and N_k, (K,), copied."""
        n_topics, chains = self._shape
        assignments = np.ascontiguousarray(self._assignments[c : len(self._tokens) * chains : chains])
        rows = np.ascontiguousarray(self._rows[:, c : n_topics * chains : chains])
        return assignments, rows, self._totals[c : n_topics * LANES : LANES].astype(np.int64)
