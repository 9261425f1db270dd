"""The rules of the house: imports go downwards, manifests name their own folder, config/README.md every setting."""

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import grimp
import pytest

from artifact import schema
from artifact.contrasts.contrast import QUESTIONS
from artifact.papers import ALL
from artifact.study.manifest import Paper

ROOT = Path(__file__).parents[1]
PACKAGES = ("gallery", "artifact", "heldout")


def lint(folder: Path, *arguments: str) -> tuple[int, str]:
    """Check the imports of the package in a folder against the contracts of its pyproject.toml."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-logo"]
    result = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        # the package of this folder, not the one that is installed; no line is broken
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode in (0, 1), result.stderr
    return result.returncode, result.stdout


def test_every_import_goes_down_the_house() -> None:
    status, report = lint(ROOT, "--cache-dir", str(ROOT / ".import_linter_cache"))
    assert status == 0, report


def test_an_import_that_goes_up_is_seen_late_ones_too(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    sources = tmp_path / "src"
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
    (sources / "artifact" / "papers" / "another").mkdir()
    for module in ("__init__", "contrasts", "figures"):
        (sources / "artifact" / "papers" / "another" / f"{module}.py").touch()
    upward = [
        ("heldout.corpora.corpus", "heldout.models"),
        ("heldout.libraries.read", "heldout.auditing.colours"),
        ("heldout.evaluators.chib", "artifact.contrasts.effect"),
        ("heldout.auditing.audit.audit", "gallery.member"),
        ("artifact.results.scores", "artifact.papers.welling"),
        ("artifact.study.job", "artifact.contrasts.estimates"),
        ("artifact.typesetting.latex", "artifact.papers"),
        ("artifact.typesetting.latex", "gallery.documents"),
        ("artifact.papers.another.contrasts", "artifact.papers.another.figures"),
        ("artifact.papers.hofmann.contrasts", "matplotlib"),
        ("artifact.papers.welling.experiments.convergence", "artifact.contrasts.estimates"),
        ("artifact.papers.welling.experiments.bounds", "artifact.papers.buntine.experiments.calibration"),
        ("artifact.papers.welling.experiments.bounds", "artifact.typesetting.style"),
        ("gallery.graphs.science", "gallery.graphs.exhibits"),
        ("gallery.graphs.experiments.links", "artifact.typesetting.style"),
    ]
    for importer, imported in upward:
        path = (sources / Path(*importer.split("."))).with_suffix(".py")
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\ndef late():\n    import {imported}\n")
    status, report = lint(tmp_path, "--no-cache")
    assert status == 1
    assert not [pair for pair in upward if f"{' -> '.join(pair)} (l." not in report], report


def circle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the files of a circle of imports, the first of them at its end, too; empty without one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_imports_itself_by_way_of_others_late_ones_and_those_of_types_too() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert not circle(imports)
    result, terminal = "heldout.auditing.audit.result", "heldout.auditing.audit.report"
    imports[result] |= {terminal}  # as a result that prints itself would
    assert {result, terminal} <= set(circle(imports))


def modules_named(source: str) -> Iterator[str]:
    """Yield the modules that strings name, docstrings left out, and those that are imported by name."""
    nodes = [*ast.walk(ast.parse(source))]
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+", node.value)
        if (
            isinstance(node, ast.Call)
            and "import_module" in ast.unparse(node.func)
            and "'heldout'" in ast.unparse(node)
        ):
            yield "heldout.cli"


@functools.cache
def floors() -> dict[tuple[str, ...], tuple[int, int]]:
    """Return the floor of every package, and within it of every room, by their names; the lowest is 0."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = {contract["id"]: contract for contract in tools["importlinter"]["contracts"]}
    place = {package: floor for floor, package in enumerate(contracts["packages"]["layers"][::-1])}
    return {(package,): (floor, 0) for package, floor in place.items()} | {
        (package, room): (place[package], floor)
        for package, contract in (("heldout", "library"), ("artifact", "paper"))
        for floor, layer in enumerate(contracts[contract]["layers"][::-1])
        for room in re.split(r" [|:] ", layer)
    }


def named_above(path: Path, source: str) -> list[str]:
    """Return the modules that a file names in strings and that stand above it, or in another paper's folder."""
    places, parts = floors(), path.with_suffix("").parts
    here = places.get(parts[:2], places[parts[:1]])
    found = []
    for name in modules_named(source):
        other = tuple(name.split("."))
        strange = parts[:2] == other[:2] == ("artifact", "papers") and other[2:3] != parts[2:3]
        if strange or places.get(other[:2], places[other[:1]]) > here:
            found.append(name)
    return found


