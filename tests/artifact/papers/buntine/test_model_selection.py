"""Model selection on corpora drawn from known topics: what is scored, on which documents, and against what."""

import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with
from made_jobs import run as run_job

from artifact.papers.buntine.experiments.model_selection import (
    LESS_REFERENCE,
    PARTICLE_FILTER,
    READING,
    experiment,
    ratio,
    with_many,
)
from artifact.papers.buntine.readings import (
    LOGS,
    NEXT,
    PRODUCTS,
    READINGS,
    RESAMPLED,
    SEEN,
    SORTED,
    UNRESAMPLED,
    readings,
)
from artifact.papers.buntine.settings import ModelSelection
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.study.steps import run_experiment
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF, PARTICLES, SEQUENTIAL
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.folding_in import full_folding_in
from heldout.evaluators.left_to_right import left_to_right
from heldout.models import lda
from heldout.models.lda_growth import grow
from heldout.models.settings import LDAGrowth
from heldout.topics import Topics

WORDS, LENGTH = 12, 12
GROWN: dict[str, Any] = {
    "training_documents": [20, 60],
    "alpha_sum": 1.0,
    "beta": 0.1,
    "chains": 2,
    "first_sweeps": 20,
    "sweeps": 10,
    "optimise_every": 5,
}
SETTINGS: dict[str, Any] = {
    "training_documents": [20, 60],
    "control": {"chib": 10},
    "samples": {"mean-field-bound": 0, "document-completion": 10},
    "some_documents": 6,
    "some_samples": {SEQUENTIAL: 20, PARTICLES: 20},
    "fold_in_sweeps": 5,
    "reference_particles": 20,
    "reference_runs": 10,
    "reading_particles": 20,
    "reading_documents": 4,
    "check_samples": 40,
    "check_documents": 3,
}


@cache
def truth() -> Topics:
    """Return two topics that share few words."""
    phi = np.full((2, WORDS), 0.02)
    phi[0, :6] = phi[1, 6:] = (1.0 - 0.02 * 6) / 6
    return Topics(phi, np.array([0.3, 0.2]), tuple(f"w{w}" for w in range(WORDS)))


@cache
def corpus() -> Corpus:
    """Return documents drawn from the truth."""
    random = np.random.default_rng(5)
    theta = random.dirichlet(truth().alpha, 80)
    tokens = np.array([random.choice(WORDS, size=LENGTH, p=row @ truth().phi) for row in theta], dtype=np.int32)
    documents = tuple(f"d{d}" for d in range(80))
    return Corpus("s2", truth().vocabulary, tokens.ravel(), np.arange(81, dtype=np.int64) * LENGTH, documents)


def held_out() -> Corpus:
    return corpus().subset(range(70, 80))


@cache
def trained(topics: int) -> list[Topics]:
    return grow(corpus(), LDAGrowth(**GROWN), topics=topics, seed=3)


def run(model: Topics, **changes: Any) -> tuple[list[Score], list[Measurement]]:
    given: dict[str, Any] = {"chains": [model, truth()], "seed": 3, "test_documents": 10, **SETTINGS, **changes}
    return run_job(experiment, ModelSelection, corpus(), **given)


@cache
def found(topics: int, part: int = 0) -> tuple[list[Score], list[Measurement]]:
    return run(trained(topics)[part])


def one(scores: list[Score], variant: str, evaluator: str) -> Score:
    [row] = [score for score in scores if (score.variant, score.evaluator) == (variant, evaluator)]
    return row


def bias(measurements: list[Measurement], variant: str, name: str) -> Measurement:
    [row] = [m for m in measurements if (m.variant, m.quantity) == (variant, name + LESS_REFERENCE)]
    return row


def test_rows_of_the_model_and_once_of_the_truth() -> None:
    samples = {FULL: 1, HALF: 1, "chib": 10, **SETTINGS["samples"], **SETTINGS["some_samples"], PARTICLE_FILTER: 200}
    numbers = {SEQUENTIAL: 6, PARTICLES: 6, with_many(40): 3} | {READING + name: 4 for name in READINGS}
    for topics, part, variants in (
        (3, 0, {"trained-on-20"}),
        (2, 1, {"trained-on-60"}),
        (2, 0, {"trained-on-20", "truth"}),  # of the true number of topics, on the fewest documents
    ):
        scores, measurements = found(topics, part)
        assert Counter((s.variant, s.evaluator) for s in scores) == {(v, e): 1 for v in variants for e in samples}
        assert {s.model for s in scores} == {"truth" if v == "truth" else "lda" for v in variants}
        for s in scores:
            assert (s.corpus, s.topics, s.seed, s.documents, s.smoothing) == ("s2", topics, 3, 10, 0.0)
            assert s.chain == ("none" if s.variant == "truth" else "best")
            assert s.samples == samples[s.evaluator]
            assert s.tokens == (60 if s.evaluator in (HALF, "document-completion") else 120)
            assert math.isnan(s.standard_error) == (s.evaluator in (FULL, HALF))
        assert Counter((m.variant, m.quantity) for m in measurements) == {
            (v, name + LESS_REFERENCE): 1 for v in variants for name in numbers
        }
        assert {(m.quantity, m.at) for m in measurements} == {(n + LESS_REFERENCE, at) for n, at in numbers.items()}
        assert {m.axis for m in measurements} == {"documents"}


