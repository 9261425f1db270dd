"""Tables of folding-in and its repairs beside the truth, and of the numbers that libraries report."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from artifact.contrasts.effect import Effect, chosen, shown
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import long_chains, regret, results, validation
from artifact.papers.likelihood import prior_share as share
from artifact.papers.likelihood.contrasts import CHOOSERS, NAMES
from artifact.papers.likelihood.experiments import is_a_probability as probability
from artifact.papers.likelihood.experiments import validation as measured
from artifact.papers.likelihood.experiments.long_chains import LONG, SHORT
from artifact.papers.likelihood.experiments.optimism import DENSITY, ONE_STEP, PLUG_IN, PLUG_IN_EXACT
from artifact.papers.likelihood.experiments.packages import GROWING, REPORTED, VALUE
from artifact.papers.likelihood.experiments.prior_share import CONCENTRATION, PER_SUM, POINTS, RICHNESS, TRAINING
from artifact.papers.likelihood.experiments.prior_share import MIXTURE as SHARE_MIXTURE
from artifact.papers.likelihood.results import FITTED, MIXTURE, OPTIMISM, PANEL, Best, curve
from artifact.results.reading import LARGEST, TRUTH, printable, select
from artifact.typesetting import latex, over_seeds, style
from artifact.typesetting.table import MISSING, Table
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, LAPLACE, MEAN_FIELD_BOUND, NML, REFERENCE
from heldout.evaluators.exact_marginal import cost
from heldout.evaluators.is_probability import Excess
from heldout.models import LDA, PLSA
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

OPTIMISM_TOPICS, REPAIR_TOPICS, PEERS_TOPICS = (3, 100, 800), 400, (5, 20, 160)
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
SHARE_POINTS = {POINTS: "test", TRAINING: "training"}  # documents whose points are the prior
FUNCTIONS = {"scikit-learn": "perplexity", "gensim": "log_perplexity", "tomotopy": "infer"}


def optimism(inputs: Inputs) -> str:
    """Return perplexities at three numbers of topics, exact ones marked by a star, and full folding-in less truth.

    The difference has half the width of its interval beside it.
    """
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
            gaps = {e.topics: e for e in chosen(inputs.effects, f"gap-{NAMES[model].lower()}", corpus)}
            for k in results.available(OPTIMISM_TOPICS, truths[0].index):
                yield [
                    *(latex.corpus_name(corpus), style.MODEL_NAMES[model], latex.integer(k)),
                    *(latex.perplexity(points["perplexity"].get(k)) for points in estimates),
                    *(
                        _if_shown(
                            latex.perplexity(t["perplexity"].get(k)) + "*" * (k in e.index), t["shown"].get(k, True)
                        )
                        for t, e in zip(truths, exact, strict=True)
                    ),
                    _with_interval(gaps.get(k)),
                ]


def _with_interval(effect: Effect | None) -> str:
    """Return an effect with half the width of its interval; a dash for none."""
    if effect is None:
        return latex.DASH
    half = effect.half_width
    if not math.isfinite(half):
        return _gap(effect.estimate)
    return rf"{_gap(effect.estimate)}~\ensuremath{{\pm}}~{latex.decimal(half, 3 if half >= 5e-4 else 4)}"


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
            grid = list(curve(inputs, corpus, model, TRUTH).index)
            sets = [results.best_topics(inputs, corpus, model, *score) for score in scores]
            itself = f"{latex.integer(grid[-1])}*" if grid else latex.DASH
            yield [latex.corpus_name(corpus), style.MODEL_NAMES[model], itself, *(_range(best, grid) for best in sets)]


def _range(best: Best | None, grid: Sequence[int]) -> str:
    """Return a set of numbers of topics, as a range if it leaves out none of the grid's, a star if censored."""
    if best is None:
        return latex.DASH
    first, last = (grid.index(end) for end in (best.topics[0], best.topics[-1]))
    whole = len(best.topics) > 2 and best.topics == tuple(grid[first : last + 1])
    shown = (best.topics[0], best.topics[-1]) if whole else best.topics
    return (r"\,--\," if whole else ", ").join(map(latex.integer, shown)) + "*" * best.censored


