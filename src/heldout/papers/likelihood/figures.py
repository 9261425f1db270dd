"""Folding-in and its repairs beside the truth, bounds around it, what libraries report, error against work.

The truth's band is its own stated error, bias included.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from heldout.evaluators import (
    ANNEALED,
    CHIB,
    ESTIMATORS,
    EXACT,
    FULL,
    HALF,
    LAPLACE,
    LINEAR,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    PARTICLES,
    SEQUENTIAL,
)
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.experiments import bidirectional as bounded
from heldout.papers.likelihood.experiments import epca_marginal as marginal
from heldout.papers.likelihood.experiments.is_a_probability import SAMPLED
from heldout.papers.likelihood.experiments.is_a_probability import TRUTH as TRUE_MODEL
from heldout.papers.likelihood.experiments.optimism import DENSITY, NML, ONE_STEP, PLUG_IN
from heldout.papers.likelihood.experiments.peers import REPORTED
from heldout.papers.likelihood.results import (
    CHANCE,
    FITTED,
    MIXTURE,
    OPTIMISM,
    PEERS,
    TRUTH,
    WANTED,
    Panel,
    bounds,
    by_constant,
    by_length,
    component_perplexities,
    curve,
    degrees_of_freedom,
    errors,
    further_constants,
    held,
    libraries,
    main_constant,
    optimism_corpora,
    peers_corpora,
    precision_panels,
    standardised,
)
from heldout.papers.likelihood.tables import model_label, power_of_ten, ranked, score_label
from heldout.points import Point, select
from heldout.typesetting import latex, style

if TYPE_CHECKING:
    import pandas as pd

Look = dict[str, Any]
DASHED: Any = (0, (4, 2))
NO_FURTHER_CONSTANTS = "no further constants"

# of several corpora in one panel
CORPUS_LOOKS: tuple[Look, ...] = (
    {
        "color": style.CORPUS_COLOURS[0],
        "marker": "o",
        "markersize": 5.5,
        "markerfacecolor": "none",
    },  # seen below another
    {"color": style.CORPUS_COLOURS[1], "marker": "s"},
    {"color": style.CORPUS_COLOURS[2], "marker": "^"},
)
# evaluator, variant, label, look
OPTIMISM_CURVES: tuple[tuple[str, str, str, Look], ...] = (
    (FULL, OPTIMISM, "full folding-in", {"marker": "v"}),
    (PLUG_IN, OPTIMISM, "plug-in posterior mean", {"marker": "P", "linewidth": 0.9}),
    (TRUTH, OPTIMISM, "likelihood, the model's prior", {"marker": "o", "linewidth": 1.9}),
    # shades of the likelihood's black, for these two lie close
    (
        TRUTH,
        FITTED,
        "likelihood, fitted prior",
        {"marker": "s", "markersize": 3.0, "linewidth": 1.1, "color": "#666666"},
    ),
    (
        TRUTH,
        MIXTURE,
        "likelihood, mixture of priors",
        {"marker": "D", "markersize": 2.5, "linewidth": 1.1, "color": "#A6A6A6"},
    ),
    (MEAN_FIELD_BOUND, OPTIMISM, "mean-field bound", {"marker": "^", "linewidth": 0.9}),
    # thin and hollow: it may run on the likelihood
    (
        HALF,
        OPTIMISM,
        "half folding-in (half the tokens)",
        {"marker": "s", "linewidth": 1.0, "markerfacecolor": "white"},
    ),
)
REPAIRS: tuple[tuple[str, str, str, Look], ...] = (
    (FULL, OPTIMISM, "full folding-in", {"marker": "v"}),
    (LAPLACE, OPTIMISM, "Laplace, softmax basis", {"marker": "o", "linewidth": 1.9}),
    (LAPLACE, FITTED, "Laplace, fitted prior (top row)", {"marker": "o", "linestyle": DASHED, "linewidth": 1.1}),
    (ONE_STEP, OPTIMISM, "one step from the folded-in point", {"marker": "P"}),
    (DENSITY, OPTIMISM, "prior's integral not divided out", {"marker": "s", "linewidth": 0.9}),
    (NML, OPTIMISM, "NML penalty", {"marker": "^", "linewidth": 0.9, "linestyle": (0, (5, 1.5, 1, 1.5))}),
)
GAP_ALPHA, BAND_ALPHA = 0.13, 0.15  # of what folding-in gains, and of a likelihood's error
ERRORS = 2.0  # standard errors in each direction of a band or bar
REPAIRS_LINEAR = 1e-2  # nats per token; up to here the axis is linear, beyond it logarithmic
MOST_TOPICS_BELOW = 100  # in the panels against length and constant

BOUNDS_COLOUR, BETWEEN = "#555555", "#EEEEEE"
BOUNDS_LINEAR = 0.3  # nats

# evaluator, label, line
COMPONENT_CURVES = (
    (HALF, "half folding-in", style.EVALUATOR_COLOURS[HALF], "s-"),
    (marginal.ANNEALED, "marginal likelihood, annealed", style.COLOURS["truth"], "o-"),
    (FULL, "full folding-in", style.EVALUATOR_COLOURS[FULL], "v-"),
)
COMPONENT_LINES = (("#555555", "-"), ("#555555", "--"))  # of one component and of two
FARTHEST = 5.0  # standard errors; what lies further out is counted at the edge

LIBRARY_LOOKS: dict[str, Look] = {
    library: {"color": colour, "marker": marker}
    for (library, colour), marker in zip(style.LIBRARY_COLOURS.items(), ("o", "s", "^"), strict=True)
}

MODEL_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
REFUTED, CHANCES = "#FBE3DC", 100.0  # where no probability lies; nats from which chances are written above the axis

PERCENT_RANGE, PERCENT_TICKS = (0.05, 150.0), (0.1, 1.0, 10.0, 100.0)
PALE, OTHERS = "#BBBBBB", "others"
# those that are told apart, the others being pale
ESTIMATOR_MARKERS = {
    CHIB: "D",
    ANNEALED: "^",
    SEQUENTIAL: "o",
    PARTICLES: "s",
    MEAN_FIELD_FIRST: "v",
    LINEAR: "P",
    LAPLACE: "X",
    MEAN_FIELD_BOUND: "p",
}
ESTIMATOR_LOOKS: dict[str, Look] = {
    name: {"color": style.EVALUATOR_COLOURS[name], "marker": marker} for name, marker in ESTIMATOR_MARKERS.items()
}
ESTIMATOR_LOOKS[MEAN_FIELD_BOUND] |= {"markerfacecolor": "white", "linestyle": "none"}

# A made-up document at K = 2, for the eye alone: topics over four words and how often each stands in it
EXAMPLE_TOPICS = np.array([[0.55, 0.25, 0.15, 0.05], [0.05, 0.15, 0.25, 0.55]])
EXAMPLE_COUNTS = np.array([14, 9, 8, 8])
# of the front page's second panel: evaluator, label, where on the curve it stands (share of its points), which of its
# ends stands there, and how far from it, in points
LABELLED = (
    (TRUTH, "the likelihood", 0.0, "left", (0.0, 8.0)),
    (HALF, "half folding-in", 1.0, "right", (-6.0, 2.0)),
    (FULL, "full folding-in", 0.7, "right", (-4.0, -3.0)),
)
HELD_SHOWN = (  # scores of its third, and their labels
    (FULL, "full folding-in"),
    (PLUG_IN, "posterior mean"),
    (HALF, "half folding-in"),
    (LAPLACE, "Laplace"),
    (MEAN_FIELD_BOUND, "mean field"),
    (SEQUENTIAL, "left-to-right,\nsequential"),
    (ANNEALED, "annealing"),
)


def message(inputs: Inputs) -> Figure:
    """Draw the paper in three panels: what folding-in reports of a document, how far that goes, what it cannot be.

    The first is made up. The second is of the study's first corpus with a truth, the third is left out where no score
    was held to its model.
    """
    shown = bool(held(inputs))
    figure = Figure(figsize=(style.WIDTH, 2.7))
    axes = list(figure.subplots(1, 3 if shown else 2, width_ratios=(1.0, 1.25, 1.1) if shown else (1.0, 1.25)))
    _example(axes[0])
    corpus = optimism_corpora(inputs)[0]
    _labelled_curves(axes[1], inputs, corpus)
    if shown:
        _held_in_short(axes[2], inputs)
    for axis in axes if inputs.synthetic() else ():
        style.mark_synthetic(axis)
    return figure


def example_likelihood() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return topic weights in (0, 1) and the example's likelihood there, divided by its average, exactly.

    The likelihood is a polynomial of the document's length, which Gauss's rule integrates with half as many points.
    """
    points, weights = np.polynomial.legendre.leggauss(int(EXAMPLE_COUNTS.sum()) // 2 + 1)
    theta = np.linspace(0.0, 1.0, 401)

    def log_likelihood(at: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = EXAMPLE_TOPICS
        result: NDArray[np.float64] = np.log(np.outer(at, first) + np.outer(1.0 - at, second)) @ EXAMPLE_COUNTS
        return result

    average = 0.5 * float(weights @ np.exp(log_likelihood(0.5 * (points + 1.0))))
    return theta, np.exp(log_likelihood(theta)) / average


def _example(axis: Axes) -> None:
    """Draw one document's likelihood against its weights, its peak and its average."""
    theta, ratio = example_likelihood()
    full, truth = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS["truth"]
    peak = int(ratio.argmax())
    axis.plot(theta, ratio, color="#555555")
    axis.fill_between(theta, ratio, color="#EEEEEE", linewidth=0)
    axis.axhline(1.0, color=truth, linewidth=1.4)
    axis.plot(theta[peak], ratio[peak], "o", color=full, markersize=5.0)
    axis.set_ylim(0.0, 1.5 * ratio[peak])
    axis.set_xlim(0.0, 1.0)
    peak_label: Look = {"ha": "center", "va": "bottom", "color": full, "fontsize": 7.5, "fontweight": "bold"}
    axis.text(0.58, 1.05 * ratio[peak], "its peak: what\nfolding-in reports", **peak_label)
    average: Look = {"ha": "left", "va": "bottom", "fontsize": 7.5, "fontweight": "bold", "color": truth}
    axis.text(0.02, 1.05, "its average:\nthe likelihood", path_effects=style.outline(), **average)
    axis.set_xticks([0.0, 0.5, 1.0], ["0", "0.5", "1"])
    style.plain_ticks(axis.yaxis, 4)
    axis.set_xlabel(r"weight $\theta$ of the first topic")
    axis.set_ylabel(r"$p(w\,|\,\theta)$ over its average")
    axis.set_title("(a) one document", fontweight="bold")


def _labelled_curves(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw PLSA's curves on one corpus, labelled on the lines."""
    truth, full = (curve(inputs, corpus, PLSA, evaluator) for evaluator in (TRUTH, FULL))
    both = sorted(truth.keys() & full.keys())
    low, high = ([points[k].perplexity for k in both] for points in (full, truth))
    axis.fill_between(both, low, high, color=style.EVALUATOR_COLOURS[FULL], alpha=GAP_ALPHA, linewidth=0)
    for evaluator, label, place, end, away in LABELLED:
        points = list(curve(inputs, corpus, PLSA, evaluator).values())
        if not points:
            continue
        colour = style.EVALUATOR_COLOURS[evaluator]
        axis.plot([p.topics for p in points], [p.perplexity for p in points], "o-", color=colour)
        at = points[round(place * (len(points) - 1))]
        look: Look = {"ha": end, "va": "center", "fontsize": 7.5, "fontweight": "bold", "color": colour}
        offset: Look = {"xytext": away, "textcoords": "offset points", "path_effects": style.outline()}
        axis.annotate(label, (at.topics, at.perplexity), **offset, **look)
    if both:
        widest = max(both, key=lambda k: full[k].value - truth[k].value)
        factor = math.exp(full[widest].value - truth[widest].value)
        middle = math.exp(-0.5 * truth[widest].value - 0.5 * full[widest].value)
        style.label_factor(axis, widest, middle, f"{factor:.1f}", style.EVALUATOR_COLOURS[FULL])
    style.finish([axis], style.sparse_ticks(both))
    axis.set_xlabel("number of topics")
    axis.set_ylabel("perplexity per token")
    axis.set_title(f"(b) PLSA on {latex.corpus_title(corpus)}", fontweight="bold")


def _held_in_short(axis: Axes, inputs: Inputs) -> None:
    """Draw the excess over the truth of a few scores on documents drawn from the model; right of the line is none."""
    by_score = held(inputs)
    rows = [
        (score, label, by_score[TRUE_MODEL, score]) for score, label in HELD_SHOWN if (TRUE_MODEL, score) in by_score
    ]
    threshold = -math.log(CHANCE)
    values = [max(one.over, -1e4) for *_, of_models in rows for one in of_models]
    left, right = (end(values, default=0.0) for end in (min, max))
    axis.set_xscale("symlog", linthresh=threshold, linscale=0.7)
    axis.set_xlim(min(-CHANCES, 1.6 * left), max(CHANCES, 1.8 * right))
    axis.axvspan(threshold, axis.get_xlim()[1], color=REFUTED, linewidth=0, zorder=0.4)
    axis.axvline(0.0, color="black", linewidth=0.8, zorder=1.4)
    for y, (score, _, of_models) in enumerate(rows[::-1]):
        for one in of_models:
            axis.plot(max(one.over, -1e4), y, "o", color=_score_colour(TRUE_MODEL, score), markersize=3.5)
    axis.set_yticks(range(len(rows)), [label for _, label, _ in rows[::-1]], fontsize=7.0)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    low, high = axis.get_xlim()
    decades = [CHANCES * 10.0**n for n in range(3)]
    ticks = [-max(d for d in decades if d <= -low), 0.0, threshold, max(d for d in decades if d <= high)]
    axis.set_xticks(ticks, [style.signed(round(tick)) for tick in ticks])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(f"score less log-likelihood,\nnats {style.SYMMETRIC}")
    look: Look = {"ha": "right", "va": "bottom", "fontsize": 7.0, "color": style.EVALUATOR_COLOURS[FULL]}
    axis.text(0.99, 0.02, "no\nprobability\nlies here", transform=axis.transAxes, **look)
    axis.set_title("(c) is it a probability?", fontweight="bold")


def optimism(inputs: Inputs) -> Figure:
    """Draw perplexity against topics: a panel per corpus, PLSA above, LDA below."""
    corpora = optimism_corpora(inputs)
    models = [m for m in (PLSA, LDA) if any(curve(inputs, c, m, TRUTH) for c in corpora)]
    figure = Figure(figsize=(style.WIDTH, 4.6 if len(models) > 1 else style.HEIGHT + 0.5))
    grid = figure.subplots(len(models), len(corpora), sharex=True, sharey="col", squeeze=False)
    topics: set[int] = set()
    for axes, model in zip(grid, models, strict=True):
        for axis, corpus in zip(axes, corpora, strict=True):
            truth, full = (curve(inputs, corpus, model, evaluator) for evaluator in (TRUTH, FULL))
            topics |= truth.keys()
            _optimism_curves(axis, inputs, corpus, model, truth, full)
            if inputs.synthetic(corpus):
                style.mark_synthetic(axis)
            if model == models[0]:
                axis.set_title(latex.corpus_title(corpus), fontweight="bold")
            if model == models[-1]:
                axis.set_xlabel("number of topics")
            if corpus == corpora[0]:
                axis.set_ylabel(f"{style.MODEL_NAMES[model]}: perplexity per token")
    for axis in (*grid[0], *grid[-1]):
        style.finish([axis], style.sparse_ticks(topics))
    handles, labels = style.fullest_legend(grid.ravel())
    bold, pale = style.EVALUATOR_COLOURS[TRUTH], style.EVALUATOR_COLOURS[FULL]
    for colour, alpha, label in (
        (pale, GAP_ALPHA, "what full folding-in gains"),
        (bold, BAND_ALPHA, "a likelihood's error, edged as its line"),
    ):
        handles.append(Patch(color=colour, alpha=alpha, linewidth=0, label=label))
        labels.append(label)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def _optimism_curves(
    axis: Axes, inputs: Inputs, corpus: str, model: str, truth: dict[int, Point], full: dict[int, Point]
) -> None:
    """Draw one panel's curves, the gap between folding-in and the truth shaded and the last one's factor beside it."""
    both = sorted(truth.keys() & full.keys())
    low, high = ([points[k].perplexity for k in both] for points in (full, truth))
    axis.fill_between(both, low, high, color=style.EVALUATOR_COLOURS[FULL], alpha=GAP_ALPHA, linewidth=0)
    for evaluator, variant, label, look in OPTIMISM_CURVES:
        look = {"color": style.EVALUATOR_COLOURS[evaluator], **look}
        points = curve(inputs, corpus, model, evaluator, variant)
        if points:
            axis.plot(list(points), [p.perplexity for p in points.values()], label=label, **look)
        if points and evaluator == TRUTH:
            low, high = ([math.exp(-p.value + s * ERRORS * p.error) for p in points.values()] for s in (-1.0, 1.0))
            axis.fill_between(list(points), low, high, color=look["color"], alpha=BAND_ALPHA, linewidth=0)
            for edge in (low, high):  # they say whose band it is
                axis.plot(list(points), edge, color=look["color"], linewidth=0.5)
    if both:
        widest = both[-1]
        ends = full[widest].perplexity, truth[widest].perplexity
        factor = math.exp(full[widest].value - truth[widest].value)
        style.span_factor(axis, *ends, f"{factor:.1f}", style.EVALUATOR_COLOURS[FULL])


def optimism_by(inputs: Inputs) -> Figure:
    """Draw full folding-in less the truth, nats per token, of PLSA: by document length, and by the constant.

    A line per corpus and number of topics: those at which further constants were measured, else the fewest and most.
    Without further constants there is no panel of them.
    """
    corpora = optimism_corpora(inputs)
    rows: list[tuple[str, int, Look, list[tuple[float, float]]]] = []
    for corpus, corpus_look in zip(corpora, CORPUS_LOOKS, strict=False):
        available = curve(inputs, corpus, PLSA, TRUTH).keys()
        shown = sorted(further_constants(inputs) & available)[:2] or sorted({min(available), max(available)})
        for topics, line in zip(shown, ("-", DASHED), strict=False):
            look: Look = {"label": f"{latex.corpus_title(corpus)}, {topics} topics", **corpus_look, "linestyle": line}
            rows.append((corpus, topics, look, by_constant(inputs, corpus, topics)))
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT + 0.5))
    varied = any(len(constants) > 1 for *_, constants in rows)
    left, *others = figure.subplots(1, 1 + varied, sharey=True, squeeze=False)[0]
    for corpus, topics, look, constants in rows:
        left.plot(*zip(*by_length(inputs, corpus, PLSA, topics, FULL), strict=True), **look)
        for right in others if len(constants) > 1 else ():
            right.plot(*zip(*constants, strict=True), **look)
    left.set_xscale("log")
    left.set_xlabel("document length, tokens (mean of a group)")
    left.set_ylabel("full folding-in less the likelihood,\nnats per token (log scale)")
    left.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    left.xaxis.set_minor_formatter(NullFormatter())
    for right in others:
        right.set_xlabel("constant added to the topics")
        right.set_xscale("log")
        right.xaxis.set_major_locator(LogLocator(numticks=12))
        right.xaxis.set_minor_locator(NullLocator())
    lowest = min(value for drawn in left.get_lines() for value in np.asarray(drawn.get_ydata(), dtype=float))
    if lowest > 0.0:  # two corpora of few topics lie together, a third near zero
        left.set_yscale("log")
        left.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        left.yaxis.set_minor_formatter(NullFormatter())
    for axis, title in zip((left, *others), ("by document length", "by smoothing"), strict=False):
        axis.set_title(title, fontweight="bold")
    for axis in (left, *others) if inputs.synthetic(*corpora) else ():
        style.mark_synthetic(axis)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(corpora), fontsize=7.5, handlelength=3.2)
    return figure


