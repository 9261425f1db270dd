"""The claims of Buntine (2009): on estimators' errors (section 4.1) and on model selection (section 4.2).

Section 4.1. The claims are tested on the pairs of a model and a document of the experiment `calibration`. The source
compares logarithms of estimates; the logarithm of an unbiased estimate is too low by about half its variance. Claims on
bias are tested on the logarithmic scale, like the source's, and lemma 1 on that of the estimate itself.

Section 4.2. The claims are tested on the study's drawn corpora. Log-likelihoods are per token of the same held-out
documents, in nats; their errors are the evaluators' Monte Carlo errors, assumed independent between models and between
evaluators.

The bias of left-to-right particles is their shortfall against a reference. The source's reference is the sequential
sampler; but with few samples the downward bias of its logarithm (about half the variance) exceeds the bias in question.
So our reference is, model by model, the higher of the sequential sampler and the Chib-style estimator, whose logarithms
are both biased low. If both have the same expectation, the higher one is too high by 0.4 of the standard error of their
difference, which favours the claim; so a bias must exceed `CUTOFF` standard errors. We chose this reference after
seeing that, on these corpora, the sequential sampler with few samples lies below the same with many, below the
Chib-style estimator and below the particles.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from heldout.claims import Check, Claim, of_no_corpus
from heldout.corpora.realistic import SOURCES, TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.evaluators import CHIB, HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.buntine.experiments.calibration import RATIO, variant
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.experiments.model_selection import TRUTH
from heldout.papers.buntine.results import (
    GAMMAS,
    LABELS,
    SHORT,
    Precision,
    Scored,
    Selection,
    more_samples,
    precision,
    published,
    selections,
)
from heldout.points import select
from heldout.verdicts import ALWAYS, GENERALLY, Finding, above, counted, median

if TYPE_CHECKING:
    import pandas as pd

CUTOFF = 2.58  # the source's cutoff of t: two-sided p-value 0.01
COMPARABLE = 2.5  # factor between two root mean squared errors; the source's own figures differ by up to this much
TRACKS = 0.01  # relative difference of perplexities that coincide in a plot
PUBLISHED_TRAINING = max(TRAINING_DOCUMENTS)
ENOUGH = 0.5  # share of the source's training documents from which a rise should show

OTHERS = tuple(method for method in METHODS if method != SEQUENTIAL)


def _gammas(errors: Precision) -> list[float]:
    return sorted({gamma for gamma, _ in errors})


def _at(gammas: Sequence[float], texts: Sequence[str]) -> str:
    return "; ".join(f"gamma {gamma:g}: {text}" for gamma, text in zip(gammas, texts, strict=True))


def _spreads_more(errors: Precision) -> list[tuple[float, float]]:
    """Return the log ratio of every other method's s.d. to that of LRS, and its standard error."""
    return [
        (
            math.log(errors[gamma, method].deviation / errors[gamma, SEQUENTIAL].deviation),
            math.hypot(errors[gamma, method].log_deviation_error, errors[gamma, SEQUENTIAL].log_deviation_error),
        )
        for gamma in _gammas(errors)
        for method in OTHERS
    ]


def sequential_most_precise(errors: Precision) -> Finding:
    """Count, gamma by gamma, the other methods whose errors spread more than the sequential sampler's.

    The source's own figures have an exception; the claim holds from the share at which they agree by the same test.
    """
    ratios = _spreads_more(errors)
    agree, source = (
        [above(ratio, error, cutoff=CUTOFF) for ratio, error in of] for of in (ratios, _spreads_more(published()))
    )
    texts = []
    for gamma in _gammas(errors):
        spread = {method: errors[gamma, method].deviation for method in METHODS}
        least = min(OTHERS, key=spread.__getitem__)
        texts.append(f"{spread[SEQUENTIAL]:.4f} against {spread[least]:.4f} ({LABELS[least]})")
    effect = f"s.d. of LRS against the least of the others, bits per token: {_at(_gammas(errors), texts)}"
    return counted(
        agree,
        effect,
        [],
        errors=(error for _, error in ratios),
        unit="in the logarithm of the ratio",
        cutoff=CUTOFF,
        holds=source.count(True) / len(source),
    )


