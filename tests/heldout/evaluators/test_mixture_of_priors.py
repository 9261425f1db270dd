"""The likelihood under a mixture of priors: a weighted sum of probabilities, and its error."""

import numpy as np
from numpy.testing import assert_allclose

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.mixture_of_priors import mixture_of_priors
from heldout.models.dirichlet_prior import DirichletMixture
from heldout.topics import Topics

TOPICS = Topics(np.array([[0.8, 0.1, 0.1, 0.0], [0.1, 0.1, 0.8, 0.0]]), np.ones(2), ("a", "b", "c", "never"))
PRIOR = DirichletMixture(np.array([0.3, 0.0, 0.7]), np.array([[0.1, 0.2], [1.0, 1.0], [5.0, 1.0]]))


def test_probabilities_of_all_documents_of_three_words_sum_to_one_and_are_the_weighted_sum() -> None:
    words = [(f"{i}", ["abc"[i // 9], "abc"[i // 3 % 3], "abc"[i % 3]]) for i in range(27)]
    documents = Corpus.from_documents("all", words)
    mixed = mixture_of_priors(TOPICS, PRIOR, lambda topics: exact_marginal(topics, documents))
    one, _, other = (
        np.exp(exact_marginal(Topics(TOPICS.phi, alpha, TOPICS.vocabulary), documents).log_likelihood)
        for alpha in PRIOR.alphas
    )
    assert_allclose(np.exp(mixed.log_likelihood), 0.3 * one + 0.7 * other, rtol=1e-12)
    assert_allclose(np.exp(mixed.log_likelihood).sum(), 1.0, rtol=1e-12)


def test_an_impossible_document_stays_impossible() -> None:
    documents = Corpus.from_documents("one", [("0", ["a", "never"])])
    mixed = mixture_of_priors(TOPICS, PRIOR, lambda topics: exact_marginal(topics, documents))
    assert mixed.log_likelihood.tolist() == [-np.inf]
    assert mixed.standard_error.tolist() == [0.0]


def test_the_error_is_the_spread_of_repeated_estimates() -> None:
    """400 runs: their standard deviation is known to 3.5 %, and 5 of those are a false alarm of 1e-6."""
    documents = Corpus.from_documents("one", [("0", list("abcabcacbb"))])

    def estimate(seed: int) -> Evaluation:
        rng = np.random.default_rng(seed)
        return mixture_of_priors(TOPICS, PRIOR, lambda topics: left_to_right_sequential(topics, documents, 40, rng))

    runs = [estimate(seed) for seed in range(400)]
    spread = np.std([run.log_likelihood[0] for run in runs], ddof=1)
    stated = np.sqrt(np.mean([run.standard_error[0] ** 2 for run in runs]))
    assert 0.8 < stated / spread < 1.25
