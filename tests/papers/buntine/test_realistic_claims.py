"""The claims of section 4.2 of Buntine (2009) hold where made-up scores bear them out, and fail where they do not."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from drawn_corpora import EVALUATORS, GRIDS, SIZES
from drawn_corpora import drawn as drawn_with
from heldout.papers.buntine.claims_realistic import REALISTIC
from small_study import inputs, without

from heldout.inputs import Inputs
from heldout.verdicts import NOT_RUN, Claim

BY_NAME = {claim.name: claim for claim in REALISTIC}
CELLS = sum(len(grid) for grid in GRIDS.values())
LARGE = 20  # times the sizes, so that the largest is above half of the source's
LRS, LR, MFI, CHIB = "left-to-right-sequential", "left-to-right", "mean-field-importance", "chib"
COMPARISONS = {
    "lr-biased": CELLS * len(SIZES),
    "lr-bias-grows": CELLS * (len(SIZES) - 1),
    "lr-perplexity-rises": CELLS,
    "mfi-tracks-lrs": CELLS * len(SIZES),
    "true-topics-found": 6,
    "lrs-sharpest": 9,
    "lrs-100-samples": 3,
}


def drawn(**settings: Any) -> Inputs:
    return drawn_with(evaluators=(*EVALUATORS, CHIB), **settings)


def changed(evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores with evaluators' log-likelihoods of trained models changed, perplexities with them."""
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    rows = scores["evaluator"].isin(evaluators) & (scores["model"] == "lda")
    scores.loc[rows, "log_likelihood"] += change(scores[rows])
    scores["perplexity"] = (-scores["log_likelihood"] / scores["tokens"]).map(math.exp)
    return Inputs(scores=scores, corpora=given.corpora, study=given.study, measurements=given.measurements)


def size(rows: pd.DataFrame) -> "pd.Series[float]":
    return rows["variant"].str.rpartition("-")[2].astype(float) / LARGE


