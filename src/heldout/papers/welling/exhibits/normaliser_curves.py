"""Sections 4.2 and 4.3: log Z, which folding-in ignores, per token against the length of documents.

Two families of curves. Identity topics, as many as words: log Z is the multinomial NML constant of the corpus's
vocabulary, and its left end, documents of one token, is the toy example's log V. Learned topics: log Z by equation
4.34, each below its own limit, the NML constant of as many words as there are topics.
"""

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from heldout.errors import InputError
from heldout.evaluators.normaliser import log_multinomial_nml
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.typesetting import style

if TYPE_CHECKING:
    import pandas as pd

QUANTITY = "log-normaliser"
POINTS = 45  # of a curve
HEIGHT = 3.1  # inches
MARKERS = ("o", "s", "D", "^", "v", "P")
DASHES = ((0, ()), (0, (5, 1.5)), (0, (1.5, 1.2)))
LEARNED = ("s", "o", "^", "D", "v")


def learned(inputs: Inputs) -> "pd.DataFrame":
    """Return log Z of the learned models of PLSA, per document, of the first of the study's corpora that has any.

    Returns:
        The rows of quantity "log-normaliser", of all seeds, sorted by topics, length and seed.

    Raises:
        InputError: when there are none.
    """
    table = inputs.measurements
    if table is not None:
        chosen = table[(table["quantity"] == QUANTITY) & (table["axis"] == "length") & (table["model"] == PLSA)]
        for corpus in inputs.settings.corpora:
            rows = chosen[chosen["corpus"] == corpus]
            if len(rows):
                return rows.sort_values(["topics", "at", "seed"], kind="stable")
    raise InputError("normaliser: there is no log Z of a learned model among the measurements; measure the normalisers")


def draw(inputs: Inputs) -> Figure:
    """Draw log Z / L against L, both logarithmic; each corpus's own mean length is marked.

    A learned model's marker is the mean over seeds; its bar goes from two standard errors below the lowest seed to two
    above the highest.
    """
    rows = learned(inputs)
    corpora = inputs.settings.corpora
    sizes = {c: (int(inputs.corpus(c)["vocabulary"]), float(inputs.corpus(c)["mean_length"])) for c in corpora}
    longest = max(2.0, *(length for _, length in sizes.values()), float(rows["at"].max()))
    lengths = np.unique(np.geomspace(1.0, 2.0 * longest, POINTS).round().astype(int))
    figure, (axis,) = style.panels([""], synthetic=inputs.synthetic(*corpora))
    figure.set_size_inches(style.WIDTH, HEIGHT)
    axis.set_xscale("log")
    axis.set_yscale("log")

    for i, corpus in enumerate(corpora):
        vocabulary, mean_length = sizes[corpus]
        curve = [log_multinomial_nml(vocabulary, int(length)) / length for length in lengths]
        dash, marker = DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)]
        axis.plot(lengths, curve, color="black", linestyle=dash, linewidth=1.0)
        own = max(1, round(mean_length))
        value = log_multinomial_nml(vocabulary, own) / own
        label = f"{_title(corpus)}, $V$ = {vocabulary:,}:\n{value:.2f} at $L$ = {own:,}"
        axis.plot(
            *([own], [value], marker),
            color="black",
            markersize=5.5,
            markerfacecolor="white",
            linestyle=dash,
            linewidth=1.0,
            label=label,
            zorder=4,
        )
    topics = sorted({int(k) for k in rows["topics"]})
    shades = mpl.colormaps["Blues"](np.linspace(0.5, 0.95, len(topics)))
    for i, k in reversed(list(enumerate(topics))):
        of_k = rows[rows["topics"] == k]
        at = np.array(sorted({int(length) for length in of_k["at"]}))
        per_length = [of_k[of_k["at"] == length] for length in at]
        mean = np.array([float(r["value"].mean()) for r in per_length]) / at
        low = np.array([float((r["value"] - 2.0 * r["standard_error"]).min()) for r in per_length]) / at
        high = np.array([float((r["value"] + 2.0 * r["standard_error"]).max()) for r in per_length]) / at
        shown = np.union1d(lengths[lengths <= at.max()], at)
        limit = [log_multinomial_nml(k, int(length)) / length for length in shown]
        axis.plot(shown, limit, color=shades[i], linewidth=0.7, linestyle=(0, (1, 1)))
        axis.errorbar(
            *(at, mean),
            yerr=np.maximum(0.0, [mean - low, high - mean]),
            fmt=f"{LEARNED[i % len(LEARNED)]}-",
            color=shades[i],
            linewidth=1.2,
            markersize=3.2,
            elinewidth=1.0,
            capsize=1.8,
            label=f"{k} topics: {mean[-1]:.3f} at $L$ = {at[-1]:,}",
            zorder=3,
        )
    _finish(figure, str(rows["corpus"].iloc[0]))
    return figure


def _finish(figure: Figure, corpus: str) -> None:
    """Name the axes, put round numbers on them, and say what the two families of curves are beside them."""
    axis = figure.axes[0]
    axis.set_xlabel("tokens per document, $L$")
    axis.set_ylabel("ignored: $\\log Z\\,/\\,L$, nats per token")
    axis.set_title("")
    for scale in (axis.xaxis, axis.yaxis):
        scale.set_major_locator(LogLocator(base=10.0, subs=(1.0,)))
        scale.set_minor_locator(LogLocator(base=10.0, subs=tuple(range(2, 10))))
        scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        scale.set_minor_formatter(NullFormatter())
    axis.annotate(
        "$L=1$: the toy example's $\\log V$",
        xy=(1.0, axis.get_lines()[0].get_ydata()[0]),  # type: ignore[index]
        xytext=(2.0, 1.0),
        textcoords=("offset points", "axes fraction"),
        va="bottom",
        ha="left",
        fontsize=7.5,
    )
    handles, labels = axis.get_legend_handles_labels()
    identity = [pair for pair in zip(handles, labels, strict=True) if "$V$" in pair[1]]
    models = [pair for pair in zip(handles, labels, strict=True) if "$V$" not in pair[1]]
    learned_on = f"PLSA, learned on {_title(corpus)}\n(dotted: its limit)"
    look: dict[str, Any] = {"fontsize": 7.0, "title_fontsize": 7.5, "alignment": "left", "handlelength": 2.6}
    for pairs, title, place in (
        (identity, "one topic per word, $V$ words", "upper"),
        (models, learned_on, "lower"),
    ):
        look |= {"title": title, "loc": f"outside right {place}", "labelspacing": 0.8}
        figure.legend([handle for handle, _ in pairs], [label for _, label in pairs], **look)


def _title(corpus: str) -> str:
    """Return a corpus's name for labels."""
    return corpus.replace("nips", "NIPS") if corpus.startswith("nips") else corpus.capitalize()
