"""Folding-in and its repairs beside the truth, and what libraries report, in numbers."""

import math
from collections.abc import Iterator

from heldout.evaluators import EXACT, FULL, HALF, LAPLACE, MEAN_FIELD_BOUND
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.experiments.optimism import DENSITY, NML, ONE_STEP, PLUG_IN
from heldout.papers.likelihood.experiments.peers import GROWING, REPORTED, VALUE
from heldout.papers.likelihood.results import (
    FITTED,
    FLAT,
    OPTIMISM,
    PEERS,
    TRUTH,
    among,
    curve,
    errors,
    libraries,
    measured,
    optimism_corpora,
    peers_corpora,
)
from heldout.points import Point
from heldout.typesetting import latex, style

OPTIMISM_TOPICS, PEERS_TOPICS = (3, 100, 400), (5, 20, 160)
PRIORS = {OPTIMISM: "the model's", FLAT: "flat", FITTED: "fitted"}
FUNCTIONS = {"scikit-learn": "perplexity", "gensim": "log_perplexity", "tomotopy": "infer"}


def optimism(inputs: Inputs) -> str:
    """Return perplexities at three numbers of topics, exact ones marked by a star, and full folding-in less truth."""
    head = r"""
 & & & \multicolumn{5}{c}{the model's prior} & \multicolumn{1}{c}{fitted} & optimism\\
\cmidrule(lr){4-8}\cmidrule(lr){9-9}
corpus & model & $K$ & full & half & plug-in & bound & truth & truth & nats/token\\"""
    return latex.tabular(inputs, "@{}llrrrrrrrr@{}", head, _optimism_rows(inputs))


def _optimism_rows(inputs: Inputs) -> Iterator[list[str]]:
    for corpus in optimism_corpora(inputs):
        for model in (PLSA, LDA):
            estimates = [curve(inputs, corpus, model, name) for name in (FULL, HALF, PLUG_IN, MEAN_FIELD_BOUND)]
            truths, exact = (
                [curve(inputs, corpus, model, name, variant) for variant in (OPTIMISM, FITTED)]
                for name in (TRUTH, EXACT)
            )
            for k in among(OPTIMISM_TOPICS, truths[0]):
                full = estimates[0].get(k)
                yield [
                    *(latex.corpus_name(corpus), style.MODEL_NAMES[model], latex.integer(k)),
                    *(_perplexity(points.get(k)) for points in estimates),
                    *(_perplexity(t.get(k)) + "*" * (k in e) for t, e in zip(truths, exact, strict=True)),
                    latex.DASH if full is None else _gap(full.value - truths[0][k].value),
                ]


def _perplexity(point: Point | None) -> str:
    return latex.DASH if point is None else latex.perplexity(point.perplexity)


def _gap(nats: float) -> str:
    return ("+" if nats >= 0.0 else r"\ensuremath{-}") + latex.decimal(abs(nats), 3)


def repair(inputs: Inputs) -> str:
    """Return the errors of folding-in and its repairs, nats per token, at three numbers of topics."""
    head = r"corpus & model & prior & $K$ & full & Laplace & one step & density & NML\\"
    return latex.tabular(inputs, "@{}lllrrrrrr@{}", head, _repair_rows(inputs))


def _repair_rows(inputs: Inputs) -> Iterator[list[str]]:
    for corpus in optimism_corpora(inputs):
        for model in (PLSA, LDA):
            for variant, prior in PRIORS.items():
                off = {e: errors(inputs, corpus, model, e, variant) for e in (FULL, LAPLACE, ONE_STEP, DENSITY, NML)}
                for k in among(OPTIMISM_TOPICS, off[LAPLACE]):
                    names = [latex.corpus_name(corpus), style.MODEL_NAMES[model], prior, latex.integer(k)]
                    yield [*names, *(_error(of_evaluator.get(k)) for of_evaluator in off.values())]


