"""The kernel of every prior against the sum over all assignments, and its own terms in the log domain."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import nbinom

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import count_polynomial as module
from heldout.evaluators.count_polynomial import (
    DirichletMoments,
    GammaPoissonMoments,
    Moments,
    count_vectors,
    gap_marginal,
    log_marginal,
    rating_profile_marginal,
)
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics
from heldout.typing import Floats


def moments_of(prior: str, K: int, rng: np.random.Generator) -> Moments:
    if prior == "dirichlet":
        return DirichletMoments(rng.gamma(1.0, 1.0, K) + 0.05)
    rho = rng.uniform(0.1, 0.9, K) if prior == "conditional gap" else np.zeros(K)
    alpha, beta, totals = rng.gamma(2.0, 1.0, (3, K)) + 0.05
    return GammaPoissonMoments(alpha, beta, totals, rho)


def over_assignments(weights: Floats, moments: Moments) -> float:
    """Return log p(w) by summing over all K^L assignments of the tokens, one moment at a time."""
    L, K = weights.shape
    terms = []
    for z in itertools.product(range(K), repeat=L):
        counts = np.array([[float(z.count(k)) for k in range(K)]])
        terms.append(math.prod(weights[range(L), z].tolist()) * math.exp(moments.log_moment(counts)[0]))
    return math.log(math.fsum(terms))


PRIORS = ("dirichlet", "gap", "conditional gap")


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("K", [2, 3, 4])
def test_is_the_sum_over_all_assignments(prior: str, K: int) -> None:
    rng = np.random.default_rng(K)
    for L in (0, 1, 2, 5):
        weights = rng.gamma(0.5, 3.0, (L, K))
        weights[L // 2 :, 0] *= rng.random() > 0.5  # some components do not give some tokens
        moments = moments_of(prior, K, rng)
        expected = over_assignments(weights, moments)
        assert log_marginal(weights, moments) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def in_logs(weights: Floats, moments: Moments) -> float:
    """Return log sum_C a_C M(C) at K = 2 with every coefficient a logarithm."""
    log_a = np.zeros(1)
    for x in np.log(weights):
        log_a = np.logaddexp(np.append(log_a, -np.inf) + x[1], np.insert(log_a, 0, -np.inf) + x[0])
    return float(logsumexp(log_a + moments.log_moment(count_vectors(len(weights), 2))))


@pytest.mark.parametrize("prior", PRIORS)
def test_a_long_document_loses_nothing(prior: str) -> None:
    rng = np.random.default_rng(7)
    for weights in (
        rng.dirichlet(np.full(40, 0.1), 2).T[rng.integers(0, 40, 1300)] + 1e-6,
        np.repeat([[1.0, 1e-4], [1e-4, 1.0]], 650, axis=0),  # either half of the tokens alone misleads
    ):
        moments = moments_of(prior, 2, rng)
        assert log_marginal(weights, moments) == pytest.approx(in_logs(weights, moments), rel=1e-10)


def test_the_dirichlet_is_the_fast_path() -> None:
    rng = np.random.default_rng(1)
    topics = Topics(rng.dirichlet(np.ones(9), 3), np.array([0.3, 1.0, 2.5]), tuple("abcdefghi"))
    documents = Corpus.from_documents("d", [("a", list("abcdeaab")), ("b", list("ihgi") * 10), ("c", [])]).over(
        topics.vocabulary
    )[0]
    found = [log_marginal(topics.phi_by_word[documents.document(d)], DirichletMoments(topics.alpha)) for d in range(3)]
    np.testing.assert_allclose(found, exact_marginal(topics, documents).log_likelihood, rtol=1e-12, atol=1e-12)


def test_gap_is_a_negative_binomial_length_and_lda_where_rates_are_equal() -> None:
    """The conditional p(n | L) of GaP is mPCA (27.12) exactly where beta_k + s_k is the same for every k."""
    rng = np.random.default_rng(3)
    b, alpha = rng.dirichlet(np.ones(6), 3).T, np.array([0.4, 1.0, 2.0])
    counts = rng.integers(0, 5, (4, 6)).astype(float)
    counts[3] = 0.0
    topics = Topics(np.ascontiguousarray(b.T / b.T.sum(axis=1, keepdims=True)), alpha, tuple("abcdef"))
    streams = [np.repeat(np.arange(6), n.astype(int)).astype(np.int32) for n in counts]
    documents = Corpus.from_documents("d", [("a", list("abcdef"))]).with_streams(streams, tuple("abcd"))
    lengths, zero = counts.sum(axis=1), np.zeros(3)
    multinomial = gammaln(lengths + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    mpca = exact_marginal(topics, documents).log_likelihood + multinomial
    rate = np.full(3, 0.7)
    negative_binomial = nbinom.logpmf(lengths, alpha.sum(), 0.7 / 1.7)
    np.testing.assert_allclose(gap_marginal(counts, b, alpha, rate, zero), negative_binomial + mpca, rtol=1e-11)
    unequal = gap_marginal(counts, b, alpha, np.array([0.7, 0.7, 3.0]), zero)
    assert np.all(np.abs(unequal - negative_binomial - mpca)[:3] > 1e-3)
    # a negligible spike is GaP, a certain one empties the component
    spike = gap_marginal(counts, b, alpha, rate, np.full(3, 1e-14))
    np.testing.assert_allclose(spike, gap_marginal(counts, b, alpha, rate, zero), rtol=1e-11)
    without = gap_marginal(counts, b[:, :2], alpha[:2], rate[:2], zero[:2])
    np.testing.assert_allclose(
        gap_marginal(counts, b, alpha, rate, np.array([0.0, 0.0, 1.0 - 1e-14])), without, atol=1e-9
    )


def test_gap_sums_to_one_over_all_counts() -> None:
    b, alpha, beta, rho = np.array([[0.2, 0.5], [0.3, 0.1]]), np.ones(2), np.full(2, 2.0), np.array([0.3, 0.0])
    every = np.array(list(itertools.product(range(16), repeat=2)), dtype=float)
    assert np.exp(gap_marginal(every, b, alpha, beta, rho)).sum() == pytest.approx(1.0, abs=1e-6)


def test_a_rating_profile_of_shared_tables_is_lda_and_gaps_are_left_out() -> None:
    rng = np.random.default_rng(8)
    table, alpha = rng.dirichlet(np.ones(4), 3), np.array([0.5, 1.0, 2.0])
    tables = np.stack([table] * 5)
    responses = np.array([[0, 1, 3, 3, 2], [-1, -1, 2, -1, 0], [-1] * 5])
    topics = Topics(table, alpha, tuple("abcd"))
    streams = [row[row >= 0].astype(np.int32) for row in responses]
    documents = Corpus.from_documents("d", [("a", list("abcd"))]).with_streams(streams, tuple("abc"))
    found = rating_profile_marginal(responses, tables, alpha)
    np.testing.assert_allclose(found, exact_marginal(topics, documents).log_likelihood, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_count_vectors_are_all_there_are_in_the_order_of_the_kernel(K: int) -> None:
    found = count_vectors(5, K)
    assert len(found) == math.comb(5 + K - 1, K - 1) == len({tuple(row) for row in found})
    assert np.all(found.sum(axis=1) == 5)
    sums = np.cumsum(found, axis=1)[:, ::-1]
    assert sums.tolist() == sorted(sums.tolist())  # by t_K, .., t_1


def test_a_token_that_no_component_gives_has_probability_zero() -> None:
    moments = DirichletMoments(np.ones(2))
    assert log_marginal(np.array([[1.0, 1.0], [0.0, 0.0]]), moments) == -math.inf


class PointMass(DirichletMoments):
    def log_moment(self, counts: Floats) -> Floats:
        return np.asarray(counts @ np.log(self.alpha / self.alpha.sum()))


def test_bad_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.ones(2)
    for weights in (np.array([[1.0, -1.0]]), np.array([[1.0, math.nan]]), np.ones((2, 3))):
        with pytest.raises(InputError, match="2 finite numbers"):
            log_marginal(weights, DirichletMoments(one))
    with pytest.raises(InputError, match="alpha"):
        DirichletMoments(0.0 * one)
    with pytest.raises(InputError, match="rho"):
        GammaPoissonMoments(one, one, one, one)
    with pytest.raises(InputError, match="beta"):
        GammaPoissonMoments(one, np.ones(3), one, 0.0 * one)
    with pytest.raises(InputError, match=r"whole numbers .*1 words"):
        gap_marginal(np.array([[0.5]]), np.ones((1, 2)), one, one, 0.0 * one)
    with pytest.raises(InputError, match=r"1 responses from -1 \(a gap\) to 3 to"):
        rating_profile_marginal(np.array([[4]]), np.full((1, 2, 4), 0.25), one)
    with pytest.raises(InputError, match="Dirichlet"):  # a point mass at the mean, against a corner
        log_marginal(np.tile([[1.0, 1e-9]], (300, 1)), PointMass(one))
    monkeypatch.setattr(module, "LARGEST_LAYER", 3)
    assert log_marginal(np.ones((2, 2)), DirichletMoments(one)) == pytest.approx(0.0)  # as large as the limit
    with pytest.raises(InputError, match=r"4\.0e\+00 .*limit is 3"):
        log_marginal(np.ones((3, 2)), DirichletMoments(one))
