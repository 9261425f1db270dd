"""What is generated of the front page: the README's parts and RESULTS.md, from the reference results."""

import csv
import importlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from artifact.results.timings import CORES, PARTS
from artifact.study.study import from_yaml
from artifact.typesetting import claims_table
from artifact.typesetting.exhibits import exhibits, path
from artifact.typesetting.provenance import cost
from artifact.typesetting.table import Table, corpora
from artifact.verdicts.history import Change
from artifact.verdicts.inputs import Inputs, read_timings
from heldout.errors import InputError

DEFAULT = "paper"  # the study of a run that names none

_RESULTS = """\
# Results of the study `{study}`

Written by `make readme` from `data/reference/{study}`. Verdicts are computed; the paper states each test.

* [Corpora](#corpora)
* [Claims](#claims): {claims}
* [Changes of tests, data and verdicts](#changes-of-tests-data-and-verdicts)
* [Exhibits](#exhibits)

## Corpora

The corpora, as their archives and one documented rule give them, beside what Welling et al. (2008) printed.

{corpora}
## Claims

{verdicts}
## Changes of tests, data and verdicts

Every claim, the gallery's too, whose test, data or verdict has changed since it was first judged, or that was
withdrawn; the newest first. {alone}

{changes}
## Exhibits

Minutes are those of the jobs that an exhibit stands on, one after another; exhibits share jobs.

{exhibits}"""


def update(text: str, inputs: Inputs, commands: Path, studies: Path) -> str:
    """Return the README with its generated parts made anew.

    Args:
        text: the README; a part stands between `<!-- NAME: ... -->` and `<!-- /NAME -->`.
        inputs: the reference results.
        commands: what the commands took, as `benchmarks/commands.py` writes it; beside it the reference results.
        studies: the folder of studies.

    Raises:
        InputError: when the README lacks a part's marks.
    """
    parts: dict[str, Callable[[], str]] = {
        "effect": lambda: effect(inputs),
        "commands": lambda: costs(commands, studies),
    }
    for name, part in parts.items():
        pattern = rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)"
        marks = re.findall(pattern, text, flags=re.DOTALL)
        if len(marks) != 1:
            raise InputError(f"README: {len(marks)} parts between <!-- {name}: --> and <!-- /{name} -->; expected one")
        made = "".join((marks[0][0], part(), marks[0][1]))
        text = re.sub(pattern, made.replace("\\", r"\\"), text, flags=re.DOTALL)
    return text


def results(inputs: Inputs, history: Sequence[Change]) -> str:
    """Return RESULTS.md: every corpus, claim and exhibit of the study, and the changes of claims' tests."""
    sources = [paper for paper in inputs.papers if paper.part("claims")]
    verdicts = ""
    for paper in sources:
        verdicts += f"### {paper.source}\n\n{claims_table.markdown(paper.part('claims'), inputs)}\n"
    links = ", ".join(f"[{paper.source}](#{_anchor(paper.source)})" for paper in sources)
    return _RESULTS.format(
        study=inputs.settings.name,
        claims=links,
        corpora=corpora(inputs).markdown(),
        verdicts=verdicts,
        changes=_changes(history, {claim.name for paper in sources for claim in paper.part("claims")}),
        alone=_alone(history),
        exhibits=_exhibits(inputs),
    )


def effect(inputs: Inputs) -> str:
    """Return the front page's table: what the paper that has one says in a few numbers."""
    modules = [importlib.import_module(f"{paper.module}.tables") for paper in inputs.papers if paper.front_page]
    return "".join(module.front_page(inputs) for module in modules)


def questions(inputs: Inputs) -> str:
    """Return the page of users' questions, docs/questions.md; empty where what it is about was not run."""
    modules = [importlib.import_module(f"{paper.module}.questions") for paper in inputs.papers if paper.front_page]
    return "".join(module.page(inputs) for module in modules)


