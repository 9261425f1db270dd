"""The figure over the number of topics: likelihood, coherence, exclusivity, the library's number, folding in."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from heldout.auditing.choice.result import Candidate, ChoiceResult
from heldout.auditing.colours import INK, PAGE, REPORTED_COLOUR, SOFT
from heldout.auditing.figures import WIDTH, colour_of, element, look
from heldout.auditing.formats import nats
from heldout.auditing.rank.figures import spread_out
from heldout.evaluators import FULL

SIZE = (8.6, 4.3)  # inches, of the figure that stands alone
Draw = Callable[[ChoiceResult, Axes], None]


def panels(choice: ChoiceResult) -> list[tuple[str, Draw]]:
    """Return the panels beside the likelihood's for which there are numbers, each with its title."""
    known = {
        "coherence": ("coherence (NPMI)", _line("coherence", "D-")),
        "exclusivity": ("exclusivity", _line("exclusivity", "^-")),
        "reported": ("library, nats/token", _draw_reported),
        "folding_in": ("folding in, excess", _draw_folding_in),
        "again": ("topics again", _draw_again),
    }
    shown = []
    for name, panel in known.items():
        values = [getattr(model, name) for model in choice.models]
        if any(math.isfinite(value if name != "reported" else value.nats_per_token) for value in values):
            shown.append(panel)
    return shown


def draw(choice: ChoiceResult, figure: Figure) -> Figure:
    """Draw all panels into a figure, the likelihood's the largest."""
    with look():
        others = panels(choice)
        rows = max(math.ceil(len(others) / 2), 1)
        grid = figure.add_gridspec(rows, 4 if others else 2)
        places = [grid[:, :2], *(grid[place // 2, 2 + place % 2] for place in range(len(others)))]
        for place, (title, panel) in zip(places, [("", draw_likelihood), *others], strict=True):
            axis = figure.add_subplot(place)
            panel(choice, axis)
            _finish(choice, axis, title)
        _label_last_row(figure.axes[1:])
    return figure


def for_page(choice: ChoiceResult) -> list[str]:
    """Return a page's figures: the likelihood over the number of topics, and all else."""
    elements = []
    others = panels(choice)
    with look():
        figure = Figure(figsize=(WIDTH, 3.6))
        axis = figure.subplots()
        draw_likelihood(choice, axis)
        _finish(choice, axis, "")
        pairs = zip(choice.models, choice.behind, strict=True)
        values = "; ".join(f"{m.name} {nats(-gap.nats_per_token)}" for m, gap in pairs)
        seeds = " Dots are single seeds." if choice.restarts > 1 else ""
        elements.append(
            element(
                figure,
                f"Nats per token behind the best number of topics: {values}",
                "Log-likelihood of held-out documents by number of topics: the higher, the better. Bars are intervals"
                " of the difference from the best, over documents, seeds and folds, at 5 % over all pairs; full circles"
                f" are not told apart from it.{seeds}",
            )
        )
        if others:
            figure = Figure(figsize=(WIDTH, 0.2 + 1.2 * math.ceil(len(others) / 2)))
            grid = figure.add_gridspec(math.ceil(len(others) / 2), 2)
            for place, (title, panel) in enumerate(others):
                axis = figure.add_subplot(grid[place // 2, place % 2])
                panel(choice, axis)
                _finish(choice, axis, title)
            _label_last_row(figure.axes)
            names = ", ".join(title for title, _ in others)
            bound = " Dashed: the most that folding in may exceed the likelihood by." if _bounded(choice) else ""
            elements.append(element(figure, f"By number of topics: {names}", f"Means over folds and seeds.{bound}"))
    return elements


def _label_last_row(axes: Sequence[Axes]) -> None:
    """Leave the label of the horizontal axis to the last panel of either column."""
    for axis in axes[:-2]:
        axis.set_xlabel("")


def draw_likelihood(choice: ChoiceResult, axis: Axes) -> None:
    """Draw log-likelihoods per token, with intervals of the differences from the best."""
    pairs = sorted(zip(choice.models, choice.behind, strict=True), key=lambda pair: pair[0].topics)
    best = choice.nats_per_token(choice.best)
    topics, values = [m.topics for m, _ in pairs], [best + gap.nats_per_token for _, gap in pairs]
    axis.axhline(best, color=INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    axis.plot(topics, values, "-", color=INK, linewidth=1.2, zorder=2)
    lengths = choice.lengths.sum()
    for (model, gap), y in zip(pairs, values, strict=True):
        width = gap.width if math.isfinite(gap.width) and model is not choice.best else 0.0
        style: dict[str, Any] = {"fmt": "o", "capsize": 4.0, "elinewidth": 1.6, "markersize": 6.5, "zorder": 4}
        face = PAGE if gap.apart else INK
        axis.errorbar([model.topics], [y], yerr=[width], color=INK, markerfacecolor=face, **style)
        if len(model.by_seed):
            singles = model.by_seed.sum(axis=1) / lengths
            axis.plot([model.topics] * len(singles), singles, ".", color=SOFT, markersize=4.0, zorder=5)
    axis.set_ylabel("log-likelihood of held-out documents,\nnats per token")
    handles = [axis.plot([], [], "o", color=INK, markerfacecolor=face)[0] for face in (INK, PAGE)]
    axis.legend(
        handles, ["not told apart from the best", "worse"], loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2,
        handletextpad=0.1, columnspacing=1.0, borderaxespad=0.1,
    )  # fmt: skip


def _line(name: str, marks: str) -> Draw:
    """Return the function that draws an attribute."""
    return lambda choice, axis: _plot(choice, axis, [getattr(model, name) for model in _ascending(choice)], marks, INK)


def _draw_reported(choice: ChoiceResult, axis: Axes) -> None:
    values = [model.reported.nats_per_token for model in _ascending(choice)]
    _plot(choice, axis, values, "s-", REPORTED_COLOUR)


def _draw_folding_in(choice: ChoiceResult, axis: Axes) -> None:
    """Draw how far full folding-in is above the likelihood, and the most that it may be."""
    models = _ascending(choice)
    _plot(choice, axis, [m.folding_in - choice.nats_per_token(m) for m in models], "o-", colour_of(FULL))
    if _bounded(choice):
        _plot(choice, axis, [m.most_excess for m in models], "--", SOFT)
    axis.set_ylim(bottom=0.0)


def _draw_again(choice: ChoiceResult, axis: Axes) -> None:
    _line("again", "v-")(choice, axis)
    axis.set_ylim(0.0, 1.05)


def _bounded(choice: ChoiceResult) -> bool:
    return any(math.isfinite(model.most_excess) for model in choice.models)


def _ascending(choice: ChoiceResult) -> list[Candidate]:
    return sorted(choice.models, key=lambda model: model.topics)


def _plot(choice: ChoiceResult, axis: Axes, values: Iterable[float], marks: str, colour: str) -> None:
    topics = [model.topics for model in _ascending(choice)]
    axis.plot(topics, np.array(list(values)), marks, color=colour, markersize=4.5, linewidth=1.2)


def _finish(choice: ChoiceResult, axis: Axes, title: str) -> None:
    topics = [model.topics for model in choice.models]
    axis.set_title(title, loc="left", fontsize=9.0)
    axis.set_xscale("log")
    axis.set_xlim(min(topics) / 1.15, max(topics) * 1.15)
    labelled = spread_out(topics)
    axis.set_xticks(labelled, [f"{number:,}" for number in labelled])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_locator(MaxNLocator(4))
    axis.set_xlabel("topics")
