"""The mean ratio of left-to-right estimates to the likelihood: held to exact values, and to noise of known size."""

import math
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.buntine.experiments import mean_ratio
from artifact.papers.buntine.experiments.mean_ratio import experiment
from artifact.papers.buntine.settings import MeanRatio
from artifact.results.measurements import Measurement
from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Law, Shape, draw
from heldout.errors import InputError
from heldout.evaluators import PARTICLES, SEQUENTIAL
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

SMALL: dict[str, Any] = {"documents": 400, "fewer_documents": 50, "samples": [10, 40], "words": 60, "mean_length": 8.0}
SMALL |= {"limit": 1e9, "reference_error": 0.05, "reference_samples": 10000}
STANDARD_ERRORS = 4.42  # false alarm 1e-5


def run(**given: Any) -> dict[tuple[str, int], Measurement]:
    scores, rows = run_job(experiment, MeanRatio, **{"topics": 3, **SMALL, **given})
    assert scores == []
    return {(row.quantity, row.at): row for row in rows}


@pytest.mark.parametrize("limit", [0.0, 1e9])
def test_the_sequential_sampler_has_the_ratio_of_lemma_1_and_a_logarithm_that_is_low(limit: float) -> None:
    found = run(limit=limit)
    for samples, documents in ((10, 400), (40, 50)):
        ratio, logarithm = (found[quantity + SEQUENTIAL, samples] for quantity in ("ratio-", "logarithm-"))
        assert abs(ratio.value - 1.0) < STANDARD_ERRORS * ratio.standard_error
        assert logarithm.value < math.log(ratio.value) + 0.01
        assert found["documents", samples].value == documents
        assert (found["reference-error", samples].value > 0.0) == (limit == 0.0)
    assert found["ratio-" + PARTICLES, 10].standard_error > 0.0


def test_the_spread_of_the_reference_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = 0.5

    def reference(topics: Topics, documents: Corpus, *_: Any, **__: Any) -> Evaluation:
        exact = exact_marginal(topics, documents)
        n = documents.n_documents
        noise = np.random.default_rng(1).standard_normal(n) * spread
        return Evaluation(exact.log_likelihood + noise, exact.tokens, np.full(n, spread), bias=np.full(n, 0.25))

    def exactly(_: str, topics: Topics, documents: Corpus, *__: Any) -> Evaluation:
        return exact_marginal(topics, documents)

    monkeypatch.setattr(mean_ratio, "reference", reference)
    monkeypatch.setattr(mean_ratio, "estimate", exactly)
    found = run(documents=4000, samples=[10], limit=0.0)
    ratio = found["ratio-" + PARTICLES, 10]
    assert ratio.value == found["ratio-" + SEQUENTIAL, 10].value
    assert abs(ratio.value - 1.0) < STANDARD_ERRORS * ratio.standard_error < 0.05  # exp(0.125) without
    assert found["reference-error", 10].value == pytest.approx(spread)
    assert found["reference-bias", 10].value == 0.25


def test_a_corpus_gives_its_model_and_lengths() -> None:
    corpus, truth = draw("s", Shape(5, 45, 30, 6.0), seed=1, law=Law(topics=3))
    found = run(corpus=corpus, chains=[truth.smoothed(1e-5)], documents=40, fewer_documents=10)
    assert found["mean-tokens", 10].value == corpus.lengths[-40:].mean()
    for wrong in ({"topics": 4}, {"documents": 60}):
        with pytest.raises(InputError, match="give its own number of topics, and fewer documents"):
            run(corpus=corpus, chains=[truth], **wrong)
    with pytest.raises(InputError, match="401 of 400 documents; take no more than documents"):
        run(fewer_documents=401)
