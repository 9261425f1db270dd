"""The claims of Buntine (2009): on estimators' errors (section 4.1) and on model selection (section 4.2).

Section 4.1. The claims are tested on the pairs of a model and a document of the experiment `calibration`. The source
compares logarithms of estimates; the logarithm of an unbiased estimate is too low by about half its variance. Claims on
bias are tested on the logarithmic scale, like the source's, and lemma 1 on that of the estimate itself.

Section 4.2. The claims are tested on the drawn corpora. Log-likelihoods are per token of the same held-out documents,
in nats. The bias of an estimator is its mean logarithm less that of the reference, a particle filter, over the same
documents; the experiment `model_selection` says how both are measured. Where many weak comparisons ask one question,
they are pooled: documents are drawn anew for each number of topics, so their errors are independent.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from heldout.claims import Check, Claim, of_no_corpus
from heldout.corpora.names import SOURCES
from heldout.corpora.realistic import TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.evaluators import HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.buntine.experiments.calibration import RATIO, variant
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.experiments.model_selection import TRUTH, with_many
from heldout.papers.buntine.results import (
    GAMMAS,
    LABELS,
    SHORT,
    Bias,
    Precision,
    Scored,
    biases,
    many_samples,
    pooled,
    precision,
    published,
    rises_by_reading,
    selections,
)
from heldout.points import select
from heldout.verdicts import ALWAYS, Finding, above, counted, median, within

if TYPE_CHECKING:
    import pandas as pd

CUTOFF = 2.58  # the source's cutoff of t: two-sided p-value 0.01
COMPARABLE = 2.5  # factor between two root mean squared errors; the source's own figures differ by up to this much
TRACKS = 0.01  # nats per token: one percent of perplexity, which coincides in a plot
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
    ratios, source = (
        [above(ratio, error, cutoff=CUTOFF) for ratio, error in _spreads_more(table)] for table in (errors, published())
    )
    texts = []
    for gamma in _gammas(errors):
        spread = {method: errors[gamma, method].deviation for method in METHODS}
        least = min(OTHERS, key=spread.__getitem__)
        texts.append(f"{spread[SEQUENTIAL]:.4f} against {spread[least]:.4f} ({LABELS[least]})")
    effect = f"s.d. of LRS against the least of the others, bits per token: {_at(_gammas(errors), texts)}"
    return counted(ratios, effect, [], holds=source.count(True) / len(source))


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


def _by_corpus(inputs: Inputs, estimator: str, *others: str) -> dict[str, list[Bias]]:
    """Return an estimator's biases under trained models, by corpus; less those of another one, if it is named."""
    found = [bias for bias in biases(inputs, estimator) if bias.size]
    for other in others:
        against = {_at_model(bias): bias for bias in biases(inputs, other)}
        found = [
            replace(bias, value=bias.value - less.value, error=math.hypot(bias.error, less.error))
            for bias in found
            if (less := against.get(_at_model(bias))) is not None
        ]
    return {corpus: own for corpus in SOURCES if (own := [bias for bias in found if bias.corpus == corpus])}


def _at_model(bias: Bias) -> tuple[str, int, int, int]:
    return bias.corpus, bias.size, bias.topics, bias.seed


def _mean(found: Iterable[Bias]) -> tuple[float, float]:
    """Return the mean over numbers of topics, and its standard error; models of one K share their documents."""
    by_documents: dict[tuple[str, int], list[Bias]] = {}
    for bias in found:
        by_documents.setdefault((bias.corpus, bias.topics), []).append(bias)
    return pooled(map(_of_the_same_documents, by_documents.values()))


def _of_the_same_documents(found: Sequence[Bias]) -> tuple[float, float]:
    return fmean(bias.value for bias in found), fmean(bias.error for bias in found)


def _sizes_of(found: Iterable[Bias]) -> list[int]:
    return sorted({bias.size for bias in found})


