"""The bounds on folding in's excess, by enumeration of all documents and of all topics of their tokens."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_normalisers import every_bag, log_normaliser_enumerated
from scipy.special import gammaln, logsumexp

from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.excess import disjoint_excess, largest_excess
from heldout.evaluators.folding_in import full_folding_in
from heldout.evaluators.folding_in_bound import folding_in_bound
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.nml_penalised import nml_penalised
from heldout.evaluators.normaliser import _log_maximum, log_multinomial_nml
from heldout.topics import Topics
from heldout.typing import Floats, Ints

SLACK = 1e-6  # nats; a maximum may be too low by 1e-7 per token
ALPHAS = st.one_of(
    st.tuples(st.floats(0.05, 3.0), st.integers(1, 4)).map(lambda drawn: [drawn[0]] * drawn[1]),
    st.lists(st.floats(0.05, 3.0), min_size=1, max_size=4),
)


def compositions(n: int, K: int) -> Ints:
    """Every N with the sum n, (.., K)."""
    rows = itertools.combinations(range(n + K - 1), K - 1)
    return np.diff(np.array([(-1, *bars, n + K - 1) for bars in rows]), axis=1) - 1


def assignments(n: int, K: int) -> Ints:
    """Every z, (K^n, n)."""
    return np.array(list(itertools.product(range(K), repeat=n))).reshape(K**n, n)


def drawn(seed: int, alpha: list[float], V: int) -> Topics:
    """Topics that are sparse, that hardly differ, or of which some word belongs to one alone."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(V, rng.choice([0.1, 1.0, 20.0])), size=len(alpha)) + 1e-9
    phi[:, 0] *= np.arange(len(alpha)) == 0
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.array(alpha), tuple(f"w{v}" for v in range(V)))


def own_words(alpha: list[float]) -> Topics:
    return Topics(np.eye(len(alpha)), np.array(alpha), tuple(f"w{k}" for k in range(len(alpha))))


@settings(max_examples=150)
@given(alpha=ALPHAS, n=st.integers(0, 9))
def test_the_recurrence_finds_the_largest_of_all_compositions(alpha: list[float], n: int) -> None:
    expected = disjoint_excess(compositions(n, len(alpha)), np.array(alpha)).max()
    found = largest_excess(np.array([n, max(n - 2, 0), n]), np.array(alpha))
    np.testing.assert_allclose(found[[0, 2]], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("alpha", [(0.4, 0.42, 0.47), (0.34, 0.45, 0.6), (0.49, 0.495, 0.499), (0.3, 0.4, 0.5)])
def test_the_recurrence_on_long_documents_where_parts_are_neither_convex_nor_concave(alpha: tuple[float, ...]) -> None:
    for n in (25, 60):
        expected = disjoint_excess(compositions(n, 3), np.array(alpha)).max()
        assert largest_excess(np.array([n]), np.array(alpha))[0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("K", "n"), [(1, 5), (3, 1), (4, 30), (50, 20), (20, 83)])
def test_where_the_maximum_lies(K: int, n: int) -> None:
    corner, even = np.zeros(K), np.full(K, n // K)
    corner[0] = n
    even[: n % K] += 1
    for alpha in (0.5, 0.8, 1.0, 3.0):
        found = largest_excess(np.array([n]), np.full(K, alpha))[0]
        assert found == pytest.approx(float(disjoint_excess(corner, np.full(K, alpha))), rel=1e-12, abs=1e-12)
    for alpha in (1e-6, 0.1, 1 / 3):
        found = largest_excess(np.array([n]), np.full(K, alpha))[0]
        assert found == pytest.approx(float(disjoint_excess(even, np.full(K, alpha))), rel=1e-12, abs=1e-12)
    flat = largest_excess(np.array([n]), np.ones(K))[0]
    assert flat == pytest.approx(math.log(math.comb(n + K - 1, n)), rel=1e-12, abs=1e-12)
    least = np.array([2.0, 0.7, 1.5])
    assert largest_excess(np.array([n]), least)[0] == pytest.approx(disjoint_excess(np.array([0, n, 0]), least))


def test_parts_are_concave_up_to_a_third_and_convex_from_a_half_on() -> None:
    N = np.arange(1, 20_000)
    s = (N + 1) * np.log1p(1 / N) + (N - 1) * np.log1p(-1 / np.maximum(N, 2)) * (N > 1)
    for alpha, sign in ((1 / 3, 1.0), (0.2, 1.0), (0.5, -1.0), (1.0, -1.0)):
        assert np.all(sign * (np.log1p(1 / (alpha + N - 1)) - s) > -1e-12)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), alpha=ALPHAS, V=st.integers(2, 3), n=st.integers(1, 4))
