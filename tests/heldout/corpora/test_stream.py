import gzip
import math
import os
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora import ldac, uci
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_counts
from heldout.corpora.stream import FORMS, Batch, Document, DocumentStream, guess_form, open_documents
from heldout.errors import InputError

WORDS = ("wing", "flow", "heat", "drag", "lift")
Counts = list[dict[int, int]]


def matrix_of(documents: Counts) -> sp.csr_array:
    dense = np.array([[words.get(w, 0) for w in range(len(WORDS))] for words in documents], dtype=np.int64)
    return sp.csr_array(dense.reshape(len(documents), len(WORDS)))


def corpus_of(documents: Counts) -> Corpus:
    streams = [np.repeat(list(d), list(d.values())).astype(np.int32) for d in documents]
    empty = Corpus("own", WORDS, np.zeros(0, np.int32), np.zeros(1, np.int64), (), {"ordered": False})
    return empty.with_streams(streams, tuple(f"d{i}" for i in range(len(documents))))


def write_mm(path: Path, documents: Counts) -> Path:
    entries = [f"{d} {w + 1} {n}" for d, words in enumerate(documents, 1) for w, n in words.items()]
    text = f"%%MatrixMarket matrix coordinate real general\n% by hand\n{len(documents)} 5 {len(entries)}    \n"
    content = (text + "".join(f"{entry}\n" for entry in entries)).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_uci(path: Path, documents: Counts) -> Path:
    entries = [f"{d} {w + 1} {n}\n" for d, words in enumerate(documents, 1) for w, n in words.items()]
    path.write_text(f"{len(documents)}\n5\n{len(entries)}\n" + "".join(entries))
    return path


def write_ldac(path: Path, documents: Counts) -> Path:
    path.write_text("".join(" ".join([str(len(d)), *(f"{w}:{n}" for w, n in d.items())]) + "\n" for d in documents))
    return path


def write_npz(path: Path, documents: Counts) -> Path:
    sp.save_npz(path, sp.csr_matrix(matrix_of(documents)))
    return path


def write_corpus(path: Path, documents: Counts) -> Path:
    corpus_of(documents).save(path)
    return path


WRITERS: dict[str, Callable[[Path, Counts], Path]] = {
    "docs.mm": write_mm,
    "docs.mm.gz": write_mm,
    "docword.txt": write_uci,
    "docs.dat": write_ldac,
    "matrix.npz": write_npz,
    "corpus.npz": write_corpus,
}


def tokens_of(stream: DocumentStream) -> list[list[int]]:
    return [batch.document(d).tolist() for batch in stream for d in range(batch.n_documents)]


documents_strategy = st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=7).filter(any)


@given(documents_strategy, st.integers(1, 8), st.integers(0, 3))
def test_every_form_gives_the_same_tokens_in_the_same_order(documents: Counts, batch: int, seed: int) -> None:
    expected = tokens_of(open_documents(matrix_of(documents), vocabulary=WORDS, seed=seed))
    assert [Counter(tokens) for tokens in expected] == [Counter(words) for words in documents]
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            path = write(Path(folder) / name, documents)
            stream = open_documents(path, form="uci" if "docword" in name else None, batch=batch, seed=seed)
            stream = stream.over(WORDS)
            for _ in range(2):  # a stream can be read again
                assert tokens_of(stream) == expected, name
            batches = list(stream)
            assert [b.n_documents for b in batches[:-1]] == [batch] * (len(batches) - 1)
            assert [b.first for b in batches] == list(range(0, len(documents), batch))
            assert stream.n_documents in (None, len(documents))
            assert all(b.vocabulary == WORDS and not b.left_out.any() for b in batches)
    assert tokens_of(open_documents(corpus_of(documents), seed=seed)) == expected


def test_the_order_of_a_bag_is_random() -> None:
    # first tokens of 2000 bags {a: 1, b: 3}: a is first in a quarter; |deviation| > 4.42 sd has probability 1e-5
    bags = sp.csr_array(np.tile([1, 3], (2000, 1)))
    first = np.array([tokens[0] for tokens in tokens_of(open_documents(bags))])
    assert abs((first == 0).mean() - 0.25) < 4.42 * math.sqrt(0.25 * 0.75 / 2000)


