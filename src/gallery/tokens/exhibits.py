"""Figures and tables of the models of tokens and records."""

import math
from itertools import cycle

from matplotlib.figure import Figure

from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex, style
from gallery.member import LIKELIHOOD
from gallery.tokens import science as results
from gallery.tokens.experiments import online
from gallery.tokens.experiments import samplers as samplers_run
from gallery.tokens.members.lda import BatchVB, CollapsedGibbs, Gibbs, OnlineVB
from heldout import models
from heldout.evaluators import FULL

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


# Curves of Figure 27.6 by the names of the published ones, and one that none was published of, with their colours
CURVES = {
    "unigram": (results.UNIGRAM, style.COLOURS["unigram"]),
    "mixture": (results.MIXTURE, style.COLOURS["mixture-of-multinomials"]),
    "pLSI, folded in": (results.Curve(results.PLSI_MODELS["EM"], (FULL,)), style.EVALUATOR_COLOURS[FULL]),
    "pLSI, mixture over\ntraining documents": (
        results.Curve(results.PLSI_MODELS["EM"], (LIKELIHOOD,)),
        style.EVALUATOR_COLOURS["training-mixture"],
    ),
    "LDA": (results.LDA, style.COLOURS[models.LDA]),
}


def figure_27_6(inputs: Inputs) -> Figure:
    """Draw perplexity against K: left as published, right on the public sample of AP by two scores of PLSI."""
    figure, axes = style.grid(1, 2, 2.6, titles=["as published"])
    for axis, corpora in zip(axes[0], ([], results.corpora(inputs, results.PERPLEXITY)[:1]), strict=True):
        for corpus in corpora:
            axis.set_title(f"here, {latex.corpus_title(corpus)}")
            if inputs.synthetic(corpus):
                style.mark_synthetic(axis)
        ends = []
        for name, (scores, colour) in CURVES.items():
            points = {K: point.perplexity for c in corpora for K, point in results.curve(inputs, c, scores).items()}
            if axis is axes[0, 0] and name in results.PUBLISHED:
                points = dict(zip(*results.PUBLISHED[name], strict=True))
            points = {K: value for K, value in points.items() if math.isfinite(value)}
            if points:
                axis.plot(list(points), list(points.values()), color=colour, marker="o")
                ends.append((name, max(points), points[max(points)], colour))
        style.label_ends(axis, ends)
        axis.set_xscale("log")
        axis.set_xlabel("number of topics")
        style.plain_numbers(axis.xaxis)
        style.plain_numbers(axis.yaxis)
    axes[0, 0].set_ylabel("perplexity per token")
    return figure


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
    """Draw the criterion of each approach less its maximum, a panel each, a line per seed, and the chosen numbers."""
    titles = list(results.APPROACHES.values())
    figure, (axes,) = style.grid(1, len(titles), 2.3, titles=titles, sharey=True)
    true = inputs.settings.experiment(results.EVIDENCE).get("settings", {}).get("true_topics")
    props: style.Props = {"color": style.DARK, "marker": "o", "linewidth": 0.8}
    for axis, quantity in zip(axes, results.APPROACHES, strict=True):
        chosen = results.chosen_topics(inputs, quantity)
        for seed, best in chosen.items():
            points = results.by_topics(inputs, quantity, seed).values()
            maximum = max(point.value for point in points)
            axis.set_xticks([point.topics for point in points])
            values, errors = [point.value - maximum for point in points], [point.error for point in points]
            axis.errorbar([point.topics for point in points], values, yerr=errors, **props)
            axis.plot(best, 0.0, "o", color=style.INK, markersize=5.5, zorder=3.0)
        if true is not None:
            axis.axvline(true, color=style.GUIDE, linestyle=":")
            right = list(chosen.values()).count(true)
            words, place = f"the true number\nin {right} of {len(chosen)}", (true, 0.04)
            style.label(
                axis, words, place, (4.0, 0.0), xycoords=("data", "axes fraction"), va="bottom", color=style.DARK
            )
        axis.set_xlabel("number of topics")
    axes[0].set_ylabel("less its maximum,\nnats per token")
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
