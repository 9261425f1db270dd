"""Where the sources leave something open: what was chosen, what else could be, and what that would change.

The rows here are about Welling et al. (2008); `interpretations_of_estimators` has those about the likelihood,
`interpretations_of_hofmann` those about Hofmann (1999).
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from heldout.evaluators import FOLDING_IN, FULL
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA, VEM
from heldout.papers.welling.exhibits.curves import REPORTED_CHAINS, best, study_curves
from heldout.study import Run, Settings
from heldout.typesetting import latex

NOT_MEASURED = "not measured"

_HEAD = r"""\begin{longtable}{@{}P{0.16\linewidth}P{0.22\linewidth}P{0.19\linewidth}P{0.36\linewidth}@{}}
\caption{Interpretations: what the sources leave open, what was chosen, what else could be, and what that changes.
Percentages are changes in perplexity, the median and the range.\SyntheticNotice}\label{tab:interpretations}\\
\toprule
left open & chosen here & alternatives & measured\\
\midrule
\endfirsthead
\toprule
left open & chosen here & alternatives & measured\\
\midrule
\endhead
\bottomrule
\endfoot
"""
_FOOT = "\\end{longtable}\n"

Changes = dict[str, list[float]]  # by evaluator, other / chosen - 1


@dataclass(frozen=True)
class Interpretation:
    """One thing that the source leaves open.

    Attributes:
        question: what is left open.
        choice: says what was chosen, from the inputs.
        alternatives: what else could have been chosen.
        settings: the (model, part, setting) that decide it; the study's alternatives that change one are
            listed with their effect.
        effect: further measured effects, as lines.
        measure: the measurement that it is about; a study without it leaves the row out.
    """

    question: str
    choice: Callable[[Inputs], str]
    alternatives: str
    settings: tuple[tuple[str, str, str], ...] = ()
    effect: Callable[[Inputs], list[str]] = field(default=lambda _: [])
    measure: str = ""


Point = tuple[int, int, float, str]  # topics, seed, constant, evaluator


def _points(inputs: Inputs, runs: Sequence[Run]) -> dict[Point, float]:
    """Return the perplexities of runs of one variant by (topics, seed, constant, evaluator)."""
    wanted = set(runs)
    columns = ("corpus", "model", "variant", "topics", "seed", "smoothing", "evaluator", "chain", "perplexity")
    found = {}
    for row in zip(*(inputs.scores[column].tolist() for column in columns), strict=True):
        *_, topics, seed, smoothing, evaluator, chain, perplexity = row
        if chain in REPORTED_CHAINS and Run(*row[:5]) in wanted:
            found[int(topics), int(seed), float(smoothing), str(evaluator)] = float(perplexity)
    return found


def changes(inputs: Inputs, chosen: Sequence[Run], other: Sequence[Run]) -> Changes:
    """Return other / chosen - 1 wherever both report the same topics, seed, constant and evaluator."""
    before, after = _points(inputs, chosen), _points(inputs, other)
    result: Changes = {evaluator: [] for evaluator in FOLDING_IN}
    for point in sorted(before.keys() & after.keys()):
        if point[3] in result and math.isfinite(before[point]) and math.isfinite(after[point]):
            result[point[3]].append(after[point] / before[point] - 1.0)
    return result


def in_words(found: Changes) -> str:
    """Return "full +0.1 % (-0.2 to +0.3), half ...": the median and the range; "not measured" without a pair."""
    parts = []
    for evaluator, values in found.items():
        if values:
            low, high = min(values), max(values)
            name = "full" if evaluator == FULL else "half"
            part = f"{name} {latex.signed_percent(statistics.median(values))}"
            if len(values) > 1:
                part += f" ({latex.signed_percent(low)} to {latex.signed_percent(high)})"
            parts.append(part)
    return ", ".join(parts) or NOT_MEASURED


def alternative_lines(inputs: Inputs, settings: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a line per alternative of the study that changes one of these settings."""
    study = inputs.settings
    grid = [(k, s) for k in study.alternative_topics for s in study.alternative_seeds]
    lines = []
    for alternative in study.alternatives:
        if not any((alternative.model, *change) in settings for change in alternative.changes):
            continue
        corpus, model = study.alternatives_corpus, alternative.model
        chosen = [Run(corpus, model, study.variant(model), k, s) for k, s in grid]
        other = [Run(corpus, model, alternative.variant, k, s) for k, s in grid]
        what = ", ".join(
            f"{latex.escape(setting.replace('_', ' '))} {latex.setting(value)}"
            for (_, setting), value in alternative.changes.items()
        )
        lines.append(f"{what}: {in_words(changes(inputs, chosen, other))}")
    return lines


