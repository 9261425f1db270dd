"""The figures of Buntine (2009), and one of which evaluator finds the true number of topics."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from heldout.errors import InputError
from heldout.evaluators import (
    CHIB,
    COMPLETION,
    ESTIMATORS,
    FULL,
    HALF,
    HARMONIC,
    LINEAR,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    PARTICLES,
    SEQUENTIAL,
)
from heldout.inputs import Inputs
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.experiments.model_selection import PARTICLE_FILTER, TRUTH
from heldout.papers.buntine.results import LABELS, SHORT, Convergence, Selection, convergence, selections
from heldout.typesetting import style

# figures 1 and 2
DASHED = (0, (4, 1.5))
DASHES = dict(zip(METHODS, ("-", DASHED, "-", DASHED, "-"), strict=True))
FIRST_RUN = "0"
# figures 3 to 5
NAMES = {SEQUENTIAL: "LRS: sequential", PARTICLES: "LR: particles", MEAN_FIELD_FIRST: "MFI: mean field"}
MARKERS = {SEQUENTIAL: "s", PARTICLES: "^", MEAN_FIELD_FIRST: "o"}
SHADES = (0.15, 0.95)  # of the colour map, for few and for many topics
# the true number of topics
OTHER_TARGET = (HALF, COMPLETION)  # they score half of the tokens
PARTICLE_FILTER_LABEL = "particle filter"
ORDER = (PARTICLE_FILTER, *SHORT, CHIB, LINEAR, MEAN_FIELD_BOUND, FULL, *OTHER_TARGET)
RIGHT, WRONG = "#444444", "#EDEDED"
CORPUS_COLOURS = dict(zip(("s10", "s10s", "s40"), style.CORPUS_COLOURS, strict=True))
CORPUS_MARKERS = {"s10": "o", "s10s": "v", "s40": "s"}
ERRORS = 2.0  # standard errors to either side of a point
LINEAR_UP_TO = 1e-3  # nats per token, of the second panel's axis
PANELS = (1_000, 5_000, 10_000, 20_000)  # training documents in the source's Figure 5
MARKS = (-0.1, -0.01, 0.0, 0.01, 0.1)
# inches, of a row
HEIGHT_OF_PAIR, HEIGHT_OF_CORPUS, HEIGHT_OF_EVALUATOR = 2.6, 2.5, 0.27


def _mark(axes: Sequence[Axes], inputs: Inputs) -> None:
    """Say behind the curves that the model that the documents are drawn from was trained on made-up documents."""
    for axis in axes if inputs.synthetic() else ():
        style.mark_synthetic(axis)


def convergence_to_exact(inputs: Inputs) -> Figure:
    """Draw, per pair of a model and a document, one run of each method, the same close up, and the error of all runs.

    The first two panels are the source's Figures 1 and 2: code length against the number of samples, each run extended.
    The third is the root mean squared error over all runs, on logarithmic axes.

    Raises:
        InputError: when convergence to the exact value was not measured.
    """
    pairs = convergence(inputs)
    if not pairs:
        raise InputError("figure-convergence-to-exact: nothing was measured; measure convergence-to-exact first")
    figure = Figure(figsize=(style.WIDTH, HEIGHT_OF_PAIR * len(pairs)))
    grid = figure.subplots(len(pairs), 3, squeeze=False)
    for row, pair in zip(grid, pairs, strict=True):
        _draw_pair(row, pair)
        _mark(row, inputs)
    for axis in grid[-1]:
        axis.set_xlabel("samples")
    for axis, title in zip(grid[0], ("one run of each", "close up", "all runs"), strict=True):
        axis.set_title(title, fontweight="bold")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=len(handles), handlelength=1.8, columnspacing=1.2)
    return figure


def _draw_pair(axes: Sequence[Axes], pair: Convergence) -> None:
    whole, close, error = axes
    near = []  # distances from the exact value that the close-up has to hold
    for axis in (whole, close):
        axis.axhline(pair.exact, color="black", linewidth=1.0, zorder=4, label="exact")
    for name, runs in pair.estimates.items():
        look: dict[str, Any] = {"color": style.EVALUATOR_COLOURS[name], "linestyle": DASHES[name]}
        for axis in (whole, close):
            axis.plot(runs.index, runs[FIRST_RUN], label=LABELS[name], **look)
        error.plot(runs.index, pair.rms(name), **look)
        if name != HARMONIC:  # it is far off: the close-up is of the others
            near.append(float(np.abs(runs[FIRST_RUN] - pair.exact).iloc[1:].max()))
    if near:
        close.set_ylim(pair.exact - 1.15 * max(near), pair.exact + 1.15 * max(near))
    sizes = sorted({size for runs in pair.estimates.values() for size in runs.index})
    for axis in (whole, close):
        axis.set_xlim(0, sizes[-1])
        axis.xaxis.set_major_locator(MaxNLocator(2))
        _plain(axis.xaxis, ",.0f")
        style.plain_ticks(axis.yaxis)
    error.set_xscale("log")
    error.set_yscale("log")
    decades = [10.0**e for e in range(math.ceil(math.log10(sizes[0])), math.floor(math.log10(sizes[-1])) + 1)]
    error.xaxis.set_major_locator(FixedLocator(decades))
    _plain(error.xaxis, ",.0f")
    error.xaxis.set_minor_locator(NullLocator())
    error.yaxis.set_minor_formatter(NullFormatter())
    _plain(error.yaxis, "g")
    whole.set_ylabel(f"$K = {pair.topics}$, $n = {pair.tokens}$\nbits per token")
    error.set_ylabel("r.m.s. error, bits per token")


def _plain(axis: Axis, form: str) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: format(value, form)))


def realistic(inputs: Inputs, corpora: Sequence[str], figure_name: str) -> Figure:
    """Draw perplexity against training documents: a row per corpus, a panel per estimator, a line per K.

    The dashed line is the true model's own perplexity by the same estimator; the true K's line is the thick black one.

    Args:
        inputs: scores of the experiment `model-selection`.
        corpora: drawn corpora; those without scores are left out.
        figure_name: for the message.

    Raises:
        InputError: when none of the corpora has scores.
    """
    drawn = [selection for name, selection in selections(inputs).items() if name in corpora]
    if not drawn:
        raise InputError(f"{figure_name}: no model was scored on {', '.join(corpora)}; measure model-selection first")
    figure = Figure(figsize=(style.WIDTH, HEIGHT_OF_CORPUS * len(drawn) + 0.25))
    grid = figure.subplots(len(drawn), len(SHORT), squeeze=False, sharey="row")
    for axis, evaluator in zip(grid[0], SHORT, strict=True):
        axis.set_title(NAMES[evaluator], fontweight="bold")
    for axes, selection in zip(grid, drawn, strict=True):
        for axis, evaluator in zip(axes, SHORT, strict=True):
            _by_size(axis, selection, evaluator)
        axes[0].set_ylabel(f"{selection.corpus}\nperplexity per token")
        _mark(axes, inputs)
    for axis in grid[-1]:
        axis.set_xlabel("training documents")
    for axes, selection in zip(grid, drawn, strict=True):  # rows of the same grid of K need one legend
        if selection is drawn[0] or selection.topics != drawn[0].topics:
            axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.5, labelspacing=0.35)
    return figure


def realistic_10(inputs: Inputs) -> Figure:
    """Draw s10 and s10s, both of 10 true topics (Buntine 2009, Figure 3)."""
    return realistic(inputs, ("s10", "s10s"), "figure-realistic-10")


def realistic_40(inputs: Inputs) -> Figure:
    """Draw s40, of 40 true topics (Buntine 2009, Figure 4)."""
    return realistic(inputs, ("s40",), "figure-realistic-40")


def _by_size(axis: Axes, selection: Selection, evaluator: str) -> None:
    shades = [SHADES[0] + (SHADES[1] - SHADES[0]) * i / max(len(selection.topics) - 1, 1) for i in range(100)]
    for topics, shade in zip(selection.topics, shades, strict=False):
        own = topics == selection.true_topics
        axis.plot(
            selection.sizes,
            [selection.perplexity(evaluator, size, topics) for size in selection.sizes],
            color=style.EVALUATOR_COLOURS[TRUTH] if own else colormaps["viridis"](shade),
            linewidth=2.6 if own else 1.1,
            marker="o",
            markersize=4.0 if own else 2.5,
            label=f"$K = {topics}$" + (" (true)" if own else ""),
            zorder=3 if own else 2,
        )
    axis.axhline(
        selection.true_perplexity(evaluator),
        color=style.COLOURS[TRUTH],
        linestyle=(0, (4, 2)),
        linewidth=1.0,
        label="true model",
    )
    axis.set_xscale("log")
    shown = style.sparse_ticks(selection.sizes)
    axis.set_xticks(shown, [f"{size:,}" for size in shown])
    axis.xaxis.set_minor_locator(NullLocator())
    style.plain_ticks(axis.yaxis)
    axis.margins(x=0.08)


def realistic_selection(inputs: Inputs) -> Figure:
    """Draw perplexity on s10s against K, a panel per number of training documents (Buntine 2009, Figure 5).

    Raises:
        InputError: when s10s has no scores.
    """
    selection = selections(inputs).get("s10s")
    if selection is None:
        raise InputError("figure-realistic-selection: no model was scored on s10s; measure model-selection first")
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT))
    sizes = tuple(size for size in selection.sizes if size in PANELS) or selection.sizes
    grid = figure.subplots(1, len(sizes), squeeze=False)
    places = list(range(len(selection.topics)))  # even ones: the numbers of topics are close around the true one
    for axis, size in zip(grid[0], sizes, strict=True):
        if selection.true_topics in selection.topics:
            place = selection.topics.index(selection.true_topics)
            axis.axvline(place, color="#CCCCCC", linewidth=4.0, zorder=1, label="true number")
        for evaluator, dashes in zip(SHORT, ("-", DASHED, (0, (1, 1))), strict=True):
            axis.plot(
                places,
                [selection.perplexity(evaluator, size, k) for k in selection.topics],
                color=style.EVALUATOR_COLOURS[evaluator],
                marker=MARKERS[evaluator],
                linestyle=dashes,
                label=NAMES[evaluator],
                zorder=3,
            )
        axis.set_title(f"{size:,} documents", fontsize=7.5, fontweight="bold")
        axis.set_xticks(places, [str(k) for k in selection.topics], fontsize=7.0)
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("number of topics")
    grid[0][0].set_ylabel("perplexity per token")
    _mark(grid[0], inputs)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=len(handles))
    return figure


def model_selection(inputs: Inputs) -> Figure:
    """Draw the selected number of topics by evaluator, corpus and training size, and the evaluators' errors.

    Left: the number of topics of the highest log-likelihood, dark where it is the true one. Right: an evaluator's
    log-likelihood of the held-out documents under the true model less the reference's, a particle filter's, per token,
    with two standard errors of the difference where both state theirs. Evaluators that score half of the tokens have
    another target and are not in it.

    Raises:
        InputError: when no model was scored on a drawn corpus.
    """
    drawn = list(selections(inputs).values())
    if not drawn:
        raise InputError("figure-model-selection: no model was scored; measure model-selection first")
    names = {evaluator for selection in drawn for evaluator in selection.evaluators}
    evaluators = [*(name for name in ORDER if name in names), *sorted(names - set(ORDER))]
    figure = Figure(figsize=(style.WIDTH, 1.0 + HEIGHT_OF_EVALUATOR * len(evaluators)))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[2.0, 1.0])
    _selected(left, drawn, evaluators)
    _errors(right, drawn, evaluators)
    _mark([left, right], inputs)
    for text in left.texts:  # "synthetic", if anything, would lie behind the cells
        if text.get_text() == style.SYNTHETIC_MARK:
            text.set(zorder=3.0, color="black", alpha=0.3)
    return figure


def _selected(axis: Axes, drawn: Sequence[Selection], evaluators: Sequence[str]) -> None:
    x, ticks, names = 0.0, [], []
    for selection in drawn:
        first = x
        for size in selection.sizes:
            for y, evaluator in enumerate(evaluators):
                topics = selection.voted(evaluator, size)
                if topics is None:
                    continue
                right = topics == selection.true_topics
                axis.barh(y, 0.92, left=x - 0.46, height=0.86, color=RIGHT if right else WRONG)
                colour = "white" if right else "#333333"
                axis.text(x, y, str(topics), ha="center", va="center", fontsize=7.0, color=colour)
            ticks.append(x)
            names.append(f"{size / 1000:g}")
            x += 1.0
        axis.text(
            *((first + x - 1.0) / 2.0, -0.75, f"{selection.corpus}: $K = {selection.true_topics}$"),
            ha="center",
            fontsize=8.0,
            fontweight="bold",
        )
        x += 0.6
    axis.set_xlim(-0.6, x - 1.0)
    axis.set_ylim(len(evaluators) - 0.4, -0.6)
    axis.set_xticks(ticks, names, fontsize=7.0)
    axis.set_yticks(range(len(evaluators)), [_label(e) for e in evaluators])
    axis.set_xlabel("training documents, in thousands")
    axis.set_title("selected number of topics", fontweight="bold", pad=18.0)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _label(evaluator: str) -> str:
    if evaluator == PARTICLE_FILTER:
        return PARTICLE_FILTER_LABEL
    return style.EVALUATOR_NAMES.get(evaluator) or ESTIMATORS[evaluator].label


def _errors(axis: Axes, drawn: Sequence[Selection], evaluators: Sequence[str]) -> None:
    axis.axvline(0.0, color="black", linewidth=0.8)
    for place, selection in enumerate(drawn):
        offset = 0.22 * (place - (len(drawn) - 1) / 2.0)
        points = []
        for y, evaluator in enumerate(evaluators):
            if evaluator in OTHER_TARGET:
                continue
            for seed, scored in selection.truth.get(evaluator, {}).items():
                reference = selection.truth.get(PARTICLE_FILTER, {}).get(seed)
                if reference is None:
                    continue
                error = math.hypot(
                    scored.standard_error, 0.0 if evaluator == PARTICLE_FILTER else reference.standard_error
                )
                points.append((scored.log_likelihood - reference.log_likelihood, y + offset, ERRORS * error))
        if not points:
            continue
        x, heights, bars = zip(*points, strict=True)
        axis.errorbar(
            *(x, heights),
            xerr=[0.0 if math.isnan(bar) else bar for bar in bars],
            fmt=CORPUS_MARKERS[selection.corpus],
            color=CORPUS_COLOURS[selection.corpus],
            markersize=3.5,
            linewidth=0.9,
            label=selection.corpus,
        )
    for y, evaluator in enumerate(evaluators):
        if evaluator in OTHER_TARGET:
            axis.text(
                *(0.5, y, "(another target)"),
                transform=axis.get_yaxis_transform(),
                ha="center",
                va="center",
                fontsize=7.0,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )
    axis.set_xscale("symlog", linthresh=LINEAR_UP_TO)
    axis.xaxis.set_major_locator(FixedLocator(MARKS))
    _plain(axis.xaxis, "g")
    axis.xaxis.set_minor_locator(NullLocator())
    axis.tick_params(axis="x", labelsize=7.0)
    axis.set_xlabel(f"nats per token\nless the reference\n{style.SYMMETRIC}")
    axis.set_title("error on the true model", fontweight="bold", pad=18.0)
    axis.tick_params(axis="y", length=0)
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.985), ncol=3, handletextpad=0.2, columnspacing=0.8, borderpad=0.0
    )
