"""The README's generated parts are those of the committed reference results and of the workflow as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.typesetting.readme import drawing, update

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "data/reference/paper"


@pytest.fixture(scope="module")
def rulegraph() -> str:
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "mermaid-js", "--quiet", "all"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    tables = [REFERENCE / name for name in ("scores.csv", "corpora.csv", "timings.csv")]
    measurements = REFERENCE / "measurements.csv.gz"
    return Inputs.read(ROOT / "workflow/studies/paper.yaml", *tables, measurements=measurements)


def test_the_generated_parts_are_current(inputs: Inputs, rulegraph: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert update(text, inputs, rulegraph) == text, "README.md is behind: run `make readme`"


def test_the_picture_is_there() -> None:
    assert (REFERENCE / "figure-4.png").read_bytes().startswith(b"\x89PNG")


def test_lost_marks_and_another_rule_graph_are_refused(inputs: Inputs, rulegraph: str) -> None:
    with pytest.raises(InputError, match="expected one"):
        update("no marks here", inputs, rulegraph)
    with pytest.raises(InputError, match="no rules"):
        drawing("digraph {}")


def test_the_reference_is_small() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < 5_000_000
