"""Figures 4 to 6: PLSA against topics, one curve per constant, full and half folding-in; in short; beyond V topics."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import seaborn
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.results import beyond_points, points, second_reading
from artifact.typesetting import latex, style
from heldout.evaluators import FOLDING_IN, FULL, HALF
from heldout.models import PLSA

if TYPE_CHECKING:
    import pandas as pd

MOST_CORPORA = 3  # number of the source's corpora
WIDEST, THINNEST = 2.0, 0.8  # points; widths of the curves of the smallest and of the largest constant


def added_after_training(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added once, after training."""
    return _reading(inputs, corpus, {name: points(inputs, [corpus], PLSA, name) for name in FOLDING_IN})


def added_at_every_m_step(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added at every M step."""
    return _reading(inputs, corpus, {name: second_reading(inputs, corpus, name) for name in FOLDING_IN})


def beyond_the_vocabulary(inputs: Inputs) -> Figure:
    """Draw the curves up to numbers of topics beyond the vocabulary, which is marked: no model beyond is identified."""
    settings = inputs.settings
    corpus = settings.beyond.corpus
    curves = {evaluator: beyond_points(inputs, evaluator) for evaluator in FOLDING_IN}
    topics = sorted({*settings.topics, *settings.beyond.topics})
    vocabulary = int(inputs.corpus(corpus)["vocabulary"])
    return _draw(curves, topics, synthetic=inputs.synthetic(corpus), vocabulary=vocabulary)


def overfitting(inputs: Inputs) -> Figure:
    """Draw the first corpus by full and by half folding-in, and the third, or the last, by half folding-in."""
    first, *others = inputs.settings.corpora[:MOST_CORPORA]
    panels = [(first, FULL), (first, HALF), *((corpus, HALF) for corpus in others[-1:])]
    tables = [points(inputs, [corpus], PLSA, evaluator) for corpus, evaluator in panels]
    constants = sorted({constant for table in tables for constant in table["smoothing"]})
    titles = [f"{latex.corpus_title(corpus)}, {evaluator.partition('-')[0]}" for corpus, evaluator in panels]
    synthetic = [inputs.synthetic(corpus) for corpus, _ in panels]
    figure, (axes,) = style.grid(1, len(panels), 2.1, titles=titles, synthetic=synthetic)
    for axis, table in zip(axes, tables, strict=True):
        _lines(axis, table, constants)
        style.finish([axis], style.sparse_ticks(inputs.settings.topics))
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("perplexity per token")
    _scale(figure, axes, constants)
    return figure


def _reading(inputs: Inputs, corpus: str, curves: "Mapping[str, pd.DataFrame]") -> Figure:
    return _draw(curves, inputs.settings.topics, synthetic=inputs.synthetic(corpus))


def _draw(
    curves: "Mapping[str, pd.DataFrame]", topics: Sequence[int], *, synthetic: bool, vocabulary: int | None = None
) -> Figure:
    """Draw a panel per evaluator, a line per constant (mean over seeds), a band from the lowest to the highest seed."""
    figure, axes = style.panels([style.EVALUATOR_NAMES[evaluator] for evaluator in curves], synthetic=synthetic)
    constants = sorted({constant for table in curves.values() for constant in table["smoothing"]})
    for axis, (evaluator, table) in zip(axes, curves.items(), strict=True):
        _lines(axis, table, constants)
        if vocabulary is not None:
            axis.axvline(vocabulary, color=style.INK, linestyle=style.DASHED, linewidth=0.9)
        if vocabulary is not None and evaluator == FULL:
            frame = ("data", "axes fraction")
            words = f"vocabulary\n{vocabulary:,} words"
            style.label(axis, words, (vocabulary, 0.98), (-3, 0), xycoords=frame, ha="right", va="top")
    style.finish(axes, topics)
    _scale(figure, axes, constants)
    return figure


def _colours(number: int) -> list[Any]:
    """Return as many colours; the brightest tenth of the map is too light on white."""
    return [colormaps["viridis"](0.92 * i / max(1, number - 1)) for i in range(number)]


def _lines(axis: Axes, table: "pd.DataFrame", constants: Sequence[float], **options: Any) -> None:
    """Draw a curve per constant: the larger the constant the thinner, so that one on another leaves a rim."""
    colours = _colours(len(constants))
    for constant, curve in table.groupby("smoothing"):
        place = constants.index(constant)
        share = place / max(1, len(constants) - 1)
        width = WIDEST - (WIDEST - THINNEST) * share
        line(axis, curve, colours[place], linewidth=width, zorder=2.0 + share, **options)


def _scale(figure: Figure, axes: Sequence[Axes], constants: Sequence[float]) -> None:
    """Put the scale of the constants beside the panels; nothing without any."""
    if not constants:
        return
    edges = [i - 0.5 for i in range(len(constants) + 1)]
    scale = ScalarMappable(BoundaryNorm(edges, len(constants)), ListedColormap(_colours(len(constants))))
    bar = figure.colorbar(scale, ax=axes, ticks=range(len(constants)), pad=0.015, fraction=0.04, aspect=24)
    bar.ax.set_yticklabels([style.power_label(constant) for constant in constants])
    bar.minorticks_off()
    bar.ax.tick_params(length=0)
    bar.ax.grid(visible=False)
    bar.set_label("constant added to the topics")
    bar.outline.set_visible(False)


def line(axis: Axes, curve: "pd.DataFrame", colour: Any, **options: Any) -> None:
    """Draw one curve: the mean over seeds, and a band from the lowest to the highest where there are several."""
    curve = curve.sort_values(["topics", "seed"])
    whole = ("pi", 100) if len(set(curve["seed"])) > 1 else None  # the central 100 % of the seeds: all of them
    seaborn.lineplot(
        x=curve["topics"].to_numpy(),
        y=curve["perplexity"].to_numpy(),
        ax=axis,
        color=colour,
        estimator="mean",
        err_kws={"alpha": 0.22, "linewidth": 0},
        **{"marker": "o", "markeredgewidth": 0, "legend": False, "errorbar": whole, **options},
    )
