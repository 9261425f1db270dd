"""The contrasts of Welling et al., on scores whose effects are known."""

import math
from dataclasses import replace

import pytest
from small_study import inputs
from splits import on_two_splits, with_groups

from artifact.contrasts.effect import IS_ABOVE, IS_BELOW, IS_WITHIN, Effect, chosen
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.contrasts import CONTRASTS
from artifact.papers.welling.results import FITTED, UNPENALISED
from artifact.results.reading import select
from artifact.results.scores import GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from heldout.evaluators import FULL, HALF
from heldout.models import EPCA, LDA, PLSA, TEM, VEM

TOKENS = 100


def found(name: str, given: Inputs, where: str = "") -> tuple[Effect, ...]:
    (contrast,) = (contrast for contrast in CONTRASTS if contrast.name == name)
    return chosen({name: tuple(effects(contrast, given))}, name, where)


def one(name: str, given: Inputs, where: str) -> Effect:
    (effect,) = found(name, given, where)
    return effect


def changed(given: Inputs, nats: float, **where: object) -> Inputs:
    """Return inputs with some scores raised by so many nats per token, and their perplexities lowered."""
    scores = given.scores.copy()
    rows = scores.index.isin(select(scores, **where).index)
    scores.loc[rows, "log_likelihood"] += nats * TOKENS
    scores.loc[rows, "perplexity"] *= math.exp(-nats)
    return replace(given, scores=scores)


def test_a_source_s_statement_names_its_place_and_every_name_stands_once() -> None:
    names = [contrast.name for contrast in CONTRASTS]
    assert len(set(names)) == len(names)
    own = [contrast.name for contrast in CONTRASTS if not contrast.source]
    assert own == ["vem-full", "lda-plsa-half", "lda-epca-half", "theorems"]


def test_versions_are_compared_under_one_constant_at_every_k() -> None:
    given = changed(inputs(), 0.2, model=VEM, topics=5, evaluator=HALF)
    half = {effect.topics: effect for effect in found("vem-half", given, "nips")}
    # perplexities are 1.01 times PLSA-HOF's
    assert {k: effect.estimate for k, effect in half.items()} == pytest.approx(
        {2: -math.log(1.01), 5: 0.2 - math.log(1.01), 10: -math.log(1.01)}
    )
    assert [effect.finding for effect in half.values()] == [IS_WITHIN, IS_ABOVE, IS_WITHIN]
    assert {effect.finding for effect in found("vem-full", given, "nips")} == {IS_WITHIN}


def test_temperatures_are_chosen_on_the_other_half_of_the_documents() -> None:
    given = inputs()
    own = (given.scores["model"] == TEM) & (given.scores["corpus"] == "nips")
    scores = given.scores.loc[own].reset_index(drop=True)
    scores[list(TOKENS_COLUMNS)] = TOKENS / GROUPS
    scores[list(NATS_COLUMNS)] = -6.0 * TOKENS / GROUPS
    better = scores["variant"] == "beta-0.50"
    scores.loc[better, [*NATS_COLUMNS[::2]]] += 1.0 * TOKENS / GROUPS  # groups 0, 2, .. alone gain a nat per token
    scores.loc[better, [*NATS_COLUMNS[1::2]]] -= 0.5 * TOKENS / GROUPS
    effect = one("tempering", replace(given, scores=scores), "nips: K = 5")
    # the even half chooses it, where the odd one loses half a nat; the odd half does not, and loses nothing
    assert effect.estimate == pytest.approx(-0.25)


def test_full_folding_in_steps_from_each_k_to_the_next_even_beyond_the_vocabulary() -> None:
    steps = {effect.topics: effect.estimate for effect in found("full-more-topics", inputs(), "cranfield")}
    # perplexity K^-.3, at fifty topics too, more than there are words
    assert steps == pytest.approx({5: 0.3 * math.log(5 / 2), 10: 0.3 * math.log(2), 50: 0.3 * math.log(5)})
    turned = changed(inputs(), -1.0, model=PLSA, topics=10, evaluator=FULL)
    assert one("full-more-topics", turned, "nips: K = 10").finding == IS_BELOW


