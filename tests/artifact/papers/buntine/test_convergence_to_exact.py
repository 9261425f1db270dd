"""Figures 1 and 2: what is drawn, how runs are named, and the units."""

import math
from typing import Any

import numpy as np
import pytest
from made_jobs import run as run_job

from artifact.papers.buntine.experiments import convergence_to_exact
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS, experiment
from artifact.papers.buntine.settings import ConvergenceToExact
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.topics import Topics

SMALL: dict[str, Any] = {"numbers_of_topics": [2, 3], "tokens": [5, 4], "words": 20, "samples": [3, 9], "runs": 2}
SMALL |= {"gamma": 0.5, "alpha": 0.1}
calls: list[tuple[str, int, float]] = []


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    calls.clear()

    def estimate(name: str, topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator) -> Evaluation:
        exact = exact_marginal(topics, documents).log_likelihood
        calls.append((name, samples, rng.random()))
        return Evaluation(exact + 1.0 / samples, documents.lengths, np.full(len(exact), 0.5))

    monkeypatch.setattr(convergence_to_exact, "estimate", estimate)


def test_every_run_of_every_size_stands_beside_the_exact_value() -> None:
    scores, found = run_job(experiment, ConvergenceToExact, **SMALL)
    assert scores == []
    for topics, tokens in ((2, 5), (3, 4)):
        own = [m for m in found if m.topics == topics]
        (exact,) = [m for m in own if m.quantity == "exact-marginal"]
        assert (exact.axis, exact.at, exact.chain) == ("tokens", tokens, "none")
        assert 2 * tokens * math.log(1 / 20) < exact.value < 0.0
        for method in METHODS:
            estimates = [m for m in own if m.quantity == f"estimate-{method}"]
            assert sorted((m.chain, m.at) for m in estimates) == [("0", 3), ("0", 9), ("1", 3), ("1", 9)]
            for m in estimates:
                assert m.value - exact.value == pytest.approx(1.0 / m.at, abs=1e-12)
                assert (m.axis, m.variant, m.standard_error) == ("samples", "gamma-0.5", 0.5)


def test_a_run_keeps_its_random_numbers_as_samples_grow() -> None:
    run_job(experiment, ConvergenceToExact, **SMALL)
    streams = {(name, draw) for name, _, draw in calls}
    assert len(calls) == 2 * len(streams) == 2 * 2 * len(METHODS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tokens": [5]}, "one number of tokens"),
        ({"numbers_of_topics": [2, 2]}, "at numbers_of_topics: "),
        ({"samples": [0, 3]}, "at samples/0: "),
        ({"gamma": 0.0}, "at gamma: "),
    ],
)
def test_refuses_lists_that_do_not_pair_up_and_what_is_not_positive(changed: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_job(experiment, ConvergenceToExact, **{**SMALL, **changed})
