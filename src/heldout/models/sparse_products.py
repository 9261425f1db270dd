"""Products of two factors at the entries of sparse counts alone: O(nnz K) work and memory for updates of (D, V) counts.

Examples:
    >>> counts = sp.csr_array([[3.0, 0.0], [1.0, 2.0]])
    >>> left, right = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.2, 0.6], [0.8, 0.4]])
    >>> products(counts, left, right)
    array([0.2, 0.4, 0.6])
    >>> ratios(counts, left, right).data.round(2)
    array([15.  ,  2.5 ,  3.33])
"""

import numpy as np
import scipy.sparse as sp

from heldout.typing import Floats, Ints


def rows_of_entries(counts: sp.csr_array) -> Ints:
    """Return the row of every entry of (D, V) counts, (nnz,), in their order."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def products(counts: sp.csr_array, left: Floats, right: Floats) -> Floats:
    """Return sum_k left[d, k] right[w, k] at the (nnz,) entries of (D, V) counts; left is (D, K), right (V, K)."""
    return np.asarray(np.einsum("ik,ik->i", left[rows_of_entries(counts)], right[counts.indices]))


def with_values(counts: sp.csr_array, values: Floats) -> sp.csr_array:
    """Return an array with other values, (nnz,), at the entries of (D, V) counts."""
    return sp.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def ratios(counts: sp.csr_array, left: Floats, right: Floats) -> sp.csr_array:
    """Return (D, V) counts over `products`; 0 where the product is 0."""
    sums = products(counts, left, right)
    return with_values(counts, np.divide(counts.data, sums, out=np.zeros_like(sums), where=sums > 0.0))