def _corpora_lines(inputs: Inputs) -> list[str]:
    """Return a line per other preprocessing and model."""
    study = inputs.settings
    grid = [(k, s) for k in study.alternative_topics for s in study.alternative_seeds]
    lines = []
    for other in study.alternative_corpora:
        base = other.partition("-")[0]
        for model in (PLSA, LDA):
            variant = study.variant(model)
            found = changes(
                inputs,
                [Run(base, model, variant, *cell) for cell in grid],
                [Run(other, model, variant, *cell) for cell in grid],
            )
            lines.append(f"{latex.corpus_name(other)}, {latex.escape(model.upper())}: {in_words(found)}")
    return lines


def _second_reading_lines(inputs: Inputs) -> list[str]:
    lines = []
    study = inputs.settings
    for corpus in study.corpora:
        found = changes(inputs, study.main_runs(corpus, PLSA), study.second_reading_runs(corpus))
        lines.append(f"{latex.corpus_name(corpus)}: {in_words(found)}")
    return lines


def _spread_lines(inputs: Inputs) -> list[str]:
    """Return, per corpus, how far seeds (each its own split, start and sampling) lie from their mean."""
    study = inputs.settings
    lines = []
    for corpus in study.corpora:
        found: Changes = {}
        for evaluator in FOLDING_IN:
            curve = best(study_curves(inputs, corpus, PLSA, evaluator))
            if curve is not None and len(curve.seeds) > 1:
                found[evaluator] = [value / curve.mean(k) - 1.0 for (k, _), value in sorted(curve.points.items())]
        lines.append(f"{latex.corpus_name(corpus)}, seeds about their mean: {in_words(found)}")
    return lines


def _chains_lines(inputs: Inputs) -> list[str]:
    """Return, per corpus, the mean perplexity of single chains against that of their averaged distribution."""
    study = inputs.settings
    lines = []
    columns = ("corpus", "model", "variant", "topics", "seed", "evaluator", "chain", "perplexity")
    rows = list(zip(*(inputs.scores[column].tolist() for column in columns), strict=True))
    for corpus in study.corpora:
        single: dict[tuple[int, int, str], list[float]] = {}
        averaged: dict[tuple[int, int, str], float] = {}
        for row_corpus, model, variant, topics, seed, evaluator, chain, perplexity in rows:
            if (row_corpus, model, variant) != (corpus, LDA, study.variant(LDA)):
                continue
            if chain == "all":
                averaged[topics, seed, evaluator] = perplexity
            else:
                single.setdefault((topics, seed, evaluator), []).append(perplexity)
        found: Changes = {evaluator: [] for evaluator in FOLDING_IN}
        for point in sorted(single.keys() & averaged.keys()):
            if point[2] in found:
                found[point[2]].append(statistics.fmean(single[point]) / averaged[point] - 1.0)
        lines.append(f"{latex.corpus_name(corpus)}: {in_words(found)}")
    return lines


def held_back_choice(inputs: Inputs, corpus: str, evaluator: str) -> list[float]:
    """Return, per seed, the lowest perplexity under the constant that the other seeds choose, over its own choice.

    Each is other / own - 1, never negative: how optimistic it is to choose on the scored documents.
    """
    found = study_curves(inputs, corpus, PLSA, evaluator)
    seeds = sorted({seed for curve in found for seed in curve.seeds})
    result = []
    for seed in seeds if len(seeds) > 1 else ():
        lowest = {c.smoothing: min(v for (_, s), v in c.points.items() if s == seed) for c in found if seed in c.seeds}
        others = [type(c)(c.smoothing, {at: v for at, v in c.points.items() if at[1] != seed}) for c in found]
        chosen = best(c for c in others if c.points and c.smoothing in lowest)
        if chosen is not None:
            result.append(lowest[chosen.smoothing] / min(lowest.values()) - 1.0)
    return result


def _best_lines(inputs: Inputs) -> list[str]:
    return [
        f"{latex.corpus_name(corpus)}, constant chosen on the other seeds: "
        + in_words({evaluator: held_back_choice(inputs, corpus, evaluator) for evaluator in FOLDING_IN})
        for corpus in inputs.settings.corpora
    ]


