"""The figures of an audit's page, as SVG inside HTML that takes its colours from the page.

matplotlib draws them in the colours of `heldout.typesetting.style`; then the page's CSS variables replace the colours
of ink, lines and background, so that one figure serves light screens, dark screens and paper.
"""

import io
import math
import re
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from heldout.auditing import wording
from heldout.auditing.ranking import Ranking
from heldout.auditing.result import TRUTH, Audit
from heldout.auditing.wording import ERRORS
from heldout.evaluators import FULL, MEAN_FIELD_BOUND
from heldout.typesetting import style

WIDTH = 3.9  # inches: on a phone its letters are of about 11 pixels
SERIES = ((FULL, "full folding-in"), (MEAN_FIELD_BOUND, "bound"))  # drawn by document length
MOST_POINTS = 2000
_LABEL = 0.12  # of an axis' length, the least between two labels
GROUPS = 12  # of documents by length; a median of each is drawn

_INK, _SOFT, _LINES, _PAGE = "#010203", "#010204", "#010205", "#010206"  # placeholders for the page's colours
_VARIABLES = {_INK: "var(--ink)", _SOFT: "var(--soft)", _LINES: "var(--line)", _PAGE: "var(--page)"}
_REPORTED = "#CC3311"  # Tol's red, which no evaluator has
_WHITE = 0.4  # that much of it is mixed into a series' colour on a dark page, for a contrast above 3 (tested)
_LOOK: Any = {
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 8.5,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _SOFT,
    "xtick.color": _SOFT,
    "xtick.labelcolor": _INK,
    "ytick.color": _SOFT,
    "ytick.labelcolor": _INK,
    "grid.color": _LINES,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "svg.fonttype": "path",
}