def sequential_unbiased(errors: Precision) -> Finding:
    """Count the gammas at which the sequential sampler's mean error is below the cutoff."""
    own = [errors[gamma, SEQUENTIAL] for gamma in _gammas(errors)]
    texts = [f"t {e.t:.1f} over {e.pairs:,} pairs, mean {e.mean:+.4f} ({e.jensen:+.4f})" for e in own]
    effect = (
        "of the code length, bits per token (in brackets what the logarithm of an unbiased estimate of this spread"
        f" gives): {_at(_gammas(errors), texts)}"
    )
    return counted((abs(e.t) < CUTOFF for e in own), effect, [])


def others_biased(errors: Precision) -> Finding:
    """Count the other methods whose mean error exceeds the cutoff at any gamma."""
    largest = {method: max(abs(errors[gamma, method].t) for gamma in _gammas(errors)) for method in OTHERS if errors}
    texts = (f"{LABELS[method]} {t:.1f}" for method, t in largest.items())
    return counted((t > CUTOFF for t in largest.values()), f"largest t of any gamma: {', '.join(texts)}", [])


def mean_field_comparable(errors: Precision) -> Finding:
    """Compare root mean squared errors of mean-field importance sampling and the particle sampler."""
    agree, texts = [], []
    for gamma in _gammas(errors):
        particles = errors[gamma, PARTICLES].rms
        first, second = (errors[gamma, m].rms / particles for m in (MEAN_FIELD_FIRST, MEAN_FIELD_SECOND))
        agree += [1.0 / COMPARABLE <= ratio <= COMPARABLE for ratio in (first, second)]
        texts.append(f"{first:.2f} and {second:.2f}")
    effect = f"r.m.s. error of MFI, first and second order, over that of LR: {_at(_gammas(errors), texts)}"
    return counted(agree, effect, [])


def harmonic_mean_biased(errors: Precision) -> Finding:
    """Count the gammas at which the harmonic mean is too high, by more than LRS errs in the mean."""
    agree, texts = [], []
    for gamma in _gammas(errors):
        harmonic, sequential = errors[gamma, HARMONIC], errors[gamma, SEQUENTIAL]
        further = above(
            abs(harmonic.mean) - abs(sequential.mean),
            math.hypot(harmonic.mean_error, sequential.mean_error),
            cutoff=CUTOFF,
        )
        agree.append(further if harmonic.t < -CUTOFF else False)
        texts.append(f"HM {-harmonic.mean:+.4f}, LRS {-sequential.mean:+.4f}")
    return counted(agree, f"mean estimate less exact, bits per token: {_at(_gammas(errors), texts)}", [])


def _on_pairs(check: Callable[[Precision], Finding]) -> Check:
    return of_no_corpus(lambda inputs: check(precision(inputs)))


@of_no_corpus
def lemma_1(inputs: Inputs) -> Finding:
    """Count the gammas at which the mean ratio of LRS's estimate to the exact probability is 1 within its error."""
    table = select(inputs.measurements, quantity=RATIO + SEQUENTIAL)
    ratios = {
        gamma: (float(row["value"]), float(row["standard_error"]))
        for gamma in GAMMAS
        for row in select(table, variant=variant(gamma), seed=table["seed"].min()).to_dict("records")
    }
    texts = [f"{value:.3f} +- {error:.3f}" for value, error in ratios.values()]
    agree = [abs(value - 1.0) <= CUTOFF * error for value, error in ratios.values()]
    return counted(agree, f"mean ratio: {_at(list(ratios), texts)}", [], **ALWAYS)


class Bias(NamedTuple):
    """The particles' shortfall against the reference for one model, and its error; nats per token."""

    size: int
    topics: int
    seed: int
    value: float
    error: float


Pair = tuple[int, int, int, Scored, Scored]  # documents, topics, seed; two evaluators' scores of one model


