r"""Section 4.1 of Buntine (2009), his Table 1: estimators of log p(w | alpha, phi) held to the exact value.

A pair is a model and a document. The model has K topics phi_k ~ Dirichlet(gamma) over J words, gamma and alpha the same
for every word and topic; the document has L tokens, theta ~ Dirichlet(alpha), z_l ~ theta, w_l ~ phi_{z_l}. An
estimator's error on a pair has the sign of the table, in which code lengths are compared:

    (-log estimate) - (-log exact) = log p(w | alpha, phi) - estimate of it,        in nats per document.

So an estimate that is too high has a negative error. An estimate that is unbiased as a probability is too low in its
logarithm, by about half its variance in nats^2 (Jensen's inequality); so the mean of estimate / p(w | alpha, phi),
which is then 1, is measured too.

All pairs are evaluated in one call. Every estimator is a function of the probabilities phi[k, w] of a document's own
words, and dividing all of phi by c divides p(w | alpha, phi) and every estimate of it by c^L. So the words of all pairs
stand side by side in one vocabulary, each pair's own words with its own topics' probabilities over a common c, and one
more word takes the rest of each topic; L log c is added back to the result. With c a power of 2 no digit changes.
Estimators of another quantity than p(w | alpha, phi), such as document completion, are left out.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from artifact.papers.buntine.settings import Calibration
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import EXACT, likelihood_estimators
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

NONE = "none"  # name of the corpus, the model and the chain of drawn documents
TOKENS = "tokens"
ERROR, MEAN, RATIO = "error-", "mean-error-", "mean-ratio-"  # beginnings of quantities; the estimator's name follows


def variant(gamma: float) -> str:
    """Return the variant of the rows of one gamma, for example "gamma-0.5"."""
    return f"gamma-{gamma:g}"


def draw_pair(
    rng: np.random.Generator, *, topics: int, words: int, tokens: int, gamma: float, alpha: float
) -> tuple[Floats, NDArray[np.intp]]:
    """Draw a model, phi (K, J), and the words of a document of it, (L,)."""
    phi = rng.dirichlet(np.full(words, gamma), size=topics)
    theta = rng.dirichlet(np.full(topics, alpha))
    z = rng.choice(topics, size=tokens, p=theta)
    return phi, np.array([rng.choice(words, p=phi[k]) for k in z])


def side_by_side(pairs: Sequence[tuple[Floats, NDArray[np.intp]]], alpha: float) -> tuple[Topics, Corpus, float]:
    """Return pairs of one K as one set of topics and one corpus, and log c, which each token takes off a log p.

    The pairs are models, (K, J), and documents, (L,) word indices of the model; alpha is the parameter of every topic.
    The topics stand over the pairs' own words and a last one that no document has; log c is in nats.
    """
    columns, streams, start = [], [], 0
    for phi, document in pairs:
        words, stream = np.unique(document, return_inverse=True)
        columns.append(phi[:, words])
        streams.append((stream + start).astype(np.int32))
        start += len(words)
    probabilities = np.concatenate(columns, axis=1)
    factor = 2.0 ** math.ceil(math.log2(max(1.0, probabilities.sum(axis=1).max())))
    probabilities = probabilities / factor
    rest = np.maximum(0.0, 1.0 - probabilities.sum(axis=1, keepdims=True))
    vocabulary = tuple(f"w{i}" for i in range(start + 1))
    topics = Topics(np.concatenate([probabilities, rest], axis=1), np.full(len(rest), alpha), vocabulary)
    nothing = Corpus(NONE, vocabulary, np.zeros(0, np.int32), np.zeros(1, np.int64), (), {"synthetic": True})
    documents = nothing.with_streams(streams, tuple(f"pair {i}" for i in range(len(pairs))))
    return topics, documents, math.log(factor)


def experiment(job: Job, settings: Calibration) -> Results:
    """Return every estimator's errors on drawn pairs of a model and a document.

    Returns:
        No score; and measurements of the variant "gamma-G", of corpus and model "none", in nats per document:
        "exact-marginal" and "error-ESTIMATOR" on the axis "pair", the latter with the estimator's own standard error;
        and "mean-error-ESTIMATOR" and "mean-ratio-ESTIMATOR", of estimate / exact probability, on the axis "pairs" at
        their number, the standard errors from the spread over pairs; and there "tokens", L.

    Raises:
        InputError: for fewer pairs in all than reported one by one.
    """
    pairs, more_pairs, tokens = settings.pairs, settings.more_pairs, settings.tokens
    if pairs > more_pairs:
        raise InputError(f"calibration: {pairs} pairs of {more_pairs}; take no more than more_pairs")
    recorder = job.recorder(topics=settings.topics)
    for gamma in settings.gammas:
        drawn = [
            draw_pair(
                generator("calibration-pair", gamma=gamma, pair=pair, seed=job.seed),
                topics=settings.topics,
                words=settings.words,
                tokens=tokens,
                gamma=gamma,
                alpha=settings.alpha,
            )
            for pair in range(more_pairs)
        ]
        row = recorder.at(variant=variant(gamma))
        together, documents, log_factor = side_by_side(drawn, settings.alpha)
        exact = exact_marginal(together, documents).log_likelihood
        for i in range(pairs):
            row.measure(EXACT, exact[i] + tokens * log_factor, axis="pair", position=i)
        row.measure(TOKENS, tokens, axis="pairs", position=more_pairs)
        for name, evaluation in _evaluations(together, documents, settings.samples, gamma=gamma, seed=job.seed):
            errors = exact - evaluation.log_likelihood
            for i in range(pairs):
                row.measure(ERROR + name, errors[i], axis="pair", position=i, error=evaluation.standard_error[i])
            row.mean(MEAN + name, errors, axis="pairs", position=more_pairs)
            row.mean(RATIO + name, np.exp(-errors), axis="pairs", position=more_pairs)
    return recorder.results


def _evaluations(
    topics: Topics, documents: Corpus, samples: int, *, gamma: float, seed: int
) -> Iterator[tuple[str, Evaluation]]:
    for name in likelihood_estimators():
        rng = generator("calibration", estimator=name, gamma=gamma, seed=seed)
        yield name, estimate(name, topics, documents, samples, rng)
