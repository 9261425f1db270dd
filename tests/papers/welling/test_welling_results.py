"""Curves, what is counted on them, and how optimistic the choice of a best one is."""

import pandas as pd
import pytest
from small_study import GIBBS, MAIN, inputs, made_up, row, small_study

from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.papers.welling.results import (
    Curve,
    Steps,
    best,
    curves,
    ends_above_its_lowest,
    held_back_choice,
    lies_below,
    steps,
)
from heldout.scores import COLUMNS


def curve(*values: float, smoothing: float = 1e-4, seed: int = 0) -> Curve:
    return Curve(smoothing, {(10 * (i + 1), seed): value for i, value in enumerate(values)})


def test_steps_count_falls_rises_and_neither_on_each_seeds_own_curve() -> None:
    two_seeds = Curve(0.1, {(5, 0): 9.0, (10, 0): 8.0, (20, 0): 8.0, (5, 1): 9.0, (10, 1): 9.5, (20, 1): 7.0})
    assert steps([two_seeds]) == Steps(falls=2, rises=1, total=4)
    assert steps([curve(3.0, 2.0, 1.0), curve(1.0, 2.0)]) == Steps(2, 1, 3)
    assert steps([curve(3.0)]) == Steps(0, 0, 0)


def test_a_mean_over_seeds_hides_no_rise() -> None:
    opposed = Curve(0.1, {(5, 0): 10.0, (10, 0): 5.0, (5, 1): 10.0, (10, 1): 11.0})
    assert opposed.means[1] < opposed.means[0]
    assert steps([opposed]) == Steps(1, 1, 2)


def test_a_topic_number_that_a_seed_lacks_is_no_step() -> None:
    gap = Curve(0.1, {(5, 0): 9.0, (10, 0): 8.0, (20, 0): 7.0, (5, 1): 9.0, (20, 1): 10.0})
    assert gap.topics == (5, 10, 20)
    assert gap.at(10) == [8.0]
    assert steps([gap]) == Steps(falls=2, rises=1, total=3)


def test_best_is_the_curve_with_the_lowest_mean_value_anywhere() -> None:
    low_once, low_throughout = curve(9.0, 1.0, 9.0, smoothing=1e-2), curve(2.0, 2.0, 2.0, smoothing=1e-3)
    assert best([low_throughout, low_once]) is low_once
    # one lucky seed does not make a mean
    lucky = Curve(1e-5, {(10, 0): 0.5, (10, 1): 9.0})
    assert best([low_once, lucky]) is low_once
    assert best([curve(1.0, smoothing=1e-1), curve(1.0, smoothing=1e-7)]) == curve(1.0, smoothing=1e-7)
    assert best([]) is None


def test_lowest_point_and_turn() -> None:
    assert curve(3.0, 1.0, 2.0).lowest() == (1e-4, 20, 1.0)
    assert ends_above_its_lowest(curve(3.0, 1.0, 2.0))
    assert not ends_above_its_lowest(curve(3.0, 2.0, 1.0))


def test_curves_select_one_variant_evaluator_and_the_reported_chains() -> None:
    scores = inputs().scores
    lda = curves(scores, corpus="nips", model="lda", variant=GIBBS, evaluator=FULL)
    assert [c.smoothing for c in lda] == [0.0]
    # single chains score 3 and 5 percent worse than "all"
    assert lda[0].points[5, 0] == pytest.approx(0.5 * 1000.0 * 1.0001 * 5**-0.3)
    plsa = curves(scores, corpus="cranfield", model="plsa-hof", variant=MAIN, evaluator=HALF, topics=[2, 5], seeds=[1])
    assert [c.smoothing for c in plsa] == [1e-10, 1e-4, 1e-1]
    assert set(plsa[0].points) == {(2, 1), (5, 1)}


def test_a_point_reported_twice_is_refused() -> None:
    twice = pd.DataFrame([row("nips", "plsa-hof", MAIN, 5, 0.1, "none", FULL, 0, p) for p in (7.0, 8.0)])
    twice.columns = pd.Index(COLUMNS)
    with pytest.raises(InputError, match=r"5 topics, constant 0\.1, seed 0 is reported twice"):
        curves(twice, corpus="nips", model="plsa-hof", variant=MAIN, evaluator=FULL)


def test_one_curve_below_another_is_counted_where_both_are_known() -> None:
    assert lies_below(curve(1.0, 2.0, 3.0), curve(2.0, 2.0, 1.0, 0.0)) == Steps(1, 1, 3)
    assert lies_below(None, curve(1.0)) == Steps(0, 0, 0)


def test_a_constant_chosen_on_other_seeds_is_never_better() -> None:
    # seed 0 does best under 1e-10, seed 1 under 1e-4
    def p(topics: int, smoothing: float, evaluator: str, seed: int) -> float:  # noqa: ARG001
        favourite = {0: 1e-10, 1: 1e-4}[seed]
        return made_up(topics, 0.0, FULL, 0) * (1.0 if smoothing == favourite else 1.2)

    assert held_back_choice(inputs(p=p), "nips", HALF) == pytest.approx([0.2, 0.2])
    assert held_back_choice(inputs(), "nips", HALF) == [0.0, 0.0]
    assert held_back_choice(inputs(small_study(seeds=[0])), "nips", HALF) == []
