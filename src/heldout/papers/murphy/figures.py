"""Murphy's figures on real data."""

import math
from itertools import cycle, groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import SymmetricalLogLocator

from heldout import models
from heldout.evaluators import FULL, HALF, MEAN_FIELD_BOUND
from heldout.inputs import Inputs
from heldout.papers.murphy import results, results_opening
from heldout.papers.murphy.experiments import online
from heldout.papers.murphy.experiments import samplers as of_samplers
from heldout.papers.murphy.members.lda import BatchVB, CollapsedGibbs, Gibbs, OnlineVB
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.typesetting import latex, style

_PLSI = {"full folding-in": style.EVALUATOR_COLOURS[FULL], "half folding-in": style.EVALUATOR_COLOURS[HALF]}
_PLSI |= {"training mixture": style.EVALUATOR_COLOURS["training-mixture"]}
_LDA, _MIXTURE, _UNIGRAM = (style.COLOURS[name] for name in (models.LDA, "mixture-of-multinomials", "unigram"))
_HALF_OF_LDA = style.lighter(_LDA)
_OPTIMISTIC, _PESSIMISTIC = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS[MEAN_FIELD_BOUND]
_SHOWN = 5e-4  # nats: what the table's decimals tell from 0
_LINEAR = 0.01  # nats, up to which the axis of gaps is linear
_ROW, _AROUND = 0.15, 0.65  # inches of a model in a panel, and of what is around its models
_MOST = 1.5  # nats, where that axis ends
_GAP_TICKS = (-1.0, 0.0, 1.0)
_ONLINE = ("-", "--", ":", "-.")  # of online variational Bayes, by batch size


def opening(inputs: Inputs) -> Figure:
    """Draw the gaps of usual scores, a panel for each kind of data and a row for each model.

    A small mark has the fewest components, a large one the most; a hollow one is held to an estimate.
    """
    by_panel = {panel: list(of) for panel, of in groupby(results_opening.all_gaps(inputs), lambda gap: gap.panel)}
    sizes = [len({(gap.model, gap.corpus) for gap in of}) for of in by_panel.values()] or [1]
    columns = min(2, len(sizes))
    heights = [_AROUND + _ROW * max(sizes[at : at + columns]) for at in range(0, len(sizes), columns)]
    figure, grid = style.grid(len(heights), columns, sum(heights), height_ratios=heights)
    axes = grid.ravel()
    for axis in axes[len(sizes) :]:
        axis.set_axis_off()
    for axis, (panel, of) in zip(axes, by_panel.items(), strict=False):
        names = list(dict.fromkeys((gap.model, gap.corpus) for gap in of))
        for gap in of:
            colour = style.DARK if abs(gap.gap) < _SHOWN else _OPTIMISTIC if gap.gap > 0.0 else _PESSIMISTIC
            props = {"color": colour, "markersize": 6.0 if gap.most else 3.5}
            props |= {"markerfacecolor": style.WHITE} if gap.estimated else {}
            axis.plot(gap.gap, names.index((gap.model, gap.corpus)), "o", **props)
        axis.axvline(0.0, color=style.INK, linewidth=0.7)
        axis.set_xscale("symlog", linthresh=_LINEAR)
        style.ticks(axis.xaxis, _GAP_TICKS, [style.signed_label(tick) for tick in _GAP_TICKS])
        axis.xaxis.set_minor_locator(SymmetricalLogLocator(linthresh=_LINEAR, base=10.0, subs=range(1, 10)))
        axis.set_title(panel, loc="right")  # wider than the panel, which ends at the figure's edge
        labels = [f"{model}, {latex.corpus_title(corpus)}" if corpus else model for model, corpus in names]
        style.ticks(axis.yaxis, range(len(names)), labels, fontsize=7.0)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlim(-_MOST, _MOST)
    for axis in axes[: len(sizes)][-columns:]:
        axis.set_xlabel(f"score less likelihood, nats\n{style.SYMMETRIC}", loc="right")
    return figure


def figure_27_6(inputs: Inputs) -> Figure:
    """Draw perplexity against K: left as published, right on the public sample of AP with every score of PLSI.

    Of PLSI solid lines are trained by EM, dotted ones by tempered EM. Of LDA the bound and document completion, which
    integrates the weights of an observed half out, are dashed.
    """
    figure, ((left, right),) = style.grid(1, 2, 3.6, titles=["as published"])
    for name, colour in (
        ("unigram", _UNIGRAM),
        ("mixture", _MIXTURE),
        ("pLSI, folded in", style.COLOURS[models.PLSA]),
        ("LDA", _LDA),
    ):
        printed = results.PUBLISHED[name]
        left.plot(printed.topics, printed.perplexities, color=colour, marker="o", label=name)
    names = results.corpora(inputs, results.PERPLEXITY)
    for corpus in names[:1]:
        _ours(right, inputs, corpus)
        right.set_title(latex.corpus_title(corpus))
        if inputs.synthetic(corpus):
            style.mark_synthetic(right)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xlabel("number of topics")
        style.plain_numbers(axis.xaxis)
        style.plain_numbers(axis.yaxis)
    left.set_ylabel("perplexity per token")
    left.legend(fontsize=7.0, loc="best")
    style.legend(figure, [right], ncols=3)
    return figure


