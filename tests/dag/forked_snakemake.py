"""Snakemake in processes that are forked from one that has imported it: a run starts in a fraction of the time.

As a program this file is that process: it runs what each line of its input asks for, and answers with the number of the
new process and, when that has ended, with its exit code.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# what Snakemake and the rules import; one that is missing here costs time and nothing else
IMPORTED = (
    "snakemake.cli",
    *("heldout.corpora.prepare", "heldout.corpora.realistic", "heldout.models"),
    *(f"artifact.{module}" for module in ("makers", "papers", "schema", "study.digest", "typesetting.exhibits")),
)


class ForkedSnakemake:
    """Runs of Snakemake, one at a time."""

    def __init__(self, environment: dict[str, str]) -> None:
        """Start the process that later ones are forked from."""
        from limits import HOUR  # on the path of the tests, not of the new process

        command = [sys.executable, __file__, str(HOUR)]
        self.server = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, folder: Path, *arguments: str, stdout: str = os.devnull, stderr: str = os.devnull) -> int:
        """Start a run in a folder, as the leader of its process group; return that group's number."""
        assert self.server.stdin is not None
        self.server.stdin.write(json.dumps([str(folder), arguments, stdout, stderr]) + "\n")
        self.server.stdin.flush()
        return self._answer()

    def wait(self) -> int:
        """Return the exit code of the run that was started last, when it has ended."""
        return self._answer()

    def run(self, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run in a folder to the end."""
        with tempfile.TemporaryDirectory() as said:
            stdout, stderr = Path(said, "stdout"), Path(said, "stderr")
            self.start(folder, *arguments, stdout=str(stdout), stderr=str(stderr))
            code = self.wait()
            return subprocess.CompletedProcess(arguments, code, stdout.read_text(), stderr.read_text())

    def close(self) -> None:
        """End the process that runs are forked from."""
        self.server.communicate()

    def _answer(self) -> int:
        assert self.server.stdout is not None
        return int(self.server.stdout.readline())


def is_running(process: int) -> bool:
    """Return whether a run that was started has not ended; it leads its group only a moment after its start."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def serve(limit: int) -> None:
    """Run what the lines of the input ask for."""
    for module in IMPORTED:
        importlib.import_module(module)
    # what the rules do to every file of the package, remembered by its text
    texts = sys.modules["artifact.study.digest"].sources(ROOT)
    modules = (Path(file).relative_to("src").with_suffix("").parts for file in texts if file.endswith(".py"))
    sys.modules["artifact.study.digest"].contents(
        texts, *(".".join(parts) for parts in modules if parts[-1] != "__init__")
    )
    for line in sys.stdin:
        process = os.fork()
        if not process:
            run(limit, *json.loads(line))
        print(process, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def run(limit: int, folder: str, arguments: list[str], stdout: str, stderr: str) -> None:
    """Be a new process that runs Snakemake, `limit` seconds at most, and end."""
    os.setsid()
    signal.alarm(limit)
    os.chdir(folder)
    for number, (path, flags) in enumerate(((os.devnull, os.O_RDONLY), (stdout, os.O_WRONLY), (stderr, os.O_WRONLY))):
        os.dup2(os.open(path, flags | os.O_CREAT), number)
    sys.argv = ["snakemake", *arguments]
    sys.modules["snakemake.cli"].main()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
