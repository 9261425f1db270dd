"""Change the evaluators and models one expression at a time, and see that a test fails: `python tests/mutants.py`.

A mutant is one change of one function or constant: a number, a comparison, an arithmetic or logical operator, a
condition that is negated, a statement that is dropped. Nothing is written to the sources: a forked process imports the
package anew with the changed module, compiles the kernels that the change reaches (others come from numba's cache), and
runs the tests of that module, its own first, until one fails. mutmut and cosmic-ray edit files: mutmut's trampolines do
not compile under numba, and a kernel inlined from an edited file would come unchanged out of the cache of its caller.

Mutants that change no result are listed in mutants_equivalent.csv with the reason. What survives and is not listed, or
is listed and killed, is printed at the end, with exit status 1.

    python tests/mutants.py plsa chib           these modules
    python tests/mutants.py --every 10 plsa     every tenth mutant
"""

import argparse
import ast
import collections
import copy
import csv
import functools
import importlib
import os
import resource
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES, TESTS = ROOT / "src", ROOT / "tests"
PACKAGES = ("evaluators", "models")
EQUIVALENT = TESTS / "mutants_equivalent.csv"
CPU_SECONDS = 120  # per mutant, at least
TIMES_BASELINE = 5
MEMORY = 6 << 30
NOT_RUN = ("test_a_broken_estimator_is_caught", "test_a_dishonest_error_is_caught")  # they pass where estimators fail

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
OPPOSITES = {"max": "min", "min": "max", "argmax": "argmin", "argmin": "argmax", "sum": "max", "mean": "sum"}


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        module: the module's last name.
        place: the function or class it is in, or the constant's name.
        line: of the statement, 1 for the first.
        before: the statement as Python prints it, without its body; numbered if the function has it more than once.
        after: the same, changed.
        names: what is defined anew at the top level of the module.
        tree: the module.
        slot: the node's parent, the parent's field, and the place in it if it is a list.
        new: what comes there.
    """

    module: str
    place: str
    line: int
    before: str
    after: str
    names: tuple[str, ...]
    tree: ast.Module
    slot: tuple[ast.AST, str, int | None]
    new: ast.AST

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.place, self.before, self.after

    def code(self, path: Path) -> CodeType:
        """Return the changed module, compiled; the tree stays changed."""
        put(self.slot, self.new)
        return compile(ast.fix_missing_locations(self.tree), str(path), "exec")


def put(slot: tuple[ast.AST, str, int | None], new: ast.AST) -> ast.AST:
    """Put a node into its place; return the one that was there."""
    parent, field, index = slot
    old: ast.AST
    if index is None:
        old = getattr(parent, field)
        setattr(parent, field, new)
    else:
        old = getattr(parent, field)[index]
        getattr(parent, field)[index] = new
    return old


def modules() -> dict[str, Path]:
    """Return the modules that may be changed, by their last name."""
    files = [path for package in PACKAGES for path in sorted((SOURCES / "heldout" / package).glob("*.py"))]
    return {path.stem: path for path in files if path.stem != "__init__"}


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


def another(value: float | int | bool) -> float | int | bool:
    """Return another number: the next integer, twice the float, 1e-29 for 1e-290 or 0.1 for 1e-10."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if 0.0 < abs(value) < 1e-5:
        return float(value**0.1)
    return 2.0 * value if value else 1.0


def changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield what may stand in the place of a node; None drops a statement."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield ast.Constant(another(node.value))
    elif isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if name in OPPOSITES:
            opposite: ast.expr = ast.Name(OPPOSITES[name], ast.Load())
            if isinstance(node.func, ast.Attribute):
                opposite = ast.Attribute(node.func.value, OPPOSITES[name], ast.Load())
            yield ast.Call(opposite, node.args, node.keywords)
    elif isinstance(node, ast.AugAssign):
        if type(node.op) in ARITHMETIC:
            yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
        yield None
    elif isinstance(node, ast.Break | ast.Continue) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom)
    ):
        yield None
    elif isinstance(node, ast.Assign):
        if isinstance(node.targets[0], ast.Subscript | ast.Attribute):
            yield None  # dropping the first value of a name is seen by Python, or by numba
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(
        node.test, ast.Name | ast.Attribute | ast.Call
    ):
        negated = copy.copy(node)
        negated.test = ast.UnaryOp(ast.Not(), node.test)
        yield negated


