"""Figures 4 to 6: PLSA against topics, one curve per constant, full and half folding-in; as one; beyond V topics."""

from collections.abc import Mapping, Sequence
from typing import Any

import seaborn
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from heldout.evaluators import FOLDING_IN, FULL
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.papers.welling.results import Curve, beyond_curves, study_curves
from heldout.study import SECOND_READING
from heldout.typesetting import latex, style

MOST_CORPORA = 3  # side by side


def first_reading(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added once, after training."""
    return _reading(inputs, corpus, inputs.settings.variant(PLSA))


def small_multiple(inputs: Inputs) -> Figure:
    """Draw the same for all corpora at once: a column per corpus, full folding-in above, half folding-in below."""
    corpora = inputs.settings.corpora[:MOST_CORPORA]
    figure = Figure(figsize=(style.WIDTH, 4.3))
    grid = figure.subplots(len(FOLDING_IN), len(corpora), sharex=True, sharey="col", squeeze=False)
    curves = {
        (row, column): study_curves(inputs, corpus, PLSA, evaluator)
        for row, evaluator in enumerate(FOLDING_IN)
        for column, corpus in enumerate(corpora)
    }
    constants = sorted({curve.smoothing for of_panel in curves.values() for curve in of_panel})
    colours = _colours(len(constants))
    for (row, column), of_panel in curves.items():
        axis = grid[row][column]
        for curve in of_panel:
            line(axis, curve, colours[constants.index(curve.smoothing)], linewidth=1.1, markersize=2.2)
        if row == 0:
            axis.set_title(latex.corpus_title(corpora[column]), fontweight="bold")
        if inputs.synthetic(corpora[column]):
            style.mark_synthetic(axis)
    for axis in grid.ravel():
        style.finish([axis], style.sparse_ticks(inputs.settings.topics))
        axis.set_xlabel("")
        axis.set_ylabel("")
    for axis in grid[-1]:
        axis.set_xlabel("number of topics")
    for axis, evaluator in zip(grid[:, 0], FOLDING_IN, strict=True):
        axis.set_ylabel(f"{style.EVALUATOR_NAMES[evaluator]}:\nperplexity per token")
    _scale(figure, list(grid.ravel()), constants, colours)
    return figure


def second_reading(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added at every M step."""
    return _reading(inputs, corpus, SECOND_READING)


def beyond(inputs: Inputs) -> Figure:
    """Draw the curves up to numbers of topics beyond the vocabulary, which is marked: no such model is identified."""
    settings = inputs.settings
    corpus = settings.beyond_corpus
    curves = {evaluator: beyond_curves(inputs, evaluator) for evaluator in FOLDING_IN}
    topics = sorted({*settings.topics, *settings.beyond_topics})
    vocabulary = int(inputs.corpus(corpus)["vocabulary"])
    return _draw(curves, topics, synthetic=inputs.synthetic(corpus), vocabulary=vocabulary)


def _reading(inputs: Inputs, corpus: str, variant: str) -> Figure:
    curves = {evaluator: study_curves(inputs, corpus, PLSA, evaluator, variant) for evaluator in FOLDING_IN}
    return _draw(curves, inputs.settings.topics, synthetic=inputs.synthetic(corpus))


def _draw(
    curves: Mapping[str, Sequence[Curve]], topics: Sequence[int], *, synthetic: bool, vocabulary: int | None = None
) -> Figure:
    """Draw a panel per evaluator, a line per constant (mean over seeds), a band from the lowest to the highest seed.

    Args:
        curves: by evaluator.
        topics: the ticks.
        synthetic: whether the figure must say so.
        vocabulary: a number of topics to mark; V.
    """
    figure, axes = style.panels([style.EVALUATOR_NAMES[evaluator] for evaluator in curves], synthetic=synthetic)
    constants = sorted({curve.smoothing for of_panel in curves.values() for curve in of_panel})
    colours = _colours(len(constants))
    for axis, (evaluator, of_panel) in zip(axes, curves.items(), strict=True):
        for curve in of_panel:
            line(axis, curve, colours[constants.index(curve.smoothing)])
        if vocabulary is not None:
            axis.axvline(vocabulary, color="black", linestyle=(0, (4, 2)), linewidth=0.9)
        if vocabulary is not None and evaluator == FULL:
            axis.annotate(
                f"vocabulary\n{vocabulary:,} words",
                xy=(vocabulary, 0.98),
                xycoords=("data", "axes fraction"),
                xytext=(-3, 0),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=7.5,
            )
    style.finish(axes, topics)
    _scale(figure, axes, constants, colours)
    return figure


def _colours(number: int) -> list[Any]:
    """Return as many colours; the brightest tenth of the map is too light on white."""
    return [colormaps["viridis"](0.92 * i / max(1, number - 1)) for i in range(number)]


def _scale(figure: Figure, axes: Sequence[Axes], constants: Sequence[float], colours: Sequence[Any]) -> None:
    """Put the scale of the constants beside the panels; nothing without any."""
    if not constants:
        return
    edges = [i - 0.5 for i in range(len(constants) + 1)]
    scale = ScalarMappable(BoundaryNorm(edges, len(constants)), ListedColormap(colours))
    bar = figure.colorbar(scale, ax=axes, ticks=range(len(constants)), pad=0.015, fraction=0.04, aspect=24)
    bar.ax.set_yticklabels([style.power(constant) for constant in constants])
    bar.minorticks_off()
    bar.ax.tick_params(length=0)
    bar.ax.grid(visible=False)
    bar.set_label("constant added to $p(w\\,|\\,z)$")
    bar.outline.set_visible(False)


def line(axis: Axes, curve: Curve, colour: Any, **options: Any) -> None:
    """Draw one curve: the mean over seeds, and a band from the lowest to the highest where there are several."""
    topics, perplexities = zip(*((k, value) for (k, _), value in sorted(curve.points.items())), strict=True)
    whole = ("pi", 100) if len(curve.seeds) > 1 else None  # the central 100 % of the seeds: all of them
    seaborn.lineplot(
        x=topics,
        y=perplexities,
        ax=axis,
        color=colour,
        estimator="mean",
        err_kws={"alpha": 0.22, "linewidth": 0},
        **{"marker": "o", "markeredgewidth": 0, "legend": False, "errorbar": whole, **options},
    )
