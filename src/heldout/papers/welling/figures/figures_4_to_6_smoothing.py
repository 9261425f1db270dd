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

MOST_CORPORA = 3  # largest number of corpora side by side
WIDEST, THINNEST = 2.0, 0.8  # points, of the curves of the smallest and of the largest constant


def added_after_training(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added once, after training."""
    return _reading(inputs, corpus, inputs.settings.variant(PLSA))


def all_corpora(inputs: Inputs) -> Figure:
    """Draw the same for all corpora at once: a column per corpus, full folding-in above, half folding-in below."""
    corpora = inputs.settings.corpora[:MOST_CORPORA]
    figure, grid = style.grid(
        len(FOLDING_IN),
        len(corpora),
        4.3,
        titles=[latex.corpus_title(corpus) for corpus in corpora],
        synthetic=[inputs.synthetic(corpus) for corpus in corpora],
        sharex=True,
        sharey="col",
    )
    curves = {
        (row, column): study_curves(inputs, corpus, PLSA, evaluator)
        for row, evaluator in enumerate(FOLDING_IN)
        for column, corpus in enumerate(corpora)
    }
    constants = sorted({curve.smoothing for drawn in curves.values() for curve in drawn})
    colours = _colours(len(constants))
    for (row, column), drawn in curves.items():
        axis = grid[row][column]
        for curve in drawn:
            line(axis, curve, **_props(constants, curve.smoothing, colours), markersize=2.2)
        _name_ends(axis, drawn)
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


def _name_ends(axis: Axes, curves: Sequence[Curve]) -> None:
    """Write the constant at the left end of three curves: of the smallest, of the largest, and of the lowest there."""
    if not curves:
        return
    starts = {curve.smoothing: _start(curve) for curve in curves}
    lowest = min(starts, key=lambda constant: starts[constant][1])
    for constant in {min(starts), max(starts), lowest}:
        above = constant != lowest or len(starts) == 1
        props: style.Props = {"fontsize": 7.0, "path_effects": style.outline(), "zorder": 5.0}
        away, side = (2, "bottom") if above else (-6, "top")
        style.label(axis, style.power_label(constant), starts[constant], (0, away), va=side, **props)


def _start(curve: Curve) -> tuple[int, float]:
    """Return a curve's fewest topics and its mean over seeds there."""
    fewest = min(k for k, _ in curve.points)
    values = [value for (k, _), value in curve.points.items() if k == fewest]
    return fewest, sum(values) / len(values)


def added_at_every_m_step(inputs: Inputs, corpus: str) -> Figure:
    """Draw the curves of the constants that are added at every M step."""
    return _reading(inputs, corpus, SECOND_READING)


def beyond_the_vocabulary(inputs: Inputs) -> Figure:
    """Draw the curves up to numbers of topics beyond the vocabulary, which is marked: no such model is identified."""
    settings = inputs.settings
    corpus = settings.beyond.corpus
    curves = {evaluator: beyond_curves(inputs, evaluator) for evaluator in FOLDING_IN}
    topics = sorted({*settings.topics, *settings.beyond.topics})
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
    constants = sorted({curve.smoothing for drawn in curves.values() for curve in drawn})
    colours = _colours(len(constants))
    for axis, (evaluator, drawn) in zip(axes, curves.items(), strict=True):
        for curve in drawn:
            line(axis, curve, **_props(constants, curve.smoothing, colours))
        if vocabulary is not None:
            axis.axvline(vocabulary, color=style.INK, linestyle=style.DASHED, linewidth=0.9)
        if vocabulary is not None and evaluator == FULL:
            frame = ("data", "axes fraction")
            words = f"vocabulary\n{vocabulary:,} words"
            style.label(axis, words, (vocabulary, 0.98), (-3, 0), xycoords=frame, ha="right", va="top")
    style.finish(axes, topics)
    _scale(figure, axes, constants, colours)
    return figure


def _colours(number: int) -> list[Any]:
    """Return as many colours; the brightest tenth of the map is too light on white."""
    return [colormaps["viridis"](0.92 * i / max(1, number - 1)) for i in range(number)]


def _props(constants: Sequence[float], constant: float, colours: Sequence[Any]) -> dict[str, Any]:
    """Return a curve's colour and width: the larger the constant the thinner, so that one on another leaves a rim."""
    place = constants.index(constant)
    share = place / max(1, len(constants) - 1)
    return {"colour": colours[place], "linewidth": WIDEST - (WIDEST - THINNEST) * share, "zorder": 2.0 + share}


def _scale(figure: Figure, axes: Sequence[Axes], constants: Sequence[float], colours: Sequence[Any]) -> None:
    """Put the scale of the constants beside the panels; nothing without any."""
    if not constants:
        return
    edges = [i - 0.5 for i in range(len(constants) + 1)]
    scale = ScalarMappable(BoundaryNorm(edges, len(constants)), ListedColormap(colours))
    bar = figure.colorbar(scale, ax=axes, ticks=range(len(constants)), pad=0.015, fraction=0.04, aspect=24)
    bar.ax.set_yticklabels([style.power_label(constant) for constant in constants])
    bar.minorticks_off()
    bar.ax.tick_params(length=0)
    bar.ax.grid(visible=False)
    bar.set_label("constant added to the topics")
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
