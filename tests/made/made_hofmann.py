"""Made-up scores and measurements of Hofmann's experiment, from a function of model, evaluator and dimensions."""

import math
from collections.abc import Callable, Iterable

from tables_of import measurements_table, scores_table

from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.results import (
    COARSE_COOLED,
    COOLED,
    COUNTS,
    EARLY,
    FINE_HEATED,
    FOLDED_IN,
    HEATED,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    VALIDATED,
    Model,
)
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.topics import perplexity

TOKENS = 1000
RANK = 40
TOPICS = (2, 8, 32, 64)
SEEDS = {2: (0, 1), 8: (0, 1), 32: (0,), 64: (0,)}
FEW = (2, 8)  # those that are annealed too
ERROR = 1e-3  # of what is sampled, nats per token
SETTINGS: dict[str, object] = {
    "shares": [0.7, 0.1, 0.2],
    "early_patience": 7,
    "eta": 0.9,
    "tolerance": 1e-3,
    "patience": 5,
    "annealing_topics": 8,
    "annealing_start": 0.5,
    "annealing_eta": 0.97,
    "convergence": 1e-5,
    "annealing_noise": 0.01,
    "samples": 20,
    "predictive_samples": 40,
    "prior_sums": [1, 50],
}
SAMPLED = ("reference", PREDICTIVE)

Value = Callable[[Model, str, int], float]


def as_claimed(model: Model, evaluator: str, topics: int) -> float:
    """Return nats per token for which every claim of the source holds, however its models are evaluated."""
    if model == COUNTS:
        return -math.log(1500.0)
    if model[0] == "unigram":
        return -math.log(3000.0) - (0.01 if model[1] == "maximum-likelihood" else 0.0)
    if model[0] == "lsa":
        return -math.log(2200.0) + 0.05 * math.log(topics) - 0.02 * [m[1] for m in READINGS].index(model[1])
    base = -math.log(2500.0) + 0.25 * math.log(topics)
    base -= {EARLY[1]: 0.1}.get(model[1].removesuffix(VALIDATED), 0.0)
    base += 0.05 if model[1].endswith(VALIDATED) else 0.0
    return base + {SPECIFIC: 0.0, FOLDED_IN: 1.0, PREDICTIVE: 0.1, "half-folding-in": -0.1}.get(evaluator, -0.15)


def rows(
    corpora: Iterable[str], value: Value = as_claimed, iterations: tuple[int, int] = (30, 600), by_seed: float = 0.0
) -> tuple[list[Score], list[Measurement]]:
    """Return the rows of the measurements `tempering` and `latent-semantic-analysis`.

    Args:
        corpora: their names.
        value: nats per token.
        iterations: of EM in all, heated and annealed, on the coarse schedule; on the fine one three times as many.
        by_seed: nats per token that the second seed gains.
    """
    scores: list[Score] = []
    measured: list[Measurement] = []
    for corpus in corpora:

        def score(model: Model, evaluator: str, topics: int, seed: int, corpus: str = corpus) -> None:
            nats = TOKENS * (value(model, evaluator, topics) + by_seed * seed)
            sampled = evaluator in SAMPLED
            key = (corpus, *model, topics, 0.0, "none", evaluator, 20 if sampled else 0, seed)
            scores.append(Score(*key, 9, TOKENS, 0, 3, nats, perplexity(nats, TOKENS), ERROR * TOKENS * sampled))

        for seed in (0, 1):
            for unigram in (*UNIGRAMS, COUNTS):
                score(unigram, SPECIFIC, 0, seed)
            score(COUNTS, FOLDED_IN, 0, seed)
            for reading in READINGS:
                for topics in (2, 8, 32, RANK):
                    score(reading, SPECIFIC, topics, seed)
                    if reading == READINGS[0]:
                        score(reading, FOLDED_IN, topics, seed)
            measured.append(Measurement(corpus, "lsa", "full", 0, 0.0, "none", seed, "rank", "documents", 9, RANK))
        for topics in TOPICS:
            for seed in SEEDS[topics]:
                for model in (EARLY, HEATED, *((FINE_HEATED, COOLED, COARSE_COOLED) if topics in FEW else ())):
                    place = (corpus, model[0], model[1], topics, 0.0, "none", seed)
                    score(model, SPECIFIC, topics, seed)
                    count = iterations[model in (COOLED, COARSE_COOLED)]
                    count = {EARLY: 10, FINE_HEATED: 3 * count, COOLED: 3 * count}.get(model, count)
                    chosen = {
                        "iterations": count,
                        "iterations-to-best": count - 5,
                        "beta": 1.0 if model == EARLY else 0.81,
                    }
                    measured += [Measurement(*place, name, "topics", topics, at) for name, at in chosen.items()]
                    if model not in (EARLY, HEATED):
                        continue
                    score(model, FOLDED_IN, topics, seed)
                    score(model, "half-folding-in", topics, seed)
                    for name in ("", VALIDATED):
                        given = (model[0], model[1] + name)
                        for evaluator in SAMPLED:
                            score(given, evaluator, topics, seed)
                        if name:
                            where = (corpus, *given, topics, 0.0, "none", seed)
                            measured.append(Measurement(*where, "prior-sum", "topics", topics, 10.0 * (1 + seed)))
                            measured.append(Measurement(*where, "prior-sum-of-truth", "topics", topics, 5.0))
                        if topics == min(TOPICS):
                            score(given, "exact-marginal", topics, seed)
    return scores, measured


def hofmann_inputs(
    corpora: Iterable[str],
    value: Value = as_claimed,
    iterations: tuple[int, int] = (30, 600),
    *,
    by_seed: float = 0.0,
    synthetic: bool = False,
) -> Inputs:
    """Return the small study with the scores and measurements of this experiment alone."""
    from small_study import corpora_table, small_study  # which may take its rows from here

    study = small_study()
    where = {"corpora": list(corpora), "seeds": [0, 1]}
    study["measures"]["tempering"] = {**where, "settings": dict(SETTINGS)}
    study["measures"]["latent-semantic-analysis"] = {**where, "settings": {"constants": [0.01, 0.1]}}
    scores, measured = rows(corpora, value, iterations, by_seed)
    return Inputs(
        scores=scores_table(scores),
        corpora=corpora_table(study, synthetic=synthetic),
        study=study,
        measurements=measurements_table(measured),
    )