def repair(inputs: Inputs) -> Figure:
    """Draw PLSA's errors: a column per corpus; against topics, below that document length, below that the constant."""
    corpora = optimism_corpora(inputs)
    varied = any(len(by_constant(inputs, corpus, k)) > 1 for corpus in corpora for k in further_constants(inputs))
    rows = 2 + varied  # without further constants there is no row of them
    figure = Figure(figsize=(style.WIDTH, 2.0 * rows))
    grid = figure.subplots(rows, len(corpora), sharey=True, squeeze=False)
    constants: set[float] = set()
    for axes, corpus in zip(grid.T, corpora, strict=True):
        axes[0].set_title(latex.corpus_title(corpus), fontweight="bold")
        constants |= _repair_column(axes, inputs, corpus)
    if varied:
        _constant_ticks(list(grid[2]), sorted(constants), main_constant(inputs))
    ticks = [-10.0, -1.0, -0.1, -REPAIRS_LINEAR, 0.0, REPAIRS_LINEAR, 0.1, 1.0]
    low, high = grid[0][0].get_ylim()
    grid[0][0].set_yticks(ticks, [style.signed(tick) for tick in ticks])
    grid[0][0].set_ylim(low, high)
    figure.supylabel(f"estimate less the likelihood, nats per token {style.SYMMETRIC}", fontsize=8.0)
    handles, labels = style.fullest_legend(grid[0])
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5, handlelength=2.6)
    return figure


