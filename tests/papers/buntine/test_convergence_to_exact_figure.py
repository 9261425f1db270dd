"""Figures 1 and 2: a row of panels per pair, the exact value among the curves, and the error of the runs."""

import math
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from heldout.papers.buntine.exhibits.convergence_to_exact import draw
from made_measurements import EXACT, SAMPLES, convergence_to_exact
from small_study import inputs, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS
from heldout.typesetting import style


def measured(pairs: tuple[int, ...] = (4, 5)) -> Inputs:
    rows = [astuple(row) for row in convergence_to_exact(pairs)]
    return replace(inputs(), measurements=pd.DataFrame(rows, columns=list(COLUMNS)))


def test_the_curves_are_code_lengths_and_their_errors() -> None:
    with style.applied():
        figure = draw(measured())
    assert len(figure.axes) == 6
    for row, topics in ((0, 4), (1, 5)):
        whole, close, error = figure.axes[3 * row : 3 * row + 3]
        tokens, exact = EXACT[topics]
        bits = tokens * math.log(2.0)
        lines = {str(line.get_label()): line for line in whole.get_lines()}
        assert set(lines) == {"exact", "HM", "MFI (1st order)", "MFI (2nd order)", "LR", "LRS"}
        assert np.asarray(lines["exact"].get_ydata())[0] == pytest.approx(-exact / bits)
        expected = -(exact + 0.4 / np.sqrt(SAMPLES)) / bits
        np.testing.assert_allclose(np.asarray(lines["LRS"].get_ydata(), dtype=float), expected)
        squared = (0.4 / np.sqrt(SAMPLES)) ** 2
        rms = np.sqrt((squared + 4.0 * squared) / 2.0) / bits  # the second run is off twice as far
        np.testing.assert_allclose(np.asarray(error.get_lines()[-1].get_ydata(), dtype=float), rms)
        low, high = close.get_ylim()
        assert low < -exact / bits < high
        assert high - low < whole.get_ylim()[1] - whole.get_ylim()[0]
        assert f"$K = {topics}$, $L = {tokens}$" in whole.get_ylabel()
        assert error.get_yscale() == "log"


def test_one_pair_is_one_row() -> None:
    with style.applied():
        assert len(draw(measured((5,))).axes) == 3


def test_says_what_to_measure() -> None:
    with pytest.raises(InputError, match="measure convergence-to-exact first"):
        draw(inputs(without("convergence-to-exact")))
