"""The claims of Buntine (2009): on estimators' errors (section 4.1) and on model selection (section 4.2).

Section 4.1. The replicates are the pairs of a model and a document of the experiment `calibration`, as many as the
source drew. It compares logarithms of estimates; the logarithm of an unbiased estimate is too low by about half its
variance. Claims on bias are judged on the logarithmic scale, like the source's, and lemma 1 on that of the estimate
itself, by where the interval of the mean lies: the source's own test, Student's t, stands beside it, for a small t may
be no more than few pairs.

Section 4.2. The bias of an estimator is its mean logarithm less that of the reference, a particle filter, over the same
documents, in nats per token; the experiment `model_selection` says how both are measured. Documents are drawn anew for
each number of topics, and all models of one number share them: the replicate is the set of documents.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.calibration import RATIO, TOKENS, variant
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.experiments.model_selection import with_many
from artifact.papers.buntine.results import (
    GAMMAS,
    LABELS,
    PUBLISHED,
    SHORT,
    Errors,
    biases,
    calibration,
    halves,
    many_samples,
    mean_ratios,
    scored,
)
from artifact.results.reading import select
from artifact.verdicts.claims import Claim, Measure
from artifact.verdicts.effects import effects, less
from artifact.verdicts.verdicts import ANY, ESTIMATORS, MODELS, Effect, Margin
from heldout.corpora.names import SOURCES
from heldout.corpora.realistic import TRAINING_DOCUMENTS
from heldout.evaluators import HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL

if TYPE_CHECKING:
    import pandas as pd

COMPARABLE = Margin(
    math.log(10.0) / 2.0,
    "times LR's",
    "of the same order: half a power of ten in error is ten times the samples, for it falls with their root",
    "2026-11-26, with the data and the source's table in view",
)
ENOUGH = 0.5  # share of the source's training documents from which a rise should show
OTHERS = tuple(method for method in METHODS if method != SEQUENTIAL)
BITS = "bits per token"
FEW_WORDS = "s10s"  # the corpus of the source's Figure 5
MODEL = ["corpus", "size", "topics", "seed"]  # columns that name a model


def _effect(part: str, errors: Errors, estimate: float, error: float, **how: Any) -> Effect:
    freedom = float(errors.pairs - 1)
    return Effect("none", part, estimate, error, freedom, replicates=errors.pairs, cells=1, **{"unit": BITS, **how})


def _by_gamma(inputs: Inputs) -> list[tuple[str, dict[str, Errors]]]:
    """Return the methods' errors over as many pairs as the source drew, by gamma as a part's name."""
    errors = calibration(inputs)
    return [
        (f"gamma {gamma:g}", {method: errors[gamma, method] for method in METHODS})
        for gamma in GAMMAS
        if all((gamma, method) in errors for method in METHODS)
    ]


def most_precise(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how much further the errors of the least spread other method spread than those of LRS.

    Left out is what the source's own table has the other way.
    """
    found = []
    for gamma, (part, errors) in zip(GAMMAS, _by_gamma(inputs), strict=False):
        own = errors[SEQUENTIAL]
        published = {method: float(row[1]) for method, row in zip(METHODS, PUBLISHED[gamma], strict=True)}
        others = [method for method in OTHERS if published[method] > published[SEQUENTIAL]]
        least = min(others, key=lambda method: errors[method].deviation)
        ratio = math.log(errors[least].deviation / own.deviation)
        error = math.hypot(errors[least].log_deviation_error, own.log_deviation_error)
        found.append(_effect(f"{part}, {LABELS[least]}", own, ratio, error, unit="times the spread", factor=True))
    return found


def _mean(part: str, errors: Errors, sign: float = 1.0, **how: Any) -> Effect:
    """Return a mean error in nats per token, of the sign of the table: positive is too low an estimate."""
    nats = (sign * errors.mean * math.log(2.0), errors.mean_error * math.log(2.0))
    return _effect(part, errors, *nats, unit=ESTIMATORS.unit, margin=ESTIMATORS.value, **how)