def train_end(settings: Settings) -> str:
    """Say when the training of PLSA ends."""
    return latex.stopping(
        settings.setting(PLSA, "train", "iterations"),
        settings.setting(PLSA, "train", "tolerance"),
        "one gains less than {} nats per token",
    )


def fold_in_end(settings: Settings) -> str:
    """Say when the folding in of PLSA ends."""
    return latex.stopping(
        settings.setting(PLSA, "fold_in", "iterations"),
        settings.setting(PLSA, "fold_in", "tolerance"),
        "the maximum is at most {} nats per token away",
    )


def _value(model: str, part: str, name: str) -> Callable[[Settings], str]:
    return lambda settings: latex.setting(settings.setting(model, part, name))


def _rules(inputs: Inputs) -> str:
    parts = []
    for corpus in inputs.settings.corpora:
        rule = inputs.corpus(corpus)["rule"]
        words = (
            "drawn from a known model" if inputs.synthetic(corpus) or latex.missing(rule) else latex.escape(str(rule))
        )
        parts.append(f"{latex.corpus_name(corpus)}: {words}")
    return r"\newline ".join(parts)


def _constants(inputs: Inputs) -> str:
    constants = inputs.settings.smoothing
    return f"{len(constants)} constants from {latex.power(constants[0])} to {latex.power(constants[-1])}, all shown"


def _fill(text: str, **values: Callable[[Settings], str]) -> Callable[[Inputs], str]:
    """Return a function that puts a study's settings into a sentence."""
    return lambda inputs: text.format(**{name: value(inputs.settings) for name, value in values.items()})


# exampleLDA1 of Steyvers and Griffiths' Matlab topic modelling toolbox, whose NIPS vocabulary is the original's
TOOLBOX_EXAMPLE = {"alpha_sum": 50.0, "beta": 0.01}


def _dirichlet_parameters(inputs: Inputs) -> str:
    """Return the parameters, and where they come from if they are the toolbox's."""
    chosen = {name: inputs.settings.setting(LDA, "train", name) for name in TOOLBOX_EXAMPLE}
    source = ", as in the example of the Matlab toolbox whose NIPS vocabulary is the original's"
    alpha, beta = (latex.setting(value) for value in chosen.values())
    return (
        rf"symmetric; \(\alpha\) is {alpha} divided by the number of topics, \(\beta\) is {beta}"
        f"{source if chosen == TOOLBOX_EXAMPLE else ''}"
    )


