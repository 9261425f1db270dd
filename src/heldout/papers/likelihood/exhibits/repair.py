"""Can folding-in be repaired at its own price? What comes out less the truth, by topics, length and constant."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from heldout.evaluators import FULL
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.exhibits.optimism import (
    FITTED,
    FLAT,
    KIND,
    by_constant,
    by_length,
    curve,
    measured_constant,
    measured_corpora,
    table_topics,
)
from heldout.typesetting import latex, style

LAPLACE, ONE_STEP, DENSITY, NML = "laplace-softmax", "laplace-one-step", "laplace-density", "nml-penalised"
LINEAR = 1e-2  # nats per token; up to here the axis is linear, beyond it logarithmic
HEIGHT = 6.0  # inches
MOST_TOPICS_BELOW = 100  # in the panels against length and constant
ONE_CONSTANT = "no further constants"

EVALUATORS = (FULL, LAPLACE, ONE_STEP, DENSITY, NML)
# evaluator, variant, label, look
REPAIRS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (FULL, KIND, "full folding-in", {"marker": "v"}),
    (LAPLACE, KIND, "Laplace, softmax basis", {"marker": "o", "linewidth": 1.9}),
    (LAPLACE, FITTED, "the same, fitted prior", {"marker": "o", "linestyle": (0, (4, 2)), "linewidth": 1.1}),
    (ONE_STEP, KIND, "one step from the folded-in point", {"marker": "P"}),
    (DENSITY, KIND, "prior's integral not divided out", {"marker": "s", "linewidth": 0.9}),
    (NML, KIND, "NML penalty", {"marker": "^", "linewidth": 0.9}),
)


def errors(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = KIND
) -> dict[int, tuple[float, float]]:
    """Return (estimate - truth, the truth's standard error), nats per token, by number of topics."""
    truth = {p.topics: p for p in curve(inputs, corpus, model, "truth", variant)}
    return {
        p.topics: (p.value - truth[p.topics].value, truth[p.topics].error)
        for p in curve(inputs, corpus, model, evaluator, variant)
        if p.topics in truth and math.isfinite(p.value)
    }


def draw(inputs: Inputs) -> Figure:
    """Draw PLSA's errors: a column per corpus; against topics, below that document length, below that the constant."""
    corpora = measured_corpora(inputs)
    figure = Figure(figsize=(style.WIDTH, HEIGHT))
    grid = figure.subplots(3, len(corpora), sharey=True, squeeze=False)
    constants: set[float] = set()
    for (by_topics, of_length, of_constant), corpus in zip(grid.T, corpora, strict=True):
        by_topics.set_title(latex.corpus_name(corpus), fontweight="bold")
        topics = [p.topics for p in curve(inputs, corpus, PLSA, "truth")]
        at = max((k for k in topics if k <= MOST_TOPICS_BELOW), default=topics[0])
        smoothed = _smoothed_topics(inputs, topics, at)
        for evaluator, variant, label, look in REPAIRS:
            found = errors(inputs, corpus, PLSA, evaluator, variant)
            colour = style.EVALUATOR_COLOURS[evaluator]
            if found:
                by_topics.plot(list(found), [v for v, _ in found.values()], color=colour, label=label, **look)
            if variant == KIND:
                groups = by_length(inputs, corpus, PLSA, at, evaluator)
                of_length.plot(*zip(*groups, strict=True), color=colour, **look)
                over = by_constant(inputs, corpus, smoothed, evaluator)
                constants |= {constant for constant, _ in over if constant > 0.0}
                if over:
                    of_constant.plot(*zip(*over, strict=True), color=colour, **look)
        for panel in (by_topics, of_length, of_constant):
            panel.axhline(0.0, color="black", linewidth=0.9, zorder=1)
            panel.set_xscale("log")
            panel.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
            panel.yaxis.set_minor_locator(NullLocator())
            panel.xaxis.set_minor_formatter(NullFormatter())
            if inputs.synthetic(corpus):
                style.mark_synthetic(panel)
        if len(by_constant(inputs, corpus, smoothed, FULL)) < 2:
            of_constant.text(0.04, 0.06, ONE_CONSTANT, transform=of_constant.transAxes, fontsize=7.5)
        shown = style.sparse_ticks(topics)
        by_topics.set_xticks(shown, [str(k) for k in shown])
        by_topics.xaxis.set_minor_locator(NullLocator())
        _length_ticks(of_length, [x for x, _ in by_length(inputs, corpus, PLSA, at, FULL)])
        by_topics.set_xlabel("number of topics")
        of_length.set_xlabel(f"document length, {at} topics")
        of_constant.set_xlabel(f"constant, {smoothed} topics")
    _constant_ticks(list(grid[2]), sorted(constants), measured_constant(inputs))
    ticks = [-10.0, -1.0, -0.1, -LINEAR, 0.0, LINEAR, 0.1, 1.0]
    low, high = grid[0][0].get_ylim()
    grid[0][0].set_yticks(ticks, [f"{t:+g}".replace("-", "\N{MINUS SIGN}") if t else "0" for t in ticks])
    grid[0][0].set_ylim(low, high)
    figure.supylabel("estimate less the truth, nats per token", fontsize=8.0)
    handles, labels = max((a.get_legend_handles_labels() for a in grid[0]), key=lambda found: len(found[1]))
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5, handlelength=2.6)
    return figure