def _pairs(selection: Selection, first: str, second: str) -> Iterator[Pair]:
    for size in selection.sizes:
        others = selection.scored(second, size)
        for (topics, seed), scored in sorted(selection.scored(first, size).items()):
            if (topics, seed) in others:
                yield size, topics, seed, scored, others[topics, seed]


def _biases(selection: Selection) -> list[Bias]:
    chib = {(size, k, s): scored for size, k, s, scored, _ in _pairs(selection, CHIB, PARTICLES)}
    biases = []
    for size, topics, seed, sequential, particles in _pairs(selection, SEQUENTIAL, PARTICLES):
        other = chib.get((size, topics, seed), sequential)
        reference = max(sequential, other, key=lambda scored: scored.log_likelihood)
        error = math.hypot(reference.standard_error, particles.standard_error)
        biases.append(Bias(size, topics, seed, reference.log_likelihood - particles.log_likelihood, error))
    return biases


def _drawn(inputs: Inputs, *models: str) -> "pd.DataFrame":
    """Return the scores of the given models on drawn corpora."""
    table = inputs.scores
    return table[table["corpus"].isin(list(SOURCES)) & table["model"].isin(models)]


def _samples(inputs: Inputs, evaluator: str) -> str:
    """Return the number of samples with which an evaluator scored the drawn corpora, as text."""
    return _alternatives(select(_drawn(inputs, LDA, TRUTH), evaluator=evaluator)["samples"])


def _alternatives(numbers: "pd.Series[int]") -> str:
    return " or ".join(f"{number:,}" for number in sorted({int(number) for number in numbers}))


@of_no_corpus
def particles_biased(inputs: Inputs) -> Finding:
    """Count the models that the particles score significantly below the reference."""
    agree, parts, seeds, lower, errors = [], [], [], [], []
    for corpus, selection in selections(inputs).items():
        biases = _biases(selection)
        agree += [above(bias.value, bias.error, cutoff=CUTOFF) for bias in biases]
        errors += [bias.error for bias in biases]
        seeds += [bias.seed for bias in biases]
        if biases:
            value, error = median(bias.value for bias in biases), median(bias.error for bias in biases)
            parts.append(f"{corpus} {value:+.2g} (one model's standard error {error:.1g})")
        pairs = _pairs(selection, CHIB, SEQUENTIAL)
        lower += [chib.log_likelihood - sequential.log_likelihood for *_, chib, sequential in pairs]
    effect = f"median reference less LR, nats per token: {', '.join(parts)}"
    if lower:
        effect += (
            f"; LRS with {_samples(inputs, SEQUENTIAL)} samples lies below Chib-style with {_samples(inputs, CHIB)} on"
            f" {sum(gap > 0.0 for gap in lower)} of {len(lower)} models, by {median(lower):+.2g} in the median of all"
        )
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


@of_no_corpus
def bias_grows(inputs: Inputs) -> Finding:
    """Count the steps to more training documents at which the particles' shortfall grows."""
    agree, parts, seeds, errors = [], [], [], []
    for corpus, selection in selections(inputs).items():
        biases = {bias[:3]: bias for bias in _biases(selection)}
        for fewer, more in pairwise(selection.sizes):
            for (size, topics, seed), before in biases.items():
                after = biases.get((more, topics, seed))
                if size == fewer and after is not None:
                    errors.append(math.hypot(before.error, after.error))
                    agree.append(above(after.value - before.value, errors[-1], cutoff=CUTOFF))
                    seeds.append(seed)
        means = [
            fmean(bias.value for bias in biases.values() if bias.size == size) for size in selection.sizes if biases
        ]
        parts.append(f"{corpus} {', '.join(f'{mean:+.2g}' for mean in means)}")
    effect = f"mean reference less LR by training size, nats per token: {'; '.join(parts)}"
    effect += f"; one step's standard error {median(errors):.1g}"
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