@of_no_corpus
def particles_biased(inputs: Inputs) -> Finding:
    """Test, corpus by corpus, the particles' mean bias over numbers of topics, training sizes and seeds."""
    agree, errors, seeds, parts, by_size = [], [], [], [], []
    for corpus, found in _by_corpus(inputs, PARTICLES).items():
        of_sizes = [_mean(bias for bias in found if bias.size == size) for size in _sizes_of(found)]
        by_size += [above(-value, error, cutoff=CUTOFF) for value, error in of_sizes]
        value, error = _mean(found)
        agree.append(above(-value, error, cutoff=CUTOFF))
        errors.append(error)
        seeds += [bias.seed for bias in found]
        few, few_error = _mean(_by_corpus(inputs, SEQUENTIAL).get(corpus, ()))
        parts.append(f"{corpus} LR {value:+.5f} +- {error:.5f}, LRS {few:+.5f} +- {few_error:.5f}")
    effect = (
        f"mean estimate less reference, nats per token: {'; '.join(parts)}; training size by training size LR is low"
        f" {_BEYOND} at {by_size.count(True)} of {len(by_size)}"
    )
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


@of_no_corpus
def bias_grows(inputs: Inputs) -> Finding:
    """Test, corpus by corpus, the mean growth of the particles' shortfall from the fewest to the most documents."""
    agree, errors, seeds, parts = [], [], [], []
    for corpus, found in _by_corpus(inputs, PARTICLES).items():
        sizes = _sizes_of(found)
        if len(sizes) < 2:
            continue
        first = {(bias.topics, bias.seed): bias for bias in found if bias.size == sizes[0]}
        growths = [
            replace(bias, value=before.value - bias.value, error=math.hypot(before.error, bias.error))
            for bias in found
            if bias.size == sizes[-1] and (before := first.get((bias.topics, bias.seed))) is not None
        ]
        value, error = _mean(growths)
        agree.append(above(value, error, cutoff=CUTOFF))
        errors.append(error)
        seeds += [bias.seed for bias in found]
        means = (-_mean(bias for bias in found if bias.size == size)[0] for size in sizes)
        parts.append(f"{corpus} {', '.join(f'{mean:+.5f}' for mean in means)}; growth {value:+.5f} +- {error:.5f}")
    effect = f"mean reference less LR by training size, nats per token: {'; '.join(parts)}"
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


@of_no_corpus
def particles_rise(inputs: Inputs) -> Finding:
    """Test whether perplexity rises to the most training documents by particles but not by others.

    From half of them on, so that a rise is larger than noise. Corpora with far fewer documents than the source's are
    left out; if all are, the effect says so.
    """
    agree, errors, seeds, changes, few = [], [], [], [], []
    for selection in selections(inputs).values():
        half = [size for size in selection.sizes if 2 * size <= selection.sizes[-1]][-1:]
        if not half or selection.sizes[-1] < ENOUGH * PUBLISHED_TRAINING:
            few.append(selection.sizes[-1])
            continue
        steps = [
            tuple(selection.scored(evaluator, size) for size in (*half, selection.sizes[-1]))
            for evaluator in (PARTICLES, SEQUENTIAL, MEAN_FIELD_FIRST)
        ]
        for at in sorted(steps[0][1]):
            if all(at in before and at in after for before, after in steps):
                falls = [_less(before[at], after[at]) for before, after in steps]
                own, *others = (above(*fall, cutoff=CUTOFF) for fall in falls)
                left = own is False or True in others
                agree.append(False if left else True if own and others == [False, False] else None)
                errors.append(falls[0][1])
                changes.append(-falls[0][0])
                seeds.append(at[1])
    if few and not agree:
        return Finding(0, 0, f"at most {max(few):,} of the source's {PUBLISHED_TRAINING:,} training documents", 0)
    effect = f"by LR the log-likelihood changes by {median(changes):+.4f} nats per token in the median"
    rising = [f"{reading} {rises} of {models}" for reading, (rises, models) in rises_by_reading(inputs).items()]
    if rising:
        effect += f"; perplexity rises so by readings of section 3.5: {', '.join(rising)} models"
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


def _less(one: Scored, other: Scored) -> tuple[float, float]:
    """Return a log-likelihood less another, nats per token, and its standard error."""
    return one.log_likelihood - other.log_likelihood, math.hypot(one.standard_error, other.standard_error)


