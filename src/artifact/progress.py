"""Lines of a run's log: its progress, and at its end the files that it made."""

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from artifact.contrasts.effect import read_effects

SHARE = 0.05  # share of all jobs between two lines
SECONDS = 300.0  # seconds between two lines


class ProgressLines(logging.Handler):
    """A handler that prints a line once both a share of the jobs and some minutes have passed.

    Snakemake logs a record with the event "progress" after every job; on a terminal its display needs no lines.
    """

    def __init__(self) -> None:
        """Start the clock."""
        super().__init__()
        self.start = self.last = time.monotonic()
        self.done = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line if one is due."""
        if str(getattr(record, "event", "")) != "progress":
            return
        done, total, now = int(vars(record)["done"]), int(vars(record)["total"]), time.monotonic()
        if done < total and done - self.done >= SHARE * total and now - self.last >= SECONDS:
            taken = f"{(now - self.start) / 60.0:.0f} minutes"
            print(f"heldout: {done} of {total} jobs done ({done / total:.0%}) in {taken}", file=sys.stderr)
            self.done, self.last = done, now


def outcome(made: Iterable[Path], effects: Path, start: float) -> list[str]:
    """Return a line on the files that a run made, and one that counts its effects by where they lie.

    Files and folders that are older than the run's start, in seconds since the epoch, are left out.
    """
    new = [str(path) for path in made if path.exists() and path.stat().st_mtime >= start]
    lines = [f"made {', '.join(new)}"] if new else []
    if new and effects.exists():
        known = read_effects(effects)
        findings = Counter(effect.finding for own in known.values() for effect in own)
        counted = ", ".join(f"{number} {name}" for name, number in findings.most_common())
        lines.append(f"{len(known)} contrasts, {findings.total()} effects: {counted}")
    return lines
