"""Documents in batches: what an audit reads, never all of it in memory.

A stream is read as often as it is iterated over. Its batches are over the model's vocabulary: documents that name their
words are matched by them, and tokens of other words are counted and left out; where only one side names words, or
neither, places are matched, and the numbers of words must agree. An empty document stays, as one of no tokens.

A bag of words has no order, but some estimators depend on one (left to right, with few samples; linear time), and a
sorted document is an unlikely sequence to them: all its repeated words stand together. So a bag's tokens come in a
random order, drawn for every document by itself and named by (document's place, seed).
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.corpora import ldac, uci
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import integer, read_bytes, read_vocabulary, stream_lines
from heldout.corpora.preprocess import tokeniser
from heldout.corpora.text_folder import as_text, text_files, text_rule
from heldout.errors import InputError
from heldout.seeds import generator

FORMS = ("scipy", "mm", "uci", "ldac", "text", "heldout")
LARGEST_DOCUMENT = 10**7  # tokens; a count beyond it is a damaged one
LARGEST_BATCH = 2 * 10**6  # tokens, after which a batch is closed
MOST_DOCUMENTS = 2 * 10**7
MOST_WORDS = 10**7
MOST_EMPTY = 1000  # documents without a count, beside ten for each count, that a header may announce
LARGEST_MEMBER = 2**30  # bytes of names in an .npz
CHUNK = 2**16  # numbers that are read from an .npz at a time


class Document(NamedTuple):
    """A document as its source gives it.

    Attributes:
        name: a record number, a row, a file name.
        words: places in the documents' own vocabulary, or the words themselves.
        counts: of each word; None where `words` are the tokens in their order.
    """

    name: str
    words: NDArray[np.int64] | Sequence[str]
    counts: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Batch(Corpus):
    """Some consecutive documents of a stream.

    Attributes:
        left_out: (D,) tokens of each document that the vocabulary lacks.
        first: the place in the stream of the first document.
    """

    left_out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    first: int = 0


@dataclass(frozen=True, eq=False)
class DocumentStream:
    """Documents that can be iterated over, again and again, in batches.

    Attributes:
        name: the file's name, or what the documents are.
        read: yields the documents from the first.
        source_digest: of what is read.
        words: the documents' own vocabulary; None where they have none.
        n_words: how many words it has, where that is known.
        texts: True where documents give their words themselves.
        n_documents: how many there are, where that is known before they are read.
        vocabulary: what the batches are over; None until `over` or `placed` has said it.
        batch: the most documents in one.
        seed: names the order of a bag's tokens.
    """

    name: str
    read: Callable[[], Iterator[Document]]
    source_digest: Callable[[], str]
    words: tuple[str, ...] | None = None
    n_words: int | None = None
    texts: bool = False
    n_documents: int | None = None
    vocabulary: tuple[str, ...] | None = None
    batch: int = 500
    seed: int = 0

    @property
    def digest(self) -> str:
        """The SHA-256 of the source and of the documents' own vocabulary, hexadecimal; reads the source once."""
        digest = hashlib.sha256(self.source_digest().encode())
        for word in self.words or ():
            digest.update(f"{word}\0".encode())
        return digest.hexdigest()

    def over(self, vocabulary: tuple[str, ...]) -> "DocumentStream":
        """Return the stream over a model's words.

        Raises:
            InputError: where the documents name no words and have another number of them.
        """
        if self.words is None and self.n_words not in (None, len(vocabulary)):
            raise InputError(
                f"{self.name}: {self.n_words} words that are not named, but the model has {len(vocabulary)};"
                " give the documents' vocabulary, one word per line (--documents-vocabulary)"
            )
        return replace(self, vocabulary=vocabulary)

    def placed(self, n_words: int) -> "DocumentStream":
        """Return the stream over its own words, for a model of so many words that names none.

        Raises:
            InputError: where the documents have another number of words, or only their words say which they are.
        """
        if self.texts:
            raise InputError(f"{self.name}: texts, but the model names no words; give its vocabulary (--vocabulary)")
        known = self.n_words if self.words is None else len(self.words)
        if known not in (None, n_words):
            raise InputError(
                f"{self.name}: {known} words, but the model has {n_words} and does not name them;"
                " give the model's vocabulary (--vocabulary) or the corpus that it was trained on"
            )
        return replace(self, vocabulary=self.words or tuple(map(str, range(n_words))))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches.

        Raises:
            InputError: names file, line or document of what cannot be read.
        """
        vocabulary = self.words if self.vocabulary is None else self.vocabulary
        if vocabulary is None:
            if self.n_words is None or self.n_words > MOST_WORDS:
                count = "no vocabulary" if self.n_words is None else f"{self.n_words} words and no vocabulary"
                raise InputError(f"{self.name}: the documents have {count}; give one")
            vocabulary = tuple(map(str, range(self.n_words)))
        place = None if self.words in (None, vocabulary) else _places(self.words or (), vocabulary)
        index = {word: w for w, word in enumerate(vocabulary)} if self.texts else {}
        pending: list[tuple[str, NDArray[np.int32], int]] = []
        tokens = first = 0
        for d, document in enumerate(self.read()):
            if d >= MOST_DOCUMENTS:
                raise InputError(f"{self.name}: more than {MOST_DOCUMENTS} documents; divide them")
            stream, left_out = self._stream(d, document, place, index, len(vocabulary))
            pending.append((document.name, stream, left_out))
            tokens += len(stream)
            if len(pending) == self.batch or tokens >= LARGEST_BATCH:
                yield self._batch(pending, vocabulary, first)
                pending, tokens, first = [], 0, d + 1
        if pending:
            yield self._batch(pending, vocabulary, first)

    def _stream(
        self, d: int, document: Document, place: NDArray[np.int64] | None, index: dict[str, int], size: int
    ) -> tuple[NDArray[np.int32], int]:
        """Return a document's tokens over the vocabulary and how many it lacks."""
        words, counts = document.words, document.counts
        if not isinstance(words, np.ndarray):
            places = np.fromiter((index.get(word, -1) for word in words), np.int64, len(words))
        elif place is not None:
            places = place[words]
        else:
            places = words
            if len(words) and int(words.max()) >= size:
                raise InputError(
                    f"{self.name}: document {document.name}: word {int(words.max())} (counted from 0), but there are"
                    f" {size}; give the documents' vocabulary (--documents-vocabulary)"
                )
        total = len(places) if counts is None else int(counts.sum())
        if total > LARGEST_DOCUMENT:
            raise InputError(
                f"{self.name}: document {document.name}: {total} tokens, more than {LARGEST_DOCUMENT};"
                " its counts are damaged, or it must be divided"
            )
        kept = places >= 0
        if counts is None:
            stream = places[kept].astype(np.int32)
        else:
            order = np.argsort(places[kept], kind="stable")  # however the source lists a bag, it is the same bag
            stream = np.repeat(places[kept][order], counts[kept][order]).astype(np.int32)
            generator("token-order", document=d, seed=self.seed).shuffle(stream)
        return stream, total - len(stream)

    def _batch(
        self, documents: list[tuple[str, NDArray[np.int32], int]], vocabulary: tuple[str, ...], first: int
    ) -> Batch:
        lengths = np.array([len(stream) for _, stream, _ in documents], dtype=np.int64)
        return Batch(
            name=self.name,
            vocabulary=vocabulary,
            tokens=np.concatenate([stream for _, stream, _ in documents]),
            offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            documents=tuple(name for name, _, _ in documents),
            left_out=np.array([left_out for _, _, left_out in documents], dtype=np.int64),
            first=first,
        )


