from pathlib import Path

import pytest

from heldout.corpora import ldac
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_counts
from heldout.errors import InputError

VOCABULARY = "wing\nflow\nheat\n"


def read(data: Path, vocab: Path, name: str) -> Corpus:
    return read_counts(ldac.stream, data, vocab, name, "ldac")


def write(folder: Path, data: str | bytes, vocab: str | bytes = VOCABULARY) -> tuple[Path, Path]:
    paths = folder / "own.dat", folder / "vocab.txt"
    for path, text in zip(paths, (data, vocab), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def test_reads_counts_in_vocabulary_order(tmp_path: Path) -> None:
    corpus = read(*write(tmp_path, "2 2:1 0:2\r\n1 1:1"), "own")
    assert corpus.vocabulary == ("wing", "flow", "heat")
    assert corpus.tokens.tolist() == [0, 0, 2, 1]
    assert corpus.offsets.tolist() == [0, 3, 4]
    assert corpus.documents == ("1", "2")
    assert corpus.provenance["ordered"] is False


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", r"corpus own: 0 document\(s\)"),
        ("1 0:1\n", r"corpus own: 1 document\(s\)"),
        ("1 0:1\n\n1 0:1\n", "own.dat: document 2 has no tokens"),
        ("1 0:1\n0\n", "own.dat: document 2 has no tokens"),
        ("1 0:1\n2 0:1\n", "own.dat: line 2: 2 words announced, but 1 follow"),
        ("x 0:1\n", "own.dat: line 1: the number of words must be an integer, found 'x'"),
        ("1 0\n", "own.dat: line 1: the count must be an integer, found ''"),
        ("1 :1\n", "own.dat: line 1: the word must be an integer, found ''"),
        ("1 3:1\n", "own.dat: document 1: word 3 .*, but the vocabulary has 3"),
        ("1 -1:1\n", "own.dat: line 1: the word must be 0 or more, found -1"),
        ("1 0:-2\n", "own.dat: line 1: the count must be 1 or more, found -2"),
        ("2 0:1 0:1\n", "own.dat: line 1: word 0 is there a second time"),
        ("1 0:1\n1 0:999999999\n", "corpus own: 1000000000 tokens in all"),
        (b"1 0:1\n1 \xff:1\n", "own.dat: line 2: not UTF-8"),
    ],
)
def test_malformed(tmp_path: Path, data: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(*write(tmp_path, data), "own")
