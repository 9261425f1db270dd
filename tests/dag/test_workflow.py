"""The workflow itself, on one tiny synthetic corpus: repeatable to the byte, killed and resumed, refusing.

The tiny study runs as a user runs it; what comes before and after starts in forked processes, for which Snakemake need
not be imported again.
"""

import contextlib
import fcntl
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from forked_snakemake import ForkedSnakemake, is_running
from limits import HOUR

from artifact.papers import papers_of
from artifact.schema import load_study
from artifact.study.manifest import kind
from artifact.study.study import Settings, from_yaml, without_unavailable
from artifact.typesetting.exhibits import exhibits

ROOT = Path(__file__).parents[2]
TABLES = tuple(f"data/tiny/{name}.csv" for name in ("scores", "groups", "corpora", "measurements"))
RESULTS = (*TABLES, "paper/tiny.pdf")
NEEDED = (
    *("Snakefile", "workflow", "profiles", "src"),
    *(f"paper/{name}" for name in ("report.tex", "preamble.tex", "sources.tex", "references.bib")),
)
# a folder's name that a shell, Snakemake's wildcards or TeX would read as something else
ODD = """it's "mine" $(touch pwned) {corpus} ü"""
NEEDED_DATA = ("data/corpora.csv", "data/published", "requirements.lock")

needs_tex = pytest.mark.skipif(shutil.which("latexmk") is None, reason="the PDF needs TeX: `make setup` installs it")


def tiny_study() -> dict[str, Any]:
    study: dict[str, Any] = from_yaml((ROOT / "workflow/studies/demo.yaml").read_text())
    study |= {
        "study": "tiny",
        "seeds": [0],
        "corpora": {"cranfield-like": {"test_documents": 20}},
        "synthetic": {"scale": 0.05, "seed": 1},
        "topics": [2, 3],
        "beyond_vocabulary": {"corpus": "cranfield-like", "topics": [200], "seeds": [0]},
        "smoothing": [1.0e-5, 1.0e-2],
    }
    for model in ("plsa-hof", "plsa-vem", "plsa-tem", "epca"):
        study["models"][model]["train"]["iterations"] = 5
    study["smoothing_in_m_step"]["seeds"] = []
    study["models"]["plsa-vem"]["topics"] = [2]
    study["models"]["plsa-tem"] |= {"sweep": {"setting": "beta", "values": [0.5, 1.0]}, "topics": [2]}
    study["models"]["epca"]["topics"] = [2]
    del study["models"]["epca"]["also"], study["models"]["lda"]["also"]
    study["models"]["lda"]["train"] |= {"sweeps": 10, "chains": 2}
    study["realistic"] |= {"documents": 60, "test_documents": 5, "corpora": ["s10"]}
    study["realistic"]["train"]["sweeps"] = 10
    # the demonstration has them
    optional = ("latent-semantic-analysis", "tempering", "is-a-probability", "mean-ratio", "peers", "precision")
    for experiment in (*optional, "reference"):
        del study["measures"][experiment]
    for experiment, asked in study["measures"].items():
        if asked["corpora"] == ["none"]:
            continue
        asked["corpora"] = ["s10"] if experiment == "model-selection" else ["cranfield-like"]
        if "models" in asked:
            asked["models"] = asked["models"][:1]  # each kind once: a job costs a process
        if "topics" in asked:
            asked["topics"] = {"s10": [3]} if experiment == "model-selection" else [2]
    study["measures"]["model-selection"]["train"] |= {"first_sweeps": 10, "sweeps": 10, "chains": 1}
    study["measures"]["model-selection"]["settings"] |= {"training_documents": [20, 40]}
    study["measures"]["model-selection"]["settings"] |= dict.fromkeys(
        ("some_documents", "reading_documents", "check_documents"), 3
    )
    study["measures"]["calibration"]["settings"] |= {"pairs": 2, "more_pairs": 3, "samples": 5, "gammas": [0.5]}
    study["measures"]["convergence-to-exact"]["settings"] |= {"samples": [10, 20], "runs": 2}
    study["measures"]["discrete-latents"]["settings"]["topics"] = [2]
    study["measures"]["point-posteriors"]["settings"] |= {"coordinates": 3, "ica_iterations": 60}
    study["measures"]["normaliser-limits"] = {
        "corpora": ["cranfield-like"],
        "seeds": [0],
        "settings": {"topics": [2, 3]},
    }
    study["alternatives"] |= {"topics": [3], "variants": {"lda": {"beta-0.1": {"train": {"beta": 0.1}}}}}
    return study