def regrets(inputs: Inputs) -> str:
    """Return the cost of a score's choice of K, by model, the prior under which the likelihood judges, and score."""
    known = {effect.corpus for name in CHOOSERS for effect in inputs.effects.get(f"choice-{name}", ())}
    corpora = [*results.optimism_corpora(inputs), *(corpus for corpus in share.TODAY if corpus in known)]
    names = " & ".join(latex.corpus_name(corpus) for corpus in corpora)
    head = rf"chosen by & {names}\\"
    return latex.tabular(inputs, f"@{{}}l{'r' * len(corpora)}@{{}}", head, _regret_rows(inputs, corpora))


def _regret_rows(inputs: Inputs, corpora: Sequence[str]) -> Iterator[latex.TableRow]:
    for place, (model, judge) in enumerate(itertools.product(NAMES, regret.JUDGES)):
        if place:
            yield r"\addlinespace[2pt]"
        yield rf"\multicolumn{{{1 + len(corpora)}}}{{@{{}}l}}{{\emph{{{style.MODEL_NAMES[model]}, {judge}}}}}\\"
        for end, name in CHOOSERS.items():
            part = f"{NAMES[model]}, {judge}"
            by_corpus = {effect.corpus: effect for effect in chosen(inputs.effects, f"choice-{end}", part)}
            if name != regret.MODELS_PRIOR or regret.JUDGES[judge] != OPTIMISM:  # it judges itself
                yield [name.partition(",")[0], *(effect_cell(by_corpus.get(corpus)) for corpus in corpora)]


def effect_cell(effect: Effect | None) -> str:
    """Return an effect and its interval, where it has one; a dash where it was not measured."""
    if effect is None:
        return latex.DASH
    estimate, low, high = shown(effect)
    interval = rf" [\ensuremath{{{low}}}, \ensuremath{{{high}}}]" if effect.error else ""
    return rf"\ensuremath{{{estimate}}}{interval}"


def prior_share(inputs: Inputs) -> str:
    """Return PLSA's gap, nats per token, under the flat prior, under the best sum and under every richer prior.

    Raises:
        InputError: if the prior's share was not measured.
    """
    rich = share.shares(inputs)
    if rich.empty:
        raise InputError("table-prior-share: the prior's share was not measured; measure it")
    priors = list(dict.fromkeys(zip(rich["prior"], rich["at"].where(rich["prior"] == SHARE_MIXTURE, 0), strict=True)))
    names = [f"{int(size)}" if prior == SHARE_MIXTURE else SHARE_POINTS[prior] for prior, size in priors]
    components = sum(prior == SHARE_MIXTURE for prior, _ in priors)
    head = rf"""
 & & \multicolumn{{2}}{{c}}{{symmetric}}
 & \multicolumn{{{components}}}{{c}}{{components}} & \multicolumn{{2}}{{c}}{{points}} & \\
\cmidrule(lr){{3-4}}\cmidrule(lr){{5-{4 + components}}}\cmidrule(lr){{{5 + components}-{6 + components}}}
corpus & $K$ & flat & best sum & {" & ".join(names)} & share left\\"""
    return latex.tabular(inputs, f"@{{}}lrrl{'r' * len(priors)}r@{{}}", head, _share_rows(inputs, rich, priors))


