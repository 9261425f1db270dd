"""The claims of Buntine (2009), on made-up errors and scores for which each is known to be supported or not."""

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest
from artifact.verdicts.verdicts import CONTRADICTED, NO_DIFFERENCE, NOT_RUN, SUPPORTED, UNDECIDED, Effect, Judgement
from drawn_corpora import SIZES, TOKENS, TRUE, drawn
from made_measurements import calibration, mean_ratios, measured
from small_study import inputs, without

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.claims import CLAIMS
from artifact.papers.buntine.experiments.model_selection import LESS_REFERENCE
from artifact.papers.buntine.results import GAMMAS
from artifact.results.measurements import Measurement
from heldout.evaluators import (
    HARMONIC,
    MEAN_FIELD_FIRST,
    MEAN_FIELD_SECOND,
    PARTICLES,
    SEQUENTIAL,
    likelihood_estimators,
)
from heldout.models import LDA

LARGE = 20  # times the sizes, so that the largest is above half of the source's
ON_DRAWN = (
    *("lr-biased", "lrs-biased", "lr-bias-grows", "lr-perplexity-rises", "mfi-tracks-lrs"),
    *("true-topics-found", "lrs-sharpest", "lrs-100-samples"),
)
ON_RATIOS = {"lr-mean-ratio-realistic": PARTICLES, "lrs-mean-ratio-realistic": SEQUENTIAL}
ON_ERRORS = [claim.name for claim in CLAIMS if claim.name not in {*ON_DRAWN, *ON_RATIOS}]

Spread = Callable[[str, float], tuple[float, float]]


def judged(name: str, given: Inputs) -> Judgement:
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    return Judgement(name, tuple(claim.measure(given, ())))


def verdicts(name: str, given: Inputs) -> list[str]:
    return [effect.verdict for effect in judged(name, given).effects]


def as_claimed(name: str, gamma: float) -> tuple[float, float]:
    """Return the mean and the standard deviation that a method has at a gamma, bits per token."""
    if name == HARMONIC:
        return -0.3, 0.2
    if name == SEQUENTIAL:
        return 0.0002, 0.002
    return (0.05 if gamma == 1.0 else 0.0), 0.04


def errors(spread: Spread = as_claimed, ratio: float = 1.0) -> Inputs:
    """Return 100 errors of each estimator and gamma, of the given spread, and the mean ratio of estimate and truth."""
    rows = calibration(
        changes={(gamma, name): spread(name, gamma) for gamma in GAMMAS for name in likelihood_estimators()}
    )
    rows += [
        Measurement(
            *("none", "none", f"gamma-{gamma:g}", 4, 0.0, "none", 0, f"mean-ratio-{name}", "pairs", 1000), ratio, 0.002
        )
        for gamma in GAMMAS
        for name in likelihood_estimators()
    ]
    return measured(rows)


@pytest.mark.parametrize("claim", ON_ERRORS)
def test_supported_where_it_is_so_and_not_run_without_pairs(claim: str) -> None:
    assert judged(claim, errors()).verdict == SUPPORTED
    assert judged(claim, inputs(without("calibration"))).verdict == NOT_RUN


@pytest.mark.parametrize("claim", [name for name in ON_ERRORS if "lemma" not in name and "ratio" not in name])
def test_the_sources_own_table_passes_its_own_tests(claim: str) -> None:
    """No part is contradicted: its hundred pairs leave some open."""
    published = measured(calibration(GAMMAS))  # errors of its means and standard deviations
    assert set(verdicts(claim, published)) <= {SUPPORTED, UNDECIDED}
    if claim in ("others-biased", "harmonic-mean-biased"):
        assert judged(claim, published).verdict == SUPPORTED


def test_the_least_spread_other_method_counts_but_the_sources_exception() -> None:
    def spread(name: str, gamma: float) -> tuple[float, float]:
        return (0.0, 0.001) if name == MEAN_FIELD_FIRST else as_claimed(name, gamma)

    effects = judged("lrs-most-precise", errors(spread)).effects
    assert [effect.verdict for effect in effects] == [SUPPORTED, CONTRADICTED, CONTRADICTED, CONTRADICTED]
    assert effects[1].estimate == pytest.approx(math.log(0.5))