def _ours(axis: Axes, inputs: Inputs, corpus: str) -> None:
    for point in results.curve(inputs, corpus, results.UNIGRAM).values():
        axis.axhline(point.perplexity, color=_UNIGRAM, label="unigram")
    _line(axis, inputs, corpus, results.MIXTURE, color=_MIXTURE, label="mixture")
    for score, evaluator in results.PLSI_SCORES.items():
        for model, line in zip(results.PLSI_MODELS.values(), ("-", ":"), strict=True):
            label = f"pLSI: {score}" if line == "-" else None
            props = {"color": _PLSI[score], "linestyle": line, "label": label}
            _line(axis, inputs, corpus, results.Curve(model, (evaluator,)), **props)
    _line(axis, inputs, corpus, results.LDA_BOUND, color=_LDA, linestyle="--", label="LDA: bound")
    _line(axis, inputs, corpus, results.LDA, color=_LDA, label="LDA: likelihood")
    _line(axis, inputs, corpus, results.LDA_HALF, color=_HALF_OF_LDA, label="LDA: half folding-in")
    integrated = {"label": "LDA: other half, integrated", "color": _HALF_OF_LDA, "linestyle": "--"}
    _line(axis, inputs, corpus, results.LDA_COMPLETION, **integrated)


def _line(axis: Axes, inputs: Inputs, corpus: str, of: results.Curve, **props: Any) -> None:
    points = [point for point in results.curve(inputs, corpus, of).values() if math.isfinite(point.perplexity)]
    axis.plot([point.topics for point in points], [point.perplexity for point in points], marker="o", **props)


def samplers(inputs: Inputs) -> Figure:
    """Draw what two Gibbs samplers have after as many sweeps: held-out perplexity left, log p(w, z) right."""
    figure, (axes,) = style.grid(1, 2, style.HEIGHT)
    for model, name in ((CollapsedGibbs.name, "collapsed"), (Gibbs.name, "uncollapsed")):
        for axis, quantity in zip(axes, (LIKELIHOOD, of_samplers.JOINT), strict=True):
            label: str | None = name
            for points in results.sampled(inputs, model, quantity).values():
                values = [point.perplexity if axis is axes[0] else point.value for point in points.values()]
                axis.plot(list(points), values, color=style.COLOURS[model], marker="o", linewidth=1.0, label=label)
                label = None
    for axis, of_axis in zip(axes, ("perplexity per token, held out", "log p(w, z), nats per token"), strict=True):
        axis.set_xscale("log")
        axis.set_xlabel("sweeps")
        axis.set_ylabel(of_axis)
        style.plain_numbers(axis.xaxis)
    axes[0].legend()
    return figure


def figure_27_8(inputs: Inputs) -> Figure:
    """Draw the documents of Figure 27.8: a dot for a token, in the column of its word, filled where it is in topic 2.

    Left the random start, middle the state after the last sweep, right the topics that the tokens were drawn from.
    """
    titles = ("random start", "after Gibbs sampling", "drawn from")
    figure, (axes,) = style.grid(1, 3, 3.0, titles=titles, sharey=True)
    documents, words = (np.array(results.bank(inputs, quantity), dtype=int) for quantity in ("document", "word"))
    for axis, quantity in zip(axes, ("start", "end", "true"), strict=True):
        topics, seen = results.bank(inputs, quantity), dict[tuple[int, int], int]()
        for d, v, topic in zip(documents, words, topics, strict=True):
            place = seen[d, v] = seen.get((d, v), -1) + 1
            face = style.INK if topic == 1.0 else style.WHITE
            props = {"markersize": 2.6, "color": style.INK, "markerfacecolor": face, "markeredgewidth": 0.5}
            axis.plot(v + 0.11 * place - 0.35, -(d + 1), "o", **props)
        axis.set_xticks(range(len(results.BANK_WORDS)), results.BANK_WORDS, rotation=30)
        axis.grid(visible=False)
    axes[0].set_ylabel("document")
    axes[0].set_yticks(sorted({-(int(d) + 1) for d in documents}), [])
    return figure


def figure_27_9(inputs: Inputs) -> Figure:
    """Draw perplexity against documents analysed: by the variational bound left, by the likelihood right."""
    figure, (axes,) = style.grid(1, 2, style.HEIGHT, titles=("by the bound", "by the likelihood"), sharey=True)
    for axis, quantity in zip(axes, (online.BOUND, LIKELIHOOD), strict=True):
        lines = cycle(_ONLINE)
        for batch, points in results.traces(inputs, quantity):
            model, line = (OnlineVB.name, next(lines)) if batch else (BatchVB.name, "-")
            label = f"online, batches of {batch}" if batch else "batch"
            props = {"color": style.COLOURS[model], "linestyle": line, "label": label}
            axis.plot(list(points), [point.perplexity for point in points.values()], marker="o", **props)
        axis.set_xscale("log")
        axis.set_xlabel("documents analysed")
        style.plain_numbers(axis.xaxis)
        style.plain_numbers(axis.yaxis)
    axes[0].set_ylabel("perplexity per token")
    axes[1].legend()
    return figure


def evidence(inputs: Inputs) -> Figure:
    """Draw what each approach to the number of topics maximises, less its maximum, a panel each and a line per seed."""
    titles = list(results.APPROACHES.values())
    figure, (axes,) = style.grid(1, len(titles), style.HEIGHT, titles=titles, sharey=True)
    true = inputs.settings.experiment(results.EVIDENCE).get("settings", {}).get("true_topics")
    for axis, quantity in zip(axes, results.APPROACHES, strict=True):
        for seed in results.chosen_topics(inputs, quantity):
            points = results.by_topics(inputs, quantity, seed).values()
            most = max(point.value for point in points)
            axis.set_xticks([point.topics for point in points])
            axis.errorbar(
                [point.topics for point in points],
                [point.value - most for point in points],
                yerr=[point.error for point in points],
                marker="o",
                linewidth=1.0,
            )
        if true is not None:
            axis.axvline(true, color=style.GUIDE, linestyle=":")
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("nats per token, less the maximum")
    return figure
