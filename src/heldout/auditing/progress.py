"""Plan and progress on standard error, the same for the command and for Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Moved = Callable[[int, float], None]  # the number of documents done, and the share of the estimated work


@contextmanager
def bar(err: TextIO) -> Iterator[Moved]:
    """Yield a function that moves a bar with the estimated time; it shows on a terminal alone."""
    columns = (
        TextColumn("{task.fields[documents]:,} documents"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(file=err), transient=True, disable=not err.isatty()) as shown:
        task = shown.add_task("", total=1.0, documents=0, visible=False)
        yield lambda documents, share: shown.update(task, completed=share, documents=documents, visible=True)


@contextmanager
def reporting(
    announce: Callable[[Any], None] | None, progress: Moved | bool | None
) -> Iterator[tuple[Callable[[Any], None] | None, Moved | None]]:
    """Yield the functions that are to be called with the plan, and after every block.

    Args:
        announce: is called with the plan in place of printing it.
        progress: is called; True prints plan and bar on standard error, None where that is a terminal or a notebook's.
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
