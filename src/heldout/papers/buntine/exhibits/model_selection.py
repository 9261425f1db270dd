"""Which evaluators find the true number of topics, and what each says of the true model."""

import math
from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS as KNOWN
from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.papers.buntine.exhibits.realistic_curves import LR, LRS, MFI, Selection, mark, selections
from heldout.typesetting import style

OTHER_TARGET = (HALF, "document-completion")  # they score half of the tokens
ORDER = (LRS, LR, MFI, "chib", "linear-time", "mean-field-bound", FULL, *OTHER_TARGET)
RIGHT, WRONG = "#0072B2", "#EDEDED"
CORPUS_COLOURS = {"s10": "#0072B2", "s10s": "#56B4E9", "s40": "#D55E00"}
CORPUS_MARKERS = {"s10": "o", "s10s": "v", "s40": "s"}
ERRORS = 2.0  # standard errors to either side of a point
HEIGHT = 0.27  # inches, of an evaluator's row
LINEAR = 1e-3  # nats per token: the second panel's axis is linear up to here
MARKS = (-0.1, -0.01, 0.0, 0.01, 0.1)


def label(evaluator: str) -> str:
    """Return an evaluator's name in figures."""
    return style.EVALUATOR_NAMES[evaluator] if evaluator in style.EVALUATOR_NAMES else KNOWN[evaluator].label


def chosen(selection: Selection, evaluator: str, size: int) -> int | None:
    """Return the number of topics that the most seeds select (the smallest of several); None without scores."""
    votes = Counter(selection.selected(evaluator, size, seed) for seed in selection.seeds)
    found = [(-count, topics) for topics, count in votes.items() if topics is not None]
    return min(found)[1] if found else None


def draw(inputs: Inputs) -> Figure:
    """Draw the selected number of topics by evaluator, corpus and training size, and the evaluators' errors.

    Left: the number of topics of the highest log-likelihood, dark where it is the true one. Right: an evaluator's
    log-likelihood of the held-out documents under the true model less the sequential left-to-right sampler's, per
    token, with two standard errors of the difference where both state theirs. (That sampler's logarithm is itself low
    by about half its variance.) Evaluators that score half of the tokens have another target and are not in it.

    Raises:
        InputError: when no model was scored on a drawn corpus.
    """
    found = list(selections(inputs).values())
    if not found:
        raise InputError("figure-model-selection: no model was scored; measure model-selection first")
    evaluators = _ordered({evaluator for selection in found for evaluator in selection.evaluators})
    figure = Figure(figsize=(style.WIDTH, 1.0 + HEIGHT * len(evaluators)))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[1.5, 1.0])
    _cells(left, found, evaluators)
    _errors(right, found, evaluators)
    mark([left, right], inputs)
    for text in left.texts:  # "synthetic", if anything, would lie behind the cells
        if text.get_text() == style.SYNTHETIC_MARK:
            text.set(zorder=3.0, color="black", alpha=0.3)
    return figure


def _ordered(evaluators: set[str]) -> list[str]:
    return [*(e for e in ORDER if e in evaluators), *sorted(evaluators - set(ORDER))]


def _cells(axis: Axes, found: Sequence[Selection], evaluators: Sequence[str]) -> None:
    x, ticks, names = 0.0, [], []
    for selection in found:
        first = x
        for size in selection.sizes:
            for y, evaluator in enumerate(evaluators):
                topics = chosen(selection, evaluator, size)
                if topics is None:
                    continue
                right = topics == selection.true_topics
                axis.barh(y, 0.92, left=x - 0.46, height=0.86, color=RIGHT if right else WRONG)
                colour = "white" if right else "#333333"
                axis.text(x, y, str(topics), ha="center", va="center", fontsize=7.5, color=colour)
            ticks.append(x)
            names.append(f"{size:,}")
            x += 1.0
        axis.text(
            *((first + x - 1.0) / 2.0, -0.75, f"{selection.corpus}: $K = {selection.true_topics}$"),
            ha="center",
            fontsize=8.0,
            fontweight="bold",
        )
        x += 0.6
    axis.set_xlim(-0.6, x - 1.0)
    axis.set_ylim(len(evaluators) - 0.4, -0.6)
    axis.set_xticks(ticks, names, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(evaluators)), [label(evaluator) for evaluator in evaluators])
    axis.set_xlabel("training documents")
    axis.set_title("selected number of topics", fontweight="bold", pad=18.0)
    axis.grid(visible=False)
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)


def _errors(axis: Axes, found: Sequence[Selection], evaluators: Sequence[str]) -> None:
    axis.axvline(0.0, color="black", linewidth=0.8)
    for place, selection in enumerate(found):
        offset = 0.22 * (place - (len(found) - 1) / 2.0)
        points = []
        for y, evaluator in enumerate(evaluators):
            if evaluator in OTHER_TARGET:
                continue
            for seed, scored in selection.truth.get(evaluator, {}).items():
                reference = selection.truth.get(LRS, {}).get(seed)
                if reference is None:
                    continue
                error = math.hypot(scored.standard_error, 0.0 if evaluator == LRS else reference.standard_error)
                points.append((scored.log_likelihood - reference.log_likelihood, y + offset, ERRORS * error))
        if not points:
            continue
        x, heights, bars = zip(*points, strict=True)
        axis.errorbar(
            *(x, heights),
            xerr=[0.0 if math.isnan(bar) else bar for bar in bars],
            fmt=CORPUS_MARKERS[selection.corpus],
            color=CORPUS_COLOURS[selection.corpus],
            markersize=3.5,
            linewidth=0.9,
            label=selection.corpus,
        )
    for y, evaluator in enumerate(evaluators):
        if evaluator in OTHER_TARGET:
            axis.text(
                *(0.5, y, "(another target)"),
                transform=axis.get_yaxis_transform(),
                ha="center",
                va="center",
                fontsize=7.0,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
            )
    axis.set_xscale("symlog", linthresh=LINEAR)
    axis.xaxis.set_major_locator(FixedLocator(MARKS))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("nats per token more than LRS")
    axis.set_title("error on the true model", fontweight="bold", pad=18.0)
    axis.tick_params(axis="y", length=0)
    axis.legend(
        loc="lower center", bbox_to_anchor=(0.5, 0.985), ncol=3, handletextpad=0.2, columnspacing=0.8, borderpad=0.0
    )
