"""Laplace in the softmax basis: its parts against finite differences and dense algebra, its value against the exact."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.laplace_softmax import laplace_softmax, log_det
from heldout.evaluators.posterior_mean import variational_gamma
from heldout.topics import Topics
from heldout.typing import Floats

WORDS = tuple("abcdefg")


def drawn(seed: int, K: int, lengths: tuple[int, ...], alpha: float = 1.0) -> tuple[Topics, Corpus]:
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(len(WORDS), 0.4), size=K) + 1e-6
    topics = Topics(phi / phi.sum(axis=1, keepdims=True), alpha * rng.uniform(0.5, 2.0, K), WORDS)
    tokens = rng.integers(0, len(WORDS), sum(lengths)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return topics, Corpus("drawn", WORDS, tokens, offsets, tuple(f"d{i}" for i in range(len(lengths))))


def log_joint(topics: Topics, document: NDArray[np.int32], a: Floats) -> float:
    """Return log p(w, a) of the free coordinates a (K - 1; the last is 0), a density over them."""
    h = np.exp(np.append(a, 0.0) - np.append(a, 0.0).max())
    h /= h.sum()
    alpha = topics.alpha
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    return float(constant + np.log(h @ topics.phi[:, document]).sum() + alpha @ np.log(h))


def hessian(topics: Topics, document: NDArray[np.int32], a: Floats, step: float = 1e-3) -> Floats:
    """Return the second derivatives of `log_joint` by central differences."""
    n = len(a)
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            e, f = step * np.eye(n)[i], step * np.eye(n)[j]
            corners = [
                sign * log_joint(topics, document, a + move)
                for sign, move in ((1, e + f), (-1, e - f), (-1, f - e), (1, -e - f))
            ]
            found[i, j] = sum(corners) / (4.0 * step**2)
    return found


def twin(topics: Topics, document: NDArray[np.int32]) -> float:
    """Laplace's method in MacKay's form, from finite differences at the mode that EM reaches."""
    one = Corpus("one", WORDS, document, np.array([0, len(document)]), ("d",))
    theta = variational_gamma(topics, one, mean_field=False, iterations=100_000, tolerance=1e-13)[0]
    a = np.log(theta[:-1] / theta[-1])
    curvature = np.linalg.slogdet(-hessian(topics, document, a))
    assert curvature[0] == 1.0
    return log_joint(topics, document, a) + 0.5 * (len(a) * math.log(2.0 * math.pi) - float(curvature[1]))


@pytest.mark.parametrize(("seed", "K", "alpha"), [(0, 2, 1.0), (1, 3, 1.0), (2, 4, 0.3), (3, 5, 3.0)])
def test_density_form_is_laplace_by_finite_differences(seed: int, K: int, alpha: float) -> None:
    topics, documents = drawn(seed, K, (6, 40), alpha)
    found = laplace_softmax(topics, documents, form="density", tolerance=1e-13, iterations=100_000).log_likelihood
    expected = [twin(topics, documents.document(d)) for d in range(2)]
    np.testing.assert_allclose(found, expected, atol=2e-5)  # what differences of step 1e-3 leave


@pytest.mark.parametrize(("seed", "K"), [(4, 2), (5, 4)])
def test_the_point_is_the_mode(seed: int, K: int) -> None:
    topics, documents = drawn(seed, K, (25,), 0.5)
    theta = variational_gamma(topics, documents, mean_field=False, tolerance=1e-12, iterations=100_000)[0]
    a, document = np.log(theta[:-1] / theta[-1]), documents.document(0)
    steps = 1e-5 * np.eye(K - 1)
    gradient = [log_joint(topics, document, a + e) - log_joint(topics, document, a - e) for e in steps]
    np.testing.assert_allclose(np.array(gradient) / 2e-5, 0.0, atol=1e-5)


def test_ratio_form_divides_by_the_same_approximation_of_the_prior() -> None:
    topics, documents = drawn(6, 4, (9, 30), 0.4)
    alpha = topics.alpha
    a = np.log(alpha[:-1] / alpha[-1])  # the prior's mode in this basis
    curvature = np.linalg.slogdet(-hessian(topics, np.zeros(0, np.int32), a))[1]
    integral = log_joint(topics, np.zeros(0, np.int32), a) + 0.5 * (3 * math.log(2.0 * math.pi) - float(curvature))
    ratio, density = (laplace_softmax(topics, documents, form=form).log_likelihood for form in ("ratio", "density"))
    np.testing.assert_allclose(density - ratio, integral, atol=1e-5)
    assert abs(integral) > 0.1


@pytest.mark.parametrize("length", [20, 60])
def test_comes_near_the_integral_over_one_dimension(length: int) -> None:
    topics, documents = drawn(7, 2, (length,))
    document = documents.document(0)
    top = max(log_joint(topics, document, np.array([x])) for x in np.linspace(-12.0, 12.0, 2001))
    integral = quad(lambda x: math.exp(log_joint(topics, document, np.array([x])) - top), -40.0, 40.0, points=[0.0])
    truth = math.log(integral[0]) + top
    assert truth == pytest.approx(float(exact_marginal(topics, documents).log_likelihood[0]), abs=1e-6)
    assert abs(float(laplace_softmax(topics, documents).log_likelihood[0]) - truth) < 0.25  # nats per document


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 4), length=st.integers(1, 40))
def test_near_the_exact_value_under_a_flat_prior(seed: int, K: int, length: int) -> None:
    topics, documents = drawn(seed, K, (length,))
    topics = replace(topics, alpha=np.ones(K))
    gap = laplace_softmax(topics, documents).log_likelihood - exact_marginal(topics, documents).log_likelihood
    assert abs(gap[0]) < 0.2 * (K - 1)  # nats per document; the formula without its determinant is off by more


@pytest.mark.parametrize("shape", [(3, 9), (9, 3), (4, 4), (0, 5)])
def test_determinant_of_words_is_that_of_topics(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(8).normal(size=shape)
    for side in (np.eye(shape[0]) + X @ X.T, np.eye(shape[1]) + X.T @ X):
        assert log_det(X) == pytest.approx(np.linalg.slogdet(side)[1], abs=1e-12)


def test_exact_for_one_topic_and_for_an_empty_document() -> None:
    topics, documents = drawn(9, 1, (7, 0, 30), 0.2)
    for form in ("ratio", "density"):
        found = laplace_softmax(topics, documents, form=form)
        np.testing.assert_allclose(found.log_likelihood, exact_marginal(topics, documents).log_likelihood, atol=1e-9)
        assert found.tokens.tolist() == [7, 0, 30]
    topics, documents = drawn(9, 3, (0, 4), 0.2)
    assert laplace_softmax(topics, documents).log_likelihood[0] == 0.0


def test_topics_that_a_document_cannot_use_cost_nothing_but_their_prior() -> None:
    # a topic of words that do not occur: exactly, it changes the Dirichlet's two normalisers and nothing else
    topics, documents = drawn(10, 2, (30,))
    phi = np.zeros((3, 8))
    phi[:2, :7], phi[2, 7] = topics.phi, 1.0
    wider = Topics(phi, np.append(topics.alpha, 0.01), (*WORDS, "never"))
    A, B = topics.alpha.sum(), wider.alpha.sum()
    change = float(gammaln(B) - gammaln(B + 30) - gammaln(A) + gammaln(A + 30))
    same = replace(documents, vocabulary=wider.vocabulary)
    for form, within in (("ratio", 1e-2), ("density", 3.0)):
        narrow, wide = (
            float(laplace_softmax(t, d, form=form).log_likelihood[0])  # type: ignore[arg-type]
            for t, d in ((topics, documents), (wider, same))
        )
        assert abs(wide - narrow - change) < within
        assert (abs(wide - narrow - change) > 1.0) == (form == "density")  # Stirling's formula at 0.01


def test_at_the_folded_in_point_a_weight_of_zero_is_minus_infinity_and_one_step_mends_it() -> None:
    phi = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    topics = Topics(phi, np.ones(3), ("a", "b", "c"))
    documents = Corpus.from_documents("three", [("0", list("aaaaaaaaabc")), ("1", list("aabbcc" * 4))])
    inside, step = (laplace_softmax(topics, documents, point=p).log_likelihood for p in ("folded-in", "one-step"))
    exact = exact_marginal(topics, documents).log_likelihood
    assert inside[0] < exact[0] - 1.0  # all weight on one topic
    np.testing.assert_array_less(np.abs(step - exact), 0.6)
    assert abs(inside[1] - exact[1]) < 0.3
    corner = laplace_softmax(topics, documents, point="folded-in", theta=np.array([[1.0, 0.0, 0.0], [0.3, 0.3, 0.4]]))
    assert corner.log_likelihood[0] == -np.inf
    assert np.isfinite(corner.log_likelihood[1])


def test_the_value_at_either_other_point_is_that_of_its_formula() -> None:
    """At the folded-in point Laplace's method by finite differences, one step of EM on the dense matrix of the mode."""
    phi = np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
    topics = Topics(phi, np.array([0.5, 1.5, 2.0]), ("a", "b", "c"))
    counts = np.array([4.0, 3.0, 5.0])
    L, A, theta = 12.0, 4.0, np.linalg.solve(phi.T, counts / 12.0)  # inside: the fit is perfect
    documents = Corpus.from_documents("one", [("0", list("aaaabbbccccc"))])

    a, document = np.log(theta[:-1] / theta[-1]), documents.document(0)
    curvature = np.linalg.slogdet(-hessian(topics, document, a))[1]
    expected = log_joint(topics, document, a) + math.log(2.0 * math.pi) - 0.5 * float(curvature)
    found = laplace_softmax(
        topics, documents, point="folded-in", form="density", iterations=100_000, tolerance=1e-12
    ).log_likelihood[0]
    assert found == pytest.approx(expected, abs=2e-5)  # what differences of step 1e-3 leave

    h = (topics.alpha + L * theta) / (A + L)
    r = phi * h[:, None] / (h @ phi)  # (K, V)
    B = np.diag(topics.alpha) + (r * counts) @ r.T
    expected = counts @ np.log(h @ phi) + topics.alpha @ np.log(A * h / topics.alpha) + 0.5 * math.log((L + A) / A)
    expected -= 0.5 * float(np.linalg.slogdet(B)[1] - np.log(topics.alpha).sum())
    for given_ in (None, theta[None, :]):
        found = laplace_softmax(topics, documents, point="one-step", theta=given_, tolerance=1e-12, iterations=100_000)
        assert found.log_likelihood[0] == pytest.approx(expected, rel=1e-9)


def test_neither_order_of_tokens_nor_of_topics_nor_other_documents_matter() -> None:
    topics, documents = drawn(11, 4, (12, 25), 0.5)
    expected = laplace_softmax(topics, documents).log_likelihood
    order = np.array([2, 0, 3, 1])
    turned = replace(documents, tokens=np.concatenate([documents.document(0)[::-1], documents.document(1)[::-1]]))
    permuted = Topics(topics.phi[order], topics.alpha[order], WORDS)
    for model, given_ in ((topics, turned), (permuted, documents)):
        np.testing.assert_allclose(laplace_softmax(model, given_).log_likelihood, expected, rtol=1e-6)
    alone = laplace_softmax(topics, documents.subset([1])).log_likelihood
    np.testing.assert_allclose(alone, expected[1:], rtol=1e-12)


def test_refuses_what_it_does_not_know() -> None:
    topics, documents = drawn(12, 2, (3,))
    with pytest.raises(InputError, match="point elsewhere"):
        laplace_softmax(topics, documents, point="elsewhere")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="form other"):
        laplace_softmax(topics, documents, form="other")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="0 iterations"):
        laplace_softmax(topics, documents, iterations=0)
