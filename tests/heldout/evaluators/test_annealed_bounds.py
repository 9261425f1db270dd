"""Bounds from both sides under a mixture of priors: beside exact values, and what they refuse."""

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.evaluators.annealed_bounds import annealed_bounds, simulate_mixture
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics

WORDS = tuple(f"w{w}" for w in range(6))
PRIOR = DirichletMixture(np.array([0.3, 0.7]), np.array([[0.1, 0.2, 0.3], [3.0, 1.0, 0.5]]))


def topics() -> Topics:
    phi = np.random.default_rng(3).dirichlet(np.full(6, 0.3), size=3)
    return Topics(phi=phi, alpha=np.ones(3), vocabulary=WORDS, provenance={})


@pytest.mark.parametrize("steps", [1, 5])
def test_both_are_unbiased(steps: int) -> None:
    """E[W] = p(w) and E[1 / W] = 1 / p(w), by z of a mean over 4,000 documents: beyond 4.5 with a chance of 1e-5."""
    rng = np.random.default_rng(0)
    drawn = simulate_mixture(topics(), PRIOR, np.full(4000, 6), rng)
    exact = mixture_of_priors(topics(), PRIOR, lambda under: exact_marginal(under, drawn.documents)).log_likelihood
    lower, upper = annealed_bounds(topics(), PRIOR, drawn, rng, chains=1, steps=steps)
    for ratios in (np.exp(lower.log_likelihood - exact), np.exp(exact - upper.log_likelihood)):
        z = (ratios.mean() - 1.0) / (ratios.std(ddof=1) / np.sqrt(len(ratios)))
        assert abs(z) < 4.5
    assert lower.log_likelihood.mean() < exact.mean() < upper.log_likelihood.mean()


def test_a_single_component_is_bidirectional_monte_carlo() -> None:
    rng = np.random.default_rng(1)
    one = DirichletMixture(np.ones(1), PRIOR.alphas[:1])
    drawn = simulate_mixture(topics(), one, np.array([3, 8, 0]), rng)
    lower, upper = annealed_bounds(topics(), one, drawn, rng, chains=8, steps=300)
    exact = exact_marginal(
        Topics(phi=topics().phi, alpha=one.alphas[0], vocabulary=WORDS, provenance={}), drawn.documents
    )
    assert np.abs(lower.log_likelihood - exact.log_likelihood).max() < 0.2
    assert np.abs(upper.log_likelihood - exact.log_likelihood).max() < 0.2
    assert upper.log_likelihood[2] == lower.log_likelihood[2] == 0.0
    assert np.isnan(upper.standard_error[:2]).all()


def test_draws_of_other_documents_are_refused() -> None:
    rng = np.random.default_rng(2)
    drawn = simulate_mixture(topics(), PRIOR, np.array([3, 8]), rng)
    with pytest.raises(InputError, match="components"):
        annealed_bounds(topics(), PRIOR, drawn._replace(components=drawn.components[:1]), rng)
    with pytest.raises(InputError, match="samples"):
        annealed_bounds(topics(), PRIOR, drawn, rng, steps=0)
