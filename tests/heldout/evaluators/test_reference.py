"""The reference and its annealing path, against exact values; its stated error and bias, against the truth.

False alarms: a statistical assertion fails by chance once in about 1e5 runs, and the seeds are fixed.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.annealed_prior import POWERS, _log_ratio, _sequence, _slice, log_weights
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.evaluation import kernel_arrays
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.evaluators.random_stream import starts
from heldout.evaluators.reference import (
    PILOT,
    allocation,
    least_samples,
    log_expectation,
    mixture_reference,
    reference,
    sweeps,
)
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics
from heldout.typing import Floats

DEVIATIONS = 4.42  # two-sided, 1e-5
TOPICS = Topics(
    np.array([[0.5, 0.3, 0.2, 0.0], [0.0, 0.15, 0.85, 0.0], [0.6, 0.0, 0.4, 0.0]]),
    np.array([0.3, 1.2, 0.7]),
    ("a", "b", "c", "never"),
)


def corpus(*documents: list[int]) -> Corpus:
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    tokens = np.array([w for document in documents for w in document], dtype=np.int32)
    return Corpus("made-up", TOPICS.vocabulary, tokens, offsets, tuple(f"d{i}" for i in range(len(documents))))


def log_urn(z: tuple[int, ...], a: Floats) -> float:
    """Return log p(z | a) token by token, from Polya's urn; the kernel is not used."""
    counts, log_p = np.zeros(len(a)), 0.0
    for k in z:
        log_p += math.log((a[k] + counts[k]) / (a.sum() + counts.sum()))
        counts[k] += 1.0
    return log_p


@pytest.mark.parametrize(("h", "g"), [(math.inf, 50.0), (50.0, 0.3), (0.3, 0.0), (math.inf, 0.0)])
def test_the_ratio_of_two_priors_is_the_urns(h: float, g: float) -> None:
    alpha, m = TOPICS.alpha, np.array([0.2, 0.5, 0.3])
    for z in itertools.product(range(3), repeat=4):
        counts = np.bincount(z, minlength=3).astype(float)
        used = np.flatnonzero(counts).astype(np.uint32)
        found = _log_ratio(len(used), used, counts, alpha, m, 1.0 / h if h < math.inf else 0.0, g, len(z))
        before = sum(math.log(m[k]) for k in z) if h == math.inf else log_urn(z, alpha + h * m)
        assert found == pytest.approx(log_urn(z, alpha + g * m) - before, abs=1e-12)


def test_the_ratio_of_a_long_document_neither_over_nor_underflows() -> None:
    alpha, m, counts = np.array([1e-3, 2.0]), np.array([1e-9, 1.0 - 1e-9]), np.array([2000.0, 3000.0])
    found = _log_ratio(2, np.arange(2, dtype=np.uint32), counts, alpha, m, 0.0, 0.0, 5000)
    expected = math.lgamma(2.001) - math.lgamma(5002.001)
    expected += sum(math.lgamma(a + c) - math.lgamma(a) for a, c in zip(alpha, counts, strict=True))
    assert found == pytest.approx(expected - float(counts @ np.log(m)), rel=1e-10)


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
def test_weights_are_unbiased_as_probabilities_for_any_point_and_number_of_steps(steps: int) -> None:
    document = [0, 1, 2, 2, 0]  # words that some topics never give
    exact = float(exact_marginal(TOPICS, corpus(document)).log_likelihood[0])
    arrays = kernel_arrays(TOPICS, corpus(document))
    for point in ([0.4, 0.3, 0.3], [0.1, 0.1, 0.8]):
        rng = np.random.default_rng(steps)
        weights = log_weights(arrays, np.array([point]), np.array([steps]), rng, chains=20_000)
        ratios = np.exp(weights[0] - exact)
        assert ratios.std() > 0.0
        assert abs(ratios.mean() - 1.0) < DEVIATIONS * ratios.std(ddof=1) / math.sqrt(len(ratios))


def test_a_slice_move_moves_and_leaves_its_target_alone() -> None:
    """Two topics' shares given three words, against quadrature; each mean within 4.42 standard errors."""
    phi, a_j, a_k = np.array([[0.7, 0.1], [0.2, 0.6], [0.5, 0.4]]), 0.7, 1.6
    state = starts(np.random.default_rng(0), 1)[0]
    u = np.zeros(20_001)
    for i in range(len(u) - 1):
        u[i + 1] = _slice(u[i], a_j, a_k, phi, len(phi), state)
    assert np.all(np.diff(u) != 0.0)
    grid = np.linspace(-40.0, 40.0, 200_001)
    t = 1.0 / (1.0 + np.exp(-grid))
    density = t**a_j * (1.0 - t) ** a_k * np.prod([t * j + (1.0 - t) * k for j, k in phi], axis=0)
    for statistic in (lambda x: x, np.abs):
        values = statistic(u[1:])
        batches = values.reshape(100, -1).mean(axis=1)  # of a chain: longer than it remembers
        expected = float((statistic(grid) * density).sum() / density.sum())
        assert abs(values.mean() - expected) < 4.42 * batches.std(ddof=1) / 10.0


