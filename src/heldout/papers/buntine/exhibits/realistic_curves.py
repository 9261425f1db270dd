"""Figures 3, 4 and 5 of Buntine (2009): perplexity of models trained on documents drawn from known topics."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from heldout.corpora.realistic import SOURCES
from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.buntine.experiments.model_selection import MODEL, TRUTH, trained_on
from heldout.typesetting import style

LRS, LR, MFI = "left-to-right-sequential", "left-to-right", "mean-field-importance"
ESTIMATORS = (LRS, LR, MFI)  # the paper's, in the order of its plots
LABELS = {LRS: "LRS", LR: "LR", MFI: "MFI"}
NAMES = {LRS: "LRS: sequential", LR: "LR: particles", MFI: "MFI: mean field"}
MARKERS = {LRS: "s", LR: "^", MFI: "o"}
SHADES = (0.15, 0.95)  # of the colour map, for few and for many topics
HEIGHT = 2.5  # inches, of a row

Cell = tuple[int, int]  # topics, seed


@dataclass(frozen=True)
class Scored:
    """What an evaluator gave a model.

    Attributes:
        log_likelihood: nats per scored token.
        standard_error: of that, the evaluator's own; NaN where it states none.
        perplexity: per scored token.
    """

    log_likelihood: float
    standard_error: float
    perplexity: float


@dataclass(frozen=True)
class Selection:
    """The scores of one drawn corpus.

    Attributes:
        corpus: its name.
        true_topics: K of the model that it was drawn from.
        models: by (evaluator, training documents), then by (topics, seed).
        truth: of the true model, by evaluator, then by seed.
    """

    corpus: str
    true_topics: int
    models: Mapping[tuple[str, int], Mapping[Cell, Scored]]
    truth: Mapping[str, Mapping[int, Scored]]

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The evaluators, sorted by name."""
        return tuple(sorted({evaluator for evaluator, _ in self.models}))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of training documents, ascending."""
        return tuple(sorted({size for _, size in self.models}))

    @property
    def topics(self) -> tuple[int, ...]:
        """The numbers of topics, ascending."""
        return tuple(sorted({topics for cells in self.models.values() for topics, _ in cells}))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({seed for cells in self.models.values() for _, seed in cells}))

    def perplexity(self, evaluator: str, size: int, topics: int) -> float:
        """Return the mean perplexity over seeds; NaN where nothing was scored."""
        cells = self.models.get((evaluator, size), {})
        found = [scored.perplexity for (k, _), scored in cells.items() if k == topics]
        return fmean(found) if found else math.nan

    def true_perplexity(self, evaluator: str) -> float:
        """Return the true model's mean perplexity over seeds; NaN where it was not scored."""
        found = [scored.perplexity for scored in self.truth.get(evaluator, {}).values()]
        return fmean(found) if found else math.nan

    def selected(self, evaluator: str, size: int, seed: int) -> int | None:
        """Return the number of topics with the highest log-likelihood; None where nothing was scored."""
        cells = self.models.get((evaluator, size), {})
        found = {k: scored.log_likelihood for (k, s), scored in cells.items() if s == seed}
        return max(found, key=lambda k: (found[k], -k)) if found else None


def selections(inputs: Inputs) -> dict[str, Selection]:
    """Return the scores of every drawn corpus that has any, in the order of `SOURCES`."""
    table = inputs.scores
    found = {}
    for corpus, source in SOURCES.items():
        models: dict[tuple[str, int], dict[Cell, Scored]] = {}
        truth: dict[str, dict[int, Scored]] = {}
        rows = table[(table["corpus"] == corpus) & table["model"].isin([MODEL, TRUTH])]
        for row in rows.to_dict("records"):
            tokens = float(row["tokens"])
            scored = Scored(
                float(row["log_likelihood"]) / tokens, float(row["standard_error"]) / tokens, float(row["perplexity"])
            )
            evaluator, variant, topics, seed = (row[c] for c in ("evaluator", "variant", "topics", "seed"))
            if row["model"] == TRUTH:
                truth.setdefault(str(evaluator), {})[int(seed)] = scored
                continue
            size = str(variant).rpartition("-")[2]
            if size.isdigit() and variant == trained_on(int(size)):
                models.setdefault((str(evaluator), int(size)), {})[int(topics), int(seed)] = scored
        if models:
            found[corpus] = Selection(corpus, source.topics, models, truth)
    return found


