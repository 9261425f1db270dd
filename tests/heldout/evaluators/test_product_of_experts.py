"""The likelihood under a product of experts, against a sum over a fine grid and over all documents."""

import math
from itertools import product

import numpy as np
import pytest

import heldout
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import logistic_normal_exact
from heldout.evaluators.product_of_experts import ProductOfExperts
from heldout.evaluators.reference import reference
from heldout.typing import Floats

WORDS = tuple("abcd")


def experts(K: int) -> ProductOfExperts:
    rng = np.random.default_rng(K)
    W, b, mean, root = rng.normal(0.0, 2.0, (4, K)), rng.normal(size=4), rng.normal(size=K), rng.normal(size=(K, K))
    return ProductOfExperts.of(W, b, mean, root @ root.T + np.eye(K), WORDS)


def corpus(documents: list[list[int]]) -> Corpus:
    named = [(str(d), [WORDS[v] for v in words]) for d, words in enumerate(documents)]
    return Corpus.from_documents("made-up", named).over(WORDS)[0]


def test_quadrature_is_the_sum_over_a_fine_grid() -> None:
    model, words = experts(2), [0, 1, 1, 3, 3, 3]
    s = math.sqrt(model.covariance[0, 0])
    x = np.linspace(model.mean[0] - 9.0 * s, model.mean[0] + 9.0 * s, 4_001)
    total = 0.0
    for point in x:
        theta = np.array([math.exp(point), 1.0]) / (math.exp(point) + 1.0)
        p = np.exp(model.weights @ theta + model.bias)
        density = math.exp(-0.5 * ((point - model.mean[0]) / s) ** 2) / (s * math.sqrt(2.0 * math.pi))
        total += (p / p.sum())[words].prod() * density * (x[1] - x[0])
    assert logistic_normal_exact(model, corpus([words])).log_likelihood[0] == pytest.approx(math.log(total), abs=1e-8)


@pytest.mark.parametrize("K", [2, 3])
def test_all_documents_together_have_probability_one(K: int) -> None:
    found = logistic_normal_exact(experts(K), corpus([list(words) for words in product(range(4), repeat=4 - K)]))
    assert np.exp(found.log_likelihood).sum() == pytest.approx(1.0, abs=1e-7)


def test_annealing_meets_the_exact_value() -> None:
    """False alarms 1e-5: 4.9 stated errors of each of five documents."""
    model, rng = experts(3), np.random.default_rng(1)
    documents = corpus([rng.integers(0, 4, length).tolist() for length in (1, 4, 30, 100, 400)])
    found = reference(model, documents, 400, rng)
    off = found.log_likelihood - logistic_normal_exact(model, documents).log_likelihood
    assert found.bias is not None
    assert np.all(found.standard_error < 0.3)
    assert np.all(np.abs(off) < 4.9 * np.hypot(found.standard_error, found.bias))


def test_gradient_and_hessian_are_those_of_finite_differences() -> None:
    likelihood = experts(3).likelihood_of(np.array([0, 2], dtype=np.int32), np.array([3.0, 2.0]))
    x, steps = np.array([0.3, -0.4, 0.0]), 1e-5 * np.eye(3)

    def theta(point: Floats) -> Floats:
        weights: Floats = np.exp(point) / np.exp(point).sum()
        return weights

    values = [likelihood.log_likelihood(theta(x + step)[None])[0] for step in np.vstack([steps, -steps])]
    gradients = [likelihood.derivatives(theta(x + step))[0] for step in np.vstack([steps, -steps])]
    gradient, concave, convex = likelihood.derivatives(theta(x))
    np.testing.assert_allclose(gradient, (np.array(values[:3]) - values[3:]) / 2e-5, atol=1e-7)
    np.testing.assert_allclose(convex - concave, (np.array(gradients[:3]) - gradients[3:]) / 2e-5, atol=1e-7)
    assert np.linalg.eigvalsh(concave).min() > -1e-12


def test_the_score_is_the_mean_per_token_and_an_audit_is_refused() -> None:
    model, documents = experts(3), [["a", "b", "b"], ["d", "other"], []]
    given = (model.weights, model.bias, model.mean, model.covariance)
    exact = logistic_normal_exact(model, corpus([[0, 1, 1], [3]])).log_likelihood.sum() / 4
    score = heldout.log_likelihood(given, documents, vocabulary=WORDS, estimator="exact-marginal")
    assert score == pytest.approx(exact, abs=1e-9)
    assert heldout.log_likelihood(given, documents, vocabulary=WORDS) == pytest.approx(exact, abs=0.2)
    with pytest.raises(InputError, match="product of experts"):
        heldout.audit(given, documents, vocabulary=WORDS)
    with pytest.raises(InputError, match="chib: "):
        heldout.log_likelihood(given, documents, vocabulary=WORDS, estimator="chib")


def test_what_is_no_product_of_experts_is_refused() -> None:
    W, b, mean, covariance = np.zeros((4, 2)), np.zeros(4), np.zeros(1), np.eye(1)
    with pytest.raises(InputError, match=r"W of \(2, 4\)"):
        ProductOfExperts.of(W.T, b, mean, covariance, WORDS)
    with pytest.raises(InputError, match="not finite"):
        ProductOfExperts.of(W, b + np.inf, mean, covariance, WORDS)
    with pytest.raises(InputError, match="positive definite"):
        ProductOfExperts.of(W, b, mean, -covariance, WORDS)
    with pytest.raises(InputError, match="K at least 2"):
        ProductOfExperts.of(W[:, :1], b, mean[:0], covariance, WORDS)
