"""Buntine's figures show the scores and measurements that they should."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from drawn_corpora import GRIDS, SIZES, drawn, nats
from made_measurements import EXACT, SAMPLES, convergence_to_exact, errors_by_samples, measured
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from small_study import inputs, without

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine import figures
from artifact.papers.buntine.results import SHORT
from artifact.typesetting import style
from heldout.errors import InputError
from heldout.evaluators import FULL, PARTICLES

ESTIMATORS = tuple(SHORT)


def made(function: Callable[[Inputs], Figure], given: Inputs) -> Figure:
    with style.applied():
        figure = function(given)
        figure.draw_without_rendering()
    return figure


def test_errors_by_samples_and_their_ratio() -> None:
    """LR is off by 0.3 nats over the root of the samples, LRS by 0.4, and the second run twice as far."""
    made_up = errors_by_samples(lambda name, samples: 0.5 if name == PARTICLES else 5.0 / samples**0.5)
    left, right = made(figures.samples, measured(convergence_to_exact() + made_up)).axes
    curves = [np.asarray(line.get_ydata(), dtype=float) for line in left.get_lines()]
    np.testing.assert_allclose(curves, [off * np.sqrt(2.5 / np.array(SAMPLES)) for off in (0.3, 0.4)] * len(EXACT))
    assert [text.get_text() for text in left.texts if "SYN" not in text.get_text()] == ["LR", "LRS"]
    sizes = [f"$K = {topics}$, $n = {tokens}$" for topics, (tokens, _) in EXACT.items()]
    ratios = {str(line.get_label()): np.asarray(line.get_ydata(), dtype=float) for line in right.get_lines()[1:]}
    assert list(ratios) == [*(f"one: {size}" for size in sizes), "s10: $K = 10$", "drawn: $K = 4$"]
    np.testing.assert_allclose(ratios[f"one: {sizes[0]}"], 0.75)
    np.testing.assert_allclose(ratios["drawn: $K = 4$"], [1.0, 0.1 * math.sqrt(1000.0)])
    assert {(axis.get_xscale(), axis.get_yscale()) for axis in (left, right)} == {("log", "log")}


def test_a_row_per_corpus_a_panel_per_estimator_a_line_per_k() -> None:
    figure, corpora = made(figures.realistic, drawn()), ("s10", "s10s", "s40")
    assert len(figure.axes) == 3 * len(corpora)
    for i, axis in enumerate(figure.axes):
        corpus, evaluator = corpora[i // 3], ESTIMATORS[i % 3]
        *lines, truth = axis.lines
        assert len(lines) == 3
        for line, topics in zip(lines, GRIDS[corpus], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), SIZES)
            expected = [math.exp(-nats(corpus, evaluator, topics, size, 0)) for size in SIZES]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), expected)
        widths = [line.get_linewidth() for line in lines]
        assert widths.index(max(widths)) == 1  # the true K
        assert len({str(line.get_color()) for line in lines}) == 3
        expected_truth = math.exp(5.9 + (0.001 if evaluator == PARTICLES else 0.0))
        np.testing.assert_allclose(np.asarray(truth.get_ydata()), expected_truth)
    legends = [axis.get_legend() for axis in figure.axes]
    texts = [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]
    assert texts == [
        text
        for corpus in ("s10", "s40")  # s10s has the grid of s10
        for text in (*(f"$K = {k}$" + " (true)" * (i == 1) for i, k in enumerate(GRIDS[corpus])), "true model")
    ]


def test_selected_numbers_and_errors_of_the_true_model() -> None:
    figure = made(figures.model_selection, drawn())
    cells, errors = figure.axes
    evaluators = [text.get_text() for text in cells.get_yticklabels()]
    assert evaluators[:2] == [figures.PARTICLE_FILTER_LABEL, "left-to-right sequential"]
    assert evaluators[-2:] == ["full folding-in", "half folding-in"]
    shown: dict[int, list[str]] = {}
    for text in cells.texts[:]:
        if text.get_text().isdigit():
            shown.setdefault(round(text.get_position()[1]), []).append(text.get_text())
    assert shown[0] == ["10"] * 6 + ["40"] * 3
    full = shown[evaluators.index("full folding-in")]
    for corpus, own in zip(("s10", "s10s", "s40"), (full[:3], full[3:6], full[6:]), strict=True):
        best = [max(GRIDS[corpus], key=lambda k: nats(corpus, FULL, k, size, 0)) for size in SIZES]
        assert own == [str(k) for k in best]
    right = [patch for patch in cells.patches if same_color(patch.get_facecolor(), style.DARK)]
    assert len(right) == sum(text.get_color() == style.WHITE for text in cells.texts) >= 9
    points = np.concatenate([np.asarray(container[0].get_xdata()) for container in errors.containers])
    assert len(points) == 3 * (len(evaluators) - 1)  # without the one of another target
    assert points.min() == pytest.approx(-0.02)
    assert "(another target)" in [text.get_text() for text in errors.texts]


def test_without_scores_there_is_no_figure() -> None:
    with pytest.raises(InputError, match="measure convergence-to-exact first"):
        figures.samples(inputs(without("convergence-to-exact", "mean-ratio")))
    for function in (figures.realistic, figures.model_selection):
        with pytest.raises(InputError, match="measure model-selection first"):
            function(inputs(without("model-selection")))
