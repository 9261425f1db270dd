"""Errors by length and samples: sign, the reference's part taken off, the choice of the reference, the work rule."""

import math
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job
from made_measurements import measured

from artifact.contrasts.effect import IS_OPEN
from artifact.contrasts.estimates import effects
from artifact.papers.likelihood.contrasts import CONTRASTS
from artifact.papers.likelihood.experiments import precision
from artifact.papers.likelihood.experiments.precision import TERMS, cells, experiment, priors, runs, terms_of
from artifact.papers.likelihood.settings import Precision
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import CHIB, EMPIRICAL, ESTIMATORS, PARTICLES, REFERENCE, SEQUENTIAL, likelihood_estimators
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

SMALL: dict[str, Any] = {"topics": 3, "seed": 0, "words": 40, "lengths": (6, 9), "documents": (400, 300)}
GRID: dict[str, Any] = {"alphas": (0.1, 1.0), "alpha_sums": (1.0,), "gamma": 0.1, "samples": (1, 10, 100)}
GRID |= {"work": 6.0e8, "reference_draws": 1.0e8, "reference_work": 1.0e9, "most_reference_samples": 4000}
NOISE = {"left-to-right-unresampled": 0.5, "harmonic-mean": 0.0, SEQUENTIAL: 0.3, CHIB: 0.2}  # nats
LOW = {"harmonic-mean": -2.0}  # nats, of log p less the estimate


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Give estimators with known errors: exact plus noise that falls with the samples, and a bias that may be set."""
    low = dict(LOW)

    def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
        exact = exact_marginal(topics, documents).log_likelihood
        noise = NOISE.get(name, 0.0) * rng.standard_normal(len(exact)) / math.sqrt(max(1, samples))
        return Evaluation(exact - low.get(name, 0.0) + noise, documents.lengths, np.full(len(exact), 0.1 / samples))

    monkeypatch.setattr(precision, "estimate", estimate)
    monkeypatch.setattr(precision, "likelihood_estimators", lambda: list(NOISE))
    return low


def run(**changes: Any) -> tuple[list[Score], list[Measurement]]:
    return run_job(experiment, Precision, **{**GRID, **SMALL, **changes})


def found(rows: list[Measurement], quantity: str, at: int, tokens: int = 6) -> Measurement:
    (row,) = [m for m in rows if m.quantity == quantity and m.at == at and m.variant == f"alpha-0.1-tokens-{tokens}"]
    return row


@pytest.mark.usefixtures("fake")
def test_an_estimate_too_high_has_a_positive_bias_and_errors_are_root_mean_squares() -> None:
    scores, rows = run(samples=(1, 4))
    assert scores == []
    assert {(m.corpus, m.model, m.topics, m.seed) for m in rows} == {("none", "none", 3, 0)}
    assert {m.variant for m in rows} == {f"alpha-{p}-tokens-{n}" for p in ("0.1", "1", "sum-1") for n in (6, 9)}
    bias, error = found(rows, "bias-harmonic-mean", 1), found(rows, "rms-error-harmonic-mean", 1)
    assert [bias.value, error.value] == pytest.approx([2.0, 2.0])
    assert max(bias.standard_error, error.standard_error) < 1e-6
    for samples in (1, 4):
        error = found(rows, "rms-error-left-to-right-unresampled", samples)
        expected, of_it = 0.5 / math.sqrt(samples), 0.5 / math.sqrt(samples) / math.sqrt(2 * 400)
        assert abs(error.value - expected) < 4.42 * of_it  # false alarm 1e-5
        assert error.standard_error == pytest.approx(of_it, rel=0.5)
        assert found(rows, "stated-error-left-to-right-unresampled", samples).value == pytest.approx(0.1 / samples)
    assert found(rows, "reference-error-exact-marginal", 0).value == 0.0
    assert found(rows, "documents", 9, tokens=9).value == 300.0


@pytest.mark.usefixtures("fake")
def test_the_references_part_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "AFFORDABLE", 0)
    _, rows = run(samples=(1,), most_reference_samples=8)
    of_reference = found(rows, "reference-error-chib", 8)  # the smaller variance
    expected = 0.2 / math.sqrt(4) / math.sqrt(2)  # two halves of 4 samples
    assert abs(of_reference.value - expected) < 4.42 * expected / math.sqrt(2 * 400)  # false alarm 1e-5
    assert found(rows, "reference-bias-chib", 8).value == pytest.approx(-(of_reference.value**2))
    error = found(rows, "rms-error-left-to-right-unresampled", 1)
    assert abs(error.value - 0.5) < 4.42 * math.sqrt((0.5**2 + expected**2) ** 2 / (2 * 400)) / 0.5
    assert found(rows, "rms-error-chib", 1).value == pytest.approx(0.2, rel=0.3)


def test_a_chib_reference_below_the_other_is_not_taken(monkeypatch: pytest.MonkeyPatch, fake: dict[str, float]) -> None:
    monkeypatch.setattr(precision, "AFFORDABLE", 0)
    fake[CHIB] = 0.5  # it has not reached all of the posterior
    _, rows = run(samples=(1, 2, 4, 8, 9), most_reference_samples=16)
    assert found(rows, "bias-chib", 1).value == pytest.approx(-0.5, abs=0.1)
    assert found(rows, "reference-error-left-to-right-sequential", 16).value > 0.0
    counted = {m.at for m in rows if m.quantity == "bias-left-to-right-sequential"}
    assert counted == {1, 2, 4, 8}  # up to half of the reference's


def test_the_bias_of_a_sequential_reference_falls_as_one_over_its_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
        exact = exact_marginal(topics, documents).log_likelihood
        value = exact - 3.0 / samples + 1e-9 * rng.standard_normal(len(exact)) - 9.0 * (name == CHIB)
        return Evaluation(value, documents.lengths, np.zeros(len(exact)))

    monkeypatch.setattr(precision, "estimate", estimate)
    monkeypatch.setattr(precision, "likelihood_estimators", lambda: [SEQUENTIAL])
    monkeypatch.setattr(precision, "AFFORDABLE", 0)
    for samples in ((1, 4), (1, 20)):  # of the latter 1 alone is far fewer than the reference's
        _, rows = run(samples=samples, most_reference_samples=40)
        assert found(rows, "reference-bias-left-to-right-sequential", 40).value == pytest.approx(-3.0 / 20, rel=1e-6)


def test_what_costs_more_than_the_work_is_not_run() -> None:
    every = set(runs(4, 10, 5, (1, 100), math.inf))
    assert {name for name, _ in every} == {*likelihood_estimators(), REFERENCE} >= set(TERMS)
    assert all((count == 0) == ESTIMATORS[name].deterministic for name, count in every)
    some = set(runs(4, 10, 5, (1, 100), 1e5))
    assert some < every
    assert all(5 * terms_of(name, 4, 10, count) <= 1e5 for name, count in some)
    assert terms_of("unknown", 4, 10, 100) > max(TERMS[name](4, 10, 100) for name in (SEQUENTIAL, EMPIRICAL))
    assert all(5 * TERMS[name](4, 10, count) > 1e5 for name, count in every - some)


def test_priors_are_those_that_users_have() -> None:
    assert priors(20, (0.1,), (1.0,)) == {"alpha-0.1": 0.1, "alpha-sum-1": 0.05}


def test_documents_have_the_lengths_and_the_topics_of_the_cell() -> None:
    small = {"lengths": (3, 5), "documents": (4, 2), "alphas": (0.1,), "alpha_sums": (), "words": 9, "gamma": 0.5}
    drawn = list(cells(2, Precision(**{**GRID, **small}), 1))
    assert [(c.variant, c.documents.lengths.tolist()) for c in drawn] == [
        ("alpha-0.1-tokens-3", [3] * 4),
        ("alpha-0.1-tokens-5", [5] * 2),
    ]
    assert drawn[0].topics.phi is drawn[1].topics.phi


def test_real_estimators_meet_the_exact_value_and_the_bound_stays_below_it() -> None:
    settings: dict[str, Any] = {"topics": 3, "seed": 2, "words": 60, "lengths": (12,), "documents": (60,)}
    few = {**settings, "documents": (3,), "samples": (1,), "work": 3e7}
    assert run(**few) == run(**few)
    _, rows = run(**settings, samples=(1, 30), work=3e7)
    for m in rows:
        if m.quantity in {"bias-mean-field-bound"}:
            assert m.value < 0.0
        if m.quantity.startswith("rms-error-") and m.at == 30:
            name = m.quantity.removeprefix("rms-error-")
            (bias,) = (b for b in rows if (b.variant, b.quantity, b.at) == (m.variant, f"bias-{name}", 30))
            assert m.value >= abs(bias.value)
            if name in {CHIB, SEQUENTIAL, "mean-field-importance", "iterated-pseudo-counts"}:
                assert 0.0 < m.value < 0.5
                assert abs(bias.value) < 4.42 * bias.standard_error + m.value**2  # Jensen's inequality; 1e-5


def test_refuses_a_grid_that_does_not_fit() -> None:
    with pytest.raises(InputError, match="1 numbers of documents for 2 lengths; give as many"):
        run(documents=(4,))
    for name, value in (("documents", (1, 4)), ("words", 0), ("lengths", (0, 4)), ("alphas", (0.0,)), ("gamma", -1.0)):
        with pytest.raises(InputError, match=f"at {name}"):
            run(**{name: value})


def test_particles_are_held_to_the_sequential_sampler_over_kinds_of_documents() -> None:
    """Twice its error and half of it, with ten samples; the rows of one are left out."""
    rows = [
        Measurement(*("none", "none", kind, 4, 0.0, "none", 0, f"rms-error-{name}", "samples", samples), value, 0.1)
        for kind, ratio in (("alpha-1-tokens-9", 2.0), ("alpha-1-tokens-5", 0.5))
        for samples in (1, 10)
        for name, value in ((PARTICLES, 0.4 * ratio), (SEQUENTIAL, 0.4))
    ]
    (contrast,) = (contrast for contrast in CONTRASTS if contrast.name == "lr-lrs-few")
    (effect,) = effects(contrast, measured(rows))
    assert (effect.part, effect.replicates, effect.finding) == ("10 samples", 2, IS_OPEN)
    assert [effect.estimate, effect.error] == pytest.approx([0.0, math.log(2.0)])