def draw(inputs: Inputs, corpora: Sequence[str], figure_name: str) -> Figure:
    """Draw perplexity against training documents: a row per corpus, a panel per estimator, a line per K.

    The dashed line is the true model's own perplexity by the same estimator; the true K's line is the thick black one.

    Args:
        inputs: scores of the measurement `model-selection`.
        corpora: drawn corpora; those without scores are left out.
        figure_name: for the message.

    Raises:
        InputError: when none of the corpora has scores.
    """
    found = [selection for name, selection in selections(inputs).items() if name in corpora]
    if not found:
        raise InputError(f"{figure_name}: no model was scored on {', '.join(corpora)}; measure model-selection first")
    figure = Figure(figsize=(style.WIDTH, HEIGHT * len(found) + 0.25))
    grid = figure.subplots(len(found), len(ESTIMATORS), squeeze=False, sharey="row")
    for axis, evaluator in zip(grid[0], ESTIMATORS, strict=True):
        axis.set_title(NAMES[evaluator], fontweight="bold")
    for axes, selection in zip(grid, found, strict=True):
        for axis, evaluator in zip(axes, ESTIMATORS, strict=True):
            _by_size(axis, selection, evaluator)
        axes[0].set_ylabel(f"{selection.corpus}\nperplexity per token")
        mark(axes, inputs)
    for axis in grid[-1]:
        axis.set_xlabel("training documents")
    for axes, selection in zip(grid, found, strict=True):  # rows of the same grid of K need one legend
        if selection is found[0] or selection.topics != found[0].topics:
            axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.5, labelspacing=0.35)
    return figure


def figure_3(inputs: Inputs) -> Figure:
    """Draw s10 and s10s, both of 10 true topics (Buntine 2009, Figure 3)."""
    return draw(inputs, ("s10", "s10s"), "figure-realistic-10")


def figure_4(inputs: Inputs) -> Figure:
    """Draw s40, of 40 true topics (Buntine 2009, Figure 4)."""
    return draw(inputs, ("s40",), "figure-realistic-40")


def figure_5(inputs: Inputs) -> Figure:
    """Draw perplexity on s10s against K, a panel per number of training documents (Buntine 2009, Figure 5).

    Raises:
        InputError: when s10s has no scores.
    """
    selection = selections(inputs).get("s10s")
    if selection is None:
        raise InputError("figure-realistic-selection: no model was scored on s10s; measure model-selection first")
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT))
    grid = figure.subplots(1, len(selection.sizes), squeeze=False)
    places = list(range(len(selection.topics)))  # even ones: the numbers of topics are close around the true one
    for axis, size in zip(grid[0], selection.sizes, strict=True):
        if selection.true_topics in selection.topics:
            place = selection.topics.index(selection.true_topics)
            axis.axvline(place, color="#CCCCCC", linewidth=4.0, zorder=1, label="true number")
        for evaluator in ESTIMATORS:
            axis.plot(
                places,
                [selection.perplexity(evaluator, size, k) for k in selection.topics],
                color=style.EVALUATOR_COLOURS[evaluator],
                marker=MARKERS[evaluator],
                linestyle="-" if evaluator == LRS else (0, (4, 1.5)) if evaluator == LR else (0, (1, 1)),
                label=NAMES[evaluator],
                zorder=3,
            )
        axis.set_title(f"{size:,} documents", fontweight="bold")
        axis.set_xticks(places, [str(k) for k in selection.topics])
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("number of topics")
    grid[0][0].set_ylabel("perplexity per token")
    mark(grid[0], inputs)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncol=len(handles))
    return figure


def mark(axes: Sequence[Axes], inputs: Inputs) -> None:
    """Say behind the curves that the model that the documents are drawn from was trained on made-up documents."""
    for axis in axes if inputs.synthetic() else ():
        style.mark_synthetic(axis)


def _by_size(axis: Axes, selection: Selection, evaluator: str) -> None:
    shades = [SHADES[0] + (SHADES[1] - SHADES[0]) * i / max(len(selection.topics) - 1, 1) for i in range(100)]
    for topics, shade in zip(selection.topics, shades, strict=False):
        own = topics == selection.true_topics
        axis.plot(
            selection.sizes,
            [selection.perplexity(evaluator, size, topics) for size in selection.sizes],
            color=style.EVALUATOR_COLOURS[TRUTH] if own else colormaps["viridis"](shade),
            linewidth=2.6 if own else 1.1,
            marker="o",
            markersize=4.0 if own else 2.5,
            label=f"$K = {topics}$" + (" (true)" if own else ""),
            zorder=3 if own else 2,
        )
    axis.axhline(
        selection.true_perplexity(evaluator),
        color=style.COLOURS[TRUTH],
        linestyle=(0, (4, 2)),
        linewidth=1.0,
        label="true model",
    )
    axis.set_xscale("log")
    axis.set_xticks(list(selection.sizes), [f"{size:,}" for size in selection.sizes])
    axis.xaxis.set_minor_locator(NullLocator())
    style.plain_ticks(axis.yaxis)
    axis.margins(x=0.08)