def test_texts_and_ordered_corpora_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Heat, DRAG and heat; a wing")
    (tmp_path / "a.txt").write_text("of no known word")
    (tmp_path / "c.txt").write_text("")
    stream = open_documents(tmp_path, vocabulary=WORDS)
    (batch,) = stream
    assert batch.documents == ("a.txt", "b.txt", "c.txt")
    assert tokens_of(stream) == [[], [2, 3, 2, 0], []]
    assert batch.left_out.tolist() == [4, 2, 0]
    lists = open_documents([["heat", "drag", "of"], []], vocabulary=WORDS)
    assert tokens_of(lists) == [[2, 3], []]
    assert [b.left_out.tolist() for b in lists] == [[1, 0]]
    corpus = Corpus.from_documents("own", [("one", ["heat", "drag", "heat"]), ("two", ["zeal"])])
    assert tokens_of(open_documents(corpus, vocabulary=WORDS)) == [[2, 3, 2], []]


def test_texts_of_any_script_are_matched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("L'Été à Zürich: naïve, 日本語; the_flow", encoding="utf-8")
    words = ("l", "été", "à", "zürich", "naïve", "日本語", "the", "flow")
    (batch,) = open_documents(tmp_path, vocabulary=words)
    assert batch.document(0).tolist() == list(range(len(words)))
    assert batch.left_out.tolist() == [0]


