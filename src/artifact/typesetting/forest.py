"""Effects as pictures: curves over the number of topics, and forest plots; the margin is shaded in both."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from artifact.contrasts.effect import Effect, Effects, chosen
from artifact.typesetting import latex, style
from artifact.typesetting.style import Props

CORPORA = ("o", "s", "^", "D")  # marks of corpora, by place in the study
DISTANCE = 0.18  # distance of corpora's intervals within a row of a forest, and factor between them on a curve
SHADE: Props = {"color": style.GROUND, "linewidth": 0, "zorder": 0.3}
ZERO: Props = {"color": style.INK, "linewidth": 0.8, "zorder": 0.5}


def corpora_of(effects: Effects, names: Sequence[str]) -> list[str]:
    """Return the corpora of contrasts, in the order in which they come."""
    return list(dict.fromkeys(effect.corpus for name in names for effect in effects.get(name, ())))


def props_of(corpora: Sequence[str]) -> dict[str, Props]:
    """Return the colour and mark of every corpus."""
    return {
        corpus: {
            "color": style.CORPUS_COLOURS[place % len(style.CORPUS_COLOURS)],
            "marker": CORPORA[place % len(CORPORA)],
        }
        for place, corpus in enumerate(corpora)
    }


def handles(corpora: Sequence[str]) -> list[Line2D]:
    """Return the legend's handles of corpora."""
    return [
        Line2D([], [], label=latex.corpus_title(corpus), linewidth=1.2, markersize=3.5, **props)
        for corpus, props in props_of(corpora).items()
    ]


def hollow_handle() -> Line2D:
    """Return the legend's handle of the `hollow` effects of `curves`."""
    props: Props = {"color": style.DARK, "markerfacecolor": style.WHITE, "linestyle": "none", "markersize": 3.5}
    return Line2D([], [], marker="o", label="not checked by all", **props)


def hollow_marks(axis: Axes, places: Sequence[tuple[float, float]], **props: Any) -> None:
    """Draw hollow marks over marks of the same look."""
    points = ([x for x, _ in places], [y for _, y in places])
    axis.plot(*points, linestyle="none", markersize=3.0, markerfacecolor=style.WHITE, zorder=3.0, **props)


def curves(axis: Axes, effects: Sequence[Effect], props: Mapping[str, Props], hollow: Collection[Effect] = ()) -> None:
    """Draw effects against K, a curve with intervals for every corpus, and the margin about the null.

    The marks of `hollow` effects are white: not every other estimate validates their likelihood.
    """
    if not effects:
        return
    null, margin = effects[0].null, effects[0].margin
    axis.axhspan(null - margin, null + margin, **SHADE)
    axis.axhline(null, **ZERO)
    topics = sorted({effect.topics for effect in effects})
    for place, (corpus, own) in enumerate(props.items()):
        rows = sorted((e for e in effects if e.corpus == corpus), key=lambda effect: effect.topics)
        factor = 1.0 + 0.02 * (place - (len(props) - 1) / 2.0)  # intervals side by side
        axis.errorbar(
            [effect.topics * factor for effect in rows],
            [effect.estimate for effect in rows],
            [effect.half_width for effect in rows],
            **{"linewidth": 1.2, "elinewidth": 0.8, "markersize": 3.0, **own},
        )
        unvalidated = [effect for effect in rows if effect in hollow]
        hollow_marks(axis, [(effect.topics * factor, effect.estimate) for effect in unvalidated], **own)
    axis.set_xscale("log")
    shown = style.sparse_ticks(topics)
    style.ticks(axis.xaxis, shown, [f"{k:,}" for k in shown])
    axis.set_xlabel("number of topics")


def forest(
    axis: Axes,
    effects: Effects,
    rows: Sequence[tuple[str, str]],
    props: Mapping[str, Props],
    where: str = "",
    *,
    named: bool = False,
) -> None:
    """Draw the effects of contrasts as intervals, a row for each contrast, corpora side by side, the first row on top.

    Args:
        axis: the panel.
        effects: by contrast.
        rows: a contrast's name and its label.
        props: colour and mark by corpus.
        where: the part of the contrasts that is drawn.
        named: whether the corpora's names stand beside the first row.
    """
    for row, (name, _) in enumerate(rows):
        own = chosen(effects, name, where)
        for place, (corpus, look) in enumerate(props.items()):
            for effect in (effect for effect in own if effect.corpus == corpus):
                height = row + DISTANCE * (place - (len(props) - 1) / 2.0)
                options: Props = {"xerr": effect.half_width, "elinewidth": 1.0, "markersize": 3.5, "linestyle": "none"}
                axis.errorbar(effect.estimate, height, **options, **look)
                if named and not row:
                    away, own_colour = (4.0, -0.5), look["color"]
                    style.label(
                        axis, latex.corpus_title(corpus), (effect.high, height), away, color=own_colour, va="center"
                    )
        if own:
            low, high = own[0].null - own[0].margin, own[0].null + own[0].margin
            axis.fill_betweenx([row - 0.5, row + 0.5], low, high, **SHADE)
            axis.plot([own[0].null] * 2, [row - 0.5, row + 0.5], **ZERO)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    style.ticks(axis.yaxis, range(len(rows)), [label for _, label in rows])
    axis.grid(visible=False, axis="y")
