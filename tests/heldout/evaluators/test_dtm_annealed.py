"""The likelihood under the dynamic topic model: against quadrature, its sum, and its limits.

Estimates are held to exact values by 4.4 standard errors: of some hundred chains and more, false in 1e-5 of runs.
"""

import itertools

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import roots_sh_jacobi

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.dtm_annealed import dtm_annealed, variational
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models.dtm import DynamicState
from heldout.typing import Floats

SE = 4.4


def quadrature(state: DynamicState, counts: Floats) -> float:
    """Return log p(y) of (V,) counts over every beta_kv by Gauss-Hermite and over pi by Gauss-Jacobi, K = 1 or 2."""
    (K, V), (nodes, weights) = state.mean.shape, hermegauss(24)
    grid = np.array(list(itertools.product(nodes, repeat=V)))
    of_grid = np.prod(np.array(list(itertools.product(weights / weights.sum(), repeat=V))), axis=1)
    b = []
    for mean, variance in zip(state.mean, state.variance, strict=True):
        e = np.exp(mean + np.sqrt(variance) * grid)
        b.append(e / e.sum(axis=1, keepdims=True))
    if K == 1:
        return float(np.log(of_grid @ np.prod(b[0] ** counts, axis=1)))
    pi, of_pi = roots_sh_jacobi(20, 2.0 * state.alpha - 1.0, state.alpha)
    value = 0.0
    for p, weight in zip(pi, of_pi / of_pi.sum(), strict=True):
        mixed = p * b[0][:, None] + (1.0 - p) * b[1][None]
        value += weight * (of_grid @ np.prod(mixed**counts, axis=2) @ of_grid)
    return float(np.log(value))


def drawn(K: int, V: int, seed: int) -> DynamicState:
    random = np.random.default_rng(seed)
    return DynamicState(random.normal(size=(K, V)), random.gamma(2.0, 0.2, (K, V)), 0.6, tuple("abc"[:V]))


def corpus_of(counts: Floats, vocabulary: tuple[str, ...]) -> Corpus:
    documents = [(str(d), list(np.repeat(vocabulary, row.astype(int)))) for d, row in enumerate(counts)]
    return Corpus.from_documents("drawn", documents)


@pytest.mark.parametrize(("K", "V"), [(1, 2), (1, 3), (2, 2)])
def test_annealing_has_the_value_of_quadrature_and_the_bound_lies_below(K: int, V: int) -> None:
    state, counts = drawn(K, V, 0), np.array([[9.0, 2.0, 1.0], [0.0, 1.0, 3.0]])[:, :V]
    documents = corpus_of(counts, state.vocabulary)
    exact = np.array([quadrature(state, row) for row in counts])
    found, size = dtm_annealed(state, documents, 2000, np.random.default_rng(1), temperatures=20)
    assert np.all(np.abs(found.log_likelihood - exact) < SE * found.standard_error)
    assert found.standard_error.max() < 0.05
    assert size.min() > 500
    bound = variational(state, documents).log_likelihood
    assert np.all(bound < exact)
    assert np.all(bound > exact - 2.5)


def test_probabilities_of_all_documents_of_a_length_sum_to_one() -> None:
    state = drawn(2, 3, 4)
    documents = Corpus.from_documents(
        "all", [("".join(words), list(words)) for words in itertools.product("abc", repeat=2)]
    )
    found, _ = dtm_annealed(state, documents, 1000, np.random.default_rng(5), temperatures=10)
    p = np.exp(found.log_likelihood)
    assert abs(p.sum() - 1.0) < SE * np.sqrt(((p * found.standard_error) ** 2).sum())


def test_without_variance_it_is_lda_with_the_topics_of_the_mean() -> None:
    wide = drawn(2, 3, 6)
    state = DynamicState(wide.mean, np.full((2, 3), 1e-10), 0.6, wide.vocabulary)
    documents = corpus_of(np.array([[5.0, 2.0, 1.0], [0.0, 1.0, 6.0]]), state.vocabulary)
    exact = exact_marginal(state.at_mean(), documents).log_likelihood
    found, _ = dtm_annealed(state, documents, 1000, np.random.default_rng(7), temperatures=20)
    assert np.all(np.abs(found.log_likelihood - exact) < SE * found.standard_error + 1e-4)


def test_other_words_are_left_out_and_an_empty_document_is_certain() -> None:
    state = drawn(2, 3, 8)
    documents = Corpus.from_documents("two", [("a", ["z", "z"]), ("b", ["a", "z"])])
    found, size = dtm_annealed(state, documents, 200, np.random.default_rng(9), temperatures=5)
    assert found.tokens_left_out == 3
    assert (found.log_likelihood[0], found.standard_error[0]) == (0.0, 0.0)
    assert size[0] == 200.0
    assert variational(state, documents).log_likelihood[0] == pytest.approx(0.0, abs=1e-9)


def test_too_few_samples_are_refused() -> None:
    state = drawn(1, 2, 10)
    documents = Corpus.from_documents("one", [("a", ["a"])])
    for samples, temperatures in ((1, 5), (5, 0)):
        with pytest.raises(InputError, match="samples"):
            dtm_annealed(state, documents, samples, np.random.default_rng(0), temperatures=temperatures)