@of_no_corpus
def particles_rise(inputs: Inputs) -> Finding:
    """Count the models whose perplexity rises to the most training documents by particles but not by others.

    Corpora with far fewer training documents than the source's are left out; if all are, the effect says so.
    """
    agree, seeds, changes, few = [], [], [], []
    for selection in selections(inputs).values():
        if len(selection.sizes) < 2 or selection.sizes[-1] < ENOUGH * PUBLISHED_TRAINING:
            few.append(selection.sizes[-1])
            continue
        steps = [
            tuple(selection.scored(evaluator, size) for size in selection.sizes[-2:])
            for evaluator in (PARTICLES, SEQUENTIAL, MEAN_FIELD_FIRST)
        ]
        for at in sorted(steps[0][1]):
            if all(at in before and at in after for before, after in steps):
                own, *others = (_rises(before[at], after[at]) for before, after in steps)
                agree.append(own and not any(others))
                seeds.append(at[1])
                before, after = steps[0]
                changes.append(after[at].perplexity / before[at].perplexity - 1.0)
    if few and not agree:
        return Finding(0, 0, f"at most {max(few):,} of the source's {PUBLISHED_TRAINING:,} training documents", 0)
    effect = f"LR's perplexity changes by {100.0 * median(changes):+.1f} % in the median"
    return counted(agree, effect, seeds)


def _rises(before: Scored, after: Scored) -> bool:
    """Return whether perplexity rises significantly."""
    fall = before.log_likelihood - after.log_likelihood
    return fall > CUTOFF * math.hypot(before.standard_error, after.standard_error)


@of_no_corpus
def importance_tracks(inputs: Inputs) -> Finding:
    """Compare the perplexities of mean-field importance sampling and the sequential sampler, model by model."""
    pairs = [p for selection in selections(inputs).values() for p in _pairs(selection, SEQUENTIAL, MEAN_FIELD_FIRST)]
    gaps = [abs(importance.perplexity / sequential.perplexity - 1.0) for *_, sequential, importance in pairs]
    effect = f"median difference {100.0 * median(gaps):.2f} %, largest {100.0 * max(gaps, default=math.nan):.2f} %"
    return counted((gap <= TRACKS for gap in gaps), effect, (seed for _, _, seed, *_ in pairs))


@of_no_corpus
def truth_found(inputs: Inputs) -> Finding:
    """Count where the two good samplers score the true number of topics highest, at the most training documents."""
    agree, parts, seeds, sizes = [], [], [], []
    for corpus, selection in selections(inputs).items():
        sizes.append(selection.sizes[-1])
        for evaluator in (SEQUENTIAL, MEAN_FIELD_FIRST):
            for seed in selection.seeds:
                topics = selection.selected(evaluator, selection.sizes[-1], seed)
                if topics is not None:
                    agree.append(topics == selection.true_topics)
                    parts.append(f"{corpus} {SHORT[evaluator]} {topics} of {selection.true_topics}")
                    seeds.append(seed)
    effect = (
        f"selected of true number of topics: {', '.join(parts)}; up to {max(sizes, default=0):,} of the source's"
        f" {PUBLISHED_TRAINING:,} training documents, {_drawn(inputs, LDA)['documents'].max():,} of"
        f" {TEST_DOCUMENTS:,} held out"
    )
    return counted(agree, effect, seeds)


def _lead(selection: Selection, evaluator: str, size: int, seed: int) -> tuple[float, float] | None:
    """Return the true K's score less the mean of its two neighbours' and the error, nats per token, if all exist."""
    values = {topics: scored for (topics, s), scored in selection.scored(evaluator, size).items() if s == seed}
    grid = sorted(values)
    if selection.true_topics not in grid[1:-1]:
        return None
    at = grid.index(selection.true_topics)
    below, own, above = (values[topics] for topics in grid[at - 1 : at + 2])
    lead = own.log_likelihood - fmean((below.log_likelihood, above.log_likelihood))
    return lead, math.hypot(own.standard_error, 0.5 * below.standard_error, 0.5 * above.standard_error)


