"""The numbers of Welling et al.'s experiments that the text uses."""

import math
import statistics
from typing import TYPE_CHECKING

from artifact.papers.welling.results import (
    FITTED,
    SPARSE,
    best,
    best_points,
    beyond_ends,
    beyond_points,
    falls,
    lda_variants,
    lies_below,
    means,
    points,
    second_reading,
)
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.macros import POSITIONS, Macros, bands, count
from artifact.verdicts.inputs import Inputs
from artifact.verdicts.verdicts import NOT_RUN
from heldout.evaluators import FOLDING_IN, FULL, HALF
from heldout.models import EPCA, LDA, PLSA, TEM, VEM

if TYPE_CHECKING:
    import pandas as pd

SIDES = {FULL: "Full", HALF: "Half"}
PRIORS = {"": "", SPARSE: "Sparse", FITTED: "Fitted"}  # variants of LDA, the main one first, in macros' names
# of the steps and points that are counted, corpus by corpus and over all: the macro's name, the verb, what is counted
COUNTED = {"Full": ("falls", "steps"), "FullSecond": ("falls", "steps"), "LdaHalf": ("lies lower", "points")}


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study, as far as its corpora go."""
    totals: dict[str, list[bool]] = {name: [] for name in COUNTED}
    result = _settings(inputs)
    for position, corpus in zip(POSITIONS, inputs.settings.corpora, strict=False):
        plsa = {evaluator: points(inputs, [corpus], PLSA, evaluator) for evaluator in FOLDING_IN}
        lda = {
            f"{side}Lda{prior}": best_points(inputs, [corpus], LDA, evaluator, variant)
            for variant, prior in PRIORS.items()
            for evaluator, side in SIDES.items()
        }
        counts = {
            "Full": falls(plsa[FULL]),
            "FullSecond": falls(second_reading(inputs, corpus, FULL)),
            "LdaHalf": lies_below(lda["HalfLda"], best(plsa[HALF])),
        }
        totals = {name: total + counts[name] for name, total in totals.items()}
        numbers = _verdicts(counts)
        for evaluator, side in SIDES.items():
            table = plsa[evaluator]
            by_constant = [means(curve) for _, curve in table.groupby("smoothing")]
            numbers[f"{side}Turns"] = _of(sum(own.iloc[-1] > own.min() for own in by_constant), len(by_constant))
            numbers |= _curve(f"{side}Smallest", table[table["smoothing"] == table["smoothing"].min()])
            numbers |= _curve(f"{side}Best", best(table))
        epca = {f"{side}Epca": best_points(inputs, [corpus], EPCA, evaluator) for evaluator, side in SIDES.items()}
        for name, curve in (lda | epca).items():
            numbers |= _curve(name, curve)
        numbers["VersionsApart"] = _versions_apart(inputs, corpus)
        result |= {f"Corpus{position}{name}": value for name, value in numbers.items()}
    result |= {f"All{name}": value for name, value in _verdicts(totals).items()}
    return result | _beyond(inputs) | _convergence(inputs) | _priors(inputs)


def _verdicts(counts: dict[str, list[bool]]) -> Macros:
    return {
        f"{name}Verdict": how_often(verb, sum(counts[name]), len(counts[name]), what)
        for name, (verb, what) in COUNTED.items()
    }


def _settings(inputs: Inputs) -> Macros:
    settings = inputs.settings
    second = len(settings.second_reading_seeds)
    betas = [variant.rpartition("-")[2] for variant in settings.swept_variants(TEM)]
    return {
        "SecondBandsInWords": bands(second),
        "BeyondBandsInWords": bands(len(settings.beyond.seeds)),
        "TemperedSeedsInWords": count(len(settings.seeds_of(TEM)), "seed"),
        "TemperedConstants": latex.integer(len(settings.study["models"].get(TEM, {}).get("smoothing", ()))),
        "TemperedBetas": f"{len(betas)} values from {betas[0]} to {betas[-1]}" if betas else NOT_RUN,
        "EpcaTopicsLargest": latex.integer(settings.topics_of(EPCA)[-1]),
        "PlsaTrainEnd": _end(inputs, "train", "one gains less than {} nats per token"),
        "PlsaFoldInEnd": _end(inputs, "fold_in", "the maximum is at most {} nats per token away"),
    }


def prior_in_words(inputs: Inputs, variant: str) -> str:
    """Return the prior of one of LDA's variants, as text."""
    train = inputs.settings.settings_of(LDA, variant, "train")
    if train.get("optimise_every"):
        return r"\(\alpha\) and \(\beta\) fitted to the training documents by Minka's fixed point"
    return rf"\(\alpha = {latex.setting(train['alpha_sum'])} / K\)"


def _end(inputs: Inputs, part: str, rule: str) -> str:
    """Say when PLSA's training or folding in ends."""
    iterations, tolerance = (inputs.settings.setting(PLSA, part, name) for name in ("iterations", "tolerance"))
    return latex.stopping(iterations, tolerance, rule)


def _priors(inputs: Inputs) -> Macros:
    """Return LDA's priors in words."""
    _, *others = lda_variants(inputs)
    return {
        "LdaOtherPriors": latex.listed(
            [f"a {variant.replace('-', ' ')} ({prior_in_words(inputs, variant)})" for variant in others]
        ),
    }


