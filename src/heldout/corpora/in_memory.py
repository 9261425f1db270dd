"""Streams of documents that are in memory: a sparse matrix of counts, a corpus, lists of words."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.corpora.batches import LARGEST_DOCUMENT, MOST_WORDS, Document, DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Ints


def _digest(parts: Iterable[Any]) -> str:
    content = hashlib.sha256()
    for part in parts:
        content.update(part)
    return content.hexdigest()


def _whole(values: NDArray[Any], name: str, row: int) -> Ints:
    """Return counts as integers, or refuse what is no count."""
    with np.errstate(invalid="ignore"):
        bad = ~((values >= 0) & (values <= LARGEST_DOCUMENT) & (values == np.floor(values)))
    if bad.any():
        raise InputError(
            f"{name}: row {row}: a count of {values[bad][0]}; counts must be whole numbers from 0 to"
            f" {LARGEST_DOCUMENT}: give counts, not weights such as tf-idf"
        )
    return values.astype(np.int64)


def row_of_counts(name: str, row: int, words: NDArray[Any], values: NDArray[Any], n_words: int) -> Document:
    """Return a matrix's row as a document; an InputError names the row with a word or a count that cannot be one."""
    if len(words) and not 0 <= int(words.min()) <= int(words.max()) < n_words:
        raise InputError(f"{name}: row {row}: a word outside the {n_words} columns; the matrix is damaged")
    counts = _whole(values, name, row)
    present = counts > 0
    return Document(f"row {row}", words[present].astype(np.int64), counts[present])


def of_matrix(matrix: Any) -> DocumentStream:
    """Return the rows of a scipy sparse matrix of counts, (D, V), as a stream.

    Raises:
        InputError: when it is no matrix of numbers; while it is read, names the row that holds no counts.
    """
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix of documents is {matrix.shape} of {matrix.dtype}; give counts, documents by words"
        )
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    D, V = rows.shape

    def read() -> Iterator[Document]:
        for d in range(D):
            here = slice(rows.indptr[d], rows.indptr[d + 1])
            yield row_of_counts("matrix", d, rows.indices[here], rows.data[here], V)

    def digest() -> str:
        arrays = ((rows.indptr, np.int64), (rows.indices, np.int64), (rows.data, np.float64))
        parts = (np.ascontiguousarray(array, dtype=kind).data for array, kind in arrays)
        return _digest([f"{D} {V}".encode(), *parts])

    return DocumentStream("matrix", read, digest, n_words=V, n_documents=D)


def of_array(array: NDArray[Any]) -> DocumentStream:
    """Return the rows of an array of counts, (D, V), as a stream; raises InputError as `of_matrix` does."""
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"the array of documents is {array.shape} of {array.dtype}; give counts, documents by words")
    return of_matrix(sp.csr_array(array))


def of_table(table: Any) -> DocumentStream:
    """Return a data frame's rows of counts, (D, V), as a stream; columns that are named by texts name the words.

    Raises:
        InputError: as `of_matrix` does, or when two columns have one name.
    """
    sparse = table.sparse.to_coo() if hasattr(table, "sparse") else None
    stream = of_array(np.asarray(table.to_numpy())) if sparse is None else of_matrix(sparse)
    names = list(table.columns)
    if not all(isinstance(name, str) for name in names):
        return stream
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"table: two columns are named {twice!r:.40}; add them up")
    return replace(stream, words=tuple(map(str, names)))


def of_bags(documents: Any) -> DocumentStream:
    """Return gensim's bags of words, each a list of pairs of a word's number and its count, as a stream.

    Raises:
        InputError: while it is read, names the document with what is no such pair.
    """

    def read() -> Iterator[Document]:
        for d, document in enumerate(documents):
            try:
                pairs = np.array([(word, count) for word, count in document], dtype=np.float64).reshape(-1, 2)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"document {d}: not pairs of a word's number and its count, as its first is"
                ) from error
            words = pairs[:, 0]
            if not np.all((words >= 0) & (words == np.floor(words)) & (words < MOST_WORDS)):
                raise InputError(f"document {d}: a word whose number is no whole number from 0 on")
            counts = _whole(pairs[:, 1], "documents", d)
            yield Document(f"row {d}", words[counts > 0].astype(np.int64), counts[counts > 0])

    def digest() -> str:
        parts = (part for document in read() for part in (document.words, document.counts))
        return _digest(f"{np.asarray(part).tolist()}".encode() for part in parts)

    return DocumentStream("documents", read, digest, n_documents=len(documents))


def of_corpus(corpus: Corpus) -> DocumentStream:
    """Return a corpus as a stream over its own words; a bag where the corpus is not ordered."""

    def read() -> Iterator[Document]:
        for d, name in enumerate(corpus.documents):
            yield token_stream(name, corpus.document(d).astype(np.int64), ordered=bool(corpus.provenance["ordered"]))

    def digest() -> str:
        offsets, tokens = corpus.offsets.astype(np.int64), corpus.tokens.astype(np.int32)
        return _digest((offsets.data, tokens.data))

    words = corpus.vocabulary
    return DocumentStream(corpus.name, read, digest, words, len(words), n_documents=corpus.n_documents)


def token_stream(name: str, tokens: Ints, *, ordered: bool) -> Document:
    """Return tokens as a document: in their order, or as a bag."""
    if ordered:
        return Document(name, tokens, None)
    words, counts = np.unique(tokens, return_counts=True)
    return Document(name, words, counts.astype(np.int64))


def of_lists(documents: Any) -> DocumentStream:
    """Return documents that are each a list of words, in their order, or gensim's bag of words, as a stream.

    Raises:
        InputError: names the document that is no list of words.
    """
    first = next((document[0] for document in documents if isinstance(document, list | tuple) and document), None)
    if isinstance(first, tuple | list) and len(first) == 2 and not any(isinstance(part, str) for part in first):
        return of_bags(documents)
    for d, document in enumerate(documents):
        if isinstance(document, str | bytes) or not isinstance(document, Sequence):
            raise InputError(
                f"document {d}: a {type(document).__name__}; give every document as a list of words, or texts to a"
                " Pipeline that begins with the model's vectorizer"
            )
        for word in document:
            if not isinstance(word, str):
                raise InputError(f"document {d}: {word!r:.40} is no word; give every document as a list of words")

    def read() -> Iterator[Document]:
        return (Document(f"row {d}", document, None) for d, document in enumerate(documents))

    def digest() -> str:
        return _digest(("\0".join(document) + "\0\0").encode(errors="surrogatepass") for document in documents)

    return DocumentStream("documents", read, digest, texts=True, n_documents=len(documents))
