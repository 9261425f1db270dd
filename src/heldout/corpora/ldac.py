"""The LDA-C format: one line per document, "M word:count word:count ...", words numbered from 0."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from heldout.corpora.batches import Document, DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import bag, from_counts, integer, read_bytes, read_lines, read_vocabulary, stream_lines
from heldout.errors import InputError
from heldout.files import file_digest


def document(where: str, line: str, n_words: int | None) -> dict[int, int]:
    """Return a line's counts by word, none for an empty document.

    Args:
        where: file and line, for messages.
        line: "M word:count word:count ...".
        n_words: V; None where it is not known.

    Raises:
        InputError: not an integer, an index out of range, a count below 1, a word that is there twice, a number of
            words that is not M.
    """
    columns = line.split()
    if not columns or columns == ["0"]:
        return {}
    distinct = integer(columns[0], "the number of words", where, 1)
    if distinct != len(columns) - 1:
        raise InputError(f"{where}: {distinct} words announced, but {len(columns) - 1} follow")
    counts: dict[int, int] = {}
    for column in columns[1:]:
        word_text, _, count_text = column.partition(":")
        word = integer(word_text, "the word", where, 0, None if n_words is None else n_words - 1)
        if word in counts:
            raise InputError(f"{where}: word {word} is there a second time")
        counts[word] = integer(count_text, "the count", where, 1)
    return counts


def documents(path: Path, lines: Iterable[tuple[int, str]], n_words: int | None = None) -> Iterator[Document]:
    """Yield the documents of numbered lines, named by their numbers; arguments and errors are those of `document`."""
    for number, line in lines:
        yield bag(str(number), document(f"{path}: line {number}", line, n_words))


def stream(path: Path) -> DocumentStream:
    """Return the stream of a file's lines; how many words there are is not known.

    Raises:
        InputError: while the documents are read, as `document` does.
    """
    return DocumentStream(path.name, lambda: documents(path, stream_lines(path)), partial(file_digest, path))


def read(data: Path, vocab: Path, name: str) -> Corpus:
    r"""Read a corpus of counts; documents are named by their line numbers, tokens come in vocabulary order.

    Args:
        data: the counts; M is the number of distinct words that follow on the line.
        vocab: the words, one per line.
        name: the corpus's name.

    Raises:
        InputError: as `document` does, or for an empty document.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     data, vocab = Path(folder, "tiny.ldac"), Path(folder, "vocab.txt")
        ...     _ = data.write_text("2 0:2 2:1\n1 1:1\n")
        ...     _ = vocab.write_text("flow\nheat\nwing\n")
        ...     corpus = read(data, vocab, "tiny")
        >>> corpus.counts().toarray()
        array([[2., 0., 1.],
               [0., 1., 0.]])
    """
    return from_contents(name, data, read_bytes(data), vocab, read_bytes(vocab))


def read_archive(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the corpus of an archive's two members, NAME.dat and vocab.txt; errors are those of `read`."""
    (data, content), (vocab, words) = sorted(members.items(), key=lambda member: not member[0].endswith(".dat"))
    return from_contents(name, Path(data), content, Path(vocab), words)


def from_contents(name: str, data: Path, content: bytes, vocab: Path, words: bytes) -> Corpus:
    """Return the corpus of the contents of two files; errors are those of `read`."""
    vocabulary = read_vocabulary(vocab, words)
    bags = documents(data, enumerate(read_lines(data, content), start=1), len(vocabulary))
    return from_counts(name, bags, vocabulary, {data.name: content, vocab.name: words}, "ldac")
