"""The package that others install: few packages and nothing of the study, built and run outside the checkout."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heldout.seeds import generator

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "heldout"
MOST = 12  # packages, this one aside


def build(kind: str, project: Path, destination: Path) -> Path:
    """Build an "sdist" or a "wheel" of a project with this environment's hatchling; return the file."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(destination)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    (built,) = destination.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as an index would have it: built from the sdist alone."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(["tar", "-xf", sdist, "-C", folder], check=True)  # Python 3.11.2 has no filters of members
    return build("wheel", folder / sdist.name.removesuffix(".tar.gz"), folder)


@pytest.fixture(scope="module")
def core(wheel: Path) -> set[str]:
    """Everything that installing the wheel without extras brings in."""
    with zipfile.ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(path).decode())
    waiting = metadata.get_all("Requires-Dist", [])
    names: set[str] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        name = canonicalize_name(requirement.name)
        if name not in names and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            assert not requirement.extras, f"{requirement}: follow its extras here"
            names.add(name)
            waiting += distribution(name).requires or []
    return names


@pytest.fixture(scope="module")
def installed(wheel: Path, core: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel and, as links to this environment's, the packages of the core."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    subprocess.run([*command, "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)], check=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    for name in core:
        files = distribution(name).files or []
        for part in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (packages / part).symlink_to(Path(str(distribution(name).locate_file(part))))
    # Kernels of the same sources that other tests have compiled spare half a minute; numba knows them by size and date.
    for source in (packages / "heldout").rglob("*.py"):
        original = SOURCES / source.relative_to(packages / "heldout")
        assert source.read_bytes() == original.read_bytes()
        shutil.copystat(original, source)
        for kernel in original.parent.glob(f"__pycache__/{source.stem}.*.nb[ci]"):
            (source.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy2(kernel, source.parent / "__pycache__")
    return folder


def run(installed: Path, *command: str, status: int = 0) -> str:
    """Run a program of the environment in an empty surrounding; return its output, of errors where one is expected."""
    environment = {"PATH": os.defpath, "HOME": str(installed)}
    result = subprocess.run(
        [installed / "venv" / "bin" / command[0], *command[1:]],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == status, result.stderr
    return result.stderr if status else result.stdout


def test_the_sdist_holds_the_package_and_nothing_of_the_study(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {Path(*Path(name).parts[1:]).as_posix() for name in archive.getnames()}
    outside = {name for name in names if not name.startswith("src/heldout/")}
    assert outside <= {
        *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"),
        *("pyproject.toml", "PKG-INFO", ".gitignore"),
    }


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.split("/")[0].endswith(".dist-info")}
    files = {path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert names == {path.relative_to(SOURCES.parent).as_posix() for path in files}
    assert "heldout/py.typed" in names


def test_few_packages_are_installed_with_it(core: set[str]) -> None:
    assert {"numpy", "scipy", "numba"} <= core
    assert len(core) <= MOST, f"the core brings in {len(core)} packages: {sorted(core)}"


def test_the_environment_holds_the_core_alone(installed: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('pandas', 'matplotlib', 'snakemake') if u.find_spec(n)])"
    assert run(installed, "python", "-c", code) == "[]\n"


def test_the_exact_cases_are_in_the_wheel(installed: Path) -> None:
    code = "import heldout; print(sum(case.log_likelihood == 0.0 for case in heldout.exact_cases()))"
    assert run(installed, "python", "-c", code) == "3\n"  # of empty documents


def test_a_model_is_audited(installed: Path) -> None:
    rng = generator("test-package")
    words = np.array([f"w{w}" for w in range(8)])
    topics = rng.dirichlet(np.ones(8), size=3)
    np.savez(installed / "model.npz", phi=topics, alpha=np.full(3, 0.4), vocabulary=words)
    sp.save_npz(installed / "documents.npz", sp.csr_matrix(rng.multinomial(9, np.full(8, 1 / 8), size=20)))
    table = run(installed, "heldout", "audit", "model.npz", "documents.npz", "--json", "audit.json")
    lines = json.loads((installed / "audit.json").read_text(encoding="utf-8"))["lines"]
    perplexities = {line["evaluator"]: line["perplexity"] for line in lines}
    assert perplexities["full-folding-in"] < perplexities["likelihood"] < perplexities["mean-field-bound"]
    assert "full folding-in" in table


def test_what_needs_more_than_the_core_says_which_extra(installed: Path) -> None:
    (installed / "texts").mkdir()
    for name in ("one", "two"):
        (installed / "texts" / f"{name}.txt").write_text("stems of words", encoding="utf-8")
    typed = ("import", "text", "texts", "--name", "mine", "--output", "mine.npz", "--stem")
    said = run(installed, "heldout", *typed, status=2)
    assert said.endswith(" is not installed: pip install 'heldout[paper]'\n")
