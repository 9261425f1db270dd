"""Models of tokens given inputs: likelihoods that sum to one, objectives that rise, and their limits."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from gallery.priors.models.mr_lda import MRLDA, MultinomialRegression, SoftmaxNetwork, regression
from heldout.errors import InputError
from heldout.typing import Floats

RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.poisson(1.0, (20, 4)).astype(float) + np.eye(20, 4)
X = np.column_stack([np.ones(20), RANDOM.normal(size=(20, 2))])


def test_em_never_lowers_the_objective_and_its_likelihood_is_the_products() -> None:
    model = MRLDA(3, random_state=1, tolerance=0.0, iterations=60).fit(COUNTS, X)
    assert np.diff(model.objective_).min() > -1e-8
    pi = np.exp(X @ model.weights_.T)
    pi /= pi.sum(axis=1, keepdims=True)
    slow = [sum(n * np.log(sum(pi[i, k] * model.components_[k, v] for k in range(3))) for v, n in enumerate(row))
            for i, row in enumerate(COUNTS)]  # fmt: skip
    assert model.log_likelihood(COUNTS, X) == pytest.approx(np.array(slow), abs=1e-10)


@pytest.mark.parametrize(
    "model", [MRLDA(2, random_state=0), SoftmaxNetwork(1, random_state=0), MultinomialRegression()]
)
def test_sums_to_one_over_all_documents_of_a_length(model: MRLDA | SoftmaxNetwork | MultinomialRegression) -> None:
    model.fit(COUNTS, X)
    documents = np.array([np.bincount(tokens, minlength=4) for tokens in itertools.product(range(4), repeat=3)])
    total = np.exp(model.log_likelihood(documents, np.tile(X[0], (len(documents), 1)))).sum()
    assert total == pytest.approx(1.0, abs=1e-12)


def test_the_regression_is_at_its_maximum() -> None:
    targets = COUNTS + 0.5
    W = regression(targets, X, 0.3, np.zeros((4, 3)), 1000)

    def loss(w: Floats) -> float:
        pi = np.exp(X @ w.reshape(4, 3).T)
        return -float((targets * np.log(pi / pi.sum(axis=1, keepdims=True))).sum()) + 0.15 * float((w**2).sum())

    assert np.abs(approx_fprime(W.ravel(), loss, 1e-6)).max() < 2e-2
    for step in 0.05 * np.vstack([np.eye(12), -np.eye(12)]):
        assert loss(W.ravel() + step) > loss(W.ravel())


def test_two_steps_find_what_the_inputs_say() -> None:
    """Forty documents of twenty tokens of either half of the vocabulary by an input leave no doubt."""
    random = np.random.default_rng(2)
    x = np.column_stack([np.ones(40), np.repeat([0.0, 1.0], 20)])
    counts = np.array([random.multinomial(20, [0.45, 0.45, 0.05, 0.05][:: 1 if u == 0.0 else -1]) for u in x[:, 1]])
    for two_steps in (False, True):
        model = MRLDA(2, two_steps=two_steps, random_state=1).fit(counts.astype(float), x)
        first, second = model.probabilities(np.array([[1.0, 0.0], [1.0, 1.0]]))
        assert first[:2].sum() > 0.7
        assert second[:2].sum() < 0.3


def test_a_wide_network_has_the_likelihood_of_the_regression() -> None:
    """With four hidden units and hardly a prior a network of four outputs has no bottleneck."""
    regressed = MultinomialRegression(penalty=1e-6, iterations=5000).fit(COUNTS, X).log_likelihood(COUNTS, X).sum()
    network = SoftmaxNetwork(4, penalty=1e-6, output_penalty=1e-6, iterations=5000, random_state=0).fit(COUNTS, X)
    assert network.log_likelihood(COUNTS, X).sum() == pytest.approx(regressed, abs=0.05)


def test_bad_input_is_refused() -> None:
    for model in (MRLDA(0), MRLDA(2, gamma=0.0), SoftmaxNetwork(2, penalty=0.0), MultinomialRegression(penalty=-1.0)):
        with pytest.raises(InputError, match="must be positive"):
            model.fit(COUNTS, X)
    with pytest.raises(InputError, match="each of 20"):
        MRLDA(2).fit(COUNTS, X[:3])
