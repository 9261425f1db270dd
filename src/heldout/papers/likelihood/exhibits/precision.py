"""Which estimator to use: its error against the work that it takes, on drawn documents of several sizes.

Work is counted in terms, one topic's share of one token each (`heldout.papers.likelihood.experiments.precision.TERMS`), about a nanosecond: the
same on every machine. Errors are those of a document, in percent of its perplexity per token, exp(e / L) - 1 with the
root mean square error e in nats.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.prior_names import parameter
from heldout.inputs import Inputs
from heldout.papers.likelihood.experiments.precision import (
    DOCUMENTS,
    ERROR,
    NONE,
    REFERENCE_BIAS,
    REFERENCE_ERROR,
    TERMS,
    VARIANT,
)
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

WANTED = 1.0  # percent of the perplexity per token
HEIGHT = 4.7  # inches
LOW, HIGH = 0.05, 150.0  # percent
TICKS = (0.1, 1.0, 10.0, 100.0)
PALE, OTHERS = "#BBBBBB", "others"
# Those that are told apart, the others being pale; the colours that the common look lacks are Tol's muted ones
LOOKS: dict[str, dict[str, Any]] = {
    "chib": {"color": "#CC6677", "marker": "D"},
    "annealed-importance": {"color": "#117733", "marker": "^"},
    "left-to-right-sequential": {"color": style.EVALUATOR_COLOURS["left-to-right-sequential"], "marker": "o"},
    "left-to-right": {"color": style.EVALUATOR_COLOURS["left-to-right"], "marker": "s"},
    "mean-field-importance": {"color": style.EVALUATOR_COLOURS["mean-field-importance"], "marker": "v"},
    "linear-time": {"color": "#AA4499", "marker": "P"},
    "laplace-softmax": {"color": style.EVALUATOR_COLOURS["laplace-softmax"], "marker": "X"},
    "mean-field-bound": {
        "color": style.EVALUATOR_COLOURS["mean-field-bound"],
        "marker": "p",
        "markerfacecolor": "white",
        "linestyle": "none",
    },
}


@dataclass(frozen=True)
class Panel:
    """One prior, K and L.

    Attributes:
        prior: its name, such as "alpha-0.1".
        topics, tokens: K and L.
        points: by estimator, (samples, terms per document, percent), samples ascending.
        known: percent, what is known of the reference; no error below it is.
    """

    prior: str
    topics: int
    tokens: int
    points: dict[str, list[tuple[int, float, float]]]
    known: float

    @property
    def cheapest(self) -> tuple[str, int, float, float] | None:
        """The estimator, samples, terms and percent of the least work that reaches `WANTED`; None where none does."""
        found = [
            (terms, name, samples, percent)
            for name, points in self.points.items()
            for samples, terms, percent in points
            if percent <= WANTED
        ]
        if not found:
            return None
        terms, name, samples, percent = min(found)
        return name, samples, terms, percent


def panels(inputs: Inputs) -> list[Panel]:
    """Return a panel per prior, the sparsest first, at each of two sizes: the second K and length, the last but one.

    Raises:
        InputError: when precision was not measured.
    """
    table = inputs.measurements
    if table is not None:
        table = table[(table["corpus"] == NONE) & table["variant"].str.contains(VARIANT, regex=False)]
    if table is None or table.empty:
        raise InputError("figure-precision: no precision was measured; measure it")
    table = table[table["seed"] == table["seed"].min()]
    measured = table[table["quantity"] == DOCUMENTS]
    topics = sorted({int(k) for k in measured["topics"]})
    lengths = sorted({int(n) for n in measured["at"]})
    sizes = [(_second(topics), _second(lengths)), (_second(topics[::-1]), _second(lengths[::-1]))]
    named = {variant.partition(VARIANT)[0] for variant in measured["variant"]}
    priors = sorted(named, key=lambda prior: parameter(prior, topics[-1]))
    sizes = list(dict.fromkeys(sizes))
    return [_panel(table, prior, *size) for size in sizes for prior in priors]


def _second(values: list[int]) -> int:
    return values[min(1, len(values) - 1)]


def _panel(table: "pd.DataFrame", prior: str, topics: int, tokens: int) -> Panel:
    table = table[(table["variant"] == f"{prior}{VARIANT}{tokens}") & (table["topics"] == topics)]
    points: dict[str, list[tuple[int, float, float]]] = {}
    of_reference = table[table["quantity"].str.startswith((REFERENCE_ERROR, REFERENCE_BIAS))]
    known = math.hypot(*of_reference["value"])
    for quantity, at, value in zip(table["quantity"], table["at"], table["value"], strict=True):
        name = quantity.removeprefix(ERROR)
        if quantity.startswith(ERROR) and name in ESTIMATORS:
            error = max(float(value), known)
            points.setdefault(name, []).append((int(at), TERMS[name](topics, tokens, int(at)), _percent(error, tokens)))
    return Panel(prior, topics, tokens, {n: sorted(p) for n, p in points.items()}, _percent(known, tokens))


def _percent(nats: float, tokens: int) -> float:
    return 100.0 * math.expm1(min(nats / tokens, 50.0))


def draw(inputs: Inputs) -> Figure:
    """Draw error against work, a row per size, a column per prior; a star at the least work that is enough."""
    found = panels(inputs)
    columns = len({panel.prior for panel in found})
    rows = len(found) // columns
    figure = Figure(figsize=(style.WIDTH, HEIGHT if rows > 1 else HEIGHT / 2 + 0.7))
    grid = figure.subplots(rows, columns, sharex="row", sharey=True, squeeze=False)
    handles: dict[str, Any] = {}
    for i, panel in enumerate(found):
        axis = grid[i // columns][i % columns]
        _draw_panel(axis, panel)
        if inputs.synthetic():
            style.mark_synthetic(axis)
        if i < columns:
            axis.set_title(_name(panel.prior), fontweight="bold")
        if i // columns == rows - 1:
            axis.set_xlabel("work, terms (about ns)")
        if i % columns == 0:
            axis.set_ylabel(f"{panel.topics} topics, {panel.tokens} tokens:\nerror, % of perplexity per token")
        handles |= dict(zip(*axis.get_legend_handles_labels()[::-1], strict=True))
    order = [*(ESTIMATORS[name].label for name in LOOKS), OTHERS]
    shown = [label for label in order if label in handles]
    figure.legend([handles[label] for label in shown], shown, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def _name(prior: str) -> str:
    kind, _, value = prior.rpartition("-")
    return rf"$\alpha_k = {value}$" if kind == "alpha" else rf"$\alpha_k = {value} / K$"


def _draw_panel(axis: Axes, panel: Panel) -> None:
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_ylim(LOW, HIGH)
    axis.axhline(WANTED, color="black", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1.2)
    if panel.known > LOW:
        axis.axhspan(LOW, panel.known, color="#F0F0F0", linewidth=0, zorder=0.4)
    for name, points in sorted(panel.points.items(), key=lambda item: item[0] in LOOKS):
        look = LOOKS.get(name)
        x, y = [terms for _, terms, _ in points], [percent for _, _, percent in points]
        if look is None:
            axis.plot(x, y, color=PALE, linewidth=0.8, marker=".", label=OTHERS, zorder=1.5)
        else:
            size = 5.0 if ESTIMATORS[name].deterministic else 3.5
            axis.plot(x, y, **look, markersize=size, linewidth=1.3, label=ESTIMATORS[name].label, zorder=2.0)
    best = panel.cheapest
    if best is not None:
        name, samples, terms, percent = best
        colour = LOOKS.get(name, {"color": "#555555"})["color"]
        axis.plot([terms], [percent], marker="*", markersize=13, color=colour, markeredgecolor="black", zorder=4)
        low, high = axis.get_xlim()
        place = math.log(terms / low) / math.log(high / low)
        label = axis.annotate(
            ESTIMATORS[name].label.replace(" sampling", "\nsampling") + (f",\n{samples} samples" if samples else ""),
            (terms, percent),
            xytext=(0, -9),
            textcoords="offset points",
            ha="left" if place < 0.3 else "right" if place > 0.7 else "center",
            va="top",
            fontsize=7.5,
            fontweight="bold",
            zorder=5,
            path_effects=[patheffects.withStroke(linewidth=2.5, foreground="white")],
        )
        label.set_in_layout(False)
    axis.yaxis.set_major_locator(FixedLocator(TICKS))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_locator(LogLocator(numticks=8))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_minor_locator(NullLocator())
