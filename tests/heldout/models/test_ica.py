"""ICA: monotone steps, the best H against a general solver, recovered sources, the collapse without unit columns."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import laplace, norm

from heldout.errors import InputError
from heldout.models.ica import ICA
from heldout.typing import Floats


def mixed(N: int = 400, seed: int = 0) -> tuple[Floats, Floats]:
    """Return sources' mixtures (N, 3) and the unit columns that mixed them."""
    random = np.random.default_rng(seed)
    W = random.normal(size=(3, 3))
    W /= np.linalg.norm(W, axis=0)
    return random.laplace(size=(N, 3)) @ W.T, W


@settings(max_examples=60)
@given(
    X=arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-5, 5)),
    K=st.integers(1, 5),
    noise=st.sampled_from([0.01, 0.5, 10.0]),
    unit_columns=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_objective_never_falls(X: Floats, K: int, noise: float, unit_columns: bool, seed: int) -> None:
    model = ICA(K, noise=noise, unit_columns=unit_columns, inner_steps=3, iterations=15, random_state=seed).fit(X)
    history = model.objective_
    assert np.all(np.diff(history) >= -1e-10 * (1.0 + np.abs(history[:-1])))
    assert history[-1] <= model.supremum(X) + 1e-10 * (1.0 + abs(history[-1]))
    if unit_columns:
        np.testing.assert_allclose(np.linalg.norm(model.parameters_, axis=0), 1.0, rtol=1e-12)


def test_the_objective_is_the_log_joint_density() -> None:
    X, W = mixed(20)
    H = np.random.default_rng(1).normal(size=(20, 3))
    expected = norm.logpdf(X, H @ W.T, np.sqrt(0.3)).sum() + laplace.logpdf(H).sum()
    assert ICA(3, noise=0.3).objective(X, H, W) == pytest.approx(expected, rel=1e-12)


def test_many_inner_steps_find_the_best_h() -> None:
    X, W = mixed(5)
    H = ICA(3, noise=0.5, inner_steps=3000).ve_step(X, W)
    for x, h in zip(X, H, strict=True):
        # h = a - b with a, b >= 0 makes the objective smooth

        def loss(ab: Floats, x: Floats = x) -> float:
            return float(np.sum((x - W @ (ab[:3] - ab[3:])) ** 2) / (2 * 0.5) + ab.sum())

        optimum = scipy.optimize.minimize(
            loss, np.ones(6), bounds=[(0, None)] * 6, options={"ftol": 1e-14, "gtol": 1e-10}
        )
        assert loss(np.concatenate([np.maximum(h, 0), np.maximum(-h, 0)])) <= optimum.fun + 1e-7


def test_a_column_step_is_the_best_unit_column() -> None:
    X, _ = mixed(30)
    random = np.random.default_rng(2)
    H = random.normal(size=(30, 1))
    model = ICA(1)
    W = model.vm_step(X, H, np.array([[1.0], [0.0], [0.0]]))
    others = random.normal(size=(500, 3, 1))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert model.objective(X, H, W) >= max(model.objective(X, H, other) for other in others)


def test_independent_sources_are_recovered() -> None:
    # (columns at right angles: the point posterior's estimate of others is biased, however many data there are)
    W = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    X = np.random.default_rng(8).laplace(size=(3000, 3)) @ W.T
    model = ICA(3, noise=0.05, iterations=400, random_state=3).fit(X)
    match = np.abs(model.parameters_.T @ W)  # cosines: each source has one column
    assert np.all(match.max(axis=0) > 0.98)
    assert sorted(match.argmax(axis=0)) == [0, 1, 2]


def test_without_unit_columns_h_collapses_while_the_objective_rises_to_its_supremum() -> None:
    X, _ = mixed(100)
    free = ICA(2, noise=0.1, unit_columns=False, iterations=3000, random_state=0)
    course = [(step.objective, float(np.linalg.norm(step.latent))) for step in free.steps(X)]
    objectives, norms = np.array(course).T
    supremum = free.supremum(X)
    assert np.all(np.diff(objectives) > 0.0)
    assert norms[-1] < 0.02 * norms[0]
    assert 0.0 < supremum - objectives[-1] < 0.02 * (supremum - objectives[0])
    bound = ICA(2, noise=0.1, iterations=3000, random_state=0).fit(X)
    assert np.linalg.norm(bound.latent_) > 0.5 * norms[0]


@settings(max_examples=30)
@given(t=st.floats(1.5, 1e6), seed=st.integers(0, 2**32 - 1))
def test_w_t_and_h_over_t_always_pays(t: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    X, W, H = random.normal(size=(6, 3)), random.normal(size=(3, 2)), random.normal(size=(6, 2))
    model = ICA(2, noise=0.2)
    before, after = model.objective(X, H, W), model.objective(X, H / t, t * W)
    # the fit stays, and the prior's term shrinks by exactly t
    assert after - before == pytest.approx(np.abs(H).sum() * (1.0 - 1.0 / t), rel=1e-6)
    assert after <= model.supremum(X)


def test_what_is_refused() -> None:
    for change in ({"noise": 0.0}, {"noise": float("nan")}, {"inner_steps": 0}):
        with pytest.raises(InputError, match="positive"):
            ICA(1).set_params(**change).fit(np.ones((2, 2)))
    ICA(1, inner_steps=1, iterations=1, random_state=0).fit(mixed(10)[0])


def test_a_prior_too_strong_leaves_nothing() -> None:
    model = ICA(2, noise=1e6, unit_columns=False, iterations=3, random_state=0).fit(mixed(10)[0])
    assert np.all(model.latent_ == 0.0)
    assert np.all(np.isfinite(model.parameters_))


def test_a_column_that_no_document_uses_keeps_its_value() -> None:
    X = mixed(10)[0]
    W = np.random.default_rng(0).normal(size=(X.shape[1], 2))
    W /= np.linalg.norm(W, axis=0)
    H = np.column_stack([np.ones(len(X)), np.zeros(len(X))])
    new = ICA(2, unit_columns=True).vm_step(X, H, W)
    np.testing.assert_array_equal(new[:, 1], W[:, 1])
    assert not np.array_equal(new[:, 0], W[:, 0])