def _error(error: tuple[float, float] | None) -> str:
    if error is None:
        return latex.DASH
    return rf"\ensuremath{{{'+' if error[0] > 0.0 else '-'}{latex.decimal(abs(error[0]), 4)}}}"


def peers(inputs: Inputs) -> str:
    """Return what is printed, reported and true perplexity with its error, their ratio, and the growing term."""
    head = r"""
 & & & & \multicolumn{1}{c}{as} & \multicolumn{2}{c}{perplexity} & & \multicolumn{1}{c@{}}{growing term,}\\
\cmidrule(lr){6-7}
corpus & $K$ & library & function & \multicolumn{1}{c}{printed} & reported & true & ratio
 & \multicolumn{1}{c@{}}{nats/token}\\"""
    rows: list[latex.Row] = []
    for corpus in peers_corpora(inputs):
        rows += [latex.ADDLINESPACE, *_peers_rows(inputs, corpus)]
    return latex.tabular(inputs, "@{}lrllrrrrr@{}", head, rows[1:])


def peers_topics(inputs: Inputs, corpus: str) -> list[int]:
    """Return the numbers of topics of the table of libraries."""
    run = [curve(inputs, corpus, library, TRUTH, PEERS) for library in libraries(inputs)]
    return among(PEERS_TOPICS, set().union(*run))


def _peers_rows(inputs: Inputs, corpus: str) -> Iterator[list[str]]:
    for k in peers_topics(inputs, corpus):
        for library in libraries(inputs):
            reported, truth = (curve(inputs, corpus, library, name, PEERS).get(k) for name in (REPORTED, TRUTH))
            if reported is not None and truth is not None:
                error = truth.perplexity * truth.error
                yield [
                    latex.corpus_name(corpus),
                    latex.integer(k),
                    library,
                    rf"\texttt{{{latex.escape(FUNCTIONS[library])}}}",
                    printed(library, measured(inputs, corpus, library, VALUE).get(k)),
                    large(reported.perplexity),
                    latex.perplexity(truth.perplexity) + (rf"\,$\pm$\,{latex.decimal(error)}" if truth.error else ""),
                    large(reported.perplexity / truth.perplexity),
                    _negative(measured(inputs, corpus, library, GROWING).get(k)),
                ]


def printed(library: str, value: float | None) -> str:
    """Return a library's number as it gives it: gensim returns a bound in nats and logs 2 to its negative."""
    if value is None or math.isnan(value):
        return latex.DASH
    if library == "scikit-learn":
        return large(value)
    return f"{_negative(value)} ({large(2.0**-value)})" if library == "gensim" else _negative(value)


def _negative(nats: float | None) -> str:
    return latex.DASH if nats is None else rf"\ensuremath{{-{latex.decimal(abs(nats), 2)}}}"


def large(value: float) -> str:
    """Return a number that may be very large: a power of ten from a million on."""
    if not math.isfinite(value) or value < 1e6:
        return latex.perplexity(value) if value >= 10.0 else latex.decimal(value, 2)
    factor, exponent = f"{value:.1e}".split("e")
    return rf"\ensuremath{{{factor}\cdot10^{{{int(exponent)}}}}}"


def front_page(inputs: Inputs) -> str:
    """Return PLSA's perplexity on each corpus at the most topics, folded in and true, in Markdown."""
    lines = [
        "| corpus | topics | full folding-in | half folding-in | the likelihood | full is too low by |",
        "|---|---|---|---|---|---|",
    ]
    for corpus in optimism_corpora(inputs):
        full, half, truth = (curve(inputs, corpus, PLSA, name) for name in (FULL, HALF, TRUTH))
        k = max(truth)
        factor = full[k].value - truth[k].value
        cells = [*(f"{points[k].perplexity:,.0f}" for points in (full, half, truth)), f"x {math.exp(factor):.1f}"]
        lines.append(f"| {' | '.join([corpus, str(k), *cells])} |")
    return "\n".join(lines) + "\n"
