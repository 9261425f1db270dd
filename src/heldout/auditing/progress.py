"""Plan and progress on standard error, the same for the command and for Python."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from heldout.auditing.formats import duration

PAUSE = 15.0  # seconds between two lines
Moved = Callable[[int, float], None]  # the number of documents done, and the share of the estimated work


@contextmanager
def bar(err: TextIO) -> Iterator[Moved]:
    """Yield a function that moves a bar with the estimated time; without a terminal it prints a line at times."""
    if not err.isatty():
        yield _lines(err)
        return
    columns = (
        TextColumn("{task.fields[documents]:,} documents"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(file=err), transient=True) as shown:
        task = shown.add_task("", total=1.0, documents=0, visible=False)
        yield lambda documents, share: shown.update(task, completed=share, documents=documents, visible=True)


def _lines(err: TextIO) -> Moved:
    """Return a function that prints the share of the work that is done, at most once in `PAUSE` seconds."""
    began = last = time.monotonic()
    kept: float | None = None  # share of the work that an earlier run had done

    def moved(documents: int, share: float) -> None:
        nonlocal last, kept
        now, kept = time.monotonic(), share if kept is None else kept
        if now - last >= PAUSE:
            left = f", about {duration((now - began) / (share - kept) * (1.0 - share))} left" if share > kept else ""
            print(f"heldout: {documents:,} documents, {share:.0%}{left}", file=err, flush=True)
            last = now

    return moved


@contextmanager
def reporting(
    announce: Callable[[Any], None] | None, progress: Moved | bool | None
) -> Iterator[tuple[Callable[[Any], None] | None, Moved | None]]:
    """Yield the functions that are to be called with the plan, and after every block.

    Args:
        announce: is called with the plan in place of printing it.
        progress: is called; True prints plan and bar on standard error, or lines where that is no terminal; None does
            so on a terminal or in a notebook alone.
    """
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not isinstance(progress, bool):
        yield announce, progress
    elif not progress:
        yield announce, None
    else:
        with bar(sys.stderr) as moved:
            yield announce or (lambda plan: print(plan, file=sys.stderr, flush=True)), moved
