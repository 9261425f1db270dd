"""Scores held to documents drawn from the model: what they are held to, and the sums over all documents."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job
from made_normalisers import log_normaliser_enumerated

from artifact.papers.likelihood.experiments import is_a_probability
from artifact.papers.likelihood.experiments.is_a_probability import (
    GAP,
    GIVEN_THETA,
    HALF_SCORES,
    KIND,
    LOG_MEAN,
    LOG_SUM,
    TRUE_MODEL,
    draw,
    experiment,
    log_ratios,
)
from artifact.papers.likelihood.experiments.optimism import PLUG_IN, PLUG_IN_EXACT
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.settings import IsAProbability
from artifact.results.measurements import Measurement
from artifact.study.settings import parse
from heldout.errors import InputError
from heldout.evaluators import COMPLETION, ESTIMATORS, EXACT, FULL, HALF, HARMONIC, NML, REFERENCE, SEQUENTIAL
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

SETTINGS: dict[str, Any] = {
    "documents": 60,
    "words": 40,
    "mean_length": 30.0,
    "samples": 10,
    "fold_in_sweeps": 5,
    "truth_samples": 5,
    "limit": 1e8,
    "sum_tokens": 5,
    "sum_samples": 20,
    "library_documents": 30,
}
ONE = parse(IsAProbability, {**SETTINGS, "truth_samples": 1, "libraries": {}}, "test")  # unbiased all the same
K = 3


@cache
def run(**changes: Any) -> list[Measurement]:
    scores, rows = run_job(experiment, IsAProbability, topics=K, libraries={}, **SETTINGS | changes)
    assert not scores
    return rows


def values(rows: list[Measurement], variant: str = KIND) -> dict[str, float]:
    return {row.quantity: row.value for row in rows if row.variant == variant}


def test_every_score_is_held_to_the_exact_truth_and_to_the_mixture_that_drew_the_documents() -> None:
    over, given = values(run()), values(run(), GIVEN_THETA)
    names = {*ESTIMATORS} - {EXACT, REFERENCE} | {FULL, HALF, PLUG_IN, PLUG_IN_EXACT, NML}
    assert names <= given.keys()
    assert over.keys() == given.keys() | {GAP, LOG_SUM, LOG_MEAN}
    assert over[GAP] == 0.0
    # what a score is held to is the same for all of a kind
    for kind in (HALF_SCORES, given.keys() - set(HALF_SCORES)):
        apart = [over[name] - given[name] for name in kind]
        assert apart == pytest.approx([apart[0]] * len(apart), abs=1e-8)
    assert min(over[FULL], given[FULL]) > 15.0  # a maximum over theta, of 60 documents
    assert over[FULL] > over[PLUG_IN_EXACT] > 15.0
    assert over[NML] < 0.0
    # a false alarm of 1e-5 by the inequality itself; the harmonic mean is too high
    assert max(over[SEQUENTIAL], over[COMPLETION], over[HALF]) < 11.6 < over[HARMONIC]


def test_without_exact_values_the_truth_is_bounded_from_both_sides() -> None:
    exact, annealed = values(run()), values(run(limit=0.0))
    assert PLUG_IN_EXACT not in annealed
    # by the inequality itself each has a false alarm of 1e-5
    assert annealed[FULL] - 11.6 <= exact[FULL] <= annealed[FULL] + annealed[GAP] + 11.6
    assert annealed[HALF] - 11.6 <= exact[HALF]


def test_second_halves_are_held_to_their_probability_given_the_first() -> None:
    rng = np.random.default_rng(0)
    topics = Topics(rng.dirichlet(np.ones(6), 2), np.array([0.5, 2.0]), tuple("abcdef"))
    lengths = np.array([2, 7, 12])
    drawn = draw(topics, lengths, ONE, {"corpus": "none", "topics": 2, "seed": 0, "model": TRUE_MODEL})
    assert drawn.documents.lengths.tolist() == lengths.tolist()
    whole, first = (exact_marginal(topics, part).log_likelihood for part in (drawn.documents, drawn.observed))
    np.testing.assert_allclose(drawn.scored_truth, whole - first, rtol=1e-12)
    assert drawn.scored.lengths.tolist() == [1, 4, 6]
    assert np.all(drawn.scored_given > drawn.given)  # fewer tokens


def test_folding_in_sums_to_the_normaliser_over_all_documents() -> None:
    rng = np.random.default_rng(1)
    topics = Topics(rng.dirichlet(np.ones(5), 3), np.full(3, 0.1), tuple("abcde"))
    expected = log_normaliser_enumerated(topics, 4)
    ratios = np.exp(log_ratios(topics, 4, 2000, 3, rng) - expected)
    assert abs(ratios.mean() - 1.0) < 4.4 * ratios.std(ddof=1) / np.sqrt(len(ratios))  # a false alarm of 1e-5


def test_a_library_is_held_to_the_model_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tomotopy")
    rng = np.random.default_rng(2)
    truth = Topics(rng.dirichlet(np.full(20, 0.3), 2), np.full(2, 0.5), tuple(f"w{v}" for v in range(20)))
    lengths = np.full(40, 20)
    corpus = draw(truth, lengths, ONE, {"corpus": "made", "topics": 2, "seed": 0, "model": TRUE_MODEL}).documents
    held: list[Topics] = []

    def recorded(topics: Topics, *rest: Any) -> is_a_probability.Drawn:
        held.append(topics)
        return draw(topics, *rest)

    monkeypatch.setattr(is_a_probability, "draw", recorded)
    given: dict[str, Any] = {**SETTINGS, "documents": 10, "chains": [truth], "libraries": {"tomotopy": 10}}
    _, rows = run_job(experiment, IsAProbability, corpus, topics=2, **given)
    assert held[0] is truth
    assert held[1].provenance != truth.provenance
    (reported,) = (row for row in rows if row.quantity == REPORTED and row.variant == KIND)
    assert (reported.model, reported.at, reported.corpus) == ("tomotopy", 10, "made-truth")
    assert reported.value < 0.0  # log p(w, z)
    with pytest.raises(InputError, match="give its own number of topics, and fewer documents"):
        run_job(experiment, IsAProbability, corpus, topics=3, **given)
    with pytest.raises(InputError, match="at libraries/mallet: "):
        run_job(experiment, IsAProbability, corpus, topics=2, **given | {"libraries": {"mallet": 1}})
