"""The bounds of categorical PCA against quadrature, and the objective over the iterations."""

from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import poisson

from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models.categorical_pca import BOEHNING, BOUCHARD, BOUNDS, JAAKKOLA_JORDAN, CategoricalPCA
from heldout.errors import InputError
from heldout.typing import Floats

GRID = np.arange(-7.0, 7.01, 0.25)  # the trapezoid rule is exact to rounding for these integrands


def exact(model: CategoricalPCA, x: Floats) -> Floats:
    """Return log p(x), (N,), by the trapezoid rule over z."""
    K = model.n_components
    z = np.stack(np.meshgrid(*[GRID] * K), axis=-1).reshape(-1, K)
    log_prior = -0.5 * (z**2).sum(axis=1) - 0.5 * K * np.log(2.0 * np.pi) + K * np.log(GRID[1] - GRID[0])
    return np.asarray(logsumexp(model.log_joint(*model.counts_and_sums(x), z) + log_prior, axis=1))


def made(seed: int = 0, blocks: tuple[int, ...] = (2, 3, 3, 4)) -> tuple[Floats, tuple[int, ...]]:
    """Return 25 cases of 4 responses with gaps in 1-of-M coding, and the blocks."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(25)
    coded = []
    for M in blocks:
        logits = np.outer(z, rng.normal(0, 2, M))
        y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        coded.append(np.eye(M)[y] * (rng.random(25) > 0.2)[:, None])
    return np.hstack(coded), blocks


TWO = (2, 2, 2, 2)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("K", [1, 2])
@pytest.mark.parametrize("documents", [False, True])
def test_the_bound_rises_and_stays_below_the_likelihood(bound: str, K: int, documents: bool) -> None:
    x, blocks = made(blocks=TWO) if bound == JAAKKOLA_JORDAN else made()
    if documents:
        words = 2 if bound == JAAKKOLA_JORDAN else 6
        rates = np.exp(np.outer(x[:, 0] - 0.5, np.linspace(-2.5, 2.5, words)))
        x, blocks = np.random.default_rng(1).poisson(rates).astype(float), (words,)
    model = CategoricalPCA(
        K, blocks=blocks, bound=bound, penalty=0.1, iterations=30, tolerance=0.0, ve_iterations=2, random_state=0
    ).fit(x)
    history = model.objective_
    assert len(history) > 5
    assert np.all(np.diff(history[:-1]) >= -1e-9 * np.abs(history[1:-1]))
    assert history[-1] - history[0] > 1.0
    assert np.all(model.posterior_.bound <= exact(model, x) + 1e-9)
    slack = {"bouchard": 1.0}.get(bound, 0.5)  # nats per token; it is a bound of some use
    assert model.posterior_.bound.sum() > exact(model, x).sum() - slack * x.sum()
    anew = model.set_params(ve_iterations=100).infer(x)
    np.testing.assert_allclose(anew.bound, model.infer(x, anew).bound, rtol=1e-6, atol=1e-6)
    assert np.all(anew.bound <= exact(model, x) + 1e-9)


@pytest.mark.parametrize("K", [1, 2])
def test_jaakkola_and_jordans_bound_is_the_tighter_one_and_leaves_what_boehnings_shrinks(K: int) -> None:
    x, blocks = made(blocks=TWO)
    settings: dict[str, Any] = {"blocks": blocks, "penalty": 0.1, "iterations": 200, "random_state": 0}
    tight, loose = (CategoricalPCA(K, bound=bound, **settings).fit(x) for bound in (JAAKKOLA_JORDAN, BOEHNING))
    tight.weights_, tight.bias_ = 2.0 * loose.weights_, loose.bias_ - 1.0  # anywhere, the ends of W not opposite
    loose.weights_, loose.bias_ = tight.weights_, tight.bias_
    bounds = [one.set_params(ve_iterations=500).infer(x).bound for one in (tight, loose)]
    assert (bounds[0] >= bounds[1] - 1e-9).all()
    assert (bounds[0] - bounds[1]).sum() > 1.0
    assert (bounds[0] <= exact(tight, x) + 1e-9).all()


def test_jaakkola_and_jordans_steps_are_those_of_the_sum_over_cases() -> None:
    """Hold both steps to the derivatives of the bound, written out case by case and response by response."""
    x, blocks = made(blocks=TWO)
    model = CategoricalPCA(2, blocks=blocks, bound=JAAKKOLA_JORDAN, penalty=0.3, iterations=3, random_state=0).fit(x)

    def bound(parameters: Floats, m: Floats, V: Floats, xi: Floats) -> float:
        W, total = parameters.reshape(8, 3), 0.0
        for i in range(len(x)):
            for r in range(4):
                n = x[i, 2 * r] + x[i, 2 * r + 1]
                ends = W[2 * r : 2 * r + 2]
                mean = ends[:, :2] @ m[i] + ends[:, 2]
                d, t = ends[0, :2] - ends[1, :2], mean[0] - mean[1]
                rate = np.tanh(xi[i, r] / 2.0) / (4.0 * xi[i, r])
                upper = mean.mean() + np.log(2.0 * np.cosh(xi[i, r] / 2.0))
                upper += rate * (t**2 + d @ V[i] @ d - xi[i, r] ** 2)
                total += x[i, 2 * r : 2 * r + 2] @ mean - n * upper
            total += 0.5 * np.linalg.slogdet(V[i])[1] - 0.5 * (m[i] @ m[i] + np.trace(V[i]) - 2.0)
        return float(total - 0.15 * (W[:, :2] ** 2).sum())

    state = model.set_params(ve_iterations=2000).infer(x)
    W = np.column_stack([model.weights_, model.bias_])
    d = W[::2] - W[1::2]
    t = state.mean @ d[:, :2].T + d[:, 2]
    xi = np.sqrt(t**2 + np.einsum("rk,nkl,rl->nr", d[:, :2], state.covariance, d[:, :2]))
    full = bound(W.ravel(), state.mean, state.covariance, xi)
    assert full == pytest.approx(state.bound.sum() - 0.15 * (model.weights_**2).sum(), abs=1e-9)
    random = np.random.default_rng(0)
    for _ in range(5):  # nothing near is better, of the mean, of the variance or of xi
        moved = state.mean + 1e-3 * random.standard_normal(state.mean.shape)
        assert bound(W.ravel(), moved, state.covariance, xi) < full
        assert bound(W.ravel(), state.mean, 1.01 * state.covariance, xi) < full
        assert bound(W.ravel(), state.mean, state.covariance, 1.01 * xi) < full
    model._vm_step(x, state)
    W = np.column_stack([model.weights_, model.bias_])
    risen = bound(W.ravel(), state.mean, state.covariance, xi)
    assert risen >= full
    for _ in range(5):
        moved = W.ravel() + 1e-3 * random.standard_normal(W.size)
        assert bound(moved, state.mean, state.covariance, xi) < risen


def test_poisson_counts_given_their_sum_are_those_of_categorical_pca() -> None:
    """Compare 27.9, prod_v Poi(n_v | exp eta_v), with a Poisson length times the multinomial of 27.6."""
    n = np.array([[3.0, 0.0, 2.0]])
    model = CategoricalPCA(2, iterations=0, random_state=0).fit(n)
    z = np.random.default_rng(0).standard_normal((4, 2))
    rates = np.exp(z @ model.weights_.T + model.bias_)
    orders = gammaln(n.sum() + 1.0) - gammaln(n + 1.0).sum()
    length = poisson.logpmf(n.sum(), rates.sum(axis=1))
    given_length = model.log_joint(*model.counts_and_sums(n), z)[0] + orders
    np.testing.assert_allclose(poisson.logpmf(n, rates).sum(axis=1), length + given_length, atol=1e-12)


@pytest.mark.parametrize("bound", BOUNDS)
def test_degenerate_em_raises_the_joint_probability_of_its_points(bound: str) -> None:
    x, blocks = made(blocks=TWO) if bound == JAAKKOLA_JORDAN else made()
    settings: dict[str, Any] = {"blocks": blocks, "bound": bound, "penalty": 0.5, "random_state": 0}
    model = CategoricalPCA(2, posterior="point", iterations=20, tolerance=0.0, **settings).fit(x)
    assert np.all(np.diff(model.objective_) >= -1e-9 * np.abs(model.objective_[1:]))
    state = model.set_params(ve_iterations=500).infer(x)
    joint = np.diag(model.log_joint(*model.counts_and_sums(x), state.mean)) - 0.5 * (state.mean**2).sum(axis=1)
    if bound != BOUCHARD:  # tangent at the point
        np.testing.assert_allclose(state.bound, joint, atol=1e-9)
    assert np.all(state.bound <= joint + 1e-9)
    step = 1e-4 * np.random.default_rng(0).standard_normal(state.mean.shape)
    if bound != BOUCHARD:  # nothing near is better
        moved = state.mean + step
        near = np.diag(model.log_joint(*model.counts_and_sums(x), moved)) - 0.5 * (moved**2).sum(axis=1)
        assert np.all(near <= joint + 1e-9)
        assert np.all(exact(model, x) <= joint + 1e-9)
    with pytest.raises(InputError, match="posterior delta"):
        CategoricalPCA(1, posterior="delta").fit(x)


def test_without_weights_boehning_is_tight_and_the_slack_of_bouchard_is_known() -> None:
    x, blocks = made()
    model = CategoricalPCA(1, blocks=blocks, penalty=1e9, iterations=500, tolerance=0.0, random_state=0).fit(x)
    starts = np.cumsum((0, *blocks[:-1]))
    sums = np.repeat(np.add.reduceat(x.sum(axis=0), starts), blocks)
    np.testing.assert_allclose(model.posterior_.bound, x @ np.log(x.sum(axis=0) / sums), atol=1e-4)
    model.weights_, model.bias_ = 0.0 * model.weights_, 0.0 * model.bias_
    each = np.add.reduceat(x, starts, axis=1)
    M = np.array(blocks)
    np.testing.assert_allclose(model.infer(x).bound, -each @ np.log(M), atol=1e-12)
    slack = (M - 1) * np.log(M / (M - 1))
    bouchard = model.set_params(bound=BOUCHARD, ve_iterations=200).infer(x).bound
    np.testing.assert_allclose(bouchard, -each @ (np.log(M) + slack), atol=1e-9)


def test_the_evaluator_is_the_integral_however_narrow_the_posterior() -> None:
    x, blocks = made()
    for K in (1, 2):
        model = CategoricalPCA(K, blocks=blocks, iterations=5, random_state=0).fit(x)
        np.testing.assert_allclose(categorical_pca_marginal(model, x), exact(model, x), atol=1e-7)
    model = CategoricalPCA(1, iterations=0, random_state=0).fit(np.eye(2))
    model.weights_, model.bias_ = np.array([[1.0], [0.0]]), np.zeros(2)
    n = np.array([[600.0, 400.0]])  # E sigmoid(z)^600 (1 - sigmoid(z))^400, by a grid of 200 points to its width
    z = np.arange(-1.5, 2.5, 0.001)
    log_terms = 600.0 * z - 1000.0 * np.logaddexp(0.0, z) - 0.5 * z**2 - 0.5 * np.log(2.0 * np.pi)
    assert categorical_pca_marginal(model, n)[0] == pytest.approx(logsumexp(log_terms) + np.log(0.001), abs=1e-7)
    with pytest.raises(InputError, match="3 components"):
        categorical_pca_marginal(CategoricalPCA(3), n)
    narrow = 1e5 * n  # by Laplace's method, whose relative error is of the order of 1e-8 here
    logit = np.log(1.5)
    curvature = narrow.sum() * 0.24 + 1.0
    laplace = narrow[0] @ np.log([0.6, 0.4]) - 0.5 * logit**2 - 0.5 * np.log(curvature)
    assert categorical_pca_marginal(model, narrow)[0] == pytest.approx(laplace, abs=1e-6)


def test_a_narrow_slanted_posterior_in_two_dimensions_is_found() -> None:
    model = CategoricalPCA(2, iterations=0, random_state=0).fit(np.eye(3))
    model.weights_, model.bias_ = np.array([[3.0, 2.9], [0.4, -0.3], [0.0, 0.0]]), np.array([0.5, 0.1, 0.0])
    n = np.array([[9000.0, 600.0, 400.0], [900.0, 60.0, 40.0]])
    turn = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)  # along the ridge and across
    u = np.stack(np.meshgrid(np.arange(-4.0, 5.0, 0.01), np.arange(-3.0, 2.0, 0.005), indexing="ij"), axis=-1)
    z = u.reshape(-1, 2) @ turn
    log_terms = model.log_joint(*model.counts_and_sums(n), z) - 0.5 * (z**2).sum(axis=1) - np.log(2.0 * np.pi)
    expected = logsumexp(log_terms, axis=1) + np.log(0.01 * 0.005)
    np.testing.assert_allclose(categorical_pca_marginal(model, n), expected, atol=1e-6)


def test_a_gap_is_integrated_out_and_an_empty_case_has_probability_one() -> None:
    x, blocks = made()
    model = CategoricalPCA(1, blocks=blocks, iterations=5, random_state=0).fit(x)
    whole = x[:1].copy()
    whole[0, :2] = 0.0
    given = np.repeat(whole, 2, axis=0)
    given[[0, 1], [0, 1]] = 1.0  # either value of the first response
    assert logsumexp(exact(model, given)) == pytest.approx(exact(model, whole)[0], abs=1e-12)
    assert model.infer(0.0 * whole).bound[0] == pytest.approx(0.0, abs=1e-12)


def test_bad_input_is_refused() -> None:
    x, blocks = made()
    with pytest.raises(InputError, match="jaakkola"):
        CategoricalPCA(1, bound="jaakkola").fit(x)
    with pytest.raises(InputError, match="blocks of two columns"):
        CategoricalPCA(1, blocks=blocks, bound=JAAKKOLA_JORDAN).fit(x)
    for wrong in ((2, 3), (), (0, 12)):
        with pytest.raises(InputError, match="12 columns"):
            CategoricalPCA(1, blocks=wrong).fit(x)
    with pytest.raises(InputError, match="negative or undefined"):
        CategoricalPCA(1).fit(-x)
    with pytest.raises(InputError, match="at least 1, 0, 1 and 0"):
        CategoricalPCA(0).fit(x)
    x[:, :2] = 0.0
    with pytest.raises(InputError, match="block of columns"):
        CategoricalPCA(1, blocks=blocks).fit(x)
