"""The contrasts of Buntine (2009), on made-up errors and scores from which each effect follows by hand."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from drawn_corpora import drawn
from made_measurements import calibration, convergence_to_exact, errors_by_samples, measured
from small_study import inputs, without

from artifact.contrasts.effect import IS_ABOVE, IS_BELOW, IS_OPEN, IS_WITHIN, Effect
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.contrasts import CONTRASTS
from artifact.papers.buntine.experiments.model_selection import LESS_REFERENCE
from artifact.papers.buntine.results import GAMMAS
from heldout.evaluators import MEAN_FIELD_FIRST, PARTICLES, SEQUENTIAL
from heldout.models import LDA

EXPERIMENTS = ("calibration", "convergence-to-exact", "mean-ratio", "model-selection")


def estimated(name: str, given: Inputs) -> dict[tuple[str, str], Effect]:
    (contrast,) = (contrast for contrast in CONTRASTS if contrast.name == name)
    return {(effect.corpus, effect.part): effect for effect in effects(contrast, given)}


@pytest.mark.parametrize("name", [contrast.name for contrast in CONTRASTS])
def test_nothing_is_estimated_where_nothing_was_measured(name: str) -> None:
    assert estimated(name, inputs(without(*EXPERIMENTS))) == {}
    assert estimated(name, replace(inputs(without(*EXPERIMENTS)), measurements=None)) == {}


def test_the_published_table_agrees_with_itself_and_another_does_not() -> None:
    off = {(0.5, PARTICLES): (0.0128 + 0.05, 0.0429), (1.0, SEQUENTIAL): (0.00457, 0.0951)}
    given = measured(calibration(GAMMAS, off))
    means, spreads = (estimated(f"table-1-{name}", given) for name in ("mean", "spread"))
    assert len(means) == len(spreads) == 20
    assert [part for (_, part), effect in means.items() if effect.finding == IS_ABOVE] == ["LR, gamma 0.5"]
    assert [part for (_, part), effect in spreads.items() if effect.finding == IS_ABOVE] == ["LRS, gamma 1"]
    effect = means["none", "LR, gamma 0.5"]
    assert [effect.estimate, effect.error] == pytest.approx([0.05, 0.0429 * math.sqrt(0.02)])
    assert spreads["none", "LRS, gamma 1"].estimate == pytest.approx(math.log(3.0), abs=1e-3)


def test_a_bias_shows_with_more_pairs() -> None:
    """A mean of 0.0014 and a standard deviation of 0.01, over 100 pairs and over 1,000."""
    found = estimated("lrs-bias", measured(calibration((0.2,), {(0.2, SEQUENTIAL): (0.0014, 0.01)})))
    assert {part: effect.finding for (_, part), effect in found.items()} == {
        "100 pairs, gamma 0.2": IS_OPEN,
        "1,000 pairs, gamma 0.2": IS_ABOVE,
    }


@pytest.mark.parametrize(("deviation", "finding"), [(0.04, IS_WITHIN), (0.4, IS_ABOVE), (0.004, IS_BELOW)])
def test_mean_field_is_held_to_particles(deviation: float, finding: str) -> None:
    cells = {(0.2, PARTICLES): (0.0, 0.04), (0.2, MEAN_FIELD_FIRST): (0.0, deviation)}
    (effect,) = estimated("mfi-lr", measured(calibration((0.2,), cells))).values()
    assert effect.finding == finding
    assert math.exp(effect.estimate) == pytest.approx(deviation / 0.04)


def test_errors_by_samples_are_roots_of_mean_squares_without_the_references() -> None:
    """LR 0.5 nats whatever the samples, LRS 5 over their root."""
    found = estimated("lr-lrs", measured(errors_by_samples(lambda name, n: 0.5 if name == PARTICLES else 5.0 / n**0.5)))
    assert list(found) == [(c, f"{n} samples") for n in ("100", "1,000") for c in ("s10", "drawn")]
    assert [effect.finding for effect in found.values()] == [IS_WITHIN] * 2 + [IS_ABOVE] * 2
    effect = found["s10", "1,000 samples"]
    assert [math.exp(effect.estimate), effect.error] == pytest.approx([math.sqrt(10.0), math.sqrt(2.0 * 0.0075)])


def test_the_limit_is_that_of_the_runs_with_the_most_samples() -> None:
    """Off by 0.003 and 0.006 nats, LR, and by 0.004 and 0.008, LRS, on 14 tokens."""
    found = estimated("limit", measured(convergence_to_exact((4,))))
    assert {part: effect.estimate for (_, part), effect in found.items()} == pytest.approx(
        {"LR, K = 4": 0.0045 / 14, "LRS, K = 4": 0.006 / 14}
    )
    assert {effect.replicates for effect in found.values()} == {2}


def test_sets_of_documents_are_the_replicates_of_a_bias() -> None:
    given = drawn()
    table = given.measurements.copy() if given.measurements is not None else pd.DataFrame()
    rows = (table["quantity"] == PARTICLES + LESS_REFERENCE) & (table["model"] == LDA)
    table.loc[rows, "value"] = -table["topics"].map({5: 1e-3, 10: 2e-3, 20: 3e-3}).fillna(2e-3)[rows]
    effect = estimated("low", replace(given, measurements=table))["s10", "LR"]
    assert [effect.estimate, effect.error] == pytest.approx([2e-3, 1e-3 / math.sqrt(3.0)])
    assert (effect.replicates, effect.freedom) == (3, 2.0)


def test_scores_by_which_particles_rise_and_the_true_number_is_found() -> None:
    given = drawn(seeds=(0, 1))
    rise = estimated("lr-rise", given)["s40", ""]
    assert rise.finding == IS_ABOVE
    assert rise.estimate == pytest.approx(5.0 / 40.0 - 5.0 / 20.0 + 0.002 * (16.0 * 20.0 - 4.0))
    lead = estimated("true-topics", given)["s10s", "LRS, K = 5"]
    assert (lead.finding, lead.topics) == (IS_ABOVE, 5)
    assert lead.estimate == pytest.approx(0.2 * math.log(2.0))
    assert lead.error == pytest.approx(math.sqrt(2.0) * 1e-4)
