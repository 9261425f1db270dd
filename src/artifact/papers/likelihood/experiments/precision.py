r"""Every estimator's error in log p(w | alpha, phi), by number of topics, length of a document, prior and samples.

K topics phi_k ~ Dirichlet(gamma) over V words are drawn; for every prior and length documents of them, theta ~
Dirichlet(alpha), z_l ~ theta, w_l ~ phi_{z_l}. With d an estimate less log p of a document, nats, over D documents

    bias = mean d,        rms error = sqrt(mean d^2),

so that an estimate that is too high has a positive bias (`artifact.papers.buntine.experiments.calibration` keeps the
sign of the table that it reproduces, the opposite).

log p is the exact value where that costs little. Otherwise it is a reference: the mean r of two independent
estimates a, b, each with half of the draws. Their errors being independent and alike,

    E (a - b)^2 / 4 = variance of r,        E mean (est. - r)^2 - variance of r = E mean of the estimate's error^2,

so the variance of r is subtracted. What remains in r is the bias that a and b have in common.

  * Left-to-right sequential with S sweeps is low by about c / S (`heldout.evaluators.left_to_right_sequential`). With
    m_S the mean over documents of one and m that of a and b, of R / 2 sweeps each, c = (m - m_S) / (1 / S - 2 / R), and

        bias of r ~ -2 c / R = -(m - m_S) / (R / (2 S) - 1).

  * A Chib-style estimate is unbiased as a probability, so its logarithm is low by half its variance, which is twice
    that of r: bias of r ~ -variance of r. It also misses the modes that its chains have not reached.

Both are low, and an estimate that is unbiased as a probability exceeds log p by t nats with a probability of e^-t at
most (Markov's inequality). So the reference that is higher on average is the nearer one and, where the two agree, the
one of smaller variance: the Chib-style estimate is taken where its variance is smaller and its mean is below the
other's by no more than two standard errors. Error and bias of the reference are reported; of an estimator whose error
is not larger than these, they are only an upper bound.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from artifact.papers.likelihood.settings import Precision
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import (
    ANNEALED,
    CHIB,
    EMPIRICAL,
    ESTIMATORS,
    EXACT,
    FOLDING_IN_BOUND,
    HARMONIC,
    LAPLACE,
    LINEAR,
    MEAN_FIELD_BOUND,
    MEAN_FIELD_FIRST,
    MEAN_FIELD_SECOND,
    PARTICLES,
    PSEUDO_COUNTS,
    REFERENCE,
    SEQUENTIAL,
    UNRESAMPLED,
    likelihood_estimators,
)
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.estimate import estimate
from heldout.evaluators.priors import exact_within
from heldout.seeds import Axes, generator
from heldout.topics import Topics
from heldout.typing import Floats

KIND, NONE = "precision", "none"
BIAS, ERROR, STATED = "bias-", "rms-error-", "stated-error-"  # beginnings of quantities; the estimator's name follows
VARIANT = "-tokens-"  # middle of a variant's name, after a prior's name and before a length
DOCUMENTS = "documents"
REFERENCE_ERROR, REFERENCE_BIAS = "reference-error-", "reference-bias-"  # beginnings; the reference's name follows
AFFORDABLE = 5 * 10**9  # updates of the exact values of a cell; about five seconds
CLEARLY_MORE = 2  # least number of the reference's samples per sample of the same estimator
FAR_MORE = 8  # least number of the reference's sweeps per sweep from which its bias is extrapolated
TERMS_PER_SWEEP = 80  # annealing's terms of a token and sweep: topics in use, and their ratio to the prior before
TERMS_PER_DRAW = 20  # the left-to-right kernel's, at most: a token that stays costs the same whatever K is


# terms that a document takes, about a nanosecond each: K, L, samples
TERMS: dict[str, Callable[[int, int, int], float]] = {
    SEQUENTIAL: lambda K, L, S: S * L * (L - 1) / 2 * min(K, TERMS_PER_DRAW),
    PARTICLES: lambda K, L, S: S * L * (L - 1) / 2 * min(K, TERMS_PER_DRAW),
    UNRESAMPLED: lambda K, L, S: S * L * K,
    MEAN_FIELD_FIRST: lambda K, L, S: L * (10 * K + S * 10),
    MEAN_FIELD_SECOND: lambda K, L, S: L * (60 * K + S * 10),
    PSEUDO_COUNTS: lambda K, L, S: L * (10 * K + S * 10),
    ANNEALED: lambda K, L, S: 100 * S * L * K,
    REFERENCE: lambda K, L, S: L * (100 * K + S * TERMS_PER_SWEEP),
    CHIB: lambda K, L, S: 10 * (20 + 2 * S) * L * K,
    EMPIRICAL: lambda K, L, S: S * L * K,
    HARMONIC: lambda K, L, S: (20 + S) * L * K,
    LINEAR: lambda K, L, _: 4 * L * K,
    MEAN_FIELD_BOUND: lambda K, L, _: 100 * L * K,
    FOLDING_IN_BOUND: lambda K, L, _: 100 * L * K,
    LAPLACE: lambda K, L, _: L * K * (100 + min(L, K)),
}


def terms_of(name: str, topics: int, tokens: int, samples: int) -> float:
    """Return the terms that an estimator takes for a document, by `TERMS`; unlisted estimators count as costly."""
    listed = TERMS.get(name)
    return listed(topics, tokens, samples) if listed else max(samples, 1) * tokens**2 * topics


class Cell(NamedTuple):
    """A prior and a length.

    Attributes:
        variant: their name.
        topics: the model, phi and alpha.
        documents: D documents of L tokens that were drawn from it.
    """

    variant: str
    topics: Topics
    documents: Corpus


def variant(prior: str, tokens: int) -> str:
    """Return the variant of the rows of one prior and length, for example "alpha-0.1-tokens-50"."""
    return f"{prior}{VARIANT}{tokens}"


def priors(topics: int, alphas: Sequence[float], alpha_sums: Sequence[float]) -> dict[str, float]:
    """Return every symmetric prior's parameter by its name, "alpha-0.1" or "alpha-sum-1"."""
    named = {f"alpha-{alpha:g}": float(alpha) for alpha in alphas}
    return named | {f"alpha-sum-{total:g}": total / topics for total in alpha_sums}


