"""The table of interpretations: which rows it has, and what those about estimators say."""

from dataclasses import replace

import pandas as pd
from small_study import inputs, interpretations, small_study, without

from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.papers import PAPERS
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, changes_in_words, median_and_range, render, rows

KINDS = (
    "calibration",
    "convergence-to-exact",
    "optimism",
    "epca-marginal",
    "model-selection",
    "latent-semantic-analysis",
    "tempering",
)
ROWS: list[Interpretation] = [row for paper in PAPERS for row in paper.part("interpretations")]


def test_every_choice_has_a_row() -> None:
    assert set(interpretations()) == {row.question for row in ROWS}
    assert len({row.question for row in ROWS}) == len(ROWS)


def test_a_row_on_what_the_study_does_not_measure_is_left_out() -> None:
    for kind in KINDS:
        unmeasured = Inputs(pd.DataFrame(), pd.DataFrame(), without(kind), papers=PAPERS)
        assert rows(unmeasured) == tuple(row for row in ROWS if row.measure != kind)
    assert {row.measure for row in ROWS} == {*KINDS, ""}


def test_without_rows_effects_are_not_measured() -> None:
    bare = inputs()
    bare = replace(bare, measurements=bare.measurements.iloc[:0], scores=bare.scores.iloc[:0])  # type: ignore[union-attr]
    lines = render(bare).splitlines()
    for row in ROWS:
        if not row.measure:
            continue
        (line,) = [line for line in lines if line.startswith(f"{row.question} & ")]
        assert line.endswith(r"& not measured\\")


def test_numbers_with_signs() -> None:
    assert latex.signed(-0.00004, 4) == r"\ensuremath{0.0000}"
    assert latex.signed(1234.5, 1) == r"\ensuremath{+1{,}234.5}"
    assert median_and_range([3.0, 1.0, 2.0], str) == "2.0 (1.0 to 3.0)"
    assert median_and_range([3.0], str) == "3.0"


def test_median_and_range_in_words() -> None:
    words = changes_in_words({FULL: [0.01, -0.02, 0.05], HALF: []})
    assert words == r"full \ensuremath{+1.0}\,\% (\ensuremath{-2.0}\,\% to \ensuremath{+5.0}\,\%)"
    assert changes_in_words({FULL: [], HALF: [0.0]}) == r"half \ensuremath{0.0}\,\%"
    assert changes_in_words({FULL: [], HALF: []}) == "not measured"


def test_an_alternative_that_fits_no_row_gets_one() -> None:
    study = small_study()
    study["alternatives"]["variants"]["plsa-hof"]["odd"] = {"train": {"temperature": 0.5}}
    lines = interpretations(alternatives=study["alternatives"])
    assert r"temperature 0.5: full \ensuremath{-10.0}\,\%" in lines["other settings"]
