"""Folding-in and its repairs beside the truth, and what libraries report, in numbers."""

import math
from collections.abc import Iterator, Sequence

from heldout.effects import Best
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, LAPLACE, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.exact_marginal import cost
from heldout.evaluators.is_probability import Excess
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood import results
from heldout.papers.likelihood.experiments import is_a_probability as probability
from heldout.papers.likelihood.experiments.optimism import DENSITY, NML, ONE_STEP, PLUG_IN, PLUG_IN_EXACT
from heldout.papers.likelihood.experiments.peers import GROWING, REPORTED, VALUE
from heldout.papers.likelihood.results import FITTED, FLAT, MIXTURE, OPTIMISM, PEERS, ModelExcess, Panel, curve
from heldout.points import TRUTH, Point
from heldout.typesetting import latex, style
from heldout.typesetting.table import Table

OPTIMISM_TOPICS, PEERS_TOPICS = (3, 100, 400), (5, 20, 160)
PRIORS = {OPTIMISM: "the model's", FLAT: "flat", FITTED: "fitted"}
SCORES = {name: known.label for name, known in ESTIMATORS.items()} | {
    FULL: "full folding-in, maximum",
    probability.SAMPLED_FULL: "full folding-in, Gibbs sample",
    HALF: "half folding-in, maximum",
    probability.SAMPLED_HALF: "half folding-in, Gibbs sample",
    PLUG_IN: "plug-in posterior mean, mean field",
    PLUG_IN_EXACT: "plug-in posterior mean, exact",
    DENSITY: "Laplace, integral not divided out",
    ONE_STEP: "Laplace, one step from folded-in",
    NML: "NML penalty",
}
FUNCTIONS = {"scikit-learn": "perplexity", "gensim": "log_perplexity", "tomotopy": "infer"}


def optimism(inputs: Inputs) -> str:
    """Return perplexities at three numbers of topics, exact ones marked by a star, and full folding-in less truth."""
    head = r"""
 & & & \multicolumn{2}{c}{folded in} & \multicolumn{2}{c}{model's prior}
 & \multicolumn{3}{c}{likelihood, prior} & optimism\\
\cmidrule(lr){4-5}\cmidrule(lr){6-7}\cmidrule(lr){8-10}
corpus & model & $K$ & full & half & plug-in & bound & model's & fitted & mixture & nats/token\\"""
    return latex.tabular(inputs, "@{}llrrrrrrrrr@{}", head, _optimism_rows(inputs))


def _optimism_rows(inputs: Inputs) -> Iterator[list[str]]:
    for corpus in results.optimism_corpora(inputs):
        for model in (PLSA, LDA):
            estimates = [curve(inputs, corpus, model, name) for name in (FULL, HALF, PLUG_IN, MEAN_FIELD_BOUND)]
            truths, exact = (
                [curve(inputs, corpus, model, name, variant) for variant in (OPTIMISM, FITTED, MIXTURE)]
                for name in (TRUTH, EXACT)
            )
            for k in results.available(OPTIMISM_TOPICS, truths[0]):
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


def best_topics(inputs: Inputs) -> str:
    """Return the numbers of topics that no score tells from its best, by corpus and model; the number itself is one."""
    head = r"""
 & & & \multicolumn{2}{c}{folded in} & \multicolumn{3}{c}{likelihood, prior}\\
\cmidrule(lr){4-5}\cmidrule(l){6-8}
corpus & model & the number itself & full & half & model's & fitted & mixture\\"""
    return latex.tabular(inputs, "@{}llrrrrrr@{}", head, _best_topics_rows(inputs))


