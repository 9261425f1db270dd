"""The one-pass estimate against its definition, token by token, and the exact value where it is exact."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_exact_marginal import corpus, random_topics, words

from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.linear_time import linear_time
from heldout.topics import Topics


def twin(topics: Topics, document: list[int]) -> float:
    n, total = [0.0] * topics.n_topics, 0.0
    for position, word in enumerate(document):
        share = [
            topics.phi[k, word] * (topics.alpha[k] + n[k]) / (topics.alpha.sum() + position)
            for k in range(topics.n_topics)
        ]
        p = sum(share)
        total += math.log(p)
        n = [n[k] + share[k] / p for k in range(topics.n_topics)]
    return total


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 6), length=st.integers(0, 9))
def test_is_its_twin_and_exact_up_to_two_tokens(seed: int, K: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    topics = random_topics(rng, K, 5)
    documents = [rng.integers(0, 5, n).tolist() for n in (length, 2, 0, 1, length)]
    found = linear_time(topics, corpus(5, *documents))
    for value, document in zip(found.log_likelihood, documents, strict=True):
        assert value == pytest.approx(twin(topics, document), rel=1e-12, abs=1e-12)
    exact = exact_marginal(topics, corpus(5, *documents)).log_likelihood
    np.testing.assert_allclose(found.log_likelihood[1:4], exact[1:4], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.standard_error, 0.0)


def test_one_topic_is_exact_at_any_length() -> None:
    topics = random_topics(np.random.default_rng(1), 1, 4)
    documents = corpus(4, [0, 1, 2, 3, 3, 3, 1])
    assert linear_time(topics, documents).log_likelihood[0] == pytest.approx(
        exact_marginal(topics, documents).log_likelihood[0], rel=1e-12
    )


def test_the_order_of_tokens_matters_and_the_bias_has_either_sign() -> None:
    topics = Topics(np.array([[0.8, 0.2], [0.2, 0.8]]), np.full(2, 0.1), words(2))
    documents = corpus(2, [0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1])
    difference = linear_time(topics, documents).log_likelihood - exact_marginal(topics, documents).log_likelihood
    assert abs(difference[0] - difference[1]) > 0.1
    many = corpus(2, *([i >> j & 1 for j in range(6)] for i in range(64)))
    bias = linear_time(topics, many).log_likelihood - exact_marginal(topics, many).log_likelihood
    assert bias.min() < -0.05
    assert bias.max() > 0.05


def test_the_probabilities_of_all_sequences_sum_to_one() -> None:
    topics = random_topics(np.random.default_rng(2), 4, 2)
    every = corpus(2, *([i >> j & 1 for j in range(7)] for i in range(128)))
    assert math.fsum(np.exp(linear_time(topics, every).log_likelihood)) == pytest.approx(1.0, abs=1e-12)
