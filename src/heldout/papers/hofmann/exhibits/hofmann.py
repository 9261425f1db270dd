r"""Hofmann's perplexity experiment (1999, section 3.6 and Figure 5a), and other scores of the same tokens.

His score is that of a document-specific unigram: every document's tokens are divided, p(w | d) is fitted to one part,
and another part scores it, exp(-sum_{d,w} n'(d, w) log p(w | d) / sum n'). Topics and p(z | d) have seen the document,
so a further dimension is judged by words of documents that it was fitted to. Three scores of the same tokens n' beside
it: half folding-in, where half of n' is a document of its own, of which only the topics know anything, and the other
half is scored; the truth, where the likelihood of all of n' under a Dirichlet prior is; and the posterior predictive
p(n' | n, phi, alpha), the true counterpart of his score, in which the weights given the training part are integrated
over and not put at a point.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from heldout.errors import InputError
from heldout.evaluators import HALF
from heldout.inputs import Inputs
from heldout.models import PLSA, TEM
from heldout.papers.hofmann.experiments import tempering
from heldout.papers.hofmann.experiments.latent_semantic_analysis import (
    BY_DOCUMENT,
    CLIPPED,
    COSINE,
    EVALUATOR,
    GEOMETRIC,
    LIKELIEST,
    LSA,
    SHIFTED,
    SMOOTHED,
    UNIGRAM,
    VALIDATION,
)
from heldout.papers.likelihood.exhibits.optimism import TRUTHS
from heldout.points import Point
from heldout.typesetting import latex, style

Model = tuple[str, str]  # model, variant
Cell = tuple[int, int]  # topics, seed

KIND, SEMANTIC = "tempering", "latent-semantic-analysis"
EARLY, HEATED, ANNEALED = (PLSA, tempering.EARLY), (TEM, tempering.INVERSE), (TEM, tempering.ANNEALING)
READINGS = tuple((LSA, variant) for variant in (CLIPPED, SHIFTED, COSINE, GEOMETRIC))  # the first is the main one
UNIGRAMS = ((UNIGRAM, SMOOTHED), (UNIGRAM, LIKELIEST))  # of which both panels have the one words' distribution
COUNTS = (UNIGRAM, BY_DOCUMENT)
VALIDATED = f"-{tempering.VALIDATED}"
SPECIFIC, PREDICTIVE, TRUTH = EVALUATOR, tempering.PREDICTIVE, "truth"
NOT_RUN = "not run"
POSITIONS = ("One", "Two", "Three")

# Hofmann (1999), Figure 5: labelled perplexities, and the rank and the largest K of its caption
AXIS, LOB_AXIS = (1000, 1500, 2000, 2500, 3000), tuple(range(500, 1301, 100))
RANK, LARGEST = 1033, 2048
SPEED_UP = (10.0, 50.0)  # section 3.6

NAMES = {
    EARLY: "PLSA, early stopping",
    HEATED: "PLSA, TEM",
    ANNEALED: "PLSA, annealed",
    READINGS[0]: "LSA, clipped",
    READINGS[1]: "LSA, shifted",
    READINGS[2]: "LSA, cosines",
    READINGS[3]: "LSA, cosines, geometric",
    UNIGRAMS[0]: "unigram, smoothed",
    UNIGRAMS[1]: "unigram",
    COUNTS: "own counts + unigram",
}
# evaluator, variant's suffix, name, colour
EVALUATIONS = (
    (SPECIFIC, "", "Hofmann's", style.COLOURS[TEM]),
    (PREDICTIVE, "", "posterior predictive", "#332288"),
    (PREDICTIVE, VALIDATED, "predictive, chosen prior", "#332288"),
    (HALF, "", "half folding-in", style.EVALUATOR_COLOURS[HALF]),
    (TRUTH, "", "truth, Dirichlet(1)", style.EVALUATOR_COLOURS[TRUTH]),
    (TRUTH, VALIDATED, "truth, chosen prior", style.EVALUATOR_COLOURS[TRUTH]),
)
CURVES: dict[str, tuple[Model, str]] = {  # that the text gives numbers of
    "Early": (EARLY, SPECIFIC),
    "Tem": (HEATED, SPECIFIC),
    "Half": (HEATED, HALF),
    "Truth": (HEATED, TRUTH),
    "TruthChosen": ((HEATED[0], HEATED[1] + VALIDATED), TRUTH),
    "Predictive": (HEATED, PREDICTIVE),
    "PredictiveChosen": ((HEATED[0], HEATED[1] + VALIDATED), PREDICTIVE),
}
DOTTED: Any = (0, (1, 1.2))
LOOKS: dict[Model, dict[str, Any]] = {
    ANNEALED: {"color": "#882255", "linestyle": (0, (4, 1.5)), "linewidth": 1.2},
    HEATED: {"color": style.COLOURS[TEM], "linestyle": "-", "linewidth": 1.6},
    EARLY: {"color": style.COLOURS[PLSA], "linestyle": DOTTED, "linewidth": 1.8},
}
TABLE_TOPICS = (8, 128)  # LSA's further readings: the second
HEIGHT = 5.2  # inches


def cells(inputs: Inputs, corpus: str, model: Model, evaluator: str = SPECIFIC) -> dict[Cell, Point]:
    """Return an evaluator's points, nats per token, by (topics, seed); "truth" is the first of `TRUTHS` at each."""
    table = inputs.scores
    table = table[(table["corpus"] == corpus) & (table["model"] == model[0]) & (table["variant"] == model[1])]
    found: dict[Cell, Point] = {}
    for name in reversed(TRUTHS if evaluator == TRUTH else (evaluator,)):
        for row in table[table["evaluator"] == name].to_dict("records"):
            tokens, error = float(row["tokens"]), float(row["standard_error"])
            point = Point(
                int(row["topics"]),
                float(row["log_likelihood"]) / tokens,
                0.0 if math.isnan(error) else error / tokens,
                int(row["samples"]),
            )
            found[point.topics, int(row["seed"])] = point
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class Mean:
    """A mean over seeds, nats per token.

    Attributes:
        topics: K, or the rank.
        value: the mean over the seeds that have the whole grid, so that numbers of dimensions are comparable.
        low, high: the lowest and the highest of all seeds.
    """

    topics: int
    value: float
    low: float
    high: float

    @property
    def perplexity(self) -> float:
        """The perplexity per token."""
        return math.exp(-self.value)


