"""The exponents that the cost benchmark fits."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def cost() -> Any:
    with pytest.MonkeyPatch.context() as patch:  # the script sets thread counts for its own process
        for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
            patch.setenv(f"{library}_NUM_THREADS", "1")
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("cost")


def test_a_power_law_is_found(cost: ModuleType) -> None:
    topics = [10, 20, 50, 100, 200]
    fit = cost.exponent(topics, [3e-4 * k**1.25 for k in topics])
    assert fit.exponent == pytest.approx(1.25, rel=1e-12)
    assert fit.standard_error < 1e-12


@settings(max_examples=50)
@given(n_points=st.integers(3, 9), seed=st.integers(0, 2**32 - 1))
def test_is_the_textbooks_regression(cost: ModuleType, n_points: int, seed: int) -> None:
    logs = np.random.default_rng(seed).standard_normal(n_points)
    topics = [10 * 2**i for i in range(n_points)]
    fit = cost.exponent(topics, np.exp(logs))
    twin = stats.linregress(np.log(topics), logs)
    assert fit.exponent == pytest.approx(twin.slope, rel=1e-9, abs=1e-12)
    assert fit.standard_error == pytest.approx(twin.stderr, rel=1e-6, abs=1e-9)


def test_two_points_have_no_error(cost: ModuleType) -> None:
    with pytest.raises(InputError, match="3 or more"):
        cost.exponent([10, 20], [1.0, 2.0])


def test_what_is_paid_once_cancels(cost: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def run(units: int) -> None:
        clock[0] += 5.0 + 0.25 * units

    def seconds(work: Any) -> float:
        start = clock[0]
        work()
        return clock[0] - start

    monkeypatch.setattr(cost, "seconds", seconds)
    assert cost.per_unit(run)() == pytest.approx(0.25, rel=1e-12)


def test_the_table_holds_medians_and_both_exponents(cost: ModuleType) -> None:
    topics = [10, 50, 100, 200, 400]
    found = {("LDA", "NIPS"): [[1e-3 * k, 2e-3 * k, 9e-3 * k] for k in topics]}
    text = cost.markdown(found, topics, 3)
    assert (
        "| LDA | Gibbs sweep | NIPS | 20.00 | 100.00 | 200.00 | 400.00 | 800.00 | 1.00 ± 0.00 | 1.00 ± 0.00 |" in text
    )
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
