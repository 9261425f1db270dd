"""The folding-in evaluators on models whose scores can be worked out by hand."""

import math

import numpy as np
import pytest
from made_fits import fold_with

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.models import plsa
from heldout.topics import Topics
from heldout.typing import Floats

WORDS = ("a", "b", "c", "d")


def corpus(*documents: str) -> Corpus:
    made = Corpus.from_documents("hand", [(f"d{i}", list(text)) for i, text in enumerate([*documents, "abcd"])])
    return made.subset(range(len(documents)))


def identity(size: int = 4) -> Topics:
    """Return the topics of the paper's toy example (section 4.3): topic j gives word j alone."""
    return Topics(np.eye(size), np.ones(size), WORDS[:size])


def em(topics: Topics, documents: Corpus) -> Floats:
    return fold_with(plsa, topics, documents, seed=0, iterations=200, tolerance=0.0)


def test_full_folding_in_of_the_toy_example_is_the_maximised_multinomial() -> None:
    evaluation = full_folding_in([identity()], corpus("aab", "c"), em)
    np.testing.assert_allclose(evaluation.log_likelihood, [2 * math.log(2 / 3) + math.log(1 / 3), 0.0], atol=1e-12)
    np.testing.assert_array_equal(evaluation.tokens, [3, 1])
    np.testing.assert_array_equal(evaluation.standard_error, 0.0)


def test_half_folding_in_of_the_toy_example_gives_nothing_to_words_not_shown() -> None:
    words = corpus("ab", "aa")
    evaluation = predictive([identity()], words.subset([1, 1]), words, em)
    np.testing.assert_array_equal(evaluation.log_likelihood, [-math.inf, 0.0])


def test_predictive_distributions_are_averaged_over_chains() -> None:
    first = Topics(np.array([[0.7, 0.1, 0.1, 0.1]]), np.ones(1), WORDS)
    second = Topics(np.array([[0.1, 0.1, 0.1, 0.7]]), np.ones(1), WORDS)
    evaluation = full_folding_in([first, second], corpus("ab"), em)
    assert evaluation.log_likelihood[0] == pytest.approx(math.log(0.4) + math.log(0.1), rel=1e-13)


def test_the_fit_never_sees_the_scored_half() -> None:
    test = corpus("aaabbbccc", "ddddcccc", "ab", "a")
    observed, scored = half_split(test, seed=0)
    seen = []

    def spy(topics: Topics, documents: Corpus) -> Floats:
        seen.append([documents.document(d).tolist() for d in range(documents.n_documents)])
        return em(topics, documents)

    evaluation = predictive([identity().smoothed(0.1)], observed, scored, spy)
    assert seen == [[observed.document(d).tolist() for d in range(4)]]
    np.testing.assert_array_equal(evaluation.tokens, [5, 4, 1, 1])
    # a document of one token shows nothing: it is scored from uniform weights
    assert evaluation.log_likelihood[3] == pytest.approx(math.log(0.25), rel=1e-12)


def test_words_outside_the_vocabulary_are_left_out_and_counted() -> None:
    evaluation = full_folding_in([identity(3)], corpus("aad", "d"), em)
    assert evaluation.tokens_left_out == 2
    np.testing.assert_array_equal(evaluation.tokens, [2, 0])
    np.testing.assert_allclose(evaluation.log_likelihood, 0.0, atol=1e-12)


def test_refuses_no_chain_and_chains_of_different_vocabularies() -> None:
    with pytest.raises(InputError, match="no topics"):
        full_folding_in([], corpus("a"), em)
    with pytest.raises(InputError, match="vocabulary"):
        full_folding_in([identity(), identity(3)], corpus("a"), em)
