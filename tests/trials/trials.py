"""Try to break the project: `make trials`, or `trials.py FOLDER [KIND ...]` for some kinds alone.

A trial has survived where nothing was lost: a killed study ends with the bytes of one that was left alone, a job in an
odd environment writes the same bytes, a full or read-only disk is one line and no half-written file, a damaged file is
read or refused in one line, and a study that `check` accepts plans without a traceback, some to their PDF. FOLDER keeps
a row for every trial in `trials.csv`: the same command goes on where it was. At its end stands the table of what was
tried, survived and lost; exit status 1 where something was lost. Some hours by itself, and no part of `.ci/run`.
"""

import argparse
import csv
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests/dag"), str(ROOT / "tests/made")]

import yaml  # noqa: E402
from test_workflow import ODD, checkout, environment, tiny, tiny_study  # noqa: E402

from artifact.schema import check_study  # noqa: E402
from heldout.errors import InputError  # noqa: E402

NUMBERS = {"kill": 50, "environment": 20, "disk": 6, "damage": 10_000, "plan": 100, "pdf": 5}
AT_ONCE = {"kill": 5, "damage": 1_000}  # trials that end together: kills of one study, cases of one process
COLUMNS = ("kind", "number", "outcome", "detail")
JOBS = (
    "data/tiny/scores/cranfield-like/plsa-hof/smoothed-after-training/2-0.csv",
    "data/tiny/scores/cranfield-like/lda/collapsed-gibbs/2-0.csv",
    "data/tiny/measurements/cranfield-like/lda/bidirectional/2-0.csv",
)
PAGE, DISKS = 4096, (0.15, 0.35, 0.6, 0.85, 0.0, 0.0)  # bytes; shares of what the jobs write, 0 for read-only
NO_INPUT, UMASKS = "no-input", {"umask-0": 0, "umask-077": 0o077}
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "hash-1": {"PYTHONHASHSEED": "1"},
    "hash-2": {"PYTHONHASHSEED": "4000000"},
    "threads": {"OMP_NUM_THREADS": "7", "OPENBLAS_NUM_THREADS": "7", "MKL_NUM_THREADS": "7"},
    "numba-threads": {"NUMBA_NUM_THREADS": "1"},
    "blas-kernels": {"OPENBLAS_CORETYPE": "Nehalem"},
    "numpy-instructions": {"NPY_DISABLE_CPU_FEATURES": "X86_V3"},
    "numba-target": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "interpreted": {"NUMBA_DISABLE_JIT": "1"},
    "no-cache": {"NUMBA_CACHE_DIR": "/proc/nowhere"},
    "C": {"LC_ALL": "C"},
    "ascii": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    "turkish": {"LC_ALL": "tr_TR.UTF-8"},
    "time-zone": {"TZ": "Asia/Kathmandu"},
    "no-home": {"HOME": "/nowhere"},
    "optimised": {"PYTHONOPTIMIZE": "2"},
    "no-bytecode": {"PYTHONDONTWRITEBYTECODE": "1"},
    "narrow": {"COLUMNS": "20", "TERM": "dumb"},
    NO_INPUT: {},
    **{name: {} for name in UMASKS},
}
SIGNALS = (
    *[("group", signal.SIGKILL)] * 4,
    *(("group", signal.SIGTERM), ("group", signal.SIGINT), ("alone", signal.SIGKILL), ("job", signal.SIGKILL)),
)


