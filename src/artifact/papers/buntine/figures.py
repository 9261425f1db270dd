"""The figures of Buntine (2009), and a figure of the numbers of topics that evaluators select."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.model_selection import PARTICLE_FILTER, TRUE_MODEL
from artifact.papers.buntine.results import SHORT, convergence, errors_by_samples, scored, voted
from artifact.results.reading import select
from artifact.typesetting import style
from heldout.corpora.names import SOURCES
from heldout.errors import InputError
from heldout.evaluators import (
    CHIB,
    COMPLETION,
    ESTIMATORS,
    FULL,
    HALF,
    LINEAR,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    PARTICLES,
    SEQUENTIAL,
)

if TYPE_CHECKING:
    import pandas as pd

NAMES = {SEQUENTIAL: "LRS: sequential", PARTICLES: "LR: particles", MEAN_FIELD_FIRST: "MFI: mean field"}
MARKERS = {SEQUENTIAL: "s", PARTICLES: "^"}
LINES: tuple[Any, ...] = ("-", style.DASHED)  # lines of the two documents whose likelihood is known
SHADES = (0.15, 0.95)  # places in the colour map of few and of many topics
MARKS_OF_TOPICS = ("o", "s", "^", "D", "v", "X", "P", "d")  # markers by number of topics, for lines lie close
OTHER_TARGET = (HALF, COMPLETION)  # evaluators that score half of the tokens
PARTICLE_FILTER_LABEL = "particle filter"
ORDER = (PARTICLE_FILTER, *SHORT, CHIB, LINEAR, MEAN_FIELD_BOUND, FULL, *OTHER_TARGET)
CORPUS_COLOURS = dict(zip(("s10", "s10s", "s40"), style.CORPUS_COLOURS[:3], strict=True))
CORPUS_MARKERS = {"s10": "o", "s10s": "v", "s40": "s"}
ERRORS = 2.0  # standard errors to either side of a point
LINEAR_UP_TO = 1e-3  # range in which the second panel's axis is linear, nats per token
MARKS = (-0.1, -0.01, 0.0, 0.01, 0.1)
HEIGHT_OF_SAMPLES, HEIGHT_OF_CORPUS, HEIGHT_OF_EVALUATOR = 1.9, 2.5, 0.27  # inches of a row


def samples(inputs: Inputs) -> Figure:
    """Draw the r.m.s. errors of LR and LRS against their number of samples, and the ratio of the two.

    Left: the documents of the source's Figures 1 and 2, over all runs. Right: LR's over that of LRS on these, on drawn
    documents and on documents of realistic models. All axes are logarithmic.

    Raises:
        InputError: when convergence to the exact value was not measured.
    """
    pairs = convergence(inputs)
    if not pairs:
        raise InputError("figure-samples: nothing was measured; measure convergence-to-exact first")
    titles = ["one document", "LR's error over LRS's"]
    props: style.Props = {"titles": titles, "synthetic": inputs.synthetic(), "width_ratios": (1.0, 1.25)}
    figure, ((left, right),) = style.grid(1, 2, HEIGHT_OF_SAMPLES, **props)
    ratios: dict[str, pd.Series[float]] = {}
    handles = []
    for pair, line in zip(pairs, LINES, strict=False):
        size = f"$K = {pair.topics}$, $n = {pair.tokens}$"
        curves = {name: pair.rms(name) * pair.tokens * math.log(2.0) for name in (PARTICLES, SEQUENTIAL)}
        for name, curve in curves.items():
            shape: style.Props = {"marker": MARKERS[name], "markersize": 3.5, "linestyle": line}
            left.plot(curve, color=style.EVALUATOR_COLOURS[name], **shape)
        handles.append(Line2D([], [], color=style.DARK, linestyle=line, label=size))
        ratios[f"one: {size}"] = curves[PARTICLES] / curves[SEQUENTIAL]
    for name in (PARTICLES, SEQUENTIAL):  # of the last pair
        bold: style.Props = {"color": style.EVALUATOR_COLOURS[name], "fontweight": "bold"}
        style.label(left, SHORT[name], (curves[name].index[-1], curves[name].iloc[-1]), (4, 0), va="center", **bold)
    for (corpus, topics), rows in errors_by_samples(inputs).groupby(["corpus", "topics"], sort=False):
        by_method = rows.pivot_table("rms", "samples", "method")
        ratios[f"{corpus}: $K = {topics}$"] = by_method[PARTICLES] / by_method[SEQUENTIAL]
    right.axhline(1.0, color=style.INK, linewidth=0.8)
    for (name, ratio), marker, shade in zip(
        ratios.items(), MARKS_OF_TOPICS, np.linspace(*SHADES, max(len(ratios), 2)), strict=False
    ):
        right.plot(ratio, color=colormaps["viridis"](shade), marker=marker, markersize=3.5, label=name)
    style.log_log(left, right)
    for axis in (left, right):
        axis.set_xlabel("samples")
        style.plain_numbers(axis.xaxis)
        style.plain_numbers(axis.yaxis)
    left.margins(x=0.12)
    low, high = left.get_ylim()
    left.set_ylim(top=high * (high / low) ** 0.4)  # room for the legend
    left.legend(handles=handles, loc="upper right")
    left.set_ylabel("r.m.s. error\nnats per document")
    right.set_ylabel("ratio of r.m.s. errors")
    right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.5, labelspacing=0.35)
    return figure


def realistic(inputs: Inputs) -> Figure:
    """Draw perplexity against training documents: a row per corpus, a panel per estimator, a line per K.

    Of s10 and s10s, of 10 true topics, the source's Figure 3; of s40, of 40, its Figure 4.

    The dashed line is the true model's own perplexity by the same estimator; the true K's line is the thick black one.

    Raises:
        InputError: when no model was scored.
    """
    drawn = {str(corpus): rows for corpus, rows in scored(inputs).groupby("corpus", sort=False)}
    if not drawn:
        raise InputError("figure-realistic: no model was scored; measure model-selection first")
    props: style.Props = {"titles": [NAMES[name] for name in SHORT], "synthetic": inputs.synthetic(), "sharey": "row"}
    figure, grid = style.grid(len(drawn), len(SHORT), HEIGHT_OF_CORPUS * len(drawn) + 0.25, **props)
    first = None
    for axes, (corpus, rows) in zip(grid, drawn.items(), strict=True):
        for axis, evaluator in zip(axes, SHORT, strict=True):
            _by_size(axis, select(rows, evaluator=evaluator), corpus)
        axes[0].set_ylabel(f"{corpus}\nperplexity per token")
        topics = sorted(set(rows["topics"]))
        if topics != first:  # rows of the same grid of K need one legend
            axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.5, labelspacing=0.35)
        first = first or topics
    for axis in grid[-1]:
        axis.set_xlabel("training documents")
    return figure


def _by_size(axis: Axes, rows: "pd.DataFrame", corpus: str) -> None:
    """Draw one evaluator's mean perplexity over seeds of the models trained on a corpus, a line per K."""
    lines = rows[rows["size"] > 0].pivot_table("perplexity", "size", "topics")
    shades = np.linspace(*SHADES, max(len(lines.columns), 2))
    for place, ((topics, line), shade) in enumerate(zip(lines.items(), shades, strict=False)):
        true = topics == SOURCES[corpus].topics
        axis.plot(
            line,
            color=style.EVALUATOR_COLOURS[TRUE_MODEL] if true else colormaps["viridis"](shade),
            linewidth=4.0 if true else 1.0,
            marker=MARKS_OF_TOPICS[place % len(MARKS_OF_TOPICS)] if not true else "",
            markersize=3.0,
            label=f"$K = {topics}$" + (" (true)" if true else ""),
            zorder=2 if true else 3,
        )
    truth = rows.loc[rows["size"] == 0, "perplexity"].mean()
    axis.axhline(truth, color=style.COLOURS[TRUE_MODEL], linestyle=style.DASHED, linewidth=1.0, label="true model")
    axis.set_xscale("log")
    style.ticks(axis.xaxis, style.sparse_ticks(lines.index))
    style.plain_ticks(axis.yaxis)
    axis.margins(x=0.08)


