"""The likelihood of new users' ratings against the multivariate normal density, user by user."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import heldout
from heldout.errors import InputError

ITEMS = ("film-9", "film-2", "film-5", "film-7")
RATINGS = [("ann", "film-5", 4.5), ("bob", "film-9", 1.0), ("ann", "film-9", 2.0), ("ann", "film-2", 5.0)]


class SVD:
    """Attributes of Surprise's class after `fit`, as its source has them."""

    def __init__(self, *, biased: bool) -> None:
        random = np.random.default_rng(0)
        self.biased, self.qi, self.bi = biased, random.normal(size=(4, 3)), random.normal(size=4) * biased
        self.trainset = SimpleNamespace(global_mean=3.2, to_raw_iid=ITEMS.__getitem__)


def density(model: SVD, variances: Any, noise: float) -> float:
    """Return the mean log density of `RATINGS`, nats per rating, by the covariance of each user's own."""
    A = np.column_stack([model.qi, np.ones(4)]) if model.biased else model.qi
    total = 0.0
    for user in ("ann", "bob"):
        places = [ITEMS.index(item) for name, item, _ in RATINGS if name == user]
        values = [value for name, _, value in RATINGS if name == user]
        mean = model.bi[places] + 3.2 * model.biased
        covariance = (A[places] * variances) @ A[places].T + noise * np.eye(len(places))
        total += multivariate_normal.logpdf(values, mean, covariance)
    return total / len(RATINGS)


@pytest.mark.parametrize("biased", [True, False])
def test_an_svd_has_the_density_of_its_users_normal(biased: bool) -> None:
    model, variances = SVD(biased=biased), np.array([0.5, 1.0, 2.0, 0.3])[: 3 + biased]
    expected = density(model, variances, 0.7)
    score = heldout.rating_log_likelihood(model, RATINGS, variance=variances, noise=0.7)
    assert score == pytest.approx(expected, abs=1e-12)
    dated = [(*rating, 880_000_000) for rating in RATINGS] + [("ann", "film-new", 1.0, 0)]
    assert heldout.rating_log_likelihood(model, dated, variance=variances, noise=0.7) == score


def test_arrays_and_a_table_are_the_same() -> None:
    pandas, model = pytest.importorskip("pandas"), SVD(biased=True)
    expected = density(model, np.full(4, 2.0), 0.5)
    arrays = np.column_stack([model.qi, np.ones(4)]), model.bi, 3.2
    numbered = np.array([(user == "bob", ITEMS.index(item), value) for user, item, value in RATINGS])
    for own, ratings in ((model, pandas.DataFrame(RATINGS)), (arrays, numbered)):
        score = heldout.rating_log_likelihood(own, ratings, variance=2.0, noise=0.5)
        assert score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": None}, "no noise: give variance= and noise="),
        ({"variance": [1.0, 1.0]}, "of variance one or 4"),
        ({"noise": 0.0}, "noise 0.0: give positive numbers"),
        ({"ratings": [("ann", "film-5")]}, r"give each as \(user, item, rating\)"),
        ({"ratings": [("ann", "film-5", "good")]}, r"give each as \(user, item, rating\)"),
        ({"ratings": [("ann", "film-5", np.nan)]}, "undefined"),
        ({"ratings": [("ann", "film-1", 3)]}, "none of 1 is of an item of the model"),
        ({"ratings": [*RATINGS, RATINGS[0]]}, "by user ann is there twice"),
        ({"model": type("SVD", (), {})()}, "SVD: not fitted"),
        ({"model": 3}, "builtins.int; give a fitted SVD of Surprise"),
        ({"model": (np.ones((3, 2)), np.zeros(2), 0.0)}, r"loadings of shape \(3, 2\), offsets \(2,\)"),
    ],
)
def test_bad_input_is_one_line(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": SVD(biased=True), "ratings": RATINGS, "variance": 1.0, "noise": 1.0} | changes
    with pytest.raises(InputError, match=message):
        heldout.rating_log_likelihood(**given)
