"""Categorical PCA at a maximum: of the likelihood by quadrature, and of the joint probability with points."""

import numpy as np
import pytest

from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models import categorical_pca_maximum
from gallery.tokens.models.categorical_pca import CategoricalPCA
from gallery.tokens.models.categorical_pca_maximum import SPACINGS, CategoricalPCAByQuadrature, CategoricalPCAOfPoints
from heldout.errors import InputError
from heldout.typing import Floats

PENALTY = 0.5
BLOCKS = (None, (2, 2, 2, 2, 2))


def drawn(blocks: tuple[int, ...] | None) -> Floats:
    """Return 200 cases over 10 columns with one strong component: bags of 20 tokens, or records of five answers."""
    random = np.random.default_rng(0)
    W = np.where(np.arange(10) % 2, 2.0, -2.0)
    eta = random.standard_normal((200, 1)) * W
    if blocks is None:
        p = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
        return np.array([random.multinomial(20, row) for row in p], float)
    first = random.random((200, 5)) < 1.0 / (1.0 + np.exp(eta[:, 1::2] - eta[:, ::2]))
    return np.stack([first, ~first], axis=-1).reshape(200, 10).astype(float)


def exact(model: CategoricalPCA, x: Floats) -> float:
    return float(categorical_pca_marginal(model, x).sum() - 0.5 * PENALTY * (model.weights_**2).sum())


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("K", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_rule_of_the_fit_has_the_exact_value_and_no_step_raises_it(K: int, blocks: tuple[int, ...] | None) -> None:
    x = drawn(blocks)
    model = CategoricalPCAByQuadrature(K, blocks=blocks, penalty=PENALTY, tolerance=1e-10, random_state=0).fit(x)
    best = exact(model, x)
    assert model.objective_[0] == pytest.approx(best, abs=1e-2)
    bounded = CategoricalPCA(K, blocks=blocks, penalty=PENALTY, random_state=0).fit(x)
    assert best > exact(bounded, x) + 1.0
    random, W, b = np.random.default_rng(1), model.weights_, model.bias_
    for _ in range(10):
        model.weights_, model.bias_ = W + 0.05 * random.standard_normal(W.shape), b + 0.05 * random.standard_normal(10)
        assert exact(model, x) < best


@pytest.mark.parametrize("blocks", BLOCKS)
def test_points_are_at_the_maximum_of_all_parameters(blocks: tuple[int, ...] | None) -> None:
    x = drawn(blocks)
    settings = {"blocks": blocks, "penalty": PENALTY, "random_state": 0}
    model = CategoricalPCAOfPoints(2, iterations=1000, tolerance=1e-12, **settings).fit(x)  # type: ignore[arg-type]
    z, of_points = model.modes(x)
    ridge = 0.5 * PENALTY * (model.weights_**2).sum()
    assert model.objective_[0] == pytest.approx(of_points.sum() - 0.5 * (z**2).sum() - ridge, abs=1e-3)
    em = CategoricalPCA(2, posterior="point", iterations=1000, **settings).fit(x)  # type: ignore[arg-type]
    assert em.objective_[-1] == pytest.approx(model.objective_[0], rel=1e-3)
    assert em.objective_[-1] < model.objective_[0] + 1.0


def test_a_mode_has_no_gradient_and_lies_above_the_likelihood() -> None:
    x = drawn(None)
    model = CategoricalPCAOfPoints(2, penalty=PENALTY, random_state=0).fit(x)
    z, of_points = model.modes(x)
    eta = z @ model.weights_.T + model.bias_
    p = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    np.testing.assert_allclose((x - 20.0 * p) @ model.weights_, z, atol=1e-4)
    np.testing.assert_allclose((x * np.log(p)).sum(axis=1), of_points)
    assert (categorical_pca_marginal(model, x[:40]) < (of_points - 0.5 * (z**2).sum(axis=1))[:40]).all()


def test_the_grids_error_is_seen_and_too_large_a_one_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    W, z = 3.0 * random.normal(size=(12, 2)), random.normal(size=(100, 2))
    p = np.exp(z @ W.T)
    x = np.array([random.multinomial(300, row / row.sum()) for row in p], float)
    given = {"penalty": PENALTY, "iterations": 60, "random_state": 0}
    model = CategoricalPCAByQuadrature(2, **given).fit(x)  # type: ignore[arg-type]
    cases = model.counts_and_sums(x)
    coarse, fine = (model._by_rule(*cases, SPACINGS[2] / parts) for parts in (1, 2))
    error = categorical_pca_marginal(model, x).sum() - coarse
    assert fine - coarse == pytest.approx(error, rel=0.3)
    monkeypatch.setattr(categorical_pca_maximum, "SETTLED_PER_TOKEN", 0.5 * abs(error) / x.sum())
    with pytest.raises(InputError, match="nats per token on documents this long"):
        CategoricalPCAByQuadrature(2, **given).fit(x)  # type: ignore[arg-type]


def test_quadrature_takes_two_components() -> None:
    with pytest.raises(InputError, match="3 components"):
        CategoricalPCAByQuadrature(3).fit(drawn(None))
