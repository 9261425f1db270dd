"""Buntine's tables: marks, notes, dashes where nothing was measured, and times beside the published ones."""

from dataclasses import replace

import pandas as pd
import pytest
from made_measurements import calibration, measured
from small_study import inputs, without

from artifact.papers.buntine.results import LABELS
from artifact.papers.buntine.tables import errors_beside_published, errors_of_all, timings
from heldout.errors import InputError
from heldout.evaluators import CHIB, EXACT, HARMONIC, PARTICLES, likelihood_estimators


def test_a_figure_that_differs_bears_a_mark_and_no_other() -> None:
    changed = measured(calibration(changes={(0.5, PARTICLES): (0.0128 + 0.05, 0.0429), (3.0, HARMONIC): (-0.044, 0.2)}))
    table = errors_beside_published(changed)
    assert table.count(r"$^{\dagger}$") == 2 + 1  # and the note
    assert "2 of the 40" in table
    assert r"0.0628$^{\dagger}$" in table
    assert r"0.2000$^{\dagger}$" in table


def test_every_method_has_its_row_at_every_gamma() -> None:
    table = errors_beside_published(measured(calibration()))
    body = [line for line in table.split(r"\bottomrule")[0].splitlines() if line.startswith(tuple(LABELS.values()))]
    assert len(body) == 20
    assert all(line.count("&") == 7 for line in body)
    assert table.count("$") % 2 == 0
    assert table.count("{") == table.count("}")
    assert "1{,}000 pairs" in table


def test_what_was_not_measured_is_a_dash() -> None:
    table = errors_beside_published(measured(calibration((0.5,))))
    assert table.count("& -- & -- & -- & --") == 15
    others = errors_of_all(measured(calibration((0.5,))))
    lines = [line for line in others.splitlines() if line.endswith(r"\\") and " & -- & -- & " in line]
    assert len(lines) == len(likelihood_estimators())
    assert all(line.count("&") == 8 for line in lines)
    with pytest.raises(InputError, match="measure calibration first"):
        errors_beside_published(inputs(without("calibration")))
    with pytest.raises(InputError, match="measure calibration first"):
        errors_of_all(inputs(without("calibration")))


def test_timings_stand_beside_the_published_ones() -> None:
    benchmarks = pd.DataFrame({"estimator": [EXACT, CHIB], "milliseconds": [0.01, 2.0]})
    table = timings(replace(inputs(), benchmarks=benchmarks))
    assert r"346{,}000 & 0.01\\" in table
    assert r"Chib-style & -- & 2\\" in table
    assert r"LRS & 4.3 & --\\" in timings(inputs())
