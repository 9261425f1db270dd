"""Record the run that the reference results are of: commit, machine, versions, minutes, memory, digests of its code.

The run may be interrupted and go on at another commit. A part's results count as the run's as long as no statement that
computes them has changed since: digests of the code of every experiment and model are recorded
(`artifact.study.digest`) and compared with the checkout's.
"""

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from artifact.contrasts.inputs import PACKAGES
from artifact.papers import EXPERIMENTS
from artifact.results.timings import CORES
from artifact.study.digest import contents, digest, sources
from artifact.typesetting.readme import jobs_of
from heldout.errors import InputError
from heldout.models import MODELS

STEPS = "artifact.study.steps"


def parts_of(study: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the experiments of a study's parts, the rest under the study's name with its scored models."""
    parts = {name: list(asked["experiments"]) for name, asked in study.get("parts", {}).items()}
    named = {experiment for experiments in parts.values() for experiment in experiments}
    return parts | {study["study"]: [*(set(study["measures"]) - named), *study.get("models", {})]}


def record(
    study: Mapping[str, Any], known: Mapping[str, Any], commit: str, checkout: Path, timings: Path, ended: Sequence[str]
) -> dict[str, Any]:
    """Return a study's record with some of its parts renewed, or experiments of them.

    Args:
        study: its settings.
        known: its record so far, whose parts stay where their code is the checkout's.
        commit: the commit that ran.
        checkout: its code.
        timings: the table of the run's jobs.
        ended: the parts that have ended, or single experiments; a name that both have is the part's.

    Returns:
        "command", "versions" by package, and "parts" by name: of one with results of the run its "commits", the
        "date", the "machines", "minutes" of its jobs over `CORES` cores, "processor_minutes", "memory_mb" of the
        largest job, "code", a digest by experiment that has run and by model, and "left", the names that have not; of
        another None.

    Raises:
        InputError: for a name that the study has not, or whose jobs the table lacks.
    """
    texts, jobs, parts = sources(checkout), jobs_of(timings), parts_of(study)
    members = {
        part: [one for one in own if one in MODELS or one in set(jobs["variant"])] for part, own in parts.items()
    }
    parted = [one for part, own in members.items() if part != study["study"] for one in own]
    rest = jobs.drop(jobs_of(timings, parted).index) if parted else jobs
    changed = set(moved(known, checkout))
    kept = {part: own for part, own in known.get("parts", {}).items() if own and not changed & set(own["code"])}
    part_of = {one: part for part, own in members.items() for one in own if one not in MODELS}
    for name in ended:
        part = part_of.get(name, name)
        if not members.get(part):
            raise InputError(f"{timings}: no job of {name}; it has {', '.join([*members, *sorted(part_of)])}")
        new = members[part] if name == part else [name]
        earlier = kept.get(part) or {"code": {}, "commits": [], "machines": []}
        code = earlier["code"] | {one: digest(contents(texts, *_modules(one))) for one in new}
        left = sorted(set(members[part]) - set(code))
        # the jobs that no experiment names, such as training, are of the rest
        own = rest if part == study["study"] and not left else jobs_of(timings, list(code))
        kept[part] = {
            "commits": sorted({*earlier["commits"], commit}),
            "date": datetime.date.today().isoformat(),
            "machines": sorted({*earlier["machines"], machine()}),
            "minutes": round(float(own["seconds"].sum()) / CORES / 60.0, 1),
            "processor_minutes": round(float(own["cpu_seconds"].sum()) / 60.0, 1),
            "memory_mb": round(float(own["memory_mb"].max())),
            "code": dict(sorted(code.items())),
            "left": left,
        }
    return {
        "command": f"snakemake --cores {CORES}",
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "parts": {name: kept.get(name) for name in members},
    }


def machine() -> str:
    """Return the processor's name and the number of cores that may be used."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} cores of {names[0] if names else platform.machine()}"


def _modules(name: str) -> tuple[str, str]:
    return STEPS, EXPERIMENTS[name].experiment_module(name) if name in EXPERIMENTS else MODELS[name]


def moved(recorded: Mapping[str, Any], checkout: Path) -> list[str]:
    """Return the recorded experiments and models whose code is another in a checkout."""
    texts = sources(checkout)
    codes = {name: code for part in recorded.get("parts", {}).values() if part for name, code in part["code"].items()}
    return [name for name, code in codes.items() if digest(contents(texts, *_modules(name))) != code]
