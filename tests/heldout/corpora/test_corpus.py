import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError

documents = st.lists(st.lists(st.sampled_from(["a", "b", "é", "longer"]), max_size=6), min_size=1, max_size=6)


def corpus_of(words: list[list[str]]) -> Corpus:
    return Corpus.from_documents("some", [(f"d{i}", w) for i, w in enumerate(words)], {"rule": {"words": "all"}})


@given(documents)
def test_documents_counts_and_lengths_agree_with_the_words(words: list[list[str]]) -> None:
    corpus = corpus_of(words)
    assert [[corpus.vocabulary[w] for w in corpus.document(d)] for d in range(len(words))] == words
    assert list(corpus.vocabulary) == sorted({word for document in words for word in document})
    assert corpus.lengths.tolist() == [len(document) for document in words]
    expected = [[document.count(word) for word in corpus.vocabulary] for document in words]
    np.testing.assert_array_equal(corpus.counts().toarray(), np.array(expected).reshape(len(words), -1))


@given(documents)
def test_what_is_saved_is_loaded_and_the_same_corpus_gives_the_same_bytes(words: list[list[str]]) -> None:
    corpus = corpus_of(words)
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "1.npz"), Path(folder, "2.npz")
        corpus.save(first)
        loaded = Corpus.load(first)
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes()
    assert loaded.vocabulary == corpus.vocabulary
    assert loaded.documents == corpus.documents
    assert loaded.provenance == corpus.provenance
    np.testing.assert_array_equal(loaded.tokens, corpus.tokens)
    np.testing.assert_array_equal(loaded.offsets, corpus.offsets)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with pytest.raises(InputError, match=r"x\.npz: "):
        Corpus.load(path)
    corpus_of([["a", "b"], ["b"]]).save(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(InputError, match="not a corpus file"):
        Corpus.load(path)


@pytest.mark.parametrize(
    ("vocabulary", "tokens", "offsets", "message"),
    [
        (("a",), [1], [0, 1, 1], "outside the vocabulary"),
        (("a",), [-1], [0, 1, 1], "outside the vocabulary"),
        (("a", "a"), [0], [0, 1, 1], "twice"),
        (("a",), [0], [0, 1], "need as many offsets"),
        (("a",), [0], [0, 2, 1], "do not divide"),
        (("a",), [0, 0], [0, 1, 1], "do not divide"),
    ],
)
def test_what_does_not_fit_is_refused(
    vocabulary: tuple[str, ...], tokens: list[int], offsets: list[int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Corpus("some", vocabulary, np.array(tokens, np.int32), np.array(offsets, np.int64), ("1", "2"))
