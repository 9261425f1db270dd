"""Figures 1 to 9 show the scores that they should, and say how they were chosen."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from small_study import MAIN, corpora_table, made_up, row, small_study
from small_study import inputs as of_small_study

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures.figures_1_to_3_versions import versions
from artifact.papers.welling.figures.figures_4_to_6_smoothing import (
    added_after_training,
    added_at_every_m_step,
    beyond_the_vocabulary,
    overfitting,
)
from artifact.papers.welling.figures.figures_7_to_9_comparison import comparison
from artifact.results.scores import COLUMNS
from artifact.typesetting import latex, style
from heldout.evaluators import FULL, HALF

HOF = {2: 900.0, 5: 700.0, 10: 600.0}


def study() -> dict[str, Any]:
    changed = small_study()
    versions = {
        "plsa-vem": {"variant": MAIN, "smoothed": True, "train": {}, "fold_in": {}},
        "plsa-tem": {
            "variant": "tempered",
            "sweep": {"setting": "beta", "values": [0.5, 0.9, 1.0]},
            "smoothing": [1e-4, 1e-1],
            "seeds": [0],
            "train": {},
            "fold_in": {},
        },
    }
    changed["models"] = {**changed["models"], **versions}
    return changed


def tempered(topics: int, beta: float, constant: float, evaluator: str) -> float:
    """Return a perplexity: beta 0.9 is best at 2 topics, 0.5 at 5, 1.0 at 10; each under another constant."""
    best = {2: (0.9, 1e-4), 5: (0.5, 1e-1), 10: (1.0, 1e-4)}[topics]
    return HOF[topics] * (0.8 if (beta, constant) == best else 1.5) * (2.0 if evaluator == HALF else 1.0)


def inputs(*, models: tuple[str, ...] = ("plsa-hof", "plsa-vem", "plsa-tem"), synthetic: bool = False) -> Inputs:
    rows = []
    for evaluator, factor in ((FULL, 1.0), (HALF, 2.0)):
        for k, value in HOF.items():
            for constant, worse in ((1e-10, 1.7), (1e-4, 1.0), (1e-1, 1.3)):
                for seed in (0, 1):
                    p = value * factor * worse * (1.0 + 0.1 * seed)
                    rows.append(row("medline", "plsa-hof", MAIN, k, constant, "none", evaluator, seed, p))
                    rows.append(row("medline", "plsa-vem", MAIN, k, constant, "none", evaluator, seed, 1.01 * p))
            for beta in (0.5, 0.9, 1.0):
                for constant in (1e-4, 1e-1):
                    p = tempered(k, beta, constant, evaluator)
                    variant = f"beta-{beta:.2f}"
                    rows.append(row("medline", "plsa-tem", variant, k, constant, "none", evaluator, 0, p))
    asked = study()
    scores = pd.DataFrame([r for r in rows if r[1] in models], columns=list(COLUMNS))
    return Inputs(scores=scores, corpora=corpora_table(asked, synthetic=synthetic), study=asked)


def drawn(given: Inputs) -> Figure:
    with style.applied():
        figure = versions(given, "medline")
        figure.draw_without_rendering()
    return figure


def xs(line: Line2D) -> list[float]:
    return [float(x) for x in np.asarray(line.get_xdata())]


def ys(line: Line2D) -> list[float]:
    return [float(y) for y in np.asarray(line.get_ydata())]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text)]


def points(axis: Axes, model: str) -> dict[int, float]:
    """Return the points of the line in a model's colour."""
    (line,) = [line for line in axis.lines if line.get_color() == style.COLOURS[model]]
    return {int(k): perplexity for k, perplexity in zip(xs(line), ys(line), strict=True)}


def labels(axis: Axes) -> list[str]:
    legend = axis.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(("panel", "factor"), [(0, 1.0), (1, 2.0)])
