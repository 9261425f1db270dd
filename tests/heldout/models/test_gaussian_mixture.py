"""The mixture of Gaussians and K-means against scikit-learn, brute force and their invariants."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from
from scipy.stats import multivariate_normal

from heldout.errors import InputError
from heldout.models.gaussian_mixture import GaussianMixture, Gaussians, KMeans
from heldout.models.vem import Posterior
from heldout.typing import Floats

POSTERIORS: tuple[Posterior, ...] = ("point", "exact")
POINTS = arrays(
    np.float64, st.tuples(st.integers(3, 12), st.integers(1, 3)), elements=st.integers(-8, 8).map(lambda i: i / 2)
)


def clusters(seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
    return np.concatenate([c + random.normal(size=(60, 2)) @ random.normal(size=(2, 2)) for c in centres])


def rounding(history: Floats) -> Floats:
    return 1e-9 * (1.0 + np.abs(history[:-1]))


@settings(max_examples=20)
@given(X=POINTS, K=st.integers(1, 3), floor=st.sampled_from([1e-4, 0.1, 2.0]), seed=st.integers(0, 2**32 - 1))
def test_the_objective_never_falls_and_bounds_the_likelihood(X: Floats, K: int, floor: float, seed: int) -> None:
    if len(np.unique(X, axis=0)) < K:
        return
    for posterior in POSTERIORS:
        for model in (
            GaussianMixture(K, floor=floor, posterior=posterior, iterations=15, random_state=seed),
            KMeans(K, variance=floor, posterior=posterior, iterations=15, random_state=seed),
        ):
            history = model.fit(X).objective_
            assert np.all(np.diff(history) >= -rounding(history))
            assert np.all(np.linalg.eigvalsh(model.parameters_.covariances)[:, 0] >= floor * (1.0 - 1e-9))
            exact, bound = model.log_likelihood(X), model.point_bound(X)
            assert np.all(bound <= exact)
            assert np.all(exact <= bound + math.log(K) + 1e-9)  # the best of K terms is at least their mean
            # the objective is the bound, or under exact EM the likelihood itself
            expected = bound if posterior == "point" else exact
            assert history[-1] == pytest.approx(expected.sum(), rel=1e-9, abs=1e-9)


def test_densities_are_scipys() -> None:
    X = clusters()
    model = GaussianMixture(3, iterations=4, random_state=1).fit(X)
    weights, means, covariances = model.parameters_
    joint = np.array(
        [w * multivariate_normal(m, c).pdf(X) for w, m, c in zip(weights, means, covariances, strict=True)]
    )
    np.testing.assert_allclose(model.log_likelihood(X), np.log(joint.sum(axis=0)), rtol=1e-11)
    np.testing.assert_allclose(model.point_bound(X), np.log(joint.max(axis=0)), rtol=1e-11)


def test_the_vm_step_is_the_best_covariance_above_the_floor() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(30, 3)) * [0.1, 1.0, 3.0]
    model = GaussianMixture(1, floor=0.5)
    q = np.ones((30, 1))
    best = model.vm_step(X, q, model.start(X, random))
    highest = model.objective(X, q, best)
    for _ in range(200):
        root = random.normal(size=(3, 3)) * 0.2
        other = best.covariances[0] + (root + root.T) * random.choice([0.01, 0.1, 1.0])
        values, vectors = np.linalg.eigh(other)
        other = (vectors * np.maximum(values, 0.5)) @ vectors.T
        assert model.objective(X, q, best._replace(covariances=other[None])) <= highest + 1e-9


@pytest.mark.filterwarnings("ignore:.*did not converge:sklearn.exceptions.ConvergenceWarning")
def test_exact_em_is_scikit_learns() -> None:
    from sklearn.mixture import GaussianMixture as Theirs

    X, K = clusters(), 3
    ours = GaussianMixture(K, floor=1e-9, posterior="exact", iterations=12, random_state=0)
    start = ours.start(X, np.random.default_rng(5))
    fit_from(ours, X, start)
    theirs = Theirs(
        K,
        tol=0.0,
        reg_covar=0.0,
        max_iter=12,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=np.linalg.inv(start.covariances),
    ).fit(X)
    np.testing.assert_allclose(ours.log_likelihood(X), theirs.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.parameters_.covariances, theirs.covariances_, rtol=1e-7, atol=1e-9)
    assert ours.objective_[-1] == pytest.approx(theirs.score(X) * len(X), rel=1e-10)


def test_k_means_is_scikit_learns() -> None:
    from sklearn.cluster import KMeans as Theirs

    X, K = clusters(), 4
    for seed in range(5):
        ours = KMeans(K, variance=0.7, iterations=200, random_state=seed)
        start = ours.start(X, np.random.default_rng(seed))
        fit_from(ours, X, start)
        theirs = Theirs(K, init=start.means, n_init=1, max_iter=200, tol=0.0, algorithm="lloyd").fit(X)
        np.testing.assert_array_equal(ours.latent_.argmax(axis=1), theirs.labels_)
        np.testing.assert_allclose(ours.parameters_.means, theirs.cluster_centers_, rtol=1e-12)
        # equation 3.9: the objective is -inertia / (2 sigma^2) and a constant
        constant = -len(X) * (math.log(2.0 * math.pi * 0.7) + math.log(K))
        assert ours.objective_[-1] == pytest.approx(constant - theirs.inertia_ / 1.4, rel=1e-12)


def test_k_means_keeps_what_it_fixes() -> None:
    model = KMeans(3, variance=0.25, random_state=0).fit(clusters())
    np.testing.assert_array_equal(model.parameters_.weights, np.full(3, 1 / 3))
    np.testing.assert_array_equal(model.parameters_.covariances, np.repeat(0.25 * np.eye(2)[None], 3, axis=0))


def test_the_point_objective_is_the_best_assignment_of_all() -> None:
    X = np.random.default_rng(4).normal(size=(6, 2))
    model = GaussianMixture(3, floor=0.1, iterations=3, random_state=0).fit(X)
    joint = model.log_joint(X, model.parameters_)
    best = max(sum(joint[n, k] for n, k in enumerate(h)) for h in itertools.product(range(3), repeat=6))
    assert model.objective_[-1] == pytest.approx(best, rel=1e-12)


def test_a_component_without_data_cases_keeps_its_place() -> None:
    X = clusters()
    far = Gaussians(np.full(2, 0.5), np.array([[1.0, 2.0], [1e3, 1e3]]), np.repeat(np.eye(2)[None], 2, axis=0))
    model = fit_from(GaussianMixture(2, iterations=5), X, far)
    assert model.parameters_.weights.tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(model.parameters_.means[1], [1e3, 1e3])
    np.testing.assert_allclose(model.parameters_.means[0], X.mean(axis=0), rtol=1e-12)
    assert np.isfinite(model.objective_).all()


def test_what_is_refused() -> None:
    X = clusters()
    with pytest.raises(InputError, match="finite numbers"):
        GaussianMixture(2).fit(np.array([[np.nan]]))
    with pytest.raises(InputError, match="floor is 0"):
        GaussianMixture(2, floor=0.0).fit(X)
    with pytest.raises(InputError, match="variance is -1"):
        KMeans(2).set_params(variance=-1.0).fit(X)
    with pytest.raises(InputError, match="distinct data cases"):
        KMeans(3).fit(np.ones((5, 2)))
    with pytest.raises(InputError, match="no posterior mean-field"):
        GaussianMixture(2, posterior="mean-field").fit(X)  # type: ignore[arg-type]
    impossible = KMeans(2).parameters_at(np.full((2, 2), 1e200))
    with np.errstate(over="ignore"), pytest.raises(InputError, match="data case 0"):
        fit_from(KMeans(2), X, impossible)
