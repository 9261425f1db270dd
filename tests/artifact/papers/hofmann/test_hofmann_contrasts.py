"""The contrasts of Hofmann's experiment, on scores whose effects are known."""

import math
from dataclasses import replace

import pytest
from made_hofmann import FEW, RANK, TOPICS, Value, as_claimed, hofmann_inputs
from small_study import inputs, without
from splits import on_two_splits, with_groups

from artifact.contrasts.effect import IS_ABOVE, IS_BELOW, IS_OPEN, IS_WITHIN, Effect, chosen
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.contrasts import CONTRASTS
from artifact.papers.hofmann.results import COOLED, FINE_HEATED, HEATED, PREDICTIVE, READINGS, SPECIFIC, Model, points

CORPORA = ("medline", "cranfield")


def found(name: str, given: Inputs, where: str = "medline") -> list[Effect]:
    (contrast,) = (contrast for contrast in CONTRASTS if contrast.name == name)
    return list(chosen({name: tuple(effects(contrast, given))}, name, where))


def changed(change: float, model: Model, evaluator: str = SPECIFIC, topics: tuple[int, ...] = TOPICS) -> Inputs:
    """Return two splits of the study in which some cells gain so many nats per token."""

    def value(of: Model, score: str, k: int) -> float:
        here = of == model and score == evaluator and k in topics
        return as_claimed(of, score, k) + (change if here else 0.0)

    return two_splits(value)


def two_splits(value: Value = as_claimed) -> Inputs:
    return on_two_splits(hofmann_inputs(CORPORA, value))


@pytest.fixture(scope="module")
def claimed() -> Inputs:
    return two_splits()


def test_every_contrast_but_those_beyond_the_source_names_its_place() -> None:
    assert {c.name for c in CONTRASTS if not c.source} == {"tem-counts", "tem-overfits-predictive", "heating-fine"}


def test_at_its_best_plsa_is_compared_on_seeds_with_the_whole_grid(claimed: Inputs) -> None:
    best = 0.25 * math.log(64) - math.log(2500)  # at 64 dimensions, of which one seed in two has scores
    lsa = 0.05 * math.log(40) - math.log(2200)  # at full rank, by its first reading
    for name, other in (("unigram", -math.log(3000)), ("counts", -math.log(1500)), ("lsa-best", lsa)):
        (effect,) = found(f"tem-{name}", claimed)
        assert effect.estimate == pytest.approx(best - other)
        assert effect.replicates == 2


def test_lsa_is_taken_in_its_best_reading_at_every_number_of_dimensions() -> None:
    given = changed(0.1, READINGS[2], topics=(8,))
    rows = {effect.topics: effect for effect in found("tem-lsa", given)}
    assert sorted(rows) == [2, 8, 32]  # both have them
    own, lsa = ({k: c * math.log(k) - math.log(p) for k in (2, 8)} for c, p in ((0.25, 2500), (0.05, 2200)))
    assert rows[2].estimate == pytest.approx(own[2] - lsa[2])
    assert rows[8].estimate == pytest.approx(own[8] - lsa[8] - 0.1 + 0.04)  # the third reading, .04 below the first


def test_tempering_is_compared_with_early_stopping_at_every_number_of_dimensions(claimed: Inputs) -> None:
    assert [effect.topics for effect in found("tem-early", claimed)] == list(TOPICS)
    assert {effect.finding for effect in found("tem-early", claimed)} == {IS_ABOVE}
    worse = changed(-0.2, HEATED, topics=(8,))
    assert [effect.finding for effect in found("tem-early", worse)] == [IS_ABOVE, IS_BELOW, IS_ABOVE, IS_ABOVE]


def test_each_score_says_by_itself_whether_more_dimensions_hurt(claimed: Inputs) -> None:
    names = {SPECIFIC: "tem-overfits", PREDICTIVE: "tem-overfits-predictive"}
    for score, name in names.items():
        ((estimate, finding),) = ((effect.estimate, effect.finding) for effect in found(name, claimed))
        assert (estimate, finding) == (0.0, IS_WITHIN)
        worse = changed(-0.3, HEATED, score, (64,))
        losses = {of: found(of, worse)[0].estimate for of in names.values()}
        loss = 0.3 - 0.25 * math.log(2)  # 64 less .3 against 32 dimensions, half as many
        assert losses == pytest.approx({of: loss if of == name else 0.0 for of in names.values()})


def test_heating_is_compared_as_the_source_does_and_on_the_fine_schedule(claimed: Inputs) -> None:
    for name, model in (("heating", HEATED), ("heating-fine", FINE_HEATED)):
        assert [effect.topics for effect in found(name, claimed)] == list(FEW)
        assert {effect.finding for effect in found(name, changed(-0.1, model))} == {IS_BELOW}
        assert {effect.finding for effect in found(name, changed(-0.1, COOLED))} == {IS_ABOVE}


@pytest.mark.parametrize(("annealed", "finding"), [(99, IS_BELOW), (101, IS_ABOVE)])
def test_iterations_are_a_factor_held_to_ten(annealed: int, finding: str) -> None:
    """Fine annealing takes three times the iterations of the coarse one here."""
    given = on_two_splits(hofmann_inputs(CORPORA, iterations=(30, annealed)))
    for effect in found("heating-iterations", given):
        assert math.exp(effect.estimate) == pytest.approx(3 * annealed / 30)
        assert effect.finding == finding


def test_the_interval_holds_documents_and_a_sampled_score_s_error(claimed: Inputs) -> None:
    whole, held = found("tem-early", claimed), found("tem-early", with_groups(claimed))
    assert all(abs(one.error - other.error) > 1e-9 for one, other in zip(whole, held, strict=True))
    lost = found("tem-overfits-predictive", changed(-0.3, HEATED, PREDICTIVE, (64,)))
    assert lost[0].noise == pytest.approx(1e-3 * math.sqrt(2.0))


def test_a_corpus_of_his_study_alone_has_its_effects() -> None:
    given = on_two_splits(hofmann_inputs(("medline", "brown-pairs")))
    for contrast in CONTRASTS:
        assert {effect.corpus for effect in effects(contrast, given)} == {"medline", "brown-pairs"}


def test_without_rows_nothing_is_run_and_one_split_decides_nothing() -> None:
    bare = inputs(without("tempering", "latent-semantic-analysis"))
    assert [effect for contrast in CONTRASTS for effect in effects(contrast, bare)] == []
    assert {effect.finding for effect in found("tem-unigram", hofmann_inputs(CORPORA))} == {IS_OPEN}


def test_a_full_rank_is_one_number_of_dimensions_though_it_differs_by_split() -> None:
    given = hofmann_inputs(CORPORA)
    of_one = (given.scores["model"] == "lsa") & (given.scores["topics"] == RANK) & (given.scores["seed"] == 1)
    assert of_one.sum() >= len(CORPORA)
    other = replace(given, scores=given.scores.assign(topics=given.scores["topics"].mask(of_one, RANK + 3)))
    assert set(points(other, CORPORA, [READINGS[0]])["topics"]) == {2, 8, 32, RANK + 3}
    for name in ("tem-lsa-best", "tem-lsa"):
        assert [effect.estimate for effect in found(name, other)] == [effect.estimate for effect in found(name, given)]
