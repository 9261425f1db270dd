"""The LDA-C format: one line per document, "M word:count word:count ...", words numbered from 0."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from heldout.corpora.batches import Document, DocumentStream
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import bag, from_counts, integer, read_lines, read_vocabulary, stream_lines
from heldout.errors import InputError
from heldout.files import file_digest


def document(where: str, line: str) -> dict[int, int]:
    """Return the counts by word of a line "M word:count word:count ...", none for an empty document.

    Raises:
        InputError: not an integer, a count below 1, a word that is there twice, a number of words that is not M.
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
        word = integer(word_text, "the word", where, 0)
        if word in counts:
            raise InputError(f"{where}: word {word} is there a second time")
        counts[word] = integer(count_text, "the count", where, 1)
    return counts


def documents(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[Document]:
    """Yield the documents of numbered lines, named by their numbers; arguments and errors are those of `document`."""
    for number, line in lines:
        yield bag(str(number), document(f"{path}: line {number}", line))


def stream(path: Path) -> DocumentStream:
    """Return the stream of a file's lines; how many words there are is not known.

    Raises:
        InputError: while the documents are read, as `document` does.
    """
    return DocumentStream(path.name, lambda: documents(path, stream_lines(path)), partial(file_digest, path))


def read_archive(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the corpus of an archive's two members, NAME.dat and vocab.txt; errors are those of `read_counts`."""
    (data, content), (vocab, words) = sorted(members.items(), key=lambda member: not member[0].endswith(".dat"))
    bags = documents(Path(data), enumerate(read_lines(Path(data), content), start=1))
    files = {Path(data).name: content, Path(vocab).name: words}
    return from_counts(name, bags, read_vocabulary(Path(vocab), words), files, "ldac")
