"""The exponents and laws that the benchmarks of cost fit."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scripts import script

from heldout.errors import InputError


@pytest.fixture(scope="module")
def cost() -> Any:
    yield from script("cost")


@pytest.fixture(scope="module")
def growth() -> Any:
    yield from script("growth")


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


@pytest.mark.parametrize(("constant", "power"), [(0.0, 1.25), (0.7, 1.0), (2.0, 0.5), (0.1, 2.0)])
def test_a_law_with_a_constant_predicts_two_octaves_beyond(growth: ModuleType, constant: float, power: float) -> None:
    x = growth.axis_values(30)
    assert (len(x), x[0], x[-2], x[-1]) == (growth.POINTS + 1, 30, 3000, 12000)
    y = [constant + 3e-3 * value**power for value in x]
    law = growth.fit(x[:-1], y[:-1])
    assert law.power == pytest.approx(power, abs=1e-3)
    assert law.at(x[-1]) == pytest.approx(y[-1], rel=1e-3)


def test_a_law_needs_four_positive_points(growth: ModuleType) -> None:
    for x, y in (([1, 2, 3], [1.0, 2.0, 3.0]), ([1, 2, 3, 4], [0.0, 1.0, 2.0, 3.0])):
        with pytest.raises(InputError, match="four or more"):
            growth.fit(x, y)


def test_the_tables_of_growth_say_where_a_prediction_fails(growth: ModuleType, tmp_path: Path) -> None:
    x = growth.axis_values(300)
    linear = [growth.Point(1e-6 * value, 1e-3 * value) for value in x]
    broken = [*linear[:-1], growth.Point(2e-6 * x[-1], 1e-3 * x[-1])]
    measured = {("LDA", "documents"): (x, linear), ("PLSA", "documents"): (x, broken)}
    table = growth.markdown(measured, rounds=1)
    lda, plsa = (next(row for row in table.splitlines() if row.startswith(f"| {task} | ")) for task in ("LDA", "PLSA"))
    assert "| 1.00 | 120,000 | 0.12 | +0 % | yes |" in lda
    assert "| 1.00 | 120,000 | 0.24 | -50 % | no |" in plsa
    assert "| LDA | 1,000,000 | 0.278 | 1 | 0.4 |" in table  # 1,000 sweeps of 1 s; 1 GB
    growth.picture(measured, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