def sites(node: ast.AST, place: str = "", statement: ast.stmt | None = None) -> Iterator[tuple[ast.AST, str, ast.stmt]]:
    """Yield the nodes that may be changed, with the function that they are in and their statement.

    Decorators, annotations, defaults, errors' texts, imports, zip's `strict` and the sizes of scratch arrays (more room
    changes nothing) are not changed.
    """
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arguments):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("empty", "zeros"):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        place = f"{place}.{node.name}".lstrip(".")
        children: Iterable[ast.AST] = node.body
    elif isinstance(node, ast.AnnAssign):
        children = [node.value] if node.value else []
    else:
        children = ast.iter_child_nodes(node)
        if statement is not None:
            yield node, place, statement
    for child in children:
        yield from sites(child, place, statement)


def header(statement: ast.stmt) -> str:
    """Return a statement as Python prints it, without its body."""
    alone = copy.copy(statement)
    for field in ("body", "orelse", "finalbody", "handlers"):
        if hasattr(alone, field):
            setattr(alone, field, [])
    return ast.unparse(alone)


def mutants_of(module: str, path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    slots: dict[ast.AST, tuple[ast.AST, str, int | None]] = {}
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for i, item in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(item, ast.AST):
                    slots[item] = parent, field, i if isinstance(value, list) else None
    seen: collections.Counter[tuple[str, ...]] = collections.Counter()
    for definition in tree.body:
        names = tuple(targets(definition))
        for node, place, statement in list(sites(definition)):
            before = header(statement)
            for change in changes(node):
                new = ast.copy_location(change or ast.Pass(), node)
                put(slots[node], new)
                after = "dropped" if change is None else header(new if isinstance(new, ast.stmt) else statement)
                put(slots[node], node)
                place = place or ", ".join(names)
                seen[place, before, after] += 1
                number = seen[place, before, after]
                text = f"{before}  # {number}" if number > 1 else before
                yield Mutant(module, place, statement.lineno, text, after, names, tree, slots[node], new)


def targets(statement: ast.stmt) -> list[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    found = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [node.id for target in found if target for node in ast.walk(target) if isinstance(node, ast.Name)]


Name = tuple[str, str]  # a module, and what it defines at its top level


@functools.cache
def uses() -> list[tuple[frozenset[Name], frozenset[Name]]]:
    """Return what each top-level statement of the package defines, and what of the package it mentions."""
    found = []
    for path in SOURCES.rglob("*.py"):
        tree, module = ast.parse(path.read_text(encoding="utf-8")), dotted(path)
        known = {name: (module, name) for statement in tree.body for name in targets(statement)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                known |= {alias.asname or alias.name: (str(node.module), alias.name) for alias in node.names}
        for statement in tree.body:
            mentioned = {
                known[node.id] for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id in known
            }
            for node in ast.walk(statement):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
                    mentioned.add((".".join(known[node.value.id]), node.attr))
            found.append((frozenset((module, name) for name in targets(statement)), frozenset(mentioned)))
    return found


def reached(names: Iterable[Name]) -> set[Name]:
    """Return all that these are used in, directly or not: what numba must compile anew."""
    found, before = set(names), -1
    while len(found) > before:
        before = len(found)
        for defined, mentioned in uses():
            if mentioned & found:
                found |= defined
    return found


@functools.cache
def imported(path: Path) -> frozenset[Path]:
    """Return the package's files that a file imports itself."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    files = ((SOURCES / Path(*name.split("."))).with_suffix(".py") for name in names if name.startswith("heldout."))
    return frozenset(file for file in files if file.exists())


def within_two(path: Path) -> set[Path]:
    """Return the package's files that a file imports, and those that these import."""
    return {*imported(path), *(further for file in imported(path) for further in imported(file))}


def tests_of(module: str, path: Path) -> tuple[list[str], list[str]]:
    """Return the files that test a module, its examples and own tests first, and the estimators that it is part of.

    Tests that are parametrised by estimators are run for these alone.
    """
    from heldout.evaluators import ESTIMATORS

    homes = {name: SOURCES / "heldout" / "evaluators" / f"{name.replace('-', '_')}.py" for name in ESTIMATORS}
    estimators = [name for name, home in homes.items() if path in (home, *within_two(home))]
    files = [file for package in PACKAGES for file in sorted((TESTS / package).glob("test_*.py"))]
    chosen = [file for file in files if (estimators and file.stem in BY_NAME) or path in within_two(file)]
    order = sorted(chosen, key=lambda file: (file.stem != f"test_{module}", file.stem in BY_NAME))
    return [str(path), *map(str, order)], estimators


BY_NAME = ("test_estimators_conformance", "test_study_sizes")  # they import no estimator: they call it by its name


def import_changed(mutant: Mutant, path: Path) -> None:
    """From now on, import the changed module, and compile anew the kernels that the change reaches."""
    from numba import config
    from numba.core.dispatcher import Dispatcher

    name, code = dotted(path), mutant.code(path)
    changed = reached((name, defined) for defined in mutant.names)
    read_code, cached = SourceFileLoader.get_code, Dispatcher.enable_caching

    def get_code(self: Any, fullname: str) -> CodeType | None:
        return code if fullname == name else read_code(self, fullname)

    def enable_caching(self: Any) -> None:
        if (self.py_func.__module__, self.py_func.__name__) not in changed:
            cached(self)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    Dispatcher.enable_caching = enable_caching  # type: ignore[method-assign]
    vars(config)["BOUNDSCHECK"] = 1  # of what is compiled anew: an index out of bounds is seen


class Watch:
    """Chooses tests for pytest, and notes the first that fails."""

    def __init__(self, estimators: list[str]) -> None:
        self.estimators, self.failed = estimators, ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self.takes(item)]

    def takes(self, item: Any) -> bool:
        from heldout.evaluators import ESTIMATORS

        _, _, parameters = item.name.partition("[")
        named = any(parameters.startswith(estimator) for estimator in ESTIMATORS)
        if getattr(item, "originalname", "") in NOT_RUN:
            return False
        return not named or any(parameters.startswith(estimator) for estimator in self.estimators)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"import of {report.nodeid}"


def run_tests(tests: tuple[list[str], list[str]], path: Path, mutant: Mutant | None, seconds: float) -> str:
    """Run tests with a change of the module at `path`, or without; return "survived", or what killed it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import hypothesis
    import pytest

    for name in [name for name in sys.modules if name.partition(".")[0] == "heldout"]:
        del sys.modules[name]
    if mutant is not None:
        import_changed(mutant, path)
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutants")
    files, estimators = tests
    watch = Watch(estimators)
    # without rewriting asserts: that loads a file named here, the module's own among them, past the change
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    status = pytest.main([*options, *files], plugins=[watch])
    return "survived" if status == 0 else watch.failed or f"pytest ended with {status}"


def in_a_fork(result: Path, *arguments: Any) -> tuple[str, float]:
    """Call `run_tests` in a forked process; return what it returned and the process's CPU seconds."""
    result.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            result.write_text(run_tests(*arguments), encoding="utf-8")
        finally:
            os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    if not result.exists() and not os.WIFSIGNALED(status):
        raise RuntimeError("pytest could not be run")
    outcome = result.read_text(encoding="utf-8") if result.exists() else "out of time, or a crash"
    return outcome, usage.ru_utime + usage.ru_stime


def prepare() -> None:
    """Import once, for all processes, libraries, what numba prepares for its first function, the package's names."""
    os.chdir(ROOT)
    sys.path[:0] = [str(SOURCES)]
    from heldout.processor import pin

    pin()
    for library in ("hypothesis.extra.numpy", "pytest", "scipy.optimize", "scipy.sparse", "scipy.stats", "sklearn"):
        importlib.import_module(library)
    importlib.import_module("numba").njit("float64(float64[::1])")(lambda values: values.sum())
    uses()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="+", help="name modules by their last names")
    parser.add_argument("--every", type=int, default=1, help="run every N-th mutant (default: 1)")
    chosen, known = parser.parse_args(), modules()
    if unknown := set(chosen.modules) - set(known):
        parser.error(f"no module {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    with EQUIVALENT.open(newline="", encoding="utf-8") as file:
        equivalent = {(row["module"], row["place"], row["before"], row["after"]) for row in csv.DictReader(file)}
    prepare()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.modules:
            path, result = known[name], Path(folder) / "result"
            mutants = list(mutants_of(name, path))
            stale = {key for key in equivalent if key[0] == name} - {mutant.key for mutant in mutants}
            wrong += [f"listed, but no mutant any more: {' | '.join(key)}" for key in sorted(stale)]
            tests, killed, taken = tests_of(name, path), 0, mutants[:: chosen.every]
            outcome, seconds = in_a_fork(result, tests, path, None, 3600.0)
            print(f"{name}: {len(taken)} mutants; unchanged, the tests take {seconds:.1f} s ({outcome})", flush=True)
            if outcome != "survived":
                wrong.append(f"the tests of {name} fail without a change: {outcome}")
                continue
            for mutant in taken:
                outcome, _ = in_a_fork(result, tests, path, mutant, max(CPU_SECONDS, TIMES_BASELINE * seconds))
                survived = outcome == "survived"
                killed += not survived
                line = f"{name}:{mutant.line} {mutant.before}  ->  {mutant.after}  ({outcome})"
                print(line, flush=True)
                if survived != (mutant.key in equivalent):
                    wrong.append(line if survived else f"listed, but killed: {line}")
            print(f"{name}: {killed} of {len(taken)} killed", flush=True)
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