def _versions_apart(inputs: Inputs, corpus: str) -> str:
    """Return how far the best curves of PLSA-HOF and PLSA-VEM lie apart at most, by either way to fold in."""
    apart: list[float] = []
    for evaluator in FOLDING_IN:
        first, second = (means(best(points(inputs, [corpus], model, evaluator))) for model in (PLSA, VEM))
        ratios = (first / second).dropna()
        apart += [max(ratio, 1.0 / ratio) - 1.0 for ratio in ratios]
    return latex.percent(max(apart)) if apart else NOT_RUN


def _curve(prefix: str, curve: "pd.DataFrame") -> Macros:
    """Return where a curve ends and is lowest, means over seeds with standard errors; "not run" where there is none."""
    if curve.empty:
        cells = dict.fromkeys(("Constant", "Last", "Lowest", "LowestTopics"), NOT_RUN) | {"LowestAt": latex.DASH}
        return {f"{prefix}{part}": value for part, value in cells.items()}
    own = means(curve)

    def at(topics: int) -> str:  # with its standard error
        values = select(curve, topics=topics)["perplexity"].tolist()
        mean = statistics.fmean(values)
        if math.isinf(mean):
            return latex.perplexity(mean)
        return over_seeds.decimal(values, 0 if mean >= over_seeds.LARGE else 1)

    lowest = int(str(own.idxmin()))
    perplexity, topics = at(lowest), latex.integer(lowest)
    return {
        f"{prefix}Constant": latex.power(curve["smoothing"].iloc[0]),
        f"{prefix}Last": at(int(own.index[-1])),
        f"{prefix}Lowest": perplexity,
        f"{prefix}LowestTopics": topics,
        f"{prefix}LowestAt": f"{perplexity} ({topics})",
    }


def _beyond(inputs: Inputs) -> Macros:
    """Return what folding in says at the largest number of topics beyond the vocabulary."""
    corpus = inputs.settings.beyond.corpus
    result = {f"Beyond{name}": NOT_RUN for name in ("Vocabulary", "From", "To", "FullTo", "HalfTo")}
    result |= {"BeyondCorpus": latex.corpus_name(corpus)}
    ends = beyond_ends(inputs)
    if ends is None:
        return result
    full, half = (beyond_points(inputs, evaluator, ends) for evaluator in FOLDING_IN)
    whole = half.groupby("smoothing")["topics"].transform("nunique") == len(ends)
    chosen = best(half[whole])
    same = full[full["smoothing"].isin(chosen["smoothing"])]
    if chosen.empty or same["topics"].nunique() < len(ends):
        return result
    return result | {
        "BeyondVocabulary": latex.integer(inputs.corpus(corpus)["vocabulary"]),
        "BeyondFrom": latex.integer(ends[0]),
        "BeyondTo": latex.integer(ends[1]),
        "BeyondFullTo": latex.perplexity(means(same).iloc[-1]),
        "BeyondHalfTo": latex.perplexity(means(chosen).iloc[-1]),
    }


def _convergence(inputs: Inputs) -> Macros:
    """Return where the Gibbs sampler's chains agree, and how much they still drift, over corpora, topics and seeds."""
    r_hats = select(inputs.measurements, quantity="r-hat")
    drifts = [abs(v) for v in select(inputs.measurements, quantity="drift")["value"].tolist() if math.isfinite(v)]
    names = ("RhatMedian", "RhatLargest", "RhatLargestCorpus", "RhatLargestTopics", "DriftMedian")
    result = dict.fromkeys(names, NOT_RUN)
    if len(r_hats):
        worst = r_hats.iloc[int(r_hats["value"].argmax())]
        result["RhatMedian"] = latex.decimal(r_hats["value"].median(), 2)
        result["RhatLargest"] = latex.decimal(worst["value"], 2)
        result["RhatLargestCorpus"] = latex.corpus_name(str(worst["corpus"]))
        result["RhatLargestTopics"] = latex.integer(worst["topics"])
    scores = select(inputs.scores, model=LDA, variant=inputs.settings.variant(LDA))
    scores = scores[scores["evaluator"].isin(FOLDING_IN) & (scores["chain"] != "all")]
    spreads = [
        statistics.stdev(map(math.log, values))
        for _, run in scores.groupby(["corpus", "topics", "seed", "evaluator"])
        if len(values := run["perplexity"].tolist()) > 1
    ]
    result["ChainsSpreadMedian"] = latex.percent(statistics.median(spreads)) if spreads else NOT_RUN
    result["ChainsSpreadLargest"] = latex.percent(max(spreads)) if spreads else NOT_RUN
    if drifts:
        result["DriftMedian"] = latex.decimal(statistics.median(drifts))
    return result


def how_often(verb: str, number: int, total: int, what: str = "steps") -> str:
    """Say how often something happens.

    Examples:
        >>> how_often("falls", 3, 7), how_often("falls", 0, 7)
        ('falls at 3 of 7 steps', 'falls at none of 7 steps')
    """
    if total == 0:
        return f"{verb} nowhere, for there are no {what} to compare"
    if number == total:
        return f"{verb} at every one of {total} {what}" if total > 1 else f"{verb} at the only {what.removesuffix('s')}"
    if number == 0:
        return f"{verb} at none of {total} {what}"
    return f"{verb} at {number} of {total} {what}"


def _of(number: int, total: int) -> str:
    if number == total:
        return f"all {latex.integer(total)}"
    return f"{latex.integer(number) if number else 'none'} of {latex.integer(total)}"
