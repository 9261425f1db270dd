"""The numbers of Welling et al.'s experiments that the text uses."""

import math
import statistics
from typing import TYPE_CHECKING

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.contrasts import SMALL_CONSTANT
from artifact.papers.welling.results import (
    FITTED,
    UNPENALISED,
    best,
    best_points,
    beyond_ends,
    beyond_points,
    lda_variants,
    means,
    points,
)
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.macros import POSITIONS, Macros
from heldout.evaluators import FOLDING_IN, HALF
from heldout.models import EPCA, LDA, PLSA, TEM

if TYPE_CHECKING:
    import pandas as pd

# settings that the text prints: model, part, names
SETTINGS = (
    (EPCA, "fold_in", ("ridge",)),
    (LDA, "train", ("alpha_sum", "beta", "chains", "sweeps")),
    (LDA, "fold_in", ("sweeps",)),
)


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study, as far as its corpora go."""
    result = {"SmallConstant": latex.power(SMALL_CONSTANT)} | _settings(inputs)
    for position, corpus in zip(POSITIONS, inputs.settings.corpora, strict=False):
        curves = {
            "Best": best(points(inputs, [corpus], PLSA, HALF)),
            "Lda": best_points(inputs, [corpus], LDA, HALF, ""),
            "LdaFitted": best_points(inputs, [corpus], LDA, HALF, FITTED),
            "Epca": best_points(inputs, [corpus], EPCA, HALF, UNPENALISED),
            "EpcaGaussian": best_points(inputs, [corpus], EPCA, HALF, inputs.settings.variant(EPCA)),
        }
        numbers = {f"Half{name}LowestAt": _lowest_at(curve) for name, curve in curves.items()}
        result |= {f"Corpus{position}{name}": value for name, value in numbers.items()}
    return result | _beyond_vocabulary(inputs) | _convergence(inputs) | _priors(inputs)


def _settings(inputs: Inputs) -> Macros:
    settings = inputs.settings
    betas = [variant.rpartition("-")[2] for variant in settings.swept_variants(TEM)]
    printed = {
        latex.camel(model, part, name): latex.setting(settings.setting(model, part, name))
        for model, part, names in SETTINGS
        for name in names
    }
    return printed | {
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
    """Return in words the end of PLSA's training or folding in."""
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


def _lowest_at(curve: "pd.DataFrame") -> str:
    """Return a curve's lowest perplexity, the mean over seeds with its standard error, and K; a dash for no curve."""
    if curve.empty:
        return latex.DASH
    perplexities = means(curve)
    lowest = int(str(perplexities.idxmin()))
    values = select(curve, topics=lowest)["perplexity"].tolist()
    mean = statistics.fmean(values)
    rounded = over_seeds.decimal(values, 0 if mean >= over_seeds.LARGE else 1)
    perplexity = latex.perplexity(mean) if math.isinf(mean) else rounded
    return f"{perplexity} ({latex.choice(lowest, perplexities.index, latex.integer(lowest))})"


def _beyond_vocabulary(inputs: Inputs) -> Macros:
    """Return the perplexities of folding in at the largest number of topics beyond the vocabulary."""
    corpus = inputs.settings.beyond.corpus
    result = {f"Beyond{name}": NOT_RUN for name in ("From", "To", "FullTo", "HalfTo")}
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
        "BeyondFrom": latex.integer(ends[0]),
        "BeyondTo": latex.integer(ends[1]),
        "BeyondFullTo": latex.perplexity(means(same).iloc[-1]),
        "BeyondHalfTo": latex.perplexity(means(chosen).iloc[-1]),
    }


def _convergence(inputs: Inputs) -> Macros:
    """Return split R-hat, the agreement of the Gibbs sampler's chains, over corpora, topics and seeds."""
    r_hats = select(inputs.measurements, quantity="r-hat")["value"]
    shown = {"RhatMedian": r_hats.median(), "RhatLargest": r_hats.max()}
    return {name: latex.decimal(value, 2) if len(r_hats) else NOT_RUN for name, value in shown.items()}
