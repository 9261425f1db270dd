"""What makes a job stale: code that it runs, and neither prose nor another paper's code."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from heldout.digest import digest
from heldout.errors import InputError
from heldout.models import MODELS
from heldout.papers import ALL

SOURCE = Path(__file__).parents[1] / "src"
CODE = "\nEDITED = True\n"


def digests(source: Path) -> dict[str, str]:
    """Return the digest of every kind of job, as the workflow takes them."""
    jobs = {model: ("heldout.runs", module) for model, module in MODELS.items()}
    for paper in ALL:
        jobs[f"{paper.name} verdicts"] = ("heldout.claims", f"{paper.module}.claims")
        for name in paper.experiments:
            jobs[f"{paper.name} {name}"] = ("heldout.runs", paper.experiment_module(name))
    return {job: digest(source, *modules) for job, modules in jobs.items()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE / "heldout", tmp_path / "heldout", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


TEMPERED = (("hofmann", "tempering"), ("hofmann", "verdicts"), ("murphy", "perplexity"), ("murphy", "verdicts"))


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("typesetting/style.py", lambda _: False),
        ("papers/welling/__init__.py", lambda _: False),
        ("auditing/audit.py", lambda _: False),
        ("evaluators/exact_marginal.py", lambda job: job not in MODELS),
        ("papers/hofmann/experiments/tempering.py", lambda job: job.startswith("hofmann")),
        # claims read names from the experiment that they are tested on
        (
            "models/plsa_tem.py",
            lambda job: job == "plsa-tem" or job in (f"{paper} {what}" for paper, what in TEMPERED),
        ),
        ("verdicts.py", lambda job: job.endswith("verdicts")),
    ],
)
def test_an_edit_makes_only_what_runs_it_stale(copy: Path, edited: str, stale: Callable[[str], bool]) -> None:
    before = digests(copy)
    path = copy / "heldout" / edited
    path.write_text(path.read_text() + CODE)
    changed = {job for job, value in digests(copy).items() if value != before[job]}
    assert all(stale(job) for job in changed), changed
    assert changed or not any(stale(job) for job in before)


def test_a_new_estimator_trains_no_model_again(copy: Path) -> None:
    before = digests(copy)
    (copy / "heldout/evaluators/another.py").write_text(CODE)
    path = copy / "heldout/evaluators/__init__.py"
    listed = "ESTIMATORS: dict[str, EstimatorProperties] = {"
    assert listed in path.read_text()
    path.write_text(path.read_text().replace(listed, listed + "'another': ESTIMATOR,"))
    changed = {job for job, value in digests(copy).items() if value != before[job]}
    assert not changed & {*MODELS, "welling normaliser-limits", "hofmann latent-semantic-analysis"}
    assert {"buntine calibration", "buntine verdicts", "likelihood precision"} <= changed
    path.write_text(path.read_text().replace('FULL = "full-folding-in"', 'FULL = "full"'))
    assert all(value != before[job] for job, value in digests(copy).items() if job in MODELS)


def test_an_edit_of_prose_makes_nothing_stale(copy: Path) -> None:
    before = digests(copy)
    for path in copy.rglob("*.py"):
        path.write_text("# a comment\n" + path.read_text().replace('"""', '"""Another word. ', 1))
    assert digests(copy) == before


def test_an_estimator_called_by_name_counts(copy: Path) -> None:
    before = digest(copy, "heldout.evaluators.estimate")
    path = copy / "heldout/evaluators/chib.py"
    path.write_text(path.read_text() + CODE)
    assert digest(copy, "heldout.evaluators.estimate") != before


def test_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"no module heldout\.models\.plsi"):
        digest(SOURCE, "heldout.models.plsi")