@of_no_corpus
def importance_tracks(inputs: Inputs) -> Finding:
    """Compare the perplexities of mean-field importance sampling and the sequential sampler, model by model."""
    agree, gaps, errors, seeds = [], [], [], []
    for selection in selections(inputs).values():
        for size in selection.sizes:
            sequential = selection.scored(SEQUENTIAL, size)
            for at, importance in sorted(selection.scored(MEAN_FIELD_FIRST, size).items()):
                if at in sequential:
                    gap, error = _less(importance, sequential[at])
                    agree.append(within(gap, error, TRACKS, cutoff=CUTOFF))
                    gaps.append(gap)
                    errors.append(error)
                    seeds.append(at[1])
    effect = (
        f"MFI less LRS, nats per token: median {median(gaps):+.4f}, from {min(gaps, default=math.nan):+.4f} to"
        f" {max(gaps, default=math.nan):+.4f}"
    )
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


def truth_found(inputs: Inputs, true_topics: int) -> Finding:
    """Test where the two good samplers score the true number of topics highest, at the most training documents."""
    agree, errors, parts, seeds, sizes, short = [], [], [], [], [], []
    for corpus, selection in selections(inputs).items():
        if selection.true_topics != true_topics:
            continue
        short.append(f"{corpus} {selection.above_best(SEQUENTIAL):+.4f}")
        size, true = selection.sizes[-1], selection.true_topics
        sizes.append(size)
        for evaluator in (SEQUENTIAL, MEAN_FIELD_FIRST):
            for seed in selection.seeds:
                values = {k: one for (k, s), one in selection.scored(evaluator, size).items() if s == seed}
                others = [one for k, one in values.items() if k != true]
                if true in values and others:
                    lead, error = _less(values[true], max(others, key=lambda one: one.log_likelihood))
                    agree.append(above(lead, error, cutoff=CUTOFF))
                    errors.append(error)
                    parts.append(
                        f"{corpus} {SHORT[evaluator]} {selection.selected(evaluator, size, seed)} ({lead:+.4f})"
                    )
                    seeds.append(seed)
    documents = _drawn(inputs, LDA)["documents"].max()
    effect = (
        "selected number of topics, and the lead of the true one over the best other, nats per token:"
        f" {', '.join(parts)}; the generating model over the best trained one, by LRS: {', '.join(short)}; up to"
        f" {max(sizes, default=0):,} of the source's {PUBLISHED_TRAINING:,} training documents, {documents:,} of"
        f" {TEST_DOCUMENTS:,} held out"
    )
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


def _drawn(inputs: Inputs, *models: str) -> "pd.DataFrame":
    """Return the scores of the given models on drawn corpora."""
    table = inputs.scores
    return table[table["corpus"].isin(list(SOURCES)) & table["model"].isin(models)]


@of_no_corpus
def sequential_sharpest(inputs: Inputs) -> Finding:
    """Compare the lead of the true K over its neighbours by the sequential sampler with that by particles.

    Of one model the two samplers differ by LRS less LR over the same documents; so the leads differ by what that is at
    the true K less its mean at the two neighbours. Training sizes and seeds are pooled.
    """
    agree, errors, seeds, parts = [], [], [], []
    for corpus, found in _by_corpus(inputs, SEQUENTIAL, PARTICLES).items():
        gaps = []
        for size, seed in sorted({(bias.size, bias.seed) for bias in found}):
            by_topics = {bias.topics: bias for bias in found if (bias.size, bias.seed) == (size, seed)}
            grid, true = sorted(by_topics), SOURCES[corpus].topics
            if true in grid[1:-1]:
                below, own, over = (by_topics[k] for k in grid[grid.index(true) - 1 :][:3])
                value = own.value - fmean((below.value, over.value))
                gaps.append(replace(own, value=value, error=math.hypot(own.error, 0.5 * below.error, 0.5 * over.error)))
                seeds.append(seed)
        if gaps:
            value, error = _of_the_same_documents(gaps)
            agree.append(above(value, error, cutoff=CUTOFF))
            errors.append(error)
            parts.append(f"{corpus} {value:+.5f} +- {error:.5f}")
    effect = f"mean lead of the true K over its neighbours by LRS less that by LR, nats per token: {', '.join(parts)}"
    return counted(agree, effect, seeds, errors=errors, cutoff=CUTOFF)


