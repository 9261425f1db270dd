"""Hofmann's claims on rows for which each of them is known to hold or to fail."""

import math
import re

import pytest
from made_hofmann import ERROR, FEW, RANK, TOPICS, Value, as_claimed, hofmann_inputs
from small_study import inputs, without

from heldout.evaluators import HALF
from heldout.inputs import Inputs
from heldout.papers.hofmann.claims import CLAIMS
from heldout.papers.hofmann.results import (
    ANNEALED,
    COARSE_ANNEALED,
    COUNTS,
    FINE_HEATED,
    FOLDED_IN,
    HEATED,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    Model,
    chosen_prior,
)
from heldout.points import TRUTHS
from heldout.verdicts import SEEN, WITHIN, Finding

CORPORA = ("medline", "cranfield")
MODELS = sum(2 if k in FEW else 1 for k in TOPICS) * len(CORPORA)  # topics and seeds


def check(name: str, given: Inputs) -> Finding:
    (claim,) = (claim for claim in CLAIMS if claim.name == f"hofmann-{name}")
    return claim.check(given, given.settings.corpora)


def changed(change: float, model: Model, evaluators: tuple[str, ...], topics: tuple[int, ...] = TOPICS) -> Value:
    """Return `as_claimed` with some cells changed by so many nats per token, under the model's own prior."""

    def value(of: Model, evaluator: str, k: int) -> float:
        here = of == model and evaluator in evaluators and k in topics
        return as_claimed(of, evaluator, k) + (change if here else 0.0)

    return value


def each(name: str, change: float, topics: tuple[int, ...] = TOPICS) -> dict[str, Value]:
    """Return, for each score of tempered EM and each prior, what makes the claim of that score alone fail."""
    chosen = chosen_prior(HEATED)
    return {
        name: changed(change, HEATED, (SPECIFIC,), topics),
        f"{name}-half": changed(change, HEATED, (HALF,), topics),
        f"{name}-predictive-flat": changed(change, HEATED, (PREDICTIVE,), topics),
        f"{name}-predictive-chosen": changed(change, chosen, (PREDICTIVE,), topics),
        f"{name}-truth-flat": changed(change, HEATED, TRUTHS, topics),
        f"{name}-truth-chosen": changed(change, chosen, TRUTHS, topics),
    }


FAILING = {
    **each("far-below-unigram", -1.2),
    **each("tem-below-early", -0.2),
    **each("no-overfitting", -2.0, TOPICS[1:]),
    **each("beyond-rank", -0.5, TOPICS[-1:]),
    "far-below-lsa": changed(0.9, READINGS[2], (SPECIFIC,)),
    "below-lsa": changed(-0.9, HEATED, (SPECIFIC,)),
    "tem-below-early-folded-in": changed(-0.2, HEATED, (FOLDED_IN,)),
    "heated-no-worse-coarse": changed(2.0 * WITHIN, COARSE_ANNEALED, (SPECIFIC,)),
    "heated-no-worse-fine": changed(-2.0 * WITHIN, FINE_HEATED, (SPECIFIC,)),
    "below-counts": changed(0.6, COUNTS, (SPECIFIC,), (0,)),
    "far-below-counts": changed(0.3, COUNTS, (SPECIFIC,), (0,)),
    "predictive-better-flat": changed(-0.2, HEATED, (PREDICTIVE,)),
    "predictive-better-chosen": changed(-0.2, chosen_prior(HEATED), (PREDICTIVE,)),
}


def test_every_claim_is_tested() -> None:
    own = {claim.name.removeprefix("hofmann-") for claim in CLAIMS}
    others = {"faster-coarse", "faster-fine", "prefers-more-dimensions-flat", "prefers-more-dimensions-chosen"}
    assert own == FAILING.keys() | others
    assert len(own) == len(CLAIMS)


@pytest.fixture(scope="module")
def claimed() -> Inputs:
    return hofmann_inputs(CORPORA)