def numbers(audit: Audit) -> str:
    """Return a figure of all perplexities on a logarithmic axis, each joined to the truth, as SVG.

    Error bars are two standard errors; those shorter than the mark are hidden. Empty if no number is finite.
    """
    shown = [(row, *_value(audit, row.evaluator)) for row in wording.rows(audit)]
    shown = [item for item in shown if math.isfinite(item[1])][::-1]
    if not shown:
        return ""
    with style.applied():
        mpl.rcParams.update(_LOOK)
        figure = Figure(figsize=(WIDTH, 0.75 + 0.36 * len(shown)))
        axis = figure.subplots()
        truth = audit.line(TRUTH).nats_per_token
        if math.isfinite(truth):
            axis.axvline(-truth / math.log(10.0), color=_INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
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
        return _svg(figure, "numbers")


def by_topics(ranking: Ranking) -> str:
    """Return a figure of how far models are behind the best, by number of topics, as SVG; empty if none is finite.

    Error bars hold as many errors of the paired difference as tell two models apart. The libraries' own numbers are
    drawn less the best model's, where all models have one, in a panel of their own.
    """
    pairs = [(m, g) for m, g in zip(ranking.models, ranking.behind, strict=True) if math.isfinite(g.nats_per_token)]
    if not pairs:
        return ""
    pairs.sort(key=lambda pair: pair[0].topics)
    reported = ranking.library_choice is not None
    topics = [model.topics for model, _ in pairs]
    with style.applied():
        mpl.rcParams.update(_LOOK)
        figure = Figure(figsize=(WIDTH, 4.6 if reported else 2.8))
        axes = figure.subplots(2 if reported else 1, sharex=True, squeeze=False)[:, 0]
        behind = [-gap.nats_per_token for _, gap in pairs]
        width = ranking.quantile(ranking.documents) if ranking.documents > 1 else 0.0
        errors = [width * gap.error if math.isfinite(gap.error) else 0.0 for _, gap in pairs]
        axes[0].axhline(0.0, color=_INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
        axes[0].errorbar(
            topics,
            behind,
            yerr=errors,
            fmt="o-",
            color=_INK,
            markersize=5.0,
            linewidth=1.2,
            capsize=4.0,
            elinewidth=1.6,
        )
        axes[0].set_ylabel("behind the best, nats per token")
        if reported:
            best = max(model.reported.nats_per_token for model, _ in pairs)
            own = [best - model.reported.nats_per_token for model, _ in pairs]
            axes[1].axhline(0.0, color=_INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
            axes[1].plot(topics, own, "s-", color=_REPORTED, markersize=5.0, linewidth=1.2)
            axes[1].set_ylabel("by the library's number")
        for axis in axes:
            style.plain_ticks(axis.yaxis)
        axes[-1].set_xscale("log")
        labelled = _spread_out(topics)
        axes[-1].set_xticks(labelled, [f"{number:,}" for number in labelled])
        axes[-1].xaxis.set_minor_locator(NullLocator())
        axes[-1].set_xlabel("topics")
        return _svg(figure, "topics")


def _spread_out(numbers: list[int]) -> list[int]:
    """Return those numbers, ascending, whose labels do not touch on a logarithmic axis."""
    room = _LABEL * math.log(max(numbers) / min(numbers))
    kept: list[int] = []
    for number in sorted(set(numbers)):
        if not kept or math.log(number / kept[-1]) >= room:
            kept.append(number)
    return kept


def _value(audit: Audit, evaluator: str) -> tuple[float, float]:
    """Return a number in -nats per token and its standard error; 0 if none is stated."""
    if evaluator == "reported":
        return -audit.reported.nats_per_token, 0.0
    line = audit.line(evaluator)
    return -line.nats_per_token, 0.0 if math.isnan(line.error_per_token) else line.error_per_token


def colour_of(evaluator: str) -> str:
    """Return an evaluator's colour, the same as in every figure; the truth has the page's ink."""
    if evaluator == TRUTH:
        return _INK
    if evaluator == "reported":
        return _REPORTED
    return style.EVALUATOR_COLOURS.get(evaluator, _SOFT)


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
    axis.set_xticks(marks, [wording.perplexity(10.0**m).removesuffix(".0") if m < 7.0 else f"1e{m:.0f}" for m in marks])


def by_length(audit: Audit) -> str:
    """Return a figure of full folding-in and bound less truth, nats per token, against document length, as SVG.

    At most `MOST_POINTS` points are drawn, every n-th document by length; the curves are medians of `GROUPS` groups of
    all documents. Documents without a finite difference are left out. Empty if none has one.
    """
    series = [(name, label, *differences(audit, name)) for name, label in SERIES]
    series = [item for item in series if len(item[2])]
    if not series:
        return ""
    with style.applied():
        mpl.rcParams.update(_LOOK)
        figure = Figure(figsize=(WIDTH, 3.1))
        axis = figure.subplots()
        axis.axhline(0.0, color=_INK, linewidth=1.2, linestyle=(0, (3, 2)), zorder=3)
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
            axis.plot(x, y, "-", color=_PAGE, linewidth=4.5, alpha=0.8, zorder=4)
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
        return _svg(figure, "lengths")


def differences(audit: Audit, evaluator: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return lengths and (evaluator less truth) / length, nats per token, of documents where both are finite."""
    if evaluator not in audit.nats:
        return np.zeros(0, np.int64), np.zeros(0)
    finite = (audit.lengths > 0) & np.isfinite(audit.nats[evaluator]) & np.isfinite(audit.nats[TRUTH])
    lengths = audit.lengths[finite]
    return lengths, (audit.nats[evaluator][finite] - audit.nats[TRUTH][finite]) / lengths


def thinned(lengths: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the indices of at most `most` documents, evenly spaced in rank by length."""
    order = np.argsort(lengths, kind="stable")
    if len(order) <= most:
        return order
    chosen: NDArray[np.int64] = order[np.linspace(0, len(order) - 1, most).round().astype(np.int64)]
    return chosen


def medians(lengths: NDArray[np.int64], gaps: NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """Return the median lengths and gaps of up to `GROUPS` equal groups of documents by length."""
    order = np.argsort(lengths, kind="stable")
    groups = [group for group in np.array_split(order, min(GROUPS, max(len(order) // 8, 1))) if len(group)]
    return [float(np.median(lengths[g])) for g in groups], [float(np.median(gaps[g])) for g in groups]


def _svg(figure: Figure, name: str) -> str:
    """Return a figure as an SVG element without header and metadata, with unique ids and the page's colours."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:)?href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(
        r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" aria-hidden="true" focusable="false">', text
    )
    return re.sub(r"\n\s*", "\n", in_page(text))


def in_page(text: str) -> str:
    """Return an SVG's text with its colours as the page's CSS variables; a series' own colour is their default."""

    def variable(found: re.Match[str]) -> str:
        colour = found[0].lower()
        own = f"var({_name(colour)},{colour})" if colour in _LIGHTER else colour
        return _VARIABLES.get(colour, own)

    return re.sub(r"#[0-9a-fA-F]{6}\b", variable, text)


def lighter_colours() -> list[tuple[str, str]]:
    """Return the CSS variables of the series' colours and their values on a dark page."""
    return [(_name(colour), lighter) for colour, lighter in _LIGHTER.items()]


def _name(colour: str) -> str:
    return f"--{colour.removeprefix('#')}"


def _mixed_with_white(colour: str) -> str:
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(channel + _WHITE * (255 - channel)):02x}" for channel in channels)


_LIGHTER = {
    colour.lower(): _mixed_with_white(colour)
    for colour in sorted({_REPORTED, *style.EVALUATOR_COLOURS.values()} - {style.EVALUATOR_COLOURS[TRUTH]})
}