class Trials:
    """The trials of one folder: a checkout, its study left alone, and what came of every trial so far."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.log, self.checkout = folder, folder / "trials.csv", folder / ODD / "checkout"
        if not self.log.exists():
            self.log.write_text(",".join(COLUMNS) + "\n")
        if not self.checkout.exists():
            checkout(self.checkout, tiny_study())
        with self.log.open(newline="") as file:
            self.rows = list(csv.DictReader(file))

    def add(self, kind: str, first: int, number: int, problem: str) -> None:
        """Note trials that ended together, with what was lost."""
        rows = [(kind, str(n), "lost" if problem else "survived", problem) for n in range(first, first + number)]
        self.rows += [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        with self.log.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{kind} {first + number - 1}: {problem or 'survived'}"[:300], flush=True)

    def snakemake(self, place: Path, *arguments: str, **how: Any) -> "subprocess.Popen[str]":
        """Start the study, or some of its files, with its results in a folder."""
        command = [sys.executable, "-m", "snakemake", *tiny(*arguments, elsewhere=place)]
        given: dict[str, Any] = {"env": environment(), "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE} | how
        return subprocess.Popen(command, cwd=self.checkout, text=True, start_new_session=True, **given)

    def ended(self, place: Path, *arguments: str, **how: Any) -> str:
        """Run to the end; return the last lines of standard error where that is no success."""
        run = self.snakemake(place, *arguments, **how)
        said = run.communicate()[1] or ""
        return "" if run.returncode == 0 else f"exit {run.returncode}: {said[-200:]!r}"

    def alone(self) -> Path:
        """Return the results of the study that was left alone."""
        place = self.folder / "alone"
        if problem := self.ended(place, "--cores", "2"):
            raise SystemExit(f"trials.py: the study does not run: {problem}")
        return place


def contents(place: Path) -> dict[str, bytes]:
    """Return every result below a folder, but for times."""
    files = [path for part in ("data", "figures", "paper") for path in (place / part).rglob("*") if path.is_file()]
    kept = [p for p in files if p.suffix in {".csv", ".npz", ".tex", ".json", ".pdf"} and p.name != "timings.csv"]
    return {str(path.relative_to(place)): path.read_bytes() for path in kept if "benchmarks" not in path.parts}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    """Return the names of the files that differ, the first few."""
    return ", ".join(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))[:5])


def kill(trials: Trials, first: int, number: int) -> str:
    """Kill a study at random moments, in one of several ways, and let it end."""
    whole, place, rng = contents(trials.alone()), trials.folder / "killed", random.Random(first)
    shutil.rmtree(place, ignore_errors=True)
    for _ in range(number):
        run = trials.snakemake(place, "--cores", "2", stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(2.0, 40.0))
        whom, what = rng.choice(SIGNALS)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        jobs = children.read_text().split() if run.poll() is None and children.exists() else []
        if run.poll() is None and (whom != "job" or jobs):
            {"group": os.killpg, "alone": os.kill, "job": os.kill}[whom](
                int(jobs[0]) if whom == "job" else run.pid, what
            )
        run.wait()
        if whom == "alone":  # its jobs go on
            time.sleep(10.0)
    trials.ended(place, "--unlock")
    problem = trials.ended(place, "--cores", "2", "--rerun-incomplete") or differing(whole, contents(place))
    left = [str(path) for path in place.rglob(".partial-*")]
    return problem or ("left " + ", ".join(left) if left else "")


def in_environment(trials: Trials, first: int, _: int) -> str:
    """Run some jobs in an odd environment: the same bytes."""
    name = list(ENVIRONMENTS)[first]
    whole, place = contents(trials.alone()), trials.folder / "environment"
    shutil.rmtree(place, ignore_errors=True)
    how: dict[str, Any] = {"env": environment() | ENVIRONMENTS[name], "umask": UMASKS.get(name, 0o022)}
    if name == NO_INPUT:
        how["stdin"] = subprocess.DEVNULL
    problem = trials.ended(place, "--cores", "1", "--", *JOBS, **how)
    made = contents(place)
    return (problem or differing({n: whole[n] for n in made}, made) or ("" if made else "nothing was made")) and (
        f"{name}: {problem or 'other bytes'}"
    )


def disk(trials: Trials, first: int, _: int) -> str:
    """Run some jobs on a disk that is full or read-only, and then with space; needs root, for the disk."""
    whole, place, ample = contents(trials.alone()), trials.folder / "disk", trials.folder / "ample"
    if problem := trials.ended(ample, "--cores", "1", "--", *JOBS):
        return problem
    pages = sum(-(-path.stat().st_size // PAGE) for path in ample.rglob("*") if path.is_file())
    place.mkdir(exist_ok=True)
    size = int(DISKS[first] * pages * PAGE)
    options = f"size={size}" if size else "size=64m,ro"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=False).returncode:
        return "no disk can be made here: run as root"
    try:
        problem = trials.ended(place, "--cores", "1", "--", *JOBS)
        if not problem:
            return f"{options}: it ran"
        subprocess.run(["mount", "-o", "remount,rw,size=64m", str(place)], check=True)
        again = trials.ended(place, "--cores", "1", "--rerun-incomplete", "--", *JOBS)
        made = contents(place)
        return again or differing({name: whole[name] for name in made}, made)
    finally:
        subprocess.run(["umount", str(place)], check=False)


def damage(_: Trials, first: int, number: int) -> str:
    """Damage files of every form, and read them."""
    command = [sys.executable, "fuzz.py", "36000", "--first", str(first), "--cases", str(number)]
    done = subprocess.run(
        command, cwd=ROOT / "tests/heldout/libraries", env=environment(), capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout[-300:]


def drawn_study(number: int) -> dict[str, Any]:
    """Return a random study that `check` accepts: other grids, fewer experiments, others' settings."""
    rng = random.Random(number)
    while True:
        study = tiny_study()
        study |= {
            "study": f"drawn-{number}",
            "seeds": sorted(rng.sample(range(5), rng.randint(1, 2))),
            "topics": sorted(rng.sample([1, 2, 3, 5, 8], rng.randint(1, 3))),
            "smoothing": sorted(rng.sample([1e-10, 1e-5, 1e-2, 1.0], rng.randint(1, 3))),
            "table_1_also": [],
            "synthetic": {"scale": rng.choice([0.03, 0.05]), "seed": rng.randint(0, 9)},
        }
        study["smoothing_in_m_step"]["seeds"] = rng.choice([[], study["seeds"]])
        if rng.random() < 0.3:
            study["alternatives"] |= {"variants": {}}
        measures = study["measures"]
        for name in [name for name in measures if rng.random() < 0.2]:
            del measures[name]
        for asked in measures.values():
            asked["seeds"] = rng.choice([asked["seeds"], [0]])
            if isinstance(asked.get("topics"), list):
                asked["topics"] = rng.choice([asked["topics"], [2], [3]])
        try:
            return check_study(yaml.safe_load(yaml.safe_dump(study)), ROOT / "data")
        except InputError:
            continue