def shorter(reference: str, short: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores in which particles fall short of one evaluator, and the rest of the references far below."""
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    at = ["corpus", "model", "variant", "topics", "seed"]
    values = scores[scores["evaluator"] == reference].set_index(at)["log_likelihood"]
    for evaluator in {LRS, CHIB} - {reference}:
        scores.loc[scores["evaluator"] == evaluator, "log_likelihood"] -= 100.0
    rows = scores[(scores["evaluator"] == LR) & (scores["model"] == "lda")]
    matched = values.loc[pd.MultiIndex.from_frame(rows[at])].to_numpy()
    scores.loc[rows.index, "log_likelihood"] = matched - short(rows).to_numpy()
    return Inputs(scores=scores, corpora=given.corpora, study=given.study)


@pytest.mark.parametrize("claim", REALISTIC, ids=lambda claim: str(claim.name))
def test_every_comparison_of_scores_that_bear_the_claim_out_agrees(claim: Claim) -> None:
    found = claim.check(drawn(times=LARGE), ())
    assert (found.agreeing, found.comparisons) == (COMPARISONS[claim.name], COMPARISONS[claim.name])
    assert found.verdict == "holds"
    assert found.seeds == 1
    assert found.effect
    more = claim.check(drawn(times=LARGE, seeds=(0, 4)), ())
    pooled = claim.name == "lrs-100-samples"
    assert (more.comparisons, more.seeds) == (COMPARISONS[claim.name] * (1 if pooled else 2), 2)


@pytest.mark.parametrize("claim", REALISTIC, ids=lambda claim: str(claim.name))
def test_without_scores_nothing_is_said(claim: Claim) -> None:
    found = claim.check(inputs(without("model-selection")), ())
    assert found.verdict == NOT_RUN
    assert found.effect == ""


@pytest.mark.parametrize(
    ("name", "evaluators", "change"),
    [
        ("lr-biased", (LR,), lambda rows: rows["standard_error"] + 1000.0),
        ("lr-bias-grows", (LR,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (LR,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (MFI,), lambda rows: size(rows) * -1.0),
        ("mfi-tracks-lrs", (MFI,), lambda rows: rows["topics"] * 0.0 - 10.1),
        ("true-topics-found", (LRS,), lambda rows: rows["topics"] * 50.0),
        ("lrs-sharpest", (LR,), lambda rows: rows["topics"].isin([10, 40]) * 200.0),
    ],
)
def test_scores_that_contradict_a_claim_do_not_agree(
    name: str, evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]
) -> None:
    found = BY_NAME[name].check(changed(evaluators, change), ())
    assert found.comparisons == COMPARISONS[name]
    expected = {"true-topics-found": 3}.get(name, 0)  # the other estimator still finds the truth
    assert found.agreeing == expected
    assert found.verdict == "fails"


@pytest.mark.parametrize("reference", [LRS, CHIB])
def test_bias_is_measured_against_the_higher_reference_and_both_errors(reference: str) -> None:
    # errors of 0.1 nats each: a bias of 0.28 nats is two errors of the difference
    for short, agree in ((0.27, 0), (0.29, COMPARISONS["lr-biased"])):
        given = shorter(reference, lambda rows, short=short: rows["topics"] * 0.0 + short)  # type: ignore[misc]
        found = BY_NAME["lr-biased"].check(given, ())
        assert (found.agreeing, found.comparisons) == (agree, COMPARISONS["lr-biased"])
    below = COMPARISONS["lr-biased"] if reference == CHIB else 0
    assert f"LRS with 20 samples lies below Chib-style with 20 on {below} of {found.comparisons} models" in found.effect


def test_without_chib_style_the_sequential_sampler_alone_is_the_reference() -> None:
    given = shorter(LRS, lambda rows: rows["topics"] * 0.0 + 0.29)
    alone = Inputs(scores=given.scores[given.scores["evaluator"] != CHIB], corpora=given.corpora, study=given.study)
    found = BY_NAME["lr-biased"].check(alone, ())
    assert (found.agreeing, found.comparisons) == (COMPARISONS["lr-biased"], COMPARISONS["lr-biased"])
    assert "Chib" not in found.effect


def test_a_bias_grows_by_more_than_the_errors_of_both_steps() -> None:
    # four errors of 0.1 nats: two errors of the growth are 0.4
    for step, agree in ((0.39, 0), (0.41, COMPARISONS["lr-bias-grows"])):
        given = shorter(CHIB, lambda rows, step=step: step * size(rows).map(SIZES.index))  # type: ignore[misc]
        assert BY_NAME["lr-bias-grows"].check(given, ()).agreeing == agree


@pytest.mark.parametrize(("change", "agree"), [(0.27, 0), (0.29, CELLS)])
def test_a_rise_is_more_than_the_errors_of_both_sizes(change: float, agree: int) -> None:
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    rows = (scores["evaluator"] == LR) & (scores["model"] == "lda")
    last, before = (rows & scores["variant"].str.endswith(f"-{LARGE * s}") for s in (SIZES[-1], SIZES[-2]))
    for at in ("corpus", "topics"):  # the same order
        assert list(scores[last][at]) == list(scores[before][at])
    scores.loc[last, "log_likelihood"] = scores[before]["log_likelihood"].to_numpy() - change
    found = BY_NAME["lr-perplexity-rises"].check(Inputs(scores=scores, corpora=given.corpora, study=given.study), ())
    assert (found.agreeing, found.comparisons) == (agree, CELLS)


def test_a_rise_is_not_looked_for_where_training_sets_are_small() -> None:
    assert BY_NAME["lr-perplexity-rises"].check(drawn(times=13), ()).comparisons == CELLS
    found = BY_NAME["lr-perplexity-rises"].check(drawn(times=12), ())
    assert found.verdict == NOT_RUN
    assert found.effect == "at most 19,200 of the source's 40,000 training documents"


def test_what_was_cut_from_the_source_is_said() -> None:
    effect = BY_NAME["true-topics-found"].check(drawn(), ()).effect
    assert effect.endswith("up to 1,600 of the source's 40,000 training documents, 10 of 10,000 held out")


@pytest.mark.parametrize(("more", "agree"), [(0.34, 0), (0.36, 9)])
def test_a_lead_is_larger_by_more_than_its_error(more: float, agree: int) -> None:
    # 0.1 nats of each score: a lead over the mean of two has an error of 0.1225, two leads' difference 0.1732
    given = drawn()
    scores = given.scores.copy()
    own = scores[scores["evaluator"] == LR].index
    scores.loc[own, "log_likelihood"] = scores[scores["evaluator"] == LRS]["log_likelihood"].to_numpy()
    true = (scores["evaluator"] == LRS) & scores["topics"].isin([10, 40])
    # 40 is s40's true number alone, and 10 that of the others
    scores.loc[true, "log_likelihood"] += more
    found = BY_NAME["lrs-sharpest"].check(Inputs(scores=scores, corpora=given.corpora, study=given.study), ())
    assert (found.agreeing, found.comparisons) == (agree, 9)


def test_the_lead_is_over_the_neighbours_alone() -> None:
    given = drawn()
    scores = given.scores
    far = scores[(scores["topics"] == 20) & (scores["corpus"] != "s40")]
    more = [far.assign(topics=topics, log_likelihood=value) for topics, value in ((40, -1e5), (3, 0.0))]
    extended = Inputs(scores=pd.concat([scores, *more]), corpora=given.corpora, study=given.study)
    claim = BY_NAME["lrs-sharpest"]
    assert claim.check(extended, ()) == claim.check(given, ())
    edge = scores[scores["topics"] >= 10]  # no number below the true one but s40's
    assert claim.check(Inputs(scores=edge, corpora=given.corpora, study=given.study), ()).comparisons == 3


@pytest.mark.parametrize(("gap", "verdict"), [(0.21, "holds"), (-0.21, "holds"), (0.211, "fails"), (-0.25, "fails")])
def test_samples_are_compared_by_their_mean_over_documents(gap: float, verdict: str) -> None:
    # 3 documents, both errors 0.1: that of the mean difference is 0.0816, and 2.58 times it 0.2107
    found = BY_NAME["lrs-100-samples"].check(drawn(gap=gap), ())
    assert found.verdict == verdict
    assert "LRS with 200 samples less LRS with 20, nats per document (per token), over 9 documents" in found.effect


def test_samples_differ_in_nats_per_document_and_per_token() -> None:
    # 1000 tokens in 10 documents
    effect = BY_NAME["lrs-100-samples"].check(drawn(gap=0.5), ()).effect
    assert "s10 +0.50 +- 0.08 (+0.0050 +- 0.0008), s10s" in effect
    assert effect.endswith("all together +0.50 +- 0.05")


def test_documents_of_all_seeds_are_pooled() -> None:
    # with twice the documents the same difference is seen
    claim = BY_NAME["lrs-100-samples"]
    assert claim.check(drawn(gap=0.2), ()).verdict == "holds"
    assert claim.check(drawn(gap=0.2, seeds=(0, 4)), ()).verdict == "fails"
