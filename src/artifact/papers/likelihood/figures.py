"""Figures of folding-in and its repairs beside the truth, bounds around it, libraries' numbers, error against work.

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
from scipy.stats import t as student

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import law, results
from artifact.papers.likelihood import prior_share as share
from artifact.papers.likelihood.experiments import bidirectional as bounds
from artifact.papers.likelihood.experiments import epca_marginal as components
from artifact.papers.likelihood.experiments import is_a_probability as probability
from artifact.papers.likelihood.experiments.law import KIND as LAW_KIND
from artifact.papers.likelihood.experiments.law import LAW
from artifact.papers.likelihood.experiments.optimism import DENSITY, ONE_STEP, PLUG_IN
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.experiments.prior_share import CONCENTRATION, PER_SUM, POINTS, RICHNESS, TRAINING
from artifact.papers.likelihood.experiments.prior_share import MIXTURE as SHARE_MIXTURE
from artifact.papers.likelihood.results import FITTED, LIBRARIES, MIXTURE, OPTIMISM, PANEL, curve
from artifact.papers.likelihood.tables import held, prior_label
from artifact.results.reading import TRUTH, select
from artifact.typesetting import latex, style
from artifact.typesetting.style import Props
from heldout import evaluators
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, FULL, HALF, LAPLACE, MEAN_FIELD_BOUND, NML, SEQUENTIAL
from heldout.models import LDA, PLSA
from heldout.topics import perplexity
from heldout.typing import Floats

if TYPE_CHECKING:
    import pandas as pd

NO_FURTHER_CONSTANTS = "no further constants"
SHARE_MARKS = {SHARE_MIXTURE: "o", POINTS: "*", TRAINING: "D"}
SHARE_NAMES = {
    SHARE_MIXTURE: "mixture of Dirichlets",
    POINTS: "points of other test documents",
    TRAINING: "points of training documents",
}

# Properties of the curves of corpora that share a panel; the first is hollow, for it is seen below another
CORPUS_PROPS: tuple[Props, ...] = (
    {"color": style.CORPUS_COLOURS[0], "marker": "o", "markersize": 5.5, "markerfacecolor": "none"},
    {"color": style.CORPUS_COLOURS[1], "marker": "s"},
    {"color": style.CORPUS_COLOURS[2], "marker": "^"},
)
# thin and hollow, for it may run on the likelihood
HOLLOW: Props = {"marker": "s", "linewidth": 1.0, "markerfacecolor": style.WHITE}


def _truth_props(prior: int, marker: str, size: float, width: float, line: Any = "-") -> Props:
    shape: Props = {"marker": marker, "markersize": size, "linewidth": width, "linestyle": line}
    return {"color": style.PRIOR_COLOURS[prior], **shape}


# Evaluators with the variant, label and properties of their curves
OPTIMISM_CURVES: tuple[tuple[str, str, str, Props], ...] = (
    (FULL, OPTIMISM, "full folding-in", {"marker": "v"}),
    (PLUG_IN, OPTIMISM, "plug-in posterior mean", {"marker": "P", "linewidth": 0.9}),
    (TRUTH, OPTIMISM, "likelihood, the model's prior", _truth_props(0, "o", 3.0, 1.9)),
    (TRUTH, FITTED, "likelihood, fitted prior", _truth_props(1, "s", 2.5, 1.3, style.DASHED)),
    (TRUTH, MIXTURE, "likelihood, mixture of priors", _truth_props(2, "D", 2.0, 1.3, style.DOTTED)),
    (HALF, OPTIMISM, "half folding-in (half the tokens)", HOLLOW),
)
REPAIRS: tuple[tuple[str, str, str, Props], ...] = (
    (FULL, OPTIMISM, "full folding-in", {"marker": "v"}),
    (LAPLACE, OPTIMISM, "Laplace, softmax basis", {"marker": "o", "linewidth": 1.9}),
    (LAPLACE, FITTED, "Laplace, fitted prior (top row)", {"marker": "o", "linestyle": style.DASHED, "linewidth": 1.1}),
    (ONE_STEP, OPTIMISM, "one step from the folded-in point", {"marker": "P"}),
    (DENSITY, OPTIMISM, "prior's integral not divided out", {"marker": "s", "linewidth": 0.9}),
    (NML, OPTIMISM, "NML penalty", {"marker": "^", "linewidth": 0.9, "linestyle": style.DASH_DOTTED}),
)
GAP_ALPHA, BAND_ALPHA = 0.13, 0.15  # opacity of folding-in's gain, and of a likelihood's error
ERRORS = 2.0  # standard errors in each direction of a band or bar
REPAIRS_LINEAR, BOUNDS_LINEAR = 1e-2, 0.3  # ranges in which axes are linear: nats per token, nats per document
MOST_TOPICS_BELOW = 100  # largest K of the panels against length and constant

# Evaluators of EPCA with the label, colour and line of their curves
COMPONENT_CURVES = (
    (HALF, "half folding-in", style.EVALUATOR_COLOURS[HALF], "s-"),
    (components.ANNEALED_MARGINAL, "marginal likelihood, annealed", style.COLOURS["truth"], "o-"),
    (FULL, "full folding-in", style.EVALUATOR_COLOURS[FULL], "v-"),
)
FARTHEST = 5.0  # standard errors; differences further out are counted at the edge

LIBRARY_PROPS: dict[str, Props] = {
    library: {"color": colour, "marker": marker}
    for (library, colour), marker in zip(style.LIBRARY_COLOURS.items(), ("o", "s", "^"), strict=True)
}

PROBABILITY_ROWS = {  # scores and libraries of the figure, by name
    evaluators.HARMONIC: "harmonic mean",
    FULL: "full folding-in, maximum",
    PLUG_IN: "posterior mean, plugged in",
    probability.SAMPLED_FULL: "full folding-in, Gibbs sample",
    LAPLACE: "Laplace's method",
    SEQUENTIAL: "left-to-right sampler",
    evaluators.CHIB: "Chib-style estimator",
    HALF: "half folding-in",
    MEAN_FIELD_BOUND: "mean-field bound",
    "scikit-learn": "scikit-learn's perplexity",
}
THRESHOLD = -math.log(results.CHANCE)  # nats; largest excess that a probability may have
CHANCES = 100.0  # nats from which on chances are written above the axis

PERCENT_RANGE, PERCENT_TICKS = (0.05, 150.0), (0.1, 1.0, 10.0, 100.0)
OTHERS = "others"
# Markers of the estimators with a colour of their own; the others are pale
ESTIMATOR_MARKERS = {
    evaluators.CHIB: "D",
    evaluators.ANNEALED: "^",
    SEQUENTIAL: "o",
    evaluators.PARTICLES: "s",
    evaluators.MEAN_FIELD_FIRST: "v",
    evaluators.LINEAR: "P",
    LAPLACE: "X",
    MEAN_FIELD_BOUND: "p",
}
ESTIMATOR_PROPS: dict[str, Props] = {
    name: {"color": style.EVALUATOR_COLOURS[name], "marker": marker} for name, marker in ESTIMATOR_MARKERS.items()
}
ESTIMATOR_PROPS[MEAN_FIELD_BOUND] |= {"markerfacecolor": style.WHITE, "linestyle": "none"}

# A made-up document at K = 2, for the eye alone: topics over four words, and their counts in it
EXAMPLE_TOPICS = np.array([[0.55, 0.25, 0.15, 0.05], [0.05, 0.15, 0.25, 0.55]])
EXAMPLE_COUNTS = np.array([14, 9, 8, 8])
# Labels of the message's second panel: evaluator, text, place on the curve (share of its points), the side of the text
# that stands there, and its distance in points
MESSAGE_LABELS = (
    (TRUTH, "the likelihood", 0.0, "left", (0.0, 8.0)),
    (HALF, "half folding-in", 1.0, "right", (-6.0, 2.0)),
    (FULL, "full folding-in", 0.7, "right", (-4.0, -3.0)),
)


def message(inputs: Inputs) -> Figure:
    """Draw the paper in three panels: a document's peak and average, their distance by K, and the law of it.

    The first is made up. The second is of the study's first corpus with a truth, the third is left out where the law
    was not measured.
    """
    corpus = results.optimism_corpora(inputs)[0]
    cells = law.flat_cells(law.cells(inputs)) if len(select(inputs.measurements, axis=LAW_KIND)) else None
    titles = ["(a) one document", f"(b) PLSA on {latex.corpus_title(corpus)}", "(c) a law for it"]
    widths = (1.0, 1.25, 1.25)[: 2 + (cells is not None)]
    props: Props = {"titles": titles, "synthetic": inputs.synthetic(), "width_ratios": widths}
    figure, (axes,) = style.grid(1, len(widths), 2.7, **props)
    _example(axes[0])
    _labelled_curves(axes[1], inputs, corpus)
    if cells is not None:
        _law(axes[2], inputs, cells)
    return figure


def _law(axis: Axes, inputs: Inputs, cells: "pd.DataFrame") -> None:
    """Draw the excess of folding in against the law, with the theorem's bound above."""
    law.points(axis, cells, LAW, 2.6)
    law.against_law(axis, cells)
    law.folding_packages(axis, inputs, LAW, 3.5)
    style.log_log(axis)
    style.plain_numbers(axis.xaxis)
    style.plain_numbers(axis.yaxis)
    axis.set_xlabel("expected from $n$ and $K$, nats")
    axis.set_ylabel("measured, nats per document")
    props: Props = {"xycoords": "axes fraction", "fontsize": 7.0, "path_effects": style.outline()}
    style.label(axis, "the most\nthat is possible", (0.03, 0.97), color=style.DARK, va="top", **props)
    style.label(axis, "law", (0.97, 0.76), color=style.DARK, ha="right", va="top", **props)


