"""The likelihood of scikit-learn's `BernoulliRBM` against the sum over all states of its visible units."""

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import heldout
from heldout.errors import InputError, InputWarning
from heldout.evaluators import rbm_marginal as module
from heldout.evaluators.rbm_marginal import rbm_marginal
from heldout.models.rbm import RBM

V = 7
STATES = np.array(list(itertools.product([0, 1], repeat=V)))
DATA = np.repeat([[1, 1, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0, 0]], 20, axis=0)


def fitted(K: int) -> Any:
    network = pytest.importorskip("sklearn.neural_network")
    return network.BernoulliRBM(K, learning_rate=0.2, n_iter=30, random_state=0).fit(DATA)


def enumerated(model: Any, X: Any) -> float:
    """Return the mean of log p(v), nats per value: Z term by term, from the energy of each (v, h)."""
    hidden = np.array(list(itertools.product([0, 1], repeat=model.components_.shape[0])))

    def log_sums(v: Any) -> Any:
        energies = hidden @ model.components_ @ v.T + (hidden @ model.intercept_hidden_)[:, None]
        return logsumexp(energies, axis=0) + v @ model.intercept_visible_

    return float((log_sums(X) - logsumexp(log_sums(STATES))).mean()) / V


@pytest.mark.parametrize("K", [1, 4, 9])
def test_the_score_is_exact_where_a_layer_is_small(K: int) -> None:
    model, held_out = fitted(K), STATES[::5]
    expected = enumerated(model, held_out)
    for X in (held_out, held_out.astype(bool)):
        assert heldout.log_likelihood(model, X) == pytest.approx(expected, abs=1e-12)
    assert heldout.log_likelihood(model, held_out, estimator="exact-marginal") == pytest.approx(expected, abs=1e-12)


def test_a_search_chooses_by_it() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    search = selection.GridSearchCV(fitted(1), {"n_components": [1, 4]}, scoring=heldout.log_likelihood, cv=3)
    search.fit(DATA[np.random.default_rng(0).permutation(len(DATA))])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert heldout.log_likelihood(search, DATA) == pytest.approx(enumerated(search.best_estimator_, DATA), abs=1e-12)


def test_a_pipeline_may_make_the_rows_binary() -> None:
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    model = pipeline.make_pipeline(preprocessing.Binarizer(threshold=0.5), fitted(2))
    assert heldout.log_likelihood(model, DATA * 0.9) == heldout.log_likelihood(model[-1], DATA)


def test_a_larger_machine_is_annealed_and_says_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are stated from 100 chains: 4.9 of them are one in 1e5 by Student's distribution with 99."""
    model = fitted(4)
    exact = enumerated(model, DATA)
    monkeypatch.setattr(module, "EXACT_UNITS", 0)
    ours = RBM()
    ours.weights_, ours.visible_bias_ = model.components_.T.copy(), model.intercept_visible_
    ours.hidden_bias_ = model.intercept_hidden_
    evaluation = rbm_marginal(ours, DATA, 240, np.random.default_rng(0))
    error = evaluation.total_error()
    assert 0.0 < error / len(DATA) < 0.05
    assert abs(evaluation.log_likelihood.sum() - exact * DATA.size) < 4.9 * error
    score = heldout.log_likelihood(model, DATA, samples=240)
    assert 0.0 < abs(score - exact) * V < 0.2
    ours.weights_ *= 9.0
    with pytest.warns(InputWarning, match=r"standard error of .* nats per value"):
        heldout.log_likelihood(ours, DATA, samples=240)
    wide = RBM()
    wide.weights_, wide.visible_bias_, wide.hidden_bias_ = np.zeros((25, 30)), np.zeros(25), np.zeros(30)
    with pytest.raises(InputError, match="more than 24"):
        heldout.log_likelihood(wide, np.zeros((2, 25)), estimator="exact-marginal")


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (lambda model: heldout.log_likelihood(model, DATA * 0.5), "a matrix of zeros and ones"),
        (lambda model: heldout.log_likelihood(model, DATA[:, :3]), "3 columns, but the machine has 7 visible units"),
        (lambda model: heldout.log_likelihood(type(model)(), DATA), "BernoulliRBM: not fitted"),
        (lambda _: heldout.log_likelihood(RBM(), DATA), "RBM: not fitted"),
        (lambda _: heldout.log_likelihood(RBM(1, visible="gaussian").fit(DATA), DATA), "must be binary"),
        (functools.partial(heldout.log_likelihood, X=DATA, estimator="left-to-right"), "left-to-right: is of topics"),
    ],
)
def test_bad_input_is_one_line(score: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score(fitted(2))


def test_a_machine_that_diverged_is_one_line() -> None:
    model = fitted(2)
    model.intercept_hidden_[0] = np.nan
    with pytest.raises(InputError, match="smaller learning rate"):
        heldout.log_likelihood(model, DATA)
