"""The mean-field posterior mean and the fitted prior, against their definitions and against what drew the documents."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import digamma

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.evaluators.exact_marginal import exact_marginal, exact_posterior_mean
from dlvm.evaluators.posterior_mean import posterior_mean, topic_counts
from dlvm.evaluators.prior_fit import SMALLEST, fit_prior
from dlvm.models.topics import Topics

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


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), mean_field=st.booleans())
def test_counts_are_the_fixed_point_token_by_token(seed: int, mean_field: bool) -> None:
    topics, documents = drawn(seed, (0.5, 1.0, 2.0), 3, 12)
    gamma = topic_counts(topics, documents, mean_field=mean_field, iterations=50_000, tolerance=1e-13)
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
    one, two = (topic_counts(topics, documents, mean_field=True, iterations=n) for n in (1, 2))
    assert not np.allclose(one, two)
    np.testing.assert_allclose(
        topic_counts(topics, documents, mean_field=True, iterations=1, start=one), two, rtol=1e-12
    )
    for wrong in ({"iterations": 0}, {"tolerance": float("nan")}):
        with pytest.raises(InputError, match="topic counts"):
            topic_counts(topics, documents, mean_field=True, **wrong)


def test_fit_finds_the_maximum_of_the_exact_likelihood() -> None:
    topics, documents = drawn(4, (0.2, 0.8), 400, 60)
    start = replace(topics, alpha=np.ones(2))

    def loss(log_alpha: np.ndarray) -> float:
        return -float(exact_marginal(replace(start, alpha=np.exp(log_alpha)), documents).log_likelihood.sum())

    best = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    fitted = fit_prior(start, documents, np.random.default_rng(0))
    # nats over 400 documents: the average of 100 rounds is as near to the maximum as that
    assert 0.0 <= loss(np.log(fitted.alpha)) - best.fun < 0.1
    assert loss(np.zeros(2)) - best.fun > 10.0
    np.testing.assert_allclose(fitted.alpha / fitted.alpha.sum(), [0.2, 0.8], atol=0.05)


def test_fit_is_named_by_its_generator_and_leaves_the_topics() -> None:
    topics, documents = drawn(6, (1.0, 0.5, 2.0), 30, 20)
    one, same, other = (fit_prior(topics, documents, np.random.default_rng(seed), rounds=20) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.alpha, same.alpha)
    assert not np.array_equal(one.alpha, other.alpha)
    np.testing.assert_array_equal(one.phi, topics.phi)


def test_an_unused_topic_ends_at_the_floor_and_empty_documents_and_impossible_words_say_nothing() -> None:
    topics, documents = drawn(5, (1.0, 1.0), 60, 20)
    phi = np.zeros((3, 8))
    phi[:2, :6], phi[2, 6] = topics.phi, 1.0
    wider = Topics(phi, np.ones(3), (*WORDS, "never", "impossible"))
    # all weight is averaged over the last rounds, in which it has been there long since
    assert fit_prior(wider, documents, np.random.default_rng(0)).alpha[2] == pytest.approx(SMALLEST, rel=1e-12)
    streams = [np.append(documents.document(d), 7).astype(np.int32) for d in range(60)] + [documents.tokens[:0]]
    more = replace(documents, vocabulary=wider.vocabulary).with_streams(streams, tuple(map(str, range(61))))
    same = replace(documents, vocabulary=wider.vocabulary)
    found, expected = (fit_prior(wider, d, np.random.default_rng(0), rounds=10).alpha for d in (more, same))
    np.testing.assert_array_equal(found, expected)


def test_refuses_documents_that_say_nothing_and_too_few_rounds() -> None:
    topics, documents = drawn(7, (1.0, 1.0), 2, 5)
    empty = documents.with_streams([documents.tokens[:0]], ("0",))
    with pytest.raises(InputError, match="no word that a topic gives"):
        fit_prior(topics, empty, np.random.default_rng(0))
    with pytest.raises(InputError, match="1 rounds"):
        fit_prior(topics, documents, np.random.default_rng(0), rounds=1)
