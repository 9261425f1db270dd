"""The table of interpretations: which rows it has, and what those about estimators and the likelihood say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
from small_study import inputs, interpretations, small_study, without

from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.papers import PAPERS
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, in_words, median_and_range, render, rows

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


def asked(**settings: Mapping[str, object]) -> dict[str, Any]:
    """Return the study's measurements, some with further settings (`_` for "-" in their names)."""
    measures: dict[str, Any] = small_study()["measures"]
    for name, more in settings.items():
        kind = name.replace("_", "-")
        measures[kind] = {**measures[kind], "settings": {**measures[kind].get("settings", {}), **more}}
    return measures


def test_choices_about_estimators_are_those_of_the_study() -> None:
    settings = asked(
        optimism={"samples": 77, "work": 1e8, "least_samples": 3, "limit": 3e10},
    )
    lines = interpretations(measures=settings)

    def row(part: str) -> str:
        (line,) = [line for question, line in lines.items() if part in question]
        return line

    assert "LRS, 77 sweeps" in row("no exact value")
    assert "but 3 at least" in row("no exact value")


def test_measured_effects_about_estimators() -> None:
    lines = interpretations()

    def row(part: str) -> str:
        (line,) = [line for question, line in lines.items() if part in question]
        return line

    # 0.1 nats better under the fitted prior
    assert r"PLSA-HOF, fitted: \ensuremath{-9.5}\,\%" in row("the prior of the truth")
    assert r"LRS less exact, nats per token: \ensuremath{-0.3000}" in row("no exact value")
    assert r"LDA, divided: \ensuremath{+0.002}" in row("its own error on the prior")
    assert r"undivided: \ensuremath{-0.080} (\ensuremath{-0.400} to \ensuremath{-0.012})" in row(
        "its own error on the prior"
    )
    assert r"PLSA-HOF, one step: \ensuremath{-0.010}" in row("theta_k = 0")
    assert r"penalised: \ensuremath{-0.050}" in row("NML")
    assert r"\(K = 2\): annealed less quadrature \ensuremath{+0.4000}" in row("EPCA's likelihood")


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
    words = in_words({FULL: [0.01, -0.02, 0.05], HALF: []})
    assert words == r"full \ensuremath{+1.0}\,\% (\ensuremath{-2.0}\,\% to \ensuremath{+5.0}\,\%)"
    assert in_words({FULL: [], HALF: [0.0]}) == r"half \ensuremath{0.0}\,\%"
    assert in_words({FULL: [], HALF: []}) == "not measured"


def test_an_alternative_that_fits_no_row_gets_one() -> None:
    study = small_study()
    study["alternatives"]["variants"]["plsa-hof"]["odd"] = {"train": {"temperature": 0.5}}
    lines = interpretations(alternatives=study["alternatives"])
    assert r"temperature 0.5: full \ensuremath{-10.0}\,\%" in lines["other settings"]
