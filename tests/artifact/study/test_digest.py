"""What makes a job stale: code that it runs, and neither prose nor another paper's code."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from artifact.makers import CODE as KEPT_CODE
from artifact.makers import experiments_code, modules_of, older_than_code
from artifact.papers import ALL
from artifact.study.digest import LOCK, Digests, checked_out, contents, digest, git, moved
from artifact.study.study import from_yaml
from heldout.errors import InputError
from heldout.models import MODELS

SOURCE = Path(__file__).parents[3] / "src"
CODE = "\nEDITED = True\n"


def digests(source: Path) -> dict[str, str]:
    """Return the digest of every kind of job, as the workflow takes them."""
    jobs = {model: f"data/paper/scores/cranfield/{model}/variant/2-0.csv" for model in MODELS}
    for paper in ALL:
        for name in paper.experiments:
            jobs[f"{paper.name} {name}"] = f"data/paper/measurements/cranfield/none/{name}/2-0.csv"
    return {job: digest(contents(source, *modules_of(Path(file)))) for job, file in jobs.items()}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE / "heldout", tmp_path / "heldout", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The digests of a copy's jobs before it is edited."""
    folder = tmp_path_factory.mktemp("before")
    (folder / "heldout").symlink_to(SOURCE / "heldout")
    return digests(folder)


TEMPERED = (("hofmann", "tempering"), ("murphy", "perplexity"))


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("typesetting/style.py", lambda _: False),
        ("papers/welling/__init__.py", lambda _: False),
        ("auditing/audit/audit.py", lambda _: False),
        ("evaluators/exact_marginal.py", lambda job: job not in MODELS),
        ("papers/hofmann/experiments/tempering.py", lambda job: job.startswith("hofmann")),
        # claims read names from the experiment that they are tested on
        ("models/plsa_tem.py", lambda job: job == "plsa-tem" or job in (f"{paper} {what}" for paper, what in TEMPERED)),
        ("verdicts.py", lambda _: False),
        ("effects.py", lambda _: False),
    ],
)
def test_an_edit_makes_only_what_runs_it_stale(
    copy: Path, before: dict[str, str], edited: str, stale: Callable[[str], bool]
) -> None:
    path = copy / "heldout" / edited
    path.write_text(path.read_text() + CODE)
    changed = {job for job, value in digests(copy).items() if value != before[job]}
    assert all(stale(job) for job in changed), changed
    assert changed or not any(stale(job) for job in before)


def test_a_new_estimator_trains_no_model_again(copy: Path, before: dict[str, str]) -> None:
    (copy / "heldout/evaluators/another.py").write_text(CODE)
    path = copy / "heldout/evaluators/__init__.py"
    listed = "ESTIMATORS: dict[str, EstimatorProperties] = {"
    assert listed in path.read_text()
    path.write_text(path.read_text().replace(listed, listed + "'another': ESTIMATOR,"))
    changed = {job for job, value in digests(copy).items() if value != before[job]}
    assert not changed & {*MODELS, "welling normaliser-limits", "hofmann latent-semantic-analysis"}
    assert {"buntine calibration", "likelihood precision"} <= changed
    path.write_text(path.read_text().replace('FULL = "full-folding-in"', 'FULL = "full"'))
    assert all(value != before[job] for job, value in digests(copy).items() if job in MODELS)


def test_an_edit_of_prose_makes_nothing_stale(copy: Path, before: dict[str, str]) -> None:
    for path in copy.rglob("*.py"):
        path.write_text("# a comment\n" + path.read_text().replace('"""', '"""Another word. ', 1))
    assert digests(copy) == before


def test_an_estimator_called_by_name_counts(copy: Path) -> None:
    before = contents(copy, "heldout.evaluators.estimate")
    path = copy / "heldout/evaluators/chib.py"
    path.write_text(path.read_text() + CODE)
    assert moved(before, contents(copy, "heldout.evaluators.estimate")) == ["heldout/evaluators/chib.py: EDITED"]


