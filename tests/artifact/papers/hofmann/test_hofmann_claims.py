"""Hofmann's claims on rows for which each of them is known to be supported or contradicted."""

import math

import pytest
from artifact.verdicts.verdicts import CONTRADICTED, DIFFERS, MODELS, NOT_RUN, SUPPORTED, UNDECIDED, Judgement
from made_hofmann import ERROR, FEW, RANK, TOPICS, Value, as_claimed, hofmann_inputs
from small_study import inputs, without
from splits import on_two_splits, with_groups

from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.claims import CLAIMS
from artifact.papers.hofmann.results import (
    COARSE_COOLED,
    COOLED,
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
from artifact.results.reading import TRUTHS
from heldout.evaluators import HALF

CORPORA = ("medline", "cranfield")


def judged(name: str, given: Inputs) -> Judgement:
    (claim,) = (claim for claim in CLAIMS if claim.name == f"hofmann-{name}")
    return Judgement(name, tuple(claim.measure(given, given.settings.corpora)))


def changed(change: float, model: Model, evaluators: tuple[str, ...], topics: tuple[int, ...] = TOPICS) -> Value:
    """Return `as_claimed` with some cells changed by so many nats per token, under the model's own prior."""

    def value(of: Model, evaluator: str, k: int) -> float:
        here = of == model and evaluator in evaluators and k in topics
        return as_claimed(of, evaluator, k) + (change if here else 0.0)

    return value


def each(name: str, change: float, topics: tuple[int, ...] = TOPICS) -> dict[str, Value]:
    """Return, for each score of tempered EM and each prior, what contradicts the claim of that score alone."""
    chosen = chosen_prior(HEATED)
    return {
        name: changed(change, HEATED, (SPECIFIC,), topics),
        f"{name}-half": changed(change, HEATED, (HALF,), topics),
        f"{name}-predictive-flat": changed(change, HEATED, (PREDICTIVE,), topics),
        f"{name}-predictive-chosen": changed(change, chosen, (PREDICTIVE,), topics),
        f"{name}-truth-flat": changed(change, HEATED, TRUTHS, topics),
        f"{name}-truth-chosen": changed(change, chosen, TRUTHS, topics),
    }


CONTRADICTING = {
    **each("below-unigram", -2.0),
    **each("tem-below-early", -0.2),
    **each("no-overfitting", -2.0, TOPICS[1:]),
    **each("beyond-rank", -0.5, TOPICS[-1:]),
    "below-lsa": changed(-2.0, HEATED, (SPECIFIC,)),
    "below-lsa-at-best": changed(2.0, READINGS[2], (SPECIFIC,)),
    "tem-below-early-folded-in": changed(-0.2, HEATED, (FOLDED_IN,)),
    "heated-no-worse": changed(2.0 * MODELS.value, COOLED, (SPECIFIC,)),
    "below-counts": changed(2.0, COUNTS, (SPECIFIC,), (0,)),
}


def test_every_claim_is_tested() -> None:
    own = [claim.name.removeprefix("hofmann-") for claim in CLAIMS]
    others = {"faster", "faster-on-equal-schedules", "heated-no-worse-on-equal-schedules"}
    assert sorted(own) == sorted(CONTRADICTING.keys() | others)


@pytest.fixture(scope="module")
def claimed() -> Inputs:
    return on_two_splits(hofmann_inputs(CORPORA))


@pytest.mark.parametrize("name", [*CONTRADICTING, "faster", "heated-no-worse-on-equal-schedules"])
def test_supported_where_it_is_so(name: str, claimed: Inputs) -> None:
    assert judged(name, claimed).verdict == SUPPORTED


def test_without_rows_nothing_is_run() -> None:
    bare = inputs(without("tempering", "latent-semantic-analysis"))
    assert {judged(claim.name.removeprefix("hofmann-"), bare).verdict for claim in CLAIMS} == {NOT_RUN}


@pytest.mark.parametrize("name", CONTRADICTING)
def test_contradicted_where_it_is_not_so_and_no_other_score_with_it(name: str) -> None:
    given = on_two_splits(hofmann_inputs(CORPORA, CONTRADICTING[name]))
    assert judged(name, given).verdict == CONTRADICTED
    stem = name.removesuffix("-half").removesuffix("-flat").removesuffix("-chosen")
    stem = stem.removesuffix("-predictive").removesuffix("-truth").removesuffix("-folded-in")
    others = {f"{stem}-half", f"{stem}-truth-flat", f"{stem}-predictive-chosen"} & CONTRADICTING.keys() - {name}
    assert all(judged(other, given).verdict == SUPPORTED for other in others)


@pytest.mark.parametrize("name", ["below-unigram", "tem-below-early", "no-overfitting", "beyond-rank"])
def test_the_interval_holds_documents(name: str, claimed: Inputs) -> None:
    whole, held = (judged(name, given).effects for given in (claimed, with_groups(claimed)))
    assert all(abs(other.error - one.error) > 1e-9 for one, other in zip(whole, held, strict=True))


def test_only_seeds_with_the_whole_grid_count_at_their_best() -> None:
    one, two = (judged("below-unigram", f(hofmann_inputs(CORPORA))) for f in (lambda given: given, on_two_splits))
    assert [(found.verdict, found.effects[0].replicates) for found in (one, two)] == [(UNDECIDED, 1), (SUPPORTED, 2)]
    assert two.effects[0].estimate == pytest.approx(math.log(3000.0 / (2500.0 / 64.0**0.25)))


def test_lsa_is_compared_where_both_have_the_number_of_dimensions() -> None:
    best, _, main, _ = judged("below-lsa", on_two_splits(hofmann_inputs(CORPORA))).effects
    assert RANK > 32
    assert (best.cells, best.replicates, main.part) == (3, 4, "main reading")  # 2, 8 and 32


def test_a_sampled_scores_error_is_in_the_interval() -> None:
    early, half = (
        judged(f"tem-below-early{end}", on_two_splits(hofmann_inputs(CORPORA))).effects[0]
        for end in ("-truth-flat", "-half")
    )
    assert half.error == pytest.approx(0.0, abs=1e-12)
    assert early.error == pytest.approx(ERROR * math.sqrt(2.0) * (0.75 + 0.5) / 2.0, rel=0.2)  # exact at the fewest


def test_a_loss_of_less_than_a_percent_hurts_nobody() -> None:
    for loss, verdict in ((0.9, SUPPORTED), (1.1, CONTRADICTED)):
        step = 0.25 * math.log(2.0)  # from 32 to 64 dimensions
        value = changed(-step - loss * MODELS.value, HEATED, (SPECIFIC,), (64,))
        given = on_two_splits(hofmann_inputs(CORPORA, value))
        found = judged("beyond-rank", given)
        assert (found.verdict, found.effects[0].cells) == (verdict, 1)  # 64 alone lies beyond the rank
        assert found.effects[0].estimate == pytest.approx(-loss * MODELS.value)


@pytest.mark.parametrize(("annealed", "verdict"), [(99, CONTRADICTED), (101, SUPPORTED), (30_000, SUPPORTED)])
def test_faster_is_ten_times_the_iterations_as_the_source_compares_them(annealed: int, verdict: str) -> None:
    """Fine annealing takes three times the iterations of the coarse one here."""
    given = hofmann_inputs(CORPORA, iterations=(30, annealed))
    found = judged("faster", given)
    assert found.verdict == verdict
    assert math.exp(found.effects[0].estimate) == pytest.approx(3 * annealed / 30)
    equal = judged("faster-on-equal-schedules", given).effects
    assert {round(math.exp(effect.estimate), 6) for effect in equal} == {round(annealed / 30, 6)}


@pytest.mark.parametrize(("model", "part"), [(FINE_HEATED, "both fine"), (HEATED, "both coarse")])
def test_equal_schedules_are_compared_with_each_other(model: Model, part: str) -> None:
    given = hofmann_inputs(CORPORA, changed(-2.0 * MODELS.value, model, (SPECIFIC,)))
    found = judged("heated-no-worse-on-equal-schedules", given)
    assert found.verdict == DIFFERS
    assert {effect.part for effect in found.effects if effect.verdict == CONTRADICTED} == {part}
    assert COARSE_COOLED != COOLED
    assert len(FEW) == found.effects[0].cells


def test_a_corpus_that_the_study_does_not_describe_is_left_out() -> None:
    given = hofmann_inputs(CORPORA)
    (claim,) = (claim for claim in CLAIMS if claim.name == "hofmann-tem-below-early")
    assert [effect.corpus for effect in claim.measure(given, ["medline"])] == ["medline"]
    assert claim.measure(given, []) == []
