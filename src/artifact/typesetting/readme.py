"""Generated pages: the README's parts, RESULTS.md and two pages of the site, from the reference results."""

import csv
import importlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from artifact.contrasts.inputs import Inputs, read_timings
from artifact.results.provenance import FILE, read_provenance
from artifact.results.timings import CORES, TRAINING
from artifact.study.study import SELECTION, from_yaml
from artifact.typesetting import contrasts_table
from artifact.typesetting.table import Table
from heldout.errors import InputError

DEFAULT = "paper"  # study of a run that names none
COSTS = ("minutes", "of them computing", "peak memory")  # columns of the jobs' time and memory

_RESULTS = """\
# Results of the study `{study}`

Written by `make readme` from `data/reference/{study}`. A row has the estimates of one part of a contrast, at the most
topics where there are several numbers of them, with their 95 % intervals over documents, splits and the evaluator's
error, and where these lie: above or below the margin, within it, or across it (open); in nats per token where no unit
is named. The first sentence of a row is the claim that is tested, and may fail. Of log-likelihoods more is better: a
perplexity that "lies below" is an estimate above 0.
[effects.csv](data/reference/{study}/effects.csv) has margins, replicates and the parts of every error.
"""


def update(path: Path, parts: Mapping[str, str]) -> str:
    """Return a page with its generated parts made anew.

    Args:
        path: the page; a part stands between `<!-- NAME: ... -->` and `<!-- /NAME -->`.
        parts: the new parts by name.

    Raises:
        InputError: when the page lacks a part's marks, or has them twice.
    """
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        pattern = rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)"
        marks = re.findall(pattern, text, flags=re.DOTALL)
        if len(marks) != 1:
            raise InputError(f"{path}: {len(marks)} parts between <!-- {name}: --> and <!-- /{name} -->; expected one")
        made = "".join((marks[0][0], part, marks[0][1]))
        text = re.sub(pattern, made.replace("\\", r"\\"), text, flags=re.DOTALL)
    return text


def results(inputs: Inputs) -> str:
    """Return RESULTS.md: a table of estimates for each source of the study, under the number of its effects."""
    pages = [_RESULTS.format(study=inputs.settings.name)]
    for paper in inputs.papers:
        contrasts = paper.part("contrasts")
        effects = sum(len(inputs.effects.get(one.name, ())) for one in contrasts)
        counts = f"{len(contrasts)} contrasts, {effects} effects."
        pages.append(f"## {paper.source}\n\n{counts}\n\n{contrasts_table.markdown(contrasts, inputs)}")
    return "\n".join(pages)


def effect(inputs: Inputs) -> str:
    """Return the front page's table: the few numbers of the paper that has one."""
    modules = [importlib.import_module(f"{paper.module}.tables") for paper in inputs.papers if paper.front_page]
    return "".join(module.front_page(inputs) for module in modules)


def law(inputs: Inputs) -> str:
    """Return the front page's example of the law, in a sentence."""
    modules = [importlib.import_module(f"{paper.module}.law") for paper in inputs.papers if paper.front_page]
    return "".join(module.sentence(inputs) for module in modules)


def questions(inputs: Inputs) -> str:
    """Return the page of users' questions, docs/questions.md; empty where its study was not run."""
    modules = [importlib.import_module(f"{paper.module}.questions") for paper in inputs.papers if paper.front_page]
    return "".join(module.page(inputs) for module in modules)


def commands(path: Path) -> str:
    """Return the table of commands with their minutes and memory, the paper's run from its raw archives among them.

    Args:
        path: the measured commands, as `benchmarks/commands.py` writes them; beside it NAME/timings.csv, the jobs of
            the study NAME.

    Raises:
        InputError: when a table cannot be read.
    """
    rows = _measured(path)
    cells = [
        (f"`{row['command']}`", row["does"], f"{float(row['seconds']) / 60.0:.1f}", _gigabytes(float(row["memory_mb"])))
        for row in rows
    ]
    minutes, _, memory = _took(path.parent / DEFAULT / "timings.csv")
    cells.append(("`make reproduce`", "from the public archives to `paper/paper.pdf`", minutes, memory))
    table = Table(("command", "what it does", "minutes", "peak memory"), cells).markdown()
    return f"{table}\n{_machines(path, rows)}\n"


def studies(path: Path, folder: Path) -> str:
    """Return the table of the study `paper`, its parts and the other studies with the time and memory of their jobs.

    Args:
        path: the measured commands; beside it NAME/timings.csv, the jobs of the study NAME.
        folder: the studies; NAME.yaml begins with "# The study `NAME`: " and a sentence on it.

    Raises:
        InputError: when a table cannot be read.
    """
    cells = []
    names = sorted(timings.parent.name for timings in path.parent.glob("*/timings.csv"))
    for name in sorted(names, key=lambda name: name != DEFAULT):
        text = (folder / f"{name}.yaml").read_text(encoding="utf-8")
        does = " ".join(re.findall(r"^# (.*)$", text, re.MULTILINE)).partition(f"`{name}`: ")[2].partition(". ")[0]
        cells.append((f"`{name}`", does, *_took(path.parent / name / "timings.csv")))
        for part, asked in from_yaml(text).get("parts", {}).items():
            took = _took(path.parent / name / "timings.csv", asked["experiments"])
            cells.append((f"its part `{part}`", asked["about"], *took))
    return f"{Table(('study', 'about', *COSTS), cells).markdown()}\n{_machines(path, _measured(path))}\n"


def _measured(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); benchmarks/commands.py writes it") from error


def jobs_of(timings: Path, experiments: Sequence[str] = ()) -> "pd.DataFrame":
    """Return the jobs of a study, a row each, or of some experiments with the growing models that they read.

    Training within a job is left out, for the job has its time.
    """
    jobs = read_timings(timings)
    jobs = jobs[jobs["rule"] != TRAINING]
    if experiments:
        jobs = jobs[jobs["variant"].isin([*experiments, *(["grown"] if SELECTION in experiments else [])])]
    return jobs


def _took(timings: Path, experiments: Sequence[str] = ()) -> tuple[str, str, str]:
    """Return the minutes of a study's jobs over `CORES` cores, the processor's, and the memory of the largest job."""
    jobs = jobs_of(timings, experiments)
    wall, processor = (jobs[column].sum() / CORES / 60.0 for column in ("seconds", "cpu_seconds"))
    return f"{wall:.0f}", f"{processor:.0f}", _gigabytes(jobs["memory_mb"].max())


def _machines(path: Path, rows: list[dict[str, str]]) -> str:
    """Return a sentence on the machines of the measured commands, and of the runs that are recorded beside them."""
    recorded = read_provenance(path.parent / FILE).values() if (path.parent / FILE).exists() else ()
    parts = [part for one in recorded for part in one["parts"].values() if part]
    named = {row["machine"] for row in rows} | {machine for part in parts for machine in part["machines"]}
    machines = "; ".join(sorted(named))
    return f"Measured on {machines}, after set-up; a study's minutes are the seconds of its jobs over {CORES} cores."


def _gigabytes(megabytes: float) -> str:
    return f"{megabytes / 1000.0:.1f} GB"
