"""Data of a corpus beyond its words: a label of each document, links between them, the time of each.

A label is what stands before the slash in a document's name, "pos/cv000", and so is a volume, "nips07/0012"; links
are pairs of documents' names in the provenance. A drawn corpus has neither, and gets some that depend on its words, so
that every step can be run on it: documents are labelled by their share of the most frequent word, linked to the
document nearest to them, and divided into times by their order.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Floats, Ints

TIMES = 4  # number of times of a drawn corpus


def labels_of(corpus: Corpus) -> Ints:
    """Return (D,) labels 0 and 1, numbered in the order of their names.

    Raises:
        InputError: for a corpus whose documents do not have one of two labels each.

    Examples:
        >>> source = {"synthetic": False}
        >>> labels_of(Corpus.from_documents("tiny", [("pos/1", ["good"]), ("neg/1", ["bad"])], source))
        array([1, 0])
    """
    if corpus.synthetic:
        counts = np.asarray(corpus.counts().toarray())
        shares = counts[:, counts.sum(axis=0).argmax()] / np.maximum(corpus.lengths, 1)
        return (shares > np.median(shares)).astype(np.int64)
    return _numbered(corpus, "a label", 2)


def times_of(corpus: Corpus) -> Ints:
    """Return (D,) times 0 .. T - 1, ascending in the order of their names.

    Raises:
        InputError: for a corpus of no or one time.
    """
    if corpus.synthetic:
        return np.arange(corpus.n_documents) * TIMES // corpus.n_documents
    return _numbered(corpus, "a time", None)


def classes_of(corpus: Corpus) -> Ints:
    """Return (D,) classes 0 .. C - 1, in the order of their names; a drawn corpus has its two labels as classes.

    Raises:
        InputError: for a corpus of no or one class.
    """
    return labels_of(corpus) if corpus.synthetic else _numbered(corpus, "a class", None)


def _numbered(corpus: Corpus, what: str, wanted: int | None) -> Ints:
    parts = [document.partition("/") for document in corpus.documents]
    names, numbers = np.unique([prefix for prefix, _, _ in parts], return_inverse=True)
    if not all(slash for _, slash, _ in parts) or len(names) < 2 or (wanted and len(names) != wanted):
        raise InputError(
            f"corpus {corpus.name}: expected {what} before a slash in the name of every document, {wanted or 'several'}"
            f" different ones, found {', '.join(names[:4])}"
        )
    return np.asarray(numbers, dtype=np.int64)


def links_of(corpus: Corpus) -> Ints:
    """Return the (M, 2) pairs of linked documents in the corpus, the earlier first, each pair once.

    Raises:
        InputError: for a corpus without links.
    """
    if corpus.synthetic:
        pairs = _nearest(corpus.counts().toarray())
    elif "links" in corpus.provenance:
        index = {document: d for d, document in enumerate(corpus.documents)}
        named = corpus.provenance["links"]
        pairs = np.array([[index[one], index[other]] for one, other in named if {one, other} <= index.keys()])
    else:
        raise InputError(f"corpus {corpus.name}: no links between its documents; take a corpus that has some")
    pairs = np.sort(pairs.reshape(-1, 2).astype(np.int64), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def _nearest(counts: Floats) -> Ints:
    """Return pairs of each document and the document with the largest cosine of counts (D, V)."""
    norms = np.sqrt((counts**2).sum(axis=1, keepdims=True))
    unit = counts / np.maximum(norms, 1.0)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -1.0)
    return np.column_stack([np.arange(len(counts)), cosines.argmax(axis=1)])
