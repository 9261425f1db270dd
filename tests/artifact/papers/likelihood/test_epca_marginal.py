"""EPCA's folding-in beside its marginal likelihood, on a small corpus."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with, train_with
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments.epca_marginal import experiment
from artifact.papers.likelihood.settings import EPCAMarginal
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators.components_marginal import quadrature
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.models import epca
from heldout.topics import Components, Topics

TEST_DOCUMENTS, SEED = 12, 3
WORDS = tuple(f"w{w:02}" for w in range(20))
FOLD_IN = partial(fold_with, epca, seed=0, iterations=200, tolerance=1e-6, ridge=0.01)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(4)
    phi = rng.dirichlet(np.full(20, 0.2), size=3)
    documents = []
    for d in range(50):
        drawn = rng.choice(20, size=int(rng.integers(2, 30)), p=rng.dirichlet(np.ones(3)) @ phi)
        documents.append((f"d{d}", [WORDS[w] for w in drawn]))
    made = Corpus.from_documents("drawn", [*documents, ("all", list(WORDS))]).subset(range(50))
    _, test = train_test_split(made, TEST_DOCUMENTS, SEED)
    streams = [made.document(d) if made.documents[d] != test.documents[5] else made.tokens[:0] for d in range(50)]
    return made.with_streams(streams, made.documents)  # one test document is empty


def components(corpus: Corpus, K: int, penalty: float = 2.0) -> Components:
    training, _ = train_test_split(corpus, TEST_DOCUMENTS, SEED)
    of: Components = train_with(epca, training, topics=K, seed=0, penalty=penalty, iterations=50, tolerance=1e-5)[0]
    return of


def measured(corpus: Corpus, K: int, **settings: Any) -> tuple[dict[str, Score], list[Measurement]]:
    split: dict[str, Any] = {"seed": SEED, "test_documents": TEST_DOCUMENTS}
    named: dict[str, Any] = {"model": "epca", "variant": "epca-marginal", "fold_in": FOLD_IN}
    settings = {"documents": 50, "samples": 10, "temperatures": 30} | settings
    of = [components(corpus, K)]
    scores, measurements = run_job(experiment, EPCAMarginal, corpus, chains=of, **named, **split, **settings)
    assert {(s.variant, s.chain, s.smoothing, s.seed, s.topics) for s in scores} == {
        ("epca-marginal", "none", 0.0, SEED, K)
    }
    return {s.evaluator: s for s in scores}, measurements


def values(measurements: list[Measurement], quantity: str) -> dict[int, float]:
    return {m.at: m.value for m in measurements if m.quantity == quantity}


def test_every_score_is_the_evaluators_own_on_the_same_documents(corpus: Corpus) -> None:
    scores, measurements = measured(corpus, 2, samples=100, temperatures=5)
    _, test = train_test_split(corpus, TEST_DOCUMENTS, SEED)
    model = components(corpus, 2)
    expected = {
        "marginal-quadrature": quadrature(model, test, penalty=2.0),
        "full-folding-in": full_folding_in([model], test, FOLD_IN),
        "half-folding-in": predictive([model], *half_split(test, SEED), FOLD_IN),
    }
    assert set(scores) == {*expected, "marginal-annealed"}
    for evaluator, evaluation in expected.items():
        assert scores[evaluator].log_likelihood == pytest.approx(evaluation.log_likelihood.sum(), rel=1e-10)
        assert (scores[evaluator].samples, scores[evaluator].standard_error) == (0, 0.0)
        assert scores[evaluator].tokens == evaluation.tokens.sum()
    annealed, truth = scores["marginal-annealed"], scores["marginal-quadrature"]
    assert annealed.samples == 100
    assert abs(annealed.log_likelihood - truth.log_likelihood) < 4.42 * annealed.standard_error  # 1e-5
    assert 0.0 < annealed.standard_error < 0.5
    assert (truth.documents, truth.documents_left_out) == (TEST_DOCUMENTS - 1, 1)
    for quantity in ("marginal-annealed", "marginal-quadrature", "full-folding-in"):
        found = values(measurements, quantity)
        assert sorted(found) == np.flatnonzero(test.lengths > 0).tolist()
        assert math.fsum(found.values()) == pytest.approx(scores[quantity].log_likelihood, rel=1e-12)
    full = values(measurements, "full-folding-in")
    for d, value in values(measurements, "marginal-quadrature").items():
        # by strong concavity; the fold-in stops 1e-6 nats per token short of the mode
        assert full[d] > value
    assert not values(measurements, "half-folding-in")


def test_some_documents_are_drawn_once_for_every_number_of_components(corpus: Corpus) -> None:
    chosen = []
    for K in (1, 3):
        scores, measurements = measured(corpus, K, documents=5, samples=3, temperatures=2)
        assert ("marginal-quadrature" in scores) == (K <= 2)
        assert all(s.documents + s.documents_left_out == 5 for s in scores.values())
        chosen.append(sorted(values(measurements, "marginal-annealed")))
    assert chosen[0] == chosen[1]
    assert chosen[0] != list(range(len(chosen[0])))


def test_refuses_what_has_no_prior(corpus: Corpus) -> None:
    def refused(of: Any, model: str) -> None:
        job = Job(corpus, model, seed=SEED, test_documents=TEST_DOCUMENTS, chains=[of], fold_in=FOLD_IN)
        experiment(job, EPCAMarginal(documents=50, samples=10, temperatures=30))

    topics: Any = Topics(np.full((1, 20), 0.05), np.ones(1), WORDS)
    with pytest.raises(InputError, match="plsa-hof has no Gaussian prior"):
        refused(topics, "plsa-hof")
    with pytest.raises(InputError, match="no prior's precision"):
        refused(components(corpus, 1, penalty=0.0), "epca")
