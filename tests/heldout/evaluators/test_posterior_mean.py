"""The mean-field posterior mean against its definition and the exact one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, digamma, roots_jacobi

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal, exact_posterior_mean
from heldout.evaluators.folding_in import full_folding_in
from heldout.evaluators.posterior_mean import posterior_mean, variational_gamma
from heldout.topics import Topics

WORDS = tuple("abcdef")


def drawn(seed: int, alpha: tuple[float, ...], documents: int, length: int) -> tuple[Topics, Corpus]:
    """Return topics and documents that they drew."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(len(WORDS), 0.3), size=len(alpha)) + 1e-3
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.array(alpha), WORDS)
    words = rng.dirichlet(alpha, size=documents) @ topics.phi
    tokens = np.concatenate([rng.choice(len(WORDS), size=length, p=p) for p in words]).astype(np.int32)
    offsets = np.arange(documents + 1, dtype=np.int64) * length
    return topics, Corpus("drawn", WORDS, tokens, offsets, tuple(map(str, range(documents))))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), mean_field=st.booleans())
def test_counts_are_the_fixed_point_token_by_token(seed: int, mean_field: bool) -> None:
    topics, documents = drawn(seed, (0.5, 1.0, 2.0), 3, 12)
    gamma = variational_gamma(topics, documents, mean_field=mean_field, iterations=50_000, tolerance=1e-13)
    for d in range(3):
        weight = np.exp(digamma(gamma[d])) if mean_field else gamma[d]
        r = topics.phi[:, documents.document(d)].T * weight
        expected = topics.alpha + (r / r.sum(axis=1, keepdims=True)).sum(axis=0)
        np.testing.assert_allclose(gamma[d], expected, rtol=1e-9)


def test_mean_is_near_the_exact_one_and_the_priors_for_an_empty_document() -> None:
    topics, documents = drawn(1, (1.0, 0.5, 2.0), 20, 40)
    documents = documents.with_streams(
        [*map(documents.document, range(20)), documents.tokens[:0]], (*"abcdefghijklmnopqrstu",)
    )
    found, exact = posterior_mean(topics, documents), exact_posterior_mean(topics, documents)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found[-1], topics.alpha / 3.5, rtol=1e-12)
    assert np.abs(found - exact).max() < 0.15
    assert np.abs(found - exact).mean() < 0.2 * np.abs(topics.alpha / 3.5 - exact).mean()


def test_stopping_is_a_setting_and_a_bad_one_is_refused() -> None:
    topics, documents = drawn(2, (1.0, 1.0), 2, 10)
    one, two = (variational_gamma(topics, documents, mean_field=True, iterations=n) for n in (1, 2))
    assert not np.allclose(one, two)
    for wrong in ({"iterations": 0}, {"tolerance": float("nan")}):
        with pytest.raises(InputError, match="gamma"):
            variational_gamma(topics, documents, mean_field=True, **wrong)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.tuples(st.floats(0.3, 3.0), st.floats(0.3, 3.0)))
def test_the_exact_mean_scores_above_the_likelihood_by_the_posteriors_divergence(
    seed: int, alpha: tuple[float, float]
) -> None:
    topics, documents = drawn(seed, alpha, 5, 12)
    score = full_folding_in([topics], documents, exact_posterior_mean).log_likelihood
    log_p = exact_marginal(topics, documents).log_likelihood
    nodes, weights = roots_jacobi(60, alpha[1] - 1.0, alpha[0] - 1.0)  # p(theta), to degree 119
    theta = np.column_stack([(1.0 + nodes) / 2.0, (1.0 - nodes) / 2.0])
    weights = weights / np.exp(betaln(*alpha) + (sum(alpha) - 1.0) * np.log(2.0))
    for d in range(5):
        given_theta = np.log(theta @ topics.phi[:, documents.document(d)]).sum(axis=1)
        posterior = weights * np.exp(given_theta - log_p[d])
        np.testing.assert_allclose(posterior.sum(), 1.0, rtol=1e-9)
        sampled = posterior @ given_theta  # log p(w) and the divergence
        assert score[d] >= sampled - 1e-9
        assert sampled >= log_p[d] - 1e-9
