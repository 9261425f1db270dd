"""The expected counts of documents' tokens by topic given weights and topics, which variational EM's E steps take."""

from typing import NamedTuple, Self

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from heldout.models.simd import WIDTH, dot, prefetch
from heldout.typing import Floats, Ints

SMALL = 1e-150  # least factor; the product of two is still a normal number
FEW = 512  # words of a document, or documents of a word, whose products are summed before the next are taken
AHEAD = 12  # pairs between the request for a row and its use, which saves a quarter of the pass's time


def padded(K: int) -> int:
    """Return the length of rows of K numbers as `dot` takes them."""
    return -(-K // WIDTH) * WIDTH


def rows_of(topics: Floats) -> Floats:
    """Return (.., K, V) numbers as (.., V, K) ones, padded with zeros, as the kernels take them."""
    K = topics.shape[-2]
    rows = np.zeros((*topics.shape[:-2], topics.shape[-1], padded(K)))
    rows[..., :K] = topics.swapaxes(-1, -2)
    return rows


class Tokens(NamedTuple):
    """The P pairs of a document and a distinct word of it, and the R rows of topics that they meet.

    Attributes:
        starts: (D + 1,), where each document's pairs begin.
        rows: (P,), the pairs' rows of the topics.
        counts: (P,), how often the word is in the document.
        lengths: (D,), the documents' tokens.
        row_starts, documents, places: (R + 1,), (P,) and (P,): the same pairs by row, their documents and places.
    """

    starts: Ints
    rows: NDArray[np.int32]
    counts: Floats
    lengths: Floats
    row_starts: Ints
    documents: NDArray[np.int32]
    places: NDArray[np.int32]

    @classmethod
    def of(cls, counts: sp.csr_array, groups: Ints | None = None) -> Self:
        """Return the pairs of (D, V) counts; the words of a document in group g, of (D,), have rows from g V on."""
        D, V = counts.shape
        rows = counts.indices.astype(np.int64)
        if groups is not None:
            rows += np.repeat(groups * V, np.diff(counts.indptr))
        n_rows = V * (1 if groups is None else int(groups.max(initial=0)) + 1)
        row_starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        places = np.argsort(rows, kind="stable").astype(np.int32)
        documents = np.repeat(np.arange(D, dtype=np.int32), np.diff(counts.indptr))[places]
        starts, lengths = counts.indptr.astype(np.int64), np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
        pair_arrays = rows.astype(np.int32), counts.data.astype(np.float64)
        return cls(starts, *pair_arrays, lengths, row_starts, documents, places)


@nb.njit(cache=True, inline="always")
def _add(weights, table, rows, start, end, update):  # type: ignore[no-untyped-def]
    """Add weights[i] table[rows[i]], start <= i < end, to a row: four together are fewer loads and stores of it."""
    whole = start + (end - start) // 4 * 4
    for i in range(start, whole, 4):
        a, b, c, d = table[rows[i]], table[rows[i + 1]], table[rows[i + 2]], table[rows[i + 3]]
        weight_a, weight_b, weight_c, weight_d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for k in range(update.shape[0]):
            update[k] += weight_a * a[k] + weight_b * b[k] + weight_c * c[k] + weight_d * d[k]
    for i in range(whole, end):
        a, weight_a = table[rows[i]], weights[i]
        for k in range(update.shape[0]):
            update[k] += weight_a * a[k]


@nb.njit(
    "void(int64[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1],"
    " float64[::1])",
    cache=True,
)
def token_shares(starts, rows, counts, theta, b, value, document_counts, ratios):  # type: ignore[no-untyped-def]
    """Write value_d = sum_v n_v log p_v, p_v = sum_k theta_k b_vk, the ratios n_v / p_v, (P,), and document_counts.

    The last are n_dk = sum_v n_v theta_k b_vk / p_v, expected counts. Rows of theta and b are padded with zeros.
    """
    width, last, flat = theta.shape[1], rows.shape[0] - 1, b.ravel()
    for d in range(theta.shape[0]):
        own, update = theta[d], document_counts[d]
        update[:] = 0.0
        total, product = 0.0, 1.0
        for start in range(starts[d], starts[d + 1], FEW):
            end = min(start + FEW, starts[d + 1])
            for i in range(start, end):
                for k in range(0, width, WIDTH):
                    prefetch(flat, rows[min(i + AHEAD, last)] * width + k)
                p, n = dot(own, b[rows[i]]), counts[i]
                ratios[i] = n / p if p > 0.0 else 0.0
                if n != 1.0 or p < SMALL:
                    total += n * np.log(p)
                    continue
                product *= p  # one logarithm for many tokens
                if product < SMALL:
                    total += np.log(product)
                    product = 1.0
            _add(ratios, b, rows, start, end, update)
        value[d] = total + np.log(product)
        for k in range(width):
            update[k] *= own[k]


@nb.njit(
    "void(int64[::1], int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])",
    cache=True,
)
def row_counts(row_starts, documents, places, ratios, theta, b, out):  # type: ignore[no-untyped-def]
    """Write the expected counts of every row, b_vk sum_d (n_dv / p_dv) theta_dk, from the ratios of `token_shares`."""
    here = np.empty(FEW)
    for v in range(b.shape[0]):
        update = out[v]
        update[:] = 0.0
        for start in range(row_starts[v], row_starts[v + 1], FEW):
            size = min(FEW, row_starts[v + 1] - start)
            for i in range(size):
                here[i] = ratios[places[start + i]]
            _add(here, theta, documents[start : start + size], 0, size, update)
        for k in range(b.shape[1]):
            update[k] *= b[v, k]


class Documents:
    """Documents' step of LDA's mean field, where every document has the topics of its own group.

    Args:
        counts: (D, V).
        groups: (D,), from 0 on.
        alpha: Dirichlet parameter of the weights.
        gamma: (D, K), the parameters of q(pi) to start from.
    """

    def __init__(self, counts: sp.csr_array, groups: Ints, alpha: float, gamma: Floats) -> None:
        """Take the documents' counts, groups and parameters."""
        self.tokens, self.alpha, self.gamma = Tokens.of(counts, groups), alpha, gamma
        self.theta, self._next = np.zeros((len(gamma), padded(gamma.shape[1]))), gamma
        self.ratios = np.empty(len(self.tokens.rows))

    def advance(self) -> None:
        """Update gamma by the last step's shares, so that a next step with as many passes makes one more update."""
        self.gamma = self._next

    def step(self, b: Floats, iterations: int = 0) -> Floats:
        """Return L, (D,), after `iterations` updates of gamma given topics (R, K'), with rows as in `Tokens`."""
        K, value, document_counts = self.gamma.shape[1], np.empty(len(self.gamma)), np.empty_like(self.theta)
        for iteration in range(iterations + 1):
            if iteration:
                self.advance()
            expected = digamma(self.gamma) - digamma(self.gamma.sum(axis=1, keepdims=True))
            self.theta[:, :K] = np.exp(expected)
            x = self.tokens
            token_shares(x.starts, x.rows, x.counts, self.theta, b, value, document_counts, self.ratios)
            self._next = self.alpha + document_counts[:, :K]
        value += ((self.alpha - self.gamma) * expected + gammaln(self.gamma)).sum(axis=1)
        value += gammaln(K * self.alpha) - K * gammaln(self.alpha) - gammaln(self.gamma.sum(axis=1))
        return value

    def expected_counts(self, b: Floats) -> Floats:
        """Return n, (R, K'), at the gamma of the last step."""
        out, x = np.empty_like(b), self.tokens
        row_counts(x.row_starts, x.documents, x.places, self.ratios, self.theta, b, out)
        return out