def _best_topics_rows(inputs: Inputs) -> Iterator[list[str]]:
    scores = ((FULL, OPTIMISM), (HALF, OPTIMISM), (TRUTH, OPTIMISM), (TRUTH, FITTED), (TRUTH, MIXTURE))
    for corpus in results.optimism_corpora(inputs):
        for model in (PLSA, LDA):
            grid = list(curve(inputs, corpus, model, TRUTH))
            sets = [results.best_topics(inputs, corpus, model, *score) for score in scores]
            itself = f"{latex.integer(grid[-1])}*" if grid else latex.DASH
            yield [latex.corpus_name(corpus), style.MODEL_NAMES[model], itself, *(_range(own, grid) for own in sets)]


def _range(own: Best | None, grid: Sequence[int]) -> str:
    """Return a set of numbers of topics, as a range if it leaves out none of the grid's, a star if censored."""
    if own is None:
        return latex.DASH
    first, last = (grid.index(end) for end in (own.topics[0], own.topics[-1]))
    whole = len(own.topics) > 2 and own.topics == tuple(grid[first : last + 1])
    shown = (own.topics[0], own.topics[-1]) if whole else own.topics
    return (r"\,--\," if whole else ", ").join(map(latex.integer, shown)) + "*" * own.censored


def repair(inputs: Inputs) -> str:
    """Return the errors of folding-in and its repairs, nats per token, at three numbers of topics."""
    head = r"corpus & model & prior & $K$ & full & Laplace & one step & density & NML\\"
    return latex.tabular(inputs, "@{}lllrrrrrr@{}", head, _repair_rows(inputs))


def _repair_rows(inputs: Inputs) -> Iterator[list[str]]:
    for corpus in results.optimism_corpora(inputs):
        for model in (PLSA, LDA):
            for variant, prior in PRIORS.items():
                off = {
                    e: results.errors(inputs, corpus, model, e, variant)
                    for e in (FULL, LAPLACE, ONE_STEP, DENSITY, NML)
                }
                for k in results.available(OPTIMISM_TOPICS, off[LAPLACE]):
                    names = [latex.corpus_name(corpus), style.MODEL_NAMES[model], prior, latex.integer(k)]
                    yield [*names, *(_error(listed.get(k)) for listed in off.values())]


def _error(error: tuple[float, float] | None) -> str:
    if error is None:
        return latex.DASH
    return rf"\ensuremath{{{'+' if error[0] > 0.0 else '-'}{latex.decimal(abs(error[0]), 4)}}}"


def recommendation(inputs: Inputs) -> str:
    """Return the likelihood's cost and error: exact where that is affordable, by the reference elsewhere.

    The reference has the fewest sweeps with an error of at most `WANTED`, or the most that were measured.

    Raises:
        InputError: if precision was not measured.
    """
    head = r"""
 & & & & & \multicolumn{1}{c}{work,} & \multicolumn{2}{c@{}}{error, \%}\\
\cmidrule(l){7-8}
prior of \(\theta\) & \(K\) & tokens & likelihood & sweeps & \multicolumn{1}{c}{\(10^6\) terms} & measured & stated\\"""
    rows = (_recommendation_row(panel) for panel in results.precision_panels(inputs, fewest=True))
    return latex.tabular(inputs, "@{}lrrlrrrr@{}", head, rows)


def _recommendation_row(panel: Panel) -> list[str]:
    kind, _, value = panel.prior.rpartition("-")
    prior = rf"\(\alpha_k = {value}{'' if kind == 'alpha' else '/K'}\)"
    size = [prior, latex.integer(panel.topics), latex.integer(panel.tokens)]
    if panel.exact:
        updates = cost([panel.tokens], panel.topics)
        return [*size, ESTIMATORS[EXACT].label, latex.DASH, latex.decimal(updates / 1e6), "0", latex.DASH]
    runs = panel.points.get(REFERENCE, [])
    enough = [run for run in runs if run[2] <= results.WANTED]
    if not runs:
        return [*size, "not measured", *[latex.DASH] * 4]
    sweeps, terms, percent = enough[0] if enough else runs[-1]
    return [
        *size,
        ESTIMATORS[REFERENCE].label,
        latex.integer(sweeps),
        latex.decimal(terms / 1e6),
        latex.decimal(percent, 2),
        latex.decimal(panel.stated.get(sweeps), 2),
    ]


