"""The UCI bag-of-words format: docword.txt, plain or gzipped, and vocab.txt.

docword.txt starts with three lines D, W and NNZ, then has NNZ lines "document word count", both numbered from 1;
vocab.txt has the W words, one per line.
"""

from pathlib import Path

from heldout.corpora.batches import DocumentStream
from heldout.corpora.counts import Lines, integer, triples
from heldout.errors import InputError


def header(docword: Path, lines: Lines) -> tuple[int, int, int]:
    """Return the numbers of documents, words and counts that the first three of the numbered lines announce.

    Raises:
        InputError: when one is missing or no integer of 1 or more.
    """
    numbers = []
    for expected, what in enumerate(("the number of documents", "the number of words", "the number of counts"), 1):
        number, line = next(lines, (0, ""))
        if not number:
            raise InputError(f"{docword}: line {expected}: missing; the file starts with three lines D, W and NNZ")
        numbers.append(integer(line.strip(), what, f"{docword}: line {number}", 1))
    documents, words, pairs = numbers
    return documents, words, pairs


def count_of(text: str, where: str) -> int:
    """Return a count; an InputError names the line where it is no integer of 1 or more."""
    return integer(text, "the count", where, 1)


def stream(path: Path) -> DocumentStream:
    """Return the stream of docword.txt; see `heldout.corpora.counts.triples`."""
    return triples(path, header, count_of)