def test_half_folding_in_overfits_from_its_best_k_to_the_largest_and_lies_below_full() -> None:
    effect = one("half-overfits", inputs(), "nips")
    # perplexity K^-.1 at 5 topics, K^.2 at 10, under the one small constant
    assert effect.estimate == pytest.approx(0.2 * math.log(10) + 0.1 * math.log(5))
    rising = one("half-overfits", changed(inputs(), 2.0, model=PLSA, topics=10, evaluator=HALF), "nips")
    assert (rising.estimate, rising.finding) == (0.0, IS_WITHIN)
    assert one("full-half", inputs(), "nips").estimate == pytest.approx(0.2 * math.log(10))  # K^-.3 and K^-.1


def test_lda_is_compared_under_each_prior_at_the_best_k_and_at_equal_ones() -> None:
    given = changed(inputs(), 1.0, model=LDA, variant=FITTED, topics=2, evaluator=HALF)
    best = {effect.part: effect.estimate for effect in found("lda-plsa-half-best", given, "nips")}
    # half of PLSA's perplexity under the first prior, twice under the other but for a nat at K = 2
    ten, two = 0.1 * math.log(10), 0.1 * math.log(2)
    assert best == pytest.approx({"first prior": math.log(2), "fitted prior": 1.0 - math.log(2) + two - ten})
    equal = {effect.topics: effect.estimate for effect in found("lda-plsa-half", given, "nips")}
    assert equal == pytest.approx({2: 1.0 - math.log(2), 5: -math.log(2), 10: -math.log(2)})


def test_epca_is_the_original_s_without_a_penalty() -> None:
    better = changed(inputs(), 0.3, model=EPCA, variant=UNPENALISED)
    for name, where, gain in (("lda-epca-half", "nips: K = 5", -0.3), ("epca-plsa-half-best", "nips", 0.3)):
        assert one(name, better, where).estimate - one(name, inputs(), where).estimate == pytest.approx(gain)


def test_a_topic_per_word_is_ahead_folded_in_and_behind_the_limit_once_normalised() -> None:
    ahead, behind = (one(name, inputs(), "nips").estimate for name in ("word-topics", "word-topics-normalised"))
    assert ahead == pytest.approx(math.log(1000.1 * 10**-0.3 / 40.0))  # perplexities, PLSA's with ten topics
    assert behind == pytest.approx(math.log(1000.1 * 2**-0.3 / 4e4) + 10.0 * 2 / TOKENS)  # with two, and its limit


def test_a_theorem_that_a_number_breaks_is_below() -> None:
    assert {effect.finding for effect in found("theorems", inputs())} == {IS_ABOVE}
    assert {effect.finding for effect in found("theorems", inputs(shift=20.0))} == {IS_BELOW}
    assert {effect.finding for effect in found("theorems", inputs(shift=1.0), "points of discrete latents below")} == {
        IS_ABOVE  # equal
    }


def test_ica_collapses_unless_its_columns_have_unit_length() -> None:
    free, unit = found("ica", on_two_splits(inputs()))
    assert (free.part, free.finding, unit.part, unit.finding) == ("free columns", IS_ABOVE, "unit columns", IS_BELOW)
    assert unit.estimate == pytest.approx(math.log(4.0))  # norms 1, .5, .25


def test_the_interval_holds_documents() -> None:
    given = on_two_splits(inputs())
    for name in ("vem-half", "full-half", "lda-epca-half-best"):
        for whole, held in zip(found(name, given), found(name, with_groups(given)), strict=True):
            assert held.estimate == pytest.approx(whole.estimate)
            assert held.shared + held.spread > whole.shared + whole.spread