def test_shows_each_versions_best(panel: int, factor: float) -> None:
    axis = drawn(inputs()).axes[panel]
    # seed 0 alone, which is what the tempered runs have: another seed is another split
    assert points(axis, "plsa-hof") == pytest.approx({k: factor * p for k, p in HOF.items()})
    assert points(axis, "plsa-vem") == pytest.approx({k: 1.01 * factor * p for k, p in HOF.items()})
    # the lowest over beta and constant, point by point: no single curve goes there
    assert points(axis, "plsa-tem") == pytest.approx({k: 0.8 * factor * p for k, p in HOF.items()})
    names = labels(axis)
    assert [name.split(",")[0] for name in names] == ["PLSA-HOF", "PLSA-VEM", "PLSA-TEM"]
    assert "10^{-4}" in names[0]
    assert "chosen on the test set" in names[2]
    assert axis.get_xscale() == "log"
    # all seeds make a band; the tempered runs have one
    assert len(axis.collections) == 2
    highest = max(float(np.asarray(path.vertices)[:, 1].max()) for path in axis.collections[0].get_paths())
    assert highest == pytest.approx(1.1 * factor * HOF[2])


def test_a_version_that_was_not_run_is_not_shown() -> None:
    axis = drawn(inputs(models=("plsa-hof",))).axes[0]
    assert len(axis.lines) == 1
    assert [name.split(",")[0] for name in labels(axis)] == ["PLSA-HOF"]


def test_smoothing_figures_show_every_constant_of_their_own_reading_in_both_panels() -> None:
    for draw, factor in ((added_after_training, 1.0), (added_at_every_m_step, 1.1)):
        figure = draw(of_small_study(), "cranfield")
        for axis, evaluator in zip(figure.axes[:2], (FULL, HALF), strict=True):
            assert len(axis.lines) == 3
            (line,) = [line for line in axis.lines if line.get_color() == axis.lines[0].get_color()]
            assert xs(line) == [2, 5, 10]
            seeds = (0, 1) if factor == 1.0 else (0,)
            expected = [factor * sum(made_up(k, 1e-10, evaluator, s) for s in seeds) / len(seeds) for k in (2, 5, 10)]
            assert ys(line) == pytest.approx(expected)
            assert len(axis.collections) == (3 if len(seeds) > 1 else 0)  # bands over seeds
        low, high = figure.axes[0].get_ylim(), figure.axes[1].get_ylim()
        assert low == high
        assert "perplexity per token" in texts(figure)
        assert "$10^{-10}$" in texts(figure)


def test_overfitting_is_drawn_of_the_first_corpus_and_of_the_last() -> None:
    given = of_small_study()
    axes = overfitting(given).axes[:3]
    last = latex.corpus_title(given.settings.corpora[:3][-1])
    assert [axis.get_title() for axis in axes] == ["Cranfield, full", "Cranfield, half", f"{last}, half"]
    for axis, evaluator in zip(axes, (FULL, HALF), strict=False):
        expected = [sum(made_up(k, 1e-10, evaluator, s) for s in (0, 1)) / 2.0 for k in (2, 5, 10)]
        assert ys(axis.lines[0]) == pytest.approx(expected)


def test_comparison_names_each_panels_own_best_constant_and_keeps_the_models_colours() -> None:
    figure = comparison(of_small_study(), "cranfield")
    labels = [line.get_label() for axis in figure.axes[:2] for line in axis.lines]
    # half folding-in turns up under the smallest constant, so its lowest value lies under the next
    plsa, epca = (f"{model}, constant $10^{{-10}}$" for model in ("PLSA-HOF", "EPCA, unpenalised"))
    priors = [f"LDA, $\\alpha = {total}\\,/\\,K$" for total in (50, 5)] + ["LDA, $\\alpha$ and $\\beta$ fitted"]
    assert labels == [plsa, epca, *priors, "PLSA-HOF, constant $10^{-4}$", epca, *priors]  # EPCA has fewer topics
    colours = [line.get_color() for line in figure.axes[0].lines]
    assert colours == [style.COLOURS[model] for model in ("plsa-hof", "epca", *["lda"] * 3)]
    main, sparse, fitted = (ys(line) for line in figure.axes[0].lines[2:])
    assert sparse == pytest.approx([0.8 * p for p in main])
    assert fitted == pytest.approx([4.0 * p for p in main])


def test_beyond_marks_the_vocabulary_and_reaches_past_it() -> None:
    figure = beyond_the_vocabulary(of_small_study())
    assert "vocabulary\n40 words" in texts(figure)
    for axis in figure.axes[:2]:
        assert max(max(xs(line)) for line in axis.lines) == 50
        assert any(xs(line) == [40, 40] for line in axis.lines)
