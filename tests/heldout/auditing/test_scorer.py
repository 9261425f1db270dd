"""`heldout.log_likelihood`, against the sum over all assignments."""

import math
from typing import Any

import numpy as np
import pytest
from made_models import V, drawn, likelihood, topics_of

import heldout
from heldout.errors import InputError


def test_the_score_is_the_mean_per_token_over_all_documents() -> None:
    topics, X = topics_of(), drawn(20)
    tokens = [np.repeat(np.arange(V), row).tolist() for row in X.toarray()]
    expected = sum(likelihood(topics.phi, topics.alpha, words) for words in tokens if words) / X.sum()
    assert heldout.log_likelihood(topics, X, estimator="exact-marginal") == pytest.approx(expected, abs=1e-12)


def test_the_default_is_near_the_truth_and_repeats() -> None:
    topics, X = topics_of(), drawn(100, length=12)
    exact = heldout.log_likelihood(topics, X, estimator="exact-marginal")
    score = heldout.log_likelihood(topics, X)
    assert score == heldout.log_likelihood(topics, X.toarray())
    # weights of variance 0.1, eight of them: an error of at most 0.15 nats a document; 4.42 errors have the chance 1e-5
    assert abs(score - exact) * X.sum() < 4.42 * 0.15 * math.sqrt(X.shape[0])


def test_smoothing_makes_impossible_documents_possible() -> None:
    phi, X = np.array([[0.5, 0.5, 0.0]]), np.array([[1, 1, 1], [2, 0, 0]])
    assert heldout.log_likelihood((phi, 1.0), X) == -math.inf
    smoothed = heldout.log_likelihood((phi, 1.0), X, smoothing=0.1, estimator="exact-marginal")
    assert smoothed == pytest.approx((4 * math.log(0.6 / 1.3) + math.log(0.1 / 1.3)) / 5, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"estimator": "document-completion"},
            "document-completion: estimates another quantity than the documents' likelihood; there are exact-marginal",
        ),
        ({"estimator": "gibbs"}, "there is no estimator gibbs; there are exact-marginal, reference"),
        ({"samples": 0}, "0 samples; draw 240 or more"),
        ({"samples": 5}, "reference: 5 samples; draw 240 or more"),
        ({"smoothing": -1.0}, r"a smoothing constant of -1\.0"),
        ({"X": np.zeros((2, V), int)}, "all empty"),
    ],
)
def test_bad_settings_are_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        heldout.log_likelihood(topics_of(), given.pop("X", drawn(3)), **given)


def test_documents_without_a_word_of_the_experts_are_one_line() -> None:
    experts = np.ones((3, 2)), np.zeros(3), np.zeros(1), np.eye(1)
    with pytest.raises(InputError, match="no token is a word of the model"):
        heldout.log_likelihood(experts, np.zeros((2, 3), dtype=int))
