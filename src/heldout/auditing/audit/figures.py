"""The figures of an audit's page."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from heldout.auditing.audit import wording
from heldout.auditing.audit.result import AuditResult
from heldout.auditing.blocks import REPORTED, TRUTH
from heldout.auditing.formats import ERRORS, perplexity
from heldout.auditing.svg import INK, PAGE, WIDTH, colour_of, look, svg
from heldout.evaluators import FULL, MEAN_FIELD_BOUND
from heldout.typesetting import style
from heldout.typing import Floats, Ints

SERIES = ((FULL, "full folding-in"), (MEAN_FIELD_BOUND, "bound"))  # drawn by document length
MOST_POINTS = 2000
GROUPS = 12  # of documents by length; a median of each is drawn


def numbers(audit: AuditResult) -> str:
    """Return a figure of all perplexities on a logarithmic axis, each joined to the truth, as SVG.

    Error bars are two standard errors; those shorter than the mark are hidden. Empty if no number is finite.
    """
    shown = [(row, *_value(audit, row.evaluator)) for row in wording.rows(audit)]
    shown = [item for item in shown if math.isfinite(item[1])][::-1]
    if not shown:
        return ""
    with look():
        figure = Figure(figsize=(WIDTH, 0.75 + 0.36 * len(shown)))
        axis = figure.subplots()
        truth = audit.line(TRUTH).nats_per_token
        if math.isfinite(truth):
            axis.axvline(-truth / math.log(10.0), color=INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
        for place, (row, value, spread) in enumerate(shown):
            colour = colour_of(row.evaluator)
            x = value / math.log(10.0)  # log10, because the perplexity may overflow a float
            if math.isfinite(truth):
                axis.plot([-truth / math.log(10.0), x], [place, place], color=colour, linewidth=3.0, alpha=0.45)
            half = ERRORS * spread / math.log(10.0)
            axis.errorbar([x], [place], xerr=[half], fmt="o", color=colour, markersize=6.5, capsize=4.0, elinewidth=1.6)
        values = [value for _, value, _ in shown]
        low, high = min(values) / math.log(10.0), max(values) / math.log(10.0)
        room = max(high - low, 0.15)
        axis.set_xlim(low - 0.08 * room, high + 0.08 * room)
        axis.set_ylim(-0.6, len(shown) - 0.4)
        axis.set_yticks(range(len(shown)), [f"{row.label}\n{row.perplexity}" for row, _, _ in shown])
        for tick, (row, _, _) in zip(axis.get_yticklabels(), shown, strict=True):
            tick.set_parse_math(False)
            tick.set_fontweight("bold" if row.evaluator == TRUTH else "normal")
        axis.tick_params(axis="y", length=0.0)
        axis.grid(axis="y", visible=False)
        _powers(axis, low, high)
        axis.set_xlabel("perplexity per token")
        return svg(figure, "numbers")


def _value(audit: AuditResult, evaluator: str) -> tuple[float, float]:
    """Return a number in -nats per token and its standard error; 0 if none is stated."""
    if evaluator == REPORTED:
        return audit.reported.log_perplexity, 0.0
    line = audit.line(evaluator)
    return -line.nats_per_token, 0.0 if math.isnan(line.error_per_token) else line.error_per_token


def _powers(axis: Axes, low: float, high: float) -> None:
    """Label an axis of log10 perplexity with a few round perplexities."""
    marks: list[float] = []
    for per_decade in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
        decades = range(math.floor(low) - 1, math.ceil(high) + 2)
        marks = [m + decade for decade in decades for m in map(math.log10, per_decade)]
        marks = [m for m in marks if axis.get_xlim()[0] <= m <= axis.get_xlim()[1]]
        if len(marks) >= 3:
            break
    marks = marks[:: math.ceil(len(marks) / 5)] if marks else [0.5 * (low + high)]
    axis.set_xticks(marks, [perplexity(10.0**m).removesuffix(".0") if m < 7.0 else f"1e{m:.0f}" for m in marks])


def by_length(audit: AuditResult) -> str:
    """Return a figure of full folding-in and bound less truth, nats per token, against document length, as SVG.

    At most `MOST_POINTS` points are drawn, every n-th document by length; the curves are medians of `GROUPS` groups of
    all documents. Documents without a finite difference are left out. Empty if none has one.
    """
    series = [(name, label, *differences(audit, name)) for name, label in SERIES]
    series = [item for item in series if len(item[2])]
    if not series:
        return ""
    with look():
        figure = Figure(figsize=(WIDTH, 3.1))
        axis = figure.subplots()
        axis.axhline(0.0, color=INK, linewidth=1.2, linestyle=(0, (3, 2)), zorder=3)
        for name, label, lengths, gaps in series:
            drawn = thinned(lengths, MOST_POINTS // len(series))
            colour = colour_of(name)
            axis.plot(
                *(lengths[drawn], gaps[drawn], "."),
                color=colour,
                markersize=3.2,
                alpha=0.5,
                markeredgewidth=0.0,
                zorder=2,
            )
            x, y = medians(lengths, gaps)
            axis.plot(x, y, "-", color=PAGE, linewidth=4.5, alpha=0.8, zorder=4)
            axis.plot(x, y, "o-", color=colour, markersize=4.0, linewidth=1.8, zorder=5, label=f"{label}: median")
        axis.set_xscale("log")
        longest = max(float(lengths.max()) for _, _, lengths, _ in series)
        shortest = min(float(lengths.min()) for _, _, lengths, _ in series)
        wide = longest / shortest > 30.0
        axis.set_xlim(shortest / 1.15, longest * 1.15)
        axis.xaxis.set_major_locator(
            LogLocator(subs=(1.0,) if longest / shortest > 3e3 else (1.0, 2.0, 5.0) if not wide else (1.0, 3.0))
        )
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("document length, tokens")
        axis.set_ylabel("less the truth, nats per token")
        figure.legend(loc="outside upper left", ncols=2, handlelength=1.6, borderaxespad=0.1)
        return svg(figure, "lengths")


def differences(audit: AuditResult, evaluator: str) -> tuple[Ints, Floats]:
    """Return lengths and (evaluator less truth) / length, nats per token, of documents where both are finite."""
    if evaluator not in audit.nats:
        return np.zeros(0, np.int64), np.zeros(0)
    finite = (audit.lengths > 0) & np.isfinite(audit.nats[evaluator]) & np.isfinite(audit.nats[TRUTH])
    lengths = audit.lengths[finite]
    return lengths, (audit.nats[evaluator][finite] - audit.nats[TRUTH][finite]) / lengths


def thinned(lengths: Ints, most: int) -> Ints:
    """Return the indices of at most `most` documents, evenly spaced in rank by length."""
    order = np.argsort(lengths, kind="stable")
    if len(order) <= most:
        return order
    chosen: Ints = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    return chosen


def medians(lengths: Ints, gaps: Floats) -> tuple[list[float], list[float]]:
    """Return the median lengths and gaps of up to `GROUPS` equal groups of documents by length."""
    order = np.argsort(lengths, kind="stable")
    groups = [group for group in np.array_split(order, min(GROUPS, max(len(order) // 8, 1))) if len(group)]
    return [float(np.median(lengths[g])) for g in groups], [float(np.median(gaps[g])) for g in groups]
