"""The mixture of Poissons is a Poisson length times a mixture of multinomials, term by term."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import poisson

from gallery.tokens.models.poisson_mixture import PoissonMixture, Poissons
from heldout.errors import InputError
from heldout.models.multinomial_mixture import MultinomialMixture, Multinomials
from heldout.models.vem import Posterior


def test_is_a_poisson_length_times_the_multinomial_of_each_component() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 6, (8, 5)).astype(float)
    counts[0] = 0.0
    weights, b, means = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(5), 3), np.array([4.0, 11.0, 20.0])
    lengths = counts.sum(axis=1)
    orders = gammaln(lengths + 1.0) - gammaln(counts + 1.0).sum(axis=1)
    sequences = MultinomialMixture(3).log_joint(MultinomialMixture(3).check(counts), Multinomials(weights, b))
    expected = sequences + orders[:, None] + poisson.logpmf(lengths[:, None], means)
    model, parameters = PoissonMixture(3), Poissons(weights, means[:, None] * b)
    np.testing.assert_allclose(model.log_joint(model.check(counts), parameters), expected, rtol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(counts, parameters), logsumexp(expected, axis=1), rtol=1e-12)
    # where all lengths are expected alike, they say nothing on the component
    equal = model.log_likelihood(counts, Poissons(weights, 7.0 * b))
    mixture = logsumexp(sequences, axis=1) + orders + poisson.logpmf(lengths, 7.0)
    np.testing.assert_allclose(equal, mixture, rtol=1e-12)
    smoothed = Poissons(weights, means[:, None] * b).smoothed(0.01)
    np.testing.assert_allclose(smoothed.rates, means[:, None] * Multinomials(weights, b).smoothed(0.01).phi)


@pytest.mark.parametrize("posterior", ["point", "exact"])
def test_the_objective_never_falls_and_ends_at_the_mean_counts(posterior: Posterior) -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(rng.gamma(1.0, 2.0, (3, 6))[rng.integers(0, 3, 40)]).astype(float)
    model = PoissonMixture(3, posterior=posterior, iterations=40, random_state=0).fit(counts)
    assert np.all(np.diff(model.objective_) >= -1e-10 * np.abs(model.objective_[:-1]))
    expected = model.log_likelihood(counts) if posterior == "exact" else model.point_bound(counts)
    assert model.objective_[-1] == pytest.approx(expected.sum(), rel=1e-12)
    one = PoissonMixture(1, posterior=posterior, iterations=2, random_state=0).fit(counts)
    np.testing.assert_allclose(one.parameters_.rates[0], counts.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("entry", [-1.0, math.nan, 0.5])
def test_bad_counts_are_refused(entry: float) -> None:
    with pytest.raises(InputError, match="mixture of Poissons: "):
        PoissonMixture(1).fit(np.array([[1.0, entry]]))
    with pytest.raises(InputError, match=r"3 components .*2 documents"):
        PoissonMixture(3).fit(np.ones((2, 2)))
