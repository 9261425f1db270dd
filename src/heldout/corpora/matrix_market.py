"""The Matrix Market format as gensim writes it: documents by words, counts in coordinates that are numbered from 1."""

import math
from pathlib import Path

from heldout.corpora.batches import LARGEST_DOCUMENT, DocumentStream
from heldout.corpora.counts import Lines, integer, triples
from heldout.errors import InputError

MOST_COMMENTS = 10_000  # lines


def header(path: Path, lines: Lines) -> tuple[int, int, int]:
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


def count_of(text: str, where: str) -> int:
    """Return a count, which may be written as a real number; an InputError names the line with another."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value >= 0.0 and value.is_integer() and value <= LARGEST_DOCUMENT):
        raise InputError(
            f"{where}: the count must be a whole number from 0 to {LARGEST_DOCUMENT}, found {text[:40]!r};"
            " give counts, not weights such as tf-idf"
        )
    return int(value)


def stream(path: Path) -> DocumentStream:
    """Return the stream of a matrix of counts in rows; see `heldout.corpora.counts.triples`."""
    return triples(path, header, count_of)