def open_documents(
    source: Any,
    *,
    form: str | None = None,
    vocabulary: tuple[str, ...] | None = None,
    documents_vocabulary: Path | None = None,
    stem: bool = False,
    batch: int = 500,
    seed: int = 0,
) -> DocumentStream:
    """Open documents to be read in batches.

    Args:
        source: a path: a matrix of scipy.sparse.save_npz in rows ("scipy"), Matrix Market as gensim writes it, numbered
            from 1 ("mm"), UCI's docword.txt ("uci"), LDA-C ("ldac"), a folder of .txt ("text"), a corpus that `heldout
            prepare` or `heldout import` wrote ("heldout"); "mm", "uci" and "ldac" may be gzipped. Or an object: a scipy
            sparse matrix (D, V) of counts, a Corpus, or a list of documents, each a list of words.
        form: one of `FORMS`; guessed from the first bytes where it is None.
        vocabulary: the words that batches are over, a model's; None for the documents' own.
        documents_vocabulary: the documents' own words, one per line, for forms that name none.
        stem: whether words of texts are stemmed (lancaster), as by `heldout import --stem`.
        batch: the most documents in a batch.
        seed: names the order of a bag's tokens.

    Raises:
        InputError: where the form is unknown or does not show, the file cannot be read, or the vocabularies do not fit.
            What is wrong further down is raised when it is reached.
    """
    if form is not None and form not in FORMS:
        raise InputError(f"there is no form {form} of documents; there are {', '.join(FORMS)}")
    if batch < 1:
        raise InputError(f"batches of {batch} documents; take 1 or more")
    words = None
    if documents_vocabulary is not None:
        words = read_vocabulary(documents_vocabulary, read_bytes(documents_vocabulary))
    if isinstance(source, str | Path):
        stream = _open_path(Path(source), form or guess_form(Path(source)), stem)
    elif isinstance(source, Corpus):
        stream = _open_corpus(source)
    elif sp.issparse(source):
        stream = _open_matrix(source)
    elif isinstance(source, Sequence) and not isinstance(source, bytes):
        stream = _open_lists(source)
    else:
        raise InputError(
            f"documents of the kind {type(source).__name__} cannot be read; give a scipy sparse matrix of counts,"
            " lists of words, a Corpus or a path"
        )
    if words is not None:
        if stream.words is not None or stream.texts:
            raise InputError(f"{stream.name}: these documents name their words; leave the documents' vocabulary out")
        if stream.n_words not in (None, len(words)):
            raise InputError(
                f"{documents_vocabulary}: {len(words)} words, but {stream.name} has {stream.n_words}; give its own"
            )
        stream = replace(stream, words=words, n_words=len(words))
    stream = replace(stream, batch=batch, seed=seed)
    return stream if vocabulary is None else stream.over(vocabulary)


