"""The paper's recommendation is what the command names first."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from made_measurements import measured, precision

from heldout.auditing import recommended_table
from heldout.auditing.options import RecommendCommand
from heldout.auditing.recommend import ROBUST
from heldout.auditing.recommend_command import run_recommend
from heldout.evaluators import ESTIMATORS, EXACT
from heldout.evaluators.prior_names import parameter
from heldout.measurements import write_measurements
from heldout.papers.likelihood.results import precision_panels


def test_every_row_is_what_the_command_names_first(tmp_path: Path) -> None:
    rows = precision()
    given = measured(rows)
    write_measurements(tmp_path / "measurements.csv", rows)
    printed = [row for row in recommended_table.render(given).splitlines() if row.startswith(r"$\alpha_k")]
    for row, panel in zip(printed, precision_panels(given), strict=True):
        alpha = parameter(panel.prior, panel.topics)
        command = RecommendCommand(topics=panel.topics, length=panel.tokens, alpha=alpha, json=True)
        out = StringIO()
        run_recommend(replace(command, calibration=tmp_path / "measurements.csv"), out)
        best = json.loads(out.getvalue())
        cells = row.removesuffix(r"\\").split(" & ")
        assert best["estimator"] in (EXACT, *ROBUST)
        assert cells[3].removeprefix("nearest: ") == ESTIMATORS[best["estimator"]].label
        assert (cells[3].startswith("none")) != best["reached"]
        assert cells[4] == f"{best['samples']:,}".replace(",", "{,}")
        assert float(cells[5]) == pytest.approx(1e3 * best["seconds"], rel=0.05)
        assert float(cells[6]) == pytest.approx(100.0 * best["standard_error"] / panel.tokens, rel=0.07)


def test_a_size_that_was_not_timed_says_so() -> None:
    small = [replace(row, topics=row.topics + 1) for row in precision() if row.topics >= 100]
    assert "none was timed" in recommended_table.render(measured(small))
