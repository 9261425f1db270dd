"""Supervised LDA's likelihood: all assignments enumerated, sums to one, and LDA at zero weights."""

import itertools
from functools import partial

import numpy as np
import pytest
from scipy.special import expit

from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import DirichletMoments, posterior_counts
from heldout.evaluators.exact_marginal import exact_marginal, exact_posterior_mean
from heldout.evaluators.slda_marginal import slda_marginal, slda_sampled
from heldout.evaluators.topic_states import topic_states
from heldout.topics import Topics

WORDS = ("a", "b")
B = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]])
ALPHA = np.array([0.4, 1.5, 0.7])
WEIGHTS = np.array([3.0, -2.0, 0.5])


def documents(length: int) -> Corpus:
    return Corpus.from_documents(
        "all", [("".join(words), list(words)) for words in itertools.product(WORDS, repeat=length)]
    )


def enumerated(words: list[int], label: int, K: int) -> float:
    """Return p(w, c), the sum over all assignments."""
    total = 0.0
    for q in itertools.product(range(K), repeat=len(words)):
        counts = np.bincount(q, minlength=K).astype(float)
        prior = np.exp(DirichletMoments(ALPHA[:K]).log_moment(counts[None])[0])
        p = expit((2 * label - 1) * WEIGHTS[:K] @ counts / len(words))
        total += prior * np.prod([B[k, w] for k, w in zip(q, words, strict=True)]) * p
    return float(total)


@pytest.mark.parametrize("K", [2, 3])
def test_a_document_and_its_label_have_the_sum_over_all_assignments(K: int) -> None:
    corpus, topics = documents(4), Topics(B[:K], ALPHA[:K], WORDS)
    for label in (0, 1):
        labels = np.full(16, label)
        found = slda_marginal(topics, WEIGHTS[:K], corpus, labels, np.random.default_rng(0))
        exact = [enumerated(list(corpus.document(d)), label, K) for d in range(16)]
        np.testing.assert_allclose(np.exp(found.words + found.label), exact, rtol=1e-12)


def test_it_sums_to_one_over_documents_and_labels() -> None:
    topics = Topics(B, ALPHA, WORDS)
    total = 0.0
    for label in (0, 1):
        found = slda_marginal(topics, WEIGHTS, documents(5), np.full(32, label), np.random.default_rng(0))
        total += np.exp(found.words + found.label).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


