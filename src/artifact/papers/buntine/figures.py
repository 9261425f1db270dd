"""The figures of Buntine (2009), and a figure of the numbers of topics that evaluators select."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.model_selection import PARTICLE_FILTER, TRUE_MODEL
from artifact.papers.buntine.results import SHORT, convergence, errors_by_samples, scored, voted
from artifact.results.reading import select
from artifact.typesetting import latex, style
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
PROPS: dict[str, style.Props] = {  # markers and lines of the source's Figure 5
    SEQUENTIAL: {"marker": "s", "linestyle": "-"},
    PARTICLES: {"marker": "^", "linestyle": style.DASHED},
    MEAN_FIELD_FIRST: {"marker": "o", "linestyle": style.DOTTED},
}
SHADES = (0.15, 0.95)  # places in the colour map of few and of many topics
MARKS_OF_TOPICS = ("o", "s", "^", "D", "v", "X", "P", "d")  # markers by number of topics, for lines lie close
OTHER_TARGET = (HALF, COMPLETION)  # evaluators that score half of the tokens
PARTICLE_FILTER_LABEL = "particle filter"
ORDER = (PARTICLE_FILTER, *SHORT, CHIB, LINEAR, MEAN_FIELD_BOUND, FULL, *OTHER_TARGET)
CORPUS_COLOURS = dict(zip(("s10", "s10s", "s40"), style.CORPUS_COLOURS[:3], strict=True))
CORPUS_MARKERS = {"s10": "o", "s10s": "v", "s40": "s"}
ERRORS = 2.0  # standard errors to either side of a point
LINEAR_UP_TO = 1e-3  # range in which the second panel's axis is linear, nats per token
PANELS = (1_000, 5_000, 10_000, 20_000)  # training documents in the source's Figure 5
MARKS = (-0.1, -0.01, 0.0, 0.01, 0.1)
HEIGHT_OF_PANEL, HEIGHT_OF_CORPUS, HEIGHT_OF_EVALUATOR = 1.75, 2.5, 0.27  # inches of a row


def samples(inputs: Inputs) -> Figure:
    """Draw the r.m.s. errors of LR and LRS against their number of samples, with their ratio at the most.

    Panels: the documents of the source's Figures 1 and 2, each over all runs; then documents of realistic models. Both
    axes are logarithmic.

    Raises:
        InputError: when convergence to the exact value was not measured.
    """
    curves = _curves(inputs)
    if not curves:
        raise InputError("figure-samples: nothing was measured; measure convergence-to-exact first")
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    props: style.Props = {"synthetic": inputs.synthetic(), "sharex": True, "sharey": True}
    figure, grid = style.grid(rows, columns, HEIGHT_OF_PANEL * rows, **props)
    for axis, (title, methods) in zip(grid.ravel(), curves.items(), strict=False):
        style.log_log(axis)
        axis.set_title(title, fontsize=8.0)
        for name, curve in methods.items():
            line: style.Props = {"color": style.EVALUATOR_COLOURS[name], "marker": PROPS[name]["marker"]}
            axis.plot(curve, linewidth=2.0, markersize=4.5, **line)
        particles, sequential = (methods[name].iloc[-1] for name in (PARTICLES, SEQUENTIAL))
        factor = latex.decimal(particles / sequential, 0 if particles > 9.5 * sequential else 1)
        most = methods[SEQUENTIAL].index[-1]
        style.label_factor(axis, most, math.sqrt(particles * sequential), factor, style.INK)
    for axis in grid[-1]:
        axis.set_xlabel("samples")
    for axis in grid[:, 0]:
        axis.set_ylabel("r.m.s. error\nnats per document")
        style.plain_numbers(axis.yaxis)
    style.plain_numbers(grid[0][0].xaxis)
    for name, curve in next(iter(curves.values())).items():
        props = {"color": style.EVALUATOR_COLOURS[name], "fontweight": "bold", "path_effects": style.outline()}
        middle = len(curve) // 2
        style.label(grid[0][0], SHORT[name], (curve.index[middle], curve.iloc[middle]), (0, 6), ha="center", **props)
    return figure


def _curves(inputs: Inputs) -> "dict[str, dict[str, pd.Series[float]]]":
    """Return r.m.s. errors by number of samples, nats per document, by panel's title and method."""
    panels: dict[str, dict[str, pd.Series[float]]] = {}
    for pair in convergence(inputs):
        title, bits = f"one document: $K = {pair.topics}$, $n = {pair.tokens}$", pair.tokens * math.log(2.0)
        panels[title] = {name: pair.rms(name) * bits for name in (PARTICLES, SEQUENTIAL)}
    for (corpus, topics), rows in errors_by_samples(inputs).groupby(["corpus", "topics"], sort=False):
        by_method = rows.sort_values("samples").set_index("samples").groupby("method")["rms"]
        panels[f"{corpus}: $K = {topics}$"] = {str(name): curve for name, curve in by_method}
    return panels


