"""The record of the run that the reference results are of."""

from pathlib import Path
from typing import Any

import pytest

from artifact.__main__ import main
from artifact.recording import moved, parts_of, record
from artifact.results.provenance import FILE, read_provenance, sentences
from artifact.study.study import read_study
from heldout.errors import InputError

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data/reference"
TIMINGS = REFERENCE / "paper/timings.csv"
STUDY = read_study(ROOT / "workflow/studies/paper.yaml")


def of(known: dict[str, Any], commit: str, *parts: str) -> dict[str, Any]:
    return record(STUDY, known, commit, ROOT, TIMINGS, parts)


def test_recorded_results_are_of_the_code_here() -> None:
    records = read_provenance(REFERENCE / FILE)
    assert any(part for recorded in records.values() for part in recorded["parts"].values())
    # an experiment whose code changes is run again, or its part taken out of the record
    assert [name for recorded in records.values() for name in moved(recorded, ROOT)] == []


def test_a_part_is_recorded_when_it_ends_and_one_of_other_code_is_not_kept() -> None:
    first = of({}, "a", "estimators")
    both = of(first, "b", "gap")
    assert [name for name, part in both["parts"].items() if part] == ["estimators", "gap"]
    assert both["parts"]["estimators"] == first["parts"]["estimators"]
    assert len(sentences(both)) == 2
    assert "commit a and b" in sentences(both)[0]
    both["parts"]["estimators"]["code"]["validation"] = "0" * 16
    assert [name for name, part in of(both, "b", "law")["parts"].items() if part] == ["gap", "law"]
    whole = of({}, "a", *parts_of(STUDY))
    assert len(sentences(whole)) == 1
    total, undivided = sum(part["minutes"] for part in whole["parts"].values()), STUDY | {"parts": {}}
    of_all = record(undivided, {}, "a", ROOT, TIMINGS, ["paper"])["parts"]["paper"]["minutes"]
    assert total == pytest.approx(of_all, abs=0.05 * (len(whole["parts"]) + 1))  # by rounding
    with pytest.raises(InputError, match="no job of lda;"):
        of({}, "a", "lda")


def test_an_experiment_is_recorded_before_its_part_ends() -> None:
    first = of({}, "a", "same-halves")
    assert first["parts"]["gap"]["left"] == ["choice", "long-chains", "prior-share"]
    assert "same-halves (of gap)" in sentences(first)[0]
    assert "the rest of gap" in sentences(first)[1]
    whole = of(first, "a", "choice", "long-chains", "prior-share")
    assert whole["parts"] == of({}, "a", "gap")["parts"]


def test_an_experiment_whose_code_is_another_has_moved() -> None:
    recorded = of({}, "a", "estimators")
    assert moved(recorded, ROOT) == []
    recorded["parts"]["estimators"]["code"]["validation"] = "0" * 16
    assert moved(recorded, ROOT) == ["validation"]


def test_the_step_writes_a_record_that_a_study_s_page_reads(tmp_path: Path) -> None:
    output = tmp_path / FILE
    study = str(ROOT / "workflow/studies/paper.yaml")
    given = ["provenance", "--timings", str(TIMINGS), "--output", str(output), study]
    assert main([*given, "--parts", "law"]) == 0
    assert main([*given, "--parts", "gap"]) == 0
    parts = read_provenance(output)["paper"]["parts"]
    assert [name for name, part in parts.items() if part] == ["gap", "law"]
    assert set(parts["law"]["code"]) == {"law"}
    output.write_text("{")
    assert main([*given, "--parts", "gap"]) == 2
