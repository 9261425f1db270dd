"""Ticks that tell neighbours apart, and a colour for every evaluator that is drawn beside others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.results import SHORT
from heldout.papers.likelihood.figures import OPTIMISM_CURVES, REPAIRS
from heldout.typesetting import style


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
def test_labels_of_neighbouring_ticks_differ_and_are_where_they_say(low: float, width: float) -> None:
    with style.applied():
        axis = Figure().subplots()
        axis.set_ylim(low, low + width)
        style.plain_ticks(axis.yaxis)
        ticks = axis.yaxis.get_majorticklocs()
        labels = [text.get_text() for text in axis.get_yticklabels()]
    assert len(set(labels)) == len(labels) == len(ticks) >= 2
    for label, tick in zip(labels, ticks, strict=True):
        shown = float(label.replace(",", "").replace("\N{MINUS SIGN}", "-"))
        assert shown == pytest.approx(tick, abs=1e-6 * width)


@pytest.mark.parametrize(("numbers", "shown"), [({2, 3, 8, 40}, [2, 8, 40]), ({5}, [5]), ({1, 4, 16}, [1, 4, 16])])
def test_the_largest_number_is_labelled_and_others_lie_apart(numbers: set[int], shown: list[int]) -> None:
    assert style.sparse_ticks(numbers) == shown


def test_evaluators_of_one_figure_have_colours_of_their_own() -> None:
    for evaluators in (
        {name for name, *_ in OPTIMISM_CURVES},
        {name for name, *_ in REPAIRS},
        {*METHODS, "exact-marginal"},
        set(SHORT),
    ):
        assert len({style.EVALUATOR_COLOURS[name] for name in evaluators}) == len(evaluators) >= 3


def test_labels_of_crowded_ticks_are_left_out_but_never_the_last() -> None:
    assert style.tick_labels([5, 10, 20, 50]) == ["5", "10", "20", "50"]
    crowded = style.tick_labels([5, 10, 20, 50, 100, 200, 400, 800, 4000])
    assert crowded[-1] == "4000"
    assert "" in crowded
    assert style.tick_labels([7]) == ["7"]


def test_colours_of_models_differ() -> None:
    assert len(set(style.COLOURS.values())) == len(style.COLOURS) == len(style.MODEL_NAMES)
