"""What the formats of word counts have in common: integers, vocabularies, and documents made of counts."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from heldout.corpora.archives import content_digest
from heldout.corpora.batches import LARGEST_DOCUMENT, Document, DocumentStream
from heldout.corpora.corpus import Corpus, offsets_of, provenance
from heldout.corpora.preprocess import require_documents
from heldout.errors import InputError
from heldout.files import file_digest
from heldout.limits import ALLOWANCE, EXPANSION, check_expansion, require_file

INTEGER = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
# int32 token streams of this length take 2 GB; more, or so many for each count, is a damaged file, not a corpus
MAXIMUM_TOKENS, MOST_PER_COUNT = 500_000_000, 1000
LONGEST_LINE = 2**26  # bytes
MOST_EMPTY = 1000  # documents without a count, beside ten for each count, that a header may announce
RULE = "counts as imported; the tokens of a document are in vocabulary order"

Lines = Iterator[tuple[int, str]]
"""Numbers from 1, and lines."""


def integer(text: str, what: str, where: str, low: int, high: int | None = None) -> int:
    """Return the integer `text` when it lies in [low, high]; `what` and `where` go into the message.

    Raises:
        InputError: when it is no integer or out of range.
    """
    if not INTEGER.fullmatch(text):
        raise InputError(f"{where}: {what} must be an integer, found {text[:40]!r}")
    value = int(text)
    if value < low or (high is not None and value > high):
        span = f"{low} or more" if high is None else f"between {low} and {high}"
        raise InputError(f"{where}: {what} must be {span}, found {value}")
    return value


def read_lines(path: Path, content: bytes) -> list[str]:
    """Return the lines of a UTF-8 text without their ends (LF or CRLF); a last empty line does not count.

    Raises:
        InputError: names the file and line that is not UTF-8.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not UTF-8; convert the file") from error
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def stream_lines(
    path: Path,
    *,
    longest: int = LONGEST_LINE,
    times: int = EXPANSION,
    more: int = ALLOWANCE,
    encode: str = "convert the file",
    again: str = "copy the file again",
) -> Lines:
    """Yield the lines of a UTF-8 text, plain or gzipped (by its first bytes), with their numbers from 1.

    No more than a line is held; ends (LF or CRLF) are taken off, as in `read_lines`. A gzipped file may expand `times`
    times and by `more` bytes (`heldout.limits.check_expansion`). What to do about a file that is not UTF-8, and about a
    damaged one, goes into the messages.

    Raises:
        InputError: names the line that is not UTF-8 or too long, or the file that cannot be read.
    """
    number = expanded = 0
    require_file(path)
    try:
        with path.open("rb") as raw:
            size = path.stat().st_size
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if packed else raw as file:
                while line := file.readline(longest + 1):
                    number += 1
                    expanded += len(line)
                    if packed:
                        check_expansion(size, expanded, str(path), times=times, more=more)
                    if len(line) > longest:
                        raise InputError(f"{path}: line {number}: longer than {longest} bytes; damaged?")
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: line {number}: not UTF-8; {encode}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: truncated or damaged after line {number} ({error!s:.200}); {again}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; an InputError names the file that cannot be read."""
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_vocabulary(path: Path, content: bytes) -> tuple[str, ...]:
    """Read a vocabulary, one word per line.

    Raises:
        InputError: names the line with an empty, unprintable or repeated word; or the file when it is empty.
    """
    vocabulary: dict[str, None] = {}
    for number, line in enumerate(read_lines(path, content), start=1):
        word = line.strip()
        if not word or not word.isprintable():
            raise InputError(f"{path}: line {number}: expected a printable word, found {line[:40]!r}")
        if word in vocabulary:
            raise InputError(f"{path}: line {number}: the word {word} is there a second time")
        vocabulary[word] = None
    if not vocabulary:
        raise InputError(f"{path}: no word in it; it must hold one word per line")
    return tuple(vocabulary)


def from_counts(
    name: str, documents: Iterable[Document], vocabulary: tuple[str, ...], files: Mapping[str, bytes], format_name: str
) -> Corpus:
    """Build a corpus of bags of words; tokens come in vocabulary order.

    Words of the vocabulary that do not occur stay in it. `files` are what was read, the counts first; with the name of
    the format they are the provenance.

    Raises:
        InputError: when a document is empty or has a word beyond the vocabulary, or there are fewer than two documents
            or too many tokens.
    """
    bags = list(documents)
    for document in bags:
        if not len(document.words):
            raise InputError(f"{next(iter(files))}: document {document.name} has no tokens; leave it out")
        if (word := int(np.max(document.words))) >= len(vocabulary):
            raise InputError(
                f"{next(iter(files))}: document {document.name}: word {word} (counted from 0), but the vocabulary has"
                f" {len(vocabulary)} words"
            )
    require_documents(name, len(bags))
    words = np.concatenate([np.asarray(document.words, dtype=np.int64) for document in bags])
    counts = np.concatenate([np.asarray(document.counts, dtype=np.int64) for document in bags])
    rows = np.repeat(np.arange(len(bags)), [len(document.words) for document in bags])
    tokens = counts.sum(dtype=np.float64)  # which does not wrap
    most = min(MAXIMUM_TOKENS, LARGEST_DOCUMENT + MOST_PER_COUNT * len(counts))
    if tokens > most:
        raise InputError(
            f"corpus {name}: {tokens:.0f} tokens in all; the counts are damaged, or exceed {most} together"
        )
    order = np.lexsort((words, rows))
    return Corpus(
        name=name,
        vocabulary=vocabulary,
        tokens=np.repeat(words[order].astype(np.int32), counts[order]),
        offsets=offsets_of(np.bincount(rows, weights=counts).astype(np.int64)),
        documents=tuple(document.name for document in bags),
        provenance=provenance(
            RULE,
            {"format": format_name},
            sources=[{"file": file, "content_sha256": content_digest({file: files[file]})} for file in files],
            ordered=False,
        ),
    )


def read_counts(stream: Callable[[Path], DocumentStream], data: Path, vocab: Path, name: str, form: str) -> Corpus:
    r"""Read a corpus of counts, which `stream` opens, and its words, one per line; see `from_counts`.

    Raises:
        InputError: as the stream and its documents do, and for an empty document or another number of words.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> from heldout.corpora import ldac
        >>> with TemporaryDirectory() as folder:
        ...     data, vocab = Path(folder, "tiny.ldac"), Path(folder, "vocab.txt")
        ...     _ = data.write_text("2 0:2 2:1\n1 1:1\n")
        ...     _ = vocab.write_text("flow\nheat\nwing\n")
        ...     corpus = read_counts(ldac.stream, data, vocab, "tiny", "ldac")
        >>> corpus.counts().toarray()
        array([[2., 0., 1.],
               [0., 1., 0.]])
    """
    packed, words = read_bytes(data), read_bytes(vocab)
    if data.suffix == ".gz" and not packed.startswith(b"\x1f\x8b"):
        raise InputError(f"{data}: not gzipped; copy the file again")
    vocabulary = read_vocabulary(vocab, words)
    documents = stream(data)
    if documents.n_words not in (None, len(vocabulary)):
        raise InputError(f"{data}: {documents.n_words} words announced, but {vocab} has {len(vocabulary)}")
    return from_counts(name, documents.read(), vocabulary, {data.name: packed, vocab.name: words}, form)


def bag(name: str, counts: dict[int, int]) -> Document:
    """Return counts by word as a document."""
    n = len(counts)
    return Document(name, np.fromiter(counts.keys(), np.int64, n), np.fromiter(counts.values(), np.int64, n))


def triples(
    path: Path, header: Callable[[Path, Lines], tuple[int, int, int]], count_of: Callable[[str, str], int]
) -> DocumentStream:
    """Return the stream of a file of lines "document word count", both numbered from 1, sorted by document.

    Documents are named by their numbers; those without a line are empty. `header` takes the numbered lines and returns
    the numbers of documents, words and counts that they announce; `count_of` a count's text, and its file and line.

    Raises:
        InputError: as `header` does, or where it announces far more documents than counts: reading the empty ones would
            take very long. While the documents are read, names the line that is not three integers in range, has a
            document out of order or a word for the second time, or is one too many; or the file with too few.
    """
    D, V, entries = header(path, stream_lines(path))
    if 10 * entries + MOST_EMPTY < D:
        raise InputError(f"{path}: {D} documents announced with {entries} counts in all; a damaged header")

    def read() -> Iterator[Document]:
        lines = stream_lines(path)
        header(path, lines)
        current, counts, seen = 1, dict[int, int](), 0
        for number, line in lines:
            where, columns = f"{path}: line {number}", line.split()
            if len(columns) != 3:
                raise InputError(f"{where}: expected document, word and count, found {line[:40]!r}")
            document = integer(columns[0], "the document", where, 1, D)
            word = integer(columns[1], "the word", where, 1, V) - 1
            count = count_of(columns[2], where)
            seen += 1
            if seen > entries:
                raise InputError(f"{where}: {entries} counts announced, but more follow; copy the file again")
            if document < current:
                raise InputError(
                    f"{where}: document {document} after document {current};"
                    " sort the lines by document (matrices by rows)"
                )
            while current < document:
                yield bag(str(current), counts)
                current, counts = current + 1, {}
            if word in counts:
                raise InputError(f"{where}: document {document} has a count of word {word + 1} already")
            if count > 0:
                counts[word] = count
        if seen < entries:
            raise InputError(f"{path}: {entries} counts announced, but only {seen} follow; copy the file again")
        while current <= D:
            yield bag(str(current), counts)
            current, counts = current + 1, {}

    return DocumentStream(path.name, read, partial(file_digest, path), n_words=V, n_documents=D)
