"""Sections 4.2 to 4.4: log Z, which folding-in ignores, and the normalised model's perplexity at many topics.

Of log Z there are two families of curves. Identity topics, as many as words: log Z is the multinomial NML constant of
the corpus's vocabulary, and its left end, documents of one token, is the toy example's log V. Learned topics: log Z by
equation 4.34, each below its own limit, the NML constant of as many words as there are topics.
"""

from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.experiments.normaliser_limits import NORMALISED
from artifact.papers.welling.results import bands, best, learned_normalisers, means, points, word_topics
from artifact.typesetting import latex, style
from heldout.evaluators import EXACT, FULL, HALF
from heldout.evaluators.normaliser import log_multinomial_nml
from heldout.models import PLSA
from heldout.typing import Ints

if TYPE_CHECKING:
    import pandas as pd

POINTS = 45  # number of points of a curve
HEIGHT, NORMALISED_HEIGHT = 3.1, 3.4  # inches
CORPUS_PROPS = (("o", "-"), ("s", style.DASHED), ("D", style.DOTTED))  # markers and lines
LEARNED_MARKERS = ("s", "o", "^", "D", "v")  # markers of the numbers of topics


def log_normaliser(inputs: Inputs) -> Figure:
    """Draw log Z / L against L, both logarithmic; each corpus's own mean length is marked."""
    rows = learned_normalisers(inputs)
    corpora = inputs.settings.corpora
    sizes = {c: (int(inputs.corpus(c)["vocabulary"]), float(inputs.corpus(c)["mean_length"])) for c in corpora}
    longest = max(2.0, *(length for _, length in sizes.values()), float(rows["at"].max()))
    lengths = np.unique(np.geomspace(1.0, 2.0 * longest, POINTS).round().astype(int))
    figure, ((axis,),) = style.grid(1, 1, HEIGHT, synthetic=inputs.synthetic(*corpora), mark_size=17.0)
    style.log_log(axis)
    for (corpus, (vocabulary, mean_length)), (marker, line) in zip(sizes.items(), cycle(CORPUS_PROPS), strict=False):
        axis.plot(lengths, _per_token(vocabulary, lengths), color=style.INK, linestyle=line, linewidth=1.0)
        length = max(1, round(mean_length))
        value = log_multinomial_nml(vocabulary, length) / length
        axis.plot(
            [length],
            [value],
            marker,
            color=style.INK,
            markersize=5.5,
            markerfacecolor=style.WHITE,
            linestyle=line,
            linewidth=1.0,
            label=f"{latex.corpus_title(corpus)}, $V$ = {vocabulary:,}:\n{value:.2f} at $n$ = {length:,}",
            zorder=4,
        )
    topics = sorted({int(k) for k in rows["topics"]})
    shades = mpl.colormaps["Blues"](np.linspace(0.5, 0.95, len(topics)))
    for k, shade, marker in reversed(list(zip(topics, shades, cycle(LEARNED_MARKERS), strict=False))):
        _draw_learned(axis, rows[rows["topics"] == k], lengths, shade, marker)
    _finish(figure, str(rows["corpus"].iloc[0]))
    return figure


def _per_token(words: int, lengths: Iterable[int]) -> list[float]:
    """Return the log NML constant of a vocabulary over the length, nats per token."""
    return [log_multinomial_nml(words, int(length)) / length for length in lengths]


def _draw_learned(axis: Axes, rows: "pd.DataFrame", lengths: Ints, shade: Any, marker: str) -> None:
    """Draw the models of one number of topics, and the limit of their log Z.

    A marker is the mean over seeds; its bar goes from two standard errors below the lowest seed to two above the
    highest.
    """
    (topics,) = {int(k) for k in rows["topics"]}
    measured = np.array(sorted({int(length) for length in rows["at"]}))
    ends = rows.assign(
        low=rows["value"] - 2.0 * rows["standard_error"], high=rows["value"] + 2.0 * rows["standard_error"]
    ).groupby("at")
    mean, low, high = (
        column.to_numpy() / measured for column in (ends["value"].mean(), ends["low"].min(), ends["high"].max())
    )
    shown = np.union1d(lengths[lengths <= measured.max()], measured)
    axis.plot(shown, _per_token(topics, shown), color=shade, linewidth=0.7, linestyle=style.DOTTED)
    axis.errorbar(
        measured,
        mean,
        yerr=np.maximum(0.0, [mean - low, high - mean]),
        fmt=f"{marker}-",
        color=shade,
        linewidth=1.2,
        markersize=3.2,
        elinewidth=1.0,
        capsize=1.8,
        label=f"{topics} topics: {mean[-1]:.3f} at $n$ = {measured[-1]:,}",
        zorder=3,
    )


