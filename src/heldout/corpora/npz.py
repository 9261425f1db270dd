"""Streams of documents from .npz files, read in parts: scipy's sparse matrices in rows, corpora of `Corpus.save`."""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.batches import LARGEST_DOCUMENT, MOST_DOCUMENTS, Document, DocumentStream
from heldout.corpora.in_memory import row_of_counts, token_stream
from heldout.errors import InputError
from heldout.files import file_digest
from heldout.limits import npy_header, one_line, open_zip, read_npy
from heldout.typing import Ints

LARGEST_MEMBER = 2**29  # bytes of names in an .npz
COPY = "copy the file again"


class _Numbers(NamedTuple):
    """One array of an .npz file, read from front to back, a document's numbers at a time."""

    file: IO[bytes]
    length: int
    dtype: np.dtype[Any]

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n numbers."""
        if n > LARGEST_DOCUMENT:
            raise ValueError(f"a document of {n} words, more than {LARGEST_DOCUMENT}")
        content = self.file.read(n * self.dtype.itemsize)
        if len(content) < n * self.dtype.itemsize:
            raise EOFError("it ends early")
        return np.frombuffer(content, dtype=self.dtype)


@contextmanager
def _numbers(archive: zipfile.ZipFile, name: str, kinds: str) -> Iterator[_Numbers]:
    """Open one array of an archive; `kinds` are the kinds of number that it may have."""
    with archive.open(f"{name}.npy") as file:
        shape, dtype = npy_header(file)
        if dtype.hasobject or dtype.kind not in kinds or len(shape) != 1:
            raise ValueError(f"{name} is an array {shape} of {dtype}")
        yield _Numbers(file, shape[0], dtype)


def _reading(path: Path, what: str, rows: Callable[[zipfile.ZipFile], Iterator[Document]]) -> Iterator[Document]:
    """Yield what `rows` reads from the archive."""
    with one_line(path, f"truncated, or not {what}", COPY), open_zip(path, ".npz", COPY) as archive:
        yield from rows(archive)


def _offsets(archive: zipfile.ZipFile, name: str, end: int) -> Ints:
    """Return where documents begin, and the last one's end."""
    offsets: Ints = read_npy(archive, name, LARGEST_MEMBER).astype(np.int64, copy=False)
    if offsets.ndim != 1 or not 1 <= len(offsets) <= MOST_DOCUMENTS or offsets[0] != 0 or offsets[-1] != end:
        raise ValueError(f"{name} does not divide {end} numbers")
    if np.any(np.diff(offsets) < 0):
        raise ValueError(f"{name} falls")
    return offsets


def of_matrix(path: Path) -> DocumentStream:
    """Open what scipy.sparse.save_npz wrote of a matrix of counts, (D, V), in rows.

    Raises:
        InputError: when it is damaged or not in rows; while it is read, names the row that holds no counts.
    """
    with one_line(path, "truncated, or not a matrix", COPY), open_zip(path, ".npz", COPY) as archive:
        layout = bytes(np.asarray(read_npy(archive, "format", LARGEST_MEMBER)).item()).decode()
        D, V = (int(n) for n in read_npy(archive, "shape", LARGEST_MEMBER))
    if layout != "csr":
        raise InputError(f"{path}: a matrix in the layout {layout[:10]!r}; save it in rows, matrix.tocsr()")

    def rows(archive: zipfile.ZipFile) -> Iterator[Document]:
        with _numbers(archive, "indices", "iu") as indices, _numbers(archive, "data", "biuf") as data:
            indptr = _offsets(archive, "indptr", data.length)
            if len(indptr) != D + 1 or indices.length != data.length:
                raise ValueError("its parts do not fit its shape")
            for d in range(D):
                n = int(indptr[d + 1] - indptr[d])
                words, counts = indices.take(n), data.take(n)
                if len(np.unique(words)) != n:
                    raise InputError(f"{path}: row {d}: a word is there twice; save it after matrix.sum_duplicates()")
                yield row_of_counts(str(path), d, words, counts, V)

    read = partial(_reading, path, "a sparse matrix", rows)
    return DocumentStream(path.name, read, partial(file_digest, path), n_words=V, n_documents=D)


def of_corpus(path: Path) -> DocumentStream:
    """Open a corpus that `Corpus.save` wrote; raises InputError when it is damaged, at once or while it is read."""
    with one_line(path, "truncated, or not a corpus", COPY), open_zip(path, ".npz", COPY) as archive:
        parts = ("name", "provenance", "vocabulary", "documents")
        name, known, words, names = (read_npy(archive, part, LARGEST_MEMBER).tolist() for part in parts)
        ordered, vocabulary = bool(json.loads(known).get("ordered", True)), tuple(words)
        if len(set(vocabulary)) != len(vocabulary) or not all(isinstance(w, str) for w in [name, *vocabulary, *names]):
            raise ValueError("its words or names are none")

    def rows(archive: zipfile.ZipFile) -> Iterator[Document]:
        with _numbers(archive, "tokens", "iu") as tokens:
            offsets = _offsets(archive, "offsets", tokens.length)
            if len(offsets) != len(names) + 1:
                raise ValueError(f"{len(names)} names for {len(offsets) - 1} documents")
            for d, document in enumerate(names):
                n = int(offsets[d + 1] - offsets[d])
                stream = tokens.take(n).astype(np.int64)
                if n and not 0 <= int(stream.min()) <= int(stream.max()) < len(vocabulary):
                    raise ValueError(f"document {document}: a token outside the vocabulary of {len(vocabulary)}")
                yield token_stream(document, stream, ordered=ordered)

    read = partial(_reading, path, "a corpus", rows)
    return DocumentStream(name, read, partial(file_digest, path), vocabulary, len(vocabulary), n_documents=len(names))
