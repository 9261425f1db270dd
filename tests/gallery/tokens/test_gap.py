"""GaP's sampler against the enumeration of its assignments, and its limits."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import gamma as gamma_density
from scipy.stats import poisson

from gallery.tokens.models.gap import GaP, draw_z, fold_in
from gallery.tokens.models.lda_gibbs import split_counts
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import GammaPoissonMoments, gap_marginal
from heldout.models.nmf import NMF
from heldout.typing import Floats

ALPHA, BETA = np.array([0.5, 1.5]), np.array([0.4, 0.8])
B = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])


def posterior_of_counts(tokens: list[int], rho: Floats) -> Floats:
    """Return E[c_k | n], (K,), by summing over all assignments of the tokens."""
    moments = GammaPoissonMoments(ALPHA, BETA, np.ones(2), rho)
    p, total = 0.0, np.zeros(2)
    for z in itertools.product(range(2), repeat=len(tokens)):
        counts = np.array([[float(z.count(k)) for k in range(2)]])
        weight = math.prod(B[z, tokens].tolist()) * math.exp(moments.log_moment(counts)[0])
        p, total = p + weight, total + weight * counts[0]
    return total / p


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_the_sampler_draws_from_the_posterior(rho: float) -> None:
    """E[c_k | n] with b fixed; 20,000 chains after 40 sweeps; 4.4 standard errors fail once in 1e5 runs."""
    tokens, spike, random = [0, 0, 2, 1], np.full(2, rho), np.random.default_rng(0)
    chains = 20_000
    counts = sp.csr_array(np.tile(np.bincount(tokens, minlength=3).astype(float), (chains, 1)))
    z = np.ones((chains, 2))
    for _ in range(40):
        in_document, in_word = split_counts(counts, z, B, random)
        z = draw_z(in_document, ALPHA, BETA, spike, random)
    assert in_document.sum() == in_word.sum() == counts.sum()
    error = in_document.std(axis=0) / math.sqrt(chains)
    assert np.all(np.abs(in_document.mean(axis=0) - posterior_of_counts(tokens, spike)) < 4.4 * error)


def test_draws_of_z_are_gamma_or_the_spike() -> None:
    """A hundred thousand draws a case; 4.4 standard errors."""
    random, n = np.random.default_rng(1), 100_000
    rho = np.array([0.3, 0.0])
    z = draw_z(np.tile([0.0, 3.0], (n, 1)), ALPHA, BETA, rho, random)
    none = 0.7 * gamma_density.expect(lambda t: np.exp(-t), (ALPHA[0],), scale=1.0 / BETA[0])
    share = 0.3 / (0.3 + none)
    assert abs((z[:, 0] == 0.0).mean() - share) < 4.4 * math.sqrt(share * (1.0 - share) / n)
    for values, shape, rate in (
        (z[z[:, 0] > 0.0, 0], ALPHA[0], BETA[0] + 1.0),
        (z[:, 1], ALPHA[1] + 3.0, BETA[1] + 1.0),
    ):
        assert abs(values.mean() - shape / rate) < 4.4 * math.sqrt(shape) / rate / math.sqrt(len(values))


def test_folding_in_raises_the_joint_and_is_nmf_without_a_prior() -> None:
    counts = np.random.default_rng(2).integers(0, 5, (6, 3)).astype(float)
    model = NMF(2)
    data, W = model.check(counts), np.ascontiguousarray(B.T)
    start = model.ve_step(data, W)
    nothing = np.zeros(2)
    np.testing.assert_allclose(fold_in(counts, B, nothing, nothing, iterations=1), start, rtol=1e-12)
    again = fold_in(counts, B, nothing, nothing, iterations=2)
    np.testing.assert_allclose(again, model.ve_step(data, W, start), rtol=1e-12)

    def joint(z: Floats) -> Floats:
        rates = z @ B
        log_prior = (ALPHA * np.log(z) - BETA * z).sum(axis=1)
        value: Floats = (counts * np.log(rates) - rates - gammaln(counts + 1.0)).sum(axis=1) + log_prior
        return value

    path = [joint(fold_in(counts, B, ALPHA, BETA, iterations=i)) for i in range(12)]
    assert np.all(np.diff(path, axis=0) >= -1e-10)


def test_the_likelihood_lies_below_full_folding_in() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.gamma(0.5, 6.0, (30, 2)) @ B).astype(float)
    model = GaP(2, alpha=0.5, sweeps=60, random_state=0).fit(counts)
    b = model.components_
    assert model.beta_[0] == pytest.approx(2 * 0.5 / counts.sum(axis=1).mean())
    likelihood = gap_marginal(counts, np.ascontiguousarray(b.T), model.alpha_, model.beta_, model.rho_)
    z = fold_in(counts, b, np.zeros(2), np.zeros(2), iterations=2000)
    folded = poisson.logpmf(counts, z @ b).sum(axis=1)
    assert np.all(likelihood < folded + 1e-9)
    again = GaP(2, alpha=0.5, sweeps=60, random_state=0).fit(counts)
    np.testing.assert_array_equal(again.components_, b)
    spiked = GaP(2, alpha=0.5, rho=0.5, sweeps=20, random_state=0).fit(counts)
    assert 0.0 < (spiked.state_.weights == 0.0).mean() < 1.0
    assert not (model.state_.weights == 0.0).any()


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"GaP: .*not whole"):
        GaP(2).fit(np.array([[0.5]]))
    for change in ({"alpha": 0.0}, {"beta": -1.0}, {"rho": 1.0}, {"gamma": math.inf}, {"sweeps": 0}):
        with pytest.raises(InputError, match="at least 1, positive and finite"):
            GaP(2).set_params(**change).fit(np.ones((2, 2)))


def test_components_are_the_mean_of_the_samples_of_the_last_half() -> None:
    counts = np.random.default_rng(3).poisson(1.0, (8, 6)) + np.eye(8, 6, dtype=int)
    two, three = (GaP(2, alpha=0.5, gamma=0.2, sweeps=sweeps, random_state=4).fit(counts) for sweeps in (2, 3))
    samples = [model.state_.in_word + 0.2 for model in (two, three)]  # the second sweep's and the third's
    mean = sum(sample / sample.sum(axis=1, keepdims=True) for sample in samples) / 2.0
    np.testing.assert_allclose(three.components_, mean, rtol=1e-12)
