"""The mean-field posterior mean against its definition and the exact one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_posterior_mean
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
