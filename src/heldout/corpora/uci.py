"""The UCI bag-of-words format: docword.txt, plain or gzipped, and vocab.txt.

docword.txt starts with three lines D, W and NNZ, then has NNZ lines "document word count", both numbered from 1;
vocab.txt has the W words, one per line.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from heldout.corpora.batches import Document, DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import (
    by_document,
    check_size,
    entry,
    from_counts,
    integer,
    read_bytes,
    read_vocabulary,
    stream_lines,
)
from heldout.errors import InputError
from heldout.files import file_digest


def header(docword: Path, lines: Iterator[tuple[int, str]]) -> tuple[int, int, int]:
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


def counts(
    docword: Path, lines: Iterable[tuple[int, str]], n_documents: int, n_words: int
) -> Iterator[tuple[str, int, int, int]]:
    """Yield (where, document from 1, word from 0, count) of the numbered lines that follow the header.

    Raises:
        InputError: names the line that is not three integers in range.
    """
    for number, line in lines:
        where = f"{docword}: line {number}"
        document, word, count = entry(line, where, n_documents, n_words)
        yield where, document, word, integer(count, "the count", where, 1)


def read(docword: Path, vocab: Path, name: str) -> Corpus:
    r"""Read a corpus of counts; documents are named by their numbers, tokens come in vocabulary order.

    Args:
        docword: the counts; gzipped when its name ends in .gz.
        vocab: the words.
        name: the corpus's name.

    Raises:
        InputError: names file and line: not an integer, an index out of range, a count below 1, a pair that is
            there twice; or the file: truncated, a number of lines that is not the header's, an empty document.

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
    numbered = stream_lines(docword)
    n_documents, n_words, n_pairs = header(docword, numbered)
    if n_words != len(vocabulary):
        raise InputError(f"{docword}: line 2: {n_words} words announced, but {vocab} has {len(vocabulary)}")
    documents: dict[int, dict[int, int]] = {}
    follow = 0
    for where, document, word, count in counts(docword, numbered, n_documents, n_words):
        follow += 1
        if follow > n_pairs:
            raise InputError(f"{docword}: line 3: {n_pairs} counts announced, but more lines follow")
        words_of = documents.setdefault(document, {})
        if word in words_of:
            raise InputError(f"{where}: document {document} has a count of word {word + 1} already")
        words_of[word] = count
    if follow < n_pairs:
        raise InputError(f"{docword}: line 3: {n_pairs} counts announced, but {follow} lines follow")
    if len(documents) < n_documents:
        empty = next(document for document in range(1, n_documents + 1) if document not in documents)
        raise InputError(f"{docword}: document {empty} has no tokens; leave it out and number the others anew")
    named = {str(document): documents[document] for document in sorted(documents)}
    return from_counts(name, named, vocabulary, {docword.name: packed, vocab.name: words}, "uci")


def stream(path: Path) -> DocumentStream:
    """Return the stream of docword.txt, sorted by document; documents are named by their numbers, empty ones included.

    Raises:
        InputError: as `header` does, and while the documents are read as `counts` does.
    """
    n_documents, n_words, n_pairs = header(path, stream_lines(path))
    check_size(f"{path}: line 1", n_documents, n_pairs)

    def read() -> Iterator[Document]:
        lines = stream_lines(path)
        header(path, lines)
        return by_document(path, counts(path, lines, n_documents, n_words), n_documents, n_pairs)

    return DocumentStream(path.name, read, partial(file_digest, path), n_words=n_words, n_documents=n_documents)
