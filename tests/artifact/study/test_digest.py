"""Stale jobs: an edit of code makes stale the jobs that run it, and neither prose nor another paper's code does."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from artifact.makers import modules_of
from artifact.papers import ALL
from artifact.study.digest import LOCK, Digests, contents, digest, git, sources, sources_at
from artifact.study.study import from_yaml
from heldout.errors import InputError
from heldout.models import MODELS

ROOT = Path(__file__).parents[3]
TEXTS = sources(ROOT)
CODE = b"\nEDITED = True\n"


def digests(texts: Mapping[str, bytes]) -> dict[str, str]:
    """Return the digest of every kind of job, as the workflow takes them."""
    jobs = {model: f"data/paper/scores/cranfield/{model}/variant/2-0.csv" for model in MODELS}
    for paper in ALL:
        for name in paper.experiments:
            jobs[f"{paper.name} {name}"] = f"data/paper/measurements/cranfield/none/{name}/2-0.csv"
    return {job: digest(contents(texts, *modules_of(Path(file)))) for job, file in jobs.items()}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return digests(TEXTS)


def stale(before: Mapping[str, str], *files: str, edits: Sequence[tuple[bytes, bytes]] = ()) -> set[str]:
    """Return the jobs that edits of files make stale: code for other code, or at their ends."""
    edited = {}
    for file in files:
        text = edited[file] = TEXTS.get(file, b"") + (b"" if edits else CODE)
        for old, new in edits:
            assert old in text
            text = edited[file] = text.replace(old, new, 1)
    return {job for job, value in digests({**TEXTS, **edited}).items() if value != before[job]}


TEMPERED = {"plsa-tem", "hofmann tempering", "gallery perplexity"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            (
                *("src/artifact/typesetting/style.py", "src/artifact/papers/welling/__init__.py"),
                *("src/artifact/contrasts/another.py", "src/heldout/auditing/audit/audit.py"),
            ),
            lambda _: False,
        ),
        (("src/artifact/papers/hofmann/experiments/tempering.py",), lambda job: job == "hofmann tempering"),
        (("src/heldout/models/plsa_tem.py",), TEMPERED.__contains__),
        (("src/artifact/study/job.py",), lambda _: True),
        ((LOCK,), lambda _: True),
    ],
)
def test_an_edit_makes_stale_exactly_what_runs_it(
    before: dict[str, str], files: tuple[str, ...], expected: Callable[[str], bool]
) -> None:
    assert stale(before, *files) == {job for job in before if expected(job)}


def test_of_lists_the_names_count_that_a_job_imports(before: dict[str, str]) -> None:
    evaluators, spec = "src/heldout/evaluators/__init__.py", "src/gallery/tokens/spec.py"
    listed = b"ESTIMATORS: dict[str, EstimatorProperties] = {"
    another = stale(before, evaluators, edits=[(listed, listed + b"'another': ESTIMATOR,")])
    assert not another & {*MODELS, "welling normaliser-limits", "hofmann latent-semantic-analysis"}
    assert {"buntine calibration", "likelihood precision"} <= another
    assert stale(before, evaluators, edits=[(b'FULL = "full-folding-in"', b'FULL = "full"')]) >= {*MODELS}
    words = [(b"three topics of one word", b"topics"), (b"number of most frequent words", b"number of words")]
    assert stale(before, spec, edits=words) == set()
    kind = (b"frequent: Annotated[Count", b"frequent: Annotated[Pair")
    assert stale(before, spec, edits=[kind]) == {"gallery polysemy"}


def test_an_edit_of_prose_makes_nothing_stale(before: dict[str, str]) -> None:
    docstrings = re.compile(rb'(^|:\n +)"""(?=[A-Z])')
    prose = {file: b"# a comment\n" + docstrings.sub(rb'\1"""Another word. ', text) for file, text in TEXTS.items()}
    assert digests({**prose, LOCK: TEXTS[LOCK]}) == before


def test_members_of_a_folder_that_is_imported_by_name_count() -> None:
    before = contents(TEXTS, "heldout.evaluators.estimate")
    for file in ("src/heldout/evaluators/chib.py", "src/heldout/evaluators/another.py"):
        now = contents({**TEXTS, file: TEXTS.get(file, b"") + CODE}, "heldout.evaluators.estimate")
        assert {name for name in now if now[name] != before.get(name)} == {file}


@pytest.mark.parametrize(
    ("file", "module"),
    [
        ("data/demo/corpora/cranfield-like.npz", "heldout.corpora.synthetic"),
        ("data/paper/corpora/s10.npz", "heldout.corpora.realistic"),
        ("elsewhere/data/paper/corpora/nips.npz", "heldout.corpora.prepare"),
        ("data/buntine/models/s10/lda/trained-on-500/10-0.npz", "heldout.models.lda_growth"),
        ("data/paper/models/reuters/lda/truth/10-0.npz", "artifact.study.steps"),
        ("data/paper/corpora.csv", "artifact.results.corpora"),
        ("data/paper/notes.csv", "artifact.results.measurements"),
        ("figures/paper/figure-4.pdf", "artifact.papers.welling.figures.figures_4_to_6_smoothing"),
        ("paper/generated/paper/macros.tex", "artifact.papers.hofmann.macros"),
    ],
)
def test_a_file_leads_to_the_code_that_makes_it(tmp_path: Path, file: str, module: str) -> None:
    settings = tmp_path / "data/paper/study.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(from_yaml((ROOT / "workflow/studies/paper.yaml").read_text())))
    assert module in modules_of(tmp_path / file)


def test_a_name_that_is_no_module_and_no_job_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"heldout\.models\.plsi"):
        contents(TEXTS, "heldout.models.plsi")
    for file in ("data/paper/study.csv", "figures/mine/figure-4.pdf"):
        with pytest.raises(InputError, match=Path(file).parts[1]):
            modules_of(tmp_path / file)


def test_sources_of_a_commit_are_read_and_outside_git_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="git"):
        sources_at(tmp_path, "HEAD")
    module = tmp_path / "src/heldout/seeds.py"
    module.parent.mkdir(parents=True)
    module.write_bytes(CODE)
    (tmp_path / LOCK).write_text("numpy==2\n")
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    for command in (("init",), ("add", "."), (*who, "commit", "--message=whole")):
        git(tmp_path, *command)
    committed = sources(tmp_path)
    module.write_bytes(b"A = 1")
    assert sources_at(tmp_path, "HEAD") == committed != sources(tmp_path)


def test_digests_are_kept_until_something_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, module = tmp_path / "digests.json", tmp_path / "src/heldout/seeds.py"
    module.parent.mkdir(parents=True)
    module.write_bytes(CODE)
    (tmp_path / LOCK).touch()
    first = Digests(tmp_path, store).of("heldout.seeds")
    with monkeypatch.context() as patch:
        patch.setattr("artifact.study.digest.contents", lambda *_: pytest.fail("computed again"))
        assert Digests(tmp_path, store).of("heldout.seeds") == first
    module.write_text("A = 1")
    assert Digests(tmp_path, store).of("heldout.seeds") != first
    store.write_text("{")
    assert Digests(tmp_path, store).of("heldout.seeds") == digest(contents(sources(tmp_path), "heldout.seeds"))
