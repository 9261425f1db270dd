"""The claims of section 4.2 of Buntine (2009) hold where made-up scores bear them out, and fail where they do not."""

import math
from collections.abc import Callable

import pandas as pd
import pytest
from drawn_corpora import GRIDS, SIZES, drawn
from small_study import inputs, without

from dlvm.claims.finding import NOT_RUN, Claim
from dlvm.claims.realistic import REALISTIC
from dlvm.exhibits.inputs import Inputs

BY_NAME = {claim.name: claim for claim in REALISTIC}
CELLS = sum(len(grid) for grid in GRIDS.values())
COMPARISONS = {
    "lr-biased": CELLS * len(SIZES),
    "lr-bias-grows": CELLS * (len(SIZES) - 1),
    "lr-perplexity-rises": CELLS,
    "mfi-tracks-lrs": CELLS * len(SIZES),
    "true-topics-found": 6,
    "lrs-sharpest": 9,
    "lrs-100-samples": 9,
}


def changed(evaluator: str, change: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores with an evaluator's log-likelihoods of trained models changed, perplexities with them."""
    given = drawn()
    scores = given.scores.copy()
    rows = (scores["evaluator"] == evaluator) & (scores["model"] == "lda")
    scores.loc[rows, "log_likelihood"] += change(scores[rows])
    scores["perplexity"] = (-scores["log_likelihood"] / scores["tokens"]).map(math.exp)
    return Inputs(scores=scores, corpora=given.corpora, study=given.study, measurements=given.measurements)


def size(rows: pd.DataFrame) -> "pd.Series[float]":
    return rows["variant"].str.rpartition("-")[2].astype(float)


@pytest.mark.parametrize("claim", REALISTIC, ids=lambda claim: str(claim.name))
def test_every_comparison_of_scores_that_bear_the_claim_out_agrees(claim: Claim) -> None:
    found = claim.check(drawn(), ())
    assert (found.agreeing, found.comparisons) == (COMPARISONS[claim.name], COMPARISONS[claim.name])
    assert found.verdict == "holds"
    assert found.seeds == 1
    assert found.effect
    assert claim.check(drawn(seeds=(0, 4)), ()).comparisons == 2 * COMPARISONS[claim.name]


@pytest.mark.parametrize("claim", REALISTIC, ids=lambda claim: str(claim.name))
def test_without_scores_nothing_is_said(claim: Claim) -> None:
    found = claim.check(inputs(without("model-selection")), ())
    assert found.verdict == NOT_RUN
    assert found.effect == ""


@pytest.mark.parametrize(
    ("name", "evaluator", "change"),
    [
        ("lr-biased", "left-to-right", lambda rows: rows["standard_error"] + 1000.0),
        ("lr-bias-grows", "left-to-right", lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", "left-to-right", lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", "mean-field-importance", lambda rows: size(rows) * -1.0),
        ("mfi-tracks-lrs", "mean-field-importance", lambda rows: rows["topics"] * 0.0 - 10.1),
        ("true-topics-found", "left-to-right-sequential", lambda rows: rows["topics"] * 50.0),
        ("lrs-sharpest", "left-to-right", lambda rows: rows["topics"].isin([10, 40]) * 200.0),
    ],
)
def test_scores_that_contradict_a_claim_do_not_agree(
    name: str, evaluator: str, change: Callable[[pd.DataFrame], "pd.Series[float]"]
) -> None:
    found = BY_NAME[name].check(changed(evaluator, change), ())
    assert found.comparisons == COMPARISONS[name]
    expected = {"true-topics-found": 3}.get(name, 0)  # the other estimator still finds the truth
    assert found.agreeing == expected
    assert found.verdict == "fails"


@pytest.mark.parametrize(("gap", "verdict"), [(0.3, "holds"), (-0.42, "holds"), (0.43, "fails"), (-0.5, "fails")])
def test_samples_are_compared_in_standard_errors_of_both(gap: float, verdict: str) -> None:
    # both errors are 0.1, that of the difference 0.141
    assert BY_NAME["lrs-100-samples"].check(drawn(gap=gap), ()).verdict == verdict


def test_bias_is_measured_against_both_errors() -> None:
    # 1000 tokens, errors of 0.1 nats each: a bias of 0.28 nats is two errors of the difference
    for short, agree in ((0.27, 0), (0.29, COMPARISONS["lr-biased"])):
        given = drawn()
        scores = given.scores.copy()
        own = scores["evaluator"] == "left-to-right"
        reference = scores[scores["evaluator"] == "left-to-right-sequential"]["log_likelihood"].to_numpy()
        scores.loc[own, "log_likelihood"] = reference - short
        found = BY_NAME["lr-biased"].check(Inputs(scores=scores, corpora=given.corpora, study=given.study), ())
        assert found.agreeing == agree