def test_zero_weights_leave_lda_and_a_label_by_chance() -> None:
    corpus, topics = draw("slda", Shape(8, 2, 25, 20.0), law=Law(topics=3))
    labels = np.arange(corpus.n_documents) % 2
    found = slda_marginal(topics, np.zeros(3), corpus, labels, np.random.default_rng(0))
    np.testing.assert_allclose(found.words, exact_marginal(topics, corpus).log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(found.label, np.log(0.5), rtol=1e-12)
    np.testing.assert_allclose(found.state, np.log(0.5), rtol=1e-12)
    theta = exact_posterior_mean(topics, corpus)  # (alpha + E[C]) / (A + L)
    lengths = corpus.lengths[:, None]
    counts = theta * (topics.alpha.sum() + lengths) - topics.alpha
    np.testing.assert_allclose(found.means, counts / lengths, atol=1e-9)


def test_states_are_drawn_from_the_posterior() -> None:
    """5,000 draws of a label's probability; their mean is the exact one, within 5 standard errors."""
    topics = Topics(B, ALPHA, WORDS)
    corpus = Corpus.from_documents("same", [(str(d), ["a", "b", "b", "b"]) for d in range(5000)])
    found = slda_marginal(topics, WEIGHTS, corpus, np.ones(5000, dtype=np.int64), np.random.default_rng(2))
    drawn, exact = np.exp(found.state), np.exp(found.label[0])
    assert abs(drawn.mean() - exact) < 5.0 * drawn.std() / np.sqrt(5000)
    assert found.state.mean() < found.label[0]  # Jensen


def test_a_document_without_known_words_has_a_label_by_chance() -> None:
    topics = Topics(B, ALPHA, WORDS)
    corpus = Corpus.from_documents("two", [("short", ["a", "b"]), ("long", ["a"] * 40), ("none", ["c"])])
    labels, random = np.array([1, 0, 1]), np.random.default_rng(0)
    found = slda_marginal(topics, WEIGHTS, corpus, labels, random)
    sampled, state = slda_sampled(topics, WEIGHTS, corpus, labels, random, chains=3, states=4)
    for value in (found.label[2], found.state[2], sampled.log_likelihood[2], state[2]):
        assert value == pytest.approx(np.log(0.5))
    assert found.tokens.tolist() == [2, 40, 0]
    for call in (slda_marginal, partial(slda_sampled, chains=3, states=4)):
        with pytest.raises(InputError, match="give 3 and 3"):
            call(topics, WEIGHTS[:2], corpus, labels, random)


@pytest.mark.parametrize("K", [2, 3])
def test_states_of_gibbs_chains_estimate_the_exact_label(K: int) -> None:
    """60 documents, 32 chains: within 7 errors each, a t of 31 degrees of freedom, and within 5 of the sum.

    A squared z has the mean 31 / 29, and their mean a spread of 0.2.
    """
    corpus, topics = draw("slda", Shape(60, 2, 25, 20.0), law=Law(topics=K))
    labels = np.arange(corpus.n_documents) % 2
    weights = WEIGHTS[:K]
    exact = slda_marginal(topics, weights, corpus, labels, np.random.default_rng(0)).label
    found, state = slda_sampled(topics, weights, corpus, labels, np.random.default_rng(1), chains=32, states=100)
    some = found.standard_error > 1e-4  # a document of one state that is seen has no spread
    np.testing.assert_allclose(found.log_likelihood[~some], exact[~some], atol=5e-3)
    z = (found.log_likelihood - exact)[some] / found.standard_error[some]
    assert np.abs(z).max() < 7.0
    assert np.mean(z**2) < 2.0
    assert abs((found.log_likelihood - exact).sum()) < 5.0 * found.total_error()
    assert found.standard_error.max() < 0.05
    assert state.shape == exact.shape


def test_states_have_the_posterior_of_enumerated_assignments() -> None:
    """20,000 states of 8 chains, 3 tokens: total variation of count vectors below 0.02, where draws give 0.007."""
    topics = Topics(B, ALPHA, WORDS)
    corpus = Corpus.from_documents("one", [("d", ["a", "b", "b"])])
    counts = topic_states(topics, corpus, 8, 2500, np.random.default_rng(3)).counts.reshape(-1, 3)
    _, vectors, p = posterior_counts(topics.phi_by_word[corpus.document(0)], ALPHA)
    shares = [(counts == vector).all(axis=1).mean() for vector in vectors]
    assert np.sum(shares) == pytest.approx(1.0)
    assert np.abs(shares - p).sum() / 2.0 < 0.02


def test_states_of_no_chains_and_of_impossible_words_are_refused() -> None:
    corpus = Corpus.from_documents("one", [("d", ["a", "b"])])
    for phi, chains, match in ((B, 1, "give at least 1 of 2"), (np.array([[1.0, 0.0]]), 2, "smooth the topics")):
        with pytest.raises(InputError, match=match):
            topic_states(Topics(phi, ALPHA[: len(phi)], WORDS), corpus, chains, 5, np.random.default_rng(0))


def test_posterior_counts_of_an_impossible_document_are_not_known() -> None:
    value, _, p = posterior_counts(np.zeros((1, 2)), np.ones(2))
    assert value == -np.inf
    assert np.isnan(p).all()
    with pytest.raises(InputError, match="2 finite numbers"):
        posterior_counts(np.ones((1, 3)), np.ones(2))