@pytest.mark.parametrize(
    ("mean", "deviation", "verdict"),
    [(0.0, 0.02, UNDECIDED), (0.0, 0.005, SUPPORTED), (0.0051, 0.02, UNDECIDED), (0.0051, 0.005, CONTRADICTED)],
)
def test_a_small_t_of_few_pairs_is_no_evidence(mean: float, deviation: float, verdict: str) -> None:
    """Bits per token, of 100 pairs; the margin is 0.0014 of them."""
    given = errors(lambda n, g: (mean, deviation) if (n, g) == (SEQUENTIAL, 0.5) else as_claimed(n, g))
    effect = judged("lrs-unbiased", given).effects[1]
    assert effect.verdict == verdict
    assert effect.estimate == pytest.approx(mean * math.log(2.0), abs=1e-12)
    assert float(effect.part.removeprefix("gamma 0.5, t = ")) == pytest.approx(10.0 * mean / deviation, abs=0.06)


@pytest.mark.parametrize(("deviation", "verdict"), [(0.04, UNDECIDED), (0.002, NO_DIFFERENCE)])
def test_a_method_without_a_bias_is_none_of_those_that_have_one(deviation: float, verdict: str) -> None:
    given = errors(lambda n, g: (0.0, deviation) if n == PARTICLES else as_claimed(n, g))
    assert {e.part: e.verdict for e in judged("others-biased", given).effects}["LR"] == verdict


def test_mean_field_far_from_the_particle_sampler_either_way() -> None:
    for factor in (0.2, 5.0):
        changed = errors(lambda n, _, f=factor: (0.0, 0.04 * f if n == MEAN_FIELD_SECOND else 0.04))  # type: ignore[misc]
        assert verdicts("mfi-comparable-to-lr", changed) == [SUPPORTED, CONTRADICTED] * 4


def test_a_harmonic_mean_that_is_too_low_is_contradicted() -> None:
    changed = errors(lambda n, g: (0.3, 0.02) if n == HARMONIC else as_claimed(n, g))
    assert judged("harmonic-mean-biased", changed).verdict == CONTRADICTED


def test_a_ratio_beyond_its_error_breaks_the_lemma() -> None:
    """Per token of 14, with standard errors of 0.002 of the ratio: 1 within 0.014."""
    assert judged("lrs-lemma-1", errors(ratio=1.005)).verdict == SUPPORTED
    assert judged("lrs-lemma-1", errors(ratio=0.96)).verdict == CONTRADICTED
    assert judged("lrs-lemma-1", errors(ratio=1.014)).verdict == UNDECIDED


@pytest.mark.parametrize(("claim", "method"), ON_RATIOS.items())
def test_a_mean_ratio_is_held_to_one_within_the_margin_per_token(claim: str, method: str) -> None:
    for ratio, verdict in ((1.03, SUPPORTED), (0.85, CONTRADICTED), (0.93, UNDECIDED)):  # 80 tokens: 1 within 0.08
        assert verdicts(claim, measured(mean_ratios({method: ratio}))) == [verdict] * 4
        assert verdicts(claim, measured(mean_ratios())) == [SUPPORTED] * 4
    assert judged(claim, inputs(without("mean-ratio"))).verdict == NOT_RUN


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


@pytest.mark.parametrize("name", ON_DRAWN)
def test_without_scores_nothing_is_said(name: str) -> None:
    assert judged(name, inputs(without("model-selection"))).verdict == NOT_RUN


def test_drawn_scores_that_bear_the_claims_out() -> None:
    given = drawn(times=LARGE, seeds=(0, 4))
    for name in ("lr-biased", "lr-perplexity-rises", "mfi-tracks-lrs", "true-topics-found", "lrs-100-samples"):
        assert judged(name, given).verdict == SUPPORTED, name
    assert judged("lrs-biased", given).verdict == NO_DIFFERENCE  # the reference and LRS say the same here