def realistic(inputs: Inputs, corpora: Sequence[str], figure_name: str) -> Figure:
    """Draw perplexity against training documents: a row per corpus, a panel per estimator, a line per K.

    The dashed line is the true model's own perplexity by the same estimator; the true K's line is the thick black one.

    Raises:
        InputError: when none of the corpora has scores.
    """
    table = scored(inputs)
    drawn = {str(corpus): rows for corpus, rows in table.groupby("corpus", sort=False) if corpus in corpora}
    if not drawn:
        raise InputError(f"{figure_name}: no model was scored on {', '.join(corpora)}; measure model-selection first")
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


def realistic_10(inputs: Inputs) -> Figure:
    """Draw s10 and s10s, both of 10 true topics (Buntine 2009, Figure 3)."""
    return realistic(inputs, ("s10", "s10s"), "figure-realistic-10")


def realistic_40(inputs: Inputs) -> Figure:
    """Draw s40, of 40 true topics (Buntine 2009, Figure 4)."""
    return realistic(inputs, ("s40",), "figure-realistic-40")


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


def realistic_selection(inputs: Inputs) -> Figure:
    """Draw perplexity on s10s against K, a panel per number of training documents (Buntine 2009, Figure 5).

    Raises:
        InputError: when s10s has no scores.
    """
    rows = select(scored(inputs), corpus="s10s")
    rows = rows[rows["size"] > 0]
    if rows.empty:
        raise InputError("figure-realistic-selection: no model was scored on s10s; measure model-selection first")
    sizes = sorted(set(rows["size"]).intersection(PANELS) or set(rows["size"]))
    grid = sorted(set(rows["topics"]))
    titles = [f"{size:,} documents" for size in sizes]
    figure, (axes,) = style.grid(1, len(sizes), style.HEIGHT, titles=titles, synthetic=inputs.synthetic())
    places = list(range(len(grid)))  # even spaces: the numbers of topics are close around the true one
    for axis, size in zip(axes, sizes, strict=True):
        if SOURCES["s10s"].topics in grid:
            axis.axvline(
                grid.index(SOURCES["s10s"].topics), color=style.PALE, linewidth=4.0, zorder=1, label="true number"
            )
        means = select(rows, size=size).groupby(["evaluator", "topics"])["perplexity"].mean()
        for evaluator in SHORT:
            axis.plot(
                places,
                means.loc[evaluator].reindex(grid),
                color=style.EVALUATOR_COLOURS[evaluator],
                label=NAMES[evaluator],
                zorder=3,
                **PROPS[evaluator],
            )
        axis.title.set_fontsize(7.5)
        style.ticks(axis.xaxis, places, [str(k) for k in grid], fontsize=7.0)
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("perplexity per token")
    style.legend(figure, axes[:1], loc="outside upper center")
    return figure


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