def _repair_column(axes: Sequence[Axes], inputs: Inputs, corpus: str) -> set[float]:
    """Draw one corpus's three panels and return the constants above 0 that they show."""
    by_topics, of_length, *of_constants = axes
    topics = list(curve(inputs, corpus, PLSA, TRUTH))
    at = max((k for k in topics if k <= MOST_TOPICS_BELOW), default=topics[0])
    smoothed = max((k for k in topics if k <= at and k in further_constants(inputs)), default=at)
    lengths: list[int] = []
    most = 0
    constants: set[float] = set()
    for evaluator, variant, label, look in REPAIRS:
        off = errors(inputs, corpus, PLSA, evaluator, variant)
        look = {"color": style.EVALUATOR_COLOURS[evaluator], **look}
        if off:
            by_topics.plot(list(off), [error for error, _ in off.values()], label=label, **look)
        if variant == OPTIMISM:
            groups = by_length(inputs, corpus, PLSA, at, evaluator)
            of_length.plot(*zip(*groups, strict=True), **look)
            over = by_constant(inputs, corpus, smoothed, evaluator)
            constants |= {constant for constant, _ in over if constant > 0.0}
            for of_constant in of_constants if over else ():
                of_constant.plot(*zip(*over, strict=True), **look)
            if evaluator == FULL:
                lengths, most = [length for length, _ in groups], len(over)
    for panel in axes:
        panel.axhline(0.0, color="black", linewidth=0.9, zorder=1)
        panel.set_xscale("log")
        panel.set_yscale("symlog", linthresh=REPAIRS_LINEAR, linscale=0.6)
        panel.yaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_minor_formatter(NullFormatter())
        if inputs.synthetic(corpus):
            style.mark_synthetic(panel)
    for of_constant in of_constants:
        of_constant.set_xlabel(f"constant, {smoothed} topics")
        if most < 2:
            of_constant.text(0.04, 0.06, NO_FURTHER_CONSTANTS, transform=of_constant.transAxes, fontsize=7.5)
    _ticks(by_topics, style.sparse_ticks(topics))
    _ticks(of_length, sorted({lengths[0], lengths[len(lengths) // 2], lengths[-1]}), ",")
    by_topics.set_xlabel("number of topics")
    of_length.set_xlabel(f"document length, {at} topics")
    return constants


def _ticks(axis: Axes, numbers: Sequence[int], form: str = "") -> None:
    axis.set_xticks(numbers, [format(number, form) for number in numbers])
    axis.xaxis.set_minor_locator(NullLocator())
    if form:
        _inwards(axis)


def _inwards(axis: Axes) -> None:
    """Write the first and last tick's labels towards the panel's middle: neighbouring panels' would touch."""
    labels = axis.get_xticklabels()
    if len(labels) > 1:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")


def _constant_ticks(axes: list[Axes], constants: list[float], own: float) -> None:
    """Give the panels one range, and the study's constant and the ends of the range as ticks."""
    shown = sorted({constants[0], own, constants[-1]} - {0.0}) if constants else []
    for axis in axes:
        if constants:
            axis.set_xlim(constants[0] / 2.0, constants[-1] * 2.0)
            axis.set_xticks(shown, [style.power(constant) for constant in shown])
            _inwards(axis)
        axis.xaxis.set_minor_locator(NullLocator())


def bidirectional(inputs: Inputs) -> Figure:
    """Draw both bounds minus left-to-right sequential against the number of temperatures, a panel per model and K.

    Means over documents with two standard errors; the text in a panel is the gap at its last number of temperatures.
    """
    corpus, cells = bounds(inputs)
    titles = [f"{style.MODEL_NAMES[model]}, {topics} topics" for model, topics in cells]
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus))
    for axis, cell in zip(axes, cells.values(), strict=True):
        axis.title.set_fontsize(7.5)
        for mark in axis.texts:  # "synthetic", if anything: panels this narrow need it smaller
            mark.set(fontsize=9, color="#C4C4C4", in_layout=False)
        _bounds_panel(axis, cell)
    axes[0].set_yscale("symlog", linthresh=BOUNDS_LINEAR, linscale=0.6)
    low, high = axes[0].get_ylim()
    ticks = sorted({sign * tick for tick in (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0) for sign in (-1.0, 1.0)})
    axes[0].set_yticks([tick for tick in ticks if low <= tick <= high])
    axes[0].yaxis.set_major_formatter(FuncFormatter(style.signed))
    axes[0].yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylabel(f"bound {style.MINUS} left-to-right sequential,\nnats per document\n{style.SYMMETRIC}")
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=len(entries), fontsize=7.5)
    return figure


def _bounds_panel(axis: Axes, cell: "pd.DataFrame") -> None:
    """Draw one model's bounds at one K."""
    upper, lower, gap, reference, exact = (
        select(cell, quantity=quantity).sort_values("at")
        for quantity in (bounded.UPPER, bounded.LOWER, bounded.GAP, SEQUENTIAL, bounded.EXACT)
    )
    axis.fill_between(upper["at"], lower["value"], upper["value"], color=BETWEEN, linewidth=0, zorder=0.6)
    label = f"left-to-right sequential, {int(reference['at'].iloc[0])} samples"
    axis.axhline(0.0, color=style.EVALUATOR_COLOURS[SEQUENTIAL], linewidth=1.4, zorder=1.5, label=label)
    for bound, label, marker in ((upper, "upper bound", "v"), (lower, "lower bound", "^")):
        look: Look = {"color": BOUNDS_COLOUR, "marker": marker, "linewidth": 1.2, "elinewidth": 0.8, "label": label}
        axis.errorbar(bound["at"], bound["value"], ERRORS * bound["standard_error"], **look)
    axis.set_xscale("log")
    ticks = sorted(int(at) for at in upper["at"])
    labels = [f"{t:,}" if (len(ticks) - 1 - i) % 2 == 0 else "" for i, t in enumerate(ticks)]
    axis.set_xticks(ticks, labels, fontsize=7.0)
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("temperatures")
    axis.margins(x=0.1)
    if len(exact):
        look = {"color": style.EVALUATOR_COLOURS[EXACT], "linestyle": DASHED, "zorder": 1.6, "label": "exact"}
        axis.axhline(float(exact["value"].iloc[0]), **look)
    last = gap.iloc[-1]
    value = f"{last['value']:.2f}".replace("-", style.MINUS)
    axis.text(
        *(0.96, 0.97, f"gap at {int(last['at']):,}:\n{value} ± {last['standard_error']:.2f}"),
        transform=axis.transAxes,
        ha="right",
        va="top",
        fontsize=7.0,
    )


def epca_marginal(inputs: Inputs) -> Figure:
    """Draw perplexity against components, and annealing minus quadrature in annealing's own standard errors."""
    corpus, perplexities = component_perplexities(inputs)
    titles = [f"EPCA on {latex.corpus_title(corpus)}", "annealing against quadrature"]
    scaled = standardised(inputs, corpus)
    figure, axes = style.panels(titles if scaled else titles[:1], synthetic=inputs.synthetic(corpus))
    left = axes[0]
    for evaluator, label, colour, line in COMPONENT_CURVES:
        left.plot(*_xy(perplexities[evaluator]), line, color=colour, label=label)
    if marginal.QUADRATURE in perplexities:
        look: Look = {"color": style.COLOURS["truth"], "markerfacecolor": "none", "markersize": 8.0}
        left.plot(*_xy(perplexities[marginal.QUADRATURE]), "o", label="the same by quadrature", **look)
    left.set_xlabel("number of components")
    style.finish([left], list(perplexities[FULL]))
    left.legend(loc="lower left", fontsize=7.0)
    if scaled:
        axes[1].remove()  # it shares the perplexity axis
        right = figure.add_subplot(1, 2, 2)
        right.set_title(titles[1], fontweight="bold")
        if inputs.synthetic(corpus):
            style.mark_synthetic(right)
        _densities(right, scaled, degrees_of_freedom(inputs, corpus))
    return figure


def _xy(values: dict[int, float]) -> tuple[list[int], list[float]]:
    return list(values), list(values.values())


def _densities(axis: Axes, scaled: dict[int, NDArray[np.float64]], freedom: int) -> None:
    """Draw the densities of standardised differences beside Student's."""
    edges = np.linspace(-FARTHEST, FARTHEST, 31)
    for (K, values), (colour, line) in zip(scaled.items(), COMPONENT_LINES, strict=False):
        heights, _ = np.histogram(np.clip(values, -FARTHEST, FARTHEST), edges)
        label = f"{K} component{'s' * (K > 1)}, {len(values)} documents"
        density = heights / len(values) / (edges[1] - edges[0])
        axis.stairs(density, edges, color=colour, linestyle=line, label=label)
    grid = np.linspace(-FARTHEST, FARTHEST, 201)
    label = "if the errors are right"
    axis.plot(grid, student(grid, freedom), color=style.COLOURS["truth"], linewidth=0.9, label=label)
    axis.set_xlabel(f"(annealed {style.MINUS} quadrature) / standard error")
    axis.set_ylabel("density of documents")
    axis.set_ylim(0.0, 1.4 * axis.get_ylim()[1])
    axis.legend(loc="upper left", fontsize=7.0)


def student(x: NDArray[np.float64], freedom: int) -> NDArray[np.float64]:
    """Return Student's density at x with the given degrees of freedom."""
    constant = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    density: NDArray[np.float64] = np.exp(constant - 0.5 * (freedom + 1) * np.log1p(x * x / freedom))
    return density


def is_a_probability(inputs: Inputs) -> Figure:
    """Draw every score's excess over the truth on documents drawn from a model: those that no probability has above.

    A filled mark is the excess over log p(w); a hollow one, of scores that are refuted, over log p(w | theta).
    """
    rows = ranked(inputs)[::-1]
    named = {(one.corpus, one.topics): model_label(one) for _, _, of_models in rows for one in of_models}
    markers = dict(zip(named, MODEL_MARKERS, strict=False))
    threshold = -math.log(CHANCE)
    figure = Figure(figsize=(style.WIDTH, 1.3 + 0.155 * len(rows)))
    axis = figure.subplots()
    axis.set_xscale("symlog", linthresh=threshold, linscale=0.7)
    shown = [one.over for _, _, of_models in rows for one in of_models if math.isfinite(one.over)]
    left, right = min(-CHANCES, 1.6 * min(shown)), max(CHANCES, 1.8 * max(shown))
    for y, (model, score, of_models) in enumerate(rows):
        colour = _score_colour(model, score)
        refuted = any(one.refuted for one in of_models)
        for one in of_models:
            look: Look = {"color": colour, "marker": markers[one.corpus, one.topics], "markersize": 4.5}
            axis.plot(max(left, one.over), y, **look, zorder=3.0)
            if refuted:
                axis.plot(one.over_given, y, **look, markerfacecolor="white", zorder=2.5)
    first = next((y for y, (*_, of_models) in enumerate(rows) if any(one.refuted for one in of_models)), len(rows))
    axis.axhline(first - 0.5, color="black", linewidth=0.8)
    axis.axvspan(threshold, right, color=REFUTED, linewidth=0, zorder=0.4)
    axis.axvline(threshold, color=style.EVALUATOR_COLOURS[FULL], linewidth=1.4, zorder=1.5)
    axis.axvline(0.0, color="black", linewidth=0.8, zorder=1.4)
    axis.set_xlim(left, right)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    axis.set_yticks(range(len(rows)), [score_label(model, score) for model, score, _ in rows], fontsize=7.0)
    for label in axis.get_yticklabels()[first:]:
        label.set_fontweight("bold")
    decades = [10.0**n for n in range(2, 12)]
    ticks = [sign * tick for tick in decades for sign in (-1.0, 1.0)]
    axis.set_xticks([0.0, *(t for t in ticks if left <= t <= right)])
    axis.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"${value:+.0e}$".replace("1e+0", "10^") if value else "0")
    )
    axis.xaxis.set_minor_locator(NullLocator())
    number = rows[0][2][0].documents
    axis.set_xlabel(f"score less log-likelihood, nats over {number} documents drawn from the model\n{style.SYMMETRIC}")
    above: Look = {"transform": axis.get_xaxis_transform(), "va": "bottom", "fontsize": 7.5}
    bold: Look = {**above, "fontweight": "bold", "color": style.EVALUATOR_COLOURS[FULL]}
    axis.text(threshold, 1.035, " no probability", ha="left", **bold)
    axis.text(0.4 * threshold, 1.0, "chance at most", ha="right", **above)
    for nats in (threshold, *(tick for tick in decades if tick <= right)):
        chance = power_of_ten(-nats).removeprefix(r"\ensuremath{").removesuffix("}")
        axis.text(nats, 1.0, f"${chance}$", ha="center", **above)
    axis.text(threshold, 1.035, "may be one ", ha="right", **{**bold, "color": "black"})
    if inputs.synthetic():
        style.mark_synthetic(axis)
    grey: Look = {"color": "#555555", "linestyle": "none", "markersize": 4.5}
    handles = [Line2D([], [], marker=markers[at], label=named[at], **grey) for at in named]
    handles.append(Line2D([], [], marker="o", markerfacecolor="white", label=r"over $\log p(w\,|\,\theta)$", **grey))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7.0, columnspacing=1.0)
    return figure


