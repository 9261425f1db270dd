"""Where Welling et al. (2008) leave something open."""

import statistics
from collections.abc import Callable

from heldout.evaluators import FOLDING_IN
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA, VEM
from heldout.papers.welling.results import best, held_back_choice, lda_variants, means, points
from heldout.points import select
from heldout.study import Run
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Changes, Choice, Interpretation, Lines, changes, changes_in_words


def _by_corpus(changes_of: Callable[[Inputs, str], Changes], about: str = "") -> Lines:
    """Return a function of the inputs that gives a line per corpus: the changes, and what they are about."""
    return lambda inputs: [
        f"{latex.corpus_name(corpus)}{about}: {changes_in_words(changes_of(inputs, corpus))}"
        for corpus in inputs.settings.corpora
    ]


def _preprocessings(inputs: Inputs) -> list[str]:
    """Return a line per other preprocessing and model."""
    study = inputs.settings
    grid = [(k, s) for k in study.alternative_grid.topics for s in study.alternative_grid.seeds]
    lines = []
    for other in study.alternative_corpora:
        for model in (PLSA, LDA):
            chosen, changed = (
                [Run(corpus, model, study.variant(model), *cell) for cell in grid]
                for corpus in (other.partition("-")[0], other)
            )
            change = changes_in_words(changes(inputs, chosen, changed))
            lines.append(f"{latex.corpus_name(other)}, {latex.escape(model.upper())}: {change}")
    return lines


def _second_reading(inputs: Inputs, corpus: str) -> Changes:
    study = inputs.settings
    return changes(inputs, study.main_runs(corpus, PLSA), study.second_reading_runs(corpus))


def _spread(inputs: Inputs, corpus: str) -> Changes:
    """Return how far seeds (each its own split, start and sampling) lie from their mean."""
    spreads: Changes = {}
    for evaluator in FOLDING_IN:
        curve = best(points(inputs, [corpus], PLSA, evaluator))
        if curve["seed"].nunique() > 1:
            values = curve.sort_values(["topics", "seed"])
            spreads[evaluator] = list(values["perplexity"] / values["topics"].map(means(curve)) - 1.0)
    return spreads


def _single_chains(inputs: Inputs, corpus: str) -> Changes:
    """Return the mean perplexity of single chains against that of their averaged distribution."""
    result: Changes = {evaluator: [] for evaluator in FOLDING_IN}
    rows = select(inputs.scores, corpus=corpus, model=LDA, variant=inputs.settings.variant(LDA))
    for (_, _, evaluator), run in rows.groupby(["topics", "seed", "evaluator"]):
        averaged = run.loc[run["chain"] == "all", "perplexity"]
        single = run.loc[run["chain"] != "all", "perplexity"]
        if evaluator in result and len(averaged) and len(single):
            result[evaluator].append(statistics.fmean(single) / float(averaged.iloc[0]) - 1.0)
    return result


def prior_in_words(inputs: Inputs, variant: str) -> str:
    """Return the prior of one of LDA's variants, as text."""
    train = inputs.settings.settings_of(LDA, variant, "train")
    if train.get("optimise_every"):
        return r"\(\alpha\) and \(\beta\) fitted to the training documents by Minka's fixed point"
    return rf"\(\alpha = {latex.setting(train['alpha_sum'])} / K\)"


def _priors(inputs: Inputs) -> list[str]:
    """Return a line per further prior of LDA and corpus, over the whole grid."""
    study = inputs.settings
    grid = [(k, s) for k in study.topics_of(LDA) for s in study.seeds_of(LDA)]
    lines = []
    for variant in lda_variants(inputs)[1:]:
        for corpus in study.corpora:
            chosen, other = ([Run(corpus, LDA, v, *cell) for cell in grid] for v in (study.variant(LDA), variant))
            change = changes_in_words(changes(inputs, chosen, other))
            lines.append(f"{prior_in_words(inputs, variant)}, {latex.corpus_name(corpus)}: {change}")
    return lines


def _held_back(inputs: Inputs, corpus: str) -> Changes:
    return {evaluator: held_back_choice(inputs, corpus, evaluator) for evaluator in FOLDING_IN}


def train_end(inputs: Inputs, model: str = PLSA) -> str:
    """Say when the training of a model ends."""
    return _end(inputs, model, "train", "one gains less than {} nats per token")


def fold_in_end(inputs: Inputs) -> str:
    """Say when the folding in of PLSA ends."""
    return _end(inputs, PLSA, "fold_in", "the maximum is at most {} nats per token away")


def _end(inputs: Inputs, model: str, part: str, rule: str) -> str:
    iterations, tolerance = (inputs.settings.setting(model, part, name) for name in ("iterations", "tolerance"))
    return latex.stopping(iterations, tolerance, rule)


def _setting(model: str, part: str, name: str) -> Choice:
    return lambda inputs: latex.setting(inputs.settings.setting(model, part, name))


def _fill(text: str, **values: Choice) -> Choice:
    """Return a choice that puts what functions of the inputs say into a sentence, by name."""
    return lambda inputs: text.format(**{name: value(inputs) for name, value in values.items()})


