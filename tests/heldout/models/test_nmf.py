"""NMF with the Poisson objective against scikit-learn, scipy, PLSA and its invariants."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import fit_from
from scipy.stats import poisson

from heldout.errors import InputError
from heldout.models.nmf import NMF
from heldout.models.plsa import PLSA, starting_values
from heldout.typing import Floats


def counts_of(N: int = 20, V: int = 15, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    rates = random.gamma(1.0, 3.0, (N, 3)) @ random.dirichlet(np.full(V, 0.3), 3) * 4.0
    return random.poisson(rates).astype(float) + np.eye(N, V)


@settings(max_examples=30)
@given(
    X=arrays(
        np.float64, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(0, 12).map(lambda i: i / 2)
    ),
    K=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_objective_never_falls_and_the_constraints_hold(X: Floats, K: int, seed: int) -> None:
    if X.sum() == 0:
        return
    model = NMF(K, iterations=25, random_state=seed).fit(sp.csr_array(X))
    history = model.objective_
    assert np.all(np.diff(history) >= -1e-10 * (1.0 + np.abs(history[:-1])))
    assert np.all(model.parameters_ >= 0.0)
    assert np.all(model.latent_ >= 0.0)
    np.testing.assert_allclose(model.parameters_.sum(axis=0), 1.0, rtol=1e-12)
    # because W's columns sum to 1, the update of H needs no normaliser to reproduce every total
    np.testing.assert_allclose(model.latent_.sum(axis=1), X.sum(axis=1), rtol=1e-10)


def test_the_objective_is_the_log_probability() -> None:
    X = counts_of()
    model = NMF(3, iterations=4, random_state=1).fit(X)
    expected = poisson.logpmf(X, model.latent_ @ model.parameters_.T).sum()
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-11)


def start(X: Floats, K: int, seed: int = 2) -> Floats:
    W = np.random.default_rng(seed).random((X.shape[1], K)) + 0.1
    return np.asarray(W / W.sum(axis=0))


KL = {"solver": "mu", "beta_loss": "kullback-leibler", "init": "custom", "tol": 0.0}


@pytest.mark.filterwarnings("ignore:Maximum number of iterations:sklearn.exceptions.ConvergenceWarning")
def test_half_steps_are_scikit_learns() -> None:
    from sklearn.decomposition import non_negative_factorization

    X, K = counts_of(), 3
    W, H = start(X, K), np.random.default_rng(3).random((len(X), K)) + 0.1
    model, data = NMF(K), sp.csr_array(X)
    # their one iteration updates H (which they call W), then W with the new H; theirs is not normalised
    theirs_h, theirs_w, _ = non_negative_factorization(X, H.copy(), W.T.copy(), n_components=K, max_iter=1, **KL)
    ours_h = model.ve_step(data, W, H)
    np.testing.assert_allclose(ours_h, theirs_h, rtol=1e-5)
    ours_w = model.vm_step(data, ours_h, W)
    np.testing.assert_allclose(ours_w, (theirs_w / theirs_w.sum(axis=1, keepdims=True)).T, rtol=1e-5)


def test_plsas_em_step_is_nmfs_on_proportions() -> None:
    """Section 3.4: the updates of PLSA are those of NMF and a normaliser of H."""
    X, K = counts_of(), 3
    W, lengths = start(X, K), X.sum(axis=1, keepdims=True)
    theta = np.random.default_rng(4).dirichlet(np.ones(K), len(X))
    ours = NMF(K).ve_step(sp.csr_array(X), W, theta * lengths)
    plsa = fit_from(PLSA(K, iterations=1), X, starting_values(W.T, theta))
    np.testing.assert_allclose(ours / lengths, plsa.document_topics_, rtol=1e-10)


def test_data_cases_and_entries_without_anything() -> None:
    X = counts_of()
    X[4] = 0.0
    X[:, 2] = 0.0
    model = NMF(3, iterations=10, random_state=0).fit(X)
    assert np.all(model.latent_[4] == 0.0)
    assert np.all(model.parameters_[2] == 0.0)
    assert np.isfinite(model.objective_).all()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"NMF: .*negative"):
        NMF(1).fit(np.array([[-1.0]]))
