"""The table of interpretations: which rows it has, and what those about estimators and the likelihood say."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import made_measurements as made
import pandas as pd
from small_study import inputs, interpretations, small_study, without

from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.papers import PAPERS
from heldout.papers.buntine.results import PUBLISHED
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
        calibration={"alpha": 0.3, "tokens": made.TOKENS_OF_PAIR},
        optimism={"samples": 77, "work": 1e8, "least_samples": 3, "limit": 3e10},
        convergence_to_exact={"numbers_of_topics": [4, 5], "tokens": [14, 16]},
        model_selection={
            "training_documents": [30, 60],
            "samples": {"left-to-right-sequential": 20},
            "chains": 4,
            "sweeps": 90,
            "alpha_sum": 20.0,
            "beta": 0.2,
        },
    )
    lines = interpretations(measures=settings)

    def row(part: str) -> str:
        (line,) = [line for question, line in lines.items() if part in question]
        return line

    assert r"every \(\alpha_k\) is 0.3" in row("the prior \\(\\alpha")
    assert "LRS, 77 sweeps" in row("no exact value")
    assert "but 3 at least" in row("no exact value")
    assert r"both: \(K\) of 4 and 5, with \(L\) of 14 and 16" in row("Figures 1 and 2")
    assert "30 and 60 training documents, the last 10 held out, samples: 20 (LRS), not set (LR)" in row(
        "numbers of documents"
    )
    assert "what the study has time for" in row("numbers of documents")
    assert "90 sweeps" in row("vanilla")
    assert "of 4 chains" in row("vanilla")
    assert "28251 words" in row("news collection")
    assert "2{,}000 documents" in row("lengths")
    assert "a mean of 60" in row("lengths")
    # the published figure is put in, the harmonic mean's at the smallest gamma
    mean = float(PUBLISHED[0.2][0][0])
    assert rf"ours \ensuremath{{-{-mean:.4f}}} bits per token, \ensuremath{{-{-mean * made.BITS:.2f}}}" in row("unit")


def test_the_sources_own_sizes_are_not_called_cut() -> None:
    study = small_study()
    realistic = {**study["realistic"], "test_documents": 10_000}
    samples = {"left-to-right-sequential": 100, "left-to-right": 100, "mean-field-importance": 200}
    sizes = {"training_documents": [1000, 2500, 5000, 10000, 20000, 30000, 40000], "samples": samples}
    lines = interpretations(measures=asked(model_selection=sizes), realistic=realistic)
    (line,) = [line for question, line in lines.items() if "numbers of documents" in question]
    assert "as in the source" in line


def test_measured_effects_about_estimators() -> None:
    lines = interpretations()

    def row(part: str) -> str:
        (line,) = [line for question, line in lines.items() if part in question]
        return line

    assert r"\ensuremath{+0.0007}, \ensuremath{0.0000}, \ensuremath{+0.0046}, \ensuremath{+0.0051} bits per" in row(
        "LRS, 3.6"
    )
    for name in ("LR, mean error", "no resampling, mean error"):
        assert name in row("LR, 3.5: sweeps")
    # the second run is off twice as far as the first, which is off by 0.4 nats over the root of the samples
    error = 0.4 / made.SAMPLES[-1] ** 0.5 * 2.5**0.5 / made.BITS
    assert f"LRS is {error:.4f} bits per token (r.m.s.) off after 10{{,}}000 samples" in row("Figures 1 and 2")
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
