from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, token_split, train_test_split
from heldout.errors import InputError

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
    with pytest.raises(InputError, match=f"corpus some: {held_out} test documents"):
        train_test_split(corpus_of([["a"]] * 3), held_out, 0)


def is_subsequence(part: Sequence[int | str], whole: Sequence[int | str]) -> bool:
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
    # every position is shown in half of 1000 seeds: binomial, 10 positions, false-alarm rate 1e-5 in all
    corpus = corpus_of([list("abcdefghij"), ["a", "b"]])
    shown = np.zeros(10)
    for seed in range(1000):
        shown[half_split(corpus, seed)[0].document(0)] += 1
    assert np.abs(shown - 500).max() < 4.9 * np.sqrt(1000 / 4)


SHARES = (0.7, 0.1, 0.2)


@given(documents, st.integers(0, 3))
def test_parts_are_the_documents_tokens_in_order_over_the_training_words(words: list[list[str]], seed: int) -> None:
    corpus = corpus_of([*words, list("abcde") * 12])  # every part has tokens of words that were trained
    split = token_split(corpus, SHARES, seed)
    trained = {split.training.vocabulary[w] for w in split.training.tokens}
    assert trained == set(split.training.vocabulary)
    left_out = [0, 0, 0]
    for d in range(corpus.n_documents):
        whole = [corpus.vocabulary[w] for w in corpus.document(d)]
        rest = Counter(whole)
        for part in split[:3]:
            assert part.vocabulary == split.training.vocabulary
            in_part = [part.vocabulary[w] for w in part.document(d)]
            assert is_subsequence(in_part, whole)
            rest -= Counter(in_part)
        sizes = [part.lengths[d] for part in split[:3]]
        assert sizes[0] == min(len(whole), max(1, int(0.7 * len(whole) + 0.5)))
        test = min(len(whole) - sizes[0], int(0.2 * len(whole) + 0.5))
        assert sizes[2] <= test
        assert sizes[1] <= len(whole) - sizes[0] - test
        left_out[2] += test - sizes[2]
        left_out[1] += len(whole) - sizes[0] - test - sizes[1]
        assert not trained & set(rest)  # what no part has is a word without training tokens
    assert (split.validation_left_out, split.test_left_out) == (left_out[1], left_out[2])


def test_token_split_is_drawn_by_position_and_evenly_whatever_the_other_documents() -> None:
    corpus = corpus_of([list("abcdefghij"), list("abcdefghij") * 20])  # every word has a training token
    tested = np.zeros(10)
    seeds = 1000
    for seed in range(seeds):
        split = token_split(corpus, SHARES, seed)
        assert split.test_left_out + split.validation_left_out == 0
        assert [part.lengths[0] for part in split[:3]] == [7, 1, 2]
        tested[split.test.document(0)] += 1
    # binomial, 10 positions, false-alarm rate 1e-5 in all
    assert np.abs(tested - 0.2 * seeds).max() < 4.9 * np.sqrt(seeds * 0.2 * 0.8)
    alone = token_split(corpus.subset([1]), SHARES, 3)
    for part, part_alone in zip(token_split(corpus, SHARES, 3)[:3], alone[:3], strict=True):
        np.testing.assert_array_equal(part.document(1), part_alone.document(0))


def test_words_without_a_training_token_leave_the_vocabulary_and_are_counted() -> None:
    words = [f"once{i}" for i in range(20)]
    corpus = corpus_of([words, ["common"] * 20])
    split = token_split(corpus, SHARES, 0)
    assert split.training.n_words == 15
    assert (split.validation_left_out, split.test_left_out) == (2, 4)
    assert split.test.lengths.tolist() == [0, 4]


@pytest.mark.parametrize("shares", [(0.7, 0.2, 0.2), (0.8, 0.0, 0.2), (1.0, -0.1, 0.1), (float("nan"), 0.5, 0.5)])
def test_shares_that_do_not_divide_the_tokens_are_refused(shares: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="sum to 1"):
        token_split(corpus_of([list("abcdeabcde")] * 3), shares, 0)


def test_documents_too_short_for_any_test_token_are_refused() -> None:
    with pytest.raises(InputError, match="test part"):
        token_split(corpus_of([["a"], ["a", "a"]]), SHARES, 0)
