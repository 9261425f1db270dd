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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import EXACT, of_likelihood
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.measurements import Measurement, mean_of
from heldout.scores import Score
from heldout.seeds import generator
from heldout.topics import Topics

NONE = "none"  # for the corpus, the model and the chain of what was drawn
TOKENS = "tokens"
ERROR, MEAN, RATIO = "error-", "mean-error-", "mean-ratio-"  # and the estimator's name
FEWEST_PAIRS = 2  # that a standard deviation needs

Float = NDArray[np.float64]


def variant(gamma: float) -> str:
    """Return the variant that the rows of one gamma have, such as "gamma-0.5"."""
    return f"gamma-{gamma:g}"


def draw_pair(
    rng: np.random.Generator, *, topics: int, words: int, tokens: int, gamma: float, alpha: float
) -> tuple[Float, NDArray[np.intp]]:
    """Draw a model, phi (K, J), and the words of a document of it, (L,)."""
    phi = rng.dirichlet(np.full(words, gamma), size=topics)
    theta = rng.dirichlet(np.full(topics, alpha))
    z = rng.choice(topics, size=tokens, p=theta)
    return phi, np.array([rng.choice(words, p=phi[k]) for k in z])


def side_by_side(pairs: Sequence[tuple[Float, NDArray[np.intp]]], alpha: float) -> tuple[Topics, Corpus, float]:
    """Return pairs of one K as one set of topics and one corpus, and log c, which each token takes off a log p.

    Args:
        pairs: models, (K, J), and documents, (L,) word indices of the model.
        alpha: the Dirichlet parameter of every topic.

    Returns:
        Topics over the pairs' own words and a last one that no document has; the D documents; log c in nats.
    """
    columns, streams, start = [], [], 0
    for phi, document in pairs:
        own, stream = np.unique(document, return_inverse=True)
        columns.append(phi[:, own])
        streams.append((stream + start).astype(np.int32))
        start += len(own)
    probabilities = np.concatenate(columns, axis=1)
    factor = 2.0 ** math.ceil(math.log2(max(1.0, probabilities.sum(axis=1).max())))
    probabilities = probabilities / factor
    rest = np.maximum(0.0, 1.0 - probabilities.sum(axis=1, keepdims=True))
    vocabulary = tuple(f"w{i}" for i in range(start + 1))
    topics = Topics(np.concatenate([probabilities, rest], axis=1), np.full(len(rest), alpha), vocabulary)
    nothing = Corpus(NONE, vocabulary, np.zeros(0, np.int32), np.zeros(1, np.int64), (), {"synthetic": True})
    documents = nothing.with_streams(streams, tuple(f"pair {i}" for i in range(len(pairs))))
    return topics, documents, math.log(factor)


def experiment(
    *,
    seed: int,
    gammas: Sequence[float] = (0.2, 0.5, 1.0, 3.0),
    pairs: int = 100,
    more_pairs: int = 1000,
    samples: int = 200,
    topics: int = 4,
    words: int = 1000,
    tokens: int = 14,
    alpha: float = 0.1,
) -> tuple[list[Score], list[Measurement]]:
    """Return every estimator's errors on drawn pairs of a model and a document.

    Args:
        seed: determines the draws.
        gammas: the Dirichlet parameters of the topics, one set of pairs each.
        pairs: how many pairs have their errors reported one by one.
        more_pairs: how many pairs, those among them, the mean error is taken over.
        samples: what every estimator is given as its samples.
        topics: K.
        words: J.
        tokens: L.
        alpha: the Dirichlet parameter of theta.

    Returns:
        No score; and measurements of the variant "gamma-G", of corpus and model "none", in nats per document:
        "exact-marginal" and "error-ESTIMATOR" on the axis "pair", the latter with the estimator's own standard error;
        and "mean-error-ESTIMATOR" and "mean-ratio-ESTIMATOR", of estimate / exact probability, on the axis "pairs" at
        their number, the standard errors from the spread over pairs; and there "tokens", L.

    Raises:
        InputError: for fewer than 2 pairs, or fewer in all than reported one by one, or a parameter not positive.
    """
    if not FEWEST_PAIRS <= pairs <= more_pairs:
        raise InputError(f"calibration: {pairs} pairs of {more_pairs}; take 2 or more, and no more than more_pairs")
    if min(topics, words, tokens) < 1 or min(alpha, *gammas) <= 0.0:
        raise InputError("calibration: topics, words and tokens must be 1 or more, alpha and every gamma positive")
    rows = []
    for gamma in gammas:
        drawn = [
            draw_pair(
                generator("calibration-pair", gamma=float(gamma), pair=pair, seed=seed),
                topics=topics,
                words=words,
                tokens=tokens,
                gamma=gamma,
                alpha=alpha,
            )
            for pair in range(more_pairs)
        ]
        named: dict[str, Any] = {
            "corpus": NONE,
            "model": NONE,
            "variant": variant(gamma),
            "topics": topics,
            "smoothing": 0.0,
            "chain": NONE,
            "seed": seed,
        }
        together, documents, log_factor = side_by_side(drawn, alpha)
        exact = exact_marginal(together, documents).log_likelihood
        rows += [
            Measurement(quantity=EXACT, axis="pair", at=i, value=float(exact[i] + tokens * log_factor), **named)
            for i in range(pairs)
        ]
        rows.append(Measurement(quantity=TOKENS, axis="pairs", at=more_pairs, value=float(tokens), **named))
        for name, evaluation in _evaluations(together, documents, samples, gamma=float(gamma), seed=seed):
            errors = exact - evaluation.log_likelihood
            rows += [
                Measurement(
                    quantity=ERROR + name,
                    axis="pair",
                    at=i,
                    value=float(errors[i]),
                    standard_error=float(evaluation.standard_error[i]),
                    **named,
                )
                for i in range(pairs)
            ]
            rows += [
                mean_of(values, quantity=quantity + name, axis="pairs", at=more_pairs, **named)
                for quantity, values in ((MEAN, errors), (RATIO, np.exp(-errors)))
            ]
    return [], rows


def _evaluations(
    topics: Topics, documents: Corpus, samples: int, *, gamma: float, seed: int
) -> Iterator[tuple[str, Evaluation]]:
    for name in of_likelihood():
        rng = generator("calibration", estimator=name, gamma=gamma, seed=seed)
        yield name, estimate(name, topics, documents, samples, rng)
