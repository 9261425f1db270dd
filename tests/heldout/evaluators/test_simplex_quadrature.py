"""The sum over points of the simplex against the sum over assignments, the polynomial, and Beta's moments."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln
from test_exact_marginal import corpus, over_assignments, random_topics, words

from heldout.evaluators import exact_marginal as module
from heldout.evaluators.exact_marginal import exact_marginal, exact_posterior_mean
from heldout.evaluators.simplex_quadrature import beta_rule, by_quadrature, is_safe, quadrature_cost
from heldout.topics import Topics


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.5, 0.5), (0.01, 3.0), (0.001, 0.002), (40.0, 160.0), (1.0, 2.0)])
@pytest.mark.parametrize("points", [1, 2, 8, 60])
def test_the_rule_has_all_moments_of_beta_up_to_its_degree(points: int, a: float, b: float) -> None:
    s, weights = beta_rule(points, a, b)
    assert np.all((s > 0.0) & (s < 1.0))
    for m in range(2 * points):
        expected = math.exp(betaln(a + m, b) - betaln(a, b))
        assert float(weights @ s**m) == pytest.approx(expected, rel=1e-11)
        reverse = math.exp(betaln(a, b + m) - betaln(a, b))
        assert float(weights @ (1.0 - s) ** m) == pytest.approx(reverse, rel=1e-11)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 5), V=st.integers(1, 4), length=st.integers(1, 5))
def test_is_the_sum_over_all_assignments(seed: int, K: int, V: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    topics = random_topics(rng, K, V)
    document = rng.integers(0, V, length)
    found = by_quadrature(document.astype(np.int32), topics.phi_by_word, topics.alpha)
    log_p, theta = over_assignments(topics, document.tolist())
    assert found[0] == pytest.approx(log_p, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(found[1], theta, rtol=1e-11)


@pytest.mark.parametrize("K", [3, 4])
@pytest.mark.parametrize("alpha", [(0.05,), (1.0,), (12.5,), (0.01, 3.0, 50.0, 0.3)])
def test_repeated_tokens_of_long_documents_as_the_polynomial_has_them(
    K: int, alpha: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(K)
    phi = random_topics(rng, K, 30).phi
    topics = Topics(phi, np.resize(alpha, K).astype(float), words(30))
    length = 120 if K == 3 else 60
    documents = corpus(30, rng.choice(30, length, p=phi[0]).tolist(), rng.integers(0, 30, length + 1).tolist())
    fast, means = exact_marginal(topics, documents).log_likelihood, exact_posterior_mean(topics, documents)
    monkeypatch.setattr(module, "LEAST_COST", 10**12)
    slow, others = exact_marginal(topics, documents).log_likelihood, exact_posterior_mean(topics, documents)
    assert not np.array_equal(fast, slow)  # two ways it was
    np.testing.assert_allclose(fast, slow, rtol=1e-12)
    np.testing.assert_allclose(means, others, rtol=1e-10)


def test_what_might_underflow_is_left_to_the_polynomial() -> None:
    phi = np.full((3, 3), 1e-10) + np.eye(3) * (1.0 - 3e-10)
    topics = Topics(phi, np.ones(3), words(3))
    halves = [0] * 200 + [1] * 200 + [2] * 200
    assert not is_safe(np.array(halves, np.int32), topics.phi_by_word, topics.alpha)
    found = exact_marginal(topics, corpus(3, halves, [0, 1, 2] * 200)).log_likelihood
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert math.isfinite(found[0])


def test_a_long_document_with_a_word_that_no_topic_gives_is_impossible() -> None:
    topics = Topics(np.tile([0.6, 0.4, 0.0], (3, 1)), np.ones(3), words(3))
    found = exact_marginal(topics, corpus(3, [0, 1] * 60 + [2], [0, 1] * 60)).log_likelihood
    assert found[0] == -math.inf
    assert found[1] == pytest.approx(60 * math.log(0.24), rel=1e-13)


def test_it_is_not_taken_where_the_polynomial_costs_less() -> None:
    topics = Topics(np.tile([0.25, 0.75], (20, 1)), np.full(20, 0.3), words(2))
    tokens = [0, 1, 1, 1, 0, 1, 1, 1]
    assert quadrature_cost(np.array(tokens, np.int32), 20) > 1e17
    found = exact_marginal(topics, corpus(2, tokens)).log_likelihood[0]
    assert found == pytest.approx(2 * math.log(0.25) + 6 * math.log(0.75), abs=1e-10)


def test_it_is_not_taken_where_points_lose_their_digits() -> None:
    rng = np.random.default_rng(3)
    topics = random_topics(rng, 3, 4)
    tokens = rng.integers(0, 4, size=60).astype(np.int32)
    assert is_safe(tokens, topics.phi_by_word, topics.alpha)
    assert not is_safe(tokens, topics.phi_by_word, np.array([1.0, 1.0, 1e-6]))
