"""Documents in every form: the same tokens from all, and one line for those that are damaged."""

import codecs
import gzip
import math
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.corpora.corpus import Corpus
from heldout.corpora.documents import (
    MAXIMUM_TOKENS,
    digest_of,
    guess_form,
    import_counts,
    in_random_order,
    read_archive,
    read_documents,
    with_words,
)
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
    entries = [f"{d} {w + 1} {n}\r\n" for d, words in enumerate(documents, 1) for w, n in words.items()]
    path.write_bytes((f"{len(documents)}\r\n5\r\n{len(entries)}\r\n" + "".join(entries)).encode())
    return path


def write_ldac(path: Path, documents: Counts) -> Path:
    path.write_text("".join(" ".join([str(len(d)), *(f"{w}:{n}" for w, n in d.items())]) + "\n" for d in documents))
    return path


def write_npz(path: Path, documents: Counts) -> Path:
    sp.save_npz(path, matrix_of(documents).asformat("csc" if "csc" in path.name else "csr"))
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
    "csc.npz": write_npz,
    "corpus.npz": write_corpus,
}


def tokens_of(documents: Corpus) -> list[list[int]]:
    return [documents.document(d).tolist() for d in range(documents.n_documents)]


documents_strategy = st.lists(st.dictionaries(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=7).filter(any)


@settings(max_examples=30)
@given(documents_strategy, st.integers(0, 3))
def test_every_form_gives_the_same_tokens_in_the_same_order(documents: Counts, seed: int) -> None:
    expected = in_random_order(with_words(read_documents(matrix_of(documents)), WORDS), seed)
    assert [Counter(tokens) for tokens in tokens_of(expected)] == [Counter(words) for words in documents]
    assert all(tokens_of(expected)[d] == [] for d, words in enumerate(documents) if not words)
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            path = write(Path(folder) / name, documents)
            read = read_documents(path, form="uci" if "docword" in name else None)
            if write is not write_corpus:
                assert digest_of(read) == digest_of(read_documents(matrix_of(documents))), name
                read = with_words(read, WORDS)
            assert tokens_of(in_random_order(read, seed)) == tokens_of(expected), name
    bags = [list(words.items()) for words in documents]
    assert tokens_of(in_random_order(read_documents(bags), seed)) == tokens_of(expected)


@pytest.mark.parametrize("name", ["docs.mm", "docs.mm.gz", "docword.txt", "docs.dat"])
def test_a_byte_order_mark_is_no_part_of_counts(name: str, tmp_path: Path) -> None:
    documents: Counts = [{0: 2, 3: 1}, {1: 1}, {4: 1}]
    path = WRITERS[name](tmp_path / name, documents)
    before, packed = digest_of(read_documents(path)), name.endswith(".gz")
    content = codecs.BOM_UTF8 + (gzip.decompress(path.read_bytes()) if packed else path.read_bytes())
    path.write_bytes(gzip.compress(content) if packed else content)
    assert digest_of(read_documents(path)) == before


def test_the_order_of_a_bag_is_random() -> None:
    # first tokens of 2000 bags {a: 1, b: 3}: a is first in a quarter; |deviation| > 4.42 sd has probability 1e-5
    bags = in_random_order(read_documents(np.tile([1, 3], (2000, 1))), 0)
    first = bags.tokens[bags.offsets[:-1]]
    assert abs((first == 0).mean() - 0.25) < 4.42 * math.sqrt(0.25 * 0.75 / 2000)


def test_texts_and_ordered_corpora_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("Heat, DRAG and heat; a wing")
    (tmp_path / "a.txt").write_text("of no known word")
    (tmp_path / "c.txt").write_text("")
    documents = in_random_order(read_documents(tmp_path), 0)
    assert documents.documents == ("a.txt", "b.txt", "c.txt")
    known, left_out = documents.over(WORDS)
    assert (tokens_of(known), left_out) == ([[], [2, 3, 2, 0], []], 6)
    lists = read_documents([["heat", "drag", "of"], []]).over(WORDS)[0]
    assert tokens_of(in_random_order(lists, 0)) == [[2, 3], []]
    (tmp_path / "a.txt").write_text("heated wings flowing")
    assert tokens_of(read_documents(tmp_path, stem=True).over(WORDS)[0])[0] == [2, 0, 1]
    (tmp_path / "a.txt").write_text("L'Été à Zürich: naïve, 日本語; the_flow", encoding="utf-8")
    words = ("l", "été", "à", "zürich", "naïve", "日本語", "the", "flow")
    assert tokens_of(read_documents(tmp_path).over(words)[0])[0] == list(range(len(words)))


def test_reads_what_gensim_writes(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.corpora import MmCorpus

        path = tmp_path / "gensim.mm"
        MmCorpus.serialize(str(path), [[(0, 2), (3, 1)], [], [(1, 1)]])
    # a document without words at the end and words after the last that occurs are not in what gensim writes
    assert [Counter(tokens) for tokens in tokens_of(read_documents(path))] == [{0: 2, 3: 1}, {}, {1: 1}]


def test_digests_follow_the_content() -> None:
    assert digest_of(read_documents([["a", "b"], ["c"]])) != digest_of(read_documents([["a"], ["b", "c"]]))
    assert digest_of(read_documents([["a", "b"]])) != digest_of(read_documents([["a", "c"]]))
    assert digest_of(read_documents(matrix_of([{0: 2}, {1: 1}]))) != digest_of(
        read_documents(matrix_of([{0: 2}, {2: 1}]))
    )
    whole = read_documents(matrix_of([{0: 2}, {1: 1}]))
    assert digest_of(whole.subset([0])) != digest_of(whole.subset([1]))


def files(folder: Path, data: str | bytes, vocabulary: str | bytes = "wing\nflow\nheat\n") -> tuple[Path, Path]:
    paths = folder / "docs.txt", folder / "vocab.txt"
    for path, text in zip(paths, (data, vocabulary), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


@pytest.mark.parametrize("form", ["uci", "ldac"])
def test_counts_are_imported_in_vocabulary_order(tmp_path: Path, form: str) -> None:
    text = {"uci": "2\n3\n4\n1 1 2\n1 3 1\n2 2 1\n2 1 1\n", "ldac": "2 2:1 0:2\r\n2 1:1 0:1"}[form]
    data, vocab = files(tmp_path, gzip.compress(text.encode()))
    corpus = import_counts(data, vocab, "own", form)
    assert (corpus.name, corpus.vocabulary) == ("own", ("wing", "flow", "heat"))
    assert (corpus.tokens.tolist(), corpus.offsets.tolist()) == ([0, 0, 2, 0, 1], [0, 3, 5])
    assert corpus.documents == ("1", "2")
    assert (corpus.provenance["ordered"], corpus.provenance["synthetic"]) == (False, False)
    assert [source["file"] for source in corpus.provenance["sources"]] == ["docs.txt", "vocab.txt"]
    if form == "ldac":
        again = read_archive("own", {"own.dat": text.encode(), "vocab.txt": vocab.read_bytes()})
        assert tokens_of(again) == tokens_of(corpus)


MM = "%%MatrixMarket matrix coordinate integer general\n"
UCI = "2\n3\n4\n1 1 2\n1 3 1\n2 2 1\n2 1 1\n"


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("mm", ""),
        ("mm", MM),
        ("mm", MM.replace("general", "symmetric") + "1 1 1\n1 1 1\n"),
        ("mm", MM.replace("coordinate", "array") + "1 1\n1\n"),
        ("mm", MM + "2 3\n"),
        ("mm", MM + "2 3 1\n0 1 1\n"),
        ("mm", MM + "2 3 1\n1 4 1\n"),
        ("mm", MM + "2 3 1\n1 3 0.5\n"),
        ("mm", MM + "2 3 1\n1 3 nan\n"),
        ("mm", MM + "2 3 1\n1 3 -1\n"),
        ("mm", MM + "2 3 1\n1 3 1e300\n"),
        ("mm", MM + "2 3 1\n1 3\n"),
        ("mm", MM + "2 3 2\n1 1 1\n"),
        ("mm", MM + "2 3 1\n1 1 1\n2 1 1\n"),
        ("mm", MM + "999999999999 3 1\n1 1 1\n"),
        ("mm", MM + "2 999999999999 1\n1 1 1\n"),
        ("mm", MM + "2 3 999999999999\n1 1 1\n"),
        ("uci", "2\n3\n"),
        ("uci", "two\n3\n4\n"),
        ("uci", "2\n3\n-1\n"),
        ("uci", UCI[:-6]),
        ("uci", UCI + "2 3 1\n"),
        ("uci", UCI[:-3]),
        ("uci", UCI.replace("2 2 1", "3 2 1")),
        ("uci", UCI.replace("2 2 1", "2 0 1")),
        ("uci", UCI.replace("2 2 1", "2 2 1.5")),
        ("uci", f"2\n3\n2\n1 1 1\n2 1 {MAXIMUM_TOKENS}\n"),
        ("uci", f"2\n3\n2\n1 1 1\n2 1 {10**30}\n"),
        ("uci", b"2\n3\n2\n1 1 1\n2 1 \xff\n"),
        ("ldac", "1 0:1\n2 0:1\n"),
        ("ldac", "x 0:1\n"),
        ("ldac", "1 0\n"),
        ("ldac", "1 :1\n"),
        ("ldac", "1 -1:1\n"),
        ("ldac", "1 0:-2\n"),
        ("ldac", f"1 0:{10**30}\n"),
        ("ldac", f"1 {10**12}:1\n"),
        ("ldac", "1 0:1\n1 0:999999999\n"),
        ("ldac", b"1 0:1\n1 \xff:1\n"),
    ],
)
def test_malformed_counts(tmp_path: Path, form: str, content: str | bytes) -> None:
    data, _ = files(tmp_path, content)
    with pytest.raises(InputError, match=r"docs\.txt: ") as caught:
        read_documents(data, form=form)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "vocabulary", "where"),
    [
        ("1 0:1\n\n1 0:1\n", "wing\n", "docs.txt: document 2"),
        ("1 0:1\n", "wing\n", "own"),
        ("1 3:1\n1 0:1\n", "wing\nflow\n", "docs.txt: 4 words"),
        ("1 0:1\n1 0:1\n", "", "vocab.txt"),
        ("1 0:1\n1 0:1\n", "wing\n\nheat\n", "vocab.txt: line 2"),
        ("1 0:1\n1 0:1\n", "wing\nwing\n", "vocab.txt: line 2"),
        ("1 0:1\n1 0:1\n", b"wing\n\xe9\n", "vocab.txt: line 2"),
    ],
)
def test_counts_that_are_not_imported(tmp_path: Path, data: str, vocabulary: str | bytes, where: str) -> None:
    with pytest.raises(InputError, match=where):
        import_counts(*files(tmp_path, data, vocabulary), "own", "ldac")


