"""The claims of Buntine (2009), on made-up errors and scores for which each of them is known to hold or to fail."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from drawn_corpora import EVALUATORS, GRIDS, SIZES
from drawn_corpora import drawn as drawn_with
from made_measurements import calibration, measured
from small_study import inputs, without

from heldout.claims import Claim
from heldout.evaluators import (
    CHIB,
    HARMONIC,
    MEAN_FIELD_FIRST,
    MEAN_FIELD_SECOND,
    PARTICLES,
    SEQUENTIAL,
    of_likelihood,
)
from heldout.inputs import Inputs
from heldout.measurements import Measurement
from heldout.models import LDA
from heldout.papers.buntine.claims import CLAIMS
from heldout.papers.buntine.results import GAMMAS, published
from heldout.verdicts import NOT_RUN, Finding

BY_NAME = {claim.name: claim for claim in CLAIMS}
MODELS = sum(len(grid) for grid in GRIDS.values())
LARGE = 20  # times the sizes, so that the largest is above half of the source's
COMPARISONS = {
    "lr-biased": MODELS * len(SIZES),
    "lr-bias-grows": MODELS * (len(SIZES) - 1),
    "lr-perplexity-rises": MODELS,
    "mfi-tracks-lrs": MODELS * len(SIZES),
    "true-topics-found": 6,
    "lrs-sharpest": 9,
    "lrs-100-samples": 3,
}
ON_ERRORS, ON_DRAWN = [claim for claim in CLAIMS if claim.name not in COMPARISONS], [BY_NAME[n] for n in COMPARISONS]

Spread = Callable[[str, float], tuple[float, float]]


def check(name: str, given: Inputs) -> Finding:
    return BY_NAME[name].check(given, ())


def counts(finding: Finding) -> tuple[int, int]:
    return finding.agreeing, finding.comparisons


def as_claimed(name: str, gamma: float) -> tuple[float, float]:
    """Return the mean and the standard deviation that a method has at a gamma, bits per token."""
    if name == HARMONIC:
        return -0.3, 0.2
    if name == SEQUENTIAL:
        return 0.001, 0.02
    return (0.05 if gamma == 1.0 else 0.0), 0.04


def errors(spread: Spread = as_claimed, ratio: float = 1.0) -> Inputs:
    """Return 100 errors of each estimator and gamma, of the given spread, and the mean ratio of estimate and truth."""
    rows = calibration(changes={(gamma, name): spread(name, gamma) for gamma in GAMMAS for name in of_likelihood()})
    rows += [
        Measurement(
            *("none", "none", f"gamma-{gamma:g}", 4, 0.0, "none", 0, f"mean-ratio-{name}", "pairs", 1000), ratio, 0.01
        )
        for gamma in GAMMAS
        for name in of_likelihood()
    ]
    return measured(rows)


@pytest.mark.parametrize("claim", [claim.name for claim in ON_ERRORS])
def test_holds_where_it_is_so_and_is_not_run_without_pairs(claim: str) -> None:
    assert check(claim, errors()).verdict == "holds"
    assert check(claim, inputs(without("calibration"))).verdict == "not run"


@pytest.mark.parametrize("claim", [claim.name for claim in ON_ERRORS if claim.name != "lrs-lemma-1"])
def test_the_sources_own_table_gives_its_verdicts(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.papers.buntine.claims.precision", lambda _: published())
    assert check(claim, inputs()).verdict == "holds"


def test_a_method_more_precise_than_lrs_disagrees_and_one_as_precise_is_undecided() -> None:
    for deviation, agreeing, undecided in ((0.01, 12, 0), (0.0205, 12, 4), (0.03, 16, 0)):

        def spread(name: str, gamma: float, own: float = deviation) -> tuple[float, float]:
            return (0.0, own) if name == MEAN_FIELD_FIRST else as_claimed(name, gamma)

        finding = check("lrs-most-precise", errors(spread))
        assert (finding.agreeing, finding.undecided, finding.comparisons) == (agreeing, undecided, 16)
        assert finding.holds == 13 / 16  # of the source's own, 1 disagrees and 2 are undecided


def test_lrs_biased_at_one_gamma() -> None:
    # t = 0.01 / (0.02 / 10) = 5 over 100 pairs, and 15.8 over 1,000, which count
    finding = check(
        "lrs-unbiased", errors(lambda n, g: (0.01, 0.02) if (n, g) == (SEQUENTIAL, 0.5) else as_claimed(n, g))
    )
    assert counts(finding) == (3, 4)
    # half the variance, 14 tokens: 0.5 * 14 * log(2) * 0.02^2
    assert "gamma 0.5: t 15.8 over 1,000 pairs, mean +0.0100 (+0.0019)" in finding.effect


def test_a_method_that_is_never_off_is_counted() -> None:
    finding = check("others-biased", errors(lambda n, g: (0.0, 0.04) if n == PARTICLES else as_claimed(n, g)))
    assert counts(finding) == (3, 4)


def test_the_cutoff_is_the_sources() -> None:
    # s.d. 0.04 of 1,000 pairs: a mean of 0.0032 is t = 2.53, and 0.0034 is 2.69
    for mean, agreeing in ((0.0032, 3), (0.0034, 4)):
        changed = errors(lambda n, g, m=mean: (m, 0.04) if n == PARTICLES else as_claimed(n, g))  # type: ignore[misc]
        assert counts(check("others-biased", changed)) == (agreeing, 4)


def test_mean_field_far_from_the_particle_sampler_either_way() -> None:
    for factor in (0.3, 3.0):
        changed = errors(lambda n, _, f=factor: (0.0, 0.04 * f if n == MEAN_FIELD_SECOND else 0.04))  # type: ignore[misc]
        finding = check("mfi-comparable-to-lr", changed)
        assert counts(finding) == (4, 8)
        assert finding.verdict == "fails"


def test_a_harmonic_mean_that_is_too_low_or_nearly_right_does_not_count() -> None:
    for mean in (0.3, -0.001):
        changed = errors(lambda n, g, m=mean: (m, 0.02) if n == HARMONIC else as_claimed(n, g))  # type: ignore[misc]
        assert check("harmonic-mean-biased", changed).agreeing == 0


def test_both_biases_are_said_even_where_one_is_none() -> None:
    changed = errors(lambda n, g: (0.0, 0.02) if n == SEQUENTIAL else as_claimed(n, g))
    finding = check("harmonic-mean-biased", changed)
    assert finding.verdict == "holds"
    assert "gamma 0.5: HM +0.3000, LRS -0.0000" in finding.effect


def test_a_ratio_beyond_its_error_breaks_the_lemma() -> None:
    assert check("lrs-lemma-1", errors(ratio=1.025)).verdict == "holds"  # 2.5 standard errors
    assert check("lrs-lemma-1", errors(ratio=0.96)).verdict == "fails"  # 4


def drawn(**settings: Any) -> Inputs:
    return drawn_with(evaluators=(*EVALUATORS, CHIB), **settings)


def changed(evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores with evaluators' log-likelihoods of trained models changed, perplexities with them."""
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    rows = scores["evaluator"].isin(evaluators) & (scores["model"] == LDA)
    scores.loc[rows, "log_likelihood"] += change(scores[rows])
    scores["perplexity"] = (-scores["log_likelihood"] / scores["tokens"]).map(math.exp)
    return replace(given, scores=scores)