def test_no_string_names_a_module_above_or_of_another_paper() -> None:
    sources = ROOT / "src"
    files = [path for path in sources.rglob("*.py") if path != sources / "heldout/__init__.py"]  # above all its rooms
    above = {path: named_above(path.relative_to(sources), path.read_text(encoding="utf-8")) for path in files}
    assert not {path: names for path, names in above.items() if names}
    for path, source in {
        "heldout/models/estimator.py": 'import_module("heldout").log_likelihood(model, X)',
        "heldout/libraries/read.py": 'module = "artifact.study.job"',
        "artifact/study/manifest.py": 'module = f"artifact.papers.{name}"',
        "artifact/papers/__init__.py": 'module = "gallery.documents"',
        "artifact/papers/welling/__init__.py": 'module = "artifact.papers.buntine.figures"',
    }.items():
        assert named_above(Path(path), source), path


def test_the_page_on_studies_has_the_tables_of_the_classes_of_settings() -> None:
    written = (ROOT / schema.PAGE).read_text(encoding="utf-8")
    assert written == schema.page(written)
    named = set(re.findall(r"`([a-z][a-z0-9_-]*)`", written.partition(schema.WRITTEN)[0]))
    assert not schema.Study.model_fields.keys() - named, "keys of a study that config/README.md does not name"


@pytest.mark.parametrize("paper", ALL, ids=lambda paper: str(paper.name))
def test_a_manifest_names_what_its_own_folder_has_and_nothing_else(paper: Paper) -> None:
    for name, exhibit in paper.exhibits.items():
        assert exhibit.package.startswith(paper.module), f"{name} is made in another room"
        assert callable(getattr(import_module(exhibit.module), exhibit.function.rpartition(".")[2])), name
    for name in paper.experiments:
        assert callable(import_module(paper.experiment_module(name)).experiment), name
    contrasts = paper.part("contrasts")
    assert len({contrast.name for contrast in contrasts}) == len(contrasts)
    assert {contrast.question for contrast in contrasts} <= set(QUESTIONS)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout: git does not list its files")
def test_nothing_else_stands_at_the_top_of_the_checkout() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {*(".ci", ".github", "benchmarks", "config", "data", "docs", "figures"), *("paper", "profiles", "src")}
    files = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "RESULTS.md"}
    files |= {"Snakefile", "conftest.py", "environment.yml", "pyproject.toml", "requirements.lock", ".gitignore"}
    files |= {".pre-commit-config.yaml", ".zenodo.json", ".snakemake-workflow-catalog.yml", "Containerfile"}
    assert {name.partition("/")[0] for name in listed.splitlines()} == folders | files | {"tests", "workflow"}


CHOICES = re.compile(r"\b(idxmax|idxmin|argmax|argmin|nsmallest|nlargest)\b|\b(max|min)\(.*key=")
STARS = re.compile(r"\bchoice\(|censored|_star\(|_sum\(best|_range\(")
UNSHOWN = {  # functions whose choice no exhibit shows, or is of no grid
    "sides.at_best": "effects at the best K, whose curve has the star",
    "sides.rows": "a part of it",
    "halves.at_choice": "costs of a choice; the choice is a row of its own",
    "arrays.first": "the first seed",
    "results.best": "the best curve's constant, whose lowest point has the star",
    "contrasts.under_best_sum": "table-prior-share has the star",
    "figures._example": "a curve's peak",
    "figures.peers": "the panel's widest distance",
    "settings._first": "the error that helps most",
    "science.chosen_eta": "two Beta priors, said in the text",
    "science.best_state": "the best seed",
    "science.chosen_pass": "a pass by other splits, which RatingBestPass shows with its star",
    "science.chosen_topics": "counts of seeds that find the true number, within the grid",
    "science.ends_of_em": "the best start",
    "exhibits.prior_macros": "the largest number of topics",
    "macros._message": "the best K, whose curve is beside it",
}


def test_a_choice_of_a_grid_that_an_exhibit_shows_has_its_star() -> None:
    """Results, contrasts and exhibits that take a best value mark the grid's end, or say why not."""
    sources = [*(ROOT / "src" / "artifact").rglob("*.py"), *(ROOT / "src" / "gallery").rglob("*.py")]
    chosen = set()
    for path in sources:
        if {"models", "evaluators", "experiments", "members"} & set(path.parts):
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                if CHOICES.search(body) and not STARS.search(body):
                    chosen.add(f"{path.stem}.{node.name}")
    assert chosen == set(UNSHOWN), "a choice without its star, or an exception without its choice"