def test_files_that_are_cut_off(tmp_path: Path) -> None:
    for name in ("docs.mm.gz", "matrix.npz", "corpus.npz"):
        path = WRITERS[name](tmp_path / name, [dict.fromkeys(range(5), 1)] * 30)
        content = path.read_bytes()
        for cut in range(0, len(content), 97):
            path.write_bytes(content[:cut])
            with pytest.raises(InputError, match=name) as caught:
                read_documents(path)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": np.array([0, 5, 3])},
        {"indptr": np.array([0, 3])},
        {"indptr": np.array([0, 3, 2])},
        {"indices": np.array([0, 1, 9])},
        {"data": np.array([0.5, 1.0, 1.0])},
        {"data": np.array([math.nan, 1.0, 1.0])},
        {"data": np.array([-1, 1, 1])},
        {"data": np.array(["a", "b", "c"])},
        {"data": np.array([1, 1, 1], dtype=object)},
        {"shape": np.array([2, 3, 4])},
        {"shape": np.array([2, 10**12])},
    ],
)
def test_malformed_matrices(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = write_npz(tmp_path / "matrix.npz", [{0: 2, 1: 1}, {3: 1}])
    with np.load(path, allow_pickle=False) as file:
        arrays = {**{name: file[name] for name in file.files}, **changes}
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"matrix\.npz"):
        read_documents(path)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("nothing.mm", {}, "nothing.mm: no such file"),
        (".", {}, "no .txt file in it"),
        ("any", {"form": "svmlight"}, "svmlight"),
        (sp.csr_array(np.full((1, 5), 0.5)), {}, "matrix: row 0: a count of 0.5"),
        (sp.csr_array(np.full((1, 5), 1j)), {}, "matrix"),
        (7, {}, "int"),
        (["heat drag"], {}, "document 0: a str"),
        ([["heat", 3]], {}, "document 0: 3"),
    ],
)
def test_sources_that_are_none(tmp_path: Path, source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_documents(tmp_path / source if isinstance(source, str) else source, **options)


def test_vocabularies_that_do_not_fit(tmp_path: Path) -> None:
    data, vocab = files(tmp_path, "1 4:1\n", "\n".join(WORDS))
    assert read_documents(data, documents_vocabulary=vocab).vocabulary == WORDS
    assert with_words(read_documents(data), (*WORDS, "more")).n_words == 6
    path = write_mm(tmp_path / "docs.mm", [{0: 1}])
    for documents, words in ((path, WORDS[:4]), (path, (*WORDS, "more")), (data, WORDS[:4])):
        with pytest.raises(InputError, match="5 words"):
            with_words(read_documents(documents), words)
    for named in ([["wing"]], corpus_of([{0: 1}])):
        with pytest.raises(InputError, match="name their words"):
            read_documents(named, documents_vocabulary=vocab)
    with pytest.raises(InputError, match="stem"):
        read_documents(path, stem=True)


def test_forms_are_told_by_the_first_bytes(tmp_path: Path) -> None:
    expected = {"docs.mm": "mm", "docs.mm.gz": "mm", "docword.txt": "uci", "docs.dat": "ldac", "csc.npz": "scipy"}
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


def refused_or_read(path: Path, form: str | None = None) -> None:
    """Read what can be read; bad input has to be refused, in one line."""
    message = "refused"
    try:
        documents = read_documents(path, form=form)
        assert all(start <= end for start, end in pairwise(documents.offsets))
    except InputError as error:
        message = str(error)
    assert message
    assert "\n" not in message


@given(GARBAGE, st.sampled_from([None, "mm", "uci", "ldac", "scipy", "heldout", "text"]))
def test_garbage_raises_nothing_but_input_errors(content: bytes, form: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "garbage.txt"
        path.write_bytes(content)
        refused_or_read(Path(folder) if form == "text" else path, form)


@given(st.sampled_from(["matrix.npz", "csc.npz", "corpus.npz", "docs.mm.gz"]), st.data())
def test_flipped_bytes_raise_nothing_but_input_errors(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = WRITERS[name](Path(folder) / name, [{0: 2, 1: 1}, {}, {3: 1}])
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content))
        refused_or_read(path)


def test_pipes_and_devices_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "texts").mkdir()
    os.mkfifo(tmp_path / "texts" / "a.txt")
    for source in (tmp_path / "pipe", Path("/dev/zero")):
        for form in (None, "uci", "heldout"):
            with pytest.raises(InputError, match="a device or a pipe"):
                read_documents(source, form=form)
    with pytest.raises(InputError, match="a device or a pipe"):
        read_documents(tmp_path / "texts")


def test_what_unpacks_to_more_than_a_corpus_does_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("heldout.limits", "heldout.corpora.documents"):
        monkeypatch.setattr(f"{module}.ALLOWANCE", 1 << 20)
    (tmp_path / "nothing.ldac").write_bytes(gzip.compress(b"\n" * 2_000_000, 1))
    (tmp_path / "zeros.mm").write_bytes(gzip.compress(MM.encode() + b"%" * 5_000_000))
    for name, form, refusal in (("nothing.ldac", "ldac", ""), ("zeros.mm", "mm", ": .* bytes expand to ")):
        with pytest.raises(InputError, match=name + refusal):
            read_documents(tmp_path / name, form=form)