def _smoothed_topics(inputs: Inputs, topics: list[int], at: int) -> int:
    """Return the most topics up to `at` at which the study has further constants; `at` itself where it has none."""
    asked = {int(k) for k in inputs.study["measures"][KIND]["settings"]["constants_topics"]}
    return max((k for k in topics if k <= at and k in asked), default=at)


def _constant_ticks(axes: list[Axes], constants: list[float], own: float) -> None:
    """Give the panels one range, and the study's constant and the ends of the range as ticks."""
    shown = sorted({constants[0], own, constants[-1]} - {0.0}) if constants else []
    for axis in axes:
        if constants:
            axis.set_xlim(constants[0] / 2.0, constants[-1] * 2.0)
            axis.set_xticks(shown, [style.power(constant) for constant in shown])
        axis.xaxis.set_minor_locator(NullLocator())


def _length_ticks(axis: Axes, lengths: list[int]) -> None:
    shown = sorted({lengths[0], lengths[len(lengths) // 2], lengths[-1]})
    axis.set_xticks(shown, [f"{n:,}" for n in shown])
    axis.xaxis.set_minor_locator(NullLocator())


_HEAD = r"""\begin{tabular}{@{}lllrrrrrr@{}}
\toprule
corpus & model & prior & $K$ & full & Laplace & one step & density & NML\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"
_PRIORS = {KIND: "the model's", FLAT: "flat", FITTED: "fitted"}


def render(inputs: Inputs) -> str:
    """Return the table of errors, nats per token, at three numbers of topics."""
    body = latex.synthetic_mark(inputs, 9)
    for corpus in measured_corpora(inputs):
        for model in (PLSA, LDA):
            for variant, prior in _PRIORS.items():
                found = {e: errors(inputs, corpus, model, e, variant) for e in EVALUATORS}
                for topics in table_topics(found[LAPLACE]):
                    cells = [latex.corpus_name(corpus), style.MODEL_NAMES[model], prior, latex.integer(topics)]
                    body += " & ".join([*cells, *(_cell(found[e].get(topics)) for e in EVALUATORS)]) + "\\\\\n"
    return _HEAD + body + _FOOT


def _cell(found: tuple[float, float] | None) -> str:
    if found is None:
        return latex.DASH
    sign = "+" if found[0] > 0.0 else "-"
    return rf"\ensuremath{{{sign}{latex.decimal(abs(found[0]), 4)}}}"
