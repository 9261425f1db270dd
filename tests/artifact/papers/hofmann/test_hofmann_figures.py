"""Hofmann's figure from made-up rows: what every curve is, and what it says of its data."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from made_hofmann import RANK, TOPICS, as_claimed, hofmann_inputs
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from small_study import inputs, without

from artifact.papers.hofmann import figures
from artifact.papers.hofmann.results import (
    COUNTS,
    EARLY,
    HEATED,
    NAMES,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    Model,
)
from artifact.typesetting import style
from heldout.errors import InputError

CORPORA = ("medline", "cranfield")


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def perplexities(model: Model, evaluator: str = SPECIFIC, grid: tuple[int, ...] = TOPICS) -> list[float]:
    return [math.exp(-as_claimed(model, evaluator, k)) for k in grid]


def heights_of(line: Line2D) -> list[float]:
    return [float(y) for y in np.asarray(line.get_ydata())]


def lines(figure: Figure, panel: int) -> list[Line2D]:
    """Return a panel's lines of more than two points: no baselines, stars or ranks."""
    return [line for line in figure.axes[panel].get_lines() if len(np.asarray(line.get_xdata())) > 2]


def labelled(figure: Figure, panel: int, label: str) -> tuple[list[float], list[float]]:
    (line,) = (line for line in lines(figure, panel) if line.get_label() == label)
    return list(np.asarray(line.get_xdata())), list(np.asarray(line.get_ydata()))


def test_a_panel_per_corpus_is_figure_5_with_the_predictive_in_it() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    assert [axis.get_title() for axis in figure.axes] == ["Medline", "Cranfield"]
    for panel in (0, 1):
        for label, model, evaluator in (
            (NAMES[EARLY], EARLY, SPECIFIC),
            (NAMES[HEATED], HEATED, SPECIFIC),
            (figures.PREDICTIVE_LABEL, HEATED, PREDICTIVE),
        ):
            x, y = labelled(figure, panel, label)
            assert x == list(TOPICS)
            assert y == pytest.approx(perplexities(model, evaluator))
        x, y = labelled(figure, panel, figures.LSA_LABEL)
        assert x == [2, 8, 32, RANK]
        readings = [perplexities(reading, grid=(2, 8, 32, RANK)) for reading in READINGS]
        assert y == pytest.approx(list(map(min, *readings)))
        (star,) = (line for line in figure.axes[panel].get_lines() if line.get_marker() == "*")
        assert heights_of(star) == pytest.approx([perplexities(HEATED)[-1]])
        levels = {round(y[0]) for y in map(heights_of, figure.axes[panel].get_lines()) if len(y) == 2 and y[0] == y[1]}
        assert levels == {round(perplexities(model, grid=(0,))[0]) for model in (*UNIGRAMS, COUNTS)}
        assert any(list(np.asarray(line.get_xdata())) == [RANK, RANK] for line in figure.axes[panel].get_lines())


def test_a_models_look_is_that_of_the_other_figures_and_hofmanns() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    looks = {str(line.get_label()): line for line in lines(figure, 0)}
    for label, model in ((NAMES[EARLY], EARLY), (NAMES[HEATED], HEATED), (figures.LSA_LABEL, READINGS[0])):
        assert to_hex(str(looks[label].get_color())) == style.COLOURS[model[0]].lower()
    assert looks[NAMES[HEATED]].get_linestyle() == "-"
    assert looks[NAMES[EARLY]].get_linestyle() != "-"


def test_a_corpus_of_his_study_alone_has_its_panel() -> None:
    figure = figures.figure_5(hofmann_inputs(("medline", "brown-pairs")))
    assert [axis.get_title() for axis in figure.axes] == ["Medline", "Brown pairs"]


def test_every_tick_is_labelled_with_its_own_number() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    for axis in figure.axes:
        ticks = list(axis.get_xticks())
        labels = axis.xaxis.get_major_formatter().format_ticks(ticks)
        assert [(round(at), label) for at, label in zip(ticks, labels, strict=True)] == [(2, "2"), (64, "64")]


def test_a_folded_in_point_that_gives_a_word_nothing_is_not_drawn() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return -math.inf if (model, evaluator, k) == (HEATED, SPECIFIC, 8) else as_claimed(model, evaluator, k)

    figure = figures.figure_5(hofmann_inputs(CORPORA, value))
    assert labelled(figure, 0, NAMES[HEATED])[0] == [2, 32, 64]


def test_without_rows_it_says_what_to_measure() -> None:
    with pytest.raises(InputError, match="measure tempering"):
        figures.figure_5(inputs(without("tempering", "latent-semantic-analysis")))
