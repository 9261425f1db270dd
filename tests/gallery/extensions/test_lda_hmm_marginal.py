"""LDA-HMM's likelihood: enumerated, by quadrature on long documents, its identities, and the estimate held to it."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_folded_in, lda_hmm_marginal, lda_hmm_sampled
from gallery.extensions.models.lda_hmm import Parameters
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import DirichletMoments
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models.hmm import HMM
from heldout.topics import Topics

WORDS = ("a", "b", "c")


def parameters(K: int, C: int, V: int = 3, seed: int = 0) -> Parameters:
    random = np.random.default_rng(seed)
    start, transitions = random.dirichlet(np.ones(C + 1)), random.dirichlet(np.ones(C + 1), C + 1)
    alpha = random.uniform(0.3, 1.5, K)
    return Parameters(start, transitions, random.dirichlet(np.ones(V), K), random.dirichlet(np.ones(V), C), alpha)


def documents(length: int) -> Corpus:
    return Corpus.from_documents("all", [("".join(w), list(w)) for w in itertools.product(WORDS, repeat=length)])


def enumerated(of: Parameters, tokens: NDArray[np.int32]) -> float:
    """Return p(y) over all states, and topics of the tokens in state 0."""
    K, S, total = len(of.alpha), len(of.start), 0.0
    pairs = [(0, k) for k in range(K)] + [(c, -1) for c in range(1, S)]
    for path in itertools.product(pairs, repeat=len(tokens)):
        counts, p, before = np.zeros(K), 1.0, None
        for (z, q), v in zip(path, tokens, strict=True):
            p *= of.start[z] if before is None else of.transitions[before, z]
            p *= of.topics[q, v] if z == 0 else of.states[z - 1, v]
            if z == 0:
                counts[q] += 1.0
            before = z
        total += p * float(np.exp(DirichletMoments(of.alpha).log_moment(counts[None])[0]))
    return total


@pytest.mark.parametrize(("K", "C"), [(2, 2), (3, 1), (4, 1), (1, 2)])
def test_it_is_the_sum_over_states_and_topics_and_sums_to_one(K: int, C: int) -> None:
    of, corpus = parameters(K, C), documents(3)
    found = np.exp(lda_hmm_marginal(of, corpus).log_likelihood)
    exact = [enumerated(of, corpus.document(d)) for d in range(corpus.n_documents)]
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_without_function_states_it_is_LDA(K: int) -> None:  # noqa: N802
    of, corpus = parameters(K, 0), documents(5)
    lda = exact_marginal(Topics(of.topics, of.alpha, WORDS), corpus)
    np.testing.assert_allclose(lda_hmm_marginal(of, corpus).log_likelihood, lda.log_likelihood, rtol=1e-11)


def test_without_topics_it_is_the_forward_pass_of_a_hidden_markov_model() -> None:
    of, corpus = parameters(1, 3), documents(5)
    hmm = HMM(4).log_likelihood(corpus, of.chain(np.ones(1)))
    np.testing.assert_allclose(lda_hmm_marginal(of, corpus).log_likelihood, hmm, rtol=1e-12)
    np.testing.assert_allclose(lda_hmm_folded_in(of, corpus, 3).log_likelihood, hmm, rtol=1e-12)


def test_a_long_document_has_the_integral_by_quadrature() -> None:
    """Of 2,300 tokens whose first half is of one topic and whose second of the other, the hardest for small numbers.

    p(y | pi) is a polynomial of degree 2,300, which 1,151 Gauss-Jacobi nodes integrate exactly.
    """
    of, random = parameters(2, 4, V=40), np.random.default_rng(1)
    halves = [random.choice(40, 1150, p=topic) for topic in of.topics]
    names = tuple(f"w{w}" for w in range(40))
    corpus = Corpus.from_documents("long", [("d", [*names, *(names[w] for half in halves for w in half)])])
    order = np.array([corpus.vocabulary.index(name) for name in names])
    of = of._replace(topics=of.topics[:, np.argsort(order)], states=of.states[:, np.argsort(order)])
    one, other = of.alpha
    nodes, weights = roots_jacobi(200, other - 1.0, one - 1.0)  # as smooth as it is, 200 do
    hmm = HMM(5)
    logs = np.array([hmm.log_likelihood(corpus, of.chain(np.array([p, 1.0 - p])))[0] for p in (nodes + 1.0) / 2.0])
    exact = np.log(weights @ np.exp(logs - logs.max()) / weights.sum()) + logs.max()
    assert lda_hmm_marginal(of, corpus).log_likelihood[0] == pytest.approx(exact, abs=1e-8)


def test_importance_sampling_has_the_exact_value_and_folding_in_lies_above() -> None:
    """20 documents of 60 tokens, 600 draws of each: within 5 errors of their sum."""
    of, random = parameters(2, 2, V=6), np.random.default_rng(2)
    texts = [
        (f"d{d}", [f"w{w}" for w in (*range(6), *random.choice(6, 54, p=random.dirichlet(np.ones(6))))])
        for d in range(20)
    ]
    corpus = Corpus.from_documents("drawn", texts)
    exact = lda_hmm_marginal(of, corpus)
    found = lda_hmm_sampled(of, corpus, 600, np.random.default_rng(3))
    assert 0.0 < found.total_error() < 1.0
    assert abs(found.log_likelihood.sum() - exact.log_likelihood.sum()) < 5.0 * found.total_error()
    corpus = corpus.subset(range(4))
    folded, exact = lda_hmm_folded_in(of, corpus, 200), lda_hmm_marginal(of, corpus)
    assert np.all(folded.log_likelihood > exact.log_likelihood)
    fewer = lda_hmm_folded_in(of, corpus, 2)
    assert np.all(folded.log_likelihood >= fewer.log_likelihood - 1e-9)
    best = max(HMM(3).log_likelihood(corpus, of.chain(np.array([p, 1.0 - p])))[0] for p in np.linspace(0, 1, 401))
    assert folded.log_likelihood[0] == pytest.approx(best, abs=2e-3)


def test_three_topics_of_150_tokens_have_the_exact_sum_by_sampling_and_by_topics_that_are_alike() -> None:
    """Three documents of the length to which three topics are summed; the estimate lies within 5 errors of their sum.

    Where two of the topics are one, alpha_1 + alpha_2 on it is the same model of two topics: the sums agree.
    """
    of, random = parameters(3, 4, V=20), np.random.default_rng(3)
    texts = [(f"d{d}", [f"w{w:02}" for w in (*range(20), *random.choice(20, 130))]) for d in range(3)]
    corpus = Corpus.from_documents("150", texts)
    exact = lda_hmm_marginal(of, corpus)
    found = lda_hmm_sampled(of, corpus, 600, np.random.default_rng(4))
    assert abs(found.log_likelihood.sum() - exact.log_likelihood.sum()) < 5.0 * found.total_error()
    assert found.total_error() < 0.5
    alike = of._replace(topics=of.topics[[0, 0, 2]])
    two = of._replace(topics=of.topics[[0, 2]], alpha=np.array([of.alpha[:2].sum(), of.alpha[2]]))
    merged = lda_hmm_marginal(two, corpus).log_likelihood
    np.testing.assert_allclose(lda_hmm_marginal(alike, corpus).log_likelihood, merged, rtol=1e-11)


@pytest.mark.parametrize("alpha", [0.001, 0.05, 1.0, 20.0])
def test_estimates_are_unbiased_for_every_prior(alpha: float) -> None:
    """Of 20,000 draws: within 5 errors, and these are small."""
    of, corpus = parameters(3, 2)._replace(alpha=np.array([1.0, 2.0, 3.0]) * alpha), documents(4).subset([3, 40, 77])
    exact = lda_hmm_marginal(of, corpus).log_likelihood
    found = lda_hmm_sampled(of, corpus, 20_000, np.random.default_rng(5))
    assert np.all(np.abs(found.log_likelihood - exact) < 5.0 * found.standard_error + 1e-12)
    assert found.standard_error.max() < 0.02


def test_an_empty_document_is_certain() -> None:
    of, corpus = parameters(2, 1), Corpus.from_documents("c", [("d", ["w0"]), ("e", [])])
    found = lda_hmm_sampled(of, corpus, 600, np.random.default_rng(0))
    assert abs(found.log_likelihood[1]) < 5.0 * found.standard_error[1] < 0.2
    assert lda_hmm_folded_in(of, corpus, 5).log_likelihood[1] == 0.0


def test_impossible_and_too_long_documents() -> None:
    of = parameters(2, 1)._replace(topics=np.array([[1.0, 0.0, 0.0]] * 2), states=np.array([[1.0, 0.0, 0.0]]))
    corpus = Corpus.from_documents("c", [("d", ["a", "b", "c"])])
    assert lda_hmm_marginal(of, corpus).log_likelihood[0] == -np.inf
    assert lda_hmm_sampled(of, corpus, 14, np.random.default_rng(0)).log_likelihood[0] == -np.inf
    with pytest.raises(InputError, match="4000 tokens, 3 topics"):
        lda_hmm_marginal(parameters(3, 1), Corpus.from_documents("l", [("d", ["a"] * 4000)]))
    with pytest.raises(InputError, match="13 samples"):
        lda_hmm_sampled(of, corpus, 13, np.random.default_rng(0))
