"""The mixture of multinomials against enumeration of its components and its invariants."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from

from heldout.errors import InputError
from heldout.models.multinomial_mixture import MultinomialMixture, Multinomials
from heldout.models.vem import Posterior
from heldout.typing import Floats

POSTERIORS: tuple[Posterior, ...] = ("point", "exact")
COUNTS = arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(2, 8)), elements=st.integers(0, 6))


@settings(max_examples=80)
@given(counts=COUNTS, K=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_the_objective_never_falls_and_bounds_the_likelihood(counts: Floats, K: int, seed: int) -> None:
    if np.sum(counts.sum(axis=1) > 0) < K:
        return
    for posterior in POSTERIORS:
        model = MultinomialMixture(K, posterior=posterior, iterations=20, random_state=seed).fit(counts)
        history = model.objective_
        assert np.all(np.diff(history) >= -1e-10 * (1.0 + np.abs(history[:-1])))
        np.testing.assert_allclose(model.parameters_.phi.sum(axis=1), 1.0, rtol=1e-12)
        assert model.parameters_.weights.sum() == pytest.approx(1.0, rel=1e-12)
        exact, bound = model.log_likelihood(counts), model.point_bound(counts)
        assert np.all(bound <= exact)
        assert np.all(exact <= bound + math.log(K) + 1e-9)
        expected = bound if posterior == "point" else exact
        assert history[-1] == pytest.approx(expected.sum(), rel=1e-10, abs=1e-10)


@settings(max_examples=50)
@given(counts=COUNTS, K=st.integers(1, 4), seed=st.integers(0, 2**32 - 1))
def test_held_out_documents_are_bounded_too(counts: Floats, K: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    parameters = Multinomials(random.dirichlet(np.ones(K)), random.dirichlet(np.full(counts.shape[1], 0.3), K))
    if counts.sum() == 0:
        return
    model = MultinomialMixture(K)
    smoothed = parameters.smoothed(1e-3)
    exact, bound = model.log_likelihood(counts, smoothed), model.point_bound(counts, smoothed)
    for d, n in enumerate(counts):  # one probability after the other
        joint = [w * np.prod(phi**n) for w, phi in zip(smoothed.weights, smoothed.phi, strict=True)]
        assert exact[d] == pytest.approx(math.log(math.fsum(joint)), rel=1e-9, abs=1e-9)
        assert bound[d] == pytest.approx(math.log(max(joint)), rel=1e-9, abs=1e-9)
        assert bound[d] <= exact[d]


def test_one_component_is_the_unigram_model() -> None:
    counts = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    for posterior in POSTERIORS:
        model = MultinomialMixture(1, posterior=posterior, iterations=3, random_state=0).fit(sp.csr_array(counts))
        np.testing.assert_allclose(model.parameters_.phi[0], counts.sum(axis=0) / counts.sum(), rtol=1e-14)
        np.testing.assert_array_equal(model.log_likelihood(counts), model.point_bound(counts))


def test_exact_em_step_by_hand() -> None:
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0], [1.0, 1.0, 4.0]])
    start = Multinomials(np.array([0.3, 0.7]), np.array([[0.5, 0.3, 0.2], [0.1, 0.4, 0.5]]))
    model = fit_from(MultinomialMixture(2, posterior="exact", iterations=1), counts, start)
    joint = np.array([[w * np.prod(phi**n) for w, phi in zip(*start, strict=True)] for n in counts])
    q = joint / joint.sum(axis=1, keepdims=True)
    expected = q.T @ counts
    np.testing.assert_allclose(model.parameters_.weights, q.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.parameters_.phi, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.objective_[0] == pytest.approx(np.log(joint.sum(axis=1)).sum(), rel=1e-12)


def test_separate_documents_are_separated() -> None:
    random = np.random.default_rng(1)
    phi = np.kron(np.eye(3), np.ones(5)) / 5.0
    labels = np.repeat(np.arange(3), 20)
    counts = np.array([random.multinomial(30, phi[k]) for k in labels]).astype(float)
    start = Multinomials(np.full(3, 1 / 3), np.asarray(0.9 * phi + 0.1 / 15, dtype=float))
    for posterior in POSTERIORS:
        model = fit_from(MultinomialMixture(3, posterior=posterior), counts, start)
        np.testing.assert_array_equal(model.latent_.argmax(axis=1), labels)


def test_unseen_words_have_probability_0_until_smoothed() -> None:
    counts = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0]])
    model = MultinomialMixture(1, random_state=0).fit(counts)
    unseen = np.array([[0.0, 1.0, 1.0]])
    assert model.log_likelihood(unseen)[0] == -math.inf
    smoothed = model.parameters_.smoothed(0.01)
    np.testing.assert_allclose(smoothed.phi, (model.parameters_.phi + 0.01) / 1.03, rtol=1e-14)
    assert model.log_likelihood(unseen, smoothed)[0] == pytest.approx(math.log(0.51 / 1.03 * 0.01 / 1.03))


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="negative or undefined"):
        MultinomialMixture(1).fit(np.array([[1.0, -1.0]]))
    with pytest.raises(InputError, match="hold no tokens"):
        MultinomialMixture(1).fit(np.zeros((2, 2)))
    with pytest.raises(InputError, match="1 documents"):
        MultinomialMixture(2).fit(np.array([[1.0, 2.0], [0.0, 0.0]]))
    start = Multinomials(np.ones(1), np.array([[1.0, 0.0]]))
    with pytest.raises(InputError, match="data case 1"):
        fit_from(MultinomialMixture(1), np.array([[1.0, 0.0], [0.0, 1.0]]), start)