def _share_rows(inputs: Inputs, rich: "pd.DataFrame", priors: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    dial = select(share.gaps(inputs, CONCENTRATION), model=PLSA)
    for (corpus, k), rows in rich.groupby(["corpus", "topics"], sort=False):
        sum_gaps = select(dial, corpus=corpus, topics=k)
        sums, sum_shown = sum_gaps.groupby("at")["gap"].mean(), printable(sum_gaps, ["at"])
        best = int(sums.index[int(sums.to_numpy().argmin())])
        placed = rows.assign(
            at=rows["at"].where(rows["prior"] == SHARE_MIXTURE, 0), error=rows["error"].fillna(0.0) * rows["flat"]
        )
        means, shown = placed.groupby(["prior", "at"])["gap"].mean(), printable(placed, ["prior", "at"])
        cells = [_if_shown(latex.decimal(means.get(prior, math.nan), 3), shown.get(prior, True)) for prior in priors]
        best_sum = f"{_if_shown(latex.decimal(sums[best], 3), sum_shown[best])} ({_sum(best, sums)})"
        least = placed.loc[placed.groupby("seed")["share"].idxmin()]
        left = _if_shown(latex.decimal(least["share"].mean(), 2), bool((least["error"] <= LARGEST).all()))
        names = [latex.corpus_name(str(corpus)), latex.integer(k)]
        yield [*names, latex.decimal(rows["flat"].mean(), 3), best_sum, *cells, left]


def _sum(best: int, sums: "pd.Series[float]") -> str:
    """Return a sum of alpha that was chosen, with a star at an end of the grid."""
    return latex.choice(best, sums.index, f"{best / PER_SUM:g}", least=True)


def _if_shown(text: str, shown: bool) -> str:
    return text if shown else latex.NOT_SHOWN


def newsgroups(inputs: Inputs) -> str:
    """Return perplexities on 20 newsgroups by model and K: folded in, and by the likelihood under ever better priors.

    Raises:
        InputError: if the corpus was not measured.
    """
    dial, rich = (share.gaps(inputs, axis, share.TODAY) for axis in (CONCENTRATION, RICHNESS))
    if dial.empty:
        raise InputError("table-newsgroups: 20 newsgroups were not measured; measure them")
    sizes = sorted({int(size) for size in select(rich, prior=SHARE_MIXTURE)["at"]})
    rows = []
    for (model, topics), numbers in dial.groupby(["model", "topics"], sort=False):
        k, means = int(str(topics)), numbers.groupby("at")["value"].mean()
        flat = select(numbers, at=PER_SUM * k)
        best = int(means.index[int(means.to_numpy().argmax())])
        mixtures = select(rich, model=model, topics=k, prior=SHARE_MIXTURE)
        fitted, shown = mixtures.groupby("at")["value"].mean(), printable(mixtures, ["at"])
        rows.append(
            [
                *(style.MODEL_NAMES[str(model)], latex.integer(k)),
                latex.perplexity(perplexity(float((flat["value"] + flat["gap"]).mean()), 1)),
                latex.perplexity(perplexity(float(flat["value"].mean()), 1)),
                f"{latex.perplexity(perplexity(means[best], 1))} ({_sum(best, means)})",
                *(
                    _if_shown(latex.perplexity(perplexity(fitted[size], 1)), shown[size])
                    if size in fitted
                    else latex.DASH
                    for size in sizes
                ),
                latex.decimal(float(flat["gap"].mean()), 3),
                latex.decimal(float(numbers.loc[numbers["at"] == best, "gap"].mean()), 3),
            ]
        )
    head = rf"""
 & & & \multicolumn{{{2 + len(sizes)}}}{{c}}{{likelihood, by prior}} & \multicolumn{{2}}{{c@{{}}}}{{gap, nats/token}}\\
\cmidrule(lr){{4-{5 + len(sizes)}}}\cmidrule(l){{{6 + len(sizes)}-{7 + len(sizes)}}}
model & $K$ & full folding-in & flat & best sum & {" & ".join(f"{M} fitted" for M in sizes)} & flat & best sum\\"""
    return latex.tabular(inputs, f"@{{}}lrrrl{'r' * len(sizes)}rr@{{}}", head, rows)


def repair(inputs: Inputs) -> str:
    """Return the errors of folding-in and its repairs under a model's own prior, nats per token, with many topics."""
    head = r"corpus & model & $K$ & full & Laplace & one step & density & NML\\"
    return latex.tabular(inputs, "@{}llrrrrrr@{}", head, _repair_rows(inputs))


def _repair_rows(inputs: Inputs) -> Iterator[list[str]]:
    for corpus in results.optimism_corpora(inputs):
        for model in (PLSA, LDA):
            scores = (FULL, LAPLACE, ONE_STEP, DENSITY, NML)
            off = {name: results.errors(inputs, corpus, model, name, OPTIMISM) for name in scores}
            shown = curve(inputs, corpus, model, TRUTH, OPTIMISM)["shown"]
            for k in results.available((REPAIR_TOPICS,), off[LAPLACE].index):
                names = [latex.corpus_name(corpus), style.MODEL_NAMES[model], latex.integer(k)]
                cells = (_error(errors.get(k)) for errors in off.values())
                yield [*names, *(cells if shown[k] else [latex.NOT_SHOWN] * len(off))]


def _error(error: float | None) -> str:
    if error is None:
        return latex.DASH
    return rf"\ensuremath{{{'+' if error > 0.0 else '-'}{latex.decimal(abs(error), 4)}}}"


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
    panels = results.precisions(inputs, fewest=True).groupby(PANEL, sort=False)
    return latex.tabular(inputs, "@{}lrrlrrrr@{}", head, (_recommendation_row(panel) for _, panel in panels))


def prior_label(prior: str, divided: str) -> str:
    """Return the parameters of a prior by its name, like "alpha-sum-1"; `divided` is the text for "divided by K"."""
    kind, _, value = prior.rpartition("-")
    return rf"\alpha_k = {value}{'' if kind == 'alpha' else divided}"


def _recommendation_row(panel: "pd.DataFrame") -> list[str]:
    topics, tokens, prior = panel[PANEL].to_numpy()[0]
    size = [rf"\({prior_label(prior, '/K')}\)", latex.integer(topics), latex.integer(tokens)]
    if panel["exact"].iloc[0]:
        updates = cost([tokens], topics)
        return [*size, ESTIMATORS[EXACT].label, latex.DASH, latex.decimal(updates / 1e6), "0", latex.DASH]
    runs = select(panel, estimator=REFERENCE)
    if runs.empty:
        return [*size, "not measured", *[latex.DASH] * 4]
    enough = runs[runs["percent"] <= results.WANTED]
    run = runs.iloc[-1] if enough.empty else enough.iloc[0]
    work = [latex.integer(run["samples"]), latex.decimal(run["terms"] / 1e6)]
    return [*size, ESTIMATORS[REFERENCE].label, *work, *(latex.decimal(run[name], 2) for name in ("percent", "stated"))]


def validated(inputs: Inputs) -> str:
    """Return the reference less a longer run and a particle filter, thousandths of a nat per token, by prior and K.

    A mean is of the cells, one per corpus and split, that are validated (`validation`); bold where every one is.

    Raises:
        InputError: if no cell was measured.
    """
    cells = validation.cells(inputs)
    if cells.empty:
        raise InputError("table-validation: the reference was held to nothing; measure its validation")
    grid, others = sorted({int(k) for k in cells["topics"]}), (measured.LONGER, measured.FILTER)
    topics = " & ".join(rf"\multicolumn{{2}}{{c}}{{$K = {latex.integer(k)}$}}" for k in grid)
    rules = "".join(rf"\cmidrule(lr){{{3 + 2 * place}-{4 + 2 * place}}}" for place in range(len(grid)))
    columns = " & longer & filter" * len(grid)
    head = rf"""
 & & {topics}\\
{rules}
prior & model{columns}\\"""
    rows = (
        [prior, name, *(_validated_cell(own, k, other) for k in grid for other in others)]
        for prior in measured.PRIORS
        for model, name in NAMES.items()
        if len(own := select(cells, prior=prior, model=model))
    )
    return latex.tabular(inputs, f"@{{}}ll{'rr' * len(grid)}@{{}}", head, rows)


def _validated_cell(cells: "pd.DataFrame", topics: int, other: str) -> str:
    own = select(cells, topics=topics, other=other)
    if own.empty:
        return latex.DASH
    counted = own[own["validated"]]
    mean = float((counted["gain"] * counted["tokens"]).sum() / counted["tokens"].sum()) if len(counted) else 0.0
    number = latex.signed(1e3 * mean, 1) if len(counted) else latex.DASH
    number = rf"\textbf{{\boldmath {number}}}" if len(counted) == len(own) else number
    return f"{number} ({len(counted)}/{len(own)})"


def held(inputs: Inputs) -> "pd.DataFrame":
    """Return all scores that were held to models as `results.excesses` does, with names in print.

    "label" is the model's and "name" the score's, or a library's and its function's.

    Raises:
        InputError: if there is none.
    """
    excesses = results.excesses(inputs)
    if excesses.empty:
        raise InputError("is-a-probability: no score was held to documents drawn from its model; measure it")
    scores, models = (zip(excesses[a], excesses[b], strict=True) for a, b in (("model", "score"), ("corpus", "topics")))
    return excesses.assign(
        name=[
            SCORES[score] if model == probability.TRUE_MODEL else f"{model} {FUNCTIONS[model]}"
            for model, score in scores
        ],
        label=[f"{topics} topics" if corpus == probability.NONE else corpus for corpus, topics in models],
    )


def power_of_ten(nats: float) -> str:
    """Return exp(nats) in LaTeX, as a power of ten where it is far from 1; a small one is rounded up."""
    exponent = round(nats / math.log(10.0), 6)
    if abs(exponent) < 2.0:
        value = math.exp(nats)
        return latex.decimal(value, 2 if value < 10.0 else 0) if exponent else "1"
    return rf"\ensuremath{{10^{{{math.ceil(exponent) if exponent < 0.0 else math.floor(exponent)}}}}}"


def is_a_probability(inputs: Inputs) -> str:
    """Return every score's excess over the truth by model, bold where no probability has it, and its least chances.

    The chances are a probability's of the largest excess, over the truth and without an evaluator of it.
    The last rows have the sums of folding-in over all documents of a number of tokens.
    """
    excesses = held(inputs)
    models = excesses.drop_duplicates("label").set_index(["corpus", "topics"])["label"]
    n = len(models)
    head = rf"""
 & \multicolumn{{{n}}}{{c}}{{excess over the likelihood, nats}} & \multicolumn{{2}}{{c@{{}}}}{{chance at most, over}}\\
\cmidrule(lr){{2-{n + 1}}}\cmidrule(l){{{n + 2}-{n + 3}}}
score & {" & ".join(map(latex.escape, models))} & \(p(w)\) & \(p(w \mid \theta)\)\\"""
    body: list[latex.TableRow] = []
    cells: dict[Any, str]
    after_refuted = False
    for _, group in excesses.groupby(["model", "score"], sort=False):
        columns = zip(*(group[name] for name in ("corpus", "topics", "over", "refuted")), strict=True)
        cells = {(corpus, topics): _excess(nats, refuted) for corpus, topics, nats, refuted in columns}
        refuted = bool(group["refuted"].any())
        body += [latex.ADDLINESPACE] * (after_refuted and not refuted)
        after_refuted = refuted
        chances = [power_of_ten(Excess(group[column].max()).log_chance) for column in ("over", "given")]
        body.append(
            [
                latex.escape(group["name"].iloc[0]),
                *(cells.get(model, latex.DASH) for model in models.index),
                *chances,
            ]
        )
    gaps = results.truth_gaps(inputs)
    if len(gaps):
        cells = {model: "exact" if gap == 0.0 else latex.decimal(gap) for model, gap in gaps.items()}
        body.append(r"\midrule")
        body.append(
            [
                r"\(\log p(w)\) is known to within, nats",
                *(cells.get(model, latex.DASH) for model in models.index),
                "",
                "",
            ]
        )
    sums = results.sums_over_documents(inputs)
    if len(sums):
        body.append(r"\midrule")
        tokens = latex.integer(sums["tokens"].iloc[0])
        for label, column in (
            (f"full folding-in, sum over all documents of {tokens} tokens", "log_sum"),
            ("the most that it can be, whatever the topics", "most"),
        ):
            cells = {model: power_of_ten(nats) for model, nats in sums[column].items()}
            body.append([label, *(cells.get(model, latex.DASH) for model in models.index), "", ""])
    return latex.tabular(inputs, f"@{{}}l{'r' * (n + 2)}@{{}}", head, body)


def _excess(nats: float, refuted: bool) -> str:
    if math.isinf(nats):
        return r"\ensuremath{-\infty}"
    cell = latex.signed(nats, 0)
    return rf"\textbf{{\boldmath {cell}}}" if refuted else cell


def peers(inputs: Inputs) -> str:
    """Return the printed number, reported and true perplexity with its error, their ratio, and the growing term."""
    head = r"""
 & & & & \multicolumn{1}{c}{as} & \multicolumn{2}{c}{perplexity} & & \multicolumn{1}{c@{}}{growing term,}\\
\cmidrule(lr){6-7}
corpus & $K$ & library & function & \multicolumn{1}{c}{printed} & reported & true & ratio
 & \multicolumn{1}{c@{}}{nats/token}\\"""
    rows: list[latex.TableRow] = []
    for corpus, table in results.library_numbers(inputs).groupby("corpus", sort=False):
        rows.append(latex.ADDLINESPACE)
        table = table[table["topics"].isin(results.available(PEERS_TOPICS, set(table["topics"])))]
        for _, cell in table.dropna(subset=[REPORTED, TRUTH]).iterrows():
            reported, truth = (perplexity(cell[name], 1) for name in (REPORTED, TRUTH))
            error = rf"\,$\pm$\,{latex.decimal(truth * cell['error'])}" if cell["error"] else ""
            rows.append(
                [
                    *(latex.corpus_name(str(corpus)), latex.integer(cell["topics"]), cell["model"]),
                    rf"\texttt{{{latex.escape(FUNCTIONS[cell['model']])}}}",
                    *(printed(cell["model"], cell[VALUE]), large(reported), latex.perplexity(truth) + error),
                    *(large(reported / truth), _negative(cell[GROWING])),
                ]
            )
    return latex.tabular(inputs, "@{}lrllrrrrr@{}", head, rows[1:])


def longer_chains(inputs: Inputs) -> str:
    """Return split R-hat after both lengths of chains, and the changes of scores, by corpus and K, means over splits.

    Raises:
        InputError: if no chains were run.
    """
    r_hats = long_chains.r_hats(inputs)
    if r_hats.empty:
        raise InputError("table-long-chains: no chains were run; run them")
    gains = [
        long_chains.changes(inputs, score).groupby(["corpus", "topics"])["value"].agg(list)
        for score in long_chains.SCORES
    ]
    rows, previous = [], ""
    for corpus, topics in r_hats.index:
        cell = (corpus, topics)
        name = "" if corpus == previous else latex.corpus_name(corpus)
        cells = [latex.decimal(float(r_hats.loc[cell, column]), 2) for column in (SHORT, LONG)]
        rows.append([name, latex.integer(topics), *cells, *(over_seeds.signed(gain[cell], 4) for gain in gains)])
        previous = corpus
    head = r"""
 & & \multicolumn{2}{c}{$\hat R$} & \multicolumn{3}{c@{}}{change, nats per token}\\
\cmidrule(lr){3-4}\cmidrule(l){5-7}
corpus & $K$ & short & long & full folding-in & half folding-in & likelihood\\"""
    return latex.tabular(inputs, "@{}lrrrrrr@{}", head, rows)


def printed(library: str, value: float) -> str:
    """Return a library's number as it gives it: gensim returns a bound in nats and logs 2 to its negative."""
    if math.isnan(value):
        return latex.DASH
    if library == "scikit-learn":
        return large(value)
    return f"{_negative(value)} ({large(2.0**-value)})" if library == "gensim" else _negative(value)


def _negative(nats: float) -> str:
    return latex.DASH if math.isnan(nats) else rf"\ensuremath{{-{latex.decimal(abs(nats), 2)}}}"


def large(value: float) -> str:
    """Return a number that may be very large: a power of ten from a million on."""
    if not math.isfinite(value) or value < 1e6:
        return latex.perplexity(value) if value >= 10.0 else latex.decimal(value, 2)
    factor, exponent = f"{value:.1e}".split("e")
    return rf"\ensuremath{{{factor}\cdot10^{{{int(exponent)}}}}}"


def front_page(inputs: Inputs) -> str:
    """Return in Markdown PLSA's full folding-in beside the likelihood, by corpus, at the most topics.

    The factors have 95 % intervals; the prior's share is of the best of the priors fitted to training documents and of
    symmetric ones, as far as these were tried with as many topics; a dagger marks a likelihood that not every other
    estimate validates. The last column is at the number of topics that the likelihood under the flat prior scores best.
    """
    unvalidated, rows = validation.unvalidated(inputs), []
    for corpus in results.optimism_corpora(inputs):
        full, flat = (curve(inputs, corpus, PLSA, name)["perplexity"] for name in (FULL, TRUTH))
        most, best = int(flat.index[-1]), int(str(flat.idxmin()))
        factors = [
            _factor(inputs, name, corpus, most, unvalidated(corpus, PLSA, prior, most))
            for name, prior in (("gap-plsa", measured.FLAT), ("gap-plsa-fitted", measured.FITTED))
        ]
        left = [
            effect.estimate
            for name in ("share-fitted", "share-mixture", "share-best-sum")
            for effect in chosen(inputs.effects, name, corpus)
            if effect.topics == most
        ]
        shown_best = latex.choice(best, flat.index, str(best))
        at_best = _factor(inputs, "gap-plsa", corpus, best, unvalidated(corpus, PLSA, measured.FLAT, best))
        at_best += f" ({shown_best})"
        perplexities = (f"{points[most]:,.0f}" for points in (full, flat))
        share = f"at least {1.0 - min(left):.0%}" if left else MISSING
        rows.append([corpus, str(most), *perplexities, *factors, share, at_best])
    head = (
        "corpus",
        "topics",
        "full folding-in",
        "likelihood, flat prior",
        "too low by, flat prior",
        "too low by, fitted prior",
        "the prior's share",
        "too low at the best K, flat prior",
    )
    return Table(head, rows).markdown()


def _factor(inputs: Inputs, contrast: str, corpus: str, topics: int, dagger: bool) -> str:
    """Return the factor by which a perplexity is too low with its interval, for Markdown."""
    for effect in chosen(inputs.effects, contrast, f"{corpus}: K = {topics:,}"):
        estimate, low, high = shown(replace(effect, factor=True))
        return f"x {estimate} [{low}, {high}]{'†' * dagger}"
    return MISSING
