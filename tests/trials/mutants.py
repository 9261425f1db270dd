"""Change kernels and effects by one sign, comparison or number, and see that a test fails: `make mutants`.

A mutant is killed where a test of its module fails or does not end. Survivors stand in FOLDER/mutants.csv with the line
as it was and as it is: each needs a test, or is equal to its original, and then has a row with the reason in
`equal.csv` beside this file. The same command tries other survivors again and goes on where it was; exit status 1 where
fewer than `ENOUGH` of all are killed or equal. A night's work by itself: every mutant compiles its kernels anew, as
those of others hold a copy of it.
"""

import argparse
import ast
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from heldout.files import write_rows

ROOT = Path(__file__).parents[2]
MUTANTS, ENOUGH, LIMIT = 200, 0.95, 1800  # number, share killed or equal, seconds after which a test has no end
MOST = 8  # files of tests that are tried
MODULES = (
    *(f"heldout/evaluators/{name}.py" for name in ("exact_marginal", "count_polynomial", "left_to_right_kernel")),
    *(f"heldout/evaluators/{name}.py" for name in ("reference", "annealed_importance", "particle_filter")),
    *(f"heldout/evaluators/{name}.py" for name in ("expected_excess", "mean_field_bound", "logistic_normal")),
    *(f"heldout/models/{name}.py" for name in ("plsa_kernel", "lda_kernel", "lda_sparse_kernel", "vem")),
    *sorted(str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/artifact/contrasts").glob("[a-z]*.py")),
)
OTHER = {"+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COLUMNS = ("number", "module", "line", "original", "mutant", "outcome")
EQUAL = Path(__file__).with_name("equal.csv")


def places(text: str) -> list[tuple[int, int, str]]:
    """Return the start, end and replacement of every operator and number of a module's code that may be changed."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(text.splitlines()[line - 1].encode()[:column].decode())

    found = []
    tree = ast.parse(text)
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        for part in ("annotation", "returns", "decorator_list")
        for one in (getattr(node, part, None) or [],)
        for top in (one if isinstance(one, list) else [one])
        for inner in ast.walk(top)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        pairs = []
        if isinstance(node, ast.BinOp):
            pairs = [(node.left, node.right)]
        elif isinstance(node, ast.Compare):
            pairs = [(node.left, node.comparators[0])]
        elif isinstance(node, ast.AugAssign):
            pairs = [(node.target, node.value)]
        for left, right in pairs:
            first, last = at(left.end_lineno or 0, left.end_col_offset or 0), at(right.lineno, right.col_offset)
            if match := re.search(r"(?<![*/<>=!])(==|!=|<=|>=|[-+*/<>])(?![*/<>])", text[first:last]):
                found.append((first + match.start(1), first + match.end(1), OTHER[match[1]]))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            first, last = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
            found.append((first, last, repr(node.value + 1)))
    return sorted(set(found))


def tests_of(module: str) -> list[str]:
    """Return the tests of a module, or of those that import it: by its name first, the `MOST` shortest.

    A kernel's are those of its model, too: `test_lda` of `lda_kernel`.
    """
    name = Path(module).stem
    tests = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    own = [
        path for path in tests if path.stem.startswith(f"test_{name}") or f"test_{name}_".startswith(f"{path.stem}_")
    ]
    known = {module} | {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*.py")
        if not own and re.search(rf"\b{name}\b", path.read_text())
    }
    dotted = {one: re.escape(one.removesuffix(".py").replace("/", ".")) for one in sorted(known)}
    importing = [path for path, text in tests.items() if re.search(rf"\b({'|'.join(dotted.values())})\b", text)]
    itself = {path for path in importing if re.search(rf"\b{dotted[module]}\b", tests[path])}
    beside = ROOT / "tests" / Path(module).parent
    order = {path: (path not in itself, path.parent != beside, len(tests[path]), path) for path in importing}
    others = sorted({*importing} - {*own}, key=order.__getitem__)
    chosen = [*sorted(own), *others]
    return [str(path.relative_to(ROOT)) for path in chosen[:MOST]]


def _change(row: dict[str, str]) -> tuple[str, str, str]:
    return row["module"], row["original"], row["mutant"]


def main() -> int:
    """Run the mutants that were not run yet; return 1 where too many survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the mutants, made if missing")
    parser.add_argument("--mutants", type=int, default=MUTANTS, help=f"number of mutants (default: {MUTANTS})")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log, source = folder / "mutants.csv", folder / "src"
    if not log.exists():
        log.write_text(",".join(COLUMNS) + "\n")
    with EQUAL.open(newline="") as file:
        equal = {_change(row) for row in csv.DictReader(file)}
    with log.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "killed" or _change(row) in equal]
    write_rows(log, COLUMNS, [tuple(row.values()) for row in rows])
    known = {int(row["number"]) for row in rows}
    every = [(module, *place) for module in MODULES for place in places((ROOT / "src" / module).read_text())]
    random.Random(0).shuffle(every)
    for number, (module, first, last, replacement) in enumerate(every[: options.mutants]):
        if number in known:
            continue
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        text = (source / module).read_text()
        changed = text[:first] + replacement + text[last:]
        (source / module).write_text(changed)
        line = text.count("\n", 0, first)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests_of(module)]
        with tempfile.TemporaryDirectory(dir=folder) as cache:
            environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache}
            try:
                status = subprocess.run(
                    command, cwd=ROOT, env=environment, capture_output=True, timeout=LIMIT, check=False
                ).returncode
            except subprocess.TimeoutExpired:
                status = 1
        lines = (text.splitlines()[line].strip(), changed.splitlines()[line].strip())
        row = (str(number), module, str(line + 1), *lines, "killed" if status else "survived")
        rows.append(dict(zip(COLUMNS, row, strict=True)))
        with log.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)
        print(" | ".join(row), flush=True)
    killed = sum(row["outcome"] == "killed" for row in rows)
    same = sum(_change(row) in equal for row in rows if row["outcome"] != "killed")
    print(f"{len(rows)} mutants: {killed} killed, {same} equal, {len(rows) - killed - same} survived")
    return int(killed + same < ENOUGH * len(rows))


if __name__ == "__main__":
    sys.exit(main())
