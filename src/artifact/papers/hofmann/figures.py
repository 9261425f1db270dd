"""PLSA beside latent semantic analysis, as Hofmann scored them and as documents are, and the path of annealing."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.experiments.latent_semantic_analysis import LSA, UNIGRAM, VALIDATION
from artifact.papers.hofmann.experiments.tempering import BETA
from artifact.papers.hofmann.results import (
    COOLED,
    COUNTS,
    EARLY,
    EVALUATIONS,
    FOLDED_IN,
    HEATED,
    NAMES,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    Model,
    curve,
    measured_corpora,
    paths,
    points,
    rank,
)
from artifact.results.reading import TRUTH
from artifact.typesetting import latex, style
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.models import PLSA, TEM

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {  # evaluators' colours
    SPECIFIC: style.COLOURS[TEM],
    PREDICTIVE: style.EVALUATOR_COLOURS[PREDICTIVE],
    FOLDED_IN: style.EVALUATOR_COLOURS[FULL],
    HALF: style.EVALUATOR_COLOURS[HALF],
    TRUTH: style.EVALUATOR_COLOURS[TRUTH],
}
PATH_PROPS: dict[Model, style.Props] = {
    COOLED: {"color": style.COLOURS["annealed"], "linestyle": style.DASHED, "linewidth": 1.2},
    HEATED: {"color": style.COLOURS[TEM], "linestyle": "-", "linewidth": 1.6},
    EARLY: {"color": style.COLOURS[PLSA], "linestyle": style.DOTTED, "linewidth": 1.8},
}


def figure_5(inputs: Inputs) -> Figure:
    """Draw perplexity against latent dimensions: above by Hofmann's score, as in Figure 5, below by others.

    A column per corpus, whose panels share the perplexity axis. Lines are means over the seeds with the whole grid,
    bands reach from the lowest to the highest of all seeds. Stars mark the largest K, vertical lines the rank. Below,
    tempered EM is solid and early stopping dotted, as above; a prior chosen on validation tokens has hollow marks. Full
    folding-in of Hofmann's score is drawn at the numbers of dimensions at which it was run.
    """
    corpora = measured_corpora(inputs)
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    props: style.Props = {"titles": titles, "synthetic": inputs.synthetic(), "sharey": "col", "sharex": True}
    figure, grid = style.grid(2, len(corpora), 5.2, **props)
    topics = {int(k) for k in points(inputs, corpora, [HEATED])["topics"]}
    for (upper, lower), corpus in zip(grid.T, corpora, strict=True):
        _as_hofmann(upper, inputs, corpus)
        _otherwise(lower, inputs, corpus)
        for axis in (upper, lower):
            if rank(inputs, corpus):
                axis.axvline(rank(inputs, corpus), color=style.GUIDE, linewidth=0.8, zorder=0.8)
            style.finish([axis], style.sparse_ticks(topics)[:: -len(corpora)][::-1])  # fewer where columns are narrow
            axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
        lower.set_xlabel("latent dimensions")
    lines: tuple[tuple[str, Any], ...] = (("trained by TEM", "-"), ("by early stopping", style.DOTTED))
    trainings = [Line2D([], [], color=style.DARK, linestyle=line, label=label) for label, line in lines]
    for axes, name, extra in zip(grid, ("Hofmann's score", "other scores"), ([], trainings), strict=True):
        axes[0].set_ylabel(f"{name}:\nperplexity per token")
        handles = [*axes[0].get_legend_handles_labels()[0], *extra]
        props = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "fontsize": 7.0, "handlelength": 2.6}
        axes[-1].legend(handles=handles, **props)
    return figure


def figure_5_linear(inputs: Inputs) -> Figure:
    """Draw Hofmann's score against latent dimensions on linear axes, as his Figure 5 has them; a column per corpus."""
    corpora = measured_corpora(inputs)
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    figure, (axes,) = style.grid(1, len(corpora), 2.9, titles=titles, synthetic=inputs.synthetic())
    for axis, corpus in zip(axes, corpora, strict=True):
        _as_hofmann(axis, inputs, corpus, legend=True)
        axis.set_xlim(left=0.0)
        axis.set_ylim(bottom=0.0)
        style.plain_ticks(axis.xaxis)
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("latent dimensions")
    axes[0].set_ylabel("Hofmann's score:\nperplexity per token")
    handles = axes[0].get_legend_handles_labels()[0]
    axes[-1].legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7.0, handlelength=2.6)
    return figure


def _plot(axis: Axes, means: "pd.DataFrame", **props: Any) -> None:
    """Draw a curve with its band over seeds; nothing where there are no points."""
    means = means[np.isfinite(means["most"]) & means["shown"]]  # a folded-in point may give a word nothing
    if len(means):
        axis.plot(means["perplexity"], **props)
        axis.fill_between(means.index, means["least"], means["most"], color=props["color"], alpha=0.2, linewidth=0)


