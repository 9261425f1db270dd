"""pyproject.toml, requirements.lock, environment.yml and the imports of the code say the same thing."""

import ast
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heldout.cli import EXTRAS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = packages_distributions()


def declared(*extras: str) -> dict[str, Requirement]:
    """Return the requirements of the core and of some extras, and of the extras that those name in their turn."""
    requirements: dict[str, Requirement] = {}
    lists = [PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] for extra in extras)]
    for requirement in (Requirement(line) for lines in lists for line in lines):
        if requirement.name == PROJECT["name"]:
            requirements.update(declared(*requirement.extras))
        else:
            requirements[canonicalize_name(requirement.name)] = requirement
    return requirements


def locked() -> list[Requirement]:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    return [Requirement(line.split(" --hash=")[0].strip()) for line in text.splitlines()]


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the modules that import statements among some nodes name, up to the first dot; none of Python or ours."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - {"heldout", "artifact", "gallery"} - sys.stdlib_module_names


def distribution(module: str) -> str:
    """Return the distribution that a module comes with; a library that is not installed is named like its module."""
    return canonicalize_name(DISTRIBUTIONS.get(module, [module])[0])


@cache
def imported_by(path: Path) -> set[str]:
    """Return the modules that a file imports anywhere."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        names = re.findall(r"^\s*(?:import|from)\s+([\w.]+)", text, flags=re.MULTILINE)
        text = "\n".join(f"import {name}" for name in names)
    return imported(ast.walk(ast.parse(text)))


def imports(*folders: str) -> dict[str, list[str]]:
    """Map the distributions that are imported under `folders` to the files that do so."""
    sources = [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*"))
        # those of workflow/packages run in environments of their own
        if path.suffix in {".py", ".smk"} and path.parent != ROOT / "workflow" / "packages"
    ]
    if "workflow" in folders:
        sources.append(ROOT / "Snakefile")
    # tests and benchmarks import their neighbours by bare name, src never does
    own = {path.stem for path in sources if (ROOT / "src") not in path.parents}
    importers: dict[str, list[str]] = {}
    for path in sources:
        for module in imported_by(path) - own:
            importers.setdefault(distribution(module), []).append(str(path.relative_to(ROOT)))
    return importers


def environment_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", ROOT / "workflow" / "scripts" / "environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("folders", "extras"),
    [
        (("src", "workflow"), ("html", "paper", "peers")),
        (("tests", "src", "workflow"), ("dev",)),
        (("benchmarks", "src", "workflow"), ("dev", "benchmarks")),
    ],
    ids=["src", "tests", "benchmarks"],
)
def test_every_import_is_declared(folders: tuple[str, ...], extras: tuple[str, ...]) -> None:
    allowed = declared(*extras)
    undeclared = {name: files for name, files in imports(*folders).items() if name not in allowed}
    assert not undeclared, f"imported but not declared: {undeclared}: add them to pyproject.toml, then run `make lock`"


def test_outside_the_study_what_is_imported_first_is_the_core() -> None:
    early = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sorted((ROOT / "src" / "heldout").rglob("*.py"))
        if not {"papers", "typesetting", "compare.py"} & set(path.parts) and path.name != "figures.py"
        for module in imported(ast.parse(path.read_text(encoding="utf-8")).body)
        if distribution(module) not in declared()
    ]
    assert not early, f"import these where they are used, so that an audit starts without the extras: {early}"


def test_a_missing_package_is_asked_for_by_its_extra() -> None:
    asked = {distribution(module): extra for module, extra in EXTRAS.items()}
    assert not {name for name, extra in asked.items() if name not in declared(extra)}
    assert asked.keys() == imports("src").keys() - declared("peers").keys()


def test_the_lock_pins_what_is_declared() -> None:
    pins: dict[str, list[Requirement]] = {}
    for pin in locked():
        pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    for name, requirement in declared("dev").items():
        assert name in pins, f"requirements.lock lacks {name}: run `make lock`"
        for pin in pins[name]:
            (specifier,) = pin.specifier
            assert specifier.operator == "=="
            assert requirement.specifier.contains(specifier.version), (
                f"requirements.lock has {pin}, pyproject.toml asks for {requirement}: run `make lock`"
            )


def test_the_lock_has_hashes_and_one_version_of_each_and_names_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = text.replace("\\\n", " ").splitlines()
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+==\S+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+", entry), entry.split(" ")[0]
    assert "://" not in text
    names = [pin.name for pin in locked()]
    assert len(names) == len(set(names)), "two versions of one package: run `make lock UPGRADE=1`"


def test_the_conda_environment_is_generated_from_the_lock() -> None:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert text == environment_script().conda_environment(lock), "environment.yml is out of date: run `make lock`"


def test_the_citation_gives_the_version_and_the_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"], "CITATION.cff and pyproject.toml differ in the version"
    assert citation["license"] == PROJECT["license"]
    assert [reference["year"] for reference in citation["references"]] == [2008, 2009, 1999, 2012]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?{re.escape(PROJECT['version'])}\b", changelog, flags=re.MULTILINE), (
        f"CHANGELOG.md has no section for {PROJECT['version']}"
    )


def test_every_style_of_the_paper_is_looked_for_before_any_work() -> None:
    script = (ROOT / "workflow" / "scripts" / "system.sh").read_text(encoding="utf-8")
    listed = re.search(r"^tex_styles='([^']*)'", script, flags=re.MULTILINE)
    assert listed is not None
    used = {
        name.strip()
        for path in (ROOT / "paper").rglob("*.tex")
        for names in re.findall(
            r"^\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        for name in names.split(",")
    }
    assert used, "no \\usepackage was found under paper/"
    missing = used - {"fontenc", "inputenc"} - set(listed[1].split())
    assert not missing, f"add {sorted(missing)} to tex_styles in workflow/scripts/system.sh"