def test_some_documents_stand_for_all_by_the_control() -> None:
    # the true log-likelihood of 10 documents; normal bound with a false-alarm rate of 1e-5 (4.4 errors, t of 5 degrees
    # of freedom is wider: 22)
    scores, measurements = found(2)
    exact = exact_marginal(truth(), held_out()).log_likelihood.sum()
    for evaluator in (PARTICLE_FILTER, SEQUENTIAL):
        score = one(scores, "truth", evaluator)
        assert abs(score.log_likelihood - exact) < 22.0 * score.standard_error
        assert 0.0 < score.standard_error < 3.0
    # biases are of the same documents as the scores, the reference's own being none
    reference, own = (one(scores, "truth", name).log_likelihood for name in (PARTICLE_FILTER, SEQUENTIAL))
    assert bias(measurements, "truth", SEQUENTIAL).value == pytest.approx((own - reference) / 120, abs=1e-12)
    for name in (SEQUENTIAL, with_many(40), READING + RESAMPLED):
        row = bias(measurements, "truth", name)
        assert 0.0 < row.standard_error < 0.2
        assert abs(row.value) < 22.0 * row.standard_error


def test_a_ratio_and_its_error() -> None:
    tokens = np.array([10, 20, 30])
    assert ratio(0.5 * tokens, tokens) == (0.5, 0.0)
    value, error = ratio(np.array([1.0, 0.0, 2.0]), tokens)
    assert value == pytest.approx(0.05)
    # residuals 0.5, -1, 0.5: their s.d. is sqrt(1.5 / 2)
    assert error == pytest.approx(math.sqrt(3) * math.sqrt(0.75) / 60)


def test_the_documents_are_those_of_the_number_of_topics() -> None:
    # whatever was trained on; and with all of them, the control has no say
    first, second = found(2)[1], found(2, 1)[1]
    assert bias(first, "trained-on-20", PARTICLES).value != bias(second, "trained-on-60", PARTICLES).value
    whole = [
        run(trained(2)[1], some_documents=10, control={name: n})[0] for name, n in (("chib", 5), ("linear-time", 0))
    ]
    values = [one(scores, "trained-on-60", PARTICLES).log_likelihood for scores in whole]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_folding_in_is_of_the_trained_model() -> None:
    scores, _ = found(3)
    expected = full_folding_in([trained(3)[0]], held_out(), lambda t, d: fold_with(lda, t, d, seed=3, sweeps=5))
    assert one(scores, "trained-on-20", FULL).log_likelihood == pytest.approx(expected.log_likelihood.sum())


def test_it_is_found_by_name() -> None:
    scores, *_ = run_experiment(
        "artifact.papers.buntine.experiments.model_selection",
        ModelSelection,
        corpus(),
        [trained(3)[1], truth()],
        "trained-on-60",
        topics=3,
        seed=0,
        test_documents=10,
        settings=SETTINGS,
        fold_in_settings={},
    )
    assert {score.variant for score in scores} == {"trained-on-60"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training_documents": [71]}, "71 training and 10 held-out documents do not fit into the 80 of s2"),
        ({"training_documents": [0, 5]}, "at training_documents/0: "),
        ({"training_documents": []}, "at training_documents: "),
        ({"test_documents": 0}, "do not fit"),
        ({"some_samples": {SEQUENTIAL: 1}}, "some_samples lacks left-to-right; give"),
        ({"control": {}}, "at control: "),
        ({"samples": {"left": 1}}, "there is no estimator left; there are"),
        ({"some_documents": 11}, "11 documents for some estimators"),
        ({"check_documents": 7}, "7 for the check"),
        ({"reading_documents": 1}, "at reading_documents: "),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(trained(2)[0], **changes)


def test_readings_differ_as_their_definitions_do() -> None:
    phi = np.array([[0.7, 0.2, 0.06, 0.04], [0.05, 0.15, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25]])
    topics = Topics(phi, np.array([0.2, 0.1, 0.05]), ("a", "b", "c", "d"))
    documents = Corpus.from_documents("some", [("x", list("adabcd")), ("y", list("ddca")), ("z", ["b"])])
    found = readings(topics, documents, 400, np.random.default_rng(2))
    exact = exact_marginal(topics, documents).log_likelihood
    for name in (RESAMPLED, NEXT, PRODUCTS, LOGS, UNRESAMPLED):  # nothing was drawn before the only word
        assert found[name][2] == pytest.approx(exact[2], rel=1e-12)
    assert found[SEEN][0] > exact[0] + 0.5
    # a document whose words come in their order is the same sorted, but for its draws
    same = Corpus.from_documents("sorted", [("x", list("aabcdd"))])
    both = readings(topics, same.over(topics.vocabulary)[0], 4000, np.random.default_rng(4))
    for name in (RESAMPLED, NEXT, UNRESAMPLED):
        assert both[name][0] == pytest.approx(both[SORTED + name][0], abs=0.3)
    assert (found[LOGS][:2] < found[PRODUCTS][:2]).all()
    known = left_to_right(topics, documents, 4000, np.random.default_rng(3))
    # 400 particles and 4,000: normal bound with a false-alarm rate of 1e-5 (4.4 errors)
    error = math.sqrt(1.0 + 4000 / 400) * known.standard_error
    assert (np.abs(found[RESAMPLED] - known.log_likelihood)[:2] < 4.4 * error[:2]).all()
    assert found[PRODUCTS] == pytest.approx(exact, abs=0.5)
