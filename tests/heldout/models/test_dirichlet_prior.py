"""The fitted prior against the maximum of the exact likelihood."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.models.dirichlet_prior import SMALLEST, DirichletMixture, fit_mixture, fit_prior
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


def test_a_mixture_of_two_kinds_of_documents_is_at_least_as_likely_as_the_one_that_drew_them() -> None:
    topics, left = drawn(4, (8.0, 0.5), 150, 40)
    _, right = drawn(4, (0.5, 8.0), 300, 40)  # the same topics: the same seed
    streams = [left.document(d) for d in range(150)] + [right.document(d) for d in range(300)]
    documents = left.with_streams(streams, tuple(map(str, range(450))))

    def log_likelihood(prior: DirichletMixture) -> float:
        evaluation = mixture_of_priors(topics, prior, lambda under: exact_marginal(under, documents))
        return float(evaluation.log_likelihood.sum())

    fitted = fit_mixture(topics, documents, np.random.default_rng(0), components=2, rounds=100)
    truth = DirichletMixture(np.array([1.0, 2.0]) / 3.0, np.array([[8.0, 0.5], [0.5, 8.0]]))
    single = DirichletMixture(np.ones(1), fit_prior(topics, documents, np.random.default_rng(0)).alpha[None])
    # 0.001 nats per token, the least that counts; the maximum itself lies above the truth, and is reached slowly
    assert log_likelihood(fitted) > log_likelihood(truth) - 0.001 * len(documents.tokens)
    assert log_likelihood(fitted) > log_likelihood(single) + 5.0  # three parameters more
    np.testing.assert_allclose(np.sort(fitted.weights), [1 / 3, 2 / 3], atol=0.12)


def test_fit_is_named_by_its_generator_and_leaves_the_topics() -> None:
    topics, documents = drawn(6, (1.0, 0.5, 2.0), 30, 20)
    one, same, other = (fit_prior(topics, documents, np.random.default_rng(seed)) for seed in (1, 1, 2))
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
    alpha, expected = (fit_prior(wider, d, np.random.default_rng(0)).alpha for d in (more, same))
    np.testing.assert_array_equal(alpha, expected)


def test_refuses_documents_that_say_nothing_and_too_few_rounds() -> None:
    topics, documents = drawn(7, (1.0, 1.0), 2, 5)
    empty = documents.with_streams([documents.tokens[:0]], ("0",))
    with pytest.raises(InputError, match="no word"):
        fit_prior(topics, empty, np.random.default_rng(0))
    with pytest.raises(InputError, match="1 rounds"):
        fit_mixture(topics, documents, np.random.default_rng(0), components=1, rounds=1)
    with pytest.raises(InputError, match="0 components"):
        fit_mixture(topics, documents, np.random.default_rng(0), components=0)