def model_selection(inputs: Inputs) -> Figure:
    """Draw the selected number of topics by evaluator, corpus and training size, and the evaluators' errors.

    Left: the number of topics of the highest log-likelihood, dark where it is the true one. Right: an evaluator's
    log-likelihood of the held-out documents under the true model less the reference's, a particle filter's, per token,
    with two standard errors of the difference where both state theirs. Evaluators that score half of the tokens have
    another target and are not in it. Raises InputError when no model was scored on a drawn corpus.
    """
    rows = scored(inputs)
    if rows.empty:
        raise InputError("figure-model-selection: no model was scored; measure model-selection first")
    names = set(rows.loc[rows["size"] > 0, "evaluator"])
    evaluators = [*(name for name in ORDER if name in names), *sorted(names - set(ORDER))]
    props: style.Props = {"synthetic": inputs.synthetic(), "sharey": True, "width_ratios": [2.0, 1.0]}
    figure, ((left, right),) = style.grid(1, 2, 1.0 + HEIGHT_OF_EVALUATOR * len(evaluators), **props)
    _selected(left, rows[rows["size"] > 0], evaluators)
    _errors(right, rows[rows["size"] == 0], evaluators)
    for text in left.texts:  # "synthetic", if anything, would lie behind the cells
        if text.get_text() == style.SYNTHETIC_MARK:
            text.set(zorder=3.0, color=style.INK, alpha=0.3)
    return figure