def test_one_step_is_importance_sampling_from_the_folded_in_product() -> None:
    """With one token a weight depends on its topic alone; with T = 1 it is p(z, w) / q(z)."""
    m, word = np.array([0.2, 0.5, 0.3]), 2
    arrays = kernel_arrays(TOPICS, corpus([word]))
    found = log_weights(arrays, m[None], np.array([1]), np.random.default_rng(0), chains=2_000)[0]
    q = m * TOPICS.phi[:, word]
    expected = np.log(TOPICS.alpha / TOPICS.alpha.sum() * TOPICS.phi[:, word]) - np.log(q / q.sum())
    nearest = np.abs(found[:, None] - expected).argmin(axis=1)
    np.testing.assert_allclose(found, expected[nearest], atol=1e-12)
    share = np.bincount(nearest, minlength=3) / len(found)
    p = q / q.sum()
    assert np.all(np.abs(share - p) < 4.7 * np.sqrt(p * (1.0 - p) / len(found)))  # 1e-5 over three


def random_topics(K: int, V: int, alpha: float, gamma: float = 0.5) -> Topics:
    phi = np.random.default_rng(K).dirichlet(np.full(V, gamma), size=K) + 1e-9
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.full(K, alpha), tuple(f"w{v}" for v in range(V)))


@pytest.mark.parametrize(
    ("K", "V", "alpha", "length", "documents"),
    [(3, 200, 1.0, 85, 200), (2, 500, 0.3, 1300, 40), (4, 100, 0.1, 85, 150)],
)
@pytest.mark.parametrize(("chains", "samples", "most"), [(8, 2000, 1e-3), (4, least_samples(4), 5e-3)])
def test_the_stated_error_covers_the_error(
    K: int, V: int, alpha: float, length: int, documents: int, chains: int, samples: int, most: float
) -> None:
    """At the lengths of abstracts and of papers, and under a sparse prior: of documents and of their sum."""
    topics = random_topics(K, V, alpha)
    drawn, _ = simulate(topics, np.full(documents, length), np.random.default_rng(1))
    exact = exact_marginal(topics, drawn).log_likelihood
    found = reference(topics, drawn, samples, np.random.default_rng(2), chains=chains)
    differences = found.log_likelihood - exact
    assert abs(differences.sum()) < DEVIATIONS * found.total_error()
    assert found.total_error() < most * drawn.n_tokens
    assert found.total_error() >= math.sqrt(float((found.standard_error**2).sum()))
    assert 0.5 < float(np.sqrt(np.mean((differences / found.standard_error) ** 2))) < 1.8


def test_a_component_that_does_not_fit_adds_its_share_of_the_error_alone() -> None:
    """One of three priors is far from the documents: its log weights spread widely, its share of p(w) is nothing."""
    topics = random_topics(3, 100, 1.0)
    drawn, _ = simulate(topics, np.array([0, *np.full(100, 85)]), np.random.default_rng(1))
    far = np.array([1e-4, 1e-4, 50.0])
    prior = DirichletMixture(np.array([0.3, 0.0, 0.5, 0.2]), np.array([np.ones(3), np.ones(3), [2.0, 1.0, 0.5], far]))
    exact = mixture_of_priors(topics, prior, lambda topics: exact_marginal(topics, drawn)).log_likelihood
    samples = 3 * least_samples(4)
    found = mixture_reference(topics, prior, drawn, samples, np.random.default_rng(2), chains=4)
    differences = (found.log_likelihood - exact)[1:]
    assert found.log_likelihood[0] == found.standard_error[0] == 0.0
    assert abs(differences.sum()) < DEVIATIONS * found.total_error()
    assert found.total_error() < 5e-3 * drawn.n_tokens
    assert 0.5 < float(np.sqrt(np.mean((differences / found.standard_error[1:]) ** 2))) < 1.8
    alone = reference(topics, drawn, least_samples(4), np.random.default_rng(2), chains=4)
    one = DirichletMixture(np.ones(1), np.ones((1, 3)))
    same = mixture_reference(topics, one, drawn, least_samples(4), np.random.default_rng(2), chains=4)
    np.testing.assert_array_equal(same.log_likelihood, alone.log_likelihood)
    np.testing.assert_array_equal(same.bias, alone.bias)
    with pytest.raises(InputError, match="359 samples"):
        mixture_reference(topics, prior, drawn, samples - 1, np.random.default_rng(0), chains=4)