@pytest.mark.parametrize("name", [*FAILING, "faster-coarse", "faster-fine"])
def test_holds_where_it_is_so(name: str, claimed: Inputs) -> None:
    assert check(name, claimed).verdict == "holds"


def test_without_rows_nothing_is_run() -> None:
    bare = inputs(without("tempering", "latent-semantic-analysis"))
    findings = [claim.check(bare, bare.settings.corpora) for claim in CLAIMS]
    assert {(finding.verdict, finding.effect) for finding in findings} == {("not run", "")}


@pytest.mark.parametrize("name", FAILING)
def test_fails_where_it_is_not_so_and_no_other_evaluation_fails_with_it(name: str) -> None:
    given = hofmann_inputs(CORPORA, FAILING[name])
    assert check(name, given).verdict == "fails"
    stem = re.sub("(-half|-folded-in|-predictive|-truth|-flat|-chosen|-coarse|-fine)+$", "", name)
    for other in (other for other in FAILING if other.startswith(stem)):
        assert (check(other, given).verdict == "fails") == (other == name)


def test_only_seeds_with_the_whole_grid_are_far_below() -> None:
    finding = check("far-below-unigram", hofmann_inputs(CORPORA))
    assert (finding.agreeing, finding.comparisons, finding.seeds) == (2, 2, 1)
    ratio = 3000.0 / (2500.0 / 64.0**0.25)
    assert f"medline 3,000 over 884 (K=64) is {ratio:.2f}" in finding.effect


def test_far_is_a_factor_of_one_and_a_half_beyond_the_error() -> None:
    needed = -math.log(3000.0 / 1.5)
    for slack, agreeing in ((0.5, 0), (1.5, 2)):  # in the errors that count

        def value(model: Model, evaluator: str, k: int, slack: float = slack) -> float:
            if model[0] == HEATED[0] and evaluator in TRUTHS:
                return needed - 0.01 * (64 - k) + slack * SEEN * ERROR
            return as_claimed(model, evaluator, k)

        finding = check("far-below-unigram-truth-flat", hofmann_inputs(CORPORA, value))
        assert (finding.agreeing, finding.comparisons) == (agreeing, 2)


def test_lsa_is_compared_where_both_have_the_number_of_dimensions() -> None:
    given = hofmann_inputs(CORPORA, changed(0.5, READINGS[1], (SPECIFIC,), (2,)))
    finding = check("below-lsa", given)
    assert (finding.agreeing, finding.comparisons) == (6, 10)  # 2, 8 and 32; two corpora; two seeds but at 32
    assert "not below at cranfield K=2, medline K=2" in finding.effect
    assert RANK > 32


def test_a_gain_within_the_error_is_none() -> None:
    for gain, expected in ((0.5, 0), (2.0, MODELS)):  # the error of a difference is sqrt(2) of one's
        level = -0.1 + gain * SEEN * ERROR * math.sqrt(2.0)
        given = hofmann_inputs(CORPORA, changed(level, HEATED, TRUTHS))
        finding = check("tem-below-early-truth-flat", given)
        exact = 2 * len(CORPORA)  # at the smallest K: two seeds
        assert (finding.agreeing, finding.comparisons) == (max(expected, exact), MODELS)
        finding = check("tem-below-early-half", given)
        assert finding.agreeing == finding.comparisons == MODELS


def test_a_loss_of_less_than_a_percent_hurts_nobody() -> None:
    for loss, verdict in ((0.9, "holds"), (1.1, "fails")):
        step = 0.25 * math.log(2.0)  # from 32 to 64 dimensions
        given = hofmann_inputs(CORPORA, changed(-step - loss * WITHIN, HEATED, (SPECIFIC,), (64,)))
        assert check("beyond-rank", given).verdict == verdict
        assert check("beyond-rank", given).comparisons == len(CORPORA)  # 64 alone lies beyond the rank
        finding = check("no-overfitting", given)
        assert finding.comparisons == (2 + 1 + 1) * len(CORPORA)
        assert finding.agreeing == finding.comparisons - (len(CORPORA) if loss > 1.0 else 0)
        assert f"medline {math.exp(loss * WITHIN):.3f} (K=64)" in finding.effect


