"""The measurements of section 4.1 on a small corpus that is drawn from a model."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with
from made_jobs import run

from artifact.papers.welling.experiments.bounds import experiment
from artifact.papers.welling.settings import Bounds
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.study import steps as runs
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.models import lda, plsa
from heldout.topics import Topics

TEST_DOCUMENTS, SEED = 12, 0
WORDS = tuple(f"w{w:02}" for w in range(20))
FOLD_IN = partial(fold_with, plsa, seed=0, iterations=3000, tolerance=1e-9)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(4)
    phi = rng.dirichlet(np.full(20, 0.2), size=3)
    documents = []
    for d in range(50):
        length = int(rng.integers(8, 30))
        drawn = rng.choice(20, size=length, p=rng.dirichlet(np.ones(3)) @ phi)
        documents.append((f"d{d}", [WORDS[w] for w in drawn]))
    documents[7] = ("d7", [])
    made = Corpus.from_documents("drawn", [*documents, ("all", list(WORDS))])
    return made.subset(range(50))


def topics(K: int, alpha: float = 1.0, **provenance: int) -> Topics:
    phi = np.random.default_rng(K).dirichlet(np.full(20, 0.3), size=K)
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.full(K, alpha), WORDS, dict(provenance))


def measured(corpus: Corpus, seed: int = SEED) -> tuple[list[Score], list[Measurement]]:
    named: dict[str, Any] = {"model": "plsa-hof", "variant": "main", "seed": seed, "test_documents": TEST_DOCUMENTS}
    return run(experiment, Bounds, corpus, chains=[topics(3)], fold_in=FOLD_IN, smoothing=1e-3, **named)


def values(measurements: list[Measurement], quantity: str) -> dict[int, float]:
    return {m.at: m.value for m in measurements if m.quantity == quantity}


def test_bounds_lie_below_and_folding_in_above_on_every_document(corpus: Corpus) -> None:
    _, measurements = measured(corpus)
    _, test = train_test_split(corpus, TEST_DOCUMENTS, SEED)
    exact, tokens = values(measurements, "exact-marginal"), values(measurements, "tokens")
    assert tokens == {d: float(n) for d, n in enumerate(test.lengths) if n > 0}
    for d, value in exact.items():
        assert values(measurements, "mean-field-bound")[d] <= value + 1e-10
        # a maximum over h is no less than an average over h
        assert values(measurements, "full-folding-in")[d] >= value - 1e-6
        joint = values(measurements, "full-folding-in-joint")[d]
        assert joint == pytest.approx(values(measurements, "full-folding-in")[d] + math.log(2.0), rel=1e-13)
    assert {m.axis for m in measurements} == {"document"}
    assert not values(measurements, "half-folding-in")


def test_scores_are_the_sums_of_the_documents(corpus: Corpus) -> None:
    scores, measurements = measured(corpus)
    of = {score.evaluator: score for score in scores}
    assert set(of) == {
        "exact-marginal",
        "mean-field-bound",
        "full-folding-in",
        "half-folding-in",
        "full-folding-in-joint",
    }
    for evaluator in set(of) - {"half-folding-in"}:
        total = math.fsum(values(measurements, evaluator).values())
        assert of[evaluator].log_likelihood == pytest.approx(total, rel=1e-13)
        assert of[evaluator].tokens == sum(values(measurements, "tokens").values())
    assert of["half-folding-in"].tokens < of["full-folding-in"].tokens
    row = of["exact-marginal"]
    assert (row.corpus, row.model, row.variant, row.topics) == ("drawn", "plsa-hof", "main", 3)
    assert (row.smoothing, row.chain, row.samples, row.seed, row.standard_error) == (1e-3, "none", 0, SEED, 0.0)
    assert row.perplexity == pytest.approx(math.exp(-row.log_likelihood / row.tokens), rel=1e-13)


def test_folding_in_rows_are_the_studys_own(corpus: Corpus) -> None:
    chain = topics(3, alpha=2.0, chain=0)
    named: dict[str, Any] = {"model": "lda", "variant": "gibbs", "seed": SEED, "test_documents": TEST_DOCUMENTS}
    fold_in = partial(fold_with, lda, seed=SEED, sweeps=10)
    # a constant is not for a sampled model, and no other chain plays a part
    chains = [chain, topics(3, alpha=3.0, chain=1)]
    scores, measurements = run(experiment, Bounds, corpus, chains=chains, fold_in=fold_in, smoothing=0.1, **named)
    study = runs.score(
        corpus, [chain], "lda", "gibbs", settings={"sweeps": 10}, seed=SEED, test_documents=TEST_DOCUMENTS
    )
    of = {score.evaluator: score for score in scores}
    compared = [expected for expected in study if expected.chain == "0"]
    assert {expected.evaluator for expected in compared} == {"full-folding-in", "half-folding-in"}
    for expected in compared:
        assert math.isnan(expected.standard_error)
        assert repr(of[expected.evaluator]) == repr(expected)  # as text, a NaN equals itself
    # the prior is not flat and the fold-in is sampled: B_2 is not its value
    assert set(of) == {"exact-marginal", "mean-field-bound", "full-folding-in", "half-folding-in"}
    exact = of["exact-marginal"]
    assert (exact.chain, exact.samples, exact.standard_error) == ("0", 0, 0.0)
    _, test = train_test_split(corpus, TEST_DOCUMENTS, SEED)
    expected_exact = exact_marginal(chain, test).log_likelihood
    found = values(measurements, "exact-marginal")
    assert found == {d: float(expected_exact[d]) for d in found}


def test_a_document_without_tokens_is_counted_and_not_measured(corpus: Corpus) -> None:
    seed = next(s for s in range(200) if "d7" in train_test_split(corpus, TEST_DOCUMENTS, s)[1].documents)
    scores, measurements = measured(corpus, seed)
    assert {score.documents_left_out for score in scores if score.evaluator != "half-folding-in"} == {1}
    assert len(values(measurements, "exact-marginal")) == TEST_DOCUMENTS - 1
