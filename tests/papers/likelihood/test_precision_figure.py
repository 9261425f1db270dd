"""The figure of error against work, from made-up measurements."""

import math
from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from made_measurements import precision as precision_rows
from small_study import inputs

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS, Measurement
from heldout.papers.likelihood.exhibits import precision
from heldout.papers.likelihood.experiments.precision import TERMS
from heldout.typesetting import style


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def given(measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    table = pd.DataFrame([astuple(m) for m in measurements], columns=list(COLUMNS))
    return replace(inputs(synthetic=synthetic), measurements=table)


def test_panels_hold_errors_in_percent_against_work() -> None:
    found = precision.panels(given(precision_rows()))
    assert [(p.prior, p.topics, p.tokens) for p in found] == [
        ("alpha-sum-1", 20, 50),
        ("alpha-0.1", 20, 50),
        ("alpha-sum-1", 100, 150),
        ("alpha-0.1", 100, 150),
    ]
    for panel in found:
        K, L = panel.topics, panel.tokens
        chib, linear = np.array(panel.points["chib"]), np.array(panel.points["linear-time"])
        expected = [(S, TERMS["chib"](K, L, S), 100.0 * math.expm1(0.02 / math.sqrt(S))) for S in (1, 10, 100)]
        np.testing.assert_allclose(chib, expected)
        np.testing.assert_allclose(linear, [(0, TERMS["linear-time"](K, L, 0), 100 * math.expm1(0.2))])


def test_the_star_is_at_the_least_work_that_is_enough() -> None:
    for panel in precision.panels(given(precision_rows())):
        assert panel.cheapest is not None
        name, samples, terms, percent = panel.cheapest
        enough = {(n, S): t for n, points in panel.points.items() for S, t, p in points if p <= precision.WANTED}
        assert terms == min(enough.values()) == enough[name, samples]
        assert percent <= precision.WANTED
    figure = precision.draw(given(precision_rows()))
    for axis, panel in zip(figure.axes, precision.panels(given(precision_rows())), strict=True):
        (star,) = [line for line in axis.get_lines() if line.get_marker() == "*"]
        assert panel.cheapest is not None
        np.testing.assert_allclose(np.asarray(star.get_xdata(), dtype=float), [panel.cheapest[2]])
        assert [text.get_text().partition(",")[0] for text in axis.texts] == [ESTIMATORS[panel.cheapest[0]].label]


def test_no_error_is_below_what_is_known_of_the_reference_and_none_may_be_enough() -> None:
    hidden = given(precision_rows(known=2.0))
    for panel in precision.panels(hidden):
        assert panel.known == pytest.approx(100 * math.expm1(2.0 / panel.tokens))
        assert min(percent for points in panel.points.values() for _, _, percent in points) == pytest.approx(
            panel.known
        )
        assert panel.cheapest is None
    for axis in precision.draw(hidden).axes:
        assert not [line for line in axis.get_lines() if line.get_marker() == "*"]


def test_the_first_seed_is_drawn_and_one_size_makes_one_column() -> None:
    both = given([replace(m, value=9 * m.value) for m in precision_rows(seed=1)] + precision_rows())
    assert precision.panels(both) == precision.panels(given(precision_rows()))
    one = [m for m in precision_rows() if m.topics == 4 and m.variant == "alpha-0.1-tokens-10"]
    assert [(p.prior, p.topics, p.tokens) for p in precision.panels(given(one))] == [("alpha-0.1", 4, 10)]
    assert len(precision.draw(given(one)).axes) == 1


def test_a_study_of_synthetic_data_says_so() -> None:
    for synthetic in (True, False):
        figure = precision.draw(given(precision_rows(), synthetic=synthetic))
        said = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert said == [synthetic] * 4


def test_refuses_what_was_not_measured() -> None:
    for unmeasured in (given([]), replace(inputs(), measurements=None)):
        with pytest.raises(InputError, match="no precision was measured"):
            precision.draw(unmeasured)