def costs(path: Path, studies: Path) -> str:
    """Return the table of commands with what they took, and of studies with what their jobs took.

    Args:
        path: what the commands took, measured; beside it NAME/timings.csv, the jobs of the study NAME.
        studies: the folder of studies; NAME.yaml begins with "# The study `NAME`: " and what it is, a sentence.

    Raises:
        InputError: when a table cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); benchmarks/commands.py writes it") from error
    cells = [
        (f"`{row['command']}`", row["does"], f"{float(row['seconds']) / 60.0:.1f}", _gigabytes(row["memory_mb"]))
        for row in rows
    ]
    machines = "; ".join(sorted({row["machine"] for row in rows}))
    frozen = from_yaml((studies / f"{DEFAULT}.yaml").read_text(encoding="utf-8"))["frozen"]
    for timings in sorted(path.parent.glob("*/timings.csv"), key=lambda timings: timings.parent.name != DEFAULT):
        name = timings.parent.name
        first = " ".join(re.findall(r"^# (.*)$", (studies / f"{name}.yaml").read_text(encoding="utf-8"), re.MULTILINE))
        does = first.partition(f"`{name}`: ")[2].partition(". ")[0] + (" (frozen)" if name in frozen else "")
        jobs = read_timings(timings)
        jobs = jobs[~jobs["rule"].isin(PARTS)]
        command = "make reproduce" + ("" if name == DEFAULT else f" STUDY={name}")
        wall, processor = (jobs[column].sum() / CORES / 60.0 for column in ("seconds", "cpu_seconds"))
        minutes = f"{wall:.0f} ({processor:.0f})"
        cells.append((f"`{command}`", does, minutes, _gigabytes(jobs["memory_mb"].max())))
    table = Table(("command", "what it does", "minutes", "peak memory"), cells)
    return (
        f"{table.markdown()}\nMeasured on {machines}, after set-up; of `make reproduce` the minutes are the recorded"
        f" seconds of its jobs over {CORES} cores,\nin brackets the processor's, as it was sampled: other work on the"
        " machine does not lengthen them; the memory is that of its largest job.\n"
    )


def _gigabytes(megabytes: str | float) -> str:
    return f"{float(megabytes) / 1000.0:.1f} GB"


def _exhibits(inputs: Inputs) -> str:
    """Return a row per exhibit: its file, which is its target of `snakemake`, its minutes, the claims that it shows."""
    rows = []
    for name, exhibit in exhibits(inputs.papers, inputs.study).items():
        if name == "macros":
            continue
        corpus = "" if exhibit.corpus is None else f", {inputs.settings.corpora[exhibit.corpus]}"
        original = f" ({exhibit.original})" if exhibit.original else ""
        minutes = cost(name, exhibit, inputs).minutes
        shown = [f"[{claim}](#{claim}) {inputs.judged(claim).verdict}" for claim in exhibit.claims]
        row = [
            f'<a id="{name}"></a>{exhibit.title}{corpus}{original}',
            f"`{path(name, inputs.settings.name)}`",
            f"{minutes:.1f}" if minutes == minutes else "-",
            "; ".join(shown) or "see the paper",
        ]
        rows.append(row)
    return Table(("exhibit", "target of `snakemake`", "minutes", "what it should show"), rows).markdown()


def _changes(history: Sequence[Change], own: set[str]) -> str:
    """Return a row per change of a claim's test, data or verdict, the newest first; the study's `own` have links."""
    rows = [
        (
            f"[{one.claim}](#{one.claim})" if one.claim in own else one.claim,
            f"{one.version}, {one.date}",
            *(one.before, one.after, one.reason, one.note),
        )
        for one in sorted(history, key=lambda one: one.date, reverse=True)
        if one.before != "none" and not one.of_code_alone
    ]
    return Table(("claim", "version", "before", "after", "reason", "why"), rows).markdown()


def _alone(history: Sequence[Change]) -> str:
    """Return how many changes are of code alone."""
    alone = sum(one.of_code_alone for one in history)
    rows = f"{alone} row{'s' * (alone != 1)}"
    return (
        f"Of `data/claims.csv` are left out {rows} in which the code moved and neither test nor verdict, and those of"
        " claims when they were new."
    )


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