def unbiased(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the mean error of LRS; Student's t of no error stands beside it."""
    by_gamma = [(part, errors[SEQUENTIAL]) for part, errors in _by_gamma(inputs)]
    return [_mean(f"{part}, t = {errors.t:.1f}", errors, test="similar") for part, errors in by_gamma]


def others_biased(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the size of the mean error of every other method, at its gamma of the largest t."""
    by_gamma = [errors for _, errors in _by_gamma(inputs)]
    found = []
    for method in OTHERS if by_gamma else ():
        worst = max((errors[method] for errors in by_gamma), key=lambda errors: abs(errors.t))
        found.append(_mean(LABELS[method], worst, math.copysign(1.0, worst.mean)))
    return found


def mean_field_comparable(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the root mean squared errors of mean-field importance sampling over that of the particles."""
    found = []
    for part, errors in _by_gamma(inputs):
        for method in (MEAN_FIELD_FIRST, MEAN_FIELD_SECOND):
            ratio = math.log(errors[method].rms / errors[PARTICLES].rms)
            error = math.hypot(errors[method].log_deviation_error, errors[PARTICLES].log_deviation_error)
            how: dict[str, Any] = {
                "margin": COMPARABLE.value,
                "test": "similar",
                "factor": True,
                "unit": COMPARABLE.unit,
            }
            found.append(_effect(f"{part}, {LABELS[method]}", errors[method], ratio, error, **how))
    return found


def harmonic_mean_biased(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure by how much the harmonic mean is too high, less the size of the mean error of LRS."""
    found = []
    for part, errors in _by_gamma(inputs):
        harmonic, own = errors[HARMONIC], errors[SEQUENTIAL]
        error = math.hypot(harmonic.mean_error, own.mean_error)
        found.append(_effect(part, harmonic, -harmonic.mean - abs(own.mean), error))
    return found


def lemma_1(inputs: Inputs, _: Sequence[str], *, method: str) -> list[Effect]:
    """Measure the logarithm of the mean ratio of estimate and exact probability, per token; t stands beside it."""
    table = select(inputs.measurements, axis="pairs")
    table = select(table, seed=table["seed"].min())
    found = []
    for gamma in GAMMAS:
        rows = select(table, variant=variant(gamma))
        ratios, tokens = select(rows, quantity=RATIO + method), select(rows, quantity=TOKENS)["value"]
        for row, length in zip(ratios.to_dict("records"), tokens, strict=False):
            mean, error, pairs = float(row["value"]), float(row["standard_error"]), int(row["at"])
            how: dict[str, Any] = {"margin": ESTIMATORS.value, "replicates": pairs, "cells": 1, "test": "similar"}
            part = f"gamma {gamma:g}, mean {mean:.3f}, t = {(mean - 1.0) / error:.1f}"
            of_log = (math.log(mean) / length, error / mean / length, pairs - 1.0)
            found.append(Effect("none", part, *of_log, ESTIMATORS.unit, **how))
    return found


def mean_ratio_is_one(inputs: Inputs, _: Sequence[str], *, method: str) -> list[Effect]:
    """Measure the logarithm of the mean ratio of an estimator to the likelihood, per token."""
    table = mean_ratios(inputs)
    return [
        Effect(
            row["corpus"],
            f"{row['topics']} topics, {row['samples']:,} samples, mean {row['ratio']:.3f}",
            math.log(row["ratio"]) / row["tokens"],
            math.hypot(row["ratio_error"] / row["ratio"], row["bias"]) / row["tokens"],
            row["documents"] - 1.0,
            ESTIMATORS.unit,
            margin=ESTIMATORS.value,
            replicates=int(row["documents"]),
            cells=1,
            test="similar",
        )
        for row in table[table["method"] == method].to_dict("records")
    ]


def _by_documents(table: "pd.DataFrame", **how: Any) -> list[Effect]:
    """Return effects over sets of documents, one per number of topics; their spread holds all errors already."""
    how = {"replicate": ("topics",), "margin": ESTIMATORS, "unit": ESTIMATORS.unit, **how}
    return effects(table.assign(error=0.0), **how)


def _shortfalls(inputs: Inputs, estimator: str) -> "pd.DataFrame":
    """Return by how much an estimator lies below the reference under trained models."""
    table = biases(inputs, estimator)
    return table[table["size"] > 0].assign(value=-table["value"])


def biased(inputs: Inputs, _: Sequence[str], *, estimator: str) -> list[Effect]:
    """Measure by how much an estimator lies below the reference."""
    return _by_documents(_shortfalls(inputs, estimator).rename(columns={"value": "gain"}), part=SHORT[estimator])


def bias_grows(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the growth of the particles' shortfall from the fewest to the most training documents."""
    table = _shortfalls(inputs, PARTICLES)
    fewest, most = (table.groupby("corpus")["size"].transform(end) for end in ("min", "max"))
    last = table[(table["size"] == most) & (most > fewest)]
    return _by_documents(less(last, table[table["size"] == fewest]))


def _trained(inputs: Inputs, evaluator: str) -> "pd.DataFrame":
    """Return an evaluator's scores of trained models, as `scored` does; an error of 0 where none is stated."""
    rows = select(scored(inputs), evaluator=evaluator)
    return rows[rows["size"] > 0].fillna({"error": 0.0})


def particles_rise(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the perplexity that LR reports rises by from half of the training documents to all of them.

    Corpora with far fewer documents than the source's are left out.
    """
    before, after = halves(_trained(inputs, PARTICLES))
    return _by_documents(less(before, after[after["size"] >= ENOUGH * max(TRAINING_DOCUMENTS)]))


def importance_tracks(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how far mean-field importance sampling lies from the sequential sampler, model by model."""
    gains = less(_trained(inputs, MEAN_FIELD_FIRST), _trained(inputs, SEQUENTIAL), MODEL)
    return _by_documents(gains.assign(gain=gains["gain"].abs()), margin=MODELS, test="similar")


def truth_found(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the lead of the true number of topics over the best other one at the most documents of s10s."""
    found = []
    for evaluator in (SEQUENTIAL, MEAN_FIELD_FIRST):
        rows = select(_trained(inputs, evaluator), corpus=FEW_WORDS)
        last = rows[rows["size"] == rows["size"].max()]
        true = last["topics"] == SOURCES[FEW_WORDS].topics
        own, others = last[true], last[~true]
        if len(others):
            leads = less(own, others.loc[others.groupby("seed")["value"].idxmax()], ["corpus", "seed"])
            found += effects(leads, margin=ANY, part=SHORT[evaluator], unit=MODELS.unit)
    return found


def sequential_sharpest(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the lead of the true K over its neighbours by the sequential sampler less that by particles.

    Of one model the two samplers differ by LRS less LR over the same documents; so the leads differ by what that is at
    the true K less its mean at the two neighbours: three sets of documents, whose errors the interval holds.
    """
    both = less(biases(inputs, SEQUENTIAL), biases(inputs, PARTICLES), MODEL)
    found = []
    for corpus, rows in both[both["size"] > 0].groupby("corpus", sort=False):
        grid, true = sorted(rows["topics"].unique()), SOURCES[str(corpus)].topics
        if true in grid[1:-1]:
            weights = dict(zip(grid[grid.index(true) - 1 :][:3], (-0.5, 1.0, -0.5), strict=True))
            means = rows.groupby("topics")[["gain", "error"]].mean()
            lead = sum(weight * float(means["gain"][k]) for k, weight in weights.items())
            error = math.hypot(*(weight * float(means["error"][k]) for k, weight in weights.items()))
            how: dict[str, Any] = {
                "unit": ESTIMATORS.unit,
                "margin": ESTIMATORS.value,
                "replicates": len(weights),
                "cells": 1,
            }
            found.append(Effect(str(corpus), "", lead, error, math.inf, **how))
    return found


def few_samples_suffice(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the sequential sampler gains by many samples over few."""
    gains = less(biases(inputs, with_many(many_samples(inputs))), biases(inputs, SEQUENTIAL), MODEL)
    return _by_documents(gains[gains["size"] > 0], test="similar")


_PAIRS = "the drawn pairs of a model and a document, as many as the source's: {}; gamma by gamma"
_RATIOS = (
    "five times the source's pairs: the logarithm of the mean of estimate / exact, per token, within the margin, with"
    " its t beside it"
)
_DOCUMENTS = "mean over models of one number of topics, which share documents; the numbers of topics are the replicates"


def _claim(name: str, source: str, statement: str, test: str, measure: Measure) -> Claim:
    return Claim(name, source if source.startswith("beyond") else f"Buntine, {source}", statement, test, measure)


CLAIMS = (
    _claim(
        "lrs-most-precise",
        "section 4.1",
        "Whatever the topics, the errors of LRS spread less than those of any other method, but for first-order MFI at"
        " gamma 0.2, where the source's own table has it the other way.",
        _PAIRS.format("the least standard deviation of another method's errors over that of LRS is above 1"),
        most_precise,
    ),
    _claim(
        "lrs-unbiased",
        "section 4.1",
        "No significant bias of LRS is seen.",
        _PAIRS.format(
            "its mean error, within the margin, with the source's t beside it; on the logarithm, which is low by half"
            " its variance although the estimate is not (lemma 1)"
        ),
        unbiased,
    ),
    _claim(
        "others-biased",
        "section 4.1",
        "Each of the other methods shows a significant bias for some topics.",
        "as many pairs as the source's, every method but LRS: the size of its mean error, above the margin, at the"
        " gamma of the largest t, a choice of four that the interval does not hold; on the logarithm",
        others_biased,
    ),
    _claim(
        "mfi-comparable-to-lr",
        "section 4.1",
        "Mean-field importance sampling, of first and second order, errs about as much as the particles of LR.",
        _PAIRS.format(
            f"root mean squared error over LR's, within a factor {math.exp(COMPARABLE.value):.2f}, half a power of ten"
        ),
        mean_field_comparable,
    ),
    _claim(
        "harmonic-mean-biased",
        "sections 1 and 4.1",
        "The harmonic mean is too high, and further off than LRS.",
        _PAIRS.format("its mean error, less the size of that of LRS, is above 0"),
        harmonic_mean_biased,
    ),
    _claim(
        "lrs-lemma-1",
        "lemma 1",
        "With enough samples the expectation of LRS's estimate is the probability itself.",
        _RATIOS,
        partial(lemma_1, method=SEQUENTIAL),
    ),
    _claim(
        "lr-mean-ratio",
        "beyond the original",
        "The estimate of LR passes the same test as that of LRS.",
        _RATIOS,
        partial(lemma_1, method=PARTICLES),
    ),
    *(
        _claim(
            f"{label.lower()}-mean-ratio-realistic",
            "beyond the original",
            f"On documents drawn from realistic models the mean of {label}'s estimate over the likelihood is 1.",
            "the logarithm of the mean ratio per token, within the margin; the replicates are documents",
            partial(mean_ratio_is_one, method=method),
        )
        for method, label in ((PARTICLES, SHORT[PARTICLES]), (SEQUENTIAL, SHORT[SEQUENTIAL]))
    ),
    _claim(
        "lr-biased",
        "section 4.2; Figures 3-4",
        "On realistic models left-to-right particles are biased.",
        f"reference, unbiased particles, less LR: {_DOCUMENTS}",
        partial(biased, estimator=PARTICLES),
    ),
    _claim(
        "lrs-biased",
        "beyond the original",
        "By the same test the sequential sampler is biased.",
        f"reference, unbiased particles, less LRS: {_DOCUMENTS}",
        partial(biased, estimator=SEQUENTIAL),
    ),
    _claim(
        "lr-bias-grows",
        "section 4.2; Figures 3-4",
        "The bias of left-to-right particles grows with the size of the training set.",
        f"growth of what LR lies below the reference from the smallest training size to the largest: {_DOCUMENTS}",
        bias_grows,
    ),
    _claim(
        "lr-perplexity-rises",
        "section 4.2; Figure 4",
        "Beyond some training size more documents worsen the perplexity that LR reports.",
        "rise of its logarithm from half of the largest training size to the largest, where that is at least"
        f" {ENOUGH:.0%} of the source's {max(TRAINING_DOCUMENTS):,}: {_DOCUMENTS}",
        particles_rise,
    ),
    _claim(
        "mfi-tracks-lrs",
        "section 4.2; Figure 5",
        "Mean-field importance sampling stays close to the sequential sampler.",
        f"size of the difference, within the margin: {_DOCUMENTS}",
        importance_tracks,
    ),
    _claim(
        "true-topics-found",
        "section 4.2; Figure 5",
        "On s10s, with enough training documents, LRS and MFI score the true number of topics, ten, highest.",
        "lead of the true number over the best other one at the largest training size; the replicates are seeds",
        truth_found,
    ),
    _claim(
        "lrs-sharpest",
        "sections 4.2, 5; Figure 5",
        "LRS sets the true number of topics further apart from its neighbours than LR does.",
        "lead of the true number over the mean of the next smaller and the next larger one, by LRS less by LR, mean"
        " over training sizes and seeds; the interval holds the documents of the three numbers",
        sequential_sharpest,
    ),
    _claim(
        "lrs-100-samples",
        "section 4.2",
        "Few samples serve the sequential sampler as well as many.",
        f"many samples less few, within the margin: {_DOCUMENTS}",
        few_samples_suffice,
    ),
)
