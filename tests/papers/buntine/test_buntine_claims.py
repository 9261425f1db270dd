"""The claims of Buntine (2009), on made-up errors and scores for which each of them is known to hold or to fail."""

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest
from drawn_corpora import GRIDS, SIZES, TOKENS, TRUE, drawn
from made_measurements import calibration, measured
from small_study import inputs, without

from heldout.claims import Claim
from heldout.evaluators import (
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
from heldout.papers.buntine.experiments.model_selection import LESS_REFERENCE
from heldout.papers.buntine.results import GAMMAS, published
from heldout.verdicts import NOT_RUN, Finding

BY_NAME = {claim.name: claim for claim in CLAIMS}
MODELS = sum(len(grid) for grid in GRIDS.values())
LARGE = 20  # times the sizes, so that the largest is above half of the source's
COMPARISONS = {
    "lr-biased": 3,
    "lr-bias-grows": 3,
    "lr-perplexity-rises": MODELS,
    "mfi-tracks-lrs": MODELS * len(SIZES),
    "true-topics-found": 4,
    "forty-topics-found": 2,
    "lrs-sharpest": 3,
    "lrs-100-samples": 3,
}
POOLED = ("lr-biased", "lr-bias-grows", "lrs-sharpest", "lrs-100-samples")  # over seeds
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


def changed(evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return scores with evaluators' log-likelihoods (nats) changed under trained models, and what follows."""
    given = drawn(times=LARGE)
    assert given.measurements is not None
    scores, measurements = given.scores.copy(), given.measurements.copy()
    rows = scores["evaluator"].isin(evaluators) & (scores["model"] == LDA)
    scores.loc[rows, "log_likelihood"] += change(scores[rows])
    scores["perplexity"] = (-scores["log_likelihood"] / scores["tokens"]).map(math.exp)
    names = [name + LESS_REFERENCE for name in evaluators]
    biases = measurements["quantity"].isin(names) & (measurements["model"] == LDA)
    if biases.any():
        measurements.loc[biases, "value"] += change(measurements[biases]) / TOKENS
    return replace(given, scores=scores, measurements=measurements)


def size(rows: pd.DataFrame) -> "pd.Series[float]":
    return rows["variant"].str.rpartition("-")[2].astype(float) / LARGE


def with_biases(estimator: str, value: Callable[[pd.DataFrame], "pd.Series[float]"]) -> Inputs:
    """Return measurements in which an estimator has these biases, nats per token, with errors of 1e-4 each."""
    given = drawn(times=LARGE)
    assert given.measurements is not None
    measurements = given.measurements.copy()
    rows = (measurements["quantity"] == estimator + LESS_REFERENCE) & (measurements["model"] == LDA)
    measurements.loc[rows, "value"] = value(measurements[rows])
    return replace(given, measurements=measurements)


@pytest.mark.parametrize("claim", ON_DRAWN, ids=lambda claim: str(claim.name))
def test_every_comparison_of_scores_that_bear_the_claim_out_agrees(claim: Claim) -> None:
    finding = claim.check(drawn(times=LARGE), ())
    assert counts(finding) == (COMPARISONS[claim.name], COMPARISONS[claim.name])
    assert finding.verdict == "holds"
    assert finding.seeds == 1
    assert finding.effect
    more = claim.check(drawn(times=LARGE, seeds=(0, 4)), ())
    pooled = claim.name in POOLED
    assert (more.comparisons, more.seeds) == (COMPARISONS[claim.name] * (1 if pooled else 2), 2)


@pytest.mark.parametrize("claim", ON_DRAWN, ids=lambda claim: str(claim.name))
def test_without_scores_nothing_is_said(claim: Claim) -> None:
    finding = claim.check(inputs(without("model-selection")), ())
    assert finding.verdict == NOT_RUN
    assert finding.effect == ""


@pytest.mark.parametrize(
    ("name", "evaluators", "change"),
    [
        ("lr-biased", (PARTICLES,), lambda rows: rows["topics"] * 0.0 + 1000.0),
        ("lr-bias-grows", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (MEAN_FIELD_FIRST,), lambda rows: size(rows) * -1.0),
        ("mfi-tracks-lrs", (MEAN_FIELD_FIRST,), lambda rows: rows["topics"] * 0.0 - 10.7),
        ("true-topics-found", (SEQUENTIAL,), lambda rows: rows["topics"] * 50.0),
        ("forty-topics-found", (SEQUENTIAL,), lambda rows: rows["topics"] * 50.0),
        ("lrs-sharpest", (PARTICLES,), lambda rows: rows["topics"].isin([10, 40]) * 200.0),
        ("lrs-100-samples", (SEQUENTIAL,), lambda rows: rows["topics"] * 0.0 - 12.0),
    ],
)
def test_scores_that_contradict_a_claim_do_not_agree(
    name: str, evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]
) -> None:
    finding = check(name, changed(evaluators, change))
    assert finding.comparisons == COMPARISONS[name]
    # the other estimator still finds the truth
    assert finding.agreeing == {"true-topics-found": 2, "forty-topics-found": 1}.get(name, 0)
    assert finding.verdict == "fails"


@pytest.mark.parametrize(("short", "undecided"), [(1.48e-4, 3), (1.50e-4, 0)])
def test_a_bias_is_the_mean_over_numbers_of_topics(short: float, undecided: int) -> None:
    # three numbers of topics, errors of 1e-4: 2.58 errors of the mean are 1.49e-4; sizes share their documents
    finding = check("lr-biased", with_biases(PARTICLES, lambda rows: rows["topics"] * 0.0 - short))
    assert (finding.agreeing, finding.undecided) == (3 - undecided, undecided)
    assert finding.effect.endswith(f"standard errors at {0 if undecided else 9} of 9")
    assert f"s10 LR {-short:+.5f} +- 0.00006, LRS +0.00000 +- 0.00006" in finding.effect
    assert finding.visible == ("0.00015 nats per token" if undecided else "")


@pytest.mark.parametrize(("growth", "undecided"), [(2.09e-4, 3), (2.12e-4, 0)])
def test_a_bias_grows_from_the_fewest_documents_to_the_most(growth: float, undecided: int) -> None:
    # the difference of two errors of 1e-4, over three numbers of topics: 2.58 errors are 2.11e-4
    given = with_biases(PARTICLES, lambda rows: (size(rows) == SIZES[-1]) * -growth)
    finding = check("lr-bias-grows", given)
    assert (finding.agreeing, finding.undecided, finding.comparisons) == (3 - undecided, undecided, 3)
    shrinking = check("lr-bias-grows", with_biases(PARTICLES, lambda rows: (size(rows) == SIZES[-1]) * growth))
    assert shrinking.agreeing == 0


@pytest.mark.parametrize(("change", "undecided"), [(0.36, MODELS), (0.37, 0)])
def test_a_rise_is_more_than_the_errors_of_both_sizes(change: float, undecided: int) -> None:
    # errors of 0.1 nats each: 2.58 errors of the difference are 0.365 nats
    given = drawn(times=LARGE)
    scores = given.scores.copy()
    rows = (scores["evaluator"] == PARTICLES) & (scores["model"] == LDA)
    last, before = (rows & scores["variant"].str.endswith(f"-{LARGE * s}") for s in (SIZES[-1], SIZES[-2]))
    for at in ("corpus", "topics"):  # the same order
        assert list(scores[last][at]) == list(scores[before][at])
    scores.loc[last, "log_likelihood"] = scores[before]["log_likelihood"].to_numpy() - change
    finding = check("lr-perplexity-rises", replace(given, scores=scores))
    assert (finding.agreeing, finding.undecided, finding.comparisons) == (MODELS - undecided, undecided, MODELS)
    # of the readings the one that is LR rises in the measured biases, and the other does not
    assert f"resampled {MODELS} of {MODELS}, mean-of-logs 0 of {MODELS} models" in finding.effect


def test_a_rise_is_not_looked_for_where_training_sets_are_small() -> None:
    assert check("lr-perplexity-rises", drawn(times=13)).comparisons == MODELS
    finding = check("lr-perplexity-rises", drawn(times=12))
    assert finding.verdict == NOT_RUN
    assert finding.effect == "at most 19,200 of the source's 40,000 training documents"


def test_a_model_that_no_training_reaches_is_said() -> None:
    # nats per token: the true model has -5.9; at the most documents the best trained one has -6 - 5 / sqrt(1600)
    effect = check("forty-topics-found", drawn()).effect
    assert "the generating model over the best trained one, by LRS: s40 +0.2250" in effect


def test_what_was_cut_from_the_source_is_said() -> None:
    effect = check("true-topics-found", drawn()).effect
    assert effect.endswith("up to 1,600 of the source's 40,000 training documents, 10 of 10,000 held out")


@pytest.mark.parametrize(("more", "undecided"), [(4.46e-4, 3), (4.48e-4, 0)])
def test_a_lead_is_larger_by_more_than_its_error(more: float, undecided: int) -> None:
    # LRS less LR has an error of 1.41e-4, over the mean of two neighbours 1.73e-4: 2.58 times that is 4.47e-4, and the
    # training sizes have the same documents
    given = with_biases(PARTICLES, lambda rows: rows["topics"].eq(rows["corpus"].map(TRUE)) * -more)
    finding = check("lrs-sharpest", given)
    assert (finding.agreeing, finding.undecided, finding.comparisons) == (3 - undecided, undecided, 3)


def test_the_lead_is_over_the_neighbours_alone() -> None:
    given, claim = drawn(), BY_NAME["lrs-sharpest"]
    table = given.measurements
    assert table is not None
    far = table[(table["topics"] == 20) & (table["corpus"] != "s40")]
    more = [far.assign(topics=topics, value=value) for topics, value in ((40, -1e5), (3, 0.0))]
    assert claim.check(replace(given, measurements=pd.concat([table, *more])), ()) == claim.check(given, ())
    edge = table[table["topics"] >= 10]  # no number below the true one but s40's
    assert claim.check(replace(given, measurements=edge), ()).comparisons == 1


@pytest.mark.parametrize(("gap", "agree"), [(0.0095, 3), (-0.0095, 3), (0.011, 0), (-0.011, 0)])
def test_few_samples_suffice_within_one_percent(gap: float, agree: int) -> None:
    finding = check("lrs-100-samples", drawn(gap=gap))
    assert counts(finding) == (agree, 3)
    # models of one number of topics share their documents: the error is that of three; of nine over all corpora
    assert f"LRS with 200 samples less LRS with 20, nats per token: s10 {gap:+.5f} +- 0.00008, s10s" in finding.effect
    assert finding.effect.endswith(f"with 200 less the reference {gap:+.5f} +- 0.00003")
