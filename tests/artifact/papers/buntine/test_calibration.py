"""Table 1's pairs: that putting them side by side changes nothing, and that errors have the stated sign and unit."""

import math
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.buntine.experiments import calibration
from artifact.papers.buntine.experiments.calibration import draw_pair, experiment, side_by_side
from artifact.papers.buntine.settings import Calibration
from artifact.results.measurements import Measurement
from artifact.results.scores import Score
from artifact.study.steps import run_experiment
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators import likelihood_estimators
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.topics import Topics

SMALL: dict[str, Any] = {"gammas": [0.5], "pairs": 3, "more_pairs": 5, "samples": 20, "words": 30, "tokens": 6}
SMALL |= {"topics": 4, "alpha": 0.1}


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give two estimators: one that is too high by 1 nat, and one right on average with an error of 0.5 nats."""

    def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
        exact = exact_marginal(topics, documents).log_likelihood
        noise = np.ones(len(exact)) if name == "harmonic-mean" else rng.standard_normal(len(exact)) * 0.5
        return Evaluation(exact + noise, documents.lengths, np.full(len(exact), 0.25 * samples))

    monkeypatch.setattr(calibration, "estimate", estimate)
    monkeypatch.setattr(calibration, "likelihood_estimators", lambda: ["harmonic-mean", "left-to-right"])


def run(**given: Any) -> tuple[list[Score], list[Measurement]]:
    return run_job(experiment, Calibration, **given)


def rows(found: list[Measurement], quantity: str, axis: str) -> list[Measurement]:
    return sorted(m for m in found if m.quantity == quantity and m.axis == axis)


@pytest.mark.parametrize("gamma", [0.2, 3.0])
def test_pairs_side_by_side_are_the_pairs_alone(gamma: float) -> None:
    rng = np.random.default_rng(0)
    pairs = [draw_pair(rng, topics=3, words=8, tokens=7, gamma=gamma, alpha=0.4) for _ in range(12)]
    topics, documents, log_factor = side_by_side(pairs, alpha=0.4)
    assert log_factor > 0.0  # 12 documents of 8 words hold more than all probability, so phi was divided
    for function in (exact_marginal, mean_field_bound):
        together = function(topics, documents)
        np.testing.assert_array_equal(together.tokens, 7)
        for i, (phi, document) in enumerate(pairs):
            words = tuple(f"w{w}" for w in range(8))
            alone = Corpus("one", words, document.astype(np.int32), np.array([0, 7]), ("d",))
            expected = function(Topics(phi, np.full(3, 0.4), words), alone).log_likelihood[0]
            assert together.log_likelihood[i] + 7 * log_factor == pytest.approx(expected, rel=1e-12)


def test_two_tokens_of_a_document_are_as_often_the_same_word_as_the_model_says() -> None:
    rng = np.random.default_rng(1)
    K, J, gamma, alpha, draws = 3, 5, 0.7, 0.4, 4000
    same = 0
    for _ in range(draws):
        _, document = draw_pair(rng, topics=K, words=J, tokens=2, gamma=gamma, alpha=alpha)
        same += document[0] == document[1]
    one_topic = (alpha + 1.0) / (K * alpha + 1.0)  # both tokens of one topic; then E sum phi^2, else 1 / J
    p = one_topic * (gamma + 1.0) / (J * gamma + 1.0) + (1.0 - one_topic) / J
    assert abs(same - draws * p) < 4.42 * math.sqrt(draws * p * (1.0 - p))  # false alarm 1e-5


@pytest.mark.usefixtures("_fake")
def test_an_estimate_too_high_has_a_negative_error() -> None:
    scores, found = run(**SMALL)
    assert scores == []
    errors = rows(found, "error-harmonic-mean", "pair")
    assert [m.at for m in errors] == [0, 1, 2]
    assert [m.value for m in errors] == pytest.approx([-1.0] * 3, abs=1e-12)
    assert {(m.corpus, m.model, m.variant, m.topics, m.standard_error) for m in errors} == {
        ("none", "none", "gamma-0.5", 4, 5.0)
    }
    (mean,) = rows(found, "mean-error-harmonic-mean", "pairs")
    assert mean.at == 5
    assert mean.value == pytest.approx(-1.0)
    assert mean.standard_error == pytest.approx(0.0, abs=1e-12)
    (ratio,) = rows(found, "mean-ratio-harmonic-mean", "pairs")
    assert ratio.value == pytest.approx(math.e)
    assert [(m.at, m.value) for m in rows(found, "tokens", "pairs")] == [(5, 6.0)]


@pytest.mark.usefixtures("_fake")
def test_the_mean_is_over_all_pairs_and_the_first_of_them_are_reported() -> None:
    all_reported = run(**{**SMALL, "pairs": 5})[1]
    found = run(**SMALL)[1]
    every = [m.value for m in rows(all_reported, "error-left-to-right", "pair")]
    assert [m.value for m in rows(found, "error-left-to-right", "pair")] == every[:3]
    (mean,) = rows(found, "mean-error-left-to-right", "pairs")
    assert mean.value == pytest.approx(np.mean(every))
    assert mean.standard_error == pytest.approx(np.std(every, ddof=1) / math.sqrt(5))
    exact = rows(found, "exact-marginal", "pair")
    assert len(exact) == 3
    assert all(6 * math.log(1 / 30) * 2 < m.value < 0.0 for m in exact)


@pytest.mark.usefixtures("_fake")
def test_a_gamma_draws_the_same_whatever_others_are_measured() -> None:
    alone = run(**SMALL)[1]
    two = run(**{**SMALL, "gammas": [3.0, 0.5]})[1]
    assert sorted(alone) == sorted(m for m in two if m.variant == "gamma-0.5")
    assert sorted(alone) != sorted(run(seed=1, **SMALL)[1])


def test_the_table_has_every_estimator_of_the_likelihood() -> None:
    assert "exact-marginal" not in likelihood_estimators()
    assert "document-completion" not in likelihood_estimators()
    assert {"harmonic-mean", "left-to-right-sequential", "mean-field-bound"} <= set(likelihood_estimators())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": 1}, "at pairs: "),
        ({"pairs": 6}, "no more than more_pairs"),
        ({"gammas": [0.0]}, "at gammas/0: "),
        ({"tokens": 0}, "at tokens: "),
    ],
)
def test_refuses_what_it_cannot_draw(changed: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(**{**SMALL, **changed})


def test_it_runs_by_name_without_a_corpus() -> None:
    given: dict[str, Any] = {"topics": 0, "seed": 0, "test_documents": 0, "fold_in_settings": {}}
    by_name = run_experiment(calibration.__name__, Calibration, None, [], "none", settings=SMALL, **given)
    assert repr(by_name.measurements) == repr(run(**SMALL)[1])  # NaN is not equal to itself