def _score_colour(model: str, score: str) -> str:
    """Return a score's or a library's colour, grey where it has none of its own."""
    if model in LIBRARY_LOOKS:
        return str(LIBRARY_LOOKS[model]["color"])
    return style.EVALUATOR_COLOURS.get(score.removesuffix(SAMPLED), "#555555")


def peers(inputs: Inputs) -> Figure:
    """Draw perplexity against the number of topics, a panel per corpus: reported dashed, true solid."""
    shown, run = peers_corpora(inputs), libraries(inputs)
    figure = Figure(figsize=(style.WIDTH, 2.9))
    axes = list(figure.subplots(1, max(1, len(shown)), sharey=True, squeeze=False)[0])
    grid: set[int] = set()
    for axis, corpus in zip(axes, shown, strict=False):
        axis.set_title(latex.corpus_title(corpus), fontweight="bold")
        axis.set_xlabel("number of topics")
        if inputs.synthetic(corpus):
            style.mark_synthetic(axis)
        ratios = []
        for library in run:
            reported, truth = (_finite(curve(inputs, corpus, library, name, PEERS)) for name in (REPORTED, TRUTH))
            for name, points, line in ((REPORTED, reported, DASHED), (TRUTH, truth, "-")):
                grid.update(points)
                y = [point.perplexity for point in points.values()]
                label = f"{library}, {name}"
                below = (
                    {"linewidth": 3.2, "markersize": 5.0} if line == "-" and library == run[0] else {}
                )  # the next lies on it
                axis.plot(list(points), y, linestyle=line, label=label, **LIBRARY_LOOKS[library] | below)
            both = reported.keys() & truth.keys()
            ratios += [(truth[k].value - reported[k].value, library, k, reported[k], truth[k]) for k in both]
        if ratios:  # the largest, nearer the truth
            ratio, library, k, own, true = max(ratios, key=lambda of: of[0])
            between = math.exp(-0.3 * own.value - 0.7 * true.value)
            style.label_factor(axis, k, between, f"{math.exp(ratio):,.0f}", LIBRARY_LOOKS[library]["color"])
    axes[0].set_ylabel("perplexity per token")
    if grid:
        style.finish(axes, style.sparse_ticks(grid))
        axes[0].yaxis.set_major_locator(LogLocator(base=10.0))
        axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    handles = [Line2D([], [], label=library, **LIBRARY_LOOKS[library]) for library in run]
    handles.append(Line2D([], [], color="#444444", linestyle=DASHED, label="as reported"))
    handles.append(Line2D([], [], color="#444444", label="likelihood, same model"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7.5, handlelength=2.6)
    return figure


def _finite(points: dict[int, Point]) -> dict[int, Point]:
    return {k: point for k, point in points.items() if math.isfinite(point.perplexity)}


def precision(inputs: Inputs) -> Figure:
    """Draw error against work, a row per size, a column per prior; a star at the least work that is enough.

    Work is counted in terms, one topic's share of one token each
    (`heldout.papers.likelihood.experiments.precision.TERMS`), about a nanosecond: the same on every machine.
    """
    panels = precision_panels(inputs)
    columns = len({panel.prior for panel in panels})
    rows = len(panels) // columns
    figure = Figure(figsize=(style.WIDTH, 5.4 if rows > 1 else 3.4))
    grid = figure.subplots(rows, columns, sharex="row", sharey=True, squeeze=False)
    entries: dict[str, Any] = {}
    for axis, panel, i in zip(grid.ravel(), panels, range(len(panels)), strict=True):
        _precision_panel(axis, panel)
        if inputs.synthetic():
            style.mark_synthetic(axis)
        if i < columns:
            kind, _, value = panel.prior.rpartition("-")
            prior = rf"$\alpha_k = {value}$" if kind == "alpha" else rf"$\alpha_k = {value} / K$"
            axis.set_title(f"{prior}\n{axis.get_title()}", fontsize=7.5, fontweight="bold")
        if i // columns == rows - 1:
            axis.set_xlabel("work, terms (about ns)")
        if i % columns == 0:
            axis.set_ylabel(f"{panel.topics} topics, {panel.tokens} tokens:\nerror, % of perplexity per token")
        entries |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    order = [*(ESTIMATORS[name].label for name in ESTIMATOR_LOOKS), OTHERS]
    labels = [label for label in order if label in entries]
    figure.legend([entries[label] for label in labels], labels, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def _precision_panel(axis: Axes, panel: Panel) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(*PERCENT_RANGE)
    axis.axhline(WANTED, color="black", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1.2)
    if panel.known > PERCENT_RANGE[0]:
        axis.axhspan(PERCENT_RANGE[0], panel.known, color="#F0F0F0", linewidth=0, zorder=0.4)
    for name, points in sorted(panel.points.items(), key=lambda item: item[0] in ESTIMATOR_LOOKS):
        look = ESTIMATOR_LOOKS.get(name)
        x, y = [terms for _, terms, _ in points], [percent for _, _, percent in points]
        if look is None:
            axis.plot(x, y, color=PALE, linewidth=0.8, marker=".", label=OTHERS, zorder=1.5)
        else:
            size = 5.0 if ESTIMATORS[name].deterministic else 3.5
            axis.plot(x, y, **look, markersize=size, linewidth=1.3, label=ESTIMATORS[name].label, zorder=2.0)
    if panel.cheapest is not None:
        _star(axis, *panel.cheapest)
    axis.yaxis.set_major_locator(FixedLocator(PERCENT_TICKS))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_locator(LogLocator(numticks=8))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_minor_locator(NullLocator())


def _star(axis: Axes, name: str, samples: int, terms: float, percent: float) -> None:
    """Mark the cheapest estimator, and name it above the panel: within it there is no room between the curves."""
    colour = ESTIMATOR_LOOKS.get(name, {"color": "#555555"})["color"]
    axis.plot([terms], [percent], marker="*", markersize=13, color=colour, markeredgecolor="black", zorder=4)
    named = ESTIMATORS[name].label + (f",\n{samples} samples" if samples else "")
    axis.set_title(named, fontsize=7.5, fontweight="bold")