def cells(topics: int, settings: Precision, seed: int) -> Iterator[Cell]:
    """Yield every prior and length with the model and the documents that were drawn for it."""
    vocabulary, words = tuple(f"w{w}" for w in range(settings.words)), settings.words
    phi = generator("precision-topics", topics=topics, words=words, gamma=settings.gamma, seed=seed).dirichlet(
        np.full(words, settings.gamma), size=topics
    )
    phi /= phi.sum(axis=1, keepdims=True)
    for prior, alpha in priors(topics, settings.alphas, settings.alpha_sums).items():
        model = Topics(phi, np.full(topics, alpha), vocabulary)
        for tokens, number in zip(settings.lengths, settings.documents, strict=True):
            rng = generator("precision-documents", topics=topics, prior=prior, tokens=tokens, seed=seed)
            drawn, _ = simulate(model, np.full(number, tokens, dtype=np.int64), rng)
            yield Cell(variant(prior, tokens), model, drawn)


class Independent(NamedTuple):
    """The values that are taken for log p.

    Attributes:
        estimator: its name.
        samples: number of samples in all; 0 for the exact value.
        truth: (D,) nats.
        variance: the mean over documents of its variance, nats^2.
    """

    estimator: str
    samples: int
    truth: Floats
    variance: float


def runs(topics: int, tokens: int, documents: int, samples: Sequence[int], work: float) -> Iterator[tuple[str, int]]:
    """Yield the estimators and numbers of samples that take at most `work` terms.

    A deterministic estimator has 0 samples; numbers of samples are multiplied by the fewest that an estimator takes.
    """
    for name in [*likelihood_estimators(), REFERENCE]:
        for count in [0] if ESTIMATORS[name].deterministic else [n * ESTIMATORS[name].fewest for n in sorted(samples)]:
            if documents * terms_of(name, topics, tokens, count) <= work:
                yield name, count


