"""Likelihoods of new users' ratings: against draws, quadrature and enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.evaluators import rating_marginal as of
from heldout.models.pmf import Factors, posteriors
from heldout.typing import Floats

DRAWS = 1_000_000
FACTORS = Factors(
    3.2,
    np.array([0.3, -0.6, 0.1]),
    np.array([[0.8, -0.3, 1.0], [-0.5, 0.6, 1.0], [0.2, 0.9, 1.0]]),
    np.array([1.0, 0.7, 0.3]),
    0.6,
)
ROOTS = FACTORS._replace(mean=1.7, noise=0.1, square_root=True)
BOTH = pytest.mark.parametrize("factors", [FACTORS, ROOTS])


def rated(values: list[tuple[int, ...]], scale: tuple[int, int] = (1, 5)) -> Ratings:
    """Return users who have rated the first items."""
    who = np.repeat(np.arange(len(values)), [len(row) for row in values])
    what = np.concatenate([np.arange(len(row)) for row in values])
    names = tuple(map(str, range(len(values))))
    return Ratings(names, ("x", "y", "z"), who, what, np.concatenate(values).astype(np.int64), scale)


USERS = rated([(5, 1, 4), (3,), (2, 2)])


@pytest.mark.long
@BOTH
def test_the_marginal_is_the_mean_over_the_prior(factors: Factors) -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((DRAWS, 3)) * np.sqrt(factors.variances)
    y, jacobian = factors.transformed(USERS)
    found = of.rating_marginal(USERS, factors).log_likelihood
    for user in range(3):
        own = np.flatnonzero(USERS.user == user)
        means = factors.mean + factors.offsets[USERS.item[own]] + vectors @ factors.loadings[USERS.item[own]].T
        weights = np.exp(norm.logpdf(y[own], means, np.sqrt(factors.noise)).sum(axis=1) + jacobian[own].sum())
        error = weights.std() / np.sqrt(DRAWS)
        assert abs(np.exp(found[user]) - weights.mean()) < 4.5 * error  # false alarm 7e-6


@pytest.mark.long
def test_densities_integrate_to_one() -> None:
    """A user with two ratings, by quadrature: densities of R up to 6, where the square root ends."""
    A, mean = FACTORS.loadings[:2], FACTORS.mean + FACTORS.offsets[:2]
    covariance = A @ np.diag(FACTORS.variances) @ A.T + FACTORS.noise * np.eye(2)
    direct = multivariate_normal(mean, covariance)
    assert of.rating_marginal(rated([(4, 2)]), FACTORS).log_likelihood[0] == pytest.approx(direct.logpdf([4, 2]))
    total = dblquad(lambda b, a: float(direct.pdf([a, b])), -12.0, 18.0, -12.0, 18.0)[0]
    assert total == pytest.approx(1.0, abs=1e-6)
    # of the square root only y > 0 is a rating: the mass below is what a density of R lacks
    one = ROOTS._replace(noise=0.05)
    spread = one.loadings[0] ** 2 @ one.variances * 0.01 + 0.05
    narrow = one._replace(variances=one.variances * 0.01)
    grid = np.linspace(-60.0, 6.0 - 1e-9, 400_001)
    y = np.sqrt(6.0 - grid)
    density = norm.pdf(y, narrow.mean + narrow.offsets[0], np.sqrt(spread)) / (2.0 * y)
    at_four = of.rating_marginal(rated([(4,)]), narrow).log_likelihood[0]
    assert at_four == pytest.approx(np.log(np.interp(4.0, grid, density)), abs=1e-6)
    assert np.trapezoid(density, grid) == pytest.approx(
        norm.sf(0.0, narrow.mean + narrow.offsets[0], np.sqrt(spread)), abs=1e-5
    )


@BOTH
def test_full_folding_in_exceeds_the_marginal_by_its_formula(factors: Factors) -> None:
    found = of.full_folding_in(USERS, factors).log_likelihood - of.rating_marginal(USERS, factors).log_likelihood
    means = posteriors(USERS, factors).means
    for user in range(3):
        A = factors.loadings[USERS.item[USERS.user == user]]
        volume = np.linalg.slogdet(np.eye(3) + np.diag(factors.variances) @ A.T @ A / factors.noise)[1]
        assert found[user] == pytest.approx(0.5 * (volume + (means[user] ** 2 / factors.variances).sum()))
    assert found.min() > 0.0


@BOTH
def test_halves_are_scored_by_each_other(factors: Factors) -> None:
    first, second = of.divided(USERS, np.random.default_rng(0))
    halves = of.half_folding_in(USERS, factors, (first, second))
    assert sorted([*first, *second]) == list(range(len(USERS)))
    assert USERS.take(first).numbers.tolist() == [1, 0, 1]
    whole = of.rating_marginal(USERS, factors).log_likelihood
    parts = [of.rating_marginal(USERS.take(part), factors).log_likelihood for part in (first, second)]
    assert halves.integrated.log_likelihood == pytest.approx(2.0 * whole - parts[0] - parts[1])
    y, jacobian = factors.transformed(USERS)
    for own, other in ((first, second), (second, first)):
        given = posteriors(USERS.take(other), factors).means
        mean = factors.predicted(given, USERS.take(own))
        expected = norm.logpdf(y[own], mean, np.sqrt(factors.noise)) + jacobian[own]
        assert of.conditional(USERS.take(own), factors, given) == pytest.approx(expected)
    assert halves.predictions.min() >= 1.0
    assert halves.predictions.max() <= 5.0


def binned_by_quadrature(values: tuple[int, ...], factors: Factors) -> float:
    """Return the log-likelihood of bins with one factor, by a fine sum over it."""
    grid = np.linspace(-9.0, 9.0, 4001) * np.sqrt(factors.variances[0])
    log_weights = norm.logpdf(grid, 0.0, np.sqrt(factors.variances[0]))
    for item, value in enumerate(values):
        mean = factors.mean + factors.offsets[item] + grid * factors.loadings[item, 0]
        ends = [-np.inf if value == 1 else value - 0.5, np.inf if value == 5 else value + 0.5]
        if factors.square_root:
            ends = [
                -np.inf if np.isinf(end) and end > 0 else np.inf if np.isinf(end) else np.sqrt(6.0 - end)
                for end in ends[::-1]
            ]
        chances = np.diff(norm.cdf((np.array(ends)[:, None] - mean) / np.sqrt(factors.noise)), axis=0)[0]
        log_weights = log_weights + np.log(np.maximum(chances, 1e-300))
    return float(np.log(np.trapezoid(np.exp(log_weights), grid)))


@BOTH
def test_bins_sum_to_one_and_are_what_quadrature_says(factors: Factors) -> None:
    one = factors._replace(loadings=factors.loadings[:, :1], variances=factors.variances[:1])
    every = list(product(range(1, 6), repeat=3))
    exact = np.array([binned_by_quadrature(values, one) for values in every])
    assert np.exp(exact).sum() == pytest.approx(1.0, abs=1e-6)
    found = of.binned_marginal(rated(every), one, 400, np.random.default_rng(3))
    scaled = (found.log_likelihood - exact) / np.maximum(found.standard_error, 1e-6)
    assert np.mean(np.abs(scaled) < 3.0) >= 0.95
    assert np.abs(scaled).max() < 5.0  # false alarm of 125 values 7e-5
    assert found.standard_error.max() < 0.04


@pytest.mark.parametrize("values", [(1, 1, 1), (5, 5, 5), (1,), (2, 1, 1), (3, 3, 3)])
def test_one_sided_posteriors_are_within_their_errors(values: tuple[int, ...]) -> None:
    """Open bins of nearly no noise: a Gaussian with the curvature at the mode misses most of the posterior."""
    one = FACTORS._replace(loadings=FACTORS.loadings[:, :1], mean=1.7, noise=0.01)
    one = one._replace(square_root=True, variances=np.array([10.0]))
    users, grid = rated([values]), np.linspace(-30.0, 30.0, 60_001)
    log_bins = of.log_bins(one.loadings[: len(values)] @ grid[None], of.bins(users, one), one.noise).sum(axis=0)
    exact = logsumexp(log_bins + norm.logpdf(grid, 0.0, np.sqrt(10.0))) + np.log(grid[1] - grid[0])
    found = of.binned_marginal(users, one, 1000, np.random.default_rng(1))
    assert abs(found.log_likelihood[0] - exact) < 4.5 * found.standard_error[0]  # false alarm 7e-6
    assert found.standard_error[0] < 0.05


def test_open_bins_have_bounded_weights() -> None:
    """Under the prior's covariance at the mode no weight exceeds the one there."""
    users = rated([(1, 5, 1)])
    loadings, edges = FACTORS.loadings, of.bins(users, FACTORS)
    mode, precisions = of._mode(np.zeros(3), loadings, edges, FACTORS)
    assert precisions[1] == pytest.approx(np.diag(1.0 / FACTORS.variances))

    def log_weights(vectors: Floats) -> Floats:
        prior = norm.logpdf(vectors, 0.0, np.sqrt(FACTORS.variances)).sum(axis=1)
        proposal = norm.logpdf(vectors, mode, np.sqrt(FACTORS.variances)).sum(axis=1)
        weights: Floats = of.log_bins(loadings @ vectors.T, edges, FACTORS.noise).sum(axis=0) + prior - proposal
        return weights

    far = mode + np.random.default_rng(0).normal(0.0, 5.0, (10_000, 3))
    assert log_weights(far).max() <= log_weights(mode[None])[0] + 1e-4


def test_a_binned_score_without_ratings_is_nothing_and_one_sample_is_refused() -> None:
    none = rated([(4,), ()])
    assert of.binned_marginal(none, FACTORS, 10, np.random.default_rng(0)).log_likelihood[1] == 0.0
    with pytest.raises(InputError, match="draw 2 or more"):
        of.binned_marginal(none, FACTORS, 1, np.random.default_rng(0))


def test_bins_keep_their_digits_far_out() -> None:
    edges = np.array([[0.5, 0.5], [1.5, 1.5]])
    found = of.log_bins(np.array([[-30.0], [40.0]]), edges, 1.0)[:, 0]
    expected = [norm.logsf(30.5), norm.logcdf(-38.5)]
    assert found == pytest.approx(expected, rel=1e-9)