def whole_seeds(inputs: Inputs, corpus: str) -> set[int]:
    """Return the seeds of the largest number of dimensions of tempered EM; some seeds may have fewer only."""
    found = cells(inputs, corpus, HEATED)
    return {seed for k, seed in found if k == max(k for k, _ in found)}


def curve(inputs: Inputs, corpus: str, model: Model, evaluator: str = SPECIFIC) -> list[Mean]:
    """Return an evaluator's means over seeds by number of dimensions, ascending."""
    found, whole = cells(inputs, corpus, model, evaluator), whole_seeds(inputs, corpus)
    result = []
    for topics in sorted({k for k, _ in found}):
        values = {seed: point.value for (k, seed), point in found.items() if k == topics}
        main = [value for seed, value in values.items() if seed in whole]
        if main:
            result.append(Mean(topics, sum(main) / len(main), min(values.values()), max(values.values())))
    return result


def rank(inputs: Inputs, corpus: str) -> int:
    """Return the rank of the training counts, the largest that LSA was given; 0 where it was not run."""
    return max((mean.topics for mean in curve(inputs, corpus, READINGS[0])), default=0)


def measured_corpora(inputs: Inputs) -> list[str]:
    """Return the corpora on which tempered EM was run, in the measurement's order.

    Raises:
        InputError: when there is none.
    """
    asked = inputs.study.get("measures", {}).get(KIND, {}).get("corpora", ())
    found = [corpus for corpus in asked if cells(inputs, corpus, HEATED)]
    if not found:
        raise InputError(f"Hofmann's experiment: there are no scores of tempered EM; measure {KIND}")
    return found