def test_what_is_no_module_and_no_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"heldout\.models\.plsi"):
        contents(SOURCE, "heldout.models.plsi")
    for file, expected in (("data/paper/study.csv", "neither a module"), ("figures/mine/figure-4.pdf", "run it first")):
        with pytest.raises(InputError, match=expected):
            modules_of(tmp_path / file)


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("data/demo/corpora/cranfield-like.npz", "heldout.corpora.synthetic"),
        ("data/paper/corpora/s10.npz", "heldout.corpora.realistic"),
        ("elsewhere/data/paper/corpora/nips.npz", "heldout.corpora.prepare"),
        ("data/buntine/models/s10/lda/trained-on-500/10-0.npz", "heldout.models.lda_growth"),
        ("data/paper/models/reuters/lda/truth/10-0.npz", "artifact.study.steps"),
        ("data/paper/corpora.csv", "artifact.results.corpora"),
        ("figures/paper/figure-4.pdf", "artifact.papers.welling.figures.figures_4_to_6_smoothing"),
        ("paper/generated/paper/macros.tex", "artifact.papers.hofmann.macros"),
    ],
)
def test_a_file_leads_to_the_code_that_makes_it(tmp_path: Path, file: str, module: str) -> None:
    settings = tmp_path / "data/paper/study.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(from_yaml((SOURCE.parent / "workflow/studies/paper.yaml").read_text())))
    assert module in modules_of(tmp_path / file)


def test_what_moved_since_a_commit_is_listed_and_outside_git_one_line(copy: Path) -> None:
    checkout = copy / "checkout"
    (checkout / "src").mkdir(parents=True)
    (copy / "heldout").rename(checkout / "src/heldout")
    (checkout / LOCK).touch()
    with pytest.raises(InputError, match="git"), checked_out(checkout / "src", "HEAD"):
        pass
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    for command in (("init",), ("add", "."), (*who, "commit", "--message=whole")):
        git(checkout, *command)
    seeds = checkout / "src/heldout/seeds.py"
    seeds.write_text(seeds.read_text() + CODE)
    (checkout / LOCK).write_text("numpy==2\n")
    now = contents(checkout / "src", "heldout.seeds")
    with checked_out(checkout / "src", "HEAD") as before:
        assert moved(contents(before, "heldout.seeds"), now) == ["heldout/seeds.py: EDITED", LOCK]


def test_digests_are_kept_until_something_changes(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, module = copy / "digests.json", "heldout.models.plsa"
    first = Digests(copy, store).of(module)
    assert first == digest(contents(copy, module))
    with monkeypatch.context() as patch:
        patch.setattr("artifact.study.digest.contents", lambda *_: pytest.fail("computed again"))
        assert Digests(copy, store).of(module) == first
    (copy / "heldout/models/plsa.py").write_text("A = 1")
    assert Digests(copy, store).of(module) != first
    store.write_text("{")
    assert Digests(copy, store).of(module) == digest(contents(copy, module))


def test_kept_results_that_other_code_made_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    study = {"measures": {"bounds": {"models": ["plsa-hof"]}, "validation": {}}}
    (folder / "study.json").write_text(json.dumps(study))
    assert older_than_code([folder], lambda *modules: ", ".join(modules)) == ["kept"]
    codes = experiments_code(study, lambda *modules: ", ".join(modules))
    assert codes["bounds"].split(", ") == [
        *("artifact.study.steps", "artifact.papers.welling.experiments.bounds", "heldout.models.plsa")
    ]
    (folder / KEPT_CODE).write_text(json.dumps(codes))
    assert older_than_code([folder], lambda *modules: ", ".join(modules)) == []
    assert older_than_code([folder], lambda *_: "edited") == ["kept"]


def test_every_kept_study_carries_the_digest_of_its_code() -> None:
    for folder in (SOURCE.parent / "data/reference").iterdir():
        if (folder / "study.json").exists():
            measures = json.loads((folder / "study.json").read_text())["measures"]
            assert json.loads((folder / KEPT_CODE).read_text()).keys() == measures.keys(), folder.name
