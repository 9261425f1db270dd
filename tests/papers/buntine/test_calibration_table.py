"""Table 1: the published figures against one another, and the marks against draws of which the answer is known."""

import math
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from heldout.papers.buntine.exhibits.calibration_table import (
    GAMMAS,
    LABELS,
    PUBLISHED,
    Cell,
    cells,
    differing,
    fits,
    p_value,
    render,
    render_others,
    render_timings,
    z_of_deviations,
    z_of_means,
)
from made_measurements import Changes, calibration
from small_study import inputs, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS
from heldout.papers.buntine.experiments.calibration import estimators
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS


def measured(gammas: tuple[float, ...] = GAMMAS, changes: Changes | None = None) -> Inputs:
    rows = [astuple(row) for row in calibration(gammas, changes)]
    return replace(inputs(), measurements=pd.DataFrame(rows, columns=list(COLUMNS)))


def test_the_published_rows_that_do_not_fit_together() -> None:
    misfits = {
        (gamma, LABELS[name])
        for gamma, rows in PUBLISHED.items()
        for name, printed in zip(METHODS, rows, strict=True)
        if not fits(*printed)
    }
    assert misfits == {(0.2, "MFI (2nd order)"), (0.5, "LRS"), (1.0, "LR")}


def test_a_printed_t_fits_up_to_rounding_and_no_further() -> None:
    assert fits("0.10", "0.50", "2.00")
    assert fits("0.10", "0.50", "2.12")  # 0.105 / 0.0495
    assert not fits("0.10", "0.50", "2.14")
    assert not fits("0.10", "0.50", "-2.00")


def test_equal_figures_bear_no_mark() -> None:
    found = cells(measured())
    assert differing(found) == {}
    for (gamma, name), cell in found.items():
        if name in METHODS:
            mean, deviation = map(float, PUBLISHED[gamma][METHODS.index(name)][:2])
            assert cell.mean == pytest.approx(mean)
            assert cell.deviation == pytest.approx(deviation)
            assert cell.bias_error * math.sqrt(cell.bias_pairs) == pytest.approx(deviation)


def test_a_cell_that_differs_is_marked_and_no_other() -> None:
    changed = measured(changes={(0.5, "left-to-right"): (0.0128 + 0.05, 0.0429), (3.0, "harmonic-mean"): (-0.044, 0.2)})
    assert set(differing(cells(changed))) == {(0.5, "left-to-right", "mean"), (3.0, "harmonic-mean", "s.d.")}
    table = render(changed)
    assert table.count(r"$^{\dagger}$") == 2 + 1  # and the note
    assert "2 of the 40" in table
    assert r"0.0628$^{\dagger}$" in table
    assert r"0.2000$^{\dagger}$" in table


@pytest.mark.parametrize("heavy", [False, True])
def test_both_tests_are_about_as_often_beyond_their_limit_as_they_say(heavy: bool) -> None:
    # with Student's t on 9 degrees of freedom (excess kurtosis 1.2) as well; 4,000 tables: 5 % is 200 +- 14
    rng = np.random.default_rng(1)
    draws = rng.standard_t(9, (4000, 200)) if heavy else rng.standard_normal((4000, 200))
    means = deviations = 0
    for row in draws:
        ours, theirs = row[:100], row[100:]
        cell = Cell(ours, 0.0, 1.0, 1000)
        means += p_value(z_of_means(cell, float(theirs.mean()), float(theirs.std(ddof=1)))) < 0.05
        deviations += p_value(z_of_deviations(cell, float(theirs.std(ddof=1)))) < 0.05
    assert 140 < means < 261  # 4.4 standard errors: 1e-5
    assert 100 < deviations < 300  # the kurtosis is estimated: between 2.5 % and 7.5 %


def test_every_method_has_its_row_at_every_gamma() -> None:
    table = render(measured())
    body = [line for line in table.split(r"\bottomrule")[0].splitlines() if line.startswith(tuple(LABELS.values()))]
    assert len(body) == 20
    assert all(line.count("&") == 7 for line in body)
    assert table.count("$") % 2 == 0
    assert table.count("{") == table.count("}")
    assert "1{,}000 pairs" in table


def test_what_was_not_measured_is_a_dash() -> None:
    table = render(measured(gammas=(0.5,)))
    assert table.count("& -- & -- & -- & --") == 15
    others = render_others(measured(gammas=(0.5,)))
    lines = [line for line in others.splitlines() if line.endswith(r"\\") and " & -- & -- & " in line]
    assert len(lines) == len(estimators())
    assert all(line.count("&") == 8 for line in lines)
    with pytest.raises(InputError, match="measure calibration first"):
        render(inputs(without("calibration")))


def test_timings_stand_beside_the_published_ones() -> None:
    benchmarks = pd.DataFrame({"estimator": ["exact-marginal", "chib"], "milliseconds": [0.01, 2.0]})
    table = render_timings(replace(inputs(), benchmarks=benchmarks))
    assert r"346{,}000 & 0.01 & 35{,}000{,}000\,$\times$" in table
    assert r"Chib-style & -- & 2 & --" in table
    assert "LRS & 4.3 & -- & --" in render_timings(inputs())
