"""The dynamic topic model: its smoother, its bound against quadrature over the path of the state, and its limits."""

import itertools

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from scipy.stats import multivariate_normal

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.dtm_annealed import dtm_annealed, variational
from heldout.models.dtm import DTM, DynamicState, Observed, Walk
from heldout.models.estimator import checked_counts
from heldout.models.token_shares import Documents, rows_of
from heldout.typing import Floats, Ints

WORDS = tuple("abcdef")
COUNTS = np.random.default_rng(0).poisson(1.5, (15, 6)).astype(float) + np.eye(15, 6)
TIMES = np.repeat(np.arange(3), 5)


def walk_of(K: int, V: int, v0: float, sigma2: float, mean: float = 0.0) -> Walk:
    return Walk.of(np.full((K, V), mean), np.full((K, V), v0), sigma2)


def observed(walk: Walk, h: Floats, precision: Floats) -> Observed:
    """Return the state of (T, K, V) observations of one sequence."""
    return walk.observed(rows_of(h)[None], rows_of(precision)[None])


def topics_of(rows: Floats, K: int) -> Floats:
    """Return the (T, K, V) numbers of the only sequence."""
    return rows[0, :, :, :K].swapaxes(1, 2)


def expected_log(state: Observed, K: int) -> Floats:
    return topics_of(state.mean - state.log_sums[:, :, None], K)


@pytest.mark.parametrize(("T", "K"), [(1, 3), (4, 1), (11, 9)])
def test_the_smoother_has_the_moments_of_the_dense_gaussian(T: int, K: int) -> None:
    """And its KL from the prior, of every topic and word, for fewer and more topics than a vector has."""
    random, V, sigma2, (a, v0) = np.random.default_rng(1), 3, 0.3, (0.7, 2.0)
    h, precision = random.normal(size=(T, K, V)), random.gamma(1.0, size=(T, K, V))
    state = observed(walk_of(K, V, v0, sigma2, a), h, precision)
    prior = v0 + sigma2 * np.minimum.outer(np.arange(T), np.arange(T))
    P, steps, divergence = np.linalg.inv(prior), [], np.zeros(K)
    mean, variance = topics_of(state.mean, K), topics_of(state.variance, K)
    for k, v in itertools.product(range(K), range(V)):
        dense = np.linalg.inv(P + np.diag(precision[:, k, v]))
        m = dense @ (P @ np.full(T, a) + h[:, k, v])
        assert mean[:, k, v] == pytest.approx(m)
        assert variance[:, k, v] == pytest.approx(dense.diagonal())
        steps.append(np.diff(m) ** 2 + dense.diagonal()[1:] + dense.diagonal()[:-1] - 2.0 * dense.diagonal(1))
        ratio = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(dense)[1]
        divergence[k] += 0.5 * (np.trace(P @ dense) + (m - a) @ P @ (m - a) - T + ratio)
    assert state.divergence[0, :K] == pytest.approx(divergence)
    assert state.step == pytest.approx(np.mean(steps) if T > 1 else 0.0)
    logits = mean + variance / 2.0
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    assert topics_of(state.shares, K) == pytest.approx(p)
    assert state.log_sums[0, :, :K] == pytest.approx(np.log(np.exp(logits).sum(axis=2)))


def grid_filter(counts: Floats, v0: float, sigma2: float) -> tuple[float, float]:
    """Return log p(y_1 .. y_T-1) and log p(y_T | the others) of (T, V) counts, K = 1, on a grid of logit differences.

    The differences from the last word's logit have the covariance I + 1 1', times v0 at first, and sigma^2 a step.
    """
    n = counts.shape[1] - 1
    line = np.linspace(-9.0, 9.0, 1201 if n == 1 else 46)
    x = np.array(list(itertools.product(line, repeat=n)))
    cell, covariance = (line[1] - line[0]) ** n, np.eye(n) + 1.0
    logits = np.column_stack([x, np.zeros(len(x))])
    log_b = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    step = multivariate_normal(cov=sigma2 * covariance).pdf(x[:, None] - x[None]) * cell
    density, logs = multivariate_normal(cov=v0 * covariance).pdf(x), []
    for t, row in enumerate(counts):
        density = (step @ density if t else density) * np.exp(log_b @ row)
        logs.append(np.log(density.sum() * cell))
        density = density / (density.sum() * cell)
    return float(sum(logs[:-1])), float(logs[-1])


@pytest.mark.parametrize("V", [2, 3])
def test_the_filtered_state_predicts_as_the_exact_filter_does_and_the_bound_lies_below(V: int) -> None:
    """One topic over three times and a document of the next one, whose state is exact on the grid."""
    v0, sigma2 = 1.0, 0.2
    counts = np.array([[9, 3, 1], [6, 6, 2], [3, 9, 1], [2, 6, 3]], dtype=float)[:, :V]
    evidence, following = grid_filter(counts, v0, sigma2)
    model = DTM(1, start_variance=v0, sigma2=sigma2, fixed=True, iterations=200, tolerance=0.0, random_state=0)
    model.fit(counts[:3], times=np.arange(3))
    assert np.diff(model.bound_).min() > -1e-9
    assert evidence - 3.0 < model.bound_[-1] < evidence  # of some 40 tokens
    words = tuple("abc"[:V])
    document = Corpus.from_documents("next", [("d", list("".join(np.repeat(words, counts[3].astype(int)))))])
    state = model.next_state(words)
    assert following - 0.6 < variational(state, document).log_likelihood[0] < following
    found, _ = dtm_annealed(state, document, 4000, np.random.default_rng(1), temperatures=10)
    assert found.log_likelihood[0] == pytest.approx(following, abs=4.4 * found.standard_error[0] + 0.015)