def example_likelihood() -> tuple[Floats, Floats]:
    """Return topic weights in (0, 1) and the example's likelihood there, divided by its average, exactly.

    The likelihood is a polynomial of the document's length, which Gauss's rule integrates with half as many points.
    """
    points, weights = np.polynomial.legendre.leggauss(int(EXAMPLE_COUNTS.sum()) // 2 + 1)
    theta = np.linspace(0.0, 1.0, 401)

    def log_likelihood(weight: Floats) -> Floats:
        first, second = EXAMPLE_TOPICS
        result: Floats = np.log(np.outer(weight, first) + np.outer(1.0 - weight, second)) @ EXAMPLE_COUNTS
        return result

    average = 0.5 * float(weights @ np.exp(log_likelihood(0.5 * (points + 1.0))))
    return theta, np.exp(log_likelihood(theta)) / average


def _example(axis: Axes) -> None:
    """Draw one document's likelihood against its weights, its peak and its average."""
    theta, ratio = example_likelihood()
    full, truth = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS["truth"]
    peak = int(ratio.argmax())
    axis.plot(theta, ratio, color=style.DARK)
    axis.fill_between(theta, ratio, color=style.GROUND, linewidth=0)
    axis.axhline(1.0, color=truth, linewidth=1.4)
    axis.plot(theta[peak], ratio[peak], "o", color=full, markersize=5.0)
    axis.set_ylim(0.0, 1.5 * ratio[peak])
    axis.set_xlim(0.0, 1.0)
    bold: Props = {"va": "bottom", "fontweight": "bold", "path_effects": style.outline()}
    style.label(axis, "peak: what\nfolding-in reports", (0.58, 1.05 * ratio[peak]), ha="center", color=full, **bold)
    style.label(axis, "average:\nlikelihood", (0.02, 1.05), color=truth, fontsize=7.0, **bold)
    style.ticks(axis.xaxis, [0.0, 0.5, 1.0])
    style.plain_ticks(axis.yaxis, 4)
    axis.set_xlabel(r"weight $\theta$ of the first topic")
    axis.set_ylabel(r"$p(w\,|\,\theta)$ over its average")


def _shaded_gap(axis: Axes, inputs: Inputs, corpus: str, model: str) -> "pd.DataFrame":
    """Shade the gain of full folding-in, and return both perplexities and the log of their ratio."""
    truth, full = (curve(inputs, corpus, model, evaluator) for evaluator in (TRUTH, FULL))
    both = truth.merge(full, on="topics", suffixes=("", "_full"))
    colour = style.EVALUATOR_COLOURS[FULL]
    axis.fill_between(
        both.index, both["perplexity_full"], both["perplexity"], color=colour, alpha=GAP_ALPHA, linewidth=0
    )
    return both.assign(gap=both["value_full"] - both["value"])


def _labelled_curves(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw PLSA's curves on one corpus, labelled on the lines."""
    both = _shaded_gap(axis, inputs, corpus, PLSA)
    for evaluator, text, place, side, away in MESSAGE_LABELS:
        points = curve(inputs, corpus, PLSA, evaluator)["perplexity"]
        if points.empty:
            continue
        colour = style.EVALUATOR_COLOURS[evaluator]
        axis.plot(points, color=colour, marker="o")
        index = round(place * (len(points) - 1))
        props: Props = {"ha": side, "va": "center", "fontweight": "bold", "color": colour}
        style.label(axis, text, (points.index[index], points.iloc[index]), away, path_effects=style.outline(), **props)
    if len(both):
        widest = both.sort_values("gap", ascending=False, kind="stable").reset_index().iloc[0]
        middle = math.exp(-0.5 * widest["value"] - 0.5 * widest["value_full"])
        factor = f"{math.exp(widest['gap']):.1f}"
        style.label_factor(axis, widest["topics"], middle, factor, style.EVALUATOR_COLOURS[FULL])
    style.finish([axis], style.sparse_ticks(both.index))
    axis.set_xlabel("number of topics")
    axis.set_ylabel("perplexity per token")


def _excess_axis(axis: Axes, excesses: "pd.DataFrame") -> tuple[float, float]:
    """Put excesses on a symmetric logarithmic axis, shade the ones that no probability has, and return its ends."""
    values = excesses.loc[np.isfinite(excesses["over"]), "over"]
    left, right = min(-CHANCES, 1.6 * values.min()), max(CHANCES, 1.8 * values.max())
    axis.set_xscale("symlog", linthresh=THRESHOLD, linscale=0.7)
    axis.set_xlim(left, right)
    axis.axvspan(THRESHOLD, right, color=style.TOO_HIGH, linewidth=0, zorder=0.4)
    axis.axvline(0.0, color=style.INK, linewidth=0.8, zorder=1.4)
    return left, right


def optimism(inputs: Inputs) -> Figure:
    """Draw perplexity against topics: a panel per corpus, PLSA above, LDA below."""
    corpora = results.optimism_corpora(inputs)
    models = [m for m in (PLSA, LDA) if any(len(curve(inputs, c, m, TRUTH)) for c in corpora)]
    height = 4.6 if len(models) > 1 else style.HEIGHT + 0.5
    figure, grid = _by_corpus(inputs, len(models), height, corpora, sharex=True, sharey="col")
    topics: set[int] = set()
    for axes, model in zip(grid, models, strict=True):
        axes[0].set_ylabel(f"{style.MODEL_NAMES[model]}: perplexity per token")
        for axis, corpus in zip(axes, corpora, strict=True):
            topics |= _optimism_curves(axis, inputs, corpus, model)
    for axis in (*grid[0], *grid[-1]):
        style.finish([axis], style.sparse_ticks(topics))
    for axis in grid[-1]:
        axis.set_xlabel("number of topics")
    shades = (
        (style.EVALUATOR_COLOURS[FULL], GAP_ALPHA, "what full folding-in gains"),
        (style.EVALUATOR_COLOURS[TRUTH], BAND_ALPHA, "error of a likelihood"),
    )
    patches = [Patch(color=colour, alpha=alpha, linewidth=0, label=label) for colour, alpha, label in shades]
    style.legend(figure, grid.ravel(), extra=patches, ncols=3)
    return figure


def _by_corpus(
    inputs: Inputs, rows: int, height: float, corpora: Sequence[str], **options: Any
) -> tuple[Figure, style.Panels]:
    """Return a figure of rows of panels, a column per corpus."""
    titles, synthetic = [latex.corpus_title(c) for c in corpora], [inputs.synthetic(c) for c in corpora]
    return style.grid(rows, len(corpora), height, titles=titles, synthetic=synthetic, **options)


def _optimism_curves(axis: Axes, inputs: Inputs, corpus: str, model: str) -> set[int]:
    """Draw one panel's curves, shade the optimism, write its last factor, and return the truth's numbers of topics."""
    both = _shaded_gap(axis, inputs, corpus, model)
    for evaluator, variant, label, props in OPTIMISM_CURVES:
        props = {"color": style.EVALUATOR_COLOURS[evaluator], **props}
        points = curve(inputs, corpus, model, evaluator, variant)
        if evaluator == TRUTH:
            points = points[points["shown"]]
        if len(points):
            axis.plot(points["perplexity"], label=label, **props)
        if len(points) and evaluator == TRUTH:
            low, high = (np.exp(-points["value"] + sign * ERRORS * points["error"]) for sign in (-1.0, 1.0))
            axis.fill_between(points.index, low, high, color=props["color"], alpha=BAND_ALPHA, linewidth=0)
            for edge in (low, high):  # they say whose band it is
                axis.plot(edge, color=props["color"], linewidth=0.5)
    if len(both):
        last = both.iloc[-1]
        factor = f"{math.exp(last['gap']):.1f}"
        style.span_factor(axis, last["perplexity_full"], last["perplexity"], factor, style.EVALUATOR_COLOURS[FULL])
    return set(curve(inputs, corpus, model, TRUTH).index)


def optimism_by(inputs: Inputs) -> Figure:
    """Draw full folding-in less the truth, nats per token, of PLSA: by document length, and by the constant.

    A line per corpus and number of topics with further constants, or with the fewest and the most where there are none.
    Without further constants there is no panel of them.
    """
    corpora = results.optimism_corpora(inputs)
    lines: list[tuple[str, int, Props, pd.Series[float]]] = []
    for corpus, corpus_props in zip(corpora, CORPUS_PROPS, strict=False):
        available = curve(inputs, corpus, PLSA, TRUTH).index
        shown = sorted(results.further_constants(inputs).intersection(available))[:2]
        for topics, line in zip(shown or sorted({min(available), max(available)}), ("-", style.DASHED), strict=False):
            label = f"{latex.corpus_title(corpus)}, {topics} topics"
            props: Props = {"label": label, **corpus_props, "linestyle": line}
            lines.append((corpus, topics, props, results.by_constant(inputs, corpus, topics)))
    titles = ("by document length", "by smoothing")[: 1 + any(len(constants) > 1 for *_, constants in lines)]
    options: Props = {"titles": titles, "synthetic": inputs.synthetic(*corpora), "sharey": True}
    figure, ((left, *others),) = style.grid(1, len(titles), style.HEIGHT + 0.5, **options)
    for corpus, topics, props, constants in lines:
        left.plot(results.by_length(inputs, corpus, topics, FULL), **props)
        for right in others if len(constants) > 1 else ():
            right.plot(constants, **props)
    left.set_xscale("log")
    left.set_xlabel("document length, tokens (mean of a group)")
    left.set_ylabel("full folding-in less the likelihood,\nnats per token (log scale)")
    left.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    style.plain_numbers(left.xaxis)
    for right in others:
        right.set_xlabel("constant added to the topics")
        right.set_xscale("log")
        right.xaxis.set_major_locator(LogLocator(numticks=12))
        right.xaxis.set_minor_locator(NullLocator())
    lowest = min(value for drawn in left.get_lines() for value in np.asarray(drawn.get_ydata(), dtype=float))
    if lowest > 0.0:  # two corpora of few topics lie together, a third near zero
        left.set_yscale("log")
        style.plain_numbers(left.yaxis)
    style.legend(figure, [left], ncols=len(corpora), handlelength=3.2)
    return figure


def repair(inputs: Inputs) -> Figure:
    """Draw PLSA's errors: a column per corpus; against topics, below that document length, below that the constant."""
    corpora, further = results.optimism_corpora(inputs), results.further_constants(inputs)
    varied = any(len(results.by_constant(inputs, corpus, k)) > 1 for corpus in corpora for k in further)
    rows = 2 + varied  # without further constants there is no row of them
    figure, grid = _by_corpus(inputs, rows, 2.0 * rows, corpora, sharey=True)
    constants: set[float] = set()
    for axes, corpus in zip(grid.T, corpora, strict=True):
        constants |= _repair_column(axes, inputs, corpus)
    if varied:
        _constant_ticks(list(grid[2]), sorted(constants), results.main_constant(inputs))
    ticks = [-10.0, -1.0, -0.1, -REPAIRS_LINEAR, 0.0, REPAIRS_LINEAR, 0.1, 1.0]
    low, high = grid[0][0].get_ylim()
    style.ticks(grid[0][0].yaxis, ticks, [style.signed_label(tick) for tick in ticks])
    grid[0][0].set_ylim(low, high)
    figure.supylabel(f"estimate less the likelihood, nats per token {style.SYMMETRIC}", fontsize=8.0)
    style.legend(figure, grid[0], ncols=3, handlelength=2.6)
    return figure


def _repair_column(axes: Sequence[Axes], inputs: Inputs, corpus: str) -> set[float]:
    """Draw one corpus's three panels and return the constants above 0 that they show."""
    upper, middle, *lower = axes
    topics = list(curve(inputs, corpus, PLSA, TRUTH).index)
    most = max((k for k in topics if k <= MOST_TOPICS_BELOW), default=topics[0])
    smoothed = max((k for k in topics if k <= most and k in results.further_constants(inputs)), default=most)
    constants: set[float] = set()
    for evaluator, variant, label, props in REPAIRS:
        errors = results.errors(inputs, corpus, PLSA, evaluator, variant)
        errors = errors[curve(inputs, corpus, PLSA, TRUTH, variant)["shown"].reindex(errors.index)]
        props = {"color": style.EVALUATOR_COLOURS[evaluator], **props}
        if len(errors):
            upper.plot(errors, label=label, **props)
        if variant == OPTIMISM:
            middle.plot(results.by_length(inputs, corpus, most, evaluator), **props)
            by_constant = results.by_constant(inputs, corpus, smoothed, evaluator)
            constants |= {constant for constant in by_constant.index if constant > 0.0}
            for axis in lower if len(by_constant) else ():
                axis.plot(by_constant, **props)
    lengths = results.by_length(inputs, corpus, most, FULL).index
    for panel in axes:
        panel.axhline(0.0, color=style.INK, linewidth=0.9, zorder=1)
        panel.set_xscale("log")
        panel.set_yscale("symlog", linthresh=REPAIRS_LINEAR, linscale=0.6)
        panel.yaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_minor_formatter(NullFormatter())
    for axis in lower:
        axis.set_xlabel(f"constant, {smoothed} topics")
        if len(results.by_constant(inputs, corpus, smoothed)) < 2:
            axis.text(0.04, 0.06, NO_FURTHER_CONSTANTS, transform=axis.transAxes, fontsize=7.5)
    style.ticks(upper.xaxis, style.sparse_ticks(topics))
    style.ticks(middle.xaxis, sorted({lengths[0], lengths[len(lengths) // 2], lengths[-1]}))
    _inwards(middle)
    upper.set_xlabel("number of topics")
    middle.set_xlabel(f"document length, {most} topics")
    return constants


def _inwards(axis: Axes) -> None:
    """Write the first and last tick's labels towards the panel's middle: neighbouring panels' would touch."""
    labels = axis.get_xticklabels()
    if len(labels) > 1:
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")


def _constant_ticks(axes: list[Axes], constants: list[float], main: float) -> None:
    """Give the panels one range, and the study's main constant and the ends of the range as ticks."""
    shown = sorted({constants[0], main, constants[-1]} - {0.0}) if constants else []
    for axis in axes:
        if constants:
            axis.set_xlim(constants[0] / 2.0, constants[-1] * 2.0)
            style.ticks(axis.xaxis, shown, [style.power_label(constant) for constant in shown])
            _inwards(axis)
        axis.xaxis.set_minor_locator(NullLocator())


def bidirectional(inputs: Inputs) -> Figure:
    """Draw both bounds minus left-to-right sequential against the number of temperatures, a panel per model and K.

    Means over documents with two standard errors; the text in a panel is the gap at its last number of temperatures.
    """
    corpus, cells = results.bounds(inputs)
    titles = [f"{style.MODEL_NAMES[model]}, {topics} topics" for model, topics in cells]
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus), mark_size=9.0)
    for axis, cell in zip(axes, cells.values(), strict=True):
        axis.title.set_fontsize(7.5)
        _bounds_panel(axis, cell)
    axes[0].set_yscale("symlog", linthresh=BOUNDS_LINEAR, linscale=0.6)
    low, high = axes[0].get_ylim()
    ticks = sorted({sign * tick for tick in (0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0) for sign in (-1.0, 1.0)})
    shown = [tick for tick in ticks if low <= tick <= high]
    style.ticks(axes[0].yaxis, shown, [style.signed_label(tick) for tick in shown])
    axes[0].set_ylabel(f"bound {style.MINUS} left-to-right sequential,\nnats per document\n{style.SYMMETRIC}")
    style.legend(figure, axes)
    return figure


def _bounds_panel(axis: Axes, cell: "pd.DataFrame") -> None:
    """Draw one model's bounds at one K."""
    upper, lower, gap, reference, exact = (
        select(cell, quantity=quantity).sort_values("at")
        for quantity in (bounds.UPPER, bounds.LOWER, bounds.GAP, SEQUENTIAL, bounds.EXACT)
    )
    axis.fill_between(upper["at"], lower["value"], upper["value"], color=style.GROUND, linewidth=0, zorder=0.6)
    label = f"left-to-right sequential, {int(reference['at'].iloc[0])} samples"
    axis.axhline(0.0, color=style.EVALUATOR_COLOURS[SEQUENTIAL], linewidth=1.4, zorder=1.5, label=label)
    for bound, label, marker in ((upper, "upper bound", "v"), (lower, "lower bound", "^")):
        props: Props = {"color": style.DARK, "marker": marker, "linewidth": 1.2, "elinewidth": 0.8, "label": label}
        axis.errorbar(bound["at"], bound["value"], ERRORS * bound["standard_error"], **props)
    axis.set_xscale("log")
    ticks = sorted(int(steps) for steps in upper["at"])
    labels = [f"{t:,}" if (len(ticks) - 1 - i) % 2 == 0 else "" for i, t in enumerate(ticks)]
    style.ticks(axis.xaxis, ticks, labels, fontsize=7.0)
    axis.set_xlabel("temperatures")
    axis.margins(x=0.1)
    if len(exact):
        props = {"color": style.COLOURS["truth"], "linestyle": style.DASHED, "zorder": 1.6, "label": "exact"}
        axis.axhline(float(exact["value"].iloc[0]), **props)
    last = gap.iloc[-1]
    value = f"{last['value']:.2f}".replace("-", style.MINUS)
    text = f"gap at {int(last['at']):,}:\n{value} ± {last['standard_error']:.2f}"
    style.label(axis, text, (0.96, 0.97), xycoords="axes fraction", ha="right", va="top", fontsize=7.0)


def epca_marginal(inputs: Inputs) -> Figure:
    """Draw perplexity against components, and annealing minus quadrature in annealing's own standard errors."""
    corpus, perplexities = results.component_perplexities(inputs)
    errors = select(results.annealed_less_quadrature(inputs), corpus=corpus)
    titles = [f"EPCA on {latex.corpus_title(corpus)}", "annealing against quadrature"][: 1 + bool(len(errors))]
    props: Props = {"titles": titles, "synthetic": inputs.synthetic(corpus), "mark_size": 17.0}
    figure, ((left, *others),) = style.grid(1, len(titles), style.HEIGHT, **props)
    for evaluator, label, colour, line in COMPONENT_CURVES:
        left.plot(perplexities[evaluator].dropna(), line, color=colour, label=label)
    if components.QUADRATURE in perplexities:
        props = {"color": style.COLOURS["truth"], "markerfacecolor": "none", "markersize": 8.0}
        left.plot(
            perplexities[components.QUADRATURE].dropna(), "o", label="marginal likelihood, by quadrature", **props
        )
    left.set_xlabel("number of components")
    left.set_ylabel("perplexity per token")
    style.finish([left], list(perplexities[FULL].dropna().index))
    left.legend(loc="lower left", fontsize=7.0)
    for right in others:
        _densities(right, errors, results.degrees_of_freedom(inputs, corpus))
    return figure


def _densities(axis: Axes, errors: "pd.DataFrame", freedom: int) -> None:
    """Draw the densities of standardised differences beside Student's."""
    edges = np.linspace(-FARTHEST, FARTHEST, 31)
    for (K, z), line in zip(errors.groupby("topics")["z"], ("-", style.DASHED), strict=False):
        heights, _ = np.histogram(z.clip(-FARTHEST, FARTHEST), edges)
        label = f"{K} component{'s' * (K != 1)}, {len(z)} documents"
        axis.stairs(heights / len(z) / (edges[1] - edges[0]), edges, color=style.DARK, linestyle=line, label=label)
    places = np.linspace(-FARTHEST, FARTHEST, 201)
    label = "if the errors are right"
    axis.plot(places, student.pdf(places, freedom), color=style.COLOURS["truth"], linewidth=0.9, label=label)
    axis.set_xlabel(f"(annealed {style.MINUS} quadrature) / standard error")
    axis.set_ylabel("density of documents")
    axis.set_ylim(0.0, 1.4 * axis.get_ylim()[1])
    axis.legend(loc="upper left", fontsize=7.0)


def is_a_probability(inputs: Inputs) -> Figure:
    """Draw the excess of the best known scores over the log-likelihood of documents that were drawn from the model.

    A row per score, a mark per model; scores that no probability has are red and stand above the line.
    """
    excesses = held(inputs)
    names = excesses["score"].where(excesses["model"] == probability.TRUE_MODEL, excesses["model"])
    excesses = excesses.assign(name=names.map(PROBABILITY_ROWS)).dropna(subset="name")
    rows = list(excesses.groupby("name", sort=False))[::-1]
    figure, ((axis,),) = style.grid(1, 1, 0.8 + 0.15 * len(rows), synthetic=inputs.synthetic())
    left, right = _excess_axis(axis, excesses)
    for y, (_, models) in enumerate(rows):
        colour = style.FLATTERING if models["refuted"].any() else style.CHARGING
        axis.plot(models["over"].clip(left), [y] * len(models), "o", color=colour, markersize=4.0, zorder=3.0)
    first = sum(not models["refuted"].any() for _, models in rows)
    axis.axhline(first - 0.5, color=style.INK, linewidth=0.8)
    axis.axvline(THRESHOLD, color=style.FLATTERING, linewidth=1.4, zorder=1.5)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    style.ticks(axis.yaxis, range(len(rows)), [str(name) for name, _ in rows])
    for label in axis.get_yticklabels()[first:]:
        label.set_fontweight("bold")
    decades = [10.0**n for n in range(2, 12)]
    ticks = [0.0, *(tick for decade in decades for tick in (-decade, decade) if left <= tick <= right)]
    style.ticks(axis.xaxis, ticks, [f"${tick:+.0e}$".replace("1e+0", "10^") if tick else "0" for tick in ticks])
    number = excesses["documents"].max()
    words = f"score {style.MINUS} log-likelihood, nats over {number} documents drawn from a model {style.SYMMETRIC}"
    figure.supxlabel(words, fontsize=8.0)
    bold: Props = {"transform": axis.get_xaxis_transform(), "va": "bottom", "fontsize": 7.5, "fontweight": "bold"}
    axis.text(THRESHOLD, 1.0, "  no probability →", ha="left", color=style.FLATTERING, **bold)
    axis.text(THRESHOLD, 1.0, "← may be a probability  ", ha="right", color=style.CHARGING, **bold)
    return figure


def peers(inputs: Inputs) -> Figure:
    """Draw perplexity against the number of topics, a panel per corpus: reported dashed, true solid."""
    table = results.library_numbers(inputs)
    finite = table[[REPORTED, TRUTH]].map(lambda nats: math.isfinite(perplexity(nats, 1)))
    table[[REPORTED, TRUTH]] = table[[REPORTED, TRUTH]].where(finite)
    by_corpus = {str(corpus): rows for corpus, rows in table.groupby("corpus", sort=False)}
    libraries = [library for library in LIBRARIES if library in set(table["model"])]
    figure, (axes,) = _by_corpus(inputs, 1, 2.9, list(by_corpus), sharey=True) if by_corpus else style.grid(1, 1, 2.9)
    topics: set[int] = set()
    for axis, rows in zip(axes, by_corpus.values(), strict=False):
        axis.set_xlabel("number of topics")
        for library in libraries:
            numbers = select(rows, model=library).set_index("topics")
            for name, line in ((REPORTED, style.DASHED), (TRUTH, "-")):
                points = np.exp(-numbers[name].dropna())
                topics.update(points.index)
                props = {**LIBRARY_PROPS[library], "linestyle": line, "label": f"{library}, {name}"}
                if name == TRUTH and library == libraries[0]:  # the next lies on it
                    props |= {"linewidth": 3.2, "markersize": 5.0}
                axis.plot(points, **props)
        widest = rows.assign(ratio=rows[TRUTH] - rows[REPORTED]).nlargest(1, "ratio").dropna(subset="ratio")
        for row in widest.to_dict("records"):  # nearer the truth
            middle = math.exp(-0.3 * row[REPORTED] - 0.7 * row[TRUTH])
            factor, colour = f"{math.exp(row['ratio']):,.0f}", LIBRARY_PROPS[row["model"]]["color"]
            style.label_factor(axis, row["topics"], middle, factor, colour)
    axes[0].set_ylabel("perplexity per token")
    if topics:
        style.finish(axes, style.sparse_ticks(topics))
        axes[0].yaxis.set_major_locator(LogLocator(base=10.0))
    handles = [Line2D([], [], label=library, **LIBRARY_PROPS[library]) for library in libraries]
    for line, label in ((style.DASHED, "as reported"), ("-", "likelihood, same model")):
        props = {"color": style.DARK, "linestyle": line, "label": label}
        handles.append(Line2D([], [], **props))
    style.legend(figure, [], extra=handles, handlelength=2.6)
    return figure


def precision(inputs: Inputs) -> Figure:
    """Draw error against work, a row per size, a column per prior; a star at the least work that is enough.

    Work is counted in terms, one topic's share of one token each
    (`artifact.papers.likelihood.experiments.precision.TERMS`), about a nanosecond: the same on every machine.
    """
    panels = list(results.precisions(inputs).groupby(PANEL, sort=False))
    columns = len({prior for (*_, prior), _ in panels})
    rows = len(panels) // columns
    options: Props = {"synthetic": inputs.synthetic(), "sharex": "row", "sharey": True}
    figure, grid = style.grid(rows, columns, 5.4 if rows > 1 else 3.4, **options)
    for i, (axis, ((topics, tokens, prior), panel)) in enumerate(zip(grid.ravel(), panels, strict=True)):
        _precision_panel(axis, panel)
        if i < columns:
            axis.set_title(f"${prior_label(str(prior), ' / K')}$\n{axis.get_title()}")
        axis.title.set_fontsize(7.5)
        if i // columns == rows - 1:
            axis.set_xlabel("work, terms (about ns)")
        if i % columns == 0:
            axis.set_ylabel(f"{topics} topics, {tokens} tokens:\nerror, % of perplexity per token")
    style.legend(figure, grid.ravel(), order=[ESTIMATORS[name].label for name in ESTIMATOR_PROPS], ncols=3)
    return figure


def _precision_panel(axis: Axes, panel: "pd.DataFrame") -> None:
    """Draw one panel, and name the cheapest estimator above it: within it there is no room between the curves."""
    style.log_log(axis)
    axis.set_ylim(*PERCENT_RANGE)
    axis.axhline(results.WANTED, color=style.INK, linewidth=0.8, linestyle=style.DASHED, zorder=1.2)
    known = panel["known"].iloc[0]
    if known > PERCENT_RANGE[0]:
        axis.axhspan(PERCENT_RANGE[0], known, color=style.GROUND, linewidth=0, zorder=0.4)
    curves = panel.groupby("estimator", sort=False)
    for name, runs in sorted(curves, key=lambda named: named[0] in ESTIMATOR_PROPS):
        props: Props = {"color": style.PALE, "linewidth": 0.8, "marker": ".", "label": OTHERS, "zorder": 1.5}
        if name in ESTIMATOR_PROPS:
            estimator = ESTIMATORS[str(name)]
            props = {"markersize": 5.0 if estimator.deterministic else 3.5, "linewidth": 1.3, "zorder": 2.0}
            props |= {"label": estimator.label, **ESTIMATOR_PROPS[str(name)]}
        axis.plot(runs["terms"], runs["percent"], **props)
    for row in results.cheapest(panel).to_dict("records"):
        colour = ESTIMATOR_PROPS.get(row["estimator"], {"color": style.DARK})["color"]
        star: Props = {"marker": "*", "markersize": 13, "markeredgecolor": style.INK, "zorder": 4}
        axis.plot([row["terms"]], [row["percent"]], color=colour, **star)
        samples = f",\n{row['samples']} samples" if row["samples"] else ""
        axis.set_title(ESTIMATORS[row["estimator"]].label + samples)
    axis.yaxis.set_major_locator(FixedLocator(PERCENT_TICKS))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_locator(LogLocator(numticks=8))
    axis.xaxis.set_minor_locator(NullLocator())


def prior_share(inputs: Inputs) -> Figure:
    """Draw the gap against the richness of a prior, and below it perplexity against the sum of the parameters.

    A corpus has a column. Above: PLSA's; dashed, under the flat prior. Below: PLSA and LDA, a shade per number of
    topics. Means over splits.

    Raises:
        InputError: if the prior's share was not measured.
    """
    rich, dial = share.gaps(inputs, RICHNESS), share.gaps(inputs, CONCENTRATION)
    if rich.empty:
        raise InputError("figure-prior-share: the prior's share was not measured; measure it")
    corpora = list(dict.fromkeys(rich["corpus"]))
    grid = sorted({int(k) for k in rich["topics"]})
    options: Props = {"titles": [latex.corpus_title(corpus) for corpus in corpora], "sharey": "row"}
    options["synthetic"] = [inputs.synthetic(corpus) for corpus in corpora]
    drawn, axes = style.grid(2, len(corpora), 4.4, **options)
    shades = {k: 0.6 - 0.6 * place / max(1, len(grid) - 1) for place, k in enumerate(grid)}
    flat = select(share.flat(inputs), model=PLSA)
    for corpus, (upper, lower) in zip(corpora, axes.T, strict=True):
        for k in grid:
            colour = style.lighter(style.COLOURS[PLSA], shades[k])
            gaps = select(rich, corpus=corpus, topics=k)
            for prior, marker in SHARE_MARKS.items():
                means = share.means(select(gaps, prior=prior), "gap")
                line = "-" if prior == SHARE_MIXTURE else "none"
                upper.plot(
                    means, color=colour, marker=marker, markersize=6.0 if prior == POINTS else 4.0, linestyle=line
                )
            dashed = select(flat, corpus=corpus, topics=k)["gap"]
            if len(dashed):
                upper.axhline(dashed.mean(), color=colour, linestyle=style.DASHED, linewidth=1.0)
            for model in (PLSA, LDA):
                means = share.means(select(dial, corpus=corpus, model=model, topics=k), "value")
                values = means.map(lambda nats: perplexity(nats, 1))
                values.index = values.index / PER_SUM
                props: Props = {"marker": style.MARKERS[model], "color": style.lighter(style.COLOURS[model], shades[k])}
                lower.plot(values, **props)
        upper.set_xscale("log")
        upper.set_xlabel("components or points")
        style.log_log(lower)
        lower.set_xlabel(r"sum of the parameters $\alpha_k$")
        for axis in (upper, lower):
            style.plain_numbers(axis.xaxis)
    axes[0, 0].set_ylim(bottom=0.0)
    axes[0, 0].set_ylabel(f"full folding-in {style.MINUS} likelihood,\nnats per token")
    axes[1, 0].set_ylabel("perplexity per token")
    axes[1, 0].yaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    style.plain_numbers(axes[1, 0].yaxis)
    keys = [
        Line2D(
            [],
            [],
            color=style.DARK,
            marker=marker,
            linestyle="-" if prior == SHARE_MIXTURE else "none",
            label=SHARE_NAMES[prior],
        )
        for prior, marker in SHARE_MARKS.items()
    ]
    keys.append(Line2D([], [], color=style.DARK, linestyle=style.DASHED, label="flat prior"))
    for model in (PLSA, LDA):
        for k in grid:
            props = {"marker": style.MARKERS[model], "color": style.lighter(style.COLOURS[model], shades[k])}
            keys.append(Line2D([], [], **props, label=f"{style.MODEL_NAMES[model]}, $K$ = {k}"))
    style.legend(drawn, [], extra=keys, ncols=4)
    return drawn
