"""The numbers of Welling et al.'s experiments that the text uses."""

import math
import statistics

from heldout.evaluators import FOLDING_IN, FULL, HALF
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA, TEM, VEM
from heldout.papers.welling.interpretations import fold_in_end, prior_in_words, train_end
from heldout.papers.welling.results import (
    FITTED,
    SPARSE,
    Curve,
    Steps,
    best,
    best_curve,
    beyond_curves,
    beyond_ends,
    ends_above_its_lowest,
    lda_variants,
    lies_below,
    steps,
    study_curves,
)
from heldout.points import select
from heldout.study import SECOND_READING
from heldout.typesetting import latex
from heldout.typesetting.macros import POSITIONS, Macros, bands, count
from heldout.verdicts import NOT_RUN

SIDES = {FULL: "Full", HALF: "Half"}
PRIORS = {"": "", SPARSE: "Sparse", FITTED: "Fitted"}  # variants of LDA, the main one first, in macros' names
# of the steps and points that are counted, corpus by corpus and over all: the macro's name, the verb, what is counted
COUNTED = {"Full": ("falls", "steps"), "FullSecond": ("falls", "steps"), "LdaHalf": ("lies lower", "points")}


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study, as far as its corpora go."""
    totals = dict.fromkeys(COUNTED, Steps(0, 0, 0))
    result = _settings(inputs)
    for position, corpus in zip(POSITIONS, inputs.settings.corpora, strict=False):
        curves = {evaluator: study_curves(inputs, corpus, PLSA, evaluator) for evaluator in FOLDING_IN}
        lda = {
            f"{side}Lda{prior}": best(study_curves(inputs, corpus, LDA, evaluator, variant))
            for variant, prior in PRIORS.items()
            for evaluator, side in SIDES.items()
        }
        counts = {
            "Full": steps(curves[FULL]),
            "FullSecond": steps(study_curves(inputs, corpus, PLSA, FULL, SECOND_READING)),
            "LdaHalf": lies_below(lda["HalfLda"], best(curves[HALF])),
        }
        totals = {name: total + counts[name] for name, total in totals.items()}
        numbers = _verdicts(counts)
        for evaluator, side in SIDES.items():
            turned = sum(ends_above_its_lowest(curve) for curve in curves[evaluator])
            numbers[f"{side}Turns"] = _of(turned, len(curves[evaluator]))
            numbers |= _curve(f"{side}Smallest", next(iter(curves[evaluator]), None))
            numbers |= _curve(f"{side}Best", best(curves[evaluator]))
        for name, curve in lda.items():
            numbers |= _curve(name, curve)
        for evaluator, side in SIDES.items():
            named = best_curve(inputs, corpus, EPCA, evaluator)
            numbers |= _curve(f"{side}Epca", None if named is None else named[1])
        numbers["VersionsApart"] = _versions_apart(inputs, corpus)
        result |= {f"Corpus{position}{name}": value for name, value in numbers.items()}
    result |= {f"All{name}": value for name, value in _verdicts(totals).items()}
    return result | _beyond(inputs) | _convergence(inputs) | _priors(inputs)


def _verdicts(counts: dict[str, Steps]) -> Macros:
    result = {}
    for name, (verb, what) in COUNTED.items():
        counted = counts[name]
        result[f"{name}Verdict"] = how_often(verb, counted.falls, counted.total, what)
    return result


def _settings(inputs: Inputs) -> Macros:
    settings = inputs.settings
    second = len(settings.second_reading_seeds)
    betas = [variant.rpartition("-")[2] for variant in settings.swept_variants(TEM)]
    return {
        "IfSecond": "#1" if second else "",
        "SecondBandsInWords": bands(second),
        "BeyondBandsInWords": bands(len(settings.beyond.seeds)),
        "TemperedSeedsInWords": count(len(settings.seeds_of(TEM)), "seed"),
        "TemperedConstants": latex.integer(len(settings.study["models"].get(TEM, {}).get("smoothing", ()))),
        "TemperedBetas": f"{len(betas)} values from {betas[0]} to {betas[-1]}" if betas else NOT_RUN,
        "EpcaTopicsLargest": latex.integer(settings.topics_of(EPCA)[-1]),
        "PlsaTrainEnd": train_end(inputs),
        "PlsaFoldInEnd": fold_in_end(inputs),
    }


def _priors(inputs: Inputs) -> Macros:
    """Return LDA's priors in words, how far apart they lie, and whether the claims' verdicts depend on them."""
    _, *others = lda_variants(inputs)
    judged = [inputs.judged("-".join(filter(None, ("lda-better", prior)))) for prior in ("", *others)]
    signs = [{(e.corpus, e.part): e.estimate > 0.0 for e in own.effects} for own in judged if own.effects]
    result = {
        "LdaOtherPriors": latex.listed(
            [f"a {variant.replace('-', ' ')} ({prior_in_words(inputs, variant)})" for variant in others]
        ),
        "IfPriors": "#1" if others else "",
        "IfPriorDecides": "#1" if any(own != signs[0] for own in signs) else "",
    }
    ratios: list[float] = []
    for corpus in inputs.settings.corpora:
        chosen = (best_curve(inputs, corpus, LDA, HALF, variant) for variant in lda_variants(inputs))
        curves = [named[1].points for named in chosen if named is not None]
        shared = set.intersection(*map(set, curves)) if len(curves) > 1 else set()
        ratios += [max(points[at] for points in curves) / min(points[at] for points in curves) for at in shared]
    result["IfPriorsCompared"] = "#1" if ratios else ""
    result["LdaPriorsHalfMedian"] = latex.decimal(statistics.median(ratios), 2) if ratios else NOT_RUN
    result["LdaPriorsHalfLargest"] = latex.decimal(max(ratios), 2) if ratios else NOT_RUN
    return result


def _versions_apart(inputs: Inputs, corpus: str) -> str:
    """Return how far the best curves of PLSA-HOF and PLSA-VEM lie apart at most, by either way to fold in."""
    apart = []
    for evaluator in FOLDING_IN:
        first, second = (best(study_curves(inputs, corpus, model, evaluator)) for model in (PLSA, VEM))
        if first is not None and second is not None:
            both = zip(first.means, second.means, strict=False)
            apart += [max(pair) / min(pair) - 1.0 for pair in both]
    return latex.percent(max(apart)) if apart else NOT_RUN


def _curve(prefix: str, curve: Curve | None) -> Macros:
    """Return where a curve ends and is lowest; "not run" where there is none."""
    if curve is None:
        cells = dict.fromkeys(("Constant", "Last", "Lowest", "LowestTopics"), NOT_RUN) | {"LowestAt": latex.DASH}
        return {f"{prefix}{part}": value for part, value in cells.items()}
    lowest = curve.lowest()
    perplexity, topics = latex.perplexity(lowest.perplexity), latex.integer(lowest.topics)
    return {
        f"{prefix}Constant": latex.power(curve.smoothing),
        f"{prefix}Last": latex.perplexity(curve.means[-1]),
        f"{prefix}Lowest": perplexity,
        f"{prefix}LowestTopics": topics,
        f"{prefix}LowestAt": f"{perplexity} ({topics})",
    }


def _beyond(inputs: Inputs) -> Macros:
    """Return what folding in says at the largest number of topics beyond the vocabulary."""
    corpus = inputs.settings.beyond.corpus
    result = {f"Beyond{name}": NOT_RUN for name in ("Vocabulary", "To", "FullTo", "HalfTo")}
    result |= {"BeyondCorpus": latex.corpus_name(corpus), "IfBeyond": ""}
    ends = beyond_ends(inputs)
    if ends is None:
        return result
    full, half = (
        [curve for curve in beyond_curves(inputs, evaluator, ends) if curve.topics == ends] for evaluator in FOLDING_IN
    )
    chosen = best(half)
    same = next((curve for curve in full if chosen is not None and curve.smoothing == chosen.smoothing), None)
    if chosen is None or same is None:
        return result
    return result | {
        "IfBeyond": "#1",
        "BeyondVocabulary": latex.integer(inputs.corpus(corpus)["vocabulary"]),
        "BeyondTo": latex.integer(ends[1]),
        "BeyondFullTo": latex.perplexity(same.means[1]),
        "BeyondHalfTo": latex.perplexity(chosen.means[1]),
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

    Args:
        verb: what happens, such as "falls".
        number: how often.
        total: of how many.
        what: the plural of what is counted; the singular lacks the "s".

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