def guess_form(path: Path) -> str:
    """Return the form of a file or folder of documents, by its first bytes.

    Raises:
        InputError: when it shows none of them.
    """
    if path.is_dir():
        return "text"
    if path.suffix == ".npz":
        with _archive(path) as archive:
            names = set(archive.namelist())
        for form, members in (("scipy", {"indptr.npy", "indices.npy"}), ("heldout", {"tokens.npy", "offsets.npy"})):
            if members <= names:
                return form
        raise InputError(
            f"{path}: neither a sparse matrix in rows nor a corpus; write scipy.sparse.save_npz(file, matrix.tocsr())"
        )
    lines = []
    for _, line in stream_lines(path):
        lines.append(line.strip())
        if len(lines) == 3:
            break
    if lines and lines[0].lower().startswith("%%matrixmarket"):
        return "mm"
    if len(lines) == 3 and all(re.fullmatch(r"[1-9][0-9]*", line, re.ASCII) for line in lines):
        return "uci"
    if lines and all(re.fullmatch(r"[0-9]*(\s+[0-9]+:[0-9]+)*", line, re.ASCII) for line in lines):
        return "ldac"
    raise InputError(f"{path}: its first lines show no form of documents; name it (--format {'|'.join(FORMS)})")


def _places(own: tuple[str, ...], vocabulary: tuple[str, ...]) -> NDArray[np.int64]:
    index = {word: w for w, word in enumerate(vocabulary)}
    return np.array([index.get(word, -1) for word in own], dtype=np.int64)


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _open_path(path: Path, form: str, stem: bool) -> DocumentStream:
    if form == "text":
        return _open_folder(path, stem)
    if stem:
        raise InputError(f"{path}: only texts are stemmed; leave --stem out")
    if not path.is_file():
        raise InputError(f"{path}: no such file of documents")
    return {"scipy": _open_rows, "heldout": _open_prepared, "mm": _open_mm, "uci": _open_uci, "ldac": _open_ldac}[form](
        path
    )


# counts in lines of text


