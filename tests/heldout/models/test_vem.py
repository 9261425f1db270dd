"""The shared frame: what the classes say of themselves, the loop, and what it refuses."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import dirichlet

from heldout.errors import InputError
from heldout.models.gaussian_mixture import GaussianMixture, KMeans
from heldout.models.hmm import HMM
from heldout.models.ica import ICA
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.pca import PCA

DISCRETE = (GaussianMixture, KMeans, HMM, MultinomialMixture)
CONTINUOUS = (PCA, ICA, NMF)


@pytest.mark.parametrize("J", [2, 5])
def test_the_entropy_of_a_dirichlet_falls_as_that_of_its_gaussian(J: int) -> None:
    alpha = np.arange(1.0, J + 1.0) / J
    rest = [dirichlet(epsilon * alpha).entropy() - (1 - J) / 2.0 * math.log(epsilon) for epsilon in (1e4, 1e6)]
    p = alpha / alpha.sum()  # the constant is that of N(p, (diag p - p p') / (epsilon sum alpha)) in J - 1 dimensions
    constant = 0.5 * (J - 1) * math.log(2.0 * math.pi * math.e / alpha.sum()) + 0.5 * np.log(p).sum()
    assert rest[0] == pytest.approx(constant, abs=1e-2)
    assert rest[1] == pytest.approx(constant, abs=1e-4)


def test_the_entropy_decides_what_is_a_bound() -> None:
    assert all(m.family.bounds for m in DISCRETE)
    assert not any(m.family.bounds for m in CONTINUOUS)


@pytest.mark.parametrize(
    "change", [{"n_components": 0}, {"iterations": -1}, {"tolerance": -1.0}, {"tolerance": math.nan}]
)
def test_bad_settings_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="at least 1, 0 and 0"):
        KMeans(2).set_params(**change).fit(np.eye(3))


def test_the_loop_counts_and_stops_at_the_tolerance() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = KMeans(4, iterations=5, random_state=3).fit(X)
    assert model.n_iter_ == len(model.objective_) - 1 <= 5
    assert KMeans(4, iterations=0, random_state=3).fit(X).objective_.tolist() == [model.objective_[0]]
    gains = np.diff(model.objective_)
    assert np.all(gains[:-1] > 0.0)
    # a tolerance that the first gain does not exceed stops after one iteration
    assert KMeans(4, iterations=5, tolerance=float(gains[0]), random_state=3).fit(X).n_iter_ == 1
    # fit is the last of the steps
    *_, last = KMeans(4, iterations=5, random_state=3).steps(X)
    np.testing.assert_array_equal(last.parameters.means, model.parameters_.means)
    np.testing.assert_array_equal(last.latent, model.latent_)
