"""The two passes of PLSA's EM over blocks of words and of documents; `heldout.models.plsa` has the equations.

They are apart from folding in, which audits need without training: compiling them takes seconds.
"""

import math

import numba as nb
import numpy as np

from heldout.models.settings import PLSA_SMALLEST as SMALLEST
from heldout.models.simd import dot


@nb.njit(cache=True, inline="always")
def _add_rows(shares, size, rows, places, start, update):  # type: ignore[no-untyped-def]
    """Add shares[j] rows[places[start + j]], j < size, to `update`, one after the other; `shares` has room for 3 more.

    Four rows together are a quarter of the loads and stores of `update`; rows of weight 0 fill the last four.
    """
    last = start + size - 1
    shares[size], shares[size + 1], shares[size + 2] = 0.0, 0.0, 0.0
    for j in range(0, size, 4):
        i = start + j
        a, b = rows[places[i]], rows[places[min(i + 1, last)]]
        c, d = rows[places[min(i + 2, last)]], rows[places[min(i + 3, last)]]
        share_a, share_b, share_c, share_d = shares[j], shares[j + 1], shares[j + 2], shares[j + 3]
        for k in range(update.shape[0]):
            update[k] = update[k] + share_a * a[k] + share_b * b[k] + share_c * c[k] + share_d * d[k]


@nb.njit(
    "float64(int32[:, ::1], int64, int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1],"
    " float64[::1], float64[:, ::1], float64[::1])",
    cache=True,
)
def documents_pass(  # type: ignore[no-untyped-def]
    begins, blocks, indices, counts, W, scaled, H, ratio, updates, shares
):
    """Write the EM update of H, fill ratio with R, return the log-likelihood before the update.

    `scaled` is H over the sums of W's columns, so that W scaled' is the model's p(w | d). `blocks` blocks of words meet
    len(updates) documents while the rows of both are in the second cache, and as many words of a document as `shares`
    has room for are in the first between product and sum.
    """
    n_documents, width = H.shape
    last, few = begins.shape[0] - 1, shares.shape[0] - 3
    for first in range(0, n_documents, updates.shape[0]):
        documents = range(first, min(first + updates.shape[0], n_documents))
        updates[:] = 0.0
        for block in range(0, last, blocks):
            next_block = min(block + blocks, last)
            for d in documents:
                h, update, end = scaled[d], updates[d - first], begins[next_block, d]
                for start in range(begins[block, d], end, few):
                    size = min(few, end - start)
                    for j in range(size):
                        probability = dot(h, W[indices[start + j]])
                        ratio[start + j] = probability
                        # where no topic of the document gives the word, it has no effect on H
                        shares[j] = counts[start + j] / probability if probability > 0.0 else 0.0
                    _add_rows(shares, size, W, indices, start, update)
        for d in documents:
            h, update = scaled[d], updates[d - first]
            total = 0.0
            for k in range(width):
                h_new = h[k] * update[k]
                update[k] = h_new if h_new > SMALLEST else 0.0
                total += update[k]
            if total > 0.0:
                for k in range(width):
                    H[d, k] = update[k] / total
    log_likelihood = 0.0
    for i in range(ratio.shape[0]):
        probability = ratio[i]
        if probability > 0.0:
            log_likelihood += counts[i] * math.log(probability)
            ratio[i] = counts[i] / probability
        else:
            log_likelihood -= np.inf
    return log_likelihood


@nb.njit(
    "void(int32[::1], int32[::1], int32[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1],"
    " float64[:, ::1], float64[::1])",
    cache=True,
)
def words_pass(  # type: ignore[no-untyped-def]
    indptr, indices, position, ratio, W, scaled, totals, updates, shares
):
    """Replace W by its unnormalised EM update; write each topic's sum over words to totals.

    The rows of H that len(updates) words add up come before their products: W is read and written in long runs.
    """
    n_words, width = W.shape
    few = shares.shape[0] - 3
    totals[:] = 0.0
    for first in range(0, n_words, updates.shape[0]):
        words = range(first, min(first + updates.shape[0], n_words))
        updates[:] = 0.0
        for v in words:
            end, update = indptr[v + 1], updates[v - first]
            for start in range(indptr[v], end, few):
                size = min(few, end - start)
                for j in range(size):
                    shares[j] = ratio[position[start + j]]
                _add_rows(shares, size, scaled, indices, start, update)
        for v in words:
            w, update = W[v], updates[v - first]
            for k in range(width):
                w_new = w[k] * update[k]
                if w_new < SMALLEST:
                    w_new = 0.0
                w[k] = w_new
                totals[k] += w_new
