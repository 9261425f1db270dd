"""The UCI bag-of-words format: docword.txt, plain or gzipped, and vocab.txt.

docword.txt starts with three lines D, W and NNZ, then has NNZ lines "document word count", both numbered from 1;
vocab.txt has the W words, one per line.
"""

from pathlib import Path

from heldout.corpora.batches import DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import Lines, from_counts, integer, read_bytes, read_vocabulary, triples
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


def read(docword: Path, vocab: Path, name: str) -> Corpus:
    r"""Read a corpus of counts; documents are named by their numbers, tokens come in vocabulary order.

    Args:
        docword: the counts; gzipped when its name ends in .gz.
        vocab: the words.
        name: the corpus's name.

    Raises:
        InputError: as `stream` and its documents do, and for an empty document or another number of words.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     docword, vocab = Path(folder, "docword.txt"), Path(folder, "vocab.txt")
        ...     _ = docword.write_text("2\n3\n3\n1 1 2\n1 3 1\n2 2 1\n")
        ...     _ = vocab.write_text("flow\nheat\nwing\n")
        ...     corpus = read(docword, vocab, "tiny")
        >>> corpus.counts().toarray()
        array([[2., 0., 1.],
               [0., 1., 0.]])
    """
    packed, words = read_bytes(docword), read_bytes(vocab)
    if docword.suffix == ".gz" and not packed.startswith(b"\x1f\x8b"):
        raise InputError(f"{docword}: not gzipped; copy the file again")
    vocabulary = read_vocabulary(vocab, words)
    documents = stream(docword)
    if documents.n_words != len(vocabulary):
        raise InputError(f"{docword}: line 2: {documents.n_words} words announced, but {vocab} has {len(vocabulary)}")
    return from_counts(name, documents.read(), vocabulary, {docword.name: packed, vocab.name: words}, "uci")