def _rules(inputs: Inputs) -> str:
    parts = []
    for corpus in inputs.settings.corpora:
        rule = inputs.corpus(corpus)["rule"]
        drawn = inputs.synthetic(corpus) or latex.missing(rule)
        words = "drawn from a known model" if drawn else latex.escape(str(rule))
        parts.append(f"{latex.corpus_name(corpus)}: {words}")
    return r"\newline ".join(parts)


def _constants(inputs: Inputs) -> str:
    constants = inputs.settings.smoothing
    return f"{len(constants)} constants from {latex.power(constants[0])} to {latex.power(constants[-1])}, all shown"


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
        effect=_preprocessings,
    ),
    Interpretation(
        "what the vocabulary covers",
        "the words of training and test documents, as the printed sizes require",
        "the words of the training documents, other tokens left out and counted",
    ),
    Interpretation(
        "which documents are held out",
        lambda inputs: (
            "drawn at random, as many as are printed; each of "
            f"{latex.integer(len(inputs.settings.seeds))} seeds draws anew"
        ),
        "the last documents; one fixed split",
        effect=_by_corpus(_spread, ", seeds about their mean"),
    ),
    Interpretation(
        "start and end of EM",
        _fill("uniform random start; {end}", end=train_end),
        "more or fewer iterations; stopping on held-out documents",
        ((PLSA, "train", "iterations"), (PLSA, "train", "tolerance")),
    ),
    Interpretation(
        "end of folding in",
        _fill("from uniform weights; {end}", end=fold_in_end),
        "more or fewer iterations",
        ((PLSA, "fold_in", "iterations"), (PLSA, "fold_in", "tolerance")),
    ),
    Interpretation(
        "the steps of PLSA-VEM",
        _fill(
            "updates of the weights before each update of the topics: {times}",
            times=_setting(VEM, "train", "ve_iterations"),
        ),
        "weights updated until they converge",
        ((VEM, "train", "ve_iterations"),),
    ),
    Interpretation(
        "what PLSA-TEM tempers, and how long",
        r"the whole product \(\theta_{dk}\phi_{kv}\), in training and in folding in, at one \(\tau\) from start to"
        " end; the untempered mixture is scored",
        r"\(\phi_{kv}\) alone; \(\tau\) lowered step by step during training",
    ),
    Interpretation(
        "where EPCA's constant goes",
        r"to \(p(v \mid h_d)\), for there are no topics",
        "none is added",
    ),
    Interpretation(
        "what else regularises EPCA",
        _fill(
            r"both nothing and Gaussian priors of precision {penalty} on \(W\) and \(H\)",
            penalty=_setting(EPCA, "train", "penalty"),
        ),
        "priors of other precisions",
        ((EPCA, "train", "penalty"),),
    ),
    Interpretation(
        "start and end of EPCA, whose maximum without a prior may lie at infinity",
        _fill(
            "small random start; {end}; without a prior that is early stopping, and folding in keeps the precision"
            " {ridge} on a document's vector",
            end=lambda inputs: train_end(inputs, EPCA),
            ridge=_setting(EPCA, "fold_in", "ridge"),
        ),
        "more iterations; other precisions in folding in",
        ((EPCA, "train", "iterations"), (EPCA, "train", "tolerance"), (EPCA, "fold_in", "ridge")),
    ),
    Interpretation(
        "when the constant is added",
        "once, after training",
        "at every M step",
        effect=_by_corpus(_second_reading),
    ),
    Interpretation(
        "the constants between those named",
        _constants,
        "a finer grid",
    ),
    Interpretation(
        "the Dirichlet parameters of LDA",
        _dirichlet_parameters,
        "other constants; parameters fitted to the training documents (Minka's fixed point, every so many sweeps); the"
        " claims are judged under each prior of the last column that has the whole grid",
        ((LDA, "train", "alpha_sum"), (LDA, "train", "beta"), (LDA, "train", "optimise_every")),
        effect=_priors,
    ),
    Interpretation(
        "convergence of the Gibbs sampler",
        _fill(
            "{train} sweeps in training, {test} in folding in",
            train=_setting(LDA, "train", "sweeps"),
            test=_setting(LDA, "fold_in", "sweeps"),
        ),
        "more or fewer sweeps; a diagnostic",
        ((LDA, "train", "sweeps"), (LDA, "fold_in", "sweeps")),
    ),
    Interpretation(
        "what is averaged over the samplers, of which the original has ten",
        _fill(
            "the predictive distributions of {chains} chains, then one perplexity",
            chains=_setting(LDA, "train", "chains"),
        ),
        "the perplexities of single chains (their mean, on the right)",
        ((LDA, "train", "chains"),),
        effect=_by_corpus(_single_chains),
    ),
    Interpretation(
        "topics while test documents are sampled",
        r"\(\phi\) fixed at its estimate from the last training sweep",
        "counts of test tokens added to those of training tokens",
    ),
    Interpretation(
        "which half of a test document is shown",
        "drawn at random token by token, the same for every model",
        "the first half of the text",
    ),
    Interpretation(
        "documents of odd length",
        "the scored half has the odd token",
        "the shown half has it",
    ),
    Interpretation(
        "what the choice of a best constant looks at",
        "the perplexity of the scored test documents, panel by panel",
        "documents held out of training for that purpose",
        effect=_by_corpus(_held_back, ", constant chosen on the other seeds"),
    ),
)