def ranked(inputs: Inputs) -> list[tuple[str, str, list[ModelExcess]]]:
    """Return (model, score, its excesses by model) of all scores that were held to models, the largest excess first.

    Raises:
        InputError: if none was.
    """
    scores = [(model, score, excesses) for (model, score), excesses in results.excesses(inputs).items()]
    if not scores:
        raise InputError("is-a-probability: no score was held to documents drawn from its model; measure it")
    return sorted(scores, key=lambda row: -max(excess.over for excess in row[2]))


def score_label(model: str, score: str) -> str:
    """Return a score's name in print, or a library's and its function's."""
    return SCORES[score] if model == probability.TRUTH else f"{model} {FUNCTIONS[model]}"


def model_label(excess: ModelExcess) -> str:
    """Return the name in print of the model that a score was held to."""
    return f"{excess.topics} topics" if excess.corpus == probability.NONE else excess.corpus


def power_of_ten(nats: float) -> str:
    """Return exp(nats) in LaTeX, as a power of ten where it is far from 1; a small one is rounded up."""
    exponent = round(nats / math.log(10.0), 6)
    if abs(exponent) < 2.0:
        return latex.decimal(math.exp(nats), 2) if exponent else "1"
    return rf"\ensuremath{{10^{{{math.ceil(exponent) if exponent < 0.0 else math.floor(exponent)}}}}}"


def is_a_probability(inputs: Inputs) -> str:
    """Return every score's excess over the truth by model, bold where no probability has it, and the least chances.

    The chances are those that a probability has of the largest excess, over the truth and without an evaluator of it.
    Below, the sums of folding-in over all documents of so many tokens.
    """
    rows = ranked(inputs)
    models = {(excess.corpus, excess.topics): model_label(excess) for *_, excesses in rows for excess in excesses}
    n = len(models)
    head = rf"""
 & \multicolumn{{{n}}}{{c}}{{excess over the likelihood, nats}} & \multicolumn{{2}}{{c@{{}}}}{{chance at most, over}}\\
\cmidrule(lr){{2-{n + 1}}}\cmidrule(l){{{n + 2}-{n + 3}}}
score & {" & ".join(latex.escape(name) for name in models.values())} & \(p(w)\) & \(p(w \mid \theta)\)\\"""
    body: list[latex.TableRow] = []
    after_refuted = False
    for model, score, excesses in rows:
        by_model = {(excess.corpus, excess.topics): excess for excess in excesses}
        largest = (max(excess.over for excess in excesses), max(excess.over_given for excess in excesses))
        refuted = any(excess.refuted for excess in excesses)
        body += [latex.ADDLINESPACE] * (after_refuted and not refuted)
        after_refuted = refuted
        chances = [power_of_ten(Excess(nats).log_chance) for nats in largest]
        body.append([latex.escape(score_label(model, score)), *(_excess(by_model.get(at)) for at in models), *chances])
    gaps = results.truth_gaps(inputs)
    if gaps:
        body.append(r"\midrule")
        cells = [_known_within(gaps.get(name)) for name in models]
        body.append([r"\(\log p(w)\) is known to within, nats", *cells, "", ""])
    sums = results.sums_over_documents(inputs)
    if len(sums):
        tokens = latex.integer(int(sums["tokens"].iloc[0]))
        label = f"full folding-in, sum over all documents of {tokens} tokens"
        totals, most = (
            [power_of_ten(by_model[at]) if at in by_model else latex.DASH for at in models]
            for by_model in (sums["log_sum"].to_dict(), sums["most"].to_dict())
        )
        body += [r"\midrule", [label, *totals, "", ""]]
        body.append(["the most that it can be, whatever the topics", *most, "", ""])
    return latex.tabular(inputs, f"@{{}}l{'r' * (n + 2)}@{{}}", head, body)