def figure_5a(inputs: Inputs) -> Figure:
    """Draw perplexity against latent dimensions: above by Hofmann's score, as in Figure 5a, below by others.

    A column per corpus, whose panels share the perplexity axis. Lines are means over the seeds with the whole grid,
    bands reach from the lowest to the highest of all seeds. Stars mark the largest K, vertical lines the rank. Below,
    tempered EM is solid and early stopping dotted, as above; a prior chosen on validation tokens is thin.
    """
    corpora = measured_corpora(inputs)
    figure = Figure(figsize=(style.WIDTH, HEIGHT))
    grid = figure.subplots(2, len(corpora), squeeze=False, sharey="col", sharex=True)
    topics = {k for corpus in corpora for k, _ in cells(inputs, corpus, HEATED)}
    for (above, below), corpus in zip(grid.T, corpora, strict=True):
        _as_hofmann(above, inputs, corpus)
        _otherwise(below, inputs, corpus)
        for axis in (above, below):
            if rank(inputs, corpus):
                axis.axvline(rank(inputs, corpus), color="#BBBBBB", linewidth=0.8, zorder=0.8)
            if inputs.synthetic(corpus):
                style.mark_synthetic(axis)
            style.finish([axis], style.sparse_ticks(topics)[::-2][::-1])  # every second: two columns are narrow
            axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
        above.set_title(latex.corpus_name(corpus), fontweight="bold")
        below.set_xlabel("latent space dimensions")
    for axes, name, extra in zip(grid, ("Hofmann's score", "other scores"), ([], _trainings()), strict=True):
        axes[0].set_ylabel(f"{name}:\nperplexity per token")
        handles, labels = axes[0].get_legend_handles_labels()
        handles, labels = [*handles, *extra], [*labels, *(str(handle.get_label()) for handle in extra)]
        axes[-1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7.0, handlelength=2.6)
    return figure


def _trainings() -> list[Line2D]:
    looks: tuple[tuple[str, Any], ...] = (("trained by TEM", "-"), ("by early stopping", DOTTED))
    return [Line2D([], [], color="#555555", linestyle=line, label=label) for label, line in looks]


def _plot(axis: Axes, points: Sequence[Mean], **look: Any) -> None:
    """Draw a curve with its band over seeds."""
    points = [point for point in points if math.isfinite(point.low)]  # a folded-in point may give a word nothing
    x = [point.topics for point in points]
    axis.plot(x, [point.perplexity for point in points], **look)
    low, high = [math.exp(-point.high) for point in points], [math.exp(-point.low) for point in points]
    axis.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)