@pytest.mark.parametrize(("annealed", "verdict"), [(299, "fails"), (300, "holds"), (30_000, "holds")])
def test_faster_is_ten_times_the_iterations(annealed: int, verdict: str) -> None:
    given = hofmann_inputs(CORPORA, iterations=(30, annealed))
    for schedule, times in (("coarse", 1), ("fine", 3)):
        finding = check(f"faster-{schedule}", given)
        assert finding.verdict == verdict
        assert finding.comparisons == 2 * len(FEW) * len(CORPORA)
        assert f"median {annealed / 30:.1f}" in finding.effect
        assert f"best: median {(times * annealed - 5) / (times * 30 - 5):.1f}" in finding.effect
        assert f"finely annealed over coarsely heated: median {3 * annealed / 30:.1f}" in finding.effect
        assert "fine over coarse: median 3.0 heated, 3.0 annealed" in finding.effect


@pytest.mark.parametrize(("model", "schedules"), [(ANNEALED, ["fine"]), (HEATED, ["coarse"])])
def test_heated_models_are_held_to_annealed_ones_of_the_same_schedule(model: Model, schedules: list[str]) -> None:
    change = 2.0 * WITHIN * (1.0 if model == ANNEALED else -1.0)
    given = hofmann_inputs(CORPORA, changed(change, model, (SPECIFIC,)))
    findings = {schedule: check(f"heated-no-worse-{schedule}", given) for schedule in ("coarse", "fine")}
    assert [schedule for schedule, finding in findings.items() if finding.verdict == "fails"] == schedules
    for finding in findings.values():  # the unmatched comparison, coarsely heated against finely annealed
        assert f"median {math.exp(2.0 * WITHIN):.3f}, no worse in 0 of {finding.comparisons}" in finding.effect
    slower = math.exp(0.0 if model == ANNEALED else -2.0 * WITHIN)
    assert f"finely over coarsely heated: median {slower:.3f}" in findings["fine"].effect


@pytest.mark.parametrize(("prior", "model"), [("flat", HEATED), ("chosen", chosen_prior(HEATED))])
def test_the_truth_may_prefer_fewer_dimensions(prior: str, model: Model) -> None:
    name = f"prefers-more-dimensions-{prior}"
    assert check(name, hofmann_inputs(CORPORA)).verdict == "fails"  # both the most
    finding = check(name, hofmann_inputs(CORPORA, changed(-0.6, model, TRUTHS, (32, 64))))
    assert (finding.agreeing, finding.comparisons) == (2, 2)
    assert "medline 64 against 8" in finding.effect


def test_a_predictive_gain_counts_from_three_errors_of_the_sampled_score() -> None:
    for gain, agreeing in ((0.5, 0), (2.0, MODELS)):

        def value(model: Model, evaluator: str, k: int, gain: float = gain) -> float:
            if model[0] == HEATED[0] and evaluator == PREDICTIVE:
                return as_claimed(HEATED, SPECIFIC, k) + gain * SEEN * ERROR
            return as_claimed(model, evaluator, k)

        finding = check("predictive-better-chosen", hofmann_inputs(CORPORA, value))
        assert (finding.agreeing, finding.comparisons) == (agreeing, MODELS)


def test_a_corpus_that_the_study_does_not_describe_is_left_out() -> None:
    given = hofmann_inputs(CORPORA)
    (claim,) = (claim for claim in CLAIMS if claim.name == "hofmann-tem-below-early")
    assert claim.check(given, ["medline"]).comparisons == MODELS // 2
    assert claim.check(given, []).verdict == "not run"
