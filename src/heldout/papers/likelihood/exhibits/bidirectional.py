"""Bounds from both sides on simulated documents, closing around left-to-right sequential as temperatures increase."""

from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.likelihood.experiments.bidirectional import EXACT, GAP, LOWER, REFERENCE, UPPER
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

KIND = "bidirectional"
BOUNDS = ((UPPER, "upper bound", "v"), (LOWER, "lower bound", "^"))
COLOUR, BETWEEN = "#555555", "#EEEEEE"
LINEAR = 0.3  # nats; up to here the axis is linear, beyond it logarithmic
MINUS = "\N{MINUS SIGN}"


def measured(inputs: Inputs) -> tuple[str, dict[tuple[str, int], "pd.DataFrame"]]:
    """Return the first of the study's corpora that was measured, and its rows of one seed by (model, topics).

    Raises:
        InputError: when none was.
    """
    table = inputs.measurements
    if table is not None:
        table = table[table["variant"] == KIND]
        for corpus in inputs.settings.corpora:
            rows = table[table["corpus"] == corpus]
            if len(rows):
                rows = rows[rows["seed"] == rows["seed"].min()]
                found = {}
                for (model, topics), cell in rows.groupby(["model", "topics"]):
                    found[str(model), int(topics)] = cell
                order = list(style.MODEL_NAMES)
                return corpus, dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))
    raise InputError("bidirectional: there are no bounds on simulated documents among the measurements; measure them")


def draw(inputs: Inputs) -> Figure:
    """Draw both bounds minus left-to-right sequential against the number of temperatures, a panel per model and K.

    Means over documents with two standard errors; the text in a panel is the gap at its last number of temperatures.
    """
    corpus, found = measured(inputs)
    titles = [f"{style.MODEL_NAMES[model]}, {topics} topics" for model, topics in found]
    figure, axes = style.panels(titles, synthetic=inputs.synthetic(corpus))
    for axis, cell in zip(axes, found.values(), strict=True):
        axis.title.set_fontsize(7.5)
        for mark in axis.texts:  # "synthetic", if anything: panels this narrow need it smaller
            mark.set(fontsize=9, color="#C4C4C4", in_layout=False)
        _panel(axis, cell)
    axes[0].set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
    low, high = axes[0].get_ylim()
    ticks = [0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
    ticks = sorted({sign * tick for tick in ticks for sign in (-1.0, 1.0) if low <= sign * tick <= high})
    axes[0].set_yticks(ticks)
    axes[0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:+g}".replace("-", MINUS) if y else "0"))
    axes[0].yaxis.set_minor_locator(NullLocator())
    axes[0].set_ylabel(f"bound {MINUS} left-to-right sequential,\nnats per document")
    handles, labels = axes[0].get_legend_handles_labels()
    for axis in axes[1:]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles, labels = [*handles, handle], [*labels, label]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=7.5)
    return figure


def _panel(axis: Axes, cell: "pd.DataFrame") -> None:
    """Draw one model's bounds at one K."""

    def rows(quantity: str) -> Any:
        return cell[cell["quantity"] == quantity].sort_values("at")

    upper, lower, gap = rows(UPPER), rows(LOWER), rows(GAP)
    axis.fill_between(upper["at"], lower["value"], upper["value"], color=BETWEEN, linewidth=0, zorder=0.6)
    reference = rows(REFERENCE)
    samples = int(reference["at"].iloc[0])
    label = f"left-to-right sequential, {samples} samples"
    axis.axhline(0.0, color=style.EVALUATOR_COLOURS[REFERENCE], linewidth=1.4, zorder=1.5, label=label)
    for quantity, label, marker in BOUNDS:
        bound = rows(quantity)
        errors = 2.0 * bound["standard_error"]
        axis.errorbar(
            bound["at"], bound["value"], errors, color=COLOUR, marker=marker, linewidth=1.2, elinewidth=0.8, label=label
        )
    exact = rows(EXACT)
    axis.set_xscale("log")
    ticks = sorted(int(at) for at in upper["at"])
    labels = [f"{t:,}" if (len(ticks) - 1 - i) % 2 == 0 else "" for i, t in enumerate(ticks)]
    axis.set_xticks(ticks, labels, fontsize=7.0)
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("temperatures")
    axis.margins(x=0.1)
    if len(exact):
        axis.axhline(
            float(exact["value"].iloc[0]),
            color=style.EVALUATOR_COLOURS["exact-marginal"],
            linestyle=(0, (4, 2)),
            zorder=1.6,
            label="exact",
        )
    last = gap.iloc[-1]
    axis.text(
        *(0.96, 0.97, f"gap at {int(last['at']):,}:\n{_signed(last['value'])} ± {last['standard_error']:.2f}"),
        transform=axis.transAxes,
        ha="right",
        va="top",
        fontsize=7.0,
    )


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)
