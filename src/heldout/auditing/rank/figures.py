"""The figure of a ranking's page."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from heldout.auditing.colours import INK, REPORTED_COLOUR
from heldout.auditing.figures import WIDTH, element, look
from heldout.auditing.formats import nats
from heldout.auditing.rank.result import RankingResult
from heldout.auditing.rank.wording import label

_LABEL = 0.12  # least distance of two labels, as a share of the axis


def by_topics(ranking: RankingResult) -> str:
    """Return a page's figure of how far models are behind the best, by number of topics; empty if none is finite.

    The libraries' own numbers are drawn less the best model's, where all models have one, in a panel of their own.
    """
    reported = ranking.library_choice is not None
    with look():
        figure = Figure(figsize=(WIDTH, 4.6 if reported else 2.8))
        axes = figure.subplots(2 if reported else 1, sharex=True, squeeze=False)[:, 0]
        if not draw_behind(ranking, axes[0]):
            return ""
        if reported:
            models = sorted(ranking.models, key=lambda model: model.topics)
            best = max(model.reported.nats_per_token for model in models)
            reported_gaps = [best - model.reported.nats_per_token for model in models]
            axes[1].axhline(0.0, color=INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
            topics = [model.topics for model in models]
            axes[1].plot(topics, reported_gaps, "s-", color=REPORTED_COLOUR, markersize=5.0, linewidth=1.2)
            axes[1].set_ylabel("by the library's number")
            axes[0].set_xlabel("")
            axes[1].set_xlabel("topics")
        values = "; ".join(
            f"{label(model)} {nats(-gap.nats_per_token)}"
            for model, gap in zip(ranking.models, ranking.behind, strict=True)
            if math.isfinite(gap.nats_per_token)
        )
        second = " Below it, in red, the same by the library's own number." if reported else ""
        return element(
            figure,
            f"Nats per token behind the best model, by number of topics: {values}",
            "Nats per token behind the best model, by number of topics: lower is better, and a model whose bar reaches"
            f" the dashed line is not told apart from the best.{second}",
        )


def draw_behind(ranking: RankingResult, axis: Axes) -> bool:
    """Draw how far models are behind the best, by number of topics; return whether a difference is finite.

    Error bars hold as many errors of the paired difference as tell two models apart.
    """
    pairs = [(m, g) for m, g in zip(ranking.models, ranking.behind, strict=True) if math.isfinite(g.nats_per_token)]
    if not pairs:
        return False
    pairs.sort(key=lambda pair: pair[0].topics)
    topics = [model.topics for model, _ in pairs]
    gaps = [-gap.nats_per_token for _, gap in pairs]
    errors = [gap.width if math.isfinite(gap.width) else 0.0 for _, gap in pairs]
    axis.axhline(0.0, color=INK, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    bars: dict[str, Any] = {"fmt": "o-", "markersize": 5.0, "linewidth": 1.2, "capsize": 4.0, "elinewidth": 1.6}
    axis.errorbar(topics, gaps, yerr=errors, color=INK, **bars)
    axis.set_ylabel("behind the best, nats per token")
    axis.set_xscale("log")
    labelled = spread_out(topics)
    axis.set_xticks(labelled, [f"{number:,}" for number in labelled])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("topics")
    return True


def spread_out(numbers: list[int]) -> list[int]:
    """Return the numbers, ascending, whose labels do not touch on a logarithmic axis."""
    room = _LABEL * math.log(max(numbers) / min(numbers))
    kept: list[int] = []
    for number in sorted(set(numbers)):
        if not kept or math.log(number / kept[-1]) >= room:
            kept.append(number)
    return kept