@pytest.mark.parametrize(
    ("name", "evaluators", "change"),
    [
        ("lr-biased", (PARTICLES,), lambda rows: rows["topics"] * 0.0 + 1000.0),
        ("lr-bias-grows", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("lr-perplexity-rises", (PARTICLES,), lambda rows: size(rows) * 1.0),
        ("mfi-tracks-lrs", (MEAN_FIELD_FIRST,), lambda rows: rows["topics"] * 0.0 - 30.0),
        ("lrs-sharpest", (PARTICLES,), lambda rows: rows["topics"].isin([10, 40]) * 200.0),
        ("lrs-100-samples", (SEQUENTIAL,), lambda rows: rows["topics"] * 0.0 - 12.0),
    ],
)
def test_scores_that_contradict_a_claim(
    name: str, evaluators: tuple[str, ...], change: Callable[[pd.DataFrame], "pd.Series[float]"]
) -> None:
    assert set(verdicts(name, changed(evaluators, change))) == {CONTRADICTED}


def of(name: str, given: Inputs, corpus: str = "s10") -> Effect:
    return next(effect for effect in judged(name, given).effects if effect.corpus == corpus)


def test_sets_of_documents_are_the_replicates() -> None:
    """Three numbers of topics, three training sizes and two seeds; numbers of topics differ by 1e-3 from the middle."""
    by_topics = {5: -1e-3, 10: -2e-3, 20: -3e-3}
    given = with_biases(PARTICLES, lambda rows: rows["topics"].map(by_topics).fillna(-2e-3))
    effect = of("lr-biased", given)
    assert (effect.replicates, effect.cells, effect.freedom) == (3, len(SIZES), 2.0)
    assert effect.estimate == pytest.approx(2e-3)
    assert effect.error == pytest.approx(1e-3 / math.sqrt(3.0))


def test_a_bias_grows_from_the_fewest_documents_to_the_most() -> None:
    given = with_biases(PARTICLES, lambda rows: (size(rows) == SIZES[-1]) * -2e-3)
    assert of("lr-bias-grows", given).estimate == pytest.approx(2e-3)
    assert judged("lr-bias-grows", given).verdict == SUPPORTED
    middle = with_biases(PARTICLES, lambda rows: (size(rows) == SIZES[1]) * -2e-3)
    assert of("lr-bias-grows", middle).estimate == pytest.approx(0.0)


def test_a_rise_is_not_looked_for_where_training_sets_are_small() -> None:
    assert judged("lr-perplexity-rises", drawn(times=13)).verdict == SUPPORTED
    assert judged("lr-perplexity-rises", drawn(times=12)).verdict == NOT_RUN


def test_the_lead_is_over_the_neighbours_alone_and_bears_three_sets_of_documents() -> None:
    given = with_biases(PARTICLES, lambda rows: rows["topics"].eq(rows["corpus"].map(TRUE)) * -2e-3)
    effect = of("lrs-sharpest", given)
    # LRS less LR has an error of 1.41e-4, over the mean of two neighbours 1.73e-4: sizes have the same documents
    assert [effect.estimate, effect.error] == pytest.approx([2e-3, math.sqrt(3.0) * 1e-4])
    table = given.measurements
    assert table is not None
    far = table[(table["topics"] == 20) & (table["corpus"] != "s40")]
    more = [far.assign(topics=topics, value=value) for topics, value in ((40, -1e5), (3, 0.0))]
    assert of("lrs-sharpest", replace(given, measurements=pd.concat([table, *more]))) == effect
    edge = replace(given, measurements=table[table["topics"] >= 10])  # no number below the true one but s40's
    assert [found.corpus for found in judged("lrs-sharpest", edge).effects] == ["s40"]


def test_one_seed_does_not_find_the_true_number_of_topics() -> None:
    assert judged("true-topics-found", drawn(times=LARGE)).verdict == UNDECIDED
    assert {effect.corpus for effect in judged("true-topics-found", drawn(times=LARGE)).effects} == {"s10s"}
    assert of("true-topics-found", drawn(times=LARGE), "s10s").estimate == pytest.approx(0.2 * math.log(2.0))


@pytest.mark.parametrize(("gap", "verdict"), [(0.0009, SUPPORTED), (-0.0009, SUPPORTED), (0.0011, CONTRADICTED)])
def test_few_samples_suffice_within_the_margin_of_estimators(gap: float, verdict: str) -> None:
    assert judged("lrs-100-samples", drawn(gap=gap)).verdict == verdict