def _finish(figure: Figure, corpus: str) -> None:
    """Name the axes, put round numbers on them, and explain the two families of curves beside them."""
    axis = figure.axes[0]
    axis.set_xlabel("tokens per document, $n$")
    axis.set_ylabel("ignored: $\\log Z_n\\,/\\,n$, nats per token")
    for scale in (axis.xaxis, axis.yaxis):
        scale.set_major_locator(LogLocator(base=10.0, subs=(1.0,)))
        scale.set_minor_locator(LogLocator(base=10.0, subs=tuple(range(2, 10))))
        style.plain_numbers(scale)
    label_props: style.Props = {"xycoords": ("data", "axes fraction"), "annotation_clip": False, "va": "bottom"}
    style.label(axis, "$n=1$: the toy example's $\\log V$", (1.0, 1.0), (2, 0), **label_props)
    entries = list(zip(*axis.get_legend_handles_labels(), strict=True))
    props: style.Props = {"labelspacing": 0.8, "fontsize": 7.0, "title_fontsize": 7.5}
    props |= {"alignment": "left", "handlelength": 2.6}
    for identity, title, place in (
        (True, "one topic per word, $V$ words", "outside right upper"),
        (False, f"PLSA, learned on {latex.corpus_title(corpus)}\n(dotted: its limit)", "outside right lower"),
    ):
        family = [handle for handle, label in entries if ("$V$" in label) == identity]
        props |= {"title": title, "loc": place}
        figure.legend(handles=family, **props)


def normalised_perplexity(inputs: Inputs) -> Figure:
    """Draw a panel per corpus: folding in, the limit of its normalised model, half folding-in, a topic per word."""
    corpora = inputs.settings.corpora[:3]
    titles, synthetic = [latex.corpus_title(corpus) for corpus in corpora], inputs.synthetic(*corpora)
    figure, axes = style.panels(titles, synthetic=synthetic, height=NORMALISED_HEIGHT)
    colour = style.EVALUATOR_COLOURS[FULL]
    for axis, corpus in zip(axes, corpora, strict=True):
        ends = bands(inputs, corpus).groupby("topics")[["folded", "limit"]].mean()
        band: style.Props = {"color": colour, "alpha": 0.15, "linewidth": 0, "label": "normalised: in this band"}
        axis.fill_between(ends.index, ends["folded"], ends["limit"], **band)
        axis.plot(ends["limit"], color=colour, linestyle=style.DASHED, label="limit of the normalised model")
        axis.plot(ends["folded"], color=colour, marker="o", label="full folding-in")
        half = means(best(points(inputs, [corpus], PLSA, HALF)))
        if len(half):
            axis.plot(half, color=style.EVALUATOR_COLOURS[HALF], marker="s", label="half folding-in")
        vocabulary, words = int(inputs.corpus(corpus)["vocabulary"]), word_topics(inputs, corpus)
        for evaluator, marker, label in (
            (FULL, "o", "folded in"),
            (NORMALISED, "D", "normalised"),
            (EXACT, "X", "exact marginal"),
        ):
            if evaluator in words:
                axis.plot(
                    *([vocabulary], [words[evaluator].mean()], marker),
                    markersize=5.5,
                    markerfacecolor=style.WHITE if evaluator == FULL else style.INK,
                    markeredgecolor=style.INK,
                    label=f"a topic per word, {label}",
                )
    style.finish(axes, style.sparse_ticks({*inputs.settings.topics, *inputs.settings.beyond.topics}))
    style.legend(figure, axes[:1], ncols=3)
    return figure
