"""Buntine's tables: ours beside the published, and dashes where nothing was measured."""

import pytest
from made_measurements import calibration, measured
from small_study import inputs, without

from artifact.papers.buntine.results import LABELS
from artifact.papers.buntine.tables import errors_beside_published, errors_of_all
from heldout.errors import InputError
from heldout.evaluators import PARTICLES, likelihood_estimators


def test_every_method_has_a_row_for_two_gammas() -> None:
    table = errors_beside_published(measured(calibration(changes={(0.5, PARTICLES): (0.0628, 0.0429)})))
    body = [line for line in table.splitlines() if line.startswith(tuple(LABELS.values()))]
    assert len(body) == 10
    assert all(line.count("&") == 8 for line in body)
    assert r"LR & 0.0032 & 0.00320 & 0.0256 & 0.0256 & 0.0128 & 0.0628 & 0.0429 & 0.0429\\" in table
    assert table.count("$") % 2 == 0
    assert table.count("{") == table.count("}")


def test_what_was_not_measured_is_a_dash() -> None:
    table = errors_beside_published(measured(calibration((0.5,))))
    assert table.count("& --") == 30
    others = errors_of_all(measured(calibration((0.5,))))
    lines = [line for line in others.splitlines() if line.endswith(r"\\") and " & -- & -- & " in line]
    assert len(lines) == len(likelihood_estimators())
    assert all(line.count("&") == 8 for line in lines)
    with pytest.raises(InputError, match="measure calibration first"):
        errors_beside_published(inputs(without("calibration")))
    with pytest.raises(InputError, match="measure calibration first"):
        errors_of_all(inputs(without("calibration")))
