"""Streams of documents from .npz files, read in parts: scipy's sparse matrices in rows, corpora of `Corpus.save`."""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.batches import LARGEST_DOCUMENT, MOST_DOCUMENTS, Document, DocumentStream
from heldout.corpora.in_memory import row_of_counts, token_stream
from heldout.errors import InputError
from heldout.files import file_digest
from heldout.limits import check_expansion, check_npy, require_file

LARGEST_MEMBER = 2**29  # bytes of names in an .npz
CHUNK = 2**16  # numbers that are read from an .npz at a time


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open an .npz file; an InputError says that it is none."""
    require_file(path)
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(f"{path}: not a whole .npz file ({error!s:.200}); copy it again") from error
    check_expansion(path.stat().st_size, sum(member.file_size for member in archive.infolist()), str(path))
    return archive


class _Numbers:
    """One array of an .npz file, of which documents' parts are taken in turn, from chunks that are read ahead."""

    def __init__(self, file: IO[bytes], length: int, dtype: np.dtype[Any]) -> None:
        self.file, self.length, self.dtype = file, length, dtype
        self._left, self._buffer = length, np.zeros(0, dtype)

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n numbers."""
        if n > LARGEST_DOCUMENT:
            raise ValueError(f"a document of {n} words, more than {LARGEST_DOCUMENT}")
        if n > len(self._buffer) + self._left:
            raise EOFError("it has fewer numbers than its offsets say")
        parts, size = [self._buffer], len(self._buffer)
        while size < n:
            more = min(self._left, CHUNK)
            content = self.file.read(more * self.dtype.itemsize)
            if len(content) < more * self.dtype.itemsize:
                raise EOFError("it ends early")
            parts.append(np.frombuffer(content, dtype=self.dtype))
            self._left, size = self._left - more, size + more
        whole = np.concatenate(parts) if len(parts) > 1 else self._buffer
        taken, self._buffer = whole[:n], whole[n:]
        return taken


@contextmanager
def _numbers(archive: zipfile.ZipFile, name: str, kinds: str) -> Iterator[_Numbers]:
    """Open one array of an archive; `kinds` are the kinds of number that it may have."""
    with archive.open(f"{name}.npy") as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = read(file)
        if dtype.hasobject or dtype.kind not in kinds or len(shape) != 1:
            raise ValueError(f"{name} is an array {shape} of {dtype}")
        yield _Numbers(file, shape[0], dtype)


def _reading(path: Path, what: str, rows: Callable[[zipfile.ZipFile], Iterator[Document]]) -> Iterator[Document]:
    """Yield what `rows` reads from the archive; whatever is wrong with its bytes becomes one line."""
    with open_archive(path) as archive:
        try:
            yield from rows(archive)
        except (InputError, GeneratorExit, KeyboardInterrupt):
            raise
        except Exception as error:  # zipfile, zlib and numpy each raise their own kinds
            raise InputError(f"{path}: truncated, or not {what} ({error!s:.200}); copy the file again") from error


def _scalar(archive: zipfile.ZipFile, name: str) -> Any:
    """Return a small array of an archive; no larger one."""
    size = archive.getinfo(f"{name}.npy").file_size
    if size > LARGEST_MEMBER:
        raise ValueError(f"{name} has {size} bytes")
    with archive.open(f"{name}.npy") as file:
        check_npy(file, size, f"{archive.filename}: {name}")
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _offsets(archive: zipfile.ZipFile, name: str, end: int) -> NDArray[np.int64]:
    """Return where documents begin, and the last one's end."""
    offsets: NDArray[np.int64] = _scalar(archive, name).astype(np.int64, copy=False)
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
    with open_archive(path) as archive:
        try:
            layout = bytes(np.asarray(_scalar(archive, "format")).item()).decode()
            D, V = (int(n) for n in _scalar(archive, "shape"))
        except Exception as error:
            raise InputError(f"{path}: truncated, or not a matrix ({error!s:.200}); copy the file again") from error
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

    def read() -> Iterator[Document]:
        return _reading(path, "a sparse matrix", rows)

    return DocumentStream(path.name, read, partial(file_digest, path), n_words=V, n_documents=D)


def of_corpus(path: Path) -> DocumentStream:
    """Open a corpus that `Corpus.save` wrote.

    Raises:
        InputError: when it is damaged, at once or while it is read.
    """
    with open_archive(path) as archive:
        try:
            name, vocabulary = str(_scalar(archive, "name")), tuple(_scalar(archive, "vocabulary").tolist())
            ordered = bool(json.loads(str(_scalar(archive, "provenance"))).get("ordered", True))
            names = _scalar(archive, "documents").tolist()
            if len(set(vocabulary)) != len(vocabulary) or not all(isinstance(w, str) for w in [*vocabulary, *names]):
                raise ValueError("its words or names are none")
        except Exception as error:
            raise InputError(f"{path}: truncated, or not a corpus ({error!s:.200}); copy the file again") from error

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

    def read() -> Iterator[Document]:
        return _reading(path, "a corpus", rows)

    return DocumentStream(name, read, partial(file_digest, path), vocabulary, len(vocabulary), n_documents=len(names))
