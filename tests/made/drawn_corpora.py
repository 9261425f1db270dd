"""Made-up scores of models of drawn corpora, as Buntine (2009, section 4.2) describes them."""

import math
from typing import Any

import pandas as pd

from artifact.contrasts.inputs import Inputs
from artifact.papers.buntine.experiments.model_selection import (
    LESS_REFERENCE,
    PARTICLE_FILTER,
    READING,
    trained_on,
    with_many,
)
from artifact.papers.buntine.readings import LOGS, RESAMPLED
from artifact.results.measurements import COLUMNS as MEASURED
from artifact.results.scores import COLUMNS
from heldout.evaluators import PARTICLES, SEQUENTIAL

SIZES = (100, 400, 1600)
GRIDS = {"s10": (5, 10, 20), "s10s": (5, 10, 20), "s40": (20, 40, 60)}
TRUE = {"s10": 10, "s10s": 10, "s40": 40}
EVALUATORS = (
    PARTICLE_FILTER,
    SEQUENTIAL,
    PARTICLES,
    "mean-field-importance",
    "mean-field-bound",
    "full-folding-in",
    "half-folding-in",
)
TOKENS, ERROR = 1000, 0.1  # tokens scored, and every estimate's standard error in nats
BIAS_ERROR, MANY = 1e-4, 200  # standard error of a bias, nats per token; samples of the check


def nats(corpus: str, evaluator: str, topics: int, size: int, seed: int) -> float:
    """Return a log-likelihood per token: best at the true K, better with documents, worse and worse by particles."""
    distance = abs(math.log(topics / TRUE[corpus]))
    value = -6.0 - 0.1 * seed - distance * 0.2 - 5.0 / math.sqrt(size)
    if evaluator == PARTICLES:
        value += distance * 0.02 - 0.05 - 0.002 * size / 100.0 * (20.0 if size == SIZES[-1] else 1.0)
    if evaluator in ("mean-field-importance", "chib"):
        value -= 0.0001
    if evaluator == "full-folding-in":
        value += 0.1 * math.log(topics)
    return value


def biases(corpus: str, topics: int, size: int, seed: int, gap: float) -> dict[str, float]:
    """Return what estimators and readings say less the reference, nats per token."""
    at = (topics, size, seed)
    particles = nats(corpus, PARTICLES, *at) - nats(corpus, PARTICLE_FILTER, *at)
    few = nats(corpus, SEQUENTIAL, *at) - nats(corpus, PARTICLE_FILTER, *at)
    known = {PARTICLES: particles, SEQUENTIAL: few, with_many(MANY): few + gap}
    return known | {READING + RESAMPLED: particles, READING + LOGS: -0.001}


def row(corpus: str, model: str, variant: str, topics: int, evaluator: str, seed: int, value: float) -> tuple[Any, ...]:
    """Return a score of so many nats per token."""
    tokens = TOKENS // 2 if evaluator == "half-folding-in" else TOKENS
    error = math.nan if "folding" in evaluator else 0.0 if evaluator == "mean-field-bound" else ERROR
    key = (corpus, model, variant, topics, 0.0, "best", evaluator, 20, seed)
    return (*key, 10, tokens, 0, 0, value * tokens, math.exp(-value), error)


def rows(
    corpora: tuple[str, ...],
    seeds: tuple[int, ...] = (0,),
    gap: float = 0.0002,
    times: int = 1,
    evaluators: tuple[str, ...] = EVALUATORS,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return scores and measurements; `gap` (nats per token) is what many samples add to the sequential sampler's.

    Training sizes are said to be `times` as large.
    """
    scores: list[tuple[Any, ...]] = []
    measurements: list[tuple[Any, ...]] = []
    for corpus in corpora:
        for seed in seeds:
            for evaluator in evaluators:
                for topics in GRIDS[corpus]:
                    for size in SIZES:
                        value = nats(corpus, evaluator, topics, size, seed)
                        scores.append(row(corpus, "lda", trained_on(times * size), topics, evaluator, seed, value))
                offset = {"mean-field-bound": -0.02, PARTICLES: -0.001}.get(evaluator, 0.0)
                scores.append(row(corpus, "truth", "truth", TRUE[corpus], evaluator, seed, -5.9 + offset))
            models = [("lda", trained_on(times * size), k, size) for k in GRIDS[corpus] for size in SIZES]
            for model, variant, topics, size in (*models, ("truth", "truth", TRUE[corpus], SIZES[0])):
                chain = "best" if model == "lda" else "none"
                for name, value in biases(corpus, topics, size, seed, gap).items():
                    quantity = name + LESS_REFERENCE
                    key = (corpus, model, variant, topics, 0.0, chain, seed, quantity, "documents", 5)
                    measurements.append((*key, value, BIAS_ERROR))
    return scores, measurements


def drawn(
    *,
    corpora: tuple[str, ...] = ("s10", "s10s", "s40"),
    seeds: tuple[int, ...] = (0,),
    gap: float = 0.0002,
    times: int = 1,
    evaluators: tuple[str, ...] = EVALUATORS,
    synthetic: bool = False,
) -> Inputs:
    """Return inputs of these rows alone."""
    scores, measurements = rows(corpora, seeds, gap, times, evaluators)
    return Inputs(
        scores=pd.DataFrame(scores, columns=list(COLUMNS)),
        corpora=pd.DataFrame(
            [("reuters", str(synthetic).lower(), 0, 0)],
            columns=["corpus", "synthetic", "train_documents", "test_documents"],
        ),
        study={"study": "drawn", "table_1_also": [], "corpora": {"reuters": {"test_documents": 4}}},
        measurements=pd.DataFrame(measurements, columns=list(MEASURED)),
    )
