"""PLSA beside latent semantic analysis, as Hofmann scored them, and by the posterior predictive."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.experiments.latent_semantic_analysis import LSA, UNIGRAM
from artifact.papers.hofmann.results import (
    COUNTS,
    EARLY,
    HEATED,
    NAMES,
    PREDICTIVE,
    READINGS,
    UNIGRAMS,
    Model,
    curve,
    measured_corpora,
    points,
    rank,
)
from artifact.typesetting import latex, style
from heldout.models import PLSA, TEM

if TYPE_CHECKING:
    import pandas as pd

HEIGHT = 2.2  # inches
LSA_LABEL, PREDICTIVE_LABEL = "LSA", "PLSA, TEM, weights integrated out"


def figure_5(inputs: Inputs) -> Figure:
    """Draw perplexity against latent dimensions by Hofmann's score, as in Figure 5, and by the posterior predictive.

    A column per corpus. Lines are means over the seeds with the whole grid, bands reach from the lowest to the highest
    of all seeds. Stars mark the largest K, vertical lines the rank. Of LSA's readings each K takes the best.
    """
    corpora = measured_corpora(inputs)
    titles = [latex.corpus_title(corpus) for corpus in corpora]
    figure, (axes,) = style.grid(1, len(corpora), HEIGHT, titles=titles, synthetic=inputs.synthetic())
    topics = {int(k) for k in points(inputs, corpora, [HEATED])["topics"]}
    for axis, corpus in zip(axes, corpora, strict=True):
        _baseline(axis, inputs, corpus)
        _curves(axis, inputs, corpus)
        if rank(inputs, corpus):
            axis.axvline(rank(inputs, corpus), color=style.GUIDE, linewidth=0.8, zorder=0.8)
        style.finish([axis], style.sparse_ticks(topics)[:: -len(corpora)][::-1])  # fewer where columns are narrow
        low, high = axis.get_ylim()
        axis.set_ylim(bottom=low * (low / high) ** 0.1)  # room for the name of the lowest line
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
        axis.set_xlabel("latent dimensions")
    axes[0].set_ylabel("perplexity per token")
    style.legend(figure, axes[:1], ncols=4)
    return figure


def _plot(axis: Axes, means: "pd.DataFrame", **props: Any) -> None:
    """Draw a curve with its band over seeds; nothing where there are no points."""
    means = means[np.isfinite(means["most"]) & means["shown"]]  # a folded-in point may give a word nothing
    if len(means):
        axis.plot(means["perplexity"], **props)
        axis.fill_between(means.index, means["least"], means["most"], color=props["color"], alpha=0.2, linewidth=0)


def _baseline(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw the models without latent variables, and name them on their lines."""
    lines: tuple[tuple[Model, str, Any], ...] = (
        (UNIGRAMS[0], "unigram", "-"),
        (UNIGRAMS[1], "", style.DASHED),  # one lies on the other
        (COUNTS, "own counts", (0, (8, 2))),
    )
    for model, name, line in lines:
        for perplexity in curve(inputs, corpus, model)["perplexity"]:
            axis.axhline(perplexity, color=style.COLOURS[UNIGRAM], linestyle=line, linewidth=1.2)
            props: style.Props = {"fontsize": 7.0, "color": style.DARK}
            away, side = (-2, "top") if model == COUNTS else (2, "bottom")
            place = (0.02, perplexity)
            style.label(axis, name, place, (0, away), xycoords=("axes fraction", "data"), va=side, **props)


def _curves(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw LSA, early stopping and tempered EM by Hofmann's score, and the latter by the posterior predictive."""
    import pandas as pd

    readings = pd.concat([curve(inputs, corpus, reading) for reading in READINGS])
    best = readings.sort_values("perplexity", kind="stable").groupby(level=0).head(1).sort_index()
    looks: tuple[tuple[pd.DataFrame, str, str, str, Any], ...] = (
        (best, LSA_LABEL, style.COLOURS[LSA], style.MARKERS[LSA], "-"),
        (curve(inputs, corpus, EARLY), NAMES[EARLY], style.COLOURS[PLSA], style.MARKERS[PLSA], style.DOTTED),
        (curve(inputs, corpus, HEATED), NAMES[HEATED], style.COLOURS[TEM], style.MARKERS[TEM], "-"),
        (curve(inputs, corpus, HEATED, PREDICTIVE), PREDICTIVE_LABEL, style.EVALUATOR_COLOURS[PREDICTIVE], "^", "-"),
    )
    for means, name, colour, marker, line in looks:
        _plot(axis, means, label=name, color=colour, marker=marker, linestyle=line, markersize=3.5)
        if name == NAMES[HEATED] and len(means):
            axis.plot(means["perplexity"].tail(1), marker="*", markersize=8, color=colour, zorder=4)