def _selected(axis: Axes, models: "pd.DataFrame", evaluators: Sequence[str]) -> None:
    x, ticks, names = 0.0, [], []
    for corpus, corpus_models in models.groupby("corpus", sort=False):
        first, true = x, SOURCES[str(corpus)].topics
        for size, rows in corpus_models.groupby("size"):
            for y, evaluator in enumerate(evaluators):
                topics = voted(select(rows, evaluator=evaluator))
                if topics is None:
                    continue
                right = topics == true
                axis.barh(y, 0.92, left=x - 0.46, height=0.86, color=style.DARK if right else style.GROUND)
                colour = style.WHITE if right else style.DARK
                axis.text(x, y, str(topics), ha="center", va="center", fontsize=7.0, color=colour)
            ticks.append(x)
            names.append(f"{int(str(size)) / 1000:g}")
            x += 1.0
        axis.text(
            *((first + x - 1.0) / 2.0, -0.75, f"{corpus}: $K = {true}$"), ha="center", fontsize=8.0, fontweight="bold"
        )
        x += 0.6
    axis.set_xlim(-0.6, x - 1.0)
    axis.set_ylim(len(evaluators) - 0.4, -0.6)
    axis.set_xticks(ticks, names, fontsize=7.0)
    axis.set_yticks(range(len(evaluators)), [_label(e) for e in evaluators])
    axis.set_xlabel("training documents, in thousands")
    axis.set_title("selected number of topics", pad=18.0)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _label(evaluator: str) -> str:
    if evaluator == PARTICLE_FILTER:
        return PARTICLE_FILTER_LABEL
    return style.EVALUATOR_NAMES.get(evaluator) or ESTIMATORS[evaluator].label


def _errors(axis: Axes, truth: "pd.DataFrame", evaluators: Sequence[str]) -> None:
    axis.axvline(0.0, color=style.INK, linewidth=0.8)
    reference = select(truth, evaluator=PARTICLE_FILTER)
    both = truth.merge(reference, on=["corpus", "seed"], suffixes=("", "_reference"))
    both.loc[both["evaluator"] == PARTICLE_FILTER, "error_reference"] = 0.0
    drawn = list(dict.fromkeys(both["corpus"]))
    heights = {evaluator: y for y, evaluator in enumerate(evaluators) if evaluator not in OTHER_TARGET}
    for place, corpus in enumerate(drawn):
        rows = both[(both["corpus"] == corpus) & both["evaluator"].isin(list(heights))]
        axis.errorbar(
            rows["value"] - rows["value_reference"],
            rows["evaluator"].map(heights) + 0.22 * (place - (len(drawn) - 1) / 2.0),
            xerr=(ERRORS * np.hypot(rows["error"], rows["error_reference"])).fillna(0.0),
            fmt=CORPUS_MARKERS[corpus],
            color=CORPUS_COLOURS[corpus],
            markersize=3.5,
            linewidth=0.9,
            label=corpus,
        )
    for y, evaluator in enumerate(evaluators):
        if evaluator in OTHER_TARGET:
            box = {"facecolor": style.WHITE, "edgecolor": "none", "pad": 1.0}
            frame = axis.get_yaxis_transform()
            axis.text(0.5, y, "(another target)", transform=frame, ha="center", va="center", fontsize=7.0, bbox=box)
    axis.set_xscale("symlog", linthresh=LINEAR_UP_TO)
    style.ticks(axis.xaxis, MARKS, [style.signed_label(mark).replace("0.", ".") for mark in MARKS])
    axis.tick_params(axis="x", labelsize=7.0)
    axis.set_xlabel(f"nats per token\nless the reference\n{style.SYMMETRIC}")
    axis.set_title("error on the true model", pad=18.0)
    axis.tick_params(axis="y", length=0)
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.985), ncols=3, handletextpad=0.2, columnspacing=0.8, borderpad=0.0
    )
