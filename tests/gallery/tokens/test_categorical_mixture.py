"""The mixture of categorical vectors against enumeration, with gaps integrated out."""

import itertools
import math

import numpy as np
import pytest

from gallery.tokens.models.categorical_mixture import CategoricalMixture, Tables
from heldout.errors import InputError
from heldout.models.vem import Posterior


def made(R: int = 3, M: int = 3, K: int = 2) -> Tables:
    rng = np.random.default_rng(4)
    return Tables(rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(M), (K, R)))


def test_is_the_sum_over_components_and_over_what_is_missing() -> None:
    parameters, model = made(), CategoricalMixture(2, values=3)
    every = np.array(list(itertools.product(range(3), repeat=3)))
    p = np.exp(model.log_likelihood(every, parameters))
    for y, value in zip(every, p, strict=True):
        terms = [w * math.prod(b[range(3), y].tolist()) for w, b in zip(*parameters, strict=True)]
        assert value == pytest.approx(math.fsum(terms), rel=1e-12)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    gaps = np.array([[1, -1, 2], [-1, -1, 0], [-1, -1, -1]])
    for row, value in zip(gaps, np.exp(model.log_likelihood(gaps, parameters)), strict=True):
        fits = np.all((row == -1) | (every == row), axis=1)
        assert value == pytest.approx(p[fits].sum(), rel=1e-12)


@pytest.mark.parametrize("posterior", ["point", "exact"])
def test_the_objective_never_falls_and_one_component_counts_shares(posterior: Posterior) -> None:
    rng = np.random.default_rng(5)
    responses = rng.integers(-1, 3, (60, 4))
    model = CategoricalMixture(3, posterior=posterior, iterations=40, random_state=1).fit(responses)
    assert np.all(np.diff(model.objective_) >= -1e-10 * np.abs(model.objective_[:-1]))
    assert np.all(model.point_bound(responses) <= model.log_likelihood(responses))
    np.testing.assert_allclose(model.parameters_.b.sum(axis=2), 1.0, rtol=1e-12)
    one = CategoricalMixture(1, posterior=posterior, iterations=2, random_state=0).fit(responses)
    given = responses[:, 2][responses[:, 2] >= 0]
    np.testing.assert_allclose(one.parameters_.b[0, 2], np.bincount(given, minlength=3) / len(given), rtol=1e-12)
    # a held-out value that training has not met has a probability after smoothing only
    assert np.isfinite(one.log_likelihood(responses[:1], one.parameters_.smoothed(0.01)))


def test_bad_responses_are_refused() -> None:
    for responses in (np.array([[0.5]]), np.array([0, 1]), np.zeros((0, 2), np.int64)):
        with pytest.raises(InputError, match="whole numbers"):
            CategoricalMixture(1).fit(responses)
    for responses in (np.array([[-2, 0]]), np.array([[3, 0]]), np.array([[-1, -1]])):
        with pytest.raises(InputError, match="from 0 to 2"):
            CategoricalMixture(1, values=3).fit(responses)