def _baseline(axis: Axes, inputs: Inputs, corpus: str, *, legend: bool = False) -> None:
    """Draw the models without latent variables, and name them on their lines or in the legend."""
    lines: tuple[tuple[Model, str, Any], ...] = (
        (UNIGRAMS[0], "unigram", "-"),
        (UNIGRAMS[1], "", style.DASHED),  # one lies on the other
        (COUNTS, "own counts\n+ unigram", (0, (8, 2))),
    )
    for model, name, line in lines:
        for perplexity in curve(inputs, corpus, model)["perplexity"]:
            drawn = axis.axhline(perplexity, color=style.COLOURS[UNIGRAM], linestyle=line, linewidth=1.2)
            if legend:
                drawn.set_label(name.replace("\n", " ") or "_nolegend_")
                continue
            props: style.Props = {"fontsize": 7.0, "linespacing": 0.95, "color": style.DARK}
            away, side = (-2, "top") if model == COUNTS else (2, "bottom")
            place = (0.02, perplexity)
            style.label(axis, name, place, (0, away), xycoords=("axes fraction", "data"), va=side, **props)


def _as_hofmann(axis: Axes, inputs: Inputs, corpus: str, *, legend: bool = False) -> None:
    """Draw the score of the document-specific unigram."""
    _baseline(axis, inputs, corpus, legend=legend)
    for (marker, line, white), reading in zip(LSA_PROPS, READINGS, strict=True):
        colour = style.lighter(style.COLOURS[LSA], white)
        props: style.Props = {"label": NAMES[reading], "color": colour, "marker": marker, "linestyle": line}
        _plot(axis, curve(inputs, corpus, reading), linewidth=1.3, markersize=3.5, **props)
    for model, line in ((EARLY, style.DOTTED), (HEATED, "-")):
        colour, means = style.COLOURS[model[0]], curve(inputs, corpus, model)
        _plot(axis, means, label=NAMES[model], color=colour, marker=style.MARKERS[model[0]], linestyle=line)
        if len(means):
            _star(axis, means["perplexity"].tail(1), colour)


def _star(axis: Axes, point: "pd.Series[float]", colour: str) -> None:
    axis.plot(point, marker="*", markersize=8, color=colour, zorder=4)


# Marker, line and share of white of LSA's readings, the main one first
LSA_PROPS = (
    (style.MARKERS[LSA], "-", 0.0),
    ("v", style.DASHED, 0.0),
    ("s", style.DASH_DOTTED, 0.45),
    ("x", (0, (1, 1.6)), 0.45),
)
CHOSEN: style.Props = {"marker": "o", "markersize": 3.0, "markerfacecolor": style.WHITE}  # prior by validation tokens


def _otherwise(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw the other scores of the same test tokens."""
    _baseline(axis, inputs, corpus)
    for evaluator, end, name in EVALUATIONS:
        for model, line in ((HEATED, "-"), (EARLY, style.DOTTED)):
            if model == HEATED or evaluator not in (SPECIFIC, PREDICTIVE):
                props: style.Props = {"label": name if model == HEATED else None, "linewidth": 1.0 if end else 1.5}
                props |= CHOSEN if end else {}
                means = curve(inputs, corpus, (model[0], model[1] + end), evaluator)
                _plot(axis, means, color=COLOURS[evaluator], linestyle=line, **props)


def annealing_path(inputs: Inputs) -> Figure:
    """Draw validation perplexity along the iterations of EM, above the inverse temperature; a column per corpus.

    The model has the largest K with recorded iterations, and its first seed.

    Raises:
        InputError: when no iterations were kept.
    """
    every = {corpus: paths(inputs, corpus) for corpus in measured_corpora(inputs)}
    by_corpus = {corpus: by_model for corpus, by_model in every.items() if by_model}
    if not by_corpus:
        raise InputError("Hofmann's experiment: no iterations were kept; give the study's tempering path_topics")
    topics = [next(iter(by_model.values()))["topics"].iloc[0] for by_model in by_corpus.values()]
    titles = [f"{latex.corpus_title(corpus)}, K = {k}" for corpus, k in zip(by_corpus, topics, strict=True)]
    options: style.Props = {"titles": titles, "synthetic": inputs.synthetic()}
    options |= {"sharex": "col", "height_ratios": (2.2, 1.0)}
    figure, grid = style.grid(2, len(by_corpus), style.HEIGHT + 0.6, **options)
    for (upper, lower), by_model in zip(grid.T, by_corpus.values(), strict=True):
        for model, path in by_model.items():
            props, perplexities = PATH_PROPS[model], path[VALIDATION]
            upper.plot(perplexities, label=NAMES[model], **props)
            lower.plot(path[BETA], drawstyle="steps-mid", **props)
            _star(upper, perplexities.nsmallest(1), props["color"])
        for axis in (upper, lower):
            axis.set_xscale("log")
            style.plain_numbers(axis.xaxis)
        style.plain_ticks(upper.yaxis)
        style.plain_ticks(lower.yaxis, 3)
        lower.set_xlabel("iterations of EM")
    grid[0][0].set_ylabel("perplexity per\nvalidation token")
    grid[1][0].set_ylabel(r"$\tau$")
    style.legend(figure, grid[0], order=[NAMES[model] for model in (EARLY, HEATED, COOLED)], handlelength=3.0)
    return figure