def experiment(job: Job, settings: Precision) -> Results:
    """Return every estimator's errors on drawn documents, by prior, length and number of samples.

    An estimator that would take more than `work` terms, about a nanosecond each, for the documents of a length is not
    run.

    Returns:
        No score; and measurements of corpus and model "none" and the variant "PRIOR-tokens-L", in nats per document.
        On the axis "samples" (0 for a deterministic estimator) "bias-ESTIMATOR" and "rms-error-ESTIMATOR", with
        standard errors from the spread over documents, and "stated-error-ESTIMATOR", the root mean square of the
        standard errors that it states itself (missing where it states none); "reference-error-NAME" and
        "reference-bias-NAME" at the samples of the reference of that name, 0 where it is the exact value. On the axis
        "tokens" at L "documents", D. The reference's estimator is measured up to half of its samples.

    Raises:
        InputError: for numbers of documents that do not fit the lengths.
    """
    topics, lengths, documents = job.topics, settings.lengths, settings.documents
    if len(lengths) != len(documents):
        raise InputError(f"precision: {len(documents)} numbers of documents for {len(lengths)} lengths; give as many")
    recorder = job.recorder()
    for cell in cells(topics, settings, job.seed):
        tokens, number = int(cell.documents.lengths[0]), cell.documents.n_documents
        draws = number * tokens * (tokens - 1) / 2
        fewest, terms = FAR_MORE, [number * TERMS[CHIB](topics, tokens, n) for n in (0, 1)]
        most = {
            SEQUENTIAL: settings.reference_draws / max(1.0, draws),
            # two halves, each with the terms that precede its samples
            CHIB: (settings.reference_work - 2 * terms[0]) / (terms[1] - terms[0]),
        }
        even = {name: max(fewest, int(min(n, settings.most_reference_samples)) // 2 * 2) for name, n in most.items()}
        axes: Axes = {"topics": topics, "cell": cell.variant, "seed": job.seed}
        reference = _independent(cell, even, axes)
        planned = runs(topics, tokens, number, settings.samples, settings.work)
        _measure(recorder.at(variant=cell.variant), cell, reference, planned, axes)
    return recorder.results


def _independent(cell: Cell, samples: Mapping[str, int], axes: Axes) -> Independent:
    """Return the exact values, or the better of two references, each with its number of `samples`."""
    exact = exact_within(cell.topics, cell.documents, AFFORDABLE)
    if exact is not None:
        return Independent(EXACT, 0, exact.log_likelihood, 0.0)
    references = []
    for name, count in samples.items():
        a, b = (
            estimate(
                name,
                cell.topics,
                cell.documents,
                count // 2,
                generator("precision-reference", estimator=name, half=half, **axes),
            ).log_likelihood
            for half in (0, 1)
        )
        references.append(Independent(name, count, (a + b) / 2, float(((a - b) ** 2).mean()) / 4))
    sequential, chib = references
    shortfall = float((sequential.truth - chib.truth).mean())
    allowed = 2 * math.sqrt((sequential.variance + chib.variance) / len(chib.truth))
    return chib if chib.variance < sequential.variance and shortfall <= allowed else sequential


def _measure(
    recorder: Recorder, cell: Cell, reference: Independent, planned: Iterator[tuple[str, int]], axes: Axes
) -> None:
    """Record the measurements of one cell."""
    number, tokens = cell.documents.n_documents, cell.documents.lengths[0]
    recorder.measure(DOCUMENTS, number, axis="tokens", position=tokens)
    bias = -reference.variance
    for name, count in planned:
        if name == reference.estimator and CLEARLY_MORE * count > reference.samples:
            continue
        rng = generator("precision", estimator=name, samples=count, **axes)
        evaluation = estimate(name, cell.topics, cell.documents, count, rng)
        errors = evaluation.log_likelihood - reference.truth
        if name == reference.estimator == SEQUENTIAL and FAR_MORE * count <= reference.samples:
            # the last of these counts is the largest
            bias = min(0.0, float(errors.mean()) / (reference.samples / (2 * count) - 1))
        recorder.mean(BIAS + name, errors, axis="samples", position=count)
        squares = errors**2
        error = math.sqrt(max(0.0, float(squares.mean()) - reference.variance))
        # the standard error of the mean square, and of its root by the delta method; where the reference leaves less
        # than that, the root is taken to be as large as that
        spread = float(squares.std(ddof=1)) / math.sqrt(number)
        root_error = spread / (2 * max(error, math.sqrt(spread / 2))) if spread else 0.0
        recorder.measure(ERROR + name, error, axis="samples", position=count, error=root_error)
        if not ESTIMATORS[name].deterministic and not np.isnan(evaluation.standard_error).any():
            stated = math.sqrt(float((evaluation.standard_error**2).mean()))
            recorder.measure(STATED + name, stated, axis="samples", position=count)
    most, name = reference.samples, reference.estimator
    recorder.measure(REFERENCE_ERROR + name, math.sqrt(reference.variance), axis="samples", position=most)
    recorder.measure(REFERENCE_BIAS + name, bias, axis="samples", position=most)