INTERPRETATIONS = (
    Interpretation(
        "preprocessing (only sizes are printed)",
        _rules,
        "no stems, with a threshold on counts; weaker stems; numbers dropped",
        effect=_corpora_lines,
    ),
    Interpretation(
        "what the vocabulary covers",
        lambda _: "the words of training and test documents, as the printed sizes require",
        "the words of the training documents, other tokens left out and counted",
    ),
    Interpretation(
        "which documents are held out",
        lambda inputs: (
            "drawn at random, as many as are printed; each of "
            f"{latex.integer(len(inputs.settings.seeds))} seeds draws anew"
        ),
        "the last documents; one fixed split",
        effect=_spread_lines,
    ),
    Interpretation(
        "start and end of EM",
        lambda inputs: f"uniform random start; {train_end(inputs.settings)}",
        "more or fewer iterations; stopping on held-out documents",
        ((PLSA, "train", "iterations"), (PLSA, "train", "tolerance")),
    ),
    Interpretation(
        "end of folding in",
        lambda inputs: f"from uniform weights; {fold_in_end(inputs.settings)}",
        "more or fewer iterations",
        ((PLSA, "fold_in", "iterations"), (PLSA, "fold_in", "tolerance")),
    ),
    Interpretation(
        "the steps of PLSA-VEM",
        _fill(
            "updates of the weights before each update of the topics: {times}",
            times=_value(VEM, "train", "ve_iterations"),
        ),
        "weights updated until they converge",
        ((VEM, "train", "ve_iterations"),),
    ),
    Interpretation(
        "what PLSA-TEM tempers, and how long",
        lambda _: (
            r"the whole product \(\phi_{kw}\theta_{dk}\), in training and in folding in, at one \(\beta\) from start to"
            " end; the untempered mixture is scored"
        ),
        r"\(\phi_{kw}\) alone; \(\beta\) lowered step by step during training",
    ),
    Interpretation(
        "where EPCA's constant goes",
        lambda _: r"to \(p(w \mid h_d)\), for there is no \(p(w \mid z)\)",
        "none is added",
    ),
    Interpretation(
        "what else regularises EPCA",
        _fill(
            r"both nothing and Gaussian priors of precision {penalty} on \(W\) and \(H\)",
            penalty=_value(EPCA, "train", "penalty"),
        ),
        "priors of other precisions",
        ((EPCA, "train", "penalty"),),
    ),
    Interpretation(
        "start and end of EPCA, whose maximum without a prior may lie at infinity",
        _fill(
            "small random start; {end}; without a prior that is early stopping, and folding in keeps the precision"
            " {ridge} on a document's vector",
            end=lambda settings: latex.stopping(
                settings.setting(EPCA, "train", "iterations"),
                settings.setting(EPCA, "train", "tolerance"),
                "one gains less than {} nats per token",
            ),
            ridge=_value(EPCA, "fold_in", "ridge"),
        ),
        "more iterations; other precisions in folding in",
        ((EPCA, "train", "iterations"), (EPCA, "train", "tolerance"), (EPCA, "fold_in", "ridge")),
    ),
    Interpretation(
        "when the constant is added",
        lambda _: "once, after training",
        "at every M step",
        effect=_second_reading_lines,
    ),
    Interpretation(
        "the constants between those named",
        _constants,
        "a finer grid",
    ),
    Interpretation(
        "the Dirichlet parameters of LDA",
        _dirichlet_parameters,
        "other constants; parameters fitted to the training documents (Minka's fixed point, every so many sweeps)",
        ((LDA, "train", "alpha_sum"), (LDA, "train", "beta"), (LDA, "train", "optimise_every")),
    ),
    Interpretation(
        "convergence of the Gibbs sampler",
        _fill(
            "{train} sweeps in training, {test} in folding in",
            train=_value(LDA, "train", "sweeps"),
            test=_value(LDA, "fold_in", "sweeps"),
        ),
        "more or fewer sweeps; a diagnostic",
        ((LDA, "train", "sweeps"), (LDA, "fold_in", "sweeps")),
    ),
    Interpretation(
        "what is averaged over the samplers, of which the original has ten",
        _fill(
            "the predictive distributions of {chains} chains, then one perplexity",
            chains=_value(LDA, "train", "chains"),
        ),
        "the perplexities of single chains (their mean, on the right)",
        ((LDA, "train", "chains"),),
        effect=_chains_lines,
    ),
    Interpretation(
        "topics while test documents are sampled",
        lambda _: r"\(\phi\) fixed at its estimate from the last training sweep",
        "counts of test tokens added to those of training tokens",
    ),
    Interpretation(
        "which half of a test document is shown",
        lambda _: "drawn at random token by token, the same for every model",
        "the first half of the text",
    ),
    Interpretation(
        "documents of odd length",
        lambda _: "the scored half has the odd token",
        "the shown half has it",
    ),
    Interpretation(
        "what the choice of a best constant looks at",
        lambda _: "the perplexity of the scored test documents, panel by panel",
        "documents held out of training for that purpose",
        effect=_best_lines,
    ),
)


def rows(inputs: Inputs) -> tuple[Interpretation, ...]:
    """Return the rows that a study has."""
    # which need `Interpretation`
    from heldout.papers.hofmann import interpretations as interpretations_of_hofmann
    from heldout.papers.likelihood import interpretations as interpretations_of_estimators

    measured = inputs.study.get("measures", {})
    further = (*interpretations_of_estimators.ROWS, *interpretations_of_hofmann.ROWS)
    return (*INTERPRETATIONS, *(row for row in further if row.measure in measured))


def render(inputs: Inputs) -> str:
    """Return the table as a longtable; changes are of the alternative against the choice."""
    body = ""
    known = {setting for row in INTERPRETATIONS for setting in row.settings}
    others = {(a.model, *change) for a in inputs.settings.alternatives for change in a.changes} - known
    found = list(rows(inputs))
    if others:
        found.append(Interpretation("other settings", lambda _: "as in the study", "", tuple(sorted(others))))
    for row in found:
        lines = alternative_lines(inputs, row.settings) + row.effect(inputs)
        cells = [row.question, row.choice(inputs), row.alternatives, r"\newline ".join(lines) or NOT_MEASURED]
        body += " & ".join(cells) + "\\\\\n\\addlinespace\n"
    return _HEAD + latex.synthetic_mark(inputs, columns=4) + body.removesuffix("\\addlinespace\n") + _FOOT