def _open_ldac(path: Path) -> DocumentStream:
    def read() -> Iterator[Document]:
        for number, line in stream_lines(path):
            yield _bag(str(number), ldac.document(f"{path}: line {number}", line, None))

    return DocumentStream(path.name, read, lambda: _file_digest(path))


def _open_uci(path: Path) -> DocumentStream:
    n_documents, n_words, n_pairs = uci.header(path, stream_lines(path))
    _check_size(f"{path}: line 1", n_documents, n_pairs)

    def read() -> Iterator[Document]:
        lines = stream_lines(path)
        uci.header(path, lines)
        return _grouped(path, uci.counts(path, lines, n_documents, n_words), n_documents, n_pairs)

    return DocumentStream(path.name, read, lambda: _file_digest(path), n_words=n_words, n_documents=n_documents)


def _open_mm(path: Path) -> DocumentStream:
    n_documents, n_words, n_pairs = _mm_header(path, stream_lines(path))
    _check_size(str(path), n_documents, n_pairs)

    def read() -> Iterator[Document]:
        lines = stream_lines(path)
        _mm_header(path, lines)
        return _grouped(path, _mm_counts(path, lines, n_documents, n_words), n_documents, n_pairs)

    return DocumentStream(path.name, read, lambda: _file_digest(path), n_words=n_words, n_documents=n_documents)


def _mm_header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[int, int, int]:
    """Return the numbers of documents, words and entries of a Matrix Market file."""
    _, first = next(lines, (0, ""))
    kind = first.lower().split()
    if kind[:3] != ["%%matrixmarket", "matrix", "coordinate"] or kind[3:4] not in (["integer"], ["real"]):
        raise InputError(
            f"{path}: line 1: expected a Matrix Market header, coordinate, integer or real, found {first[:60]!r}"
        )
    if kind[4:] != ["general"]:
        raise InputError(f"{path}: line 1: the matrix must be general, found {' '.join(kind[4:])[:40]!r}")
    for number, line in lines:
        if line.lstrip().startswith("%") or not line.strip():
            continue
        columns = line.split()
        where = f"{path}: line {number}"
        if len(columns) != 3:
            raise InputError(f"{where}: expected the numbers of documents, words and entries, found {line[:40]!r}")
        return (
            integer(columns[0], "the number of documents", where, 1),
            integer(columns[1], "the number of words", where, 1),
            integer(columns[2], "the number of entries", where, 0),
        )
    raise InputError(f"{path}: truncated: no line with the numbers of documents, words and entries")


