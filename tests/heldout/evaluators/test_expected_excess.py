"""The law by enumeration, its limits at their stated errors, and topics that go beyond it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_normalisers import every_bag
from scipy.special import digamma, gammaln, xlogy
from test_excess import ALPHAS, compositions, drawn, own_words

from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.excess import disjoint_excess
from heldout.evaluators.expected_excess import (
    expected_excess,
    overlap_excess,
    topic_association,
    topic_information,
)
from heldout.evaluators.normaliser import _log_maximum, log_multinomial_nml
from heldout.topics import Topics
from heldout.typing import Floats

# The law's limits, as the module's docstring states them, nats.


def long_document_excess(n: int, alpha: Floats) -> float:
    A, K = alpha.sum(), len(alpha)
    volume = gammaln(alpha).sum() - gammaln(A) + (0.5 - alpha) @ (digamma(alpha) - digamma(A))
    return float((K - 1) / 2 * math.log(n / (2.0 * math.pi)) + volume)


def many_topics_excess(n: int, K: int, alpha: float) -> float:
    log_c = 2.0 * (gammaln(alpha) + alpha + (0.5 - alpha) * digamma(alpha)) - math.log(2.0 * math.pi)
    return float((K - 1) / 2 * (log_c + math.log(n / (K * alpha))))


def short_document_excess(n: int, K: int, alpha: float) -> float:
    A = K * alpha
    pairs = n * (n - 1.0) / 2.0 * (alpha + 1.0) / (A + 1.0)
    return sum(math.log((A + i) / (n * alpha)) for i in range(n)) + pairs * math.log(4.0 * alpha / (1.0 + alpha))


def sparse_prior_excess(n: int, K: int, A: float) -> float:
    j = np.arange(1, n + 1)
    falling = gammaln(n + 1) - gammaln(n + 1 - j) + gammaln(A + n - j) - gammaln(A + n)
    parts = xlogy(j, j) - gammaln(j) + math.log(K / A)
    return float(gammaln(A + n) - gammaln(A) - xlogy(n, n) + (A / j * np.exp(falling)) @ parts)


def law(n: int, alpha: list[float]) -> float:
    return float(expected_excess(np.array([n]), np.array(alpha))[0])


def mean_excess(topics: Topics, n: int) -> float:
    """The mean over all documents of n tokens, with their probabilities under the model."""
    documents, orders = every_bag(topics, n)
    log_p = exact_marginal(topics, documents).log_likelihood
    possible = np.isfinite(log_p)
    excess = _log_maximum(topics, documents)[possible] - log_p[possible]
    return float(np.exp(orders + log_p)[possible] @ excess)


@settings(max_examples=100)
@given(alpha=ALPHAS, n=st.integers(0, 8))
def test_the_law_is_the_mean_over_all_compositions(alpha: list[float], n: int) -> None:
    N, prior = compositions(n, len(alpha)), np.array(alpha)
    log_p = gammaln(prior.sum()) - gammaln(prior.sum() + n) + (gammaln(prior + N) - gammaln(prior)).sum(axis=1)
    orders = gammaln(n + 1) - gammaln(N + 1).sum(axis=1)
    assert law(n, alpha) == pytest.approx(float(np.exp(orders + log_p) @ disjoint_excess(N, prior)), abs=1e-11)


@pytest.mark.parametrize("alpha", [[0.3, 2.0], [1.0, 1.0, 1.0], [0.05, 0.05]])
def test_the_law_is_the_mean_excess_of_topics_that_share_no_word(alpha: list[float]) -> None:
    for n in (1, 4, 7):
        assert mean_excess(own_words(alpha), n) == pytest.approx(law(n, alpha), abs=1e-6)
    assert topic_association(own_words(alpha)) == pytest.approx(1.0, rel=1e-13)


def test_lengths_keep_their_places() -> None:
    lengths = np.array([[7, 0], [2, 7]])
    found = expected_excess(lengths, np.ones(3))
    assert found.shape == (2, 2)
    assert found[0, 1] == 0.0
    assert found[0, 0] == found[1, 1] == law(7, [1.0] * 3)
    assert np.all(expected_excess(lengths, np.ones(1)) == 0.0)
    with pytest.raises(InputError, match="lengths from -3"):
        expected_excess(np.array([-3]), np.ones(2))


@settings(max_examples=60)
@given(alpha=ALPHAS, n=st.integers(1, 60))
def test_the_law_is_at_most_the_complexity(alpha: list[float], n: int) -> None:
    assert law(n, alpha) <= log_multinomial_nml(len(alpha), n) + 1e-10


@pytest.mark.parametrize("K", [2, 5, 20, 100])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_long_documents(K: int, alpha: float) -> None:
    ratio = 1.0 if alpha < 1.0 else alpha  # n over K max(alpha, 1)
    for many, error in ((10, 0.06), (30, 0.03), (100, 0.012)):
        n = round(many * ratio * K)
        exact = law(n, [alpha] * K)
        long = long_document_excess(n, np.full(K, alpha))
        assert exact * (1.0 - error) < long < exact
        limit = many_topics_excess(n, K, alpha)
        assert -0.2 < limit - long < 0.0
        assert K < 20 or abs(limit - long) < 0.155


def test_long_documents_have_the_constants_that_are_stated() -> None:
    flat, n, K = math.exp(2.0 + np.euler_gamma) / (2.0 * math.pi), 5000, 40
    assert flat == pytest.approx(2.0945, abs=1e-4)
    for alpha, c in ((1.0, flat), (0.5, math.e / 2.0), (1e4, math.e)):
        expected = (K - 1) / 2 * math.log(c * n / (K * alpha))
        assert many_topics_excess(n, K, alpha) == pytest.approx(expected, abs=1e-3)
    jeffreys = long_document_excess(10**6, np.full(3, 0.5))
    assert jeffreys == pytest.approx(log_multinomial_nml(3, 10**6), abs=3e-3)
    unequal = [0.6, 2.0, 5.0]
    assert long_document_excess(4000, np.array(unequal)) == pytest.approx(law(4000, unequal), rel=0.01)


def test_the_flat_prior_by_hand_within_five_percent() -> None:
    for K in (3, 4, 5, 20, 100, 1000):
        n = K * np.array([1, 2, 3, 5, 10, 30, 100, 1000])
        by_hand = (K - 1) / 2 * np.log1p(2.0 * n / K + 2.0 * np.sqrt(n / K))
        error = by_hand / expected_excess(n, np.ones(K)) - 1.0
        assert np.all(np.abs(error) < 0.05)


@pytest.mark.parametrize(("alpha", "error"), [(0.2, 0.011), (1.0, 0.0022), (10.0, 0.0008)])
def test_short_documents(alpha: float, error: float) -> None:
    for n, share in ((3, 0.001), (10, 0.01), (30, 0.1), (100, 1.0)):
        exact = law(n, [alpha] * 1000)
        assert short_document_excess(n, 1000, alpha) == pytest.approx(exact, rel=share * error)
    assert law(10, [1.0] * 10**4) == pytest.approx(10 * math.log(10**4 / 10), rel=0.01)  # n log(K / n)


@pytest.mark.parametrize("alpha_sum", [0.1, 1.0, 10.0])
def test_priors_of_a_fixed_sum(alpha_sum: float) -> None:
    for K, error in ((1000, 0.017), (10**5, 2e-4)):
        for n in (10, 83, 400):
            assert sparse_prior_excess(n, K, alpha_sum) == pytest.approx(law(n, [alpha_sum / K] * K), rel=error)


@settings(max_examples=40)
@given(alpha=ALPHAS, share=st.floats(0.0, 1.0), n=st.integers(0, 5))
def test_own_and_common_words_have_the_law_of_the_tokens_that_tell(alpha: list[float], share: float, n: int) -> None:
    K = len(alpha)
    phi = np.hstack([share * np.eye(K), np.tile((1.0 - share) * np.array([0.3, 0.7]), (K, 1))])
    topics = Topics(phi, np.array(alpha), tuple(f"w{v}" for v in range(K + 2)))
    for measure in (topic_association, topic_information):
        assert measure(topics) == pytest.approx(1.0 if K == 1 else share, abs=1e-12)
    assert overlap_excess(topics, np.array([n]))[0] == pytest.approx(mean_excess(topics, n), abs=2e-6)


def test_association_is_chi_square_and_the_mean_eigenvalue_of_the_information() -> None:
    topics = drawn(3, [0.4, 1.0, 2.5], 6)
    joint = (topics.alpha / topics.alpha.sum())[:, None] * topics.phi
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    chi_square = ((joint - independent) ** 2 / independent).sum()
    root = joint / np.sqrt(independent)
    eigenvalues = np.sort(np.linalg.eigvalsh(root @ root.T))
    assert topic_association(topics) == pytest.approx(chi_square / 2, rel=1e-12)
    assert eigenvalues[-1] == pytest.approx(1.0, rel=1e-12)
    assert topic_association(topics) == pytest.approx(eigenvalues[:-1].mean(), rel=1e-12)
    assert topic_association(Topics(topics.phi[[0, 0, 0]], topics.alpha, topics.vocabulary)) == pytest.approx(0.0)


def test_another_share() -> None:
    topics, n = drawn(4, [1.0, 1.0, 1.0], 5), np.array([9])
    assert overlap_excess(topics, n, share=1.0)[0] == pytest.approx(law(9, [1.0] * 3), rel=1e-12)
    assert overlap_excess(topics, n, share=0.0)[0] == 0.0
    assert overlap_excess(topics, n)[0] == overlap_excess(topics, n, share=topic_association(topics))[0]
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="from 0 to 1"):
            overlap_excess(topics, n, share=share)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_no_drawn_topics_exceed_the_law_under_a_flat_prior_or_jeffreys(seed: int, alpha: float) -> None:
    for K, n in ((2, 6), (3, 4)):
        assert mean_excess(drawn(seed, [alpha] * K, 3), n) <= law(n, [alpha] * K) + 1e-6


def test_topics_that_share_words_may_exceed_the_law_elsewhere() -> None:
    """An unequal prior, a sparse one, and a dense one under which the law falls with the length."""
    names = ("a", "b")
    unequal = Topics(np.array([[1.0, 0.0], [0.361, 0.639]]), np.array([0.01, 0.99]), names)
    assert mean_excess(unequal, 1) > 6.0 * law(1, [0.01, 0.99])
    sparse = Topics(np.array([[0.946, 0.054], [0.054, 0.946]]), np.full(2, 0.01), names)
    assert mean_excess(sparse, 4) > 1.15 * law(4, [0.01] * 2)
    dense = Topics(np.array([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]), np.full(2, 20.0), ("a", "b", "c"))
    assert law(2, [20.0] * 2) > law(6, [20.0] * 2)
    assert mean_excess(dense, 6) > 1.04 * law(6, [20.0] * 2)
