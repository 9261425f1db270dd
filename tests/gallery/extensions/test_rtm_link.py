"""The exact probability of a link: all assignments enumerated, zero weights, and what is reported beside it."""

import itertools

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta

from gallery.extensions.evaluators.rtm_link import rtm_link, rtm_link_sampled
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import DirichletMoments
from heldout.topics import Topics
from heldout.typing import Floats

WORDS = ("a", "b")
B, ALPHA = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]), np.array([0.4, 1.5, 0.7])
WEIGHTS, BIAS = np.array([6.0, -3.0, 2.0]), -0.4
CORPUS = Corpus.from_documents("three", [("d0", list("aab")), ("d1", list("ab")), ("d2", list("bbbb"))])
PAIRS = np.array([[0, 1], [1, 2], [0, 2]])


def posterior(words: list[int], K: int) -> tuple[list[Floats], Floats]:
    """Return q-bar of all assignments and their posterior probabilities."""
    states = [np.bincount(q, minlength=K) for q in itertools.product(range(K), repeat=len(words))]
    p = [
        np.exp(DirichletMoments(ALPHA[:K]).log_moment(np.array([counts], dtype=float))[0])
        * np.prod([B[k, w] for k, w in zip(q, words, strict=True)])
        for counts, q in zip(states, itertools.product(range(K), repeat=len(words)), strict=True)
    ]
    return [counts / len(words) for counts in states], np.array(p) / np.sum(p)


@pytest.mark.parametrize("K", [2, 3])
def test_it_is_the_sum_over_all_assignments_and_sums_to_one(K: int) -> None:
    topics, of = Topics(B[:K], ALPHA[:K], WORDS), [posterior(list(CORPUS.document(d)), K) for d in range(3)]
    total = np.zeros(3)
    for link in (0, 1):
        found = rtm_link(topics, WEIGHTS[:K], BIAS, CORPUS, PAIRS, np.full(3, link), np.random.default_rng(0))
        for n, (i, j) in enumerate(PAIRS):
            exact = sum(
                p * r * expit((2 * link - 1) * (WEIGHTS[:K] @ (a * b) + BIAS))
                for a, p in zip(*of[i], strict=True)
                for b, r in zip(*of[j], strict=True)
            )
            assert np.exp(found.exact[n]) == pytest.approx(exact, rel=1e-10)
            means = [
                (ALPHA[:K] + len(CORPUS.document(d)) * (np.array(of[d][0]).T @ of[d][1]))
                / (ALPHA[:K].sum() + len(CORPUS.document(d)))
                for d in (i, j)
            ]
            at_mean = expit((2 * link - 1) * (WEIGHTS[:K] @ (means[0] * means[1]) + BIAS))
            assert np.exp(found.mean[n]) == pytest.approx(at_mean, rel=1e-10)
        total += np.exp(found.exact)
    assert total == pytest.approx(1.0, abs=1e-11)


def test_the_probability_at_a_drawn_state_has_the_exact_one_for_its_mean() -> None:
    """2,000 draws of numbers between 0 and 1: within 4.4 / 2 / sqrt(2,000)."""
    topics, random = Topics(B, ALPHA, WORDS), np.random.default_rng(1)
    draws = [rtm_link(topics, WEIGHTS, BIAS, CORPUS, PAIRS[:1], np.array([1]), random) for _ in range(2000)]
    assert np.mean([np.exp(one.state[0]) for one in draws]) == pytest.approx(np.exp(draws[0].exact[0]), abs=0.049)


def test_zero_weights_leave_the_bias() -> None:
    topics = Topics(B, ALPHA, WORDS)
    found = rtm_link(topics, np.zeros(3), BIAS, CORPUS, PAIRS, np.ones(3, dtype=np.int64), np.random.default_rng(0))
    for values in found:
        np.testing.assert_allclose(np.exp(values), expit(BIAS), rtol=1e-12)


def test_weights_of_another_number_are_refused() -> None:
    with pytest.raises(InputError, match="weights of shape"):
        rtm_link(
            Topics(B, ALPHA, WORDS),
            WEIGHTS[:2],
            BIAS,
            CORPUS,
            PAIRS,
            np.ones(3, dtype=np.int64),
            np.random.default_rng(0),
        )


def test_a_link_that_reads_weights_is_the_mean_over_their_posterior() -> None:
    """Two topics by quantiles of the prior of both documents' pi: 5 stated errors of 60 chains, the grid's 5e-4."""
    topics, random = Topics(B[:2], ALPHA[:2], WORDS), np.random.default_rng(2)
    weights = WEIGHTS[:2]
    given = (topics, weights, BIAS, CORPUS, PAIRS, np.array([1, 0, 1]), random)
    estimate, links = rtm_link_sampled(*given, chains=60, states=50, reads="weights")
    nodes = beta.ppf((np.arange(2000) + 0.5) / 2000, *ALPHA[:2])
    density = []
    for d in range(3):
        likelihood = np.prod([nodes * B[0, w] + (1 - nodes) * B[1, w] for w in CORPUS.document(d)], axis=0)
        density.append(likelihood / likelihood.sum())
    for n, ((i, j), link) in enumerate(zip(PAIRS, (1, 0, 1), strict=True)):
        logit = weights[0] * np.outer(nodes, nodes) + weights[1] * np.outer(1 - nodes, 1 - nodes) + BIAS
        exact = np.log(density[i] @ expit((2 * link - 1) * logit) @ density[j])
        assert abs(estimate.log_likelihood[n] - exact) < 5.0 * estimate.standard_error[n] + 5e-4
        assert estimate.standard_error[n] < 0.02
    np.testing.assert_array_equal(links.exact, estimate.log_likelihood)


@pytest.mark.parametrize("K", [2, 3])
def test_states_of_gibbs_chains_estimate_the_exact_link(K: int) -> None:
    """60 chains, 5 stated errors; and their forms at the mean weights and at one state."""
    topics, links = Topics(B[:K], ALPHA[:K], WORDS), np.array([1, 0, 1])
    given = (topics, WEIGHTS[:K], BIAS, CORPUS, PAIRS, links)
    exact = rtm_link(*given, np.random.default_rng(0))
    estimate, forms = rtm_link_sampled(*given, np.random.default_rng(1), chains=60, states=50)
    assert (np.abs(estimate.log_likelihood - exact.exact) < 5.0 * estimate.standard_error).all()
    assert estimate.standard_error.max() < 0.03
    np.testing.assert_allclose(forms.mean, exact.mean, atol=0.05)
    states = [posterior(list(CORPUS.document(d)), K)[0] for d in range(3)]
    for n, (i, j) in enumerate(PAIRS):
        logits = [WEIGHTS[:K] @ (a * b) + BIAS for a in states[i] for b in states[j]]
        assert np.isclose(forms.state[n], np.log(expit((2 * links[n] - 1) * np.array(logits)))).any()
