"""The generated parts of README.md and docs, and RESULTS.md, are those of the committed reference results."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from artifact.contrasts.effect import shown
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers import PAPERS
from artifact.study.study import from_yaml
from artifact.typesetting.contrasts_table import at_most_topics
from artifact.typesetting.readme import commands, effect, law, results, studies, update
from heldout.errors import InputError

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data/reference/paper"
COMMANDS = ROOT / "data/reference/commands.csv"
STUDIES = ROOT / "workflow/studies"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    study = tmp_path_factory.mktemp("shown") / "study.json"
    study.write_text(json.dumps(from_yaml((ROOT / "workflow/studies/paper.yaml").read_text())))
    read = Inputs.read(
        study,
        *(REFERENCE / name for name in ("scores.csv", "corpora.csv")),
        groups=REFERENCE / "groups.csv.gz",
        timings=[REFERENCE / "timings.csv"],
        measurements=REFERENCE / "measurements.csv.gz",
        notes=REFERENCE / "notes.csv.gz",
        papers=PAPERS,
    )
    contrasts = [contrast for paper in PAPERS for contrast in paper.part("contrasts")]
    return replace(read, effects={one.name: tuple(effects(one, read)) for one in contrasts})


def test_the_generated_parts_are_current(inputs: Inputs) -> None:
    parts = {
        "README.md": {"law": law(inputs), "effect": effect(inputs), "commands": commands(COMMANDS)},
        "docs/reproduce.md": {"studies": studies(COMMANDS, STUDIES)},
    }
    for name, made in parts.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert update(ROOT / name, made) == text, f"{name} is behind: run `make readme`"


def test_the_results_are_current_and_hold_every_estimate(inputs: Inputs) -> None:
    text = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    assert results(inputs) == text, "RESULTS.md is behind: run `make readme`"
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert all(len(row) == 3 for row in rows)
    known = [effect for own in inputs.effects.values() for effect in at_most_topics(own)]
    estimates = {number.rstrip(",") for row in rows for number in row[2].split(" ")}
    assert {shown(one)[0] for one in known} <= estimates


@pytest.mark.parametrize(("name", "lines", "size"), [("README.md", 120, 12_000), ("RESULTS.md", 400, 40_000)])
def test_front_pages_are_short(name: str, lines: int, size: int) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= lines
    assert len(text.encode()) <= size


@pytest.mark.parametrize("name", ["README.md", "RESULTS.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-") for line in re.findall("#+(.*)", text)
    }
    for link in re.findall(r"\]\(([^)]*)\)", text):
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        assert not anchor or anchor in headings, link


def test_the_pictures_are_there() -> None:
    shown = re.findall(
        r"\((data/reference/[^)]*\.png)\)|src=\"(data/reference/[^\"]*\.png)\"", (ROOT / "README.md").read_text()
    )
    assert shown
    for names in shown:
        assert (ROOT / "".join(names)).read_bytes().startswith(b"\x89PNG")


def test_a_part_without_its_marks_is_refused(tmp_path: Path) -> None:
    page, marks = tmp_path / "page.md", "<!-- one: written -->\nstale\n<!-- /one -->\n"
    page.write_text(f"before\n{marks}after\n")
    assert update(page, {"one": "a \\1 b\n"}) == "before\n<!-- one: written -->\na \\1 b\n<!-- /one -->\nafter\n"
    for spoilt in ("", marks * 2):
        page.write_text(spoilt)
        with pytest.raises(InputError, match=r"page\.md"):
            update(page, {"one": ""})


def test_minutes_are_of_whole_jobs_over_two_cores(tmp_path: Path) -> None:
    path = tmp_path / "commands.csv"
    path.write_text("command,does,seconds,memory_mb,machine\nmake demo,Runs it,90,1500,a machine\n")
    jobs_of_a_part = "experiment,x,none,law,2,0,240,120,100\n"
    head = "rule,corpus,model,variant,topics,seed,seconds,cpu_seconds,memory_mb\n"
    jobs = "fit,x,lda,main,2,0,1200,600,300\ntraining,x,lda,main,2,0,1000,500,900\n"
    for name in ("paper", "gallery"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "timings.csv").write_text(head + jobs + jobs_of_a_part * (name == "paper"))
    lines = commands(path).splitlines()
    assert lines[2] == "| `make demo` | Runs it | 1.5 | 1.5 GB |"
    assert lines[3].endswith("| 12 | 0.3 GB |")
    rows = {row.split(" | ")[0].strip("| "): row for row in studies(path, STUDIES).splitlines()[2:]}
    assert rows["`paper`"].endswith("| 12 | 6 | 0.3 GB |")
    assert rows["`gallery`"].endswith("| 10 | 5 | 0.3 GB |")
    assert rows["its part `law`"].endswith("| 2 | 1 | 0.1 GB |")


def test_commands_that_were_not_timed_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"commands\.csv"):
        commands(tmp_path / "commands.csv")


def test_the_reference_is_small() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.parent.rglob("*") if path.is_file()) < 12_000_000


@pytest.mark.long
def test_the_readme_shows_what_an_audit_prints() -> None:
    pytest.importorskip("sklearn")
    script = "import pictures; print(pictures.begun(pictures.audited()))"
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "docs", check=True, capture_output=True, text=True
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```\n{shown.stdout}```\n<!-- /audit -->" in text, "README.md is behind: run `make readme`"
