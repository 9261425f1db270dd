"""The chain over assignments, and the harmonic mean and document completion that are read off it."""

import itertools
import math

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.evaluators.document_completion import document_completion, halves
from heldout.evaluators.evaluation import kernel_arrays, log_mean
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.gibbs_chain import log_mean_of_chain, run_chain
from heldout.evaluators.harmonic_mean import harmonic_mean
from heldout.topics import Topics

PHI = np.array([[0.6, 0.25, 0.15, 0.0], [0.1, 0.2, 0.3, 0.4], [0.05, 0.5, 0.0, 0.45]])
TOPICS = Topics(PHI, np.array([0.2, 0.7, 1.5]), ("a", "b", "c", "d"))
COPIES = 20_000  # documents that are the same: independent chains


def corpus(vocabulary: tuple[str, ...], *documents: list[int]) -> Corpus:
    tokens = np.array([w for document in documents for w in document], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return Corpus("made-up", vocabulary, tokens, offsets, tuple(f"d{i}" for i in range(len(documents))))


def test_states_come_from_the_posterior_and_what_follows_is_unbiased() -> None:
    """The last states of independent chains: frequencies (5.4 standard deviations) and a mean (4.42)."""
    document, shown = [0, 1, 2, 1, 3, 1], 4
    documents = corpus(TOPICS.vocabulary, *[document] * COPIES)
    arrays = kernel_arrays(TOPICS, documents)
    chain = run_chain(arrays, np.full(COPIES, shown), 1, np.random.default_rng(2))

    fits: dict[float, float] = {}
    for z in itertools.product(range(3), repeat=shown):
        fit = math.prod(PHI[k, w] for k, w in zip(z, document[:shown], strict=True))
        if fit > 0.0:
            counts = np.bincount(z, minlength=3)
            prior = math.prod(math.gamma(a + c) / math.gamma(a) for a, c in zip(TOPICS.alpha, counts, strict=True))
            key = round(math.log(fit), 9)
            fits[key] = fits.get(key, 0.0) + prior * fit
    total = sum(fits.values())
    for key, weight in fits.items():
        p = weight / total
        frequency = np.mean(np.abs(chain.log_fit[:, 0] - key) < 1e-8)
        assert abs(frequency - p) < 5.4 * math.sqrt(p * (1.0 - p) / COPIES) + 1.0 / COPIES

    whole, part = exact_marginal(TOPICS, corpus(TOPICS.vocabulary, document, document[:shown])).log_likelihood
    ratio = np.exp(chain.log_ahead[:, 0] - (whole - part))
    assert ratio.std() > 0.05
    assert abs(ratio.mean() - 1.0) < 4.42 * ratio.std() / math.sqrt(COPIES)


def test_many_topics_of_which_few_are_used() -> None:
    """A hundred topics: the table of the prior part is searched as often as the topics in use."""
    rng = np.random.default_rng(4)
    phi = rng.dirichlet(np.full(6, 0.3), size=100)
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), np.full(100, 0.02), tuple("abcdef"))
    documents = corpus(topics.vocabulary, *[[0, 3]] * COPIES)
    chain = run_chain(kernel_arrays(topics, documents), np.ones(COPIES, np.int64), 1, rng)
    p = float(topics.alpha @ topics.phi[:, 0]) / topics.alpha.sum()
    joint = topics.phi[:, 0] * topics.alpha / topics.alpha.sum()
    prior_part = (topics.alpha @ topics.phi[:, 3]) * p
    exact = (float(joint @ topics.phi[:, 3]) + prior_part) / (1.0 + topics.alpha.sum()) / p
    found = np.exp(chain.log_ahead[:, 0])
    assert abs(found.mean() - exact) < 4.42 * found.std() / math.sqrt(COPIES)


