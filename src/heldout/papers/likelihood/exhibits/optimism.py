"""Folding-in against the truth, on the same test documents: by number of topics, document length and constant.

The truth's band is its own standard error. By left-to-right sequential with few sweeps, as on long documents, it lies
somewhat below the likelihood itself, by what no standard error of one run tells.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.points import Point, first_of, mean_points
from heldout.typesetting import latex, style

if TYPE_CHECKING:
    pass

KIND = "optimism"
FLAT, FITTED = f"{KIND}-flat-prior", f"{KIND}-fitted-prior"
EXACT, SEQUENTIAL, MEAN_FIELD, PLUG_IN = (
    "exact-marginal",
    "left-to-right-sequential",
    "mean-field-bound",
    "plug-in-posterior-mean",
)
TRUTHS = (EXACT, SEQUENTIAL)  # the first that was measured
ERRORS = 2.0  # standard errors in each direction of the truth's band
TABLE_TOPICS = (3, 100, 400)
HEIGHT = 4.6  # inches

CORPUS_COLOURS = ("#0072B2", "#009E73", "#CC79A7")
CORPUS_MARKERS = ("o", "s", "^")
# evaluator, variant, label, look
CURVES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (FULL, KIND, "full folding-in", {"marker": "v"}),
    (PLUG_IN, KIND, "plug-in posterior mean", {"marker": "P", "linewidth": 0.9}),
    (HALF, KIND, "half folding-in (half the tokens)", {"marker": "s"}),
    ("truth", KIND, "truth, the model's prior", {"marker": "o", "linewidth": 1.9}),
    ("truth", FITTED, "truth, fitted prior", {"marker": "o", "linestyle": (0, (4, 2)), "linewidth": 1.1}),
    (MEAN_FIELD, KIND, "mean-field bound", {"marker": "^", "linewidth": 0.9}),
)


def measured_constant(inputs: Inputs) -> float:
    """Return the constant under which the measurement reports everything.

    Raises:
        InputError: when the study does not have the measurement.
    """
    if KIND not in inputs.study.get("measures", {}):
        raise InputError(f"optimism: the study {inputs.settings.name} does not have it; measure the optimism")
    return float(inputs.study["measures"][KIND]["settings"]["smoothing"])


def curve(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = KIND) -> list[Point]:
    """Return one evaluator's points over topics, means over seeds; "truth" is the first of `TRUTHS` at each.

    Args:
        inputs: the scores of `heldout.papers.likelihood.experiments.optimism`.
        corpus: its name.
        model: its name.
        evaluator: its name, or "truth".
        variant: the prior: `KIND`, `FLAT` or `FITTED`.

    Raises:
        InputError: when the study does not have the measurement.
    """
    table = inputs.scores
    constant = measured_constant(inputs) if model != LDA else 0.0
    table = table[(table["corpus"] == corpus) & (table["model"] == model) & (table["variant"] == variant)]
    names = TRUTHS if evaluator == "truth" else [evaluator]
    return list(mean_points(table[table["smoothing"] == constant], names).values())


def measured_corpora(inputs: Inputs, model: str = PLSA) -> list[str]:
    """Return the study's corpora for which there is a truth.

    Raises:
        InputError: when there is none.
    """
    found = [corpus for corpus in inputs.settings.corpora[:3] if curve(inputs, corpus, model, "truth")]
    if not found:
        raise InputError(f"optimism: no corpus has a truth for {model} among the scores; measure the optimism")
    return found


def draw(inputs: Inputs) -> Figure:
    """Draw perplexity against topics: a panel per corpus, PLSA above, LDA below."""
    corpora = measured_corpora(inputs)
    models = [m for m in (PLSA, LDA) if any(curve(inputs, c, m, "truth") for c in corpora)]
    figure = Figure(figsize=(style.WIDTH, HEIGHT if len(models) > 1 else style.HEIGHT + 0.5))
    grid = figure.subplots(len(models), len(corpora), sharex=True, sharey="col", squeeze=False)
    topics: set[int] = set()
    for axes, model in zip(grid, models, strict=True):
        for axis, corpus in zip(axes, corpora, strict=True):
            truth = {p.topics: p for p in curve(inputs, corpus, model, "truth")}
            full = {p.topics: p for p in curve(inputs, corpus, model, FULL)}
            topics |= truth.keys()
            both = sorted(truth.keys() & full.keys())
            axis.fill_between(
                both,
                [full[k].perplexity for k in both],
                [truth[k].perplexity for k in both],
                color=style.EVALUATOR_COLOURS[FULL],
                alpha=0.13,
                linewidth=0,
            )
            for evaluator, variant, label, look in CURVES:
                colour = style.EVALUATOR_COLOURS[evaluator]
                points = curve(inputs, corpus, model, evaluator, variant)
                x, y = [p.topics for p in points], [p.perplexity for p in points]
                if not points:
                    continue
                axis.plot(x, y, color=colour, label=label, **look)
                if evaluator == "truth":
                    ends = [[math.exp(-p.value + s * ERRORS * p.error) for p in points] for s in (-1.0, 1.0)]
                    axis.fill_between(x, *ends, color=colour, alpha=0.3, linewidth=0)
            _label_gap(axis, truth, full)
            if inputs.synthetic(corpus):
                style.mark_synthetic(axis)
            if model == models[0]:
                axis.set_title(latex.corpus_name(corpus), fontweight="bold")
            if model == models[-1]:
                axis.set_xlabel("number of topics")
            if corpus == corpora[0]:
                axis.set_ylabel(f"{style.MODEL_NAMES[model]}: perplexity per token")
    for axis in grid[0]:
        style.finish([axis], style.sparse_ticks(topics))
    for axis in grid[-1]:
        style.finish([axis], style.sparse_ticks(topics))
    handles, labels = max((a.get_legend_handles_labels() for a in grid.ravel()), key=lambda found: len(found[1]))
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def _label_gap(axis: Axes, truth: dict[int, Point], full: dict[int, Point]) -> None:
    """Write the widest gap between folding-in and the truth, as a factor, beside it."""
    both = truth.keys() & full.keys()
    if not both:
        return
    widest = max(both, key=lambda k: full[k].value - truth[k].value)
    middle = math.exp(-0.5 * (truth[widest].value + full[widest].value))
    gap = math.exp(full[widest].value - truth[widest].value)
    axis.annotate(
        rf"$\times$ {gap:.1f}",
        (widest, middle),
        xytext=(-3, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8.0,
        fontweight="bold",
        color=style.EVALUATOR_COLOURS[FULL],
        path_effects=[patheffects.withStroke(linewidth=2.0, foreground="white")],  # curves may run below it
    )


def draw_by_length_and_constant(inputs: Inputs) -> Figure:
    """Draw full folding-in less the truth, nats per token, of PLSA: by document length, and by the constant.

    A line per corpus and number of topics: those at which further constants were measured.
    """
    corpora = measured_corpora(inputs)
    figure = Figure(figsize=(style.WIDTH, style.HEIGHT + 0.5))
    left, right = figure.subplots(1, 2, sharey=True)
    settings = inputs.study["measures"][KIND]["settings"]
    for corpus, colour, marker in zip(corpora, CORPUS_COLOURS, CORPUS_MARKERS, strict=False):
        name = latex.corpus_name(corpus)
        available = {p.topics for p in curve(inputs, corpus, PLSA, "truth")}
        for topics, line in zip(_shown(available, settings), ("-", (0, (4, 2))), strict=False):
            look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line}
            found = by_length(inputs, corpus, PLSA, topics, FULL)
            left.plot(*zip(*found, strict=True), label=f"{name}, {topics} topics", **look)
            constants = by_constant(inputs, corpus, topics)
            if len(constants) > 1:
                right.plot(*zip(*constants, strict=True), label=f"{name}, {topics} topics", **look)
    left.set_xscale("log")
    left.set_xlabel("document length, tokens (mean of a group)")
    left.set_ylabel("full folding-in less the truth,\nnats per token")
    right.set_xlabel("constant added to $p(w\\,|\\,z)$")
    if right.lines:
        right.set_xscale("log")
        right.xaxis.set_major_locator(LogLocator(numticks=12))
    right.xaxis.set_minor_locator(NullLocator())
    left.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    left.xaxis.set_minor_formatter(NullFormatter())
    left.set_ylim(bottom=0.0)
    if inputs.synthetic(*corpora):
        for axis in (left, right):
            style.mark_synthetic(axis)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(corpora), fontsize=7.5, handlelength=3.2)
    return figure


def _shown(available: Iterable[int], settings: dict[str, Any]) -> list[int]:
    """Return up to two numbers of topics: those with further constants, else the fewest and the most."""
    asked = sorted({int(k) for k in settings["constants_topics"]} & set(available))
    return asked[:2] if asked else sorted({min(available), max(available)})


def by_length(inputs: Inputs, corpus: str, model: str, topics: int, quantity: str) -> list[tuple[int, float]]:
    """Return (mean length, quantity less the truth in nats per token) of every group, means over seeds.

    Raises:
        InputError: when there are no such measurements.
    """
    table = inputs.measurements
    if table is not None:
        table = table[(table["corpus"] == corpus) & (table["model"] == model) & (table["variant"] == KIND)]
        table = table[(table["topics"] == topics) & (table["axis"] == "length")]
        truth = first_of(table, TRUTHS, "quantity").set_index(["seed", "at"])["value"]
        estimate = table[table["quantity"] == quantity].set_index(["seed", "at"])["value"]
        gaps = (estimate - truth).dropna()
        if len(gaps):
            return [(int(str(at)), float(of.mean())) for at, of in gaps.groupby(level="at")]
    raise InputError(f"optimism: {corpus}, {model}, {topics} topics has no lengths among the measurements")


def by_constant(inputs: Inputs, corpus: str, topics: int, evaluator: str = FULL) -> list[tuple[float, float]]:
    """Return (constant added to PLSA's topics, estimate less truth in nats per token), ascending, means over seeds."""
    table = inputs.scores
    table = table[(table["corpus"] == corpus) & (table["model"] == PLSA) & (table["variant"] == KIND)]
    table = table[table["topics"] == topics].assign(value=lambda rows: rows["log_likelihood"] / rows["tokens"])
    found = []
    for constant, rows in table.groupby("smoothing"):
        truth = first_of(rows, TRUTHS).set_index("seed")["value"]
        gaps = (rows[rows["evaluator"] == evaluator].set_index("seed")["value"] - truth).dropna()
        gaps = gaps[gaps.map(math.isfinite)]
        if len(gaps):
            found.append((float(str(constant)), float(gaps.mean())))
    return sorted(found)


_HEAD = r"""\begin{tabular}{@{}llrrrrrrrr@{}}
\toprule
 & & & \multicolumn{5}{c}{the model's prior} & \multicolumn{1}{c}{fitted} & optimism\\
\cmidrule(lr){4-8}\cmidrule(lr){9-9}
corpus & model & $K$ & full & half & plug-in & bound & truth & truth & nats/token\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"


def render(inputs: Inputs) -> str:
    """Return the table: perplexities at three numbers of topics, exact ones marked by a star, and full less truth."""
    body = latex.synthetic_mark(inputs, 10)
    for corpus in measured_corpora(inputs):
        for model in (PLSA, LDA):
            columns = {
                (evaluator, variant): {p.topics: p for p in curve(inputs, corpus, model, evaluator, variant)}
                for evaluator, variant in (
                    *((e, KIND) for e in (FULL, HALF, PLUG_IN, MEAN_FIELD, "truth", EXACT)),
                    ("truth", FITTED),
                    (EXACT, FITTED),
                )
            }
            for topics in table_topics(columns["truth", KIND]):
                cells = [latex.corpus_name(corpus), style.MODEL_NAMES[model], latex.integer(topics)]
                for evaluator, variant in ((FULL, KIND), (HALF, KIND), (PLUG_IN, KIND), (MEAN_FIELD, KIND)):
                    cells.append(_cell(columns[evaluator, variant].get(topics)))
                for variant in (KIND, FITTED):
                    star = "*" if topics in columns[EXACT, variant] else ""
                    cells.append(_cell(columns["truth", variant].get(topics)) + star)
                full, truth = columns[FULL, KIND].get(topics), columns["truth", KIND][topics]
                cells.append(latex.DASH if full is None else _signed(full.value - truth.value))
                body += " & ".join(cells) + "\\\\\n"
    return _HEAD + body + _FOOT


def table_topics(truth: Iterable[int]) -> list[int]:
    """Return the table's numbers of topics that were measured, or the fewest and the most where none was."""
    measured = sorted(truth)
    return [k for k in TABLE_TOPICS if k in measured] or sorted({*measured[:1], *measured[-1:]})


def _signed(gap: float) -> str:
    return ("+" if gap >= 0.0 else r"\ensuremath{-}") + latex.decimal(abs(gap), 3)


def _cell(point: Point | None) -> str:
    return latex.DASH if point is None else latex.perplexity(point.perplexity)