@of_no_corpus
def sequential_sharpest(inputs: Inputs) -> Finding:
    """Compare the lead of the true number of topics by the sequential sampler with that by the particles."""
    agree, leads, gaps, errors, seeds = [], [], [], [], []
    for selection in selections(inputs).values():
        for size in selection.sizes:
            for seed in selection.seeds:
                sequential, particles = (_lead(selection, name, size, seed) for name in (SEQUENTIAL, PARTICLES))
                if sequential is not None and particles is not None:
                    leads.append((sequential[0], particles[0]))
                    gaps.append(sequential[0] - particles[0])
                    errors.append(math.hypot(sequential[1], particles[1]))
                    agree.append(above(gaps[-1], errors[-1], cutoff=CUTOFF))
                    seeds.append(seed)
    one, two = (median(row[i] for row in leads) for i in (0, 1))
    effect = (
        f"median lead of the true K over its neighbours, nats per token: LRS {one:+.4f}, LR {two:+.4f}; of LRS's over"
        f" LR's {median(gaps):+.4f}, standard error {median(errors):.4f}; LRS's is the larger in"
        f" {sum(gap > 0.0 for gap in gaps)} of {len(gaps)}"
    )
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF, **GENERALLY)


@of_no_corpus
def few_samples_suffice(inputs: Inputs) -> Finding:
    """Compare the sequential sampler with few and with many samples on every corpus's checked documents.

    Both score the same documents, so the errors are Monte Carlo errors alone; documents of all seeds are pooled.
    """
    documents = more_samples(inputs)
    agree, texts = [], []
    for corpus in SOURCES:
        rows = select(documents, corpus=corpus)
        if len(rows):
            (gap, error), length = _mean_gap(rows), _length(inputs, corpus)
            agree.append(abs(gap) <= CUTOFF * error)
            texts.append(f"{corpus} {gap:+.2f} +- {error:.2f} ({gap / length:+.4f} +- {error / length:.4f})")
    gap, error = _mean_gap(documents)
    effect = (
        f"LRS with {_alternatives(documents['samples'])} samples less LRS with {_samples(inputs, SEQUENTIAL)}, nats per"
        f" document (per token), over {len(documents)} documents in all: {', '.join(texts)};"
        f" all together {gap:+.2f} +- {error:.2f}"
    )
    return counted(agree, effect, (int(seed) for seed in documents["seed"]))


def _mean_gap(documents: "pd.DataFrame") -> tuple[float, float]:
    """Return the mean of `gap`, nats per document, and its Monte Carlo error."""
    return float(documents["gap"].mean()), math.sqrt(documents["variance"].sum()) / max(1, len(documents))


def _length(inputs: Inputs, corpus: str) -> float:
    """Return the mean length of a drawn corpus's held-out documents, tokens."""
    rows = select(_drawn(inputs, TRUTH), corpus=corpus, evaluator=SEQUENTIAL)
    return float(rows["tokens"].sum() / rows["documents"].sum())


_PAIRS = f"the drawn pairs of a model and a document at gamma {', '.join(f'{gamma:g}' for gamma in GAMMAS)}"
_BY_CUTOFF = f"by more than {CUTOFF:g} standard errors of the difference"
_MODEL = "every drawn corpus, number of topics, training size and seed"
_REFERENCE = "the reference is the higher of LRS and Chib-style"

