"""Exact marginals beside point bounds: the rows against the models, and what they may not depend on."""

import math

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.welling.experiments.discrete_latents import BOUND, HIDDEN_MARKOV, MIXTURE, experiment
from artifact.papers.welling.settings import DiscreteLatents
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators import EXACT
from heldout.models.hmm import HMM
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.seeds import generator


def tiny_corpus(documents: int = 24, words: int = 12, *, empty: int = 0) -> Corpus:
    random = np.random.default_rng(3)
    phi = random.dirichlet(np.full(words, 0.3), 3)
    streams = [random.choice(words, size=9, p=phi[d % 3]) for d in range(documents)] + [np.zeros(0)] * empty
    offsets = np.cumsum([0, *map(len, streams)]).astype(np.int64)
    names = tuple(f"d{d}" for d in range(len(streams)))
    tokens = np.concatenate(streams).astype(np.int32)
    return Corpus("tiny", tuple(f"w{w}" for w in range(words)), tokens, offsets, names)


def run(
    corpus: Corpus, topics: tuple[int, ...] = (2, 3), smoothing: float = 1e-3
) -> tuple[list[Score], list[Measurement]]:
    settings = {"topics": topics, "smoothing": smoothing, "iterations": 10, "document_topics": 2}
    return run_job(experiment, DiscreteLatents, corpus, seed=1, test_documents=10, **settings)


def test_the_bound_lies_below_the_exact_value_on_every_document() -> None:
    scores, measurements = run(tiny_corpus(), topics=(1, 2, 3))
    assert len(scores) == 2 * 3 * 2
    assert {m.topics for m in measurements} == {1, 2}  # document by document up to two components only
    values = {(m.model, m.topics, m.quantity, m.at): m.value for m in measurements}
    assert len(values) == len(measurements) == 2 * 2 * 2 * 10
    for model, k, quantity, d in values:
        if quantity == EXACT:
            exact, bound = values[model, k, EXACT, d], values[model, k, BOUND, d]
            assert bound <= exact + 1e-12 * abs(exact)
            if k == 1:
                assert bound == pytest.approx(exact, rel=1e-12)
    sums = {(s.model, s.topics, s.evaluator): s.log_likelihood for s in scores}
    assert all(sums[model, k, BOUND] < sums[model, k, EXACT] for model in (MIXTURE, HIDDEN_MARKOV) for k in (2, 3))
    # a score is the sum of its documents
    for score in scores:
        if score.topics <= 2:
            total = math.fsum(values[score.model, score.topics, score.evaluator, d] for d in range(10))
            assert score.log_likelihood == pytest.approx(total, rel=1e-12)
        assert (score.documents, score.tokens, score.samples, score.chain) == (10, 90, 0, "none")
        assert score.perplexity == pytest.approx(math.exp(-score.log_likelihood / 90), rel=1e-12)


def test_values_are_those_of_the_smoothed_models() -> None:
    corpus = tiny_corpus()
    scores, _ = run(corpus)
    training, test = train_test_split(corpus, 10, 1)
    found = {(s.model, s.topics, s.evaluator): s.log_likelihood for s in scores}
    for k in (2, 3):
        axes = {"corpus": "tiny", "topics": k, "seed": 1}
        mixture = MultinomialMixture(
            k, iterations=10, random_state=generator("discrete-latents", model=MIXTURE, **axes)
        ).fit(training.counts())
        weights, phi = mixture.parameters_
        phi = (phi + 1e-3) / (phi + 1e-3).sum(axis=1, keepdims=True)
        joint = [
            [math.log(w) + sum(np.log(p[test.document(d)])) for w, p in zip(weights, phi, strict=True)]
            for d in range(10)
        ]
        assert found[MIXTURE, k, BOUND] == pytest.approx(sum(map(max, joint)), rel=1e-10)
        exact = sum(math.log(sum(map(math.exp, row))) for row in joint)
        assert found[MIXTURE, k, EXACT] == pytest.approx(exact, rel=1e-10)
        chain = HMM(k, iterations=10, random_state=generator("discrete-latents", model=HIDDEN_MARKOV, **axes)).fit(
            training
        )
        emissions = chain.parameters_.emissions + 1e-3
        smoothed = chain.parameters_._replace(emissions=emissions / emissions.sum(axis=1, keepdims=True))
        assert found[HIDDEN_MARKOV, k, EXACT] == pytest.approx(chain.log_likelihood(test, smoothed).sum(), rel=1e-10)
        assert found[HIDDEN_MARKOV, k, BOUND] == pytest.approx(chain.point_bound(test, smoothed).sum(), rel=1e-10)


def test_a_row_does_not_depend_on_which_others_are_made() -> None:
    together = {(s.model, s.topics, s.evaluator): s for s in run(tiny_corpus(), topics=(3, 2))[0]}
    alone = run(tiny_corpus(), topics=(2,))[0]
    assert alone
    assert all(together[s.model, s.topics, s.evaluator] == s for s in alone)


def test_empty_documents_are_left_out_and_unseen_words_need_the_constant() -> None:
    corpus = tiny_corpus(empty=6)
    scores, measurements = run(corpus)
    _, test = train_test_split(corpus, 10, 1)
    empty = int(np.sum(test.lengths == 0))
    assert empty > 0
    assert all((s.documents, s.documents_left_out) == (10 - empty, empty) for s in scores)
    assert {m.at for m in measurements} == set(np.flatnonzero(test.lengths).tolist())
    # some test documents hold a word that no training document of their component has
    assert all(s.perplexity == math.inf for s in run(tiny_corpus(), smoothing=0.0)[0])
    assert all(s.perplexity < math.inf for s in run(tiny_corpus(), smoothing=1e-9)[0])


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="at smoothing: "):
        run(tiny_corpus(), smoothing=-1.0)
    with pytest.raises(InputError, match="cannot be held out"):
        run(tiny_corpus(documents=10))