def test_no_point_of_any_document_exceeds_the_bound(seed: int, alpha: list[float], V: int, n: int) -> None:
    topics, prior = drawn(seed, alpha, V), np.array(alpha)
    documents, _ = every_bag(topics, n)
    log_p = exact_marginal(topics, documents).log_likelihood
    z = assignments(n, len(alpha))
    N = (z[:, :, None] == np.arange(len(alpha))).sum(axis=1)
    e = disjoint_excess(N, prior)
    log_p_z = gammaln(prior.sum()) - gammaln(prior.sum() + n) + (gammaln(prior + N) - gammaln(prior)).sum(axis=1)
    with np.errstate(divide="ignore"):
        log_p_zw = log_p_z + np.log(topics.phi[z, documents.tokens.reshape(-1, 1, n)]).sum(axis=2)
    mean = logsumexp(log_p_zw + e, axis=1) - logsumexp(log_p_zw, axis=1)
    maximised = _log_maximum(topics, documents) - log_p
    point = np.random.default_rng(seed).dirichlet(np.full(len(alpha), 0.3), size=len(log_p))
    anywhere = full_folding_in([topics], documents, lambda *_: point).log_likelihood - log_p
    assert np.all(maximised > -SLACK)
    assert np.all(np.maximum(maximised, anywhere) <= mean + SLACK)
    assert np.all(mean <= largest_excess(np.array([n]), prior) + 1e-9)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), alpha=ALPHAS, V=st.integers(2, 4), n=st.integers(0, 5))
def test_the_bound_of_the_weights_lies_below_the_likelihood(seed: int, alpha: list[float], V: int, n: int) -> None:
    topics, K = drawn(seed, alpha, V), len(alpha)
    documents, _ = every_bag(topics, n)
    log_p = exact_marginal(topics, documents).log_likelihood
    point = np.random.default_rng(seed).dirichlet(np.full(K, 0.3), size=len(log_p))
    for theta in (None, point, np.full_like(point, 1.0 / K)):
        assert np.all(folding_in_bound(topics, documents, theta=theta).log_likelihood <= log_p + 1e-9)
    found = folding_in_bound(topics, documents).log_likelihood
    assert np.all(found >= _log_maximum(topics, documents) - largest_excess(np.array([n]), np.array(alpha)) - 1e-3)
    own = own_words(alpha)  # where it is exact
    documents, _ = every_bag(own, n)
    exact = exact_marginal(own, documents).log_likelihood
    np.testing.assert_allclose(folding_in_bound(own, documents).log_likelihood, exact, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_the_bound_of_the_weights_is_the_excess_at_the_weights_and_one_step_of_mean_field(alpha: float) -> None:
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(6, 0.5), size=3)
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.full(3, alpha), tuple("abcdef"))
    documents, _ = every_bag(topics, 6)
    documents = documents.subset(np.sort(rng.permutation(documents.n_documents)[:30]))
    theta = rng.dirichlet(np.ones(3), size=30)
    for _ in range(3_000):  # EM, written out
        ratio = documents.counts().toarray() / (theta @ topics.phi)
        theta = theta * (ratio @ topics.phi.T) / 6
    found = folding_in_bound(topics, documents, theta=theta).log_likelihood
    excess = disjoint_excess(6 * theta, topics.alpha)
    np.testing.assert_allclose(_log_maximum(topics, documents) - found, excess, atol=SLACK)
    assert np.all(found <= mean_field_bound(topics, documents).log_likelihood + SLACK)
    assert np.all(excess <= largest_excess(np.array([6]), topics.alpha) + SLACK)


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 4), V=st.integers(2, 4), n=st.integers(1, 4))
def test_penalised_it_is_a_sub_probability_below_a_probability(seed: int, K: int, V: int, n: int) -> None:
    topics = drawn(seed, [1.0] * K, V)
    documents, orders = every_bag(topics, n)
    log_q = nml_penalised(topics, documents).log_likelihood
    assert logsumexp(orders + log_q) <= 1e-9
    if K <= V:
        z = assignments(n, K)
        N = (z[:, :, None] == np.arange(K)).sum(axis=1)
        r = np.prod(np.where(N > 0, N / n, 1.0) ** N, axis=1)
        p_w_z: Floats = np.prod(topics.phi[z, documents.tokens.reshape(-1, 1, n)], axis=2)
        mixture = p_w_z @ r / r.sum()
        assert math.log(r.sum()) == pytest.approx(log_multinomial_nml(K, n), abs=1e-9)
        assert np.exp(orders) @ mixture == pytest.approx(1.0, rel=1e-9)
        assert np.all(np.exp(log_q) <= mixture + 1e-9)
    own = own_words([1.0] * K)
    documents, orders = every_bag(own, n)
    assert logsumexp(orders + nml_penalised(own, documents).log_likelihood) == pytest.approx(0.0, abs=1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), alpha=ALPHAS, n=st.integers(1, 5))
def test_the_mean_excess_is_at_most_the_complexity_and_some_document_has_as_much(
    seed: int, alpha: list[float], n: int
) -> None:
    topics = drawn(seed, alpha, 3)
    documents, orders = every_bag(topics, n)
    log_p = exact_marginal(topics, documents).log_likelihood
    excess = _log_maximum(topics, documents) - log_p
    log_z = log_normaliser_enumerated(topics, n)
    assert float(np.exp(orders + log_p) @ excess) <= log_z + SLACK
    assert log_z <= log_multinomial_nml(min(len(alpha), 3), n) + SLACK
    assert excess.max() >= log_z - SLACK


def test_a_negative_length_and_an_alpha_of_zero_are_refused() -> None:
    with pytest.raises(InputError, match="lengths from -1"):
        largest_excess(np.array([3, -1]), np.ones(2))
    with pytest.raises(InputError, match="alpha"):
        largest_excess(np.array([3]), np.array([1.0, 0.0]))
    assert largest_excess(np.zeros(0, np.int64), np.ones(2)).shape == (0,)
