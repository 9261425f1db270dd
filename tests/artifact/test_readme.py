"""README.md's generated parts and RESULTS.md are those of the committed reference results."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from artifact.papers import PAPERS
from artifact.study.study import from_yaml, with_frozen
from artifact.typesetting.exhibits import exhibits
from artifact.typesetting.readme import costs, results, update
from artifact.verdicts.claims import judge
from artifact.verdicts.history import Change, read_history
from artifact.verdicts.inputs import Inputs
from heldout.errors import InputError

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "data/reference/paper"
COMMANDS = ROOT / "data/reference/commands.csv"
STUDIES = ROOT / "workflow/studies"
ONE_COMMAND = "command,does,seconds,memory_mb,machine\nmake demo,Runs it,90,1500,two cores\n"


@pytest.fixture(scope="module")
def unjudged(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    study = tmp_path_factory.mktemp("shown") / "study.json"
    settings = from_yaml((ROOT / "workflow/studies/paper.yaml").read_text())
    shown, frozen, _ = with_frozen(settings, REFERENCE.parent)
    study.write_text(json.dumps(shown))
    return Inputs.read(
        study,
        *(REFERENCE / name for name in ("scores.csv", "corpora.csv")),
        groups=REFERENCE / "groups.csv.gz",
        timings=[folder / "timings.csv" for folder in (REFERENCE, *frozen)],
        measurements=REFERENCE / "measurements.csv.gz",
        notes=REFERENCE / "notes.csv",
        benchmarks=ROOT / "data/reference/estimator_timings.csv",
        papers=PAPERS,
    )


@pytest.fixture(scope="module")
def inputs(unjudged: Inputs) -> Inputs:
    claims = [claim for paper in PAPERS for claim in paper.part("claims")]
    return replace(unjudged, judgements={judged.claim: judged for judged in judge(claims, unjudged)})


def test_the_readme_is_current(inputs: Inputs) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert update(text, inputs, COMMANDS, STUDIES) == text, "README.md is behind: run `make readme`"


def test_the_results_are_current_and_their_links_lead_somewhere(inputs: Inputs) -> None:
    text = results(inputs, read_history(ROOT / "data/claims.csv"))
    assert (ROOT / "RESULTS.md").read_text(encoding="utf-8") == text, "RESULTS.md is behind: run `make readme`"
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-") for line in re.findall("#+(.*)", text)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= headings | set(re.findall(r'<a id="([^"]*)"', text))
    assert all(f'<a id="{name}">' in text for name in exhibits(PAPERS, inputs.study) if name != "macros")


def test_changes_of_code_alone_are_counted_and_not_listed(unjudged: Inputs) -> None:
    moves = [("none", "supported", "test"), ("supported", "supported", "code"), ("supported", "undecided", "code")]
    moves += [("undecided", "undecided", "data")]
    history = [
        Change("half-above-full", version, f"2026-01-0{version}", "0123", *move, f"why {version}")
        for version, move in enumerate(moves, start=1)
    ]
    history.append(Change("of-the-gallery", 1, "2026-01-05", "0123", "supported", "undecided", "test", "why 5"))
    text = results(unjudged, history).partition("## Changes of tests, data and verdicts")[2].partition("## ")[0]
    assert [line for line in text.splitlines() if "why " in line] == [
        "| claim | version | before | after | reason | why |",
        "| of-the-gallery | 1, 2026-01-05 | supported | undecided | test | why 5 |",
        "| [half-above-full](#half-above-full) | 4, 2026-01-04 | undecided | undecided | data | why 4 |",
        "| [half-above-full](#half-above-full) | 3, 2026-01-03 | supported | undecided | code | why 3 |",
    ]
    assert "left out 1 row in which the code moved" in text


def test_the_pictures_are_there() -> None:
    shown = re.findall(
        r"\((data/reference/[^)]*\.png)\)|src=\"(data/reference/[^\"]*\.png)\"", (ROOT / "README.md").read_text()
    )
    assert shown
    for names in shown:
        assert (ROOT / "".join(names)).read_bytes().startswith(b"\x89PNG")


def test_a_part_without_its_marks_is_refused(unjudged: Inputs, tmp_path: Path) -> None:
    commands = tmp_path / "commands.csv"
    commands.write_text(ONE_COMMAND)
    parts = {name: f"<!-- {name}: written -->\nstale\n<!-- /{name} -->\n" for name in ("effect", "commands")}
    made = update("\n".join(parts.values()), unjudged, commands, STUDIES)
    assert "stale" not in made
    assert update(made, unjudged, commands, STUDIES) == made
    assert "| `make demo` | Runs it | 1.5 | 1.5 GB |" in made
    for lost, spoilt in [(name, part) for name in parts for part in ("", parts[name] * 2)]:
        text = "\n".join({**parts, lost: spoilt}.values())
        with pytest.raises(InputError, match=rf"parts between <!-- {lost}: --> and <!-- /{lost} -->; expected one"):
            update(text, unjudged, commands, STUDIES)


def test_commands_that_were_not_timed_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"commands\.csv: cannot be read .*benchmarks/commands\.py writes it"):
        costs(tmp_path / "commands.csv", STUDIES)


def test_the_reference_is_small() -> None:
    assert sum(path.stat().st_size for path in REFERENCE.iterdir()) < 9_500_000


@pytest.mark.long
def test_the_readme_shows_what_an_audit_prints() -> None:
    pytest.importorskip("sklearn")
    script = "import pictures; print(pictures.begun(pictures.audited()))"
    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT / "docs", check=True, capture_output=True, text=True
    )
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```\n{shown.stdout}```\n<!-- /audit -->" in text, "README.md is behind: run `make readme`"