def test_cumulants_are_unbiased_where_the_mean_of_weights_is_low() -> None:
    """Log weights from a gamma distribution, whose cumulants are known: c_j = shape scale^j (j - 1)!."""
    D, S, shape, scale = 40_000, 8, 4.0, -0.25  # negatively skewed, variance 0.25
    x = scale * np.random.default_rng(0).gamma(shape, size=(D, S))
    found = log_expectation(x)
    three = sum(shape * scale**j / j for j in (1, 2, 3))
    assert abs(found.value.mean() - three) < DEVIATIONS * found.value.std() / math.sqrt(D)
    truth = -shape * math.log1p(-scale)
    assert abs(three - truth) < 5e-3
    # the normal's variance lacks the covariance of k_1 and k_2, c_3 / S, here negative: rather too large
    stated = np.sqrt(np.mean(found.standard_error**2))
    assert stated == pytest.approx(math.sqrt(found.value.var() - shape * 2 * scale**3 / S), rel=0.05)
    low = np.log(np.exp(x).mean(axis=1)) - truth
    assert low.mean() < -DEVIATIONS * low.std() / math.sqrt(D)


def test_steps_follow_the_spread_and_stay_within_the_samples() -> None:
    pilot = np.array([[0.0, 2.0], [0.0, 0.0], [0.0, 2.0], [-np.inf, -np.inf], [0.0, 0.0]])  # variances 2, 0, 2, -, -
    lengths, mean = np.array([10, 10, 100, 10, 0]), 4.0 / 3.0
    free = allocation(pilot, lengths, 10**9, 0.1)
    assert free.tolist() == [int(PILOT * (v + mean) / 0.2) for v in (2.0, 0.0, 2.0)] + [2 * PILOT] * 2
    limited = allocation(pilot, lengths, 100, 0.1)
    assert limited[0] == limited[2] > limited[1] > 2 * PILOT
    assert 0.95 * 100 * 120 < 2 * (lengths[:3] @ limited[:3]) <= 100 * 120
    assert allocation(pilot, lengths, 4 * PILOT, 0.1).tolist() == [2 * PILOT] * 5


def test_the_sweeps_are_known_before_they_are_taken() -> None:
    topics = random_topics(3, 200, 1.0)
    drawn, _ = simulate(topics, np.array([20, 60, 100]), np.random.default_rng(1))
    chains, few = 4, 600
    for samples, variance in ((few, 1e-9), (10**6, 0.1)):
        rng = np.random.default_rng(2)
        taken = sweeps(topics, drawn, samples, rng, chains=chains, variance=variance)
        assert taken.min() >= 3 * PILOT * chains
        assert np.average(taken, weights=drawn.lengths) <= samples
        assert (np.average(taken, weights=drawn.lengths) > 0.95 * samples) == (samples == few)


def test_one_topic_needs_no_luck() -> None:
    topics = random_topics(1, 20, 0.7)
    documents, _ = simulate(topics, np.array([5, 300]), np.random.default_rng(0))
    found = reference(topics, documents, 300, np.random.default_rng(0))
    np.testing.assert_allclose(found.log_likelihood, exact_marginal(topics, documents).log_likelihood, rtol=1e-10)
    assert found.total_error() < 1e-9


def test_refuses_what_cannot_be_sampled() -> None:
    with pytest.raises(InputError, match="2 samples"):
        reference(TOPICS, corpus([0]), 1000, np.random.default_rng(0), chains=2)
    with pytest.raises(InputError, match="239 samples"):
        reference(TOPICS, corpus([0]), 239, np.random.default_rng(0))


@given(st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=6), st.integers(1, 2000), st.integers(1, 300))
@example([1e-4, 10.0], 2000, 300)
def test_the_path_takes_equal_steps_of_each_topics_ratio(alphas: list[float], tokens: int, steps: int) -> None:
    alpha = np.array(alphas)
    own, other = alpha / alpha.sum(), np.arange(1.0, len(alpha) + 1.0) / np.arange(1.0, len(alpha) + 1.0).sum()
    # linear in g between points of a table; ratios of alpha to m are pooled that have the same power of two
    for m, near in ((own, 0.25), (other, 0.5)):
        g = np.empty(steps + 1)
        _sequence(alpha, m, tokens, steps, np.empty((3, 2 * POWERS)), g)
        assert np.isinf(g[0])
        assert g[-1] == 0.0
        assert np.all(np.diff(g) < 0.0)
        H = np.log1p(tokens / (alpha / m + g[1:, None])) @ m
        assert np.abs(np.diff(H, prepend=0.0) * steps / H[-1] - 1.0).max() < near


def test_the_limit_of_short_documents_under_a_tiny_prior_is_as_stated() -> None:
    """Hold the value to the exact one at 0.001 and six tokens, where it is low by more than its error says."""
    random = np.random.default_rng(0)
    phi, words = random.dirichlet(np.full(30, 0.5), 6), tuple(f"w{v:02d}" for v in range(30))
    topics = Topics(phi, np.full(6, 1e-3), words)
    own = [random.integers(6) for _ in range(60)]
    documents = [(str(d), [words[v] for v in random.choice(30, size=6, p=phi[k])]) for d, k in enumerate(own)]
    cases = Corpus.from_documents("short", documents).over(words)[0]
    found = reference(topics, cases, 1000, np.random.default_rng(0))
    low = exact_marginal(topics, cases).log_likelihood - found.log_likelihood
    assert low.sum() > 0.0
    assert low.sum() / cases.n_tokens < 0.05