CLAIMS = (
    Claim(
        "lrs-most-precise",
        "Buntine, section 4.1",
        "Whatever the topics, the errors of LRS spread less than those of any other method.",
        f"{_PAIRS}, every other method: the standard deviation of its errors exceeds that of LRS, {_BY_CUTOFF}; holds"
        " from the share that agrees in the source's own Table 1",
        _on_pairs(sequential_most_precise),
    ),
    Claim(
        "lrs-unbiased",
        "Buntine, section 4.1",
        "No significant bias of LRS is seen.",
        f"{_PAIRS}: Student's t of its mean error is below {CUTOFF:g}, over all measured pairs; on the"
        " logarithm, which is low by half its variance although the estimate is not (see lemma 1)",
        _on_pairs(sequential_unbiased),
    ),
    Claim(
        "others-biased",
        "Buntine, section 4.1",
        "Each of the other methods shows a significant bias for some topics.",
        f"every method but LRS: Student's t of its mean error exceeds {CUTOFF:g} at some gamma",
        _on_pairs(others_biased),
    ),
    Claim(
        "mfi-comparable-to-lr",
        "Buntine, section 4.1",
        "Mean-field importance sampling, of first and second order, errs about as much as the particles of LR.",
        f"{_PAIRS}, both orders: root mean squared errors within a factor {COMPARABLE:g} of LR's",
        _on_pairs(mean_field_comparable),
    ),
    Claim(
        "harmonic-mean-biased",
        "Buntine, sections 1 and 4.1",
        "The harmonic mean is too high, and further off than LRS.",
        f"{_PAIRS}: it is too high, by t above {CUTOFF:g}, and its mean error exceeds that of LRS, {_BY_CUTOFF}",
        _on_pairs(harmonic_mean_biased),
    ),
    Claim(
        "lrs-lemma-1",
        "Buntine, lemma 1",
        "With enough samples the expectation of LRS's estimate is the probability itself.",
        f"{_PAIRS}: the mean of estimate / exact is 1 within {CUTOFF:g} of its standard errors; all must",
        lemma_1,
    ),
    Claim(
        "lr-biased",
        "Buntine, section 4.2; Figures 3-4",
        "On realistic models left-to-right particles are biased.",
        f"{_MODEL}: LR below the reference by more than {CUTOFF:g} standard errors of the difference; {_REFERENCE}",
        particles_biased,
    ),
    Claim(
        "lr-bias-grows",
        "Buntine, section 4.2; Figures 3-4",
        "The bias of left-to-right particles grows with the size of the training set.",
        "every step from one training size to the next, for every drawn corpus, number of topics and seed: what LR lies"
        f" below the reference grows by more than {CUTOFF:g} standard errors of the growth; {_REFERENCE}",
        bias_grows,
    ),
    Claim(
        "lr-perplexity-rises",
        "Buntine, section 4.2; Figure 4",
        "Beyond some training size more documents worsen the perplexity that LR reports, and not that of MFI or LRS.",
        "every drawn corpus, number of topics and seed: from the second largest training size to the largest it rises"
        f" by LR and by neither of the others, by more than {CUTOFF:g} standard errors of the change; only where the"
        f" largest is at least {ENOUGH:.0%} of the source's {PUBLISHED_TRAINING:,} documents",
        particles_rise,
    ),
    Claim(
        "mfi-tracks-lrs",
        "Buntine, section 4.2; Figure 5",
        "Mean-field importance sampling stays close to the sequential sampler.",
        f"{_MODEL}: perplexities at most {TRACKS:.0%} apart",
        importance_tracks,
    ),
    Claim(
        "true-topics-found",
        "Buntine, section 4.2; Figure 5",
        "With enough training documents LRS and MFI score the true number of topics highest.",
        "every drawn corpus, both samplers, every seed: the largest training size has its highest likelihood there",
        truth_found,
    ),
    Claim(
        "lrs-sharpest",
        "Buntine, sections 4.2, 5; Figure 5",
        "LRS sets the true number of topics further apart from its neighbours than LR does.",
        "every drawn corpus, training size and seed: the true number's lead over the mean of the next smaller and the"
        f" next larger one is larger by LRS, by more than {CUTOFF:g} standard errors of the difference; holds from two"
        " thirds, fails up to one third",
        sequential_sharpest,
    ),
    Claim(
        "lrs-100-samples",
        "Buntine, section 4.2",
        "Few samples serve the sequential sampler as well as many.",
        "every drawn corpus, under the true model: the mean difference over the checked documents is at most"
        f" {CUTOFF:g} of its standard errors, the source's cutoff",
        few_samples_suffice,
    ),
)
