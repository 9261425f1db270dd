"""PCA by alternating least squares against the singular value decomposition, scikit-learn and its invariants."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.errors import InputError
from heldout.models.pca import PCA, least_squares
from heldout.typing import Floats


def points(seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    return random.normal(size=(50, 8)) * [9.0, 6.0, 4.0, 1.0, 0.8, 0.6, 0.4, 0.2] @ random.normal(size=(8, 8)) + 3.0


@settings(max_examples=60)
@given(
    X=arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(-5, 5)),
    K=st.integers(1, 7),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_objective_never_falls_nor_passes_the_best_rank_k(X: Floats, K: int, seed: int) -> None:
    history = PCA(K, iterations=12, random_state=seed).fit(X).objective_
    rounding = 1e-12 * (1.0 + np.sum(X**2))
    assert np.all(np.diff(history) >= -rounding)
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert history[-1] <= -0.5 * np.sum(values[K:] ** 2) + rounding


def test_the_subspace_is_scikit_learns() -> None:
    import sklearn.decomposition

    X, K = points(), 3
    ours = PCA(K, iterations=300, random_state=1).fit(X)
    theirs = sklearn.decomposition.PCA(K, svd_solver="full").fit(X)
    assert scipy.linalg.subspace_angles(ours.parameters_, theirs.components_.T).max() < 1e-6
    # rotated to principal directions they agree one by one, up to sign
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    np.testing.assert_allclose(ours.components_, signs[:, None] * theirs.components_, atol=1e-6)
    np.testing.assert_allclose(ours.coordinates_, signs * theirs.transform(X), atol=1e-5)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    residual = X - theirs.inverse_transform(theirs.transform(X))
    assert ours.objective_[-1] == pytest.approx(-0.5 * np.sum(residual**2), rel=1e-10)


def test_directions_are_orthonormal_and_say_the_same_as_w_and_h() -> None:
    model = PCA(4, iterations=5, random_state=0).fit(sp.csr_array(points()))
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(
        model.coordinates_ @ model.components_, model.latent_ @ model.parameters_.T, rtol=1e-9, atol=1e-9
    )
    assert np.all(np.diff(np.sum(model.coordinates_**2, axis=0)) <= 0.0)
    assert np.all(model.components_[np.arange(4), np.abs(model.components_).argmax(axis=1)] > 0.0)


def test_steps_are_the_papers_equations() -> None:
    X = points()[:, :5]
    W = np.random.default_rng(3).normal(size=(5, 2))
    model = PCA(2)
    H = model.ve_step(X, W)
    np.testing.assert_allclose(H.T, np.linalg.inv(W.T @ W) @ (W.T @ X.T), rtol=1e-9)  # 3.14, its inverse mended
    np.testing.assert_allclose(model.vm_step(X, H, W), X.T @ H @ np.linalg.inv(H.T @ H), rtol=1e-9)  # 3.13


def test_least_squares_is_numpys_at_any_rank() -> None:
    random = np.random.default_rng(0)
    for rank in (0, 1, 3):
        A = random.normal(size=(7, rank)) @ random.normal(size=(rank, 3))
        B = random.normal(size=(7, 4))
        np.testing.assert_allclose(least_squares(A, B), np.linalg.pinv(A) @ B, atol=1e-10)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"PCA: .*finite"):
        PCA(1).fit(np.array([1.0, 2.0]))


def test_exponential_family_pca_with_a_quadratic_log_partition_function_is_pca() -> None:
    """Follow 3.27 with F(eta) = |eta|^2 / 2, F' the identity, from both sides in turns (Welling et al. 2008)."""
    X = points() - points().mean(axis=0)
    random = np.random.default_rng(0)
    W, H = random.standard_normal((8, 3)), random.standard_normal((50, 3))
    for _ in range(3000):
        W += (X.T @ H - W @ H.T @ H) / np.linalg.eigvalsh(H.T @ H)[-1]
        H += (X @ W - H @ W.T @ W) / np.linalg.eigvalsh(W.T @ W)[-1]
    model = PCA(3, iterations=500, random_state=1).fit(X)
    eta = model.coordinates_ @ model.components_
    np.testing.assert_allclose(H @ W.T, eta, atol=1e-6 * np.abs(X).max())
    natural = np.sum(X * (H @ W.T)) - 0.5 * np.sum((H @ W.T) ** 2)  # 3.26, that is 3.12 and a constant
    assert natural == pytest.approx(model.objective_[-1] + 0.5 * np.sum(X**2), rel=1e-9)