def _baseline(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw the models without latent variables, and name them on their lines."""
    lines: tuple[tuple[Model, str, Any], ...] = (
        (UNIGRAMS[0], "unigram", "-"),
        (UNIGRAMS[1], "", (0, (4, 2))),  # one lies on the other
        (COUNTS, "own counts\n+ unigram", (0, (8, 2))),
    )
    for model, name, line in lines:
        for point in curve(inputs, corpus, model):
            axis.axhline(point.perplexity, color=style.COLOURS[UNIGRAM], linestyle=line, linewidth=1.2)
            axis.annotate(
                name,
                (0.02, point.perplexity),
                xycoords=("axes fraction", "data"),
                xytext=(0, 2 if model != COUNTS else -2),
                textcoords="offset points",
                va="bottom" if model != COUNTS else "top",
                fontsize=6.5,
                linespacing=0.95,
                color="#666666",
            )


def _as_hofmann(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw the score of the document-specific unigram."""
    _baseline(axis, inputs, corpus)
    for reading, mark in zip(READINGS, (style.MARKERS[LSA], "1", "+", "x"), strict=True):
        look: dict[str, Any] = {"color": style.COLOURS[LSA], "linestyle": (0, (5, 1.5, 1, 1.5)), "marker": mark}
        look |= {"label": NAMES[reading], "linewidth": 1.5 if reading == READINGS[0] else 0.7}
        points = curve(inputs, corpus, reading)
        if points:
            _plot(axis, points, **look)
    for model, line in ((EARLY, DOTTED), (HEATED, "-")):
        points = curve(inputs, corpus, model)
        look = {"color": style.COLOURS[model[0]], "marker": style.MARKERS[model[0]], "linestyle": line}
        if points:
            _plot(axis, points, label=NAMES[model], **look)
            last = points[-1]
            axis.plot([last.topics], [last.perplexity], marker="*", markersize=8, color=look["color"], zorder=4)


def _otherwise(axis: Axes, inputs: Inputs, corpus: str) -> None:
    """Draw the other scores of the same test tokens."""
    _baseline(axis, inputs, corpus)
    for evaluator, suffix, name, colour in EVALUATIONS:
        for model, line in ((HEATED, "-"), (EARLY, DOTTED)):
            points = curve(inputs, corpus, (model[0], model[1] + suffix), evaluator)
            if points and (model == HEATED or evaluator not in (SPECIFIC, PREDICTIVE)):
                label = name if model == HEATED else None
                _plot(axis, points, color=colour, linestyle=line, label=label, linewidth=0.8 if suffix else 1.5)


def figure_path(inputs: Inputs) -> Figure:
    """Draw validation perplexity along the iterations of EM, and the inverse temperature below; a column per corpus.

    Of the largest K of which every iteration was kept, and its first seed.

    Raises:
        InputError: when no iterations were kept.
    """
    found = {corpus: _paths(inputs, corpus) for corpus in measured_corpora(inputs)}
    found = {corpus: paths for corpus, paths in found.items() if paths[1]}
    if not found:
        raise InputError("Hofmann's experiment: no iterations were kept; give the study's tempering path_topics")
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT + 0.6))
    grid = figure.subplots(2, len(found), squeeze=False, sharex="col", height_ratios=(2.2, 1.0))
    for (above, below), (corpus, (topics, paths)) in zip(grid.T, found.items(), strict=True):
        above.set_title(f"{latex.corpus_name(corpus)}, K = {topics}", fontweight="bold")
        for model, (betas, perplexities) in paths.items():
            look = LOOKS[model]
            iterations = range(1, len(betas) + 1)
            above.plot(iterations, perplexities, label=NAMES[model], **look)
            below.plot(iterations, betas, drawstyle="steps-mid", **look)
            best = min(iterations, key=lambda at: perplexities[at - 1])
            above.plot([best], [perplexities[best - 1]], marker="*", markersize=8, color=look["color"], zorder=4)
        for axis in (above, below):
            axis.set_xscale("log")
            axis.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}"))
            axis.xaxis.set_minor_formatter(NullFormatter())
            if inputs.synthetic(corpus):
                style.mark_synthetic(axis)
        style.plain_ticks(above.yaxis)
        style.plain_ticks(below.yaxis, 3)
        below.set_xlabel("iterations of EM")
    grid[0][0].set_ylabel("perplexity per\nvalidation token")
    grid[1][0].set_ylabel(r"$\beta$")
    handles, labels = max((axis.get_legend_handles_labels() for axis in grid[0]), key=lambda both: len(both[1]))
    figure.legend(handles[::-1], labels[::-1], loc="outside lower center", ncols=len(labels), handlelength=3.0)
    return figure


def _paths(inputs: Inputs, corpus: str) -> tuple[int, dict[Model, tuple[list[float], list[float]]]]:
    """Return K and, by model, beta and validation perplexity of every iteration; those of early stopping come first."""
    table = inputs.measurements
    if table is None:
        return 0, {}
    table = table[(table["corpus"] == corpus) & (table["axis"] == "iteration")]
    table = table[table["topics"] == table["topics"].max()]
    table = table[table["seed"] == table["seed"].min()].sort_values("at")
    paths = {}
    for model in (ANNEALED, HEATED, EARLY):  # the last is the beginning of the one before, and lies on it
        rows = table[(table["model"] == model[0]) & (table["variant"] == model[1])]
        betas, perplexities = (
            [float(value) for value in rows.loc[rows["quantity"] == quantity, "value"]]
            for quantity in (tempering.BETA, VALIDATION)
        )
        if betas and len(betas) == len(perplexities):
            paths[model] = (betas, perplexities)
    return int(table["topics"].max()) if paths else 0, paths


