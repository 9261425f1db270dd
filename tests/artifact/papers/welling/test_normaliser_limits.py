"""The model with a topic per word, against the general code, and the limits of the normaliser."""

import math

import numpy as np
import pytest
from made_jobs import run
from made_normalisers import log_normaliser_enumerated

from artifact.papers.welling.experiments.normaliser_limits import experiment
from artifact.papers.welling.settings import NormaliserLimits
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.normaliser import log_multinomial_nml_by_document
from heldout.models.plsa import fold_in_counts
from heldout.topics import Topics

WORDS = tuple("abcd")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    random = np.random.default_rng(3)
    documents = [(f"d{d}", list(random.choice(list(WORDS), size=4 + d % 4))) for d in range(9)]
    return Corpus.from_documents("drawn", [*documents, ("all", list(WORDS))])


def scores(corpus: Corpus) -> dict[str, Score]:
    return {
        score.evaluator: score
        for score in run(experiment, NormaliserLimits, corpus, seed=0, test_documents=5, topics=(2,))[0]
    }


def test_closed_forms_are_those_of_identity_topics(corpus: Corpus) -> None:
    found = scores(corpus)
    _, test = train_test_split(corpus, 5, 0)
    topics = Topics(np.eye(4), np.ones(4), WORDS)
    theta = fold_in_counts(topics, test.counts(), iterations=10, tolerance=0.0)
    folded = np.sum(test.counts().toarray() * np.log(np.maximum(theta, 1e-300)))
    assert found["full-folding-in"].log_likelihood == pytest.approx(folded, rel=1e-12)
    exact = exact_marginal(topics, test).log_likelihood.sum()
    assert found["exact-marginal"].log_likelihood == pytest.approx(exact, rel=1e-12)
    log_z = sum(log_normaliser_enumerated(topics, int(length)) for length in test.lengths)
    normalised = found["normalised-folding-in"].log_likelihood
    assert normalised == pytest.approx(folded - log_z, rel=1e-9)
    assert {score.topics for score in found.values()} == {4}
    assert {score.tokens for score in found.values()} == {test.n_tokens}


def test_limits_are_reached_by_topics_that_share_no_word_and_by_no_others() -> None:
    apart = Topics(np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7]]), np.ones(2), WORDS)
    mixed = Topics(np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]]), np.ones(2), WORDS)
    for length in (1, 3, 6):
        limit = log_multinomial_nml_by_document(2, np.array([length]))[0]
        assert log_normaliser_enumerated(apart, length) == pytest.approx(limit, abs=1e-6)
        assert 0.0 <= log_normaliser_enumerated(mixed, length) < limit


def test_more_topics_than_words_ignore_no_more_than_a_topic_per_word(corpus: Corpus) -> None:
    _, measurements = run(experiment, NormaliserLimits, corpus, seed=0, test_documents=5, topics=(1, 2, 4, 9))
    found = {row.topics: row.value for row in measurements}
    assert found[1] == 0.0
    assert found[1] < found[2] < found[4] == found[9]
    assert {(row.axis, row.at) for row in measurements} == {("tokens", scores(corpus)["exact-marginal"].tokens)}
    difference = (
        scores(corpus)["full-folding-in"].log_likelihood - scores(corpus)["normalised-folding-in"].log_likelihood
    )
    assert difference == pytest.approx(found[4], rel=1e-12)
    assert log_multinomial_nml_by_document(3, np.array([0, 2, 0]))[[0, 2]].tolist() == [0.0, 0.0]
    assert math.isfinite(log_multinomial_nml_by_document(5000, np.array([3000]))[0])