def planned(trials: Trials, first: int, _: int, *, to_the_pdf: bool = False) -> str:
    """Plan a drawn study, or make its PDF."""
    study, place = drawn_study(first), trials.folder / "drawn"
    (trials.checkout / "study.yaml").write_text(yaml.safe_dump(study))
    try:
        if not to_the_pdf:
            return trials.ended(place, "--dry-run", "--cores", "1")
        problem = trials.ended(place, "--cores", "2")
        return problem or ("" if (place / f"paper/{study['study']}.pdf").exists() else "no PDF")
    finally:
        (trials.checkout / "study.yaml").write_text(yaml.safe_dump(tiny_study()))


def to_the_pdf(trials: Trials, first: int, number: int) -> str:
    """Make the PDF of a drawn study."""
    return planned(trials, first, number, to_the_pdf=True)


KINDS: dict[str, Callable[[Trials, int, int], str]] = {
    "kill": kill,
    "environment": in_environment,
    "disk": disk,
    "damage": damage,
    "plan": planned,
    "pdf": to_the_pdf,
}


def table(rows: list[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the table of what was tried, survived and lost."""
    found = Counter((row["kind"], row["outcome"]) for row in rows)
    yield "| trial | tried | survived | lost |"
    yield "|---|---:|---:|---:|"
    for kind, function in KINDS.items():
        survived, lost = found[kind, "survived"], found[kind, "lost"]
        words = re.sub(r"[:;.].*", "", (function.__doc__ or "").partition("\n")[0])
        yield f"| {words} | {survived + lost:,} of {NUMBERS[kind]:,} | {survived:,} | {lost:,} |"


def main() -> int:
    """Run the trials that were not run yet; return 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the trials, made if missing")
    parser.add_argument("kinds", nargs="*", help=f"kinds to run, of {', '.join(KINDS)} (default: all)")
    options = parser.parse_args()
    trials = Trials(options.folder.resolve())
    for kind in options.kinds or KINDS:
        step = AT_ONCE.get(kind, 1)
        done = sum(row["kind"] == kind for row in trials.rows)
        for first in range(done, NUMBERS[kind], step):
            trials.add(kind, first, step, KINDS[kind](trials, first, step))
    print("\n".join(table(trials.rows)))
    return int(any(row["outcome"] == "lost" for row in trials.rows))


if __name__ == "__main__":
    sys.exit(main())
