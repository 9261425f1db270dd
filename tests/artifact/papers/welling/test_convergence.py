"""Traces, split R-hat and drift against closed examples and slow twins."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_fits import train_with
from made_jobs import run

from artifact.papers.welling.experiments.convergence import drift, experiment
from artifact.results.measurements import Measurement
from artifact.study.settings import Nothing
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models import lda
from heldout.models.convergence import split_r_hat
from heldout.topics import Topics
from heldout.typing import Floats


def twin_r_hat(traces: list[list[float]]) -> float:
    """Return split R-hat by the book's formulas, number by number."""
    n = len(traces[0]) // 2
    halves = [half for trace in traces for half in (trace[:n], trace[len(trace) - n :])]
    m = len(halves)
    means = [sum(half) / n for half in halves]
    mean = sum(means) / m
    between = n / (m - 1) * sum((x - mean) ** 2 for x in means)
    within = sum(sum((x - a) ** 2 for x in half) / (n - 1) for half, a in zip(halves, means, strict=True)) / m
    return math.sqrt(((n - 1) / n * within + between / n) / within)


def test_r_hat_of_a_closed_example() -> None:
    # halves (0, 2), (0, 2), (4, 6), (4, 6): W = 2, means 1, 1, 5, 5, B = 2 / 3 * 16; variance 1 / 2 * 2 + 16 / 3
    traces = np.array([[0.0, 2.0, 0.0, 2.0], [4.0, 6.0, 4.0, 6.0]])
    assert split_r_hat(traces) == pytest.approx(math.sqrt(19.0 / 6.0), rel=1e-15)
    # one chain that drifts is caught because it is split: halves (0, 1), (2, 3)
    assert split_r_hat(np.array([[0.0, 1.0, 2.0, 3.0]])) == pytest.approx(math.sqrt(4.5), rel=1e-15)


@settings(max_examples=60)
@given(arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(4, 15)), elements=st.integers(-50, 50)))
def test_r_hat_is_the_books(traces: Floats) -> None:
    n = traces.shape[1] // 2
    if all(np.ptp(half) == 0.0 for trace in traces for half in (trace[:n], trace[-n:])):
        constant = np.ptp(traces[:, [0, -1]]) == 0.0
        assert split_r_hat(traces) == (1.0 if constant else math.inf)
        return
    assert split_r_hat(traces) == pytest.approx(twin_r_hat(traces.tolist()), rel=1e-12)
    assert split_r_hat(-3.0 * traces + 7.0) == pytest.approx(split_r_hat(traces), rel=1e-9)


def test_r_hat_of_independent_draws_is_near_1() -> None:
    """sqrt(1 - 1/n + F/n) with F of 39 and 39,960 degrees of freedom, n = 1000: above 1.001 never in 1e5."""
    traces = np.random.default_rng(3).standard_normal((20, 2000))
    assert 0.9995 < split_r_hat(traces) < 1.001
    traces[0] += 1.0
    assert split_r_hat(traces) > 1.01


def test_drift_of_lines_with_known_noise() -> None:
    sweeps = np.arange(10.0, 50.0, 10.0)
    noise = np.array([1.0, -1.0, -1.0, 1.0])  # orthogonal to every line
    traces = np.array([3.0 * sweeps + noise, 1.0 * sweeps - noise + 100.0])
    # 8 values less 4 parameters, squares sum to 8: deviation sqrt 2; mean slope 2 over 30 sweeps
    assert drift(sweeps, traces) == pytest.approx(60.0 / math.sqrt(2.0), rel=1e-12)
    assert drift(sweeps, np.array([noise])) == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(drift(sweeps, np.zeros((2, 4))))


def measured(chains: Sequence[Topics], corpus: Corpus | None = None, seed: int = 0) -> list[Measurement]:
    corpus = corpus or Corpus.from_documents("c", [("d", ["a", "b"])])
    scores, rows = run(experiment, Nothing, corpus, chains=chains, model="lda", variant="convergence", seed=seed)
    assert scores == []
    return rows


def chain(number: int, sweeps: list[int], trace: list[float]) -> Topics:
    provenance = {"chain": number, "log_likelihood_sweeps": sweeps, "log_likelihood": trace}
    return Topics(np.full((3, 2), 0.5), np.ones(3), ("a", "b"), provenance)


def found(rows: list[Measurement], quantity: str, chain: str = "all") -> list[tuple[int, float]]:
    return [(row.at, row.value) for row in rows if (row.quantity, row.chain) == (quantity, chain)]


def test_measures_what_real_chains_carry() -> None:
    random = np.random.default_rng(0)
    documents = [(f"d{d}", [f"w{w}" for w in random.integers(0, 20, 30)]) for d in range(10)]
    corpus = Corpus.from_documents("tiny", documents)
    chains = train_with(lda, corpus, topics=3, seed=2, alpha_sum=3.0, beta=0.1, sweeps=400, chains=2)
    rows = measured(chains, corpus, seed=2)
    traces = np.array([c.provenance["log_likelihood"] for c in chains])
    for number in (0, 1):
        points = found(rows, "log-joint", str(number))
        assert len(points) == 31
        assert [points[0][0], points[-1][0]] == [0, 400]
        assert [value for _, value in points] == [traces[number][at // 10] for at, _ in points]
    late = traces[:, 20:]  # sweeps 200, 210, ..., 400
    ((at, r_hat),), ((_, rise),) = found(rows, "r-hat"), found(rows, "drift")
    assert at == 2
    assert r_hat == pytest.approx(split_r_hat(late), rel=1e-12)
    assert rise == pytest.approx(drift(np.arange(200.0, 401.0, 10.0), late), rel=1e-9)
    assert {(row.corpus, row.model, row.variant, row.topics, row.seed) for row in rows} == {
        ("tiny", "lda", "convergence", 3, 2)
    }
    assert rows == measured(chains, corpus, seed=2)


def test_early_sweeps_do_not_count() -> None:
    sweeps = [0, 10, 20, 30, 40, 50, 60, 70]
    traces = [[-900.0, -500.0, -90.0, -50.0, 1.0, 2.0, 1.0, 2.0], [-800.0, -9.0, -70.0, -60.0, 2.0, 1.0, 2.0, 1.0]]
    rows = measured([chain(i, sweeps, t) for i, t in enumerate(traces)])
    ((_, r_hat),) = found(rows, "r-hat")
    assert r_hat == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert len(found(rows, "log-joint", "1")) == 8


def test_refuses_chains_without_a_common_trace() -> None:
    def of(*chains: Topics) -> list[Measurement]:
        return measured(chains)

    good = chain(0, list(range(8)), [0.0, 1.0] * 4)
    with pytest.raises(InputError, match="no chains"):
        of()
    with pytest.raises(InputError, match="no traces"):
        of(Topics(np.full((1, 2), 0.5), np.ones(1), ("a", "b")))
    with pytest.raises(InputError, match="no traces of one length"):
        of(good, chain(1, list(range(7)), [0.0] * 7))
    with pytest.raises(InputError, match="same sweeps"):
        of(good, chain(1, list(range(1, 9)), [0.0, 1.0] * 4))
    with pytest.raises(InputError, match="more sweeps"):
        of(chain(0, [0, 1, 2], [0.0, 1.0, 2.0]))
