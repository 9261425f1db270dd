"""Can folding-in be repaired at its own price? What is put back, less the truth, by number of topics and by length."""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from dlvm.exhibits import latex, style
from dlvm.exhibits.inputs import FULL, LDA, PLSA, Inputs
from dlvm.exhibits.optimism import FITTED, FLAT, KIND, by_length, curve, mark_synthetic, measured_corpora, table_topics

LAPLACE, ONE_STEP, DENSITY, NML = "laplace-softmax", "laplace-one-step", "laplace-density", "nml-penalised"
LINEAR = 1e-2  # nats per token; up to here the axis is linear, beyond it logarithmic
HEIGHT = 4.4  # inches
MOST_TOPICS_BY_LENGTH = 100

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
    """Draw PLSA's errors: a panel per corpus, against topics above, against document length below."""
    corpora = measured_corpora(inputs)
    figure = Figure(figsize=(style.WIDTH, HEIGHT))
    grid = figure.subplots(2, len(corpora), sharey=True, squeeze=False)
    for axis, below, corpus in zip(grid[0], grid[1], corpora, strict=True):
        axis.set_title(latex.corpus_name(corpus), fontweight="bold")
        topics = [p.topics for p in curve(inputs, corpus, PLSA, "truth")]
        at = max((k for k in topics if k <= MOST_TOPICS_BY_LENGTH), default=topics[0])
        for evaluator, variant, label, look in REPAIRS:
            found = errors(inputs, corpus, PLSA, evaluator, variant)
            colour = style.EVALUATOR_COLOURS[evaluator]
            if found:
                axis.plot(list(found), [v for v, _ in found.values()], color=colour, label=label, **look)
            if variant == KIND:
                groups = by_length(inputs, corpus, PLSA, at, evaluator)
                below.plot(*zip(*groups, strict=True), color=colour, **look)
        for panel in (axis, below):
            panel.axhline(0.0, color="black", linewidth=0.9, zorder=1)
            panel.set_xscale("log")
            panel.set_yscale("symlog", linthresh=LINEAR, linscale=0.6)
            panel.yaxis.set_minor_locator(NullLocator())
            if inputs.synthetic(corpus):
                mark_synthetic(panel)
        shown = style.sparse_ticks(topics)
        axis.set_xticks(shown, [str(k) for k in shown])
        axis.xaxis.set_minor_locator(NullLocator())
        below.xaxis.set_minor_formatter(NullFormatter())
        _length_ticks(below, [x for x, _ in by_length(inputs, corpus, PLSA, at, FULL)])
        axis.set_xlabel("number of topics")
        below.set_xlabel(f"document length, {at} topics")
    ticks = [-10.0, -1.0, -0.1, -LINEAR, 0.0, LINEAR, 0.1, 1.0]
    low, high = grid[0][0].get_ylim()
    grid[0][0].set_yticks(ticks, [f"{t:+g}".replace("-", "\N{MINUS SIGN}") if t else "0" for t in ticks])
    grid[0][0].set_ylim(low, high)
    figure.supylabel("estimate less the truth, nats per token", fontsize=8.0)
    handles, labels = max((a.get_legend_handles_labels() for a in grid[0]), key=lambda found: len(found[1]))
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5, handlelength=2.6)
    return figure


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