def size(rows: pd.DataFrame) -> "pd.Series[float]":
    return rows["variant"].str.rpartition("-")[2].astype(float) / LARGE


def shorter(reference: str, short: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores in which particles fall short of one evaluator, and the rest of the references far below."""
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    at = ["corpus", "model", "variant", "topics", "seed"]
    values = scores[scores["evaluator"] == reference].set_index(at)["log_likelihood"]
    for evaluator in {SEQUENTIAL, CHIB} - {reference}:
        scores.loc[scores["evaluator"] == evaluator, "log_likelihood"] -= 100.0
    rows = scores[(scores["evaluator"] == PARTICLES) & (scores["model"] == LDA)]
    matched = values.loc[pd.MultiIndex.from_frame(rows[at])].to_numpy()
    scores.loc[rows.index, "log_likelihood"] = matched - short(rows).to_numpy()
    return replace(given, scores=scores)


@pytest.mark.parametrize("claim", ON_DRAWN, ids=lambda claim: str(claim.name))
def test_every_comparison_of_scores_that_bear_the_claim_out_agrees(claim: Claim) -> None:
    finding = claim.check(drawn(times=LARGE), ())
    assert counts(finding) == (COMPARISONS[claim.name], COMPARISONS[claim.name])
    assert finding.verdict == "holds"
    assert finding.seeds == 1
    assert finding.effect
    more = claim.check(drawn(times=LARGE, seeds=(0, 4)), ())
    pooled = claim.name == "lrs-100-samples"
    assert (more.comparisons, more.seeds) == (COMPARISONS[claim.name] * (1 if pooled else 2), 2)


@pytest.mark.parametrize("claim", ON_DRAWN, ids=lambda claim: str(claim.name))
def test_without_scores_nothing_is_said(claim: Claim) -> None:
    finding = claim.check(inputs(without("model-selection")), ())
    assert finding.verdict == NOT_RUN
    assert finding.effect == ""


@pytest.mark.parametrize(
    ("name", "evaluators", "change"),
    [
        ("lr-biased", (PARTICLES,), lambda rows: rows["standard_error"] + 1000.0),
        ("lr-bias-grows", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (MEAN_FIELD_FIRST,), lambda rows: size(rows) * -1.0),
        ("mfi-tracks-lrs", (MEAN_FIELD_FIRST,), lambda rows: rows["topics"] * 0.0 - 10.1),
        ("true-topics-found", (SEQUENTIAL,), lambda rows: rows["topics"] * 50.0),
        ("lrs-sharpest", (PARTICLES,), lambda rows: rows["topics"].isin([10, 40]) * 200.0),
    ],
)
def test_scores_that_contradict_a_claim_do_not_agree(
    name: str, evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]
) -> None:
    finding = check(name, changed(evaluators, change))
    assert finding.comparisons == COMPARISONS[name]
    expected = {"true-topics-found": 3}.get(name, 0)  # the other estimator still finds the truth
    assert finding.agreeing == expected
    assert finding.verdict == "fails"


@pytest.mark.parametrize("reference", [SEQUENTIAL, CHIB])
def test_bias_is_measured_against_the_higher_reference_and_both_errors(reference: str) -> None:
    # errors of 0.1 nats each: a bias of 0.365 nats is 2.58 errors of the difference
    for short, agree in ((0.36, 0), (0.37, COMPARISONS["lr-biased"])):
        given = shorter(reference, lambda rows, short=short: rows["topics"] * 0.0 + short)  # type: ignore[misc]
        finding = check("lr-biased", given)
        assert counts(finding) == (agree, COMPARISONS["lr-biased"])
    below = COMPARISONS["lr-biased"] if reference == CHIB else 0
    assert (
        f"LRS with 20 samples lies below Chib-style with 20 on {below} of {finding.comparisons} models"
        in finding.effect
    )


def test_without_chib_style_the_sequential_sampler_alone_is_the_reference() -> None:
    given = shorter(SEQUENTIAL, lambda rows: rows["topics"] * 0.0 + 0.37)
    alone = replace(given, scores=given.scores[given.scores["evaluator"] != CHIB])
    finding = check("lr-biased", alone)
    assert counts(finding) == (COMPARISONS["lr-biased"], COMPARISONS["lr-biased"])
    assert "Chib" not in finding.effect


def test_a_bias_grows_by_more_than_the_errors_of_both_steps() -> None:
    # four errors of 0.1 nats: 2.58 errors of the growth are 0.516
    for step, agree in ((0.51, 0), (0.52, COMPARISONS["lr-bias-grows"])):
        given = shorter(CHIB, lambda rows, step=step: step * size(rows).map(SIZES.index))  # type: ignore[misc]
        assert check("lr-bias-grows", given).agreeing == agree


@pytest.mark.parametrize(("change", "agree"), [(0.36, 0), (0.37, MODELS)])
def test_a_rise_is_more_than_the_errors_of_both_sizes(change: float, agree: int) -> None:
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    rows = (scores["evaluator"] == PARTICLES) & (scores["model"] == LDA)
    last, before = (rows & scores["variant"].str.endswith(f"-{LARGE * s}") for s in (SIZES[-1], SIZES[-2]))
    for at in ("corpus", "topics"):  # the same order
        assert list(scores[last][at]) == list(scores[before][at])
    scores.loc[last, "log_likelihood"] = scores[before]["log_likelihood"].to_numpy() - change
    finding = check("lr-perplexity-rises", replace(given, scores=scores))
    assert counts(finding) == (agree, MODELS)


def test_a_rise_is_not_looked_for_where_training_sets_are_small() -> None:
    assert check("lr-perplexity-rises", drawn(times=13)).comparisons == MODELS
    finding = check("lr-perplexity-rises", drawn(times=12))
    assert finding.verdict == NOT_RUN
    assert finding.effect == "at most 19,200 of the source's 40,000 training documents"


def test_what_was_cut_from_the_source_is_said() -> None:
    effect = check("true-topics-found", drawn()).effect
    assert effect.endswith("up to 1,600 of the source's 40,000 training documents, 10 of 10,000 held out")


@pytest.mark.parametrize(("more", "agree"), [(0.44, 0), (0.45, 9)])
def test_a_lead_is_larger_by_more_than_its_error(more: float, agree: int) -> None:
    # 0.1 nats of each score: a lead over the mean of two has an error of 0.1225, two leads' difference 0.1732
    given = drawn()
    scores = given.scores.copy()
    own = scores[scores["evaluator"] == PARTICLES].index
    scores.loc[own, "log_likelihood"] = scores[scores["evaluator"] == SEQUENTIAL]["log_likelihood"].to_numpy()
    true = (scores["evaluator"] == SEQUENTIAL) & scores["topics"].isin([10, 40])
    # 40 is s40's true number alone, and 10 that of the others
    scores.loc[true, "log_likelihood"] += more
    finding = check("lrs-sharpest", replace(given, scores=scores))
    assert counts(finding) == (agree, 9)


def test_the_lead_is_over_the_neighbours_alone() -> None:
    given = drawn()
    scores = given.scores
    far = scores[(scores["topics"] == 20) & (scores["corpus"] != "s40")]
    more = [far.assign(topics=topics, log_likelihood=value) for topics, value in ((40, -1e5), (3, 0.0))]
    extended = replace(given, scores=pd.concat([scores, *more]))
    claim = BY_NAME["lrs-sharpest"]
    assert claim.check(extended, ()) == claim.check(given, ())
    edge = scores[scores["topics"] >= 10]  # no number below the true one but s40's
    assert claim.check(replace(given, scores=edge), ()).comparisons == 3


@pytest.mark.parametrize(("gap", "verdict"), [(0.21, "holds"), (-0.21, "holds"), (0.211, "fails"), (-0.25, "fails")])
def test_samples_are_compared_by_their_mean_over_documents(gap: float, verdict: str) -> None:
    # 3 documents, both errors 0.1: that of the mean difference is 0.0816, and 2.58 times it 0.2107
    finding = check("lrs-100-samples", drawn(gap=gap))
    assert finding.verdict == verdict
    assert "LRS with 200 samples less LRS with 20, nats per document (per token), over 9 documents" in finding.effect


def test_samples_differ_in_nats_per_document_and_per_token() -> None:
    # 1000 tokens in 10 documents
    effect = check("lrs-100-samples", drawn(gap=0.5)).effect
    assert "s10 +0.50 +- 0.08 (+0.0050 +- 0.0008), s10s" in effect
    assert effect.endswith("all together +0.50 +- 0.05")


def test_documents_of_all_seeds_are_pooled() -> None:
    # with twice the documents the same difference is seen
    claim = BY_NAME["lrs-100-samples"]
    assert claim.check(drawn(gap=0.2), ()).verdict == "holds"
    assert claim.check(drawn(gap=0.2, seeds=(0, 4)), ()).verdict == "fails"
