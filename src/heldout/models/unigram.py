r"""Unigram models: one distribution for all documents, and each document's own counts smoothed with it.

The upper baseline of Hofmann (1999, Figure 5): words and documents are independent, p(w | d) = p(w). By maximum
likelihood p(w) = n(w) / N. With a symmetric Dirichlet(c) prior on p(w), the posterior mean is

    p(w) = (n(w) + c) / (N + c V),

the additive constant c. The same step for one document, its prior Dirichlet(m p(.)) with mean p(w), gives

    p(w | d) = (n(d, w) + m p(w)) / (n(d) + m),

which has no latent variable at all and still is specific to the document: m tokens' worth of the unigram.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import checked_counts

Float = NDArray[np.float64]


def unigram(counts: sp.csr_array, constant: float = 0.0) -> Float:
    """Return p(w), (V,), of (D, V) counts with `constant` added to every word's count; 0 is maximum likelihood.

    Raises:
        InputError: on counts without tokens, or a constant that is negative or not finite.
    """
    if not 0.0 <= constant < np.inf:
        raise InputError(f"unigram: constant {constant}; it must be 0 or more and finite")
    by_word = np.asarray(checked_counts(counts, "unigram").sum(axis=0), dtype=float).ravel() + constant
    p: Float = by_word / by_word.sum()
    return p


def smoothed_documents(counts: sp.csr_array, mass: float, rows: NDArray[np.int64], words: NDArray[np.int32]) -> Float:
    """Return p(w | d), (n,), of n pairs of a document (row of the counts) and a word.

    Args:
        counts: (D, V) training counts n(d, w).
        mass: m, tokens' worth of the maximum-likelihood unigram, above 0.
        rows: (n,) the pairs' documents.
        words: (n,) their words.

    Raises:
        InputError: on counts without tokens, or a mass that is not positive and finite.
    """
    if not 0.0 < mass < np.inf:
        raise InputError(f"unigram: mass {mass}; it must be above 0 and finite")
    p = unigram(counts)
    own = np.asarray(counts[rows, words], dtype=float).ravel()
    lengths = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    smoothed: Float = (own + mass * p[words]) / (lengths[rows] + mass)
    return smoothed
