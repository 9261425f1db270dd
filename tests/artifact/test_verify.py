"""The numbers on which the paper stands: the committed ones pass, and one that moved fails."""

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from artifact.__main__ import main
from artifact.contrasts.effect import read_effects, write_effects
from artifact.papers.likelihood.headline import NUMBERS
from artifact.verify import ERRORS, NO_RUN, verify
from heldout.errors import InputError

REFERENCE = Path(__file__).parents[2] / "data/reference/paper/effects.csv"


def test_a_run_with_the_committed_effects_passes_and_one_that_moved_a_number_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(set(NUMBERS)) == len(NUMBERS)
    output, moved = tmp_path / "verification.md", tmp_path / "effects.csv"
    asked = ["verify", "--reference", str(REFERENCE), "--output", str(output)]
    assert main([*asked, str(REFERENCE)]) == 0
    assert output.read_text().count("| pass |") == len(NUMBERS)
    assert NO_RUN not in output.read_text()
    effects = [one for found in read_effects(REFERENCE).values() for one in found]
    place = next(n for n, one in enumerate(effects) if (one.contrast, one.corpus, one.part) == NUMBERS[0])
    for machine, errors, status in (("x86_64", 1e-9, 1), ("aarch64", 1.0, 0), ("aarch64", 2.0 * ERRORS, 1)):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        changed = replace(effects[place], estimate=effects[place].estimate + errors * effects[place].error)
        write_effects(moved, [*effects[:place], changed, *effects[place + 1 :]])
        assert main([*asked, str(moved)]) == status
        assert output.read_text().count("| FAIL |") == status
        assert NO_RUN in output.read_text()  # no scores beside it


def test_a_number_that_was_not_run_fails_and_another_reference_is_refused(tmp_path: Path) -> None:
    effects = [one for found in read_effects(REFERENCE).values() for one in found]
    write_effects(tmp_path / "few.csv", [one for one in effects if one.contrast != "gap-plsa"])
    found = verify(tmp_path / "few.csv", REFERENCE)
    assert [one.place[0] for one in found if not one.passed] == ["gap-plsa"] * 4
    with pytest.raises(InputError, match="gap-plsa"):
        verify(REFERENCE, tmp_path / "few.csv")
