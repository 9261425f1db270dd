"""The first run of an audit, with nothing compiled: from the command to the first result, and what it is spent on.

usage: first_run.py [--against SRC]   (writes first_run.md; SRC: another checkout's src, measured in turn)

200 documents, scikit-learn's LDA at K = 20, the models and documents of `workflow/newcomer/models.py`. Every run has a
fresh cache of numba's and of figures' fonts; byte code is there, as pip leaves it, by a run before that is not counted.
The first result is the first line that holds the likelihood's perplexity. Times are processor seconds of the process,
which other work on the machine lengthens less than the clock's; where the machine is otherwise idle the two agree.
"""

import argparse
import builtins
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

from heldout.files import replacing
from heldout.processor import pin

ROOT = Path(__file__).parents[1]
COMMAND = "audit {model} test.npz --vocabulary words.txt --html audit.html"
PYTHON = (
    "import scipy.sparse, joblib, heldout; model, X = joblib.load('lda.joblib'), scipy.sparse.load_npz('test.npz');"
    " print('called', flush=True); print(heldout.audit(model, X, progress=True))"
)
WAYS = {  # by what a user types
    "`heldout audit lda.skops`": ("command", COMMAND.format(model="lda.skops")),
    "`heldout audit lda.joblib --trust-pickle`": ("command", COMMAND.format(model="lda.joblib --trust-pickle")),
    "`heldout.audit(model, X)`": ("python", PYTHON),
}
FIRST = ("the likelihood's perplexity", "per token")  # either stands in the first result, by version
ROUNDS, LEAST = 3, 0.1  # seconds of a part that is listed


def inside(way: str, what: str, out: int) -> None:
    """Run an audit in this process, with what is imported and compiled on the clock; write that to the file `out`."""
    spent: dict[str, float] = defaultdict(float)
    stack: list[float] = []

    def record(name: str, begin: float) -> None:
        took = time.process_time() - begin
        spent[name] += took - stack.pop()
        if stack:
            stack[-1] += took

    original = builtins.__import__

    def importing(name, globals=None, locals=None, fromlist=(), level=0):  # type: ignore[no-untyped-def]
        root = (name if not level else (globals or {}).get("__package__") or "").partition(".")[0]
        begin = time.process_time()
        stack.append(0.0)
        try:
            return original(name, globals, locals, fromlist, level)
        finally:
            record(f"import {root}", begin)

    builtins.__import__ = importing
    pin()
    from numba.core import event

    begins: list[float] = []

    class Compiled(event.Listener):  # type: ignore[misc]
        def on_start(self, _: event.Event) -> None:
            begins.append(time.process_time())
            stack.append(0.0)

        def on_end(self, found: event.Event) -> None:
            function = found.data["dispatcher"].py_func
            name = function.__qualname__ if function.__module__.startswith("heldout") else "numba's own"
            record(f"compile {name}", begins.pop())

    event.register("numba:compile", Compiled())
    try:
        if way == "command":
            from heldout.cli import main

            main(what.split())
        else:
            exec(what)
    finally:
        with os.fdopen(out, "w") as file:
            json.dump(spent, file)


def measure(way: str, what: str, folder: Path, source: Path) -> tuple[float, float, dict[str, float]]:
    """Run an audit; return the processor seconds to the first result and to the end, and what took them."""
    with tempfile.TemporaryDirectory() as fresh:
        caches = {"NUMBA_CACHE_DIR": "numba", "XDG_CACHE_HOME": "user", "MPLCONFIGDIR": "fonts"}
        environment = os.environ | {name: f"{fresh}/{value}" for name, value in caches.items()}
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytes"}
        environment |= {"PYTHONPATH": str(source), "PYTHONUNBUFFERED": "1", "MPLBACKEND": "Agg"}
        reader, writer = os.pipe()
        command = [sys.executable, __file__, "--inside", way, what, str(writer)]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            pass_fds=[writer],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(writer)
        assert process.stdout is not None
        first, called = 0.0, 0.0
        for line in process.stdout:
            if line.startswith("called"):
                called = _spent(process.pid)
            if not first and any(words in line for words in FIRST):
                first = _spent(process.pid) - called
        with os.fdopen(reader) as file:
            spent = json.load(file)
        _, status, used = os.wait4(process.pid, 0)
        if status or not first:
            raise SystemExit(f"{what}: ended with {status}, and no result")
        return first, used.ru_utime + used.ru_stime - called, spent


def _spent(process: int) -> float:
    """Return the processor seconds that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name: str, spent: dict[str, list[float]], digits: int = 1) -> str:
    """Return a row of a table: the median of every column."""
    return f"| {name} | {' | '.join(f'{statistics.median(values):.{digits}f}' for values in spent.values())} |"


def main() -> int:
    """Measure, and write first_run.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="measure the src of another checkout, too, in turn")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(*options.inside[:2], int(options.inside[2]))
        return 0
    sources = ({"before": options.against.resolve()} if options.against else {}) | {"now": ROOT / "src"}
    lines = [
        "# The first run of an audit",
        "",
        f"Written by `python benchmarks/first_run.py` (do not edit); Python {platform.python_version()}, numba"
        f" {version('numba')}, scikit-learn {version('scikit-learn')}. Processor seconds, medians of {options.rounds}"
        " runs without a compiled kernel; "
        + ", ".join(f"{name}: {commit(source)}" for name, source in sources.items())
        + f". The machine's load was {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores, shared with others' work,"
        " which lengthens them.",
        "",
    ]
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        subprocess.run([sys.executable, ROOT / "workflow" / "newcomer" / "models.py"], cwd=folder, check=True)
        code = "import skops.io, joblib; joblib.dump(skops.io.load('lda.skops'), 'lda.joblib')"
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
        ends: dict[str, dict[str, list[float]]] = {}
        parts: dict[str, dict[str, list[float]]] = {}
        for turn in range(options.rounds + 1):
            for name, (way, what) in WAYS.items():
                for source_name, source in sources.items():
                    first, whole, spent = measure(way, what, folder, source)
                    if turn == 0:  # it leaves the byte code
                        continue
                    for column, value in (("first result", first), ("all", whole)):
                        ends.setdefault(name, {}).setdefault(f"{source_name}: {column}", []).append(value)
                    for part, value in spent.items() if name == next(iter(WAYS)) else ():
                        columns = parts.setdefault(part, {source: [0.0] * 0 for source in sources})
                        columns[source_name].append(value)
    columns = list(next(iter(ends.values())))
    lines += [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}", *(row(*item) for item in ends.items())]
    lines += ["", f"What {next(iter(WAYS))} takes of it, in all, by package imported and kernel compiled:", ""]
    lines += [f"| | {' | '.join(sources)} |", f"|---|{'---:|' * len(sources)}"]
    for part, spent in sorted(parts.items(), key=lambda item: -max(max(v, default=0.0) for v in item[1].values())):
        if max(max(values, default=0.0) for values in spent.values()) >= LEAST:
            lines.append(row(part, {name: values or [0.0] for name, values in spent.items()}, digits=2))
    with replacing(ROOT / "benchmarks" / "first_run.md") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def commit(source: Path) -> str:
    """Return the commit of a checkout's src."""
    command = ["git", "-C", str(source), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
