r"""The Gibbs sampler of LDA with many topics, few of them in each word; see `heldout.models.lda`.

The conditional's two terms are drawn from one after the other (Yao, Mimno and McCallum 2009, whose third term, of the
document's topics, is part of the second here),

    (N_kd + alpha_k) (N_wk + beta) / (N_k + V beta) = N_wk a_k + beta a_k,      a_k = (N_kd + alpha_k) / (N_k + V beta):

the first is a sum over the topics that the word has, and of the second the sum A = sum_k a_k is kept, of which a token
changes two terms. So a token costs as much as its word has topics, some ten among hundreds. Few tokens draw from the
second term; a search through sums of `TOPICS_A_BLOCK` of its a_k finds theirs.

Weights are float64; a uniform number of 24 bits picks the topic by inversion. a and its sums are computed anew for each
document, so that what they lose to rounding does not add up.
"""

from collections.abc import Sequence

import numba as nb
import numpy as np

from heldout.models.lda_kernel import Float32, Index
from heldout.models.simd import CACHE_LINE, prefetch
from heldout.typing import Floats, Ints

TOPICS_A_BLOCK = 32
AHEAD = 4  # tokens between the request for a word's topics and their use
REQUESTED = 16  # largest number of a word's pairs that are prefetched


@nb.njit(
    "void(int32[::1], int64[::1], int32[::1], int64[::1], int32[::1], int32[::1], int64[::1], float64[::1], float64,"
    " float32[::1])",
    cache=True,
)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, assignments, begins, numbers, pairs, totals, alpha, beta, uniforms
):
    """Sweep once over all tokens; see `SparseChain`."""
    n_topics, beta_sum = totals.shape[0], numbers.shape[0] * beta
    document, a, sums = np.zeros(n_topics, np.int64), np.empty(n_topics), np.empty(n_topics)
    blocks = np.empty((n_topics + TOPICS_A_BLOCK - 1) // TOPICS_A_BLOCK)
    for d in range(offsets.shape[0] - 1):
        start, end = offsets[d], offsets[d + 1]
        for i in range(start, end):
            if assignments[i] >= 0:
                document[assignments[i]] += 1
        total = 0.0
        for b in range(blocks.shape[0]):
            block_sum = 0.0
            for k in range(b * TOPICS_A_BLOCK, min((b + 1) * TOPICS_A_BLOCK, n_topics)):
                a[k] = (document[k] + alpha[k]) / (totals[k] + beta_sum)
                block_sum += a[k]
            blocks[b] = block_sum
            total += block_sum
        for i in range(start, end):
            if i + AHEAD < tokens.shape[0]:
                soon = tokens[i + AHEAD]
                for place in range(begins[soon], begins[soon] + min(2 * numbers[soon], REQUESTED), CACHE_LINE // 4):
                    prefetch(pairs, place)
            word, old = tokens[i], assignments[i]
            begin = begins[word]  # not a view of the pairs: to count its references takes some 40 cycles
            n, place_of_old, known, kept, rest = numbers[word], -1, 0.0, 0.0, total
            for place in range(n):
                slot = np.uint64(begin + 2 * place)  # as a number with a sign it would be tested for it
                k = pairs[slot]
                weight = pairs[slot + np.uint64(1)] * a[k]
                weight = 0.0 if k == old else weight
                place_of_old = place if k == old else place_of_old
                known += weight
                sums[place] = known
            if old >= 0:
                a_old = (document[old] - 1 + alpha[old]) / (totals[old] - 1 + beta_sum)
                kept = a_old * (pairs[begin + 2 * place_of_old + 1] - 1 + beta)
                rest -= a[old]
            x = uniforms[i] * (kept + (known + beta * rest))
            if x < kept:
                continue
            x -= kept
            if old >= 0:
                document[old] -= 1
                totals[old] -= 1
                blocks[old // TOPICS_A_BLOCK] -= a[old]
                a[old] = 0.0
            if x < known:
                place = 0
                while sums[place] <= x:
                    place += 1
                new = np.int64(pairs[begin + 2 * place])
            else:
                x = (x - known) / beta
                b = 0
                while b < blocks.shape[0] - 1 and blocks[b] <= x:
                    x -= blocks[b]
                    b += 1
                new, last = np.int64(b * TOPICS_A_BLOCK), min((b + 1) * TOPICS_A_BLOCK, n_topics) - 1
                while new < last and a[new] <= x:
                    x -= a[new]
                    new += 1
                place = 0
                while place < n and pairs[begin + 2 * place] != new:
                    place += 1
                if place == n:
                    pairs[begin + 2 * n], pairs[begin + 2 * n + 1] = new, 0
                    n += 1
            pairs[begin + 2 * place + 1] += 1
            if old >= 0:
                a[old] = a_old
                blocks[old // TOPICS_A_BLOCK] += a_old
                rest += a_old
                pairs[begin + 2 * place_of_old + 1] -= 1
                if pairs[begin + 2 * place_of_old + 1] == 0:
                    n -= 1
                    pairs[begin + 2 * place_of_old], pairs[begin + 2 * place_of_old + 1] = (
                        pairs[begin + 2 * n],
                        pairs[begin + 2 * n + 1],
                    )
            numbers[word] = n
            assignments[i] = new
            document[new] += 1
            totals[new] += 1
            weight = (document[new] + alpha[new]) / (totals[new] + beta_sum)
            blocks[new // TOPICS_A_BLOCK] += weight - a[new]
            total = rest + (weight - a[new])
            a[new] = weight
        for i in range(start, end):
            document[assignments[i]] = 0


@nb.njit("void(int32[::1], int32[::1], int64[::1], int32[::1], int32[::1])", cache=True)
def _add(tokens, assignments, begins, numbers, pairs):  # type: ignore[no-untyped-def]
    """Count tokens' topics into their words' pairs."""
    for i in range(assignments.shape[0]):
        word_pairs = pairs[begins[tokens[i]] :]
        place = 0
        while place < numbers[tokens[i]] and word_pairs[2 * place] != assignments[i]:
            place += 1
        if place == numbers[tokens[i]]:
            word_pairs[2 * place], word_pairs[2 * place + 1] = assignments[i], 0
            numbers[tokens[i]] += 1
        word_pairs[2 * place + 1] += 1


@nb.njit("void(int64[::1], int32[::1], int32[::1], float32[:, ::1])", cache=True)
def _spread(begins, numbers, pairs, rows):  # type: ignore[no-untyped-def]
    """Write words' pairs into rows of zeros, (V, K)."""
    for w in range(rows.shape[0]):
        word_pairs = pairs[begins[w] :]
        for place in range(numbers[w]):
            rows[w, word_pairs[2 * place]] = word_pairs[2 * place + 1]


class SparseChain:
    """The counts and assignments of one chain of LDA; arguments and methods as of `lda_chains_kernel.Chains`.

    A word's topics and their counts stand in pairs from `begins` on, `numbers` of them, in no order; there is room for
    one more than it can have, because a token's new topic comes before its old one goes.
    """

    def __init__(self, tokens: Index, offsets: Ints, n_words: int, n_topics: int) -> None:
        self._tokens, self._offsets = tokens, offsets
        most = np.minimum(np.bincount(tokens, minlength=n_words), n_topics) + 1
        self._begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(2 * most)])
        self._numbers = np.zeros(n_words, dtype=np.int32)
        self._pairs = np.zeros(self._begins[-1], dtype=np.int32)
        self._totals = np.zeros(n_topics, dtype=np.int64)
        self._assignments = np.full(len(tokens), -1, dtype=np.int32)

    def start(self, assignments: Index) -> None:
        """Assign topics, (M,), to the first M tokens, which have none yet."""
        _add(self._tokens, assignments, self._begins, self._numbers, self._pairs)
        self._totals += np.bincount(assignments, minlength=len(self._totals))
        self._assignments[: len(assignments)] = assignments

    def sweep(self, alphas: Sequence[Floats], betas: Sequence[float], uniforms: Float32) -> None:
        """Run one sweep; each argument holds one chain's."""
        alpha, beta = np.ascontiguousarray(alphas[0], dtype=np.float64), float(betas[0])
        words = self._begins, self._numbers, self._pairs
        _sweep(self._tokens, self._offsets, self._assignments, *words, self._totals, alpha, beta, uniforms[0])

    def chain(self, c: int) -> tuple[Index, Float32, Ints]:  # noqa: ARG002
        """Return the chain's assignments, (N,), N_wk, (V, K), and N_k, (K,)."""
        rows = np.zeros((len(self._numbers), len(self._totals)), dtype=np.float32)
        _spread(self._begins, self._numbers, self._pairs, rows)
        return self._assignments, rows, self._totals
