"""The record of the run that the reference results are of."""

from pathlib import Path
from typing import Any

import pytest

from artifact.__main__ import main
from artifact.provenance import moved, parts_of, record
from artifact.results.provenance import FILE, read_provenance, sentences
from artifact.study.study import read_study
from heldout.errors import InputError

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data/reference"
TIMINGS = REFERENCE / "paper/timings.csv"
STUDY = read_study(ROOT / "workflow/studies/paper.yaml")


def of(known: dict[str, Any], commit: str, *parts: str) -> dict[str, Any]:
    return record(STUDY, known, commit, ROOT, TIMINGS, parts)


@pytest.mark.parametrize("name", ["paper", "gallery"])
def test_recorded_results_are_of_the_code_here(name: str) -> None:
    if not (REFERENCE / FILE).exists():
        pytest.skip("no results of one run are committed yet")
    recorded = read_provenance(REFERENCE / FILE).get(name)
    # an experiment whose code changes is run again, or its part taken out of the record
    assert not recorded or moved(recorded, ROOT) == []


def test_a_part_is_recorded_when_it_ends_and_parts_of_another_commit_are_not_kept() -> None:
    first = of({}, "a", "estimators")
    both = of(first, "a", "gap")
    assert [name for name, part in both["parts"].items() if part] == ["estimators", "gap"]
    assert both["parts"]["estimators"] == first["parts"]["estimators"]
    assert len(sentences(both)) == 2
    assert [name for name, part in of(both, "b", "gap")["parts"].items() if part] == ["gap"]
    whole = of({}, "a", *parts_of(STUDY))
    assert len(sentences(whole)) == 1
    total = sum(part["minutes"] for part in whole["parts"].values())
    assert total == pytest.approx(
        record(STUDY | {"parts": {}}, {}, "a", ROOT, TIMINGS, ["paper"])["parts"]["paper"]["minutes"], abs=1.0
    )
    with pytest.raises(InputError, match="no part lda"):
        of({}, "a", "lda")


def test_an_experiment_whose_code_is_another_has_moved() -> None:
    recorded = of({}, "a", "estimators")
    assert moved(recorded, ROOT) == []
    recorded["parts"]["estimators"]["code"]["validation"] = "0" * 16
    assert moved(recorded, ROOT) == ["validation"]


def test_the_step_writes_a_record_that_a_study_s_page_reads(tmp_path: Path) -> None:
    output = tmp_path / FILE
    given = [
        "provenance",
        "--timings",
        str(TIMINGS),
        "--output",
        str(output),
        str(ROOT / "workflow/studies/paper.yaml"),
    ]
    assert main([*given, "--parts", "law"]) == 0
    assert main([*given, "--parts", "gap"]) == 0
    parts = read_provenance(output)["paper"]["parts"]
    assert [name for name, part in parts.items() if part] == ["gap", "law"]
    assert set(parts["law"]["code"]) == {"law"}
    output.write_text("{")
    assert main([*given, "--parts", "gap"]) == 2