def checkout(folder: Path, study: dict[str, Any]) -> Path:
    """Lay out what a run needs in a folder of its own, outside version control."""
    for name in (*NEEDED, *NEEDED_DATA):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    return folder


def tiny(*arguments: str, elsewhere: Path | None = None) -> tuple[str, ...]:
    """Return the arguments of a run of the tiny study whose results lie in the checkout or elsewhere.

    The timespan, for which a run waits before it ends, is shorter than the profile's.
    """
    quick = ("--max-jobs-per-timespan", "100/1s")
    return (
        *quick,
        "--configfile",
        "study.yaml",
        *(() if elsewhere is None else ("--directory", str(elsewhere))),
        *arguments,
    )


def environment() -> dict[str, str]:
    tools = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"}


@pytest.fixture(scope="session")
def snakemake() -> Iterator[ForkedSnakemake]:
    forked = ForkedSnakemake(environment())
    yield forked
    forked.close()


def planned(plan: str) -> dict[str, int]:
    """Return the jobs per rule of a dry run's table."""
    rows = [line.split() for line in plan.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


def everything(folder: Path) -> dict[Path, int]:
    """Return the files below a folder, and when each was written."""
    return {
        path.relative_to(folder): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and ".snakemake" not in path.parts
    }


class Finished(NamedTuple):
    """A checkout, the folder elsewhere in which its tiny study has run, and what runs it."""

    checkout: Path
    results: Path
    snakemake: ForkedSnakemake

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run on in the folder of the results."""
        return self.snakemake.run(self.checkout, *tiny(*arguments, elsewhere=self.results))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, snakemake: ForkedSnakemake) -> Finished:
    """Return a checkout and another folder, in which the tiny study has run on two cores."""
    folder = tmp_path_factory.mktemp("finished")
    made = Finished(checkout(folder / ODD / "checkout", tiny_study()), folder / ODD / "results", snakemake)
    before = everything(made.checkout)
    command = [sys.executable, "-m", "snakemake", *tiny("--cores", "2", elsewhere=made.results)]
    done = subprocess.run(
        command, cwd=made.checkout, env=environment(), capture_output=True, text=True, check=False, timeout=HOUR
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert everything(made.checkout) == before, "a run with --directory wrote into the checkout"
    assert not list(folder.rglob("pwned")), "the name of a folder was run"
    return made


@pytest.fixture
def reference(finished: Finished) -> Iterator[Path]:
    """Return the reference results of the checkout: those of the run."""
    folder = finished.checkout / "data/reference/tiny"
    folder.mkdir(parents=True)
    for name in ("scores.csv", "corpora.csv", "arrays.npz"):
        shutil.copy(finished.results / "data/tiny" / name, folder / name)
    for name in ("measurements.csv", "groups.csv", "notes.csv"):
        with gzip.open(folder / f"{name}.gz", "wb") as file:
            file.write((finished.results / "data/tiny" / name).read_bytes())
    yield folder
    shutil.rmtree(folder.parent)


@needs_tex
def test_a_run_on_one_core_that_is_killed_again_and_again_gives_the_bytes_of_one_on_two(
    finished: Finished, tmp_path: Path
) -> None:
    folder = checkout(tmp_path / ODD, tiny_study())
    scores = "data/tiny/scores/cranfield-like"
    fitted = [
        f"{scores}/{run}.csv"
        for run in (
            "plsa-hof/smoothed-after-training/2-0",
            "plsa-hof/smoothed-after-training/3-0",
            "plsa-tem/tempered/2-0",
            "lda/collapsed-gibbs/2-0",
        )
    ]
    measured = ["data/tiny/measurements/cranfield-like/lda/bidirectional/2-0.csv"]
    command = tiny("--cores", "1", *fitted, *measured)
    models = "data/tiny/models/**/[!.]*-0.npz"  # one of every fit; what a kill left half-written begins with a dot
    for number in (1, 3):  # of four, in whatever order they are fitted: there is always more to do
        group = finished.snakemake.start(folder, *command)
        while len(list(folder.glob(models))) < number and is_running(group):
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        killed = finished.snakemake.wait() == -signal.SIGKILL
        assert killed, f"the run ended before there were {number} {models}"
    kept = {path: path.stat().st_mtime_ns for path in folder.glob(models)}
    done = finished.snakemake.run(folder, *command)
    assert done.returncode == 0, done.stderr[-3000:]
    # finished work was kept: all models but the one that was in the making, at every kill
    unchanged = [path for path, when in kept.items() if path.stat().st_mtime_ns == when]
    assert len(unchanged) >= len(kept) - 2 > 0
    assert not list(folder.rglob(".partial-*"))
    for name in (*fitted, *measured, *(str(path.relative_to(folder)) for path in kept)):
        assert (folder / name).read_bytes() == (finished.results / name).read_bytes(), name
    assert not list(folder.rglob("pwned"))


def test_every_path_and_setting_in_a_command_of_the_rules_is_quoted() -> None:
    value = re.compile(r"\{(?:input|output|log|params|wildcards)\b[^{}:]*(:\w+)?\}")
    for file in sorted((ROOT / "workflow/rules").glob("*.smk")):
        text = file.read_text()
        if file.name == "common.smk":  # names of files that functions return, and the words of GIVEN
            text = "\n".join(line for line in text.splitlines() if line.startswith("GIVEN"))
        found = [match[0] for match in value.finditer(text) if match[1] != ":q"]
        assert not found, f"{file.name}: {found}"


@needs_tex
def test_two_studies_do_not_touch_one_anothers_files(finished: Finished) -> None:
    other = ("--config", "study=other", "--cores", "1")
    planning = finished.run(*other, "--dry-run", "--forceall")
    plan = planning.stdout + planning.stderr
    written = [
        path
        for line in plan.splitlines()
        if line.startswith(("    output: ", "    log: ", "    benchmark: "))
        for path in line.partition(": ")[2].split(", ")
    ]
    assert len(written) > 100
    assert all("/other/" in path or path == "paper/other.pdf" for path in written), written
    before = everything(finished.results)
    fitted = "data/other/scores/cranfield-like/plsa-hof/smoothed-after-training/2-0.csv"
    done = finished.run(*other, "--", fitted, "data/other/study.json")
    assert done.returncode == 0, done.stderr[-3000:]
    after = everything(finished.results)
    assert all("other" in path.parts for path in after.keys() - before.keys())
    assert {path: after.get(path) for path in before} == before
    # what belongs to both studies is the same
    assert (finished.results / fitted).read_bytes() == (
        finished.results / fitted.replace("data/other", "data/tiny")
    ).read_bytes()


@needs_tex
@pytest.mark.usefixtures("reference")
def test_the_reference_is_typeset_to_the_same_bytes_without_running_anything_else(finished: Finished) -> None:
    """In the checkout itself, where there is neither a corpus nor a score; by one process, where the run had two."""
    typeset = tiny("--cores", "1", "--config", "results=reference", "--", "paper/tiny.pdf")
    done = finished.snakemake.run(finished.checkout, *typeset)
    assert done.returncode == 0, done.stderr[-3000:]
    made = finished.checkout / "paper/tiny.pdf"
    assert made.read_bytes() == (finished.results / "paper/tiny.pdf").read_bytes()
    assert {path.name for path in (finished.checkout / "data/tiny").iterdir()} == {
        "benchmarks",
        "study.json",
        "effects.csv",
    }


@needs_tex
def test_a_finished_run_has_nothing_to_do_and_an_edit_reruns_what_stands_on_it(finished: Finished) -> None:
    assert "Nothing to be done" in finished.run("--cores", "1").stderr
    for modules, reruns, keeps in (
        (
            ["heldout/models/lda.py"],
            {"fit_chains", "experiment", "effects"},
            {"fit", "sweep", "synthesize", "describe_corpora"},
        ),
        (
            ["artifact/typesetting/style.py", "artifact/papers/hofmann/contrasts.py"],
            {"figures", "effects"},
            {"fit", "experiment"},
        ),
    ):
        sources = [finished.checkout / "src" / module for module in modules]
        before = [(source, source.read_text(), source.stat()) for source in sources]
        for source, text, _ in before:
            source.write_text(text + "EDITED = True\n")
        planning = finished.run("--cores", "1", "--dry-run")
        plan = planning.stdout + planning.stderr
        for source, text, state in before:
            source.write_text(text)
            os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
        jobs = planned(plan)
        assert reruns <= jobs.keys(), plan
        assert not keeps & jobs.keys(), plan


@needs_tex
def test_the_comparison_agrees_with_itself_and_names_what_differs(finished: Finished, reference: Path) -> None:
    done = finished.run("--cores", "1", "compare")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "differs" not in (finished.results / "data/tiny/compare.csv").read_text()
    lines = (reference / "scores.csv").read_text().splitlines()
    cells = lines[1].split(",")
    cells[14] = str(float(cells[14]) * 1.1)
    (reference / "scores.csv").write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    done = finished.run("--cores", "1", "compare")
    assert done.returncode != 0
    assert "scores: " in done.stdout + done.stderr
    assert "differs" in done.stdout + done.stderr


@needs_tex
@pytest.mark.parametrize(
    ("lost", "part", "expected"),
    [
        ("data/tiny/scores/cranfield-like/plsa-hof/smoothed-after-training/2-0.csv", None, {"fit", "collect_scores"}),
        ("data/tiny/corpora/cranfield-like.npz", "synthetic", {"synthesize", "fit", "fit_chains"}),
    ],
)
def test_what_a_failed_job_leaves_missing_is_made_again(
    finished: Finished, lost: str, part: str | None, expected: set[str]
) -> None:
    """A job that fails has lost its output and the record of its settings; its descendants are still there."""
    study = tiny_study()
    if part == "synthetic":
        study["synthetic"]["seed"] = 2
    settings = finished.checkout / "study.yaml"
    unchanged = settings.read_text()
    settings.write_text(yaml.safe_dump(study))
    hidden = (finished.results / lost).rename(finished.results / "hidden")
    plan = finished.run("--cores", "1", "--dry-run")
    hidden.rename(finished.results / lost)
    settings.write_text(unchanged)
    assert expected <= planned(plan.stdout + plan.stderr).keys(), plan.stdout + plan.stderr


@needs_tex
def test_a_second_run_of_a_study_says_that_one_is_at_work(finished: Finished) -> None:
    before = everything(finished.results)
    with (finished.results / ".snakemake/tiny.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = finished.run("--cores", "1", "--forcerun", "describe_corpora")
    assert second.returncode == 2
    assert "heldout: another run of the study tiny is at work in" in second.stderr
    assert everything(finished.results) == before


def test_what_a_killed_tex_left_does_not_stop_the_next(finished: Finished) -> None:
    whole = results(finished.results)
    for name in ("tiny.aux", "tiny.fdb_latexmk", "tiny.out"):
        path = finished.results / "paper/generated/tiny" / name
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (finished.results / "paper/tiny.pdf").unlink()
    done = finished.run("--cores", "1")
    assert done.returncode == 0, done.stderr[-3000:]
    assert results(finished.results) == whole


@needs_tex
def test_the_report_holds_the_figures_and_the_paper(finished: Finished) -> None:
    done = finished.run("--cores", "1", "--report", "report.html")
    assert done.returncode == 0, done.stderr[-3000:]
    report = (finished.results / "report.html").read_text()
    assert "figures/tiny/figure-4.pdf" in report
    assert "paper/tiny.pdf" in report


def test_a_bad_study_is_one_line_and_exit_code_2_and_nothing_is_written(
    snakemake: ForkedSnakemake, tmp_path: Path
) -> None:
    study = tiny_study()
    study["sedes"] = study.pop("seeds")
    folder = checkout(tmp_path, study)
    before = everything(folder)
    done = snakemake.run(folder, *tiny("--cores", "1"))
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if not line.startswith("Using workflow specific profile")]
    assert len(said) == 1, done.stderr
    assert said[0].startswith("heldout: study: at ")
    assert "sedes" in said[0]
    assert everything(folder) == before


@pytest.mark.parametrize("study", ["paper", "gallery"])  # the demonstration is run
def test_the_shipped_studies_plan_every_exhibit(snakemake: ForkedSnakemake, study: str) -> None:
    """A dry run of the whole study, in the checkout itself: nothing is made."""
    of_the_study = ("--configfile", f"workflow/studies/{study}.yaml")
    done = snakemake.run(ROOT, "--dry-run", "--forceall", "--cores", "1", *of_the_study)
    assert done.returncode == 0, done.stderr[-3000:]
    jobs = planned(done.stdout + done.stderr)
    assert jobs["paper"] == 1
    settings = from_yaml((ROOT / f"workflow/studies/{study}.yaml").read_text())
    settings, _ = without_unavailable(settings, ROOT / "data/raw", os.environ.get("HELDOUT_MIRROR", ""))
    made = done.stdout + done.stderr
    names = exhibits(papers_of(settings), settings)
    assert all(f"{name}.{'pdf' if kind(name) == 'figure' else 'tex'}" in made for name in names)
    assert jobs["effects"] == 1
    assert jobs["figures"] == jobs["tables"] == 1


def test_a_part_plans_its_experiments_and_what_they_read_alone(snakemake: ForkedSnakemake) -> None:
    done = snakemake.run(ROOT, "--dry-run", "--forceall", "--cores", "1", "--", "part_buntine")
    assert done.returncode == 0, done.stderr[-3000:]
    jobs = planned(done.stdout + done.stderr)
    settings = Settings(load_study(ROOT / "workflow/studies/paper.yaml", ROOT / "data"))
    runs = [run for name in settings.study["parts"]["buntine"]["experiments"] for run in settings.experiment_runs(name)]
    assert jobs["experiment"] == len(runs) > jobs["grow"] > 0
    assert "paper" not in jobs


def test_a_study_of_standalone_experiments_has_tables_and_no_exhibit(
    snakemake: ForkedSnakemake, tmp_path: Path
) -> None:
    study = from_yaml((ROOT / "workflow/studies/paper.yaml").read_text())
    alone = {"study": "alone", "corpora": study["corpora"], "measures": {"law": study["measures"]["law"]}}
    alone["measures"]["law"] |= {"corpora": ["nips", "none"], "topics": {"nips": [2], "none": [3]}}
    folder = checkout(tmp_path, alone)
    done = snakemake.run(folder, *tiny("--dry-run", "--cores", "1"))
    assert done.returncode == 0, done.stderr[-3000:]
    jobs = planned(done.stdout + done.stderr)
    assert (jobs["experiment"], jobs["collect_scores"]) == (2, 1)
    assert "effects" not in jobs


def test_snakemakes_linter_has_nothing_to_say_of_the_rules(snakemake: ForkedSnakemake) -> None:
    # every rule runs in the environment that Snakemake itself runs in, and none has to name one of its own; the
    # command of the steps stands once, in common.smk
    allowed = [
        "Specify a conda environment or container for each rule.",
        "Shell command directly uses variable STEP from outside of the rule",
    ]
    said = snakemake.run(ROOT, "--lint").stderr
    lints = re.findall(r"^Lints for (.*):$|^    \* (.*):$", said, flags=re.MULTILINE)
    assert lints or "in a good condition" in said, said
    assert {title for _, title in lints} <= {"", *allowed}, lints
