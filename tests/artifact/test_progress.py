"""A long run says in its log how far it is, and every run what it made."""

import logging
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from artifact.contrasts.effect import Effect, write_effects
from artifact.progress import ProgressLines, outcome


def test_a_line_comes_with_a_share_of_the_jobs_and_some_minutes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    lines = ProgressLines()
    lines.emit(logging.makeLogRecord({"event": "job_info"}))
    for done in range(1, 101):
        clock[0] += 20.0 if done <= 60 else 300.0
        lines.emit(logging.makeLogRecord({"event": "progress", "done": done, "total": 100}))
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "heldout: 15 of 100 jobs done (15%) in 5 minutes"  # the minutes are what is waited for
    assert [int(line.split()[1]) for line in said] == [*range(15, 61, 15), *range(65, 100, 5)]  # and then the share


def test_a_run_ends_with_its_files_and_the_number_of_effects_by_where_they_lie(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("paper.pdf", "old.csv", "missing")]
    for path in files[:2]:
        path.touch()
    os.utime(files[1], (0.0, 0.0))
    effects = tmp_path / "effects.csv"
    effect = Effect("gap", "cranfield", "", 0, 1.0, 0.1, 2.0, "nats per token", replicates=3)
    write_effects(effects, [effect, replace(effect, contrast="other", replicates=1)])
    made, found = outcome(files, effects, time.time() - 60.0)
    assert str(files[0]) in made
    assert str(files[1]) not in made
    assert found == "2 contrasts, 2 effects: 1 above, 1 open"
    assert outcome(files[1:], effects, time.time() - 60.0) == []