def _known_within(gap: float | None) -> str:
    if gap is None:
        return latex.DASH
    return "exact" if gap == 0.0 else latex.decimal(gap)


def _excess(excess: ModelExcess | None) -> str:
    if excess is None:
        return latex.DASH
    if math.isinf(excess.over):
        return r"\ensuremath{-\infty}"
    cell = latex.signed(excess.over, 0)
    return rf"\textbf{{\boldmath {cell}}}" if excess.refuted else cell


def peers(inputs: Inputs) -> str:
    """Return what is printed, reported and true perplexity with its error, their ratio, and the growing term."""
    head = r"""
 & & & & \multicolumn{1}{c}{as} & \multicolumn{2}{c}{perplexity} & & \multicolumn{1}{c@{}}{growing term,}\\
\cmidrule(lr){6-7}
corpus & $K$ & library & function & \multicolumn{1}{c}{printed} & reported & true & ratio
 & \multicolumn{1}{c@{}}{nats/token}\\"""
    rows: list[latex.TableRow] = []
    for corpus in results.peers_corpora(inputs):
        rows += [latex.ADDLINESPACE, *_peers_rows(inputs, corpus)]
    return latex.tabular(inputs, "@{}lrllrrrrr@{}", head, rows[1:])


def peers_topics(inputs: Inputs, corpus: str) -> list[int]:
    """Return the numbers of topics of the table of libraries."""
    run = [curve(inputs, corpus, library, TRUTH, PEERS) for library in results.libraries(inputs)]
    return results.available(PEERS_TOPICS, set().union(*run))


def _peers_rows(inputs: Inputs, corpus: str) -> Iterator[list[str]]:
    for k in peers_topics(inputs, corpus):
        for library in results.libraries(inputs):
            reported, truth = (curve(inputs, corpus, library, name, PEERS).get(k) for name in (REPORTED, TRUTH))
            if reported is not None and truth is not None:
                error = truth.perplexity * truth.error
                yield [
                    latex.corpus_name(corpus),
                    latex.integer(k),
                    library,
                    rf"\texttt{{{latex.escape(FUNCTIONS[library])}}}",
                    printed(library, results.measured(inputs, corpus, library, VALUE).get(k)),
                    large(reported.perplexity),
                    latex.perplexity(truth.perplexity) + (rf"\,$\pm$\,{latex.decimal(error)}" if truth.error else ""),
                    large(reported.perplexity / truth.perplexity),
                    _negative(results.measured(inputs, corpus, library, GROWING).get(k)),
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
    """Return in Markdown how far PLSA's full folding-in is from the likelihood under three priors, corpus by corpus.

    At the most topics, with the share of the log factor under the flat prior that goes under the best other one; and at
    the number of topics that the likelihood under the flat prior scores highest.
    """
    rows = []
    for corpus in results.optimism_corpora(inputs):
        full, flat = (curve(inputs, corpus, PLSA, name) for name in (FULL, TRUTH))
        fitted = [curve(inputs, corpus, PLSA, TRUTH, prior) for prior in (FITTED, MIXTURE)]
        most, own = max(flat), max(flat, key=lambda k: flat[k].value)
        gaps = [full[most].value - points[most].value for points in (flat, *fitted) if most in points]
        share = 1.0 - min(gaps) / gaps[0]
        factors = ", ".join(f"x {math.exp(gap):.1f}" for gap in gaps)
        at_own = f"x {math.exp(full[own].value - flat[own].value):.1f} ({own})"
        perplexities = (f"{points[most].perplexity:,.0f}" for points in (full, flat))
        rows.append([corpus, str(most), *perplexities, factors, f"{share:.0%}", at_own])
    head = (
        "corpus",
        "topics",
        "full folding-in",
        "likelihood, flat Dirichlet prior",
        "full is too low by: flat, fitted Dirichlet, fitted mixture",
        "the prior's share",
        "at the likelihood's own number of topics",
    )
    return Table(head, rows).markdown()