_HEAD = r"""\begin{tabular}{@{}llrrrrrrr@{}}
\toprule
 & & & & \multicolumn{2}{c}{predictive} & half & \multicolumn{2}{c}{marginal likelihood}\\
\cmidrule(lr){5-6}\cmidrule(l){8-9}
corpus & model & $K$ & Hofmann's & flat & chosen & folding-in & flat & chosen\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"


def render(inputs: Inputs) -> str:
    """Return the table: perplexities of every model by every evaluation, at some numbers of dimensions and the most."""
    body = latex.synthetic_mark(inputs, 9)
    for corpus in measured_corpora(inputs):
        for model in (*UNIGRAMS, COUNTS, *READINGS, EARLY, HEATED):
            columns = [
                {mean.topics: mean.perplexity for mean in curve(inputs, corpus, (model[0], model[1] + suffix), name)}
                for name, suffix, *_ in EVALUATIONS
            ]
            shown = {*TABLE_TOPICS[1 if model in READINGS[1:] else 0 :], max(columns[0], default=0)}
            for k in sorted(shown & columns[0].keys()):
                row = [latex.corpus_name(corpus), latex.escape(NAMES[model]), latex.integer(k or None)]
                body += " & ".join([*row, *(latex.perplexity(column.get(k)) for column in columns)]) + "\\\\\n"
        body += "\\addlinespace\n"
    return _HEAD + body.removesuffix("\\addlinespace\n") + _FOOT


def macros(inputs: Inputs) -> dict[str, str]:
    """Return the numbers of the section on this experiment; the same names for every study."""
    try:
        measured = measured_corpora(inputs)
    except InputError:
        measured = []
    asked = inputs.study.get("measures", {}).get(KIND, {}).get("settings", {})
    result = {
        "IfHofmann": "#1" if measured else "",
        "HofmannSectionName": "section~3.6",
        "HofmannFigureName": "Figure~5a",
        "HofmannAxisFactor": f"{AXIS[-1] / AXIS[0]:.2g}",
        "HofmannAxisLow": latex.integer(AXIS[0]),
        "HofmannAxisHigh": latex.integer(AXIS[-1]),
        "HofmannLobAxisLow": latex.integer(LOB_AXIS[0]),
        "HofmannLobAxisHigh": latex.integer(LOB_AXIS[-1]),
        "HofmannPublishedRank": latex.integer(RANK),
        "HofmannPublishedLargest": latex.integer(LARGEST),
        "HofmannSpeedUpLow": f"{SPEED_UP[0]:g}",
        "HofmannSpeedUpHigh": f"{SPEED_UP[1]:g}",
    }
    shares = tuple(asked.get("shares", ())) or (None, None, None)
    for part, share in zip(("Train", "Validation", "Test"), shares, strict=True):
        result[f"Hofmann{part}Share"] = NOT_RUN if share is None else latex.percent(share, 0)
    positions = dict(zip(inputs.settings.corpora, POSITIONS, strict=False))
    result["ForEachHofmann"] = "".join(rf"#1{{{positions[c]}}}" for c in measured if c in positions)
    for corpus, position in positions.items():
        found = _of_corpus(inputs, corpus if corpus in measured else "")
        result |= {f"Corpus{position}Hofmann{name}": value for name, value in found.items()}
    return result


def _of_corpus(inputs: Inputs, corpus: str) -> dict[str, str]:
    """Return one corpus's numbers; "not run" where there is none, as for no corpus."""
    curves = {name: curve(inputs, corpus, model, evaluator) for name, (model, evaluator) in CURVES.items()}
    lowest = {name: max((mean.value for mean in means), default=math.nan) for name, means in curves.items()}
    for name, models in (("Unigram", UNIGRAMS), ("Counts", (COUNTS,)), ("AnyLsa", READINGS)):
        lowest[name] = max((mean.value for model in models for mean in curve(inputs, corpus, model)), default=math.nan)
    result = {f"{name}Lowest": _perplexity(value) for name, value in lowest.items()}
    for name, means in curves.items():
        best = max(means, key=lambda mean: mean.value, default=None)
        last = means[-1] if means else None
        result[f"{name}LowestTopics"] = latex.integer(best.topics) if best else NOT_RUN
        result[f"{name}Last"] = _perplexity(last.value) if last else NOT_RUN
    for name in ("Unigram", "Counts", "AnyLsa"):
        gain = lowest["Tem"] - lowest[name]
        result[f"{name}Factor"] = latex.decimal(math.exp(gain), 2) if math.isfinite(gain) else NOT_RUN
    table = inputs.scores
    table = table[(table["corpus"] == corpus) & (table["model"] == LSA)]
    rows = table[table["seed"].isin(whole_seeds(inputs, corpus))]
    for name, column in (("Tokens", "tokens"), ("LeftOut", "tokens_left_out"), ("Rank", "topics")):
        by_seed = [int(number) for number in rows.groupby("seed")[column].max()]
        ends = sorted({min(by_seed), max(by_seed)}) if by_seed else []
        result[name] = " to ".join(latex.integer(end) for end in ends) or NOT_RUN
    return result


def _perplexity(value: float) -> str:
    return NOT_RUN if math.isnan(value) else latex.perplexity(math.exp(-value))
