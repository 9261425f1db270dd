"""Hofmann's figures from made-up rows: what every curve is, and what a figure says of its data."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from made_hofmann import KEPT, PATHS, RANK, TOPICS, as_claimed, hofmann_inputs
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from small_study import inputs, without

from artifact.papers.hofmann import figures
from artifact.papers.hofmann.results import (
    COUNTS,
    EARLY,
    FOLDED_IN,
    HEATED,
    NAMES,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    VALIDATED,
    Model,
)
from artifact.typesetting import style
from heldout.errors import InputError
from heldout.evaluators import HALF, REFERENCE

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


def test_the_upper_panels_are_figure_5() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    assert [axis.get_title() for axis in figure.axes] == ["Medline", "Cranfield", "", ""]
    for panel in (0, 1):
        for model in (EARLY, HEATED):
            x, y = labelled(figure, panel, NAMES[model])
            assert x == list(TOPICS)
            assert y == pytest.approx(perplexities(model))
        for reading in READINGS:
            x, y = labelled(figure, panel, NAMES[reading])
            assert x == [2, 8, 32, RANK]
            assert y == pytest.approx(perplexities(reading, grid=(2, 8, 32, RANK)))
        stars = [line for line in figure.axes[panel].get_lines() if line.get_marker() == "*"]
        assert [float(np.asarray(star.get_xdata())[0]) for star in stars] == [64.0, 64.0]
        heights = [float(np.asarray(star.get_ydata())[0]) for star in stars]
        assert heights == pytest.approx([perplexities(model)[-1] for model in (EARLY, HEATED)])
        levels = {round(y[0]) for y in map(heights_of, figure.axes[panel].get_lines()) if len(y) == 2 and y[0] == y[1]}
        assert levels == {round(perplexities(model, grid=(0,))[0]) for model in (*UNIGRAMS, COUNTS)}
        assert any(list(np.asarray(line.get_xdata())) == [RANK, RANK] for line in figure.axes[panel].get_lines())


def test_a_models_look_is_that_of_the_other_figures_and_hofmanns() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    looks = {str(line.get_label()): line for line in lines(figure, 0)}
    for model in (EARLY, HEATED, READINGS[0]):
        assert to_hex(str(looks[NAMES[model]].get_color())) == style.COLOURS[model[0]].lower()
    assert looks[NAMES[HEATED]].get_linestyle() == "-"
    assert looks[NAMES[EARLY]].get_linestyle() != "-"


def test_a_corpus_of_his_study_alone_has_its_panels() -> None:
    given = hofmann_inputs(("medline", "brown-pairs"))
    for figure in (figures.figure_5(given), figures.figure_5_linear(given), figures.annealing_path(given)):
        assert [axis.get_title().split(",")[0] for axis in figure.axes[:2]] == ["Medline", "Brown pairs"]


def test_the_lower_panels_are_the_other_scores() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    for panel in (2, 3):
        for label, suffix, evaluator in (
            ("Hofmann's", "", SPECIFIC),
            ("fully folded in", "", FOLDED_IN),
            ("predictive, flat prior", "", PREDICTIVE),
            ("predictive, chosen prior", VALIDATED, PREDICTIVE),
            ("half folding-in", "", HALF),
            ("likelihood, flat prior", "", REFERENCE),
            ("likelihood, chosen prior", VALIDATED, REFERENCE),
        ):
            x, y = labelled(figure, panel, label)
            assert x == list(TOPICS)
            assert y == pytest.approx(perplexities((HEATED[0], HEATED[1] + suffix), evaluator))
        dotted = [list(np.asarray(line.get_ydata())) for line in lines(figure, panel) if line.get_linestyle() != "-"]
        expected = [
            perplexities((EARLY[0], EARLY[1] + suffix), evaluator)
            for suffix, evaluator in (("", FOLDED_IN), ("", HALF), ("", REFERENCE), (VALIDATED, REFERENCE))
        ]
        assert np.allclose(dotted, expected)


def test_every_tick_is_labelled_with_its_own_number() -> None:
    figure = figures.figure_5(hofmann_inputs(CORPORA))
    for axis in figure.axes:
        ticks = list(axis.get_xticks())
        labels = axis.xaxis.get_major_formatter().format_ticks(ticks)
        assert [(round(at), label) for at, label in zip(ticks, labels, strict=True)] == [(2, "2"), (64, "64")]


def test_a_folded_in_point_that_gives_a_word_nothing_is_not_drawn() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return -math.inf if (model, evaluator, k) == (HEATED, HALF, 8) else as_claimed(model, evaluator, k)

    figure = figures.figure_5(hofmann_inputs(CORPORA, value))
    assert labelled(figure, 2, "half folding-in")[0] == [2, 32, 64]


def test_his_axes_are_linear_and_begin_at_zero() -> None:
    given = hofmann_inputs(CORPORA)
    figure = figures.figure_5_linear(given)
    for panel, axis in enumerate(figure.axes):
        assert (axis.get_xscale(), axis.get_yscale()) == ("linear", "linear")
        assert axis.get_xlim()[0] == axis.get_ylim()[0] == 0.0
        assert labelled(figure, panel, NAMES[HEATED]) == labelled(figures.figure_5(given), panel, NAMES[HEATED])


def test_the_path_shows_both_strategies_with_beta_below() -> None:
    figure = figures.annealing_path(hofmann_inputs(CORPORA))
    assert [axis.get_title() for axis in figure.axes[:2]] == [f"Medline, K = {KEPT}", f"Cranfield, K = {KEPT}"]
    for panel in (0, 1):
        for model, path in PATHS.items():
            x, y = labelled(figure, panel, NAMES[model])
            assert x == list(range(1, len(path) + 1))
            assert y == [perplexity for _, perplexity in path]
        betas = [list(np.asarray(line.get_ydata())) for line in lines(figure, panel + 2)]
        assert sorted(betas) == sorted([beta for beta, _ in path] for path in PATHS.values())
        stars = {float(np.asarray(s.get_ydata())[0]) for s in figure.axes[panel].get_lines() if s.get_marker() == "*"}
        assert stars == {600.0, 620.0, 800.0}


def test_without_rows_it_says_what_to_measure() -> None:
    for function in (figures.figure_5, figures.figure_5_linear, figures.annealing_path):
        with pytest.raises(InputError, match="measure tempering"):
            function(inputs(without("tempering", "latent-semantic-analysis")))
    with pytest.raises(InputError, match="path_topics"):
        figures.annealing_path(replace(hofmann_inputs(CORPORA), measurements=None))


@pytest.mark.parametrize("synthetic", [True, False])
def test_synthetic_data_say_so(synthetic: bool) -> None:
    given = hofmann_inputs(CORPORA, synthetic=synthetic)
    for figure in (figures.figure_5(given), figures.figure_5_linear(given), figures.annealing_path(given)):
        marked = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert all(m == synthetic for m in marked)
