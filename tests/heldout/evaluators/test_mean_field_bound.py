"""The mean-field bound: below the exact value, never falling, and equal to the definition at its fixed point."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mean_field_bound import _digamma_and_log_gamma, mean_field_bound
from heldout.evaluators.posterior_mean import _digamma
from heldout.topics import Topics

WORDS = ("a", "b", "c", "d", "e")


def drawn(seed: int, K: int, lengths: tuple[int, ...]) -> tuple[Topics, Corpus]:
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(5, 0.4), size=K) + 1e-9
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), rng.gamma(1.0, 1.0, K) + 0.05, WORDS)
    tokens = rng.integers(0, 5, sum(lengths)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return topics, Corpus("drawn", WORDS, tokens, offsets, tuple(f"d{i}" for i in range(len(lengths))))


def twin(topics: Topics, document: NDArray[np.int32], iterations: int) -> float:
    """Iterate Blei et al.'s updates token by token and return their bound as a sum of its five expectations."""
    alpha = topics.alpha
    gamma = alpha + len(document) / topics.n_topics
    for iteration in range(iterations):
        expected = psi(gamma) - psi(gamma.sum())
        r = topics.phi[:, document].T * np.exp(expected)
        r /= r.sum(axis=1, keepdims=True)
        if iteration < iterations - 1:
            gamma = alpha + r.sum(axis=0)
    log_p_theta = gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * expected).sum()
    log_p_z, log_p_w = (r * expected).sum(), (r * np.log(topics.phi[:, document].T)).sum()
    log_q_theta = gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * expected).sum()
    return float(log_p_theta + log_p_z + log_p_w - log_q_theta - (r * np.log(r)).sum())


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 4), iterations=st.integers(1, 20))
def test_is_the_bound_of_the_updates_written_out(seed: int, K: int, iterations: int) -> None:
    topics, documents = drawn(seed, K, (7, 30))
    found = mean_field_bound(topics, documents, iterations=iterations, tolerance=0.0).log_likelihood
    # a tolerance of 0 ends where an iteration changes nothing, after which the twin does not change either
    expected = [twin(topics, documents.document(d), iterations) for d in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 4), length=st.integers(0, 12))
def test_lies_below_the_exact_marginal(seed: int, K: int, length: int) -> None:
    topics, documents = drawn(seed, K, (length, 3))
    gap = exact_marginal(topics, documents).log_likelihood - mean_field_bound(topics, documents).log_likelihood
    assert np.all(gap >= -1e-10)
    if K == 1:  # nothing is latent
        np.testing.assert_allclose(gap, 0.0, atol=1e-10)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 4))
def test_never_falls(seed: int, K: int) -> None:
    topics, documents = drawn(seed, K, (40,))
    trace = [
        float(mean_field_bound(topics, documents, iterations=i, tolerance=0.0).log_likelihood[0]) for i in range(1, 15)
    ]
    assert np.all(np.diff(trace) >= -1e-11)
    assert trace[-1] > trace[0]


def test_ends_at_the_stated_tolerance() -> None:
    topics, documents = drawn(3, 3, (60, 5, 200))
    loose = mean_field_bound(topics, documents, tolerance=1e-3).log_likelihood
    tight = mean_field_bound(topics, documents, tolerance=1e-13).log_likelihood
    usual = mean_field_bound(topics, documents).log_likelihood
    assert np.all(loose <= usual + 1e-10)
    assert np.max(tight - loose) > 1e-4
    assert np.all(np.abs(tight - usual) <= 1e-6 * documents.lengths)


def test_is_strictly_pessimistic_where_topics_overlap() -> None:
    topics, documents = drawn(11, 3, (50,))
    gap = exact_marginal(topics, documents).log_likelihood - mean_field_bound(topics, documents).log_likelihood
    assert gap[0] > 0.01


def test_words_that_are_certain_and_words_that_no_topic_has() -> None:
    documents = Corpus("two", ("a", "b"), np.array([0, 0, 0, 1], np.int32), np.array([0, 3, 4]), ("a", "b"))
    topics = Topics(np.array([[1.0, 0.0]]), np.array([0.5]), ("a", "b"))
    assert mean_field_bound(topics, documents).log_likelihood.tolist() == [pytest.approx(0.0, abs=1e-12), -math.inf]


@pytest.mark.parametrize("change", [{"iterations": 0}, {"tolerance": -1.0}, {"tolerance": math.nan}])
def test_refuses_bad_settings(change: dict[str, float]) -> None:
    topics, documents = drawn(0, 2, (3,))
    with pytest.raises(InputError, match="mean-field bound"):
        mean_field_bound(topics, documents, **change)  # type: ignore[arg-type]


@given(st.floats(1e-6, 1e6))
def test_digamma_and_log_gamma_are_the_libraries(x: float) -> None:
    assert _digamma(x) == pytest.approx(float(psi(x)), rel=1e-13, abs=1e-14)
    digamma, log_gamma = _digamma_and_log_gamma(x)
    assert digamma == pytest.approx(float(psi(x)), rel=1e-13, abs=1e-14)
    assert log_gamma == pytest.approx(math.lgamma(x), rel=1e-13, abs=1e-13)
