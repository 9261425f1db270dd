"""The exact marginal against the sum over all assignments, and what must hold of it whatever the topics are."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import exact_marginal as module
from heldout.evaluators.exact_marginal import cost, exact_marginal, exact_posterior_mean
from heldout.evaluators.priors import exact_within
from heldout.topics import Topics
from heldout.typing import Floats


def words(n: int) -> tuple[str, ...]:
    return tuple(f"w{i}" for i in range(n))


def corpus(n_words: int, *documents: list[int]) -> Corpus:
    tokens = np.array([w for document in documents for w in document], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return Corpus("made-up", words(n_words), tokens, offsets, tuple(f"d{i}" for i in range(len(documents))))


def random_topics(rng: np.random.Generator, K: int, V: int, concentration: float = 0.3) -> Topics:
    phi = rng.dirichlet(np.full(V, concentration), size=K)
    return Topics(phi / phi.sum(axis=1, keepdims=True), rng.gamma(1.0, 1.0, K) + 0.01, words(V))


def over_assignments(topics: Topics, document: list[int]) -> tuple[float, Floats]:
    """Return log p(w) and E[theta | w] by summing p(w, z) over all K^L assignments z."""
    K, alpha, total = topics.n_topics, topics.alpha, []
    weighted = []
    for z in itertools.product(range(K), repeat=len(document)):
        counts = [z.count(k) for k in range(K)]
        log_p = math.lgamma(alpha.sum()) - math.lgamma(alpha.sum() + len(document))
        log_p += sum(math.lgamma(a + c) - math.lgamma(a) for a, c in zip(alpha, counts, strict=True))
        total.append(math.prod(topics.phi[k, w] for k, w in zip(z, document, strict=True)) * math.exp(log_p))
        weighted.append(total[-1] * (alpha + counts) / (alpha.sum() + len(document)))
    p = math.fsum(total)
    return (math.log(p), np.sum(weighted, axis=0) / p) if p > 0.0 else (-math.inf, np.full(K, np.nan))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 5), V=st.integers(1, 4), length=st.integers(0, 5))
def test_is_the_sum_over_all_assignments(seed: int, K: int, V: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    topics = random_topics(rng, K, V)
    documents = [rng.integers(0, V, n).tolist() for n in (length, 2, length)]  # one document's table serves the next
    found = exact_marginal(topics, corpus(V, *documents)).log_likelihood
    means = exact_posterior_mean(topics, corpus(V, *documents))
    assert means.shape == (3, K)
    for value, mean, document in zip(found, means, documents, strict=True):
        log_p, theta = over_assignments(topics, document)
        assert value == pytest.approx(log_p, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(mean, theta, rtol=1e-12)


def test_many_topics_at_once() -> None:
    topics = random_topics(np.random.default_rng(5), 9, 3)
    document = [0, 2, 2, 1]
    found = exact_marginal(topics, corpus(3, document)).log_likelihood[0]
    assert found == pytest.approx(over_assignments(topics, document)[0], rel=1e-12)


def test_the_probabilities_of_all_sequences_sum_to_one() -> None:
    topics = random_topics(np.random.default_rng(2), 4, 3)
    every = [list(document) for document in itertools.product(range(3), repeat=6)]
    log_p = exact_marginal(topics, corpus(3, *every)).log_likelihood
    assert math.fsum(np.exp(log_p)) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 4))
def test_neither_the_order_of_tokens_nor_that_of_topics_matters(seed: int, K: int) -> None:
    rng = np.random.default_rng(seed)
    topics = random_topics(rng, K, 6)
    document = rng.integers(0, 6, 40)
    shuffled, order = rng.permutation(document), rng.permutation(K)
    renamed = Topics(np.ascontiguousarray(topics.phi[order]), topics.alpha[order], topics.vocabulary)
    first, second = exact_marginal(topics, corpus(6, document.tolist(), shuffled.tolist())).log_likelihood
    third = exact_marginal(renamed, corpus(6, document.tolist())).log_likelihood[0]
    assert second == pytest.approx(first, rel=1e-12)
    assert third == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("K", [2, 3, 4])
def test_identity_topics_give_polyas_urn_at_any_length(K: int) -> None:
    rng = np.random.default_rng(K)
    alpha = np.array([0.3, 1.0, 2.5, 0.01])[:K]
    document = rng.integers(0, K, {2: 1000, 3: 400, 4: 150}[K])
    counts = np.bincount(document, minlength=K)
    expected = math.lgamma(alpha.sum()) - math.lgamma(alpha.sum() + len(document))
    expected += sum(math.lgamma(a + c) - math.lgamma(a) for a, c in zip(alpha, counts, strict=True))
    topics = Topics(np.eye(K), alpha, words(K))
    found = exact_marginal(topics, corpus(K, document.tolist())).log_likelihood[0]
    assert found == pytest.approx(expected, rel=1e-12)
    (mean,) = exact_posterior_mean(topics, corpus(K, document.tolist()))
    np.testing.assert_allclose(mean, (alpha + counts) / (alpha.sum() + len(document)), rtol=1e-12)


def test_a_long_document_whose_halves_disagree_as_much_as_they_can() -> None:
    # after 450 tokens the counts that the other 450 ask for have probability 1e-4500: what is set to 0 must not matter
    phi = np.array([[1.0 - 1e-10, 1e-10], [1e-10, 1.0 - 1e-10]])
    document = [0] * 450 + [1] * 450
    topics = Topics(phi, np.ones(2), words(2))
    found = exact_marginal(topics, corpus(2, document, [0, 1] * 450)).log_likelihood
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert np.isfinite(found[0])


def test_equal_topics_are_one_topic() -> None:
    row = np.array([[0.5, 0.3, 0.2]])
    document = [0, 1, 2, 2, 1, 0, 0]
    found = exact_marginal(Topics(np.repeat(row, 3, axis=0), np.array([0.1, 1, 9]), words(3)), corpus(3, document))
    assert found.log_likelihood[0] == pytest.approx(float(np.log(row[0][document]).sum()), rel=1e-13)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_a_word_that_no_topic_gives_is_impossible_and_the_next_document_is_not(K: int) -> None:
    phi = np.tile([0.6, 0.4, 0.0], (K, 1))
    topics = Topics(phi, np.ones(K), words(3))
    found = exact_marginal(topics, corpus(3, [0, 2, 1], [0, 1], [])).log_likelihood
    assert found[0] == -math.inf
    assert found[1] == pytest.approx(math.log(0.24), rel=1e-13)
    assert found[2] == 0.0
    means = exact_posterior_mean(topics, corpus(3, [0, 2, 1], [0, 1], []))
    assert np.all(np.isnan(means[0]))
    np.testing.assert_allclose(means[1:], 1.0 / K, rtol=1e-13)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 4))
def test_the_posterior_mean_predicts_the_next_token(seed: int, K: int) -> None:
    rng = np.random.default_rng(seed)
    topics = random_topics(rng, K, 6)
    document = rng.integers(0, 6, 40).tolist()
    (mean,) = exact_posterior_mean(topics, corpus(6, document))
    assert mean.sum() == pytest.approx(1.0, abs=1e-12)
    before, after = exact_marginal(topics, corpus(6, document, [*document, 3])).log_likelihood
    assert math.exp(after - before) == pytest.approx(float(mean @ topics.phi[:, 3]), rel=1e-11)


def test_cost_counts_the_updates_of_every_layer() -> None:
    by_hand = sum(4 * math.comb(position + 3, 3) for length in (7, 3) for position in range(length))
    assert cost([7, 3, 0], 4) == by_hand
    assert cost([5], 1) == 5


def test_refuses_what_costs_too_much_with_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = random_topics(np.random.default_rng(1), 3, 2)
    documents = corpus(2, [0, 1] * 20)
    needed = cost([40], 3)
    exact_marginal(topics, documents, limit=needed)
    named = rf"{needed:.1e} updates \(at most about .* s\)".replace("+", r"\+")
    with pytest.raises(InputError, match=named):
        exact_marginal(topics, documents, limit=needed - 1)
    monkeypatch.setattr(module, "LARGEST_LAYER", math.comb(42, 2))
    exact_marginal(topics, documents)
    monkeypatch.setattr(module, "LARGEST_LAYER", math.comb(42, 2) - 1)
    with pytest.raises(InputError, match="count vectors"):
        exact_marginal(topics, documents)


def test_the_limits_themselves() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match=r"1\.3e\+12 updates .*limit is 1\.0e\+12"):
        exact_marginal(random_topics(rng, 5, 2), corpus(2, [0, 1] * 250))
    with pytest.raises(InputError, match=r"20 topics .*4\.1e\+09 .*limit is 6\.7e\+07"):
        exact_marginal(random_topics(rng, 20, 2), corpus(2, [0, 1] * 8))


@pytest.mark.parametrize(("first", "second", "ratio"), [(450, 450, 2.0), (331, 569, math.e), (1500, 1500, 2.0)])
def test_a_long_document_in_a_contrived_order(first: int, second: int, ratio: float) -> None:
    """In order, the first part all but washes out what the second stands on: what decides has e^-(first log ratio).

    A flat prior makes both m_l and its weight log-concave in the counts, so with two topics e^-(L/e) = 1e-144 is the
    least that can decide: the second case. The third is shuffled.
    """
    phi = np.array([[0.3 * ratio, 1.0 - 0.3 * ratio, 0.0], [0.3, 0.0, 0.7]])
    found = exact_marginal(Topics(phi, np.ones(2), words(3)), corpus(3, [0] * first + [2] * second)).log_likelihood[0]
    j = np.arange(first + 1)  # how many of the first part the second topic gives
    terms = gammaln(first + 1) - gammaln(j + 1) - gammaln(first - j + 1) + (first - j) * math.log(ratio)
    terms += betaln(first - j + 1, second + j + 1)
    assert found == pytest.approx(logsumexp(terms) + first * math.log(0.3) + second * math.log(0.7), rel=1e-12)


def test_exact_within_a_limit_counts_the_tokens_that_the_topics_know() -> None:
    topics = random_topics(np.random.default_rng(3), 3, 4)
    known, unknown = [0, 3, 1, 2, 1], [5] * 40
    needed = cost([len(known)], 3)
    exact = exact_within(topics, corpus(6, known + unknown), needed)
    assert exact is not None
    assert exact.log_likelihood == exact_marginal(topics, corpus(4, known)).log_likelihood
    assert exact.tokens_left_out == 40
    assert exact_within(topics, corpus(6, known + unknown), needed - 1) is None
