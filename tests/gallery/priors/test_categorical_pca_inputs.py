"""Categorical PCA with inputs: bound, quadrature, annealing; and what one token says of another."""

import itertools
from typing import Any

import numpy as np
import pytest

from gallery.priors.evaluators.between_tokens import mutual_information, pairs_under_dirichlet, pairs_under_weights
from gallery.priors.evaluators.categorical_pca_inputs import (
    categorical_pca_inputs_annealed,
    categorical_pca_inputs_marginal,
    pairs_of_tokens,
)
from gallery.priors.models.categorical_pca_inputs import SETTLED, CategoricalPCAInputsByQuadrature
from gallery.tokens.evaluators.categorical_pca_marginal import categorical_pca_marginal
from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.document_priors import own_priors_exact
from heldout.topics import OwnPriors

WORDS = ("ape", "bear", "cat")
RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.poisson(0.8, (30, 4)).astype(float) + np.eye(30, 4)
INPUTS = np.column_stack([np.ones(30), RANDOM.normal(size=(30, 2))])


def fitted(K: int, bound: str = "boehning") -> CategoricalPCA:
    return CategoricalPCA(K, bound=bound, penalty=0.05, input_penalty=0.5, iterations=40, random_state=1).fit(
        COUNTS, inputs=INPUTS
    )


@pytest.mark.parametrize("bound", ["boehning", "bouchard"])
@pytest.mark.parametrize("K", [1, 2])
def test_the_bound_rises_and_stays_below_the_likelihood(K: int, bound: str) -> None:
    model = fitted(K, bound)
    assert np.diff(model.objective_).min() > -1e-8
    likelihood = categorical_pca_inputs_marginal(model, COUNTS, INPUTS)
    assert np.all(model.infer(COUNTS, inputs=INPUTS).bound <= likelihood + 1e-9)


def test_sums_to_one_and_has_the_annealed_value() -> None:
    """Fifty chains of ten steps each, 64 sums; 5 standard errors of their sum."""
    model = fitted(2)
    documents = np.array([np.bincount(t, minlength=4) for t in itertools.product(range(4), repeat=3)]).astype(float)
    same = np.tile(INPUTS[0], (len(documents), 1))
    exact = categorical_pca_inputs_marginal(model, documents, same)
    assert np.exp(exact).sum() == pytest.approx(1.0, abs=1e-6)
    value, error = categorical_pca_inputs_annealed(
        model, documents, same, 50, np.random.default_rng(3), temperatures=10
    )
    assert abs((value - exact).sum()) < 5.0 * np.sqrt((error**2).sum()) + 0.01
    assert (error > 0.0).all()


def test_inputs_that_say_nothing_change_nothing() -> None:
    model = fitted(2)
    model.input_weights_ = 0.0 * model.input_weights_
    plain = categorical_pca_marginal(model, COUNTS)
    assert categorical_pca_inputs_marginal(model, COUNTS, INPUTS) == pytest.approx(plain, abs=1e-6)


def test_pairs_of_tokens_are_those_of_the_likelihood() -> None:
    model = fitted(1)
    (joint,) = pairs_of_tokens(model, INPUTS[:1])
    for v, w in ((0, 1), (2, 2)):
        document = np.bincount([v, w], minlength=4).astype(float)[None]
        assert np.log(joint[v, w]) == pytest.approx(
            categorical_pca_inputs_marginal(model, document, INPUTS[:1])[0], abs=1e-6
        )
    phi, alpha = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), np.array([0.4, 1.1])
    pairs = pairs_under_dirichlet(phi, alpha)
    for v, w in ((0, 1), (2, 2)):
        own = OwnPriors(phi, alpha[None], WORDS)
        assert np.log(pairs[v, w]) == pytest.approx(
            own_priors_exact(own, Corpus.from_documents("c", [("d", [WORDS[v], WORDS[w]])])).log_likelihood[0],
            abs=1e-12,
        )
    assert mutual_information(pairs) > 0.01
    assert abs(mutual_information(pairs_under_weights(phi, alpha / alpha.sum()))) < 1e-12


def test_bad_inputs_are_refused() -> None:
    with pytest.raises(InputError, match="each of 30"):
        CategoricalPCA(1).fit(COUNTS, inputs=INPUTS[:3])
    with pytest.raises(InputError, match="1 or 2"):
        categorical_pca_inputs_marginal(fitted(3), COUNTS, INPUTS)


def test_many_tokens_take_more_nodes_and_too_many_are_refused() -> None:
    """Hold the rule to the integral on documents of some 40 tokens, which 16 nodes overstate by a nat in all."""
    random = np.random.default_rng(0)
    p = random.dirichlet(0.5 * np.ones(4), size=30)
    counts = np.array([random.multinomial(40, row) for row in p], float)
    model = CategoricalPCAInputsByQuadrature(1, iterations=100, penalty=0.3, random_state=1).fit(counts, inputs=INPUTS)
    exact = categorical_pca_inputs_marginal(model, counts, INPUTS).sum()
    ridge = 0.15 * (model.weights_**2).sum() + 0.5 * (model.input_weights_**2).sum()
    assert model.objective_[0] == pytest.approx(exact - ridge, abs=SETTLED * counts.sum())
    with pytest.raises(InputError, match="take shorter ones"):
        CategoricalPCAInputsByQuadrature(1, iterations=10, random_state=1).fit(1e5 * counts, inputs=INPUTS)


@pytest.mark.long
@pytest.mark.parametrize("K", [1, 2])
def test_exact_em_maximises_the_likelihood(K: int) -> None:
    """Its objective is that of the evaluator; it is above that of variational EM; its gradient is 0 at the end."""
    given: dict[str, Any] = {"penalty": 0.3, "input_penalty": 0.5, "random_state": 1}
    model = CategoricalPCAInputsByQuadrature(K, iterations=300, **given).fit(COUNTS, inputs=INPUTS)

    def objective(of: CategoricalPCA) -> float:
        value = float(categorical_pca_inputs_marginal(of, COUNTS, INPUTS).sum())
        return value - 0.15 * float((of.weights_**2).sum()) - 0.25 * float((of.input_weights_**2).sum())

    at = objective(model)
    assert model.objective_[0] == pytest.approx(at, abs=0.2)
    assert at > objective(CategoricalPCA(K, iterations=100, **given).fit(COUNTS, inputs=INPUTS))
    for name in ("weights_", "input_weights_", "bias_"):
        values = getattr(model, name)
        for step in (0.1, -0.1):
            moved = values.copy()
            moved.flat[0] += step
            setattr(model, name, moved)
            assert objective(model) < at
        setattr(model, name, values)