def test_texts_are_stemmed_where_asked(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("heated wings flowing")
    assert tokens_of(open_documents(tmp_path, vocabulary=WORDS)) == [[]]
    assert tokens_of(open_documents(tmp_path, vocabulary=WORDS, stem=True)) == [[2, 0, 1]]


@given(documents_strategy, st.permutations(["wing", "heat", "other", "lift"]))
def test_words_are_matched_by_name(documents: Counts, model: list[str]) -> None:
    stream = open_documents(corpus_of(documents), vocabulary=tuple(model), batch=3)
    bags = [(Counter(tokens), left) for tokens, left in zip(tokens_of(stream), left_out(stream), strict=True)]
    slow = []
    for words in documents:
        kept = Counter({model.index(WORDS[w]): n for w, n in words.items() if WORDS[w] in model})
        slow.append((kept, sum(words.values()) - kept.total()))
    assert bags == slow


def left_out(stream: DocumentStream) -> list[int]:
    return [n for batch in stream for n in batch.left_out.tolist()]


def test_documents_vocabulary_names_places(tmp_path: Path) -> None:
    data, vocab = write_ldac(tmp_path / "docs.dat", [{0: 2, 4: 1}]), tmp_path / "vocab.txt"
    vocab.write_text("\n".join(WORDS) + "\n")
    stream = open_documents(data, documents_vocabulary=vocab, vocabulary=("lift", "wing"))
    assert Counter(tokens_of(stream)[0]) == {1: 2, 0: 1}
    placed = open_documents(data, documents_vocabulary=vocab).placed(5)
    assert placed.vocabulary == WORDS


def test_reads_what_gensim_writes(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.corpora import MmCorpus

        path = tmp_path / "gensim.mm"
        MmCorpus.serialize(str(path), [[(0, 2), (3, 1)], [], [(1, 1)]])
    # a document without words at the end and words after the last that occurs are not in what gensim writes
    assert [Counter(tokens) for tokens in tokens_of(open_documents(path))] == [{0: 2, 3: 1}, {}, {1: 1}]


def test_the_readers_of_whole_corpora_agree(tmp_path: Path) -> None:
    documents: Counts = [{0: 2, 3: 1}, {4: 3}]
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("\n".join(WORDS) + "\n")
    docword = write_uci(tmp_path / "docword.txt", documents)
    corpus = read_counts(uci.stream, docword, vocab, "own", "uci")
    (batch,) = open_documents(docword, documents_vocabulary=vocab)
    np.testing.assert_array_equal(batch.counts().toarray(), corpus.counts().toarray())


def test_no_more_than_a_batch_is_read_ahead() -> None:
    read = 0

    def documents() -> Iterator[Document]:
        nonlocal read
        for d in range(1000):
            read += 1
            yield Document(str(d), np.array([0]), np.array([2]))

    stream = DocumentStream("made", documents, lambda: "", n_words=1, batch=10)
    for n, batch in enumerate(stream, 1):
        assert isinstance(batch, Batch)
        assert batch.n_documents == 10
        assert read == 10 * n


def test_digests_follow_the_content(tmp_path: Path) -> None:
    documents: Counts = [{0: 2}, {1: 1}]
    for name, write in WRITERS.items():
        path = write(tmp_path / name, documents)
        before = open_documents(path).digest
        assert open_documents(path).digest == before
        write(path, [{0: 2}, {1: 2}])
        assert open_documents(path).digest != before
    one, two = (open_documents([["a", "b"], ["c"]]).digest, open_documents([["a"], ["b", "c"]]).digest)
    assert one != two
    assert open_documents(matrix_of(documents)).digest != open_documents(matrix_of([{0: 2}, {2: 1}])).digest


MM = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [
        ("mm", "", "line 1: expected a Matrix Market header"),
        ("mm", MM, "truncated: no line with the numbers"),
        ("mm", MM.replace("general", "symmetric") + "1 1 1\n1 1 1\n", "must be general"),
        ("mm", MM.replace("coordinate", "array") + "1 1\n1\n", "line 1: expected a Matrix Market header, coordinate"),
        ("mm", MM + "2 3\n", "line 2: expected the numbers of documents, words and entries"),
        ("mm", MM + "2 3 1\n0 1 1\n", "line 3: the document must be between 1 and 2, found 0"),
        ("mm", MM + "2 3 1\n1 4 1\n", "line 3: the word must be between 1 and 3, found 4"),
        ("mm", MM + "2 3 1\n1 3 0.5\n", "line 3: the count must be a whole number .*found '0.5'; .*tf-idf"),
        ("mm", MM + "2 3 1\n1 3 nan\n", "line 3: the count must be a whole number"),
        ("mm", MM + "2 3 1\n1 3 -1\n", "line 3: the count must be a whole number"),
        ("mm", MM + "2 3 1\n1 3 1e300\n", "line 3: the count must be a whole number"),
        ("mm", MM + "2 3 1\n1 3\n", "line 3: expected document, word and count"),
        ("mm", MM + "2 3 2\n2 1 1\n1 1 1\n", "line 4: document 1 after document 2; sort the lines by document"),
        ("mm", MM + "2 3 2\n1 1 1\n1 1 1\n", "line 4: document 1 has a count of word 1 already"),
        ("mm", MM + "2 3 2\n1 1 1\n", "2 counts announced, but only 1 follow"),
        ("mm", MM + "2 3 1\n1 1 1\n2 1 1\n", "line 4: 1 counts announced, but more follow"),
        ("mm", MM + "999999999999 3 1\n1 1 1\n", "999999999999 documents announced with 1 counts"),
        ("uci", "999999999999\n3\n1\n1 1 1\n", "documents announced with 1 counts in all; a damaged header"),
        ("uci", "2\n3\n2\n2 1 1\n1 1 1\n", "line 5: document 1 after document 2"),
        ("uci", "2\n3\n1\n1 1 20000000\n", "document 1: 20000000 tokens, more than"),
        ("ldac", "1 7:1\n", r"document 1: word 7 \(counted from 0\), but there are 3; .*--documents-vocabulary"),
    ],
)
def test_malformed_counts(tmp_path: Path, form: str, content: str, message: str) -> None:
    path = tmp_path / "docs.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        list(open_documents(path, form=form, vocabulary=("a", "b", "c")))
    assert "\n" not in str(caught.value)
    assert "docs.txt" in str(caught.value)


def test_gzipped_texts_that_are_cut_off(tmp_path: Path) -> None:
    packed = write_mm(tmp_path / "docs.mm.gz", [dict.fromkeys(range(5), 1)] * 300)
    content = packed.read_bytes()
    for cut in (content[: len(content) // 2], content[:-6], content[:40]):
        packed.write_bytes(cut)
        with pytest.raises(InputError, match=r"docs\.mm\.gz: truncated"):
            list(open_documents(packed, form="mm", vocabulary=WORDS))


@pytest.mark.parametrize("name", ["matrix.npz", "corpus.npz"])
def test_truncated_archives(tmp_path: Path, name: str) -> None:
    path = WRITERS[name](tmp_path / name, [{0: 2, 1: 1}, {3: 1}])
    content = path.read_bytes()
    for cut in range(0, len(content), 37):
        path.write_bytes(content[:cut])
        with pytest.raises(InputError, match=name) as caught:
            list(open_documents(path, vocabulary=WORDS))
        assert "\n" not in str(caught.value)


def repacked(path: Path, **changes: Any) -> Path:
    with np.load(path, allow_pickle=False) as file:
        arrays = {**{name: file[name] for name in file.files}, **changes}
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indptr": np.array([0, 5, 3])}, "indptr falls|indptr does not divide"),
        ({"indptr": np.array([0, 3])}, "its parts do not fit its shape"),
        ({"indices": np.array([0, 1, 9])}, "row 1: a word outside the 5 columns"),
        ({"indices": np.array([0, 0, 3])}, "row 0: a word is there twice"),
        ({"data": np.array([0.5, 1.0, 1.0])}, "row 0: a count of 0.5; counts must be whole numbers"),
        ({"data": np.array([math.nan, 1.0, 1.0])}, "row 0: a count of nan"),
        ({"data": np.array([-1, 1, 1])}, "row 0: a count of -1"),
        ({"data": np.array(["a", "b", "c"])}, "not a sparse matrix"),
        ({"format": np.array(b"csc")}, r"layout 'csc'; save it in rows, matrix\.tocsr\(\)"),
        ({"shape": np.array([2, 3, 4])}, "not a matrix"),
    ],
)
def test_malformed_matrices(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = repacked(write_npz(tmp_path / "matrix.npz", [{0: 2, 1: 1}, {3: 1}]), **changes)
    with pytest.raises(InputError, match=message) as caught:
        list(open_documents(path, vocabulary=WORDS))
    assert "matrix.npz" in str(caught.value)


def test_pickles_in_archives_are_not_read(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "matrix.npz", [{0: 2}])
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(path, **{**arrays, "data": np.array([2], dtype=object)})
    with pytest.raises(InputError, match=r"matrix\.npz: truncated, or not a sparse matrix"):
        list(open_documents(path))


def test_headers_that_promise_too_much_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "matrix.npz", [{0: 2}])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = members["indptr.npy"]
    members["indptr.npy"] = header.replace(b"(2,)", b"(9" + b"9" * 11 + b",)").replace(b" " * 11 + b"\n", b"\n")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"matrix\.npz"):
        list(open_documents(path))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("nothing.mm", {}, "nothing.mm: no such file"),
        ("nothing.npz", {}, "nothing.npz: no such file"),
        ("nothing.dat", {"form": "ldac"}, "nothing.dat: no such file of documents"),
        ("nothing", {"form": "text"}, "nothing: no such file"),
        (".", {}, "no .txt file in it"),
        ("any", {"form": "svmlight"}, f"there is no form svmlight of documents; there are {', '.join(FORMS)}"),
        (sp.csr_array(np.eye(2)), {"batch": 0}, "batches of 0 documents"),
        (sp.csr_array(np.full((1, 5), 0.5)), {}, "matrix: row 0: a count of 0.5"),
        (sp.csr_array(np.full((1, 5), 1j)), {}, "the matrix of documents is"),
        (7, {}, "documents of the kind int cannot be read"),
        (["heat drag"], {}, "document 0: a str; give every document as a list of words"),
        ([["heat", 3]], {}, "document 0: 3 is no word"),
        (sp.csr_array(np.eye(4)), {}, "matrix: 4 words that are not named, but the model has 5; .*--documents-voc"),
    ],
)
def test_sources_that_are_none(tmp_path: Path, source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(open_documents(tmp_path / source if isinstance(source, str) else source, vocabulary=WORDS, **options))


def test_vocabularies_that_do_not_fit(tmp_path: Path) -> None:
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("wing\nflow\n")
    path = write_mm(tmp_path / "docs.mm", [{0: 1}])
    with pytest.raises(InputError, match=r"vocab\.txt: 2 words, but docs\.mm has 5; give its own"):
        open_documents(path, documents_vocabulary=vocab)
    with pytest.raises(InputError, match="these documents name their words"):
        open_documents([["wing"]], documents_vocabulary=vocab)
    with pytest.raises(InputError, match="texts, but the model names no words; give its vocabulary"):
        open_documents([["wing"]]).placed(5)
    with pytest.raises(InputError, match="5 words, but the model has 4 and does not name them"):
        open_documents(path).placed(4)
    with pytest.raises(InputError, match="the documents have no vocabulary"):
        list(open_documents(write_ldac(tmp_path / "docs.dat", [{0: 1}])))
    np.savez(tmp_path / "wide.npz", format=np.array(b"csr"), shape=np.array([1, 10**12]))
    with pytest.raises(InputError, match="1000000000000 words and no vocabulary; give one"):
        list(open_documents(tmp_path / "wide.npz", form="scipy"))
    with pytest.raises(InputError, match="only texts are stemmed"):
        open_documents(path, stem=True)


def test_forms_are_told_by_the_first_bytes(tmp_path: Path) -> None:
    expected = {"docs.mm": "mm", "docs.mm.gz": "mm", "docword.txt": "uci", "docs.dat": "ldac"}
    for name, form in {**expected, "matrix.npz": "scipy", "corpus.npz": "heldout"}.items():
        assert guess_form(WRITERS[name](tmp_path / name, [{0: 1}, {1: 2}, {}, {0: 1}])) == form
    assert guess_form(tmp_path) == "text"
    (tmp_path / "other").write_text("a,b,c\n")
    (tmp_path / "empty").write_text("")
    np.savez(tmp_path / "other.npz", phi=np.eye(2))
    for name in ("other", "empty", "other.npz"):
        with pytest.raises(InputError, match=name):
            guess_form(tmp_path / name)


FIELDS = st.sampled_from(
    ["1", "2", "3", "0", "-1", "9999999", "99999999999999", "1e3", "nan", "x", "²", "0:1", "2:2", ":", "0:-1"]
)
LINES = st.lists(st.lists(FIELDS, max_size=4).map(" ".join) | st.sampled_from(["1 1 1", "2 1 1"]), max_size=8)
HEADS = st.sampled_from(["", MM, MM + "2 3 2\n", "2\n3\n2\n"])
GARBAGE = st.binary(max_size=80) | st.builds(lambda head, lines: (head + "\n".join(lines)).encode(), HEADS, LINES)


def batches_of(path: Path, form: str | None = None) -> list[Batch]:
    """Return what can be read; bad input has to be refused, in one line."""
    try:
        return list(open_documents(path, form=form, vocabulary=WORDS))
    except InputError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return []


@given(GARBAGE, st.sampled_from([None, "mm", "uci", "ldac", "scipy", "heldout", "text"]))
def test_garbage_raises_nothing_but_input_errors(content: bytes, form: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "garbage.txt"
        path.write_bytes(content)
        batches = batches_of(Path(folder) if form == "text" else path, form)
    assert all(batch.tokens.min(initial=0) >= 0 and batch.tokens.max(initial=0) < len(WORDS) for batch in batches)


@given(st.sampled_from(["matrix.npz", "corpus.npz", "docs.mm.gz"]), st.data())
def test_flipped_bytes_raise_nothing_but_input_errors(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = WRITERS[name](Path(folder) / name, [{0: 2, 1: 1}, {}, {3: 1}])
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content))
        batches_of(path)


def test_batches_close_early_where_documents_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.corpora.batches.LARGEST_BATCH", 10)
    stream = open_documents(matrix_of([{0: 6}, {1: 6}, {2: 1}]))
    assert [batch.n_documents for batch in stream] == [2, 1]
    assert tokens_of(stream) == tokens_of(replace(stream, batch=1))


def test_numbers_beyond_the_documents_own_vocabulary_are_named(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("wing\nflow\n")
    path = write_ldac(tmp_path / "some.ldac", [{0: 1}, {7: 2}])
    stream = open_documents(path, documents_vocabulary=tmp_path / "words", vocabulary=("flow", "wing", "heat"))
    with pytest.raises(InputError, match=r"document 2: word 7 \(counted from 0\), but there are 2; .*whole"):
        list(stream)


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "texts").mkdir()
    os.mkfifo(tmp_path / "texts" / "a.txt")
    for source in (tmp_path / "pipe", Path("/dev/zero")):
        for form in (None, "uci", "heldout"):
            with pytest.raises(InputError, match="a device or a pipe, not a file"):
                open_documents(source, form=form)
    with pytest.raises(InputError, match="a device or a pipe"):
        list(open_documents(tmp_path / "texts", vocabulary=WORDS))


def test_a_gigabyte_of_nothing_is_refused_soon(tmp_path: Path) -> None:
    """Each file is small, and took a minute or gigabytes once."""
    begin = time.process_time()
    (tmp_path / "empty.ldac").write_bytes(gzip.compress(b"\n" * 2_000_000, 1))
    with pytest.raises(InputError, match=r"of the first [0-9]+ documents are empty"):
        list(open_documents(tmp_path / "empty.ldac", form="ldac", vocabulary=WORDS))
    (tmp_path / "comments.mm").write_bytes(
        gzip.compress(b"%%MatrixMarket matrix coordinate real general\n" + b"%\n" * 2_000_000, 1)
    )
    with pytest.raises(InputError, match="10000 lines of comments"):
        open_documents(tmp_path / "comments.mm")
    (tmp_path / "words").write_text("wing\nflow\n")
    (tmp_path / "many.ldac").write_text("1 0:499999999\n1 1:1\n")
    with pytest.raises(InputError, match="tokens in all; the counts are damaged"):
        read_counts(ldac.stream, tmp_path / "many.ldac", tmp_path / "words", "own", "ldac")
    assert time.process_time() - begin < 5.0