def _mm_counts(
    path: Path, lines: Iterator[tuple[int, str]], n_documents: int, n_words: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield (where, document from 1, word from 0, count) of a Matrix Market file's entries."""
    for number, line in lines:
        where = f"{path}: line {number}"
        columns = line.split()
        if len(columns) != 3:
            raise InputError(f"{where}: expected document, word and count, found {line[:40]!r}")
        document = integer(columns[0], "the document", where, 1, n_documents)
        word = integer(columns[1], "the word", where, 1, n_words) - 1
        try:
            value = float(columns[2])
        except ValueError:
            value = np.nan
        if not (value >= 0.0 and value.is_integer() and value <= LARGEST_DOCUMENT):
            raise InputError(
                f"{where}: the count must be a whole number from 0 to {LARGEST_DOCUMENT}, found {columns[2][:40]!r};"
                " give counts, not weights such as tf-idf"
            )
        yield where, document, word, int(value)


def _check_size(where: str, n_documents: int, n_pairs: int) -> None:
    """Refuse a header whose empty documents alone would keep a reader busy."""
    if n_documents > 10 * n_pairs + MOST_EMPTY:
        raise InputError(f"{where}: {n_documents} documents announced with {n_pairs} counts in all; a damaged header")


def _bag(name: str, counts: dict[int, int]) -> Document:
    n = len(counts)
    return Document(name, np.fromiter(counts.keys(), np.int64, n), np.fromiter(counts.values(), np.int64, n))


def _grouped(
    path: Path, entries: Iterator[tuple[str, int, int, int]], n_documents: int, n_pairs: int
) -> Iterator[Document]:
    """Yield documents 1 to D of entries that are sorted by document; those without an entry are empty."""
    current, counts, seen = 1, dict[int, int](), 0
    for where, document, word, count in entries:
        seen += 1
        if seen > n_pairs:
            raise InputError(f"{where}: {n_pairs} counts announced, but more follow; copy the file again")
        if document < current:
            raise InputError(
                f"{where}: document {document} after document {current}; sort the lines by document (matrices by rows)"
            )
        while current < document:
            yield _bag(str(current), counts)
            current, counts = current + 1, {}
        if word in counts:
            raise InputError(f"{where}: document {document} has a count of word {word + 1} already")
        if count > 0:
            counts[word] = count
    if seen < n_pairs:
        raise InputError(f"{path}: {n_pairs} counts announced, but only {seen} follow; copy the file again")
    while current <= n_documents:
        yield _bag(str(current), counts)
        current, counts = current + 1, {}


# arrays


def _whole(values: NDArray[Any], name: str, row: int) -> NDArray[np.int64]:
    """Return counts as integers, or refuse what is no count."""
    with np.errstate(invalid="ignore"):
        bad = ~((values >= 0) & (values <= LARGEST_DOCUMENT) & (values == np.floor(values)))
    if bad.any():
        raise InputError(
            f"{name}: row {row}: a count of {values[bad][0]}; counts must be whole numbers from 0 to"
            f" {LARGEST_DOCUMENT}: give counts, not weights such as tf-idf"
        )
    return values.astype(np.int64)


def _row(name: str, row: int, words: NDArray[Any], values: NDArray[Any], n_words: int) -> Document:
    if len(words) and not 0 <= int(words.min()) <= int(words.max()) < n_words:
        raise InputError(f"{name}: row {row}: a word outside the {n_words} columns; the matrix is damaged")
    counts = _whole(values, name, row)
    some = counts > 0
    return Document(f"row {row}", words[some].astype(np.int64), counts[some])


def _open_matrix(matrix: Any) -> DocumentStream:
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
            yield _row("matrix", d, rows.indices[here], rows.data[here], V)

    def digest() -> str:
        found = hashlib.sha256(f"{D} {V}".encode())
        for array, kind in ((rows.indptr, np.int64), (rows.indices, np.int64), (rows.data, np.float64)):
            found.update(np.ascontiguousarray(array, dtype=kind).data)
        return found.hexdigest()

    return DocumentStream("matrix", read, digest, n_words=V, n_documents=D)


def _open_corpus(corpus: Corpus) -> DocumentStream:
    def read() -> Iterator[Document]:
        for d, name in enumerate(corpus.documents):
            yield _tokens(name, corpus.document(d).astype(np.int64), bool(corpus.provenance["ordered"]))

    def digest() -> str:
        found = hashlib.sha256(np.ascontiguousarray(corpus.offsets, dtype=np.int64).data)
        found.update(np.ascontiguousarray(corpus.tokens, dtype=np.int32).data)
        return found.hexdigest()

    words = corpus.vocabulary
    return DocumentStream(corpus.name, read, digest, words, len(words), n_documents=corpus.n_documents)


def _tokens(name: str, tokens: NDArray[np.int64], ordered: bool) -> Document:
    if ordered:
        return Document(name, tokens, None)
    words, counts = np.unique(tokens, return_counts=True)
    return Document(name, words, counts.astype(np.int64))


def _open_lists(documents: Sequence[Any]) -> DocumentStream:
    for d, document in enumerate(documents):
        if isinstance(document, str | bytes) or not isinstance(document, Sequence):
            raise InputError(f"document {d}: a {type(document).__name__}; give every document as a list of words")
        for word in document:
            if not isinstance(word, str):
                raise InputError(f"document {d}: {word!r:.40} is no word; give every document as a list of words")

    def read() -> Iterator[Document]:
        return (Document(f"row {d}", document, None) for d, document in enumerate(documents))

    def digest() -> str:
        found = hashlib.sha256()
        for document in documents:
            found.update(("\0".join(document) + "\0\0").encode(errors="surrogatepass"))
        return found.hexdigest()

    return DocumentStream("documents", read, digest, texts=True, n_documents=len(documents))


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(f"{path}: not a whole .npz file ({error!s:.200}); copy it again") from error


class _Numbers:
    """One array of an .npz file, of which documents' parts are taken in turn, from chunks that are read ahead."""

    def __init__(self, file: IO[bytes], length: int, dtype: np.dtype[Any]) -> None:
        self.file, self.length, self.dtype = file, length, dtype
        self._left, self._buffer = length, np.zeros(0, dtype)

    def take(self, n: int) -> NDArray[Any]:
        """Return the next n numbers."""
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
        found, self._buffer = whole[:n], whole[n:]
        return found


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
    with _archive(path) as archive:
        try:
            yield from rows(archive)
        except (InputError, GeneratorExit, KeyboardInterrupt):
            raise
        except Exception as error:  # zipfile, zlib and numpy each raise their own kinds
            raise InputError(f"{path}: truncated, or not {what} ({error!s:.200}); copy the file again") from error


def _scalar(archive: zipfile.ZipFile, name: str) -> Any:
    """Return a small array of an archive; no larger one."""
    if archive.getinfo(f"{name}.npy").file_size > LARGEST_MEMBER:
        raise ValueError(f"{name} has {archive.getinfo(f'{name}.npy').file_size} bytes")
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _offsets(archive: zipfile.ZipFile, name: str, end: int) -> NDArray[np.int64]:
    """Return where documents begin, and the last one's end."""
    offsets: NDArray[np.int64] = _scalar(archive, name).astype(np.int64)
    if offsets.ndim != 1 or not 1 <= len(offsets) <= MOST_DOCUMENTS or offsets[0] != 0 or offsets[-1] != end:
        raise ValueError(f"{name} does not divide {end} numbers")
    if np.any(np.diff(offsets) < 0):
        raise ValueError(f"{name} falls")
    return offsets


def _open_rows(path: Path) -> DocumentStream:
    """Open what scipy.sparse.save_npz wrote of a matrix in rows."""
    with _archive(path) as archive:
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
            for d, n in enumerate(np.diff(indptr).tolist()):
                places, found = indices.take(n), data.take(n)
                if len(np.unique(places)) != n:
                    raise InputError(f"{path}: row {d}: a word is there twice; save it after matrix.sum_duplicates()")
                yield _row(str(path), d, places, found, V)

    def read() -> Iterator[Document]:
        return _reading(path, "a sparse matrix", rows)

    return DocumentStream(path.name, read, lambda: _file_digest(path), n_words=V, n_documents=D)


def _open_prepared(path: Path) -> DocumentStream:
    """Open a corpus that `Corpus.save` wrote."""
    import json

    with _archive(path) as archive:
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
            for document, n in zip(names, np.diff(offsets).tolist(), strict=True):
                stream = tokens.take(n).astype(np.int64)
                if n and not 0 <= int(stream.min()) <= int(stream.max()) < len(vocabulary):
                    raise ValueError(f"document {document}: a token outside the vocabulary of {len(vocabulary)}")
                yield _tokens(document, stream, ordered)

    def read() -> Iterator[Document]:
        return _reading(path, "a corpus", rows)

    digest = _file_digest
    return DocumentStream(name, read, lambda: digest(path), vocabulary, len(vocabulary), n_documents=len(names))


# texts


def _open_folder(folder: Path, stem: bool) -> DocumentStream:
    files = text_files(folder)
    if not files:
        raise InputError(f"{folder}: no .txt file in it")
    # neither a word's length nor its script is a reason to leave it out where the model's vocabulary says which words
    # there are; of ASCII texts these are the words of `heldout import`
    rule = replace(text_rule(stemmer="lancaster" if stem else "none", minimum_length=1), token=r"[^\W_]")
    words_of = tokeniser(rule, frozenset())

    def read() -> Iterator[Document]:
        for file in files:
            yield Document(file.name, words_of(as_text(file, read_bytes(file))), None)

    def digest() -> str:
        found = hashlib.sha256(b"stem" if stem else b"")
        for file in files:
            found.update(f"{file.name}\0{_file_digest(file)}\0".encode())
        return found.hexdigest()

    return DocumentStream(folder.resolve().name, read, digest, texts=True, n_documents=len(files))
