"""Probabilistic matrix factorisation: rounds never lose, without a prior it is the SVD, EM has its likelihood."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.pmf import PMF, Factors, posteriors
from heldout.typing import Floats


def drawn(users: int = 40, items: int = 25, share: float = 0.5, seed: int = 0) -> Ratings:
    """Return ratings with two factors, rounded to 1 .. 5."""
    random = np.random.default_rng(seed)
    values = 3.0 + random.normal(size=(users, 2)) @ random.normal(size=(2, items)) + random.normal(size=(users, 1))
    who, what = np.nonzero(random.random((users, items)) < share)
    value = np.clip(np.round(values[who, what]), 1, 5).astype(np.int64)
    return Ratings(tuple(map(str, range(users))), tuple(map(str, range(items))), who, what, value)


def full() -> Ratings:
    """Return ratings of every item by every user."""
    return drawn(share=2.0)


def log_density(ratings: Ratings, factors: Factors, user: int) -> float:
    """Return log p of one user's ratings with the covariance written out."""
    own = np.flatnonzero(ratings.user == user)
    A = factors.loadings[ratings.item[own]]
    y, jacobian = factors.transformed(ratings)
    covariance = A @ np.diag(factors.variances) @ A.T + factors.noise * np.eye(len(own))
    mean = factors.mean + factors.offsets[ratings.item[own]]
    return float(multivariate_normal(mean, covariance).logpdf(y[own])) + float(jacobian[own].sum())


@pytest.mark.parametrize("posterior", ["point", "exact"])
@pytest.mark.parametrize(
    "setting", [{}, {"biases": False}, {"learned": True}, {"square_root": True}, {"noise": 0.5, "variance": 2.0}]
)
def test_no_round_loses(posterior: Any, setting: dict[str, Any]) -> None:
    model = PMF(2, posterior=posterior, random_state=1, iterations=60, tolerance=0.0, **setting)
    objective = model.fit(drawn()).objective_
    assert len(objective) > 3
    assert np.diff(objective).min() > -1e-8 * abs(objective[-1])


def test_offsets_alone_are_a_ridge_regression() -> None:
    ratings = drawn()
    model = PMF(0, noise=0.5, variance=2.0, random_state=0, iterations=500, tolerance=1e-14).fit(ratings)
    N, M = len(ratings.users), len(ratings.items)
    design = np.zeros((len(ratings), N + M))
    design[np.arange(len(ratings)), ratings.user] = design[np.arange(len(ratings)), N + ratings.item] = 1.0
    solved = np.linalg.solve(
        design.T @ design + 0.25 * np.eye(N + M), design.T @ (ratings.value - ratings.value.mean())
    )
    assert model.users_[:, 0] == pytest.approx(solved[:N], abs=1e-4)
    assert model.factors_.offsets == pytest.approx(solved[N:], abs=1e-4)


def test_em_objective_is_the_likelihood_and_the_prior() -> None:
    ratings = drawn()
    model = PMF(2, posterior="exact", random_state=2, iterations=10).fit(ratings)
    factors = model.factors_
    likelihood = sum(log_density(ratings, factors, user) for user in range(len(ratings.users)))
    free = np.concatenate([factors.loadings[:, :2].ravel(), factors.offsets])
    prior = -0.5 * (free**2 + np.log(2.0 * np.pi)).sum()
    assert model.objective_[-1] == pytest.approx(likelihood + prior, abs=1e-7)


@pytest.mark.long
def test_em_is_at_a_maximum_of_it() -> None:
    ratings = drawn()
    model = PMF(1, posterior="exact", learned=True, random_state=2, iterations=3000, tolerance=1e-13).fit(ratings)
    best = model.factors_

    def objective(factors: Factors) -> float:
        free = np.concatenate([factors.loadings[:, :1].ravel(), factors.offsets])
        return float(posteriors(ratings, factors).log_marginal.sum() - 0.5 * (free**2).sum())

    for field, index in (("loadings", (3, 0)), ("offsets", 4), ("variances", 0), ("noise", None)):
        gains = []
        for step in (-1e-4, 1e-4):
            value = np.array(getattr(best, field), dtype=float)
            if index is None:
                value = value + step
            else:
                value[index] += step
            changed: Any = {field: value if index is not None else float(value)}
            gains.append(objective(best._replace(**changed)))
        assert abs(gains[1] - gains[0]) / 2e-4 < 0.5, field  # one standard error of sigma^2 is a step of 0.05


def test_without_prior_and_gaps_it_is_the_svd() -> None:
    ratings = full()
    model = PMF(2, biases=False, variance=np.inf, random_state=0, iterations=2000, tolerance=1e-15).fit(ratings)
    R = ratings.responses() + 1.0 - model.factors_.mean
    left, values, right = np.linalg.svd(R, full_matrices=False)
    nearest: Floats = (left[:, :2] * values[:2]) @ right[:2]
    assert np.abs(model.users_ @ model.factors_.loadings.T - nearest).max() < 1e-5


def test_least_squares_minimise_the_chapters_objective() -> None:
    """27.92 at lambda = sigma^2 / variance, whose gradient with respect to U and V vanishes."""
    ratings = drawn()
    model = PMF(2, biases=False, noise=0.5, variance=2.0, random_state=0, iterations=5000, tolerance=1e-14).fit(ratings)
    U, V, decay = model.users_, model.factors_.loadings, 0.25
    errors = ratings.mask(ratings.value - model.factors_.predicted(U, ratings)).toarray()
    assert np.abs(errors @ V - decay * U).max() < 1e-4
    assert np.abs(errors.T @ U - decay * V).max() < 1e-4


def test_points_with_a_learned_prior_have_no_maximum() -> None:
    """A factor whose vectors and variance shrink together raises the joint density without bound."""
    ratings = drawn()
    model = PMF(2, learned=True, random_state=0, iterations=200).fit(ratings)
    shrunk = []
    for size in (1e-1, 1e-2, 1e-3):
        factors, users = model.factors_, model.users_.copy()
        users[:, 0] *= size
        loadings, variances = factors.loadings.copy(), factors.variances.copy()
        loadings[:, 0] = 0.0
        variances[0] = (users[:, 0] ** 2).mean()
        changed = factors._replace(loadings=loadings, variances=variances)
        shrunk.append(PMF._log_joint(ratings, changed, users) + model._log_prior(changed))
    assert np.diff(shrunk) == pytest.approx(np.full(2, len(ratings.users) * np.log(10.0)))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_components": 0, "biases": False}, "take one factor or more"),
        ({"posterior": "exact", "variance": np.inf}, "of exact posteriors finite"),
        ({"variance": np.inf, "n_components": 30}, "as many ratings as factors"),
        ({"noise": 0.0}, "noise's variance must be above 0"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        PMF(**setting).fit(drawn())
