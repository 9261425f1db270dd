from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlvm.corpora.corpus import Corpus
from dlvm.corpora.split import half_split, train_test_split
from dlvm.errors import InputError

documents = st.lists(st.lists(st.sampled_from("abcde"), max_size=9), min_size=2, max_size=8)


def corpus_of(words: list[list[str]], name: str = "some") -> Corpus:
    return Corpus.from_documents(name, [(f"d{i}", document) for i, document in enumerate(words)])


@given(documents, st.data(), st.integers(0, 3))
def test_train_and_test_divide_the_documents_in_their_order(
    words: list[list[str]], data: st.DataObject, seed: int
) -> None:
    corpus = corpus_of(words)
    held_out = data.draw(st.integers(1, len(words) - 1))
    train, test = train_test_split(corpus, held_out, seed)
    assert (train.n_documents, test.n_documents) == (len(words) - held_out, held_out)
    assert sorted(train.documents + test.documents) == sorted(corpus.documents)
    assert list(train.documents) == sorted(train.documents)
    assert list(test.documents) == sorted(test.documents)
    assert train.vocabulary == test.vocabulary == corpus.vocabulary
    for part in (train, test):
        for d, name in enumerate(part.documents):
            np.testing.assert_array_equal(part.document(d), corpus.document(int(name[1:])))


def test_same_names_give_the_same_split_and_other_names_another() -> None:
    corpus = corpus_of([["a"]] * 60)
    first = train_test_split(corpus, 20, 0)[1].documents
    assert train_test_split(corpus, 20, 0)[1].documents == first
    assert train_test_split(corpus, 20, 1)[1].documents != first
    assert train_test_split(corpus_of([["a"]] * 60, "other"), 20, 0)[1].documents != first


@pytest.mark.parametrize("held_out", [-1, 0, 3, 4])
def test_an_empty_side_is_refused(held_out: int) -> None:
    with pytest.raises(InputError, match=f"corpus some: {held_out} test documents cannot be held out of 3"):
        train_test_split(corpus_of([["a"]] * 3), held_out, 0)


def is_subsequence(part: list[int], whole: list[int]) -> bool:
    rest = iter(whole)
    return all(token in rest for token in part)


@given(documents, st.integers(0, 3))
def test_halves_are_the_documents_tokens_in_order(words: list[list[str]], seed: int) -> None:
    corpus = corpus_of(words)
    observed, scored = half_split(corpus, seed)
    assert observed.documents == scored.documents == corpus.documents
    for d in range(corpus.n_documents):
        shown, hidden, whole = (part.document(d).tolist() for part in (observed, scored, corpus))
        assert len(shown) == len(whole) // 2
        assert Counter(shown) + Counter(hidden) == Counter(whole)
        assert is_subsequence(shown, whole)
        assert is_subsequence(hidden, whole)


def test_halves_do_not_depend_on_the_other_documents() -> None:
    corpus = corpus_of([list("abcdeabcde"), list("edcba"), list("aabbccdd")])
    together = half_split(corpus, 0)
    for d in range(3):
        alone = half_split(corpus.subset([d]), 0)
        for part, part_alone in zip(together, alone, strict=True):
            np.testing.assert_array_equal(part.document(d), part_alone.document(0))


def test_halves_are_drawn_by_position_and_evenly() -> None:
    # every position is shown in half of 4000 seeds: binomial, 10 positions, false-alarm rate 1e-5 in all
    corpus = corpus_of([list("abcdefghij"), ["a", "b"]])
    shown = np.zeros(10)
    for seed in range(4000):
        shown[half_split(corpus, seed)[0].document(0)] += 1
    assert np.abs(shown - 2000).max() < 4.9 * np.sqrt(4000 / 4)
