"""Figures and tables of the models of tokens and records."""

import math
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex, style
from gallery.member import LIKELIHOOD
from gallery.tokens import science as results
from gallery.tokens.experiments import online
from gallery.tokens.experiments import samplers as samplers_run
from gallery.tokens.members.lda import BatchVB, CollapsedGibbs, Gibbs, OnlineVB
from heldout import models
from heldout.evaluators import FULL, HALF

_PLSI = {"full folding-in": style.EVALUATOR_COLOURS[FULL], "half folding-in": style.EVALUATOR_COLOURS[HALF]}
_PLSI |= {"training mixture": style.EVALUATOR_COLOURS["training-mixture"]}
_LDA, _MIXTURE, _UNIGRAM = (style.COLOURS[name] for name in (models.LDA, "mixture-of-multinomials", "unigram"))
_HALF_OF_LDA = style.lighter(_LDA)
_ONLINE = ("-", "--", ":", "-.")  # lines of online variational Bayes, by batch size


def restarts(inputs: Inputs) -> Figure:
    """Draw the likelihoods that EM ends at less the best start's: sorted left, held out against training right."""
    figure, ((left, right),) = style.grid(1, 2, style.HEIGHT)
    for training, held_out in results.ends_of_em(inputs):
        shares = [(rank + 1.0) / len(training) for rank in range(len(training))]
        left.plot(shares, sorted(training, reverse=True), linewidth=1.0)
        right.plot(training, held_out, "o", markersize=2.0)
    left.set_xlabel("share of the starts, best first")
    left.set_ylabel("log p(x), nats per point,\nless the best start's")
    right.set_xlabel("training points")
    right.set_ylabel("held-out points")
    return figure


def figure_27_6(inputs: Inputs) -> Figure:
    """Draw perplexity against K: left as published, right on the public sample of AP with every score of PLSI.

    PLSI's solid lines are trained by EM, its dotted lines by tempered EM. LDA's dashed lines are the bound and document
    completion, which integrates out the weights given an observed half.
    """
    figure, ((left, right),) = style.grid(1, 2, 3.6, titles=["as published"])
    for name, colour in (
        ("unigram", _UNIGRAM),
        ("mixture", _MIXTURE),
        ("pLSI, folded in", _PLSI["full folding-in"]),
        ("LDA", _LDA),
    ):
        printed = results.PUBLISHED[name]
        left.plot(printed.topics, printed.perplexities, color=colour, marker="o", label=name)
    names = results.corpora(inputs, results.PERPLEXITY)
    for corpus in names[:1]:
        _draw_curves(right, inputs, corpus)
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


def _draw_curves(axis: Axes, inputs: Inputs, corpus: str) -> None:
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


def _line(axis: Axes, inputs: Inputs, corpus: str, scores: results.Curve, **props: Any) -> None:
    points = [point for point in results.curve(inputs, corpus, scores).values() if math.isfinite(point.perplexity)]
    axis.plot([point.topics for point in points], [point.perplexity for point in points], marker="o", **props)


def samplers(inputs: Inputs) -> Figure:
    """Draw the states of two Gibbs samplers by sweeps: held-out perplexity left, log p(w, z) right."""
    figure, (axes,) = style.grid(1, 2, style.HEIGHT)
    for model, name in ((CollapsedGibbs.name, "collapsed"), (Gibbs.name, "uncollapsed")):
        for axis, quantity in zip(axes, (LIKELIHOOD, samplers_run.JOINT), strict=True):
            label: str | None = name
            for points in results.sampled(inputs, model, quantity).values():
                values = [point.perplexity if axis is axes[0] else point.value for point in points.values()]
                axis.plot(list(points), values, color=style.COLOURS[model], marker="o", linewidth=1.0, label=label)
                label = None
    for axis, axis_label in zip(axes, ("perplexity per token, held out", "log p(w, z), nats per token"), strict=True):
        axis.set_xscale("log")
        axis.set_xlabel("sweeps")
        axis.set_ylabel(axis_label)
        style.plain_numbers(axis.xaxis)
    axes[0].legend()
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
    """Draw the criterion of each approach to the number of topics less its maximum: a panel each, a line per seed."""
    titles = list(results.APPROACHES.values())
    figure, (axes,) = style.grid(1, len(titles), style.HEIGHT, titles=titles, sharey=True)
    true = inputs.settings.experiment(results.EVIDENCE).get("settings", {}).get("true_topics")
    for axis, quantity in zip(axes, results.APPROACHES, strict=True):
        for seed in results.chosen_topics(inputs, quantity):
            points = results.by_topics(inputs, quantity, seed).values()
            maximum = max(point.value for point in points)
            axis.set_xticks([point.topics for point in points])
            axis.errorbar(
                [point.topics for point in points],
                [point.value - maximum for point in points],
                yerr=[point.error for point in points],
                marker="o",
                linewidth=1.0,
            )
        if true is not None:
            axis.axvline(true, color=style.GUIDE, linestyle=":")
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("nats per token, less the maximum")
    return figure


