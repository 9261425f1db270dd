"""PLSI's mixture over training documents against the sum written out, and over all documents of a length."""

import itertools

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.training_mixture import training_mixture
from heldout.topics import Topics

PHI = np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
WEIGHTS = np.array([[0.9, 0.1], [0.2, 0.8], [1.0, 0.0]])
WORDS = ("a", "b", "c")


def test_is_the_mean_over_training_documents_and_sums_to_one() -> None:
    every = list(itertools.product(range(3), repeat=3))
    documents = Corpus.from_documents("all", [(str(d), [WORDS[w] for w in words]) for d, words in enumerate(every)])
    result = training_mixture(Topics(PHI, np.ones(2), WORDS), WEIGHTS, documents)
    p = np.exp(result.log_likelihood)
    expected = [np.mean([np.prod([pi @ PHI[:, w] for w in words]) for pi in WEIGHTS]) for words in every]
    np.testing.assert_allclose(p, expected, rtol=1e-12)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_word_of_no_training_document_is_impossible_and_weights_must_fit() -> None:
    topics = Topics(PHI, np.ones(2), WORDS)
    documents = Corpus.from_documents("one", [("1", ["c", "a", "b"]), ("2", ["c"])])
    assert training_mixture(topics, WEIGHTS[2:], documents).log_likelihood[1] == -np.inf
    with pytest.raises(InputError, match=r"weights of shape \(2, 3\)"):
        training_mixture(topics, np.ones((2, 3)) / 3, documents)
