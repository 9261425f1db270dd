"""Annealing held to the exact kernels, where these serve, and its start to the enumeration of assignments."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import poisson

from gallery.tokens.evaluators.annealed_counts import gap_annealed, rating_profile_annealed
from gallery.tokens.evaluators.categorical_pca_annealed import categorical_pca_annealed
from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import GammaPoissonMoments, gap_marginal, rating_profile_marginal
from heldout.typing import Floats

ALPHA, BETA = np.array([0.5, 1.5, 0.8]), np.array([0.4, 0.8, 0.6])
B = np.array([[0.6, 0.1, 0.2], [0.3, 0.2, 0.0], [0.1, 0.7, 0.8]])  # words by components
COUNTS = np.array([[3.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 1.0, 6.0]])


def prior(rho: float, K: int = 3) -> GammaPoissonMoments:
    return GammaPoissonMoments(ALPHA[:K], BETA[:K], B[:, :K].sum(axis=0), np.full(K, rho))


def agree(value: Floats, error: Floats, exact: Floats) -> None:
    """Hold weights' means to the exact values; 5 documents at 5 standard errors fail less than once in 1e5 runs."""
    there = error > 0.0
    assert there.any()
    assert np.all(np.abs(value - exact)[there] < 5.0 * error[there])
    assert np.all(error[there] < 0.2)
    np.testing.assert_allclose(value[~there], exact[~there], atol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.4])
@pytest.mark.parametrize("temperatures", [1, 4])
def test_gap_and_its_spike_have_their_exact_values(rho: float, temperatures: int) -> None:
    exact = gap_marginal(COUNTS, B, ALPHA, BETA, np.full(3, rho))
    rng = np.random.default_rng(temperatures)
    value, error = gap_annealed(COUNTS, B, prior(rho), 3000, rng, temperatures=temperatures)
    agree(value, error, exact)
    assert error[1] == 0.0  # no tokens: nothing is drawn


def test_more_steps_leave_less_error_and_one_component_none() -> None:
    rng = np.random.default_rng(0)
    few, many = (gap_annealed(COUNTS, B, prior(0.4), 400, rng, temperatures=T)[1] for T in (1, 20))
    assert np.all(many[[0, 2]] < 0.5 * few[[0, 2]])
    one = gap_annealed(COUNTS, B[:, :1], prior(0.4, 1), 2, rng, temperatures=3)
    np.testing.assert_allclose(one[0], gap_marginal(COUNTS, B[:, :1], ALPHA[:1], BETA[:1], np.array([0.4])), atol=1e-11)
    # without a spike that is a gamma mixed over Poissons, by quadrature
    z = np.linspace(1e-6, 60.0, 200_001)
    density = BETA[0] ** ALPHA[0] * z ** (ALPHA[0] - 1.0) * np.exp(-BETA[0] * z) / math.gamma(ALPHA[0])
    by_hand = np.trapezoid(poisson.pmf(COUNTS[2][:, None], B[:, :1] * z).prod(axis=0) * density, z)
    alone = gap_annealed(COUNTS[2:], B[:, :1], prior(0.0, 1), 2, rng, temperatures=1)[0][0]
    assert alone == pytest.approx(math.log(by_hand), abs=1e-4)


def test_the_start_is_the_sum_over_assignments_of_the_prior() -> None:
    """Where all weights are 1 the path is constant: its sum is that of f_0 over K^L assignments, without error."""
    moments, L = prior(0.3), 5
    counts = np.array([[z.count(k) for k in range(3)] for z in itertools.product(range(3), repeat=L)], dtype=float)
    expected = logsumexp(moments.log_moment(counts)) - math.lgamma(L + 1.0)
    value, error = gap_annealed(
        np.array([[float(L)]]), np.ones((1, 3)), moments, 3, np.random.default_rng(1), temperatures=5
    )
    assert value[0] == pytest.approx(expected, abs=1e-11)
    assert error[0] < 1e-11


def test_the_user_rating_profile_has_its_exact_values() -> None:
    rng = np.random.default_rng(2)
    tables, alpha = rng.dirichlet(np.ones(4), (6, 3)), np.array([0.3, 1.0, 0.6])
    responses = rng.integers(-1, 4, (5, 6))
    responses[4] = -1
    value, error = rating_profile_annealed(responses, tables, alpha, 2000, rng, temperatures=4)
    agree(value, error, rating_profile_marginal(responses, tables, alpha))


@pytest.mark.parametrize("blocks", [None, (2, 3, 3)])
def test_categorical_pca_has_its_exact_values(blocks: tuple[int, ...] | None) -> None:
    rng = np.random.default_rng(3)
    x = rng.poisson(2.0, (5, 8)).astype(float)
    if blocks:
        x = np.hstack([np.eye(M)[rng.integers(0, M, 5)] for M in blocks])
        x[0, :2] = 0.0  # a gap
    x[4] = 0.0
    model = CategoricalPCA(2, blocks=blocks, penalty=0.1, iterations=20, random_state=0).fit(x)
    model.weights_ *= 3.0
    value, error = categorical_pca_annealed(model, x, 400, rng, temperatures=3)
    agree(value, error, categorical_pca_marginal(model, x))


def test_bad_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="0 samples"):
        gap_annealed(COUNTS, B, prior(0.0), 0, rng, temperatures=1)
    with pytest.raises(InputError, match="annealed counts: 0 temperatures"):
        gap_annealed(COUNTS, B, prior(0.0), 1, rng, temperatures=0)
    model = CategoricalPCA(1, iterations=0, random_state=0).fit(COUNTS)
    with pytest.raises(InputError, match="annealed categorical PCA: 0 temperatures"):
        categorical_pca_annealed(model, COUNTS, 1, rng, temperatures=0)
    with pytest.raises(InputError, match="negative or undefined"):
        categorical_pca_annealed(model, -COUNTS, 1, rng, temperatures=1)