FIGURE_ROWS: dict[str, results.Curve] = {
    "unigram": results.UNIGRAM,
    "mixture of multinomials": results.MIXTURE,
    **{
        f"pLSI{training}: {score}": results.Curve(model, (evaluator,))
        for training, model in zip(("", ", tempered"), results.PLSI_MODELS.values(), strict=True)
        for score, evaluator in results.PLSI_SCORES.items()
    },
    "LDA: bound": results.LDA_BOUND,
    "LDA: likelihood": results.LDA,
    "LDA: half folding-in": results.LDA_HALF,
    "LDA: other half, weights integrated out": results.LDA_COMPLETION,
}


def table_27_6(inputs: Inputs) -> str:
    """Return the perplexities of Figure 27.6 by K, published and ours; at the largest K also by equation 27.29."""
    names = results.corpora(inputs, results.PERPLEXITY)
    corpus = names[0] if names else ""
    topics = sorted(
        {K for scores in FIGURE_ROWS.values() for K in results.curve(inputs, corpus, scores)}
        | {K for published in results.PUBLISHED.values() for K in published.topics}
    )
    rows: list[latex.TableRow] = []
    for name, published in results.PUBLISHED.items():
        printed = dict(zip(published.topics, published.perplexities, strict=True))
        cells = [latex.perplexity(printed[K]) if K in printed else latex.DASH for K in topics]
        rows.append([f"published: {name}", *cells, latex.DASH])
    rows.append(latex.ADDLINESPACE)
    for name, scores in FIGURE_ROWS.items():
        points, weighted = results.curve(inputs, corpus, scores), results.per_document(inputs, corpus, scores)
        cells = [latex.perplexity(points[K].perplexity) if K in points else latex.DASH for K in topics]
        last = max(points, default=0)
        rows.append([name, *cells, latex.perplexity(weighted[last]) if last in weighted else latex.DASH])
    head = " & ".join(["model and score", *(f"$K={K}$" for K in topics), "per document"]) + r"\\"
    return latex.tabular(inputs, f"@{{}}l{'r' * (len(topics) + 1)}@{{}}", head, rows)


def polysemy(inputs: Inputs) -> str:
    """Return Figure 27.4: the most probable words of three topics of one word, which is set in bold."""
    word, meanings = results.senses(inputs)
    rows: list[latex.TableRow] = []
    for cells in zip(*(meaning.words for meaning in meanings), strict=False):
        row: list[str] = []
        for name, probability in cells:
            row += [_bold(latex.escape(name), name == word), latex.decimal(probability, 3)]
        rows.append(row)
    heads = (rf"\multicolumn{{2}}{{c}}{{topic {latex.integer(meaning.topic)}}}" for meaning in meanings)
    return latex.tabular(inputs, f"@{{}}{'lr' * max(1, len(meanings))}@{{}}", " & ".join(heads) + r"\\", rows)


def documents(inputs: Inputs) -> str:
    """Return Figure 27.5: three documents, every token with its topic above it."""
    word, meanings = results.senses(inputs)
    rows: list[latex.TableRow] = []
    for meaning in meanings:
        tokens = (rf"{_bold(latex.escape(name), name == word)}$^{{{topic}}}$" for name, topic in meaning.tokens)
        rows.append([f"topic {latex.integer(meaning.topic)}", " ".join(tokens)])
    return latex.tabular(inputs, r"@{}lP{0.85\linewidth}@{}", r"& words of a document\\", rows, end=r"\\[0.6ex]")


def _bold(text: str, bold: bool) -> str:
    return rf"\textbf{{{text}}}" if bold else text
