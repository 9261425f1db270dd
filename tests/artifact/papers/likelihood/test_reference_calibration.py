"""The reference's calibration: which cells, and that every row is the evaluators' own."""

from typing import Any

import numpy as np
import pytest
from made_fits import train_with
from made_jobs import run as run_job

from artifact.papers.likelihood.experiments.reference import experiment
from artifact.papers.likelihood.settings import Reference
from artifact.results.measurements import Measurement
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.exact_marginal import cost, exact_marginal
from heldout.evaluators.reference import reference
from heldout.models import plsa
from heldout.seeds import generator

SETTINGS: dict[str, Any] = {
    "seed": 0,
    "test_documents": 12,
    "topics": [2, 3],
    "iterations": 5,
    "alpha_sum": 4.0,
    "beta": 0.1,
    "sweeps": 5,
    "smoothing": 1e-3,
    "constants": [1e-2],
    "prior_sums": [0.5],
    "samples": [240, 400],
}


def corpus() -> Corpus:
    rng = np.random.default_rng(0)
    words = [rng.choice(6, size=n, p=rng.dirichlet(np.full(6, 0.4))) for n in rng.integers(4, 15, 40)]
    return Corpus.from_documents("small", [(str(d), [f"w{w}" for w in ws]) for d, ws in enumerate(words)])


def run(**changes: Any) -> list[Measurement]:
    scores, rows = run_job(experiment, Reference, corpus(), **{**SETTINGS, "limit": 1e8, **changes})
    assert scores == []
    return rows


def test_every_cell_has_its_difference_error_and_tokens() -> None:
    rows = run()
    priors = {
        "plsa-hof": {("own", 1e-3), ("fitted", 1e-3), ("sum-0.5", 1e-3), ("own", 1e-2)},
        "lda": {(name, 0.0) for name in ("own", "flat", "fitted", "sum-0.5")},
    }
    cells = {(m.model, m.topics, m.variant.removeprefix("reference-"), m.smoothing, m.at, m.quantity) for m in rows}
    assert len(cells) == len(rows) == 2 * 8 * 2 * 3
    assert {(model, prior, constant) for model, _, prior, constant, _, _ in cells} == {
        (model, *cell) for model, of_model in priors.items() for cell in of_model
    }
    training, test = train_test_split(corpus(), 12, 0)
    topics = train_with(plsa, training, topics=3, seed=0, iterations=5, tolerance=0.0)[0].smoothed(1e-2)
    axes: dict[str, Any] = {"corpus": "small", "model": "plsa-hof", "variant": "reference-own", "topics": 3}
    rng = generator("reference", **axes, smoothing=1e-2, seed=0, samples=400)
    found, exact = reference(topics, test, 400, rng), exact_marginal(topics, test)
    row = {
        m.quantity: m
        for m in rows
        if (m.model, m.variant, m.topics, m.smoothing, m.at) == (*list(axes.values())[1:], 1e-2, 400)
    }
    difference = row["reference-less-exact"]
    assert difference.smoothing == 1e-2
    assert difference.value == pytest.approx((found.log_likelihood - exact.log_likelihood).sum(), abs=1e-9)
    assert difference.standard_error == found.total_error()
    assert abs(difference.value) < 4.5 * difference.standard_error
    assert row["reference-tokens"].value == test.n_tokens
    assert 0.3 < row["reference-z-of-documents"].value < 3.0


def test_the_limit_takes_the_first_documents() -> None:
    _, test = train_test_split(corpus(), 12, 0)
    costs = np.cumsum([cost([n], 3) for n in test.lengths])
    tokens = {m.value for m in run(topics=[3], limit=float(costs[4])) if m.quantity == "reference-tokens"}
    assert tokens == {float(test.lengths[:5].sum())}
    assert run(topics=[3], limit=1.0) == []