def slow_bound(model: DTM, gamma: Floats, mean: Floats, variance: Floats, divergence: float) -> float:
    """Return the bound of the module's first lines, document by document and word by word."""
    value = -divergence
    for row, t, own in zip(COUNTS, TIMES, gamma, strict=True):
        expected = digamma(own) - digamma(own.sum())
        for v, n in enumerate(row):
            e = mean[t, :, v] - np.log(np.exp(mean[t] + variance[t] / 2.0).sum(axis=1))
            value += n * np.log(np.exp(expected + e).sum())
        alpha, K = model.alpha, len(own)
        value -= gammaln(own.sum()) - gammaln(own).sum() - gammaln(K * alpha) + K * gammaln(alpha)
        value -= ((own - alpha) * expected).sum()
    return float(value)


def test_the_bound_rises_and_is_the_slow_one() -> None:
    model = DTM(2, alpha=0.5, random_state=1, tolerance=0.0, iterations=30).fit(COUNTS, times=TIMES)
    assert np.diff(model.bound_).min() > -1e-8
    assert 0.0 < model.sigma2_ < 1.0
    random, shape = np.random.default_rng(2), (3, 2, 6)
    state = observed(walk_of(2, 6, 2.0, 0.3), random.normal(size=shape), random.gamma(1.0, size=shape))
    gamma = random.gamma(1.0, size=(15, 2)) + 0.5
    documents = Documents(checked_counts(COUNTS, "test"), TIMES, 0.5, gamma)
    divergence = float(state.divergence.sum())
    value = documents.step(state.topic_rows(documents.tokens.row_starts)).sum() - divergence
    slow = slow_bound(model, gamma, topics_of(state.mean, 2), topics_of(state.variance, 2), divergence)
    assert value == pytest.approx(slow, abs=1e-8)


def test_a_topics_step_ends_where_the_bound_is_stationary() -> None:
    random = np.random.default_rng(3)
    walk, n = walk_of(2, 6, 2.0, 0.3), random.gamma(2.0, 2.0, (3, 2, 6))
    state = walk.ascend(rows_of(n)[None], observed(walk, 0.0 * n, 0.0 * n), 200)
    h, precision = topics_of(state.h, 2), topics_of(state.precision, 2)

    def bound(h: Floats, precision: Floats) -> float:
        of = observed(walk, h, precision)
        return float((n * expected_log(of, 2)).sum() - of.divergence.sum())

    best = bound(h, precision)
    for _ in range(20):
        direction = random.normal(size=n.shape)
        assert bound(h + 0.05 * direction, precision) < best
        assert bound(h, precision * np.exp(0.05 * direction)) < best


def test_without_steps_one_topic_is_a_unigram() -> None:
    """sigma^2 = 0 and a flat start: at every time the same topic, which has the words' frequencies."""
    model = DTM(1, sigma2=0.0, start_variance=100.0, iterations=100, random_state=0)
    model.fit(1000.0 * COUNTS, times=TIMES)
    b = np.exp(model.mean_[:, 0])
    b /= b.sum(axis=1, keepdims=True)
    assert np.ptp(b, axis=0).max() < 1e-9
    assert b[0] == pytest.approx(COUNTS.sum(axis=0) / COUNTS.sum(), abs=1e-3)


def test_topics_that_move_are_followed() -> None:
    """Word 0 gives way to word 5 over six times of 200 tokens: the fitted topic follows by more than half of it."""
    random, T = np.random.default_rng(4), 6
    shares = np.linspace(0.6, 0.05, T)
    truth = np.column_stack([shares, *[np.full(T, 0.35 / 4)] * 4, 0.65 - shares])
    counts = np.array([random.multinomial(200, p) for p in truth]).astype(float)
    model = DTM(1, random_state=0, iterations=200, tolerance=0.0).fit(counts, times=np.arange(T))
    b = np.exp(model.mean_[:, 0])
    b /= b.sum(axis=1, keepdims=True)
    assert b[0, 0] - b[-1, 0] > 0.3
    assert model.sigma2_ > 0.01


def test_bad_settings_are_refused() -> None:
    for model, match in (
        (DTM(0), "0 topics"),
        (DTM(2, sigma2=-1.0), "sigma"),
        (DTM(2, alpha=0.0), "alpha 0"),
    ):
        with pytest.raises(InputError, match=match):
            model.fit(COUNTS, times=TIMES)
    bad: list[Ints] = [TIMES[:3], TIMES - 1]
    for times in bad:
        with pytest.raises(InputError, match="times of shape"):
            DTM(2).fit(COUNTS, times=times)
    with pytest.raises(InputError, match="topics of shape"):
        DTM(2).fit(COUNTS, times=TIMES, components=np.ones((2, 5)))
    ones = np.ones((2, 6))
    for mean, variance, alpha, match in (
        (ones, ones[:1], 1.0, "variances"),
        (ones, 0.0 * ones, 1.0, "not positive"),
        (ones, ones, 0.0, "alpha 0"),
    ):
        with pytest.raises(InputError, match=match):
            DynamicState(mean, variance, alpha, WORDS)