@of_no_corpus
def few_samples_suffice(inputs: Inputs) -> Finding:
    """Compare the sequential sampler with few and with many samples, corpus by corpus, over all its models."""
    samples, many = many_samples(inputs)
    few = sorted({int(n) for n in select(_drawn(inputs, LDA, TRUTH), evaluator=SEQUENTIAL)["samples"]})
    agree, errors, parts = [], [], []
    for corpus, found in _by_corpus(inputs, with_many(samples), SEQUENTIAL).items():
        value, error = _mean(found)
        agree.append(within(value, error, TRACKS, cutoff=CUTOFF))
        errors.append(error)
        parts.append(f"{corpus} {value:+.5f} +- {error:.5f}")
    value, error = _mean(bias for bias in many if bias.size)
    effect = (
        f"LRS with {samples:,} samples less LRS with {' or '.join(map(str, few))}, nats per token: {', '.join(parts)};"
        f" with {samples:,} less the reference {value:+.5f} +- {error:.5f}"
    )
    return counted(agree, effect, (bias.seed for bias in many), errors=errors, cutoff=CUTOFF)


_BEYOND = f"by more than {CUTOFF:g} standard errors"
_PAIRS = f"the drawn pairs of a model and a document at gamma {', '.join(f'{gamma:g}' for gamma in GAMMAS)}"
_BY_CUTOFF = f"{_BEYOND} of the difference"
_HIGHEST = (
    "both samplers: at the largest training size the true number's log-likelihood exceeds that of the best other number"
    f" {_BEYOND}"
)

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
        f"{_PAIRS}: Student's t of its mean error is below {CUTOFF:g}, over five times the source's pairs; on the"
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
        "every drawn corpus: the mean over numbers of topics, training sizes and seeds of what LR lies below the"
        f" reference, unbiased particles, over the same documents, exceeds zero {_BEYOND}",
        particles_biased,
    ),
    Claim(
        "lr-bias-grows",
        "Buntine, section 4.2; Figures 3-4",
        "The bias of left-to-right particles grows with the size of the training set.",
        "every drawn corpus: the mean over numbers of topics of what LR lies below the reference grows from the"
        f" smallest training size to the largest, {_BEYOND}",
        bias_grows,
    ),
    Claim(
        "lr-perplexity-rises",
        "Buntine, section 4.2; Figure 4",
        "Beyond some training size more documents worsen the perplexity that LR reports, and not that of MFI or LRS.",
        "every drawn corpus, number of topics and seed: from half of the largest training size to the largest it rises"
        f" by LR and by neither of the others, {_BEYOND}; only where the largest is at least {ENOUGH:.0%} of the"
        f" source's {PUBLISHED_TRAINING:,} documents",
        particles_rise,
    ),
    Claim(
        "mfi-tracks-lrs",
        "Buntine, section 4.2; Figure 5",
        "Mean-field importance sampling stays close to the sequential sampler.",
        "every drawn corpus, number of topics, training size and seed: log-likelihoods at most"
        f" {TRACKS:g} nats per token apart, one percent of perplexity, {_BEYOND}",
        importance_tracks,
    ),
    Claim(
        "true-topics-found",
        "Buntine, section 4.2; Figure 5",
        "With enough training documents LRS and MFI score the true number of topics highest, where it is ten.",
        f"every seed, s10 and s10s, {_HIGHEST}",
        of_no_corpus(partial(truth_found, true_topics=SOURCES["s10"].topics)),
    ),
    Claim(
        "forty-topics-found",
        "Buntine, section 4.2, which shows no such curve",
        "With enough training documents LRS and MFI score the true number of topics highest, where it is forty.",
        f"every seed, s40, {_HIGHEST}",
        of_no_corpus(partial(truth_found, true_topics=SOURCES["s40"].topics)),
    ),
    Claim(
        "lrs-sharpest",
        "Buntine, sections 4.2, 5; Figure 5",
        "LRS sets the true number of topics further apart from its neighbours than LR does.",
        "every drawn corpus: the true number's lead over the mean of the next smaller and the next larger one, averaged"
        f" over training sizes and seeds, is larger by LRS than by LR, {_BEYOND}",
        sequential_sharpest,
    ),
    Claim(
        "lrs-100-samples",
        "Buntine, section 4.2",
        "Few samples serve the sequential sampler as well as many.",
        f"every drawn corpus: the mean difference over models is at most {TRACKS:g} nats per token, one percent of"
        f" perplexity, {_BEYOND}",
        few_samples_suffice,
    ),
)
