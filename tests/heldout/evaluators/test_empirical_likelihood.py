"""Empirical likelihood: its variance has an exact value, which grows with the document's length."""

import math

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.evaluators.empirical_likelihood import empirical_likelihood
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

WORDS = tuple(f"w{i}" for i in range(12))


def documents(*streams: list[int]) -> Corpus:
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in streams])]).astype(np.int64)
    tokens = np.array([w for stream in streams for w in stream], dtype=np.int32)
    return Corpus("made-up", WORDS, tokens, offsets, tuple(f"d{i}" for i in range(len(streams))))


def topics() -> Topics:
    phi = np.random.default_rng(1).dirichlet(np.full(len(WORDS), 0.5), size=3)
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.array([0.5, 1.0, 1.0]), WORDS)


def test_the_stated_error_is_that_of_the_document_written_twice() -> None:
    rng = np.random.default_rng(2)
    streams = [rng.integers(0, len(WORDS), 6).tolist() for _ in range(8)]
    S = 20_000
    found = empirical_likelihood(topics(), documents(*streams), S, rng)
    once = exact_marginal(topics(), documents(*streams)).log_likelihood
    twice = exact_marginal(topics(), documents(*[s + s for s in streams])).log_likelihood
    np.testing.assert_allclose(found.standard_error, np.sqrt(np.expm1(twice - 2 * once) / S), rtol=0.15)


def test_the_variance_grows_with_length_the_faster_the_more_topics_there_are() -> None:
    """L^((K - 1) / 2) for a document that tells its topics apart, which is what the exact values show."""
    for K in (2, 3, 4):
        model = Topics(np.eye(12)[:K] * 0.9 + 0.1 / 12, np.ones(K), WORDS)
        streams = [[*range(K)] * n for n in (8, 32)]  # 4 times as long
        once = exact_marginal(model, documents(*streams)).log_likelihood
        twice = exact_marginal(model, documents(*[s + s for s in streams])).log_likelihood
        second_moment = twice - 2 * once
        assert second_moment[1] - second_moment[0] == pytest.approx((K - 1) / 2 * math.log(4.0), rel=0.2)


def test_too_few_draws_fall_short() -> None:
    stream = np.random.default_rng(3).integers(0, 4, 80).tolist()
    exact = exact_marginal(topics(), documents(stream)).log_likelihood[0]
    few = empirical_likelihood(topics(), documents(*[stream] * 300), 5, np.random.default_rng(4)).log_likelihood
    shortfall = exact - few
    assert shortfall.mean() > 4.42 * shortfall.std(ddof=1) / math.sqrt(len(few))


def test_a_possible_document_that_no_draw_meets_states_no_error() -> None:
    """Two topics without a common word under weights so sparse that a draw has one of them."""
    sparse = Topics(np.eye(12)[:2], np.full(2, 1e-6), WORDS)
    found = empirical_likelihood(sparse, documents([0, 1] * 200, [0, 5], []), 4, np.random.default_rng(0))
    assert np.all(np.isneginf(found.log_likelihood[:2]))
    assert np.isnan(found.standard_error[0])
    assert found.standard_error[1] == found.standard_error[2] == 0.0


def test_documents_draw_their_own_weights() -> None:
    found = empirical_likelihood(topics(), documents([0, 1, 2], [0, 1, 2]), 10, np.random.default_rng(0))
    assert found.log_likelihood[0] != pytest.approx(found.log_likelihood[1], rel=1e-9)