def test_the_error_of_a_correlated_mean() -> None:
    """Weights of an autoregression: the stated error is the spread over chains; a naive one is a third of it."""
    rng = np.random.default_rng(0)
    chains, S, rho = 400, 2000, 0.8
    x = rng.standard_normal((chains, S))
    for t in range(1, S):
        x[:, t] = rho * x[:, t - 1] + math.sqrt(1.0 - rho**2) * x[:, t]
    value, error = log_mean_of_chain(0.3 * x)
    spread = value.std(ddof=1)
    assert 0.8 * spread < math.sqrt(np.mean(error**2)) < 1.2 * spread
    assert log_mean(0.3 * x)[1].mean() < 0.5 * spread
    independent = rng.standard_normal((5, 400))
    assert np.all(log_mean_of_chain(independent)[1] >= log_mean(independent)[1])


@pytest.mark.parametrize("S", [2, 3, 4, 11, 27])
def test_the_variance_of_a_chains_mean_is_that_of_overlapping_batches(S: int) -> None:
    log_weights = np.cumsum(np.random.default_rng(S).standard_normal((6, S)), axis=1) / 4.0
    value, error = log_mean_of_chain(np.vstack([log_weights, np.full(S, -np.inf)]))
    size, larger = math.isqrt(S), 0
    for d in range(6):
        weights = np.exp(log_weights[d]) / np.exp(log_weights[d]).mean()
        expected = math.sqrt(float(np.sum((weights - 1.0) ** 2)) / (S - 1) / S)  # if they were independent
        if size > 1:
            batches = [weights[i : i + size].mean() for i in range(S - size + 1)]
            variance = size / ((S - size) * len(batches)) * sum((mean - 1.0) ** 2 for mean in batches)
            larger += variance > expected**2
            expected = max(expected, math.sqrt(variance))
        assert error[d] == pytest.approx(expected, rel=1e-10)
        assert value[d] == pytest.approx(math.log(np.exp(log_weights[d]).mean()), rel=1e-12)
    assert (value[6], error[6]) == (-math.inf, 0.0)
    assert (larger > 0) == (size > 1)


def test_the_harmonic_mean_of_a_document_that_has_one_assignment_is_its_fit() -> None:
    """Topics with zeros: the limit is p(w) over the prior probability of assignments that fit, here 1."""
    topics = Topics(np.eye(3), np.array([0.1, 1.0, 3.0]), tuple("abc"))
    found = harmonic_mean(topics, corpus(topics.vocabulary, [0, 1, 2, 0]), 10, np.random.default_rng(0))
    assert found.log_likelihood[0] == 0.0
    assert np.isnan(found.standard_error[0])


def test_one_topic_leaves_nothing_to_sample() -> None:
    topics = Topics(np.array([[0.2, 0.5, 0.3]]), np.array([0.7]), tuple("abc"))
    document = [0, 2, 2, 1, 1, 1, 0]
    found = harmonic_mean(topics, corpus(topics.vocabulary, document), 5, np.random.default_rng(0))
    assert found.log_likelihood[0] == pytest.approx(float(np.log(topics.phi[0, document]).sum()), rel=1e-14)


def test_completion_scores_the_half_that_it_says() -> None:
    """One topic: the value is that of the scored half's words, whichever they are."""
    topics = Topics(np.array([[0.2, 0.5, 0.3]]), np.array([0.7]), tuple("abc"))
    documents = corpus(topics.vocabulary, [0, 2, 2, 1, 1, 1, 0], [1], [], [0, 1])
    observed, scored, left_out = halves(topics, documents, np.random.default_rng(5))
    found = document_completion(topics, documents, 5, np.random.default_rng(5))
    np.testing.assert_array_equal(found.tokens, scored.lengths)
    np.testing.assert_array_equal(observed.lengths, documents.lengths // 2)
    assert left_out == 0
    for d in range(4):
        expected = float(np.log(topics.phi[0, scored.document(d)]).sum())
        assert found.log_likelihood[d] == pytest.approx(expected, rel=1e-14, abs=0.0)
    other, _, _ = halves(topics, documents, np.random.default_rng(6))
    assert np.any(other.document(0) != observed.document(0))
