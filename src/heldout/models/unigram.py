r"""Unigram models: one distribution for all documents, and each document's own counts smoothed with it.

The upper baseline of Hofmann (1999, Figure 5): words and documents are independent, p(w | d) = p(w). By maximum
likelihood p(w) = n(w) / N. With a symmetric Dirichlet(c) prior on p(w), the posterior mean is

    p(w) = (n(w) + c) / (N + c V),

additive smoothing by c. The same step for one document, with the prior Dirichlet(m p(.)) of mean p(w), gives

    p(w | d) = (n(d, w) + m p(w)) / (n(d) + m),

which is specific to the document although it has no latent variable: the unigram counts as m tokens.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.typing import Floats, Ints


def unigram(counts: sp.csr_array, constant: float = 0.0) -> Floats:
    """Return p(w), (V,), of (D, V) counts with `constant` added to every word's count; 0 is maximum likelihood.

    Raises:
        InputError: on counts without tokens, or a constant that is negative or not finite.

    Examples:
        >>> unigram(sp.csr_array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), constant=1.0).round(3)
        array([0.429, 0.429, 0.143])
    """
    if not 0.0 <= constant < np.inf:
        raise InputError(f"unigram: constant {constant}; it must be 0 or more and finite")
    by_word = np.asarray(checked_counts(counts, "unigram").sum(axis=0), dtype=float).ravel() + constant
    p: Floats = by_word / by_word.sum()
    return p


def smoothed_documents(counts: sp.csr_array, mass: float, rows: Ints, words: NDArray[np.int32]) -> Floats:
    """Return p(w | d), (n,), of n pairs of a document (row of the counts) and a word.

    The maximum-likelihood unigram of the (D, V) training counts weighs as much as `mass` tokens, m > 0 and finite.

    Examples:
        >>> counts = sp.csr_array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
        >>> smoothed_documents(counts, 1.0, rows=np.array([0, 1]), words=np.array([0, 0], dtype=np.int32))
        array([0.625, 0.25 ])
    """
    if not 0.0 < mass < np.inf:
        raise InputError(f"unigram: mass {mass}; it must be above 0 and finite")
    p = unigram(counts)
    own = np.asarray(counts[rows, words], dtype=float).ravel()
    lengths = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    smoothed: Floats = (own + mass * p[words]) / (lengths[rows] + mass)
    return smoothed
