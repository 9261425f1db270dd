"""The Matrix Market format as gensim writes it: documents by words, counts in coordinates that are numbered from 1."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from heldout.corpora.batches import LARGEST_DOCUMENT, Document, DocumentStream
from heldout.corpora.counts import by_document, check_size, entry, integer, stream_lines
from heldout.errors import InputError
from heldout.files import file_digest

MOST_COMMENTS = 10_000  # lines


def header(path: Path, lines: Iterator[tuple[int, str]]) -> tuple[int, int, int]:
    """Return the numbers of documents, words and entries that the first of the numbered lines announce.

    Raises:
        InputError: when they are no header of a general coordinate matrix of integers or reals, or are cut off.
    """
    _, first = next(lines, (0, ""))
    kind = first.lower().split()
    if kind[:3] != ["%%matrixmarket", "matrix", "coordinate"] or kind[3:4] not in (["integer"], ["real"]):
        raise InputError(
            f"{path}: line 1: expected a Matrix Market header, coordinate, integer or real, found {first[:60]!r}"
        )
    if kind[4:] != ["general"]:
        raise InputError(f"{path}: line 1: the matrix must be general, found {' '.join(kind[4:])[:40]!r}")
    for number, line in lines:
        if number > MOST_COMMENTS:
            raise InputError(f"{path}: {MOST_COMMENTS} lines of comments and no matrix; damaged?")
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


def counts(
    path: Path, lines: Iterator[tuple[int, str]], n_documents: int, n_words: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield (where, document from 1, word from 0, count) of the numbered lines that follow the header.

    Raises:
        InputError: names the line that is not an entry in range, or whose count is no whole number.
    """
    for number, line in lines:
        where = f"{path}: line {number}"
        document, word, count = entry(line, where, n_documents, n_words)
        try:
            value = float(count)
        except ValueError:
            value = np.nan
        if not (value >= 0.0 and value.is_integer() and value <= LARGEST_DOCUMENT):
            raise InputError(
                f"{where}: the count must be a whole number from 0 to {LARGEST_DOCUMENT}, found {count[:40]!r};"
                " give counts, not weights such as tf-idf"
            )
        yield where, document, word, int(value)


def stream(path: Path) -> DocumentStream:
    """Return the stream of a matrix of counts in rows; documents are named by their rows from 1, empty ones included.

    Raises:
        InputError: as `header` does, and while the documents are read as `counts` does.
    """
    n_documents, n_words, n_pairs = header(path, stream_lines(path))
    check_size(str(path), n_documents, n_pairs)

    def read() -> Iterator[Document]:
        lines = stream_lines(path)
        header(path, lines)
        return by_document(path, counts(path, lines, n_documents, n_words), n_documents, n_pairs)

    return DocumentStream(path.name, read, partial(file_digest, path), n_words=n_words, n_documents=n_documents)
