"""The figures of an audit's page."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from heldout.auditing import style
from heldout.auditing.audit.result import AuditResult, Row
from heldout.auditing.blocks import LIKELIHOOD, REPORTED
from heldout.auditing.formats import perplexity
from heldout.auditing.svg import INK, PAGE, WIDTH, colour_of, look, svg
from heldout.evaluators import FULL, MEAN_FIELD_BOUND
from heldout.typing import Floats, Ints

SERIES = ((FULL, "full folding-in"), (MEAN_FIELD_BOUND, "bound"))  # drawn by document length
MOST_POINTS = 2000
GROUPS = 12  # groups of documents by length, each drawn by its median


def numbers(audit: AuditResult) -> str:
    """Return a figure of all perplexities on a logarithmic axis, each joined to the likelihood's, as SVG.

    Empty if no number is finite.
    """
    with look():
        figure = Figure(figsize=(WIDTH, 0.75 + 0.36 * len(_shown(audit))))
        return svg(figure, "numbers") if draw_numbers(audit, figure.subplots()) else ""


def _shown(audit: AuditResult) -> list[Row]:
    """Return the rows of finite numbers, the last first."""
    return [row for row in audit.rows if math.isfinite(_log(audit, row))][::-1]


def _log(audit: AuditResult, row: Row) -> float:
    """Return log10 of a row's perplexity, which itself may overflow a float."""
    log = audit.reported.log_perplexity if row.evaluator == REPORTED else -row.nats_per_token
    return log / math.log(10.0)


def draw_numbers(audit: AuditResult, axis: Axes) -> bool:
    """Draw all perplexities, with their intervals over documents; return whether there is a finite one."""
    shown = _shown(audit)
    if not shown:
        return False
    values = [_log(audit, row) for row in shown]
    own = -audit.line(LIKELIHOOD).nats_per_token / math.log(10.0)
    if math.isfinite(own):
        axis.axvline(own, color=INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    for place, (row, x) in enumerate(zip(shown, values, strict=True)):
        colour = colour_of(row.evaluator)
        if math.isfinite(own):
            axis.plot([own, x], [place, place], color=colour, linewidth=3.0, alpha=0.45)
        ends = (
            [x - math.log10(row.low), math.log10(row.high) - x] if 0.0 < row.low <= row.high < math.inf else [0.0, 0.0]
        )
        bars = np.maximum(ends, 0.0)[:, None]
        axis.errorbar([x], [place], xerr=bars, fmt="o", color=colour, markersize=6.5, capsize=4.0, elinewidth=1.6)
    low, high = min(values), max(values)
    room = max(high - low, 0.15)
    axis.set_xlim(low - 0.08 * room, high + 0.08 * room)
    axis.set_ylim(-0.6, len(shown) - 0.4)
    labels = [f"{row.label}\n{perplexity(row.perplexity, row.standard_error)}" for row in shown]
    axis.set_yticks(range(len(shown)), labels)
    for tick, row in zip(axis.get_yticklabels(), shown, strict=True):
        tick.set_parse_math(False)
        tick.set_fontweight("bold" if row.evaluator == LIKELIHOOD else "normal")
    axis.tick_params(axis="y", length=0.0)
    axis.grid(axis="y", visible=False)
    _powers(axis, low, high)
    axis.set_xlabel("perplexity per token")
    return True


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
    """Return a figure of full folding-in and bound less likelihood, nats per token, against document length, as SVG.

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
        axis.set_ylabel("less the likelihood, nats per token")
        figure.legend(loc="outside upper left", ncols=2, handlelength=1.6, borderaxespad=0.1)
        return svg(figure, "lengths")


def differences(audit: AuditResult, evaluator: str) -> tuple[Ints, Floats]:
    """Return lengths and (evaluator less likelihood) / length, nats per token, of documents where both are finite."""
    if evaluator not in audit.nats:
        return np.zeros(0, np.int64), np.zeros(0)
    finite = (audit.lengths > 0) & np.isfinite(audit.nats[evaluator]) & np.isfinite(audit.nats[LIKELIHOOD])
    lengths = audit.lengths[finite]
    return lengths, (audit.nats[evaluator][finite] - audit.nats[LIKELIHOOD][finite]) / lengths


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
