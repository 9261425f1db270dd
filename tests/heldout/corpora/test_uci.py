import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora import uci
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import MAXIMUM_TOKENS, read_counts
from heldout.errors import InputError

GOOD = "2\n3\n4\n1 1 2\n1 3 1\n2 2 1\n2 1 1\n"
VOCABULARY = "wing\nflow\nheat\n"


def read(docword: Path, vocab: Path, name: str) -> Corpus:
    return read_counts(uci.stream, docword, vocab, name, "uci")


def write(folder: Path, docword: str | bytes, vocab: str | bytes = VOCABULARY) -> tuple[Path, Path]:
    paths = folder / "docword.txt", folder / "vocab.txt"
    for path, text in zip(paths, (docword, vocab), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_reads_counts_in_vocabulary_order(tmp_path: Path, packed: bool, line_end: str) -> None:
    docword, vocab = write(tmp_path, GOOD.replace("\n", line_end), VOCABULARY.replace("\n", line_end))
    if packed:
        docword.with_suffix(".txt.gz").write_bytes(gzip.compress(docword.read_bytes()))
        docword = docword.with_suffix(".txt.gz")
    corpus = read(docword, vocab, "own")
    assert corpus.vocabulary == ("wing", "flow", "heat")
    assert corpus.tokens.tolist() == [0, 0, 2, 0, 1]
    assert corpus.offsets.tolist() == [0, 3, 5]
    assert corpus.documents == ("1", "2")
    assert corpus.provenance["ordered"] is False
    assert corpus.provenance["synthetic"] is False
    assert [source["file"] for source in corpus.provenance["sources"]] == [docword.name, "vocab.txt"]


@pytest.mark.parametrize(
    ("docword", "message"),
    [
        ("", "line 1: missing"),
        ("2\n3\n", "line 3: missing"),
        ("two\n3\n4\n", "line 1: the number of documents must be an integer, found 'two'"),
        ("2\n3\n-1\n", "line 3: the number of counts must be 1 or more, found -1"),
        ("2\n4\n1\n1 1 1\n", "4 words announced, but .*vocab.txt has 3"),
        (GOOD[:-6], "4 counts announced, but only 3 follow"),
        (GOOD + "2 3 1\n", "line 8: 4 counts announced, but more follow"),
        (GOOD[:-3], "line 7: expected document, word and count, found '2 1'"),
        (GOOD.replace("2 2 1", "3 2 1"), "line 6: the document must be between 1 and 2, found 3"),
        (GOOD.replace("2 2 1", "2 4 1"), "line 6: the word must be between 1 and 3, found 4"),
        (GOOD.replace("2 2 1", "2 0 1"), "line 6: the word must be between 1 and 3, found 0"),
        (GOOD.replace("2 2 1", "2 2 1.5"), "line 6: the count must be an integer, found '1.5'"),
        (GOOD.replace("2 2 1", "2 2 -1"), "line 6: the count must be 1 or more, found -1"),
        (GOOD.replace("2 2 1", "2 2 0"), "line 6: the count must be 1 or more, found 0"),
        (GOOD.replace("2 2 1", "2 1 1"), "line 7: document 2 has a count of word 1 already"),
        ("3\n3\n2\n1 1 1\n3 1 1\n", "document 2 has no tokens"),
        ("1\n3\n1\n1 1 1\n", r"corpus own: 1 document\(s\)"),
        (f"2\n3\n2\n1 1 1\n2 1 {MAXIMUM_TOKENS}\n", "tokens in all; the counts are damaged"),
        (f"2\n3\n2\n1 1 1\n2 1 {10**30}\n", "line 5: the count must be an integer"),
        (b"2\n3\n2\n1 1 1\n2 1 \xff\n", "line 5: not UTF-8"),
    ],
)
def test_malformed_counts(tmp_path: Path, docword: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(*write(tmp_path, docword), "own")
    assert "\n" not in str(caught.value)
    assert "docword.txt" in str(caught.value) or "corpus own" in str(caught.value)


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ("", "vocab.txt: no word in it"),
        ("wing\n\nheat\n", "vocab.txt: line 2: expected a printable word, found ''"),
        ("wing\nwing\nheat\n", "vocab.txt: line 2: the word wing is there a second time"),
        ("wing\nfl\0w\nheat\n", "vocab.txt: line 2: expected a printable word"),
        (b"wing\n\xe9\nheat\n", "vocab.txt: line 2: not UTF-8"),
    ],
)
def test_malformed_vocabulary(tmp_path: Path, vocab: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(*write(tmp_path, GOOD, vocab), "own")


def test_missing_and_truncated_files(tmp_path: Path) -> None:
    docword, vocab = write(tmp_path, GOOD)
    with pytest.raises(InputError, match="nothing: cannot be read"):
        read(tmp_path / "nothing", vocab, "own")
    packed = tmp_path / "docword.txt.gz"
    for content in (gzip.compress(docword.read_bytes())[:-9], docword.read_bytes(), b""):
        packed.write_bytes(content)
        with pytest.raises(InputError, match=r"docword\.txt\.gz: "):
            read(packed, vocab, "own")


fields = st.sampled_from(["1", "2", "3", "0", "-1", "99999999999", "1e3", "x", "\u0661", "", " "])
garbage = st.binary(max_size=60) | st.lists(
    st.lists(fields, max_size=4).map(" ".join) | st.sampled_from(["1 1 1", "2 1 1"]), max_size=7
).map(lambda lines: "\n".join(lines).encode())


@given(garbage, garbage)
def test_garbage_raises_nothing_but_input_errors(docword: bytes, vocab: bytes) -> None:
    for words in (vocab, VOCABULARY.encode()):
        with tempfile.TemporaryDirectory() as folder:
            try:
                corpus = read(*write(Path(folder), docword, words), "own")
            except InputError:
                continue
            assert corpus.lengths.min() > 0
