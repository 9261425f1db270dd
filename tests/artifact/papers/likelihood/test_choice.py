"""What chooses the number of topics and what judges: who is scored, by what, and on which side of the likelihood."""

from typing import Any

import pytest
from made_jobs import run as run_job
from test_prior_share import SETTINGS as TRAINED
from test_prior_share import corpus

from artifact.papers.likelihood.experiments.choice import experiment
from artifact.papers.likelihood.settings import Choice

SETTINGS: dict[str, Any] = {k: v for k, v in TRAINED.items() if k not in ("components", "rounds", "sums")} | {
    "variant": "choice"
}


def test_every_score_is_of_the_same_documents_and_keeps_its_side() -> None:
    scores, rows = run_job(experiment, Choice, corpus(), **SETTINGS)
    assert rows == []
    named = {(score.model, score.variant, score.evaluator): score for score in scores}
    of_model = {("choice", "full-folding-in"), ("choice", "half-folding-in"), ("choice", "mean-field-bound")}
    of_model |= {("choice", "reference"), ("choice-fitted-prior", "reference")}
    assert set(named) == {(model, *of) for model in ("plsa-hof", "lda") for of in of_model}
    for (model, _, evaluator), score in named.items():
        if evaluator != "half-folding-in":
            assert (score.documents, score.tokens) == (12, named["lda", "choice", "reference"].tokens)
        truth = named[model, "choice", "reference"]
        if evaluator == "mean-field-bound":
            assert score.log_likelihood < truth.log_likelihood + 6.0 * truth.standard_error
        elif evaluator == "full-folding-in":
            assert score.log_likelihood > truth.log_likelihood - 6.0 * truth.standard_error


def test_groups_of_documents_stand_with_the_scores() -> None:
    for score in run_job(experiment, Choice, corpus(), **SETTINGS)[0]:
        assert score.groups is not None
        assert sum(score.groups.tokens) == score.tokens
        assert sum(score.groups.log_likelihood) == pytest.approx(score.log_likelihood)
