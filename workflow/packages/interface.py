"""What every driver in Python reads and writes; README.md has the interface."""

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp


class Folder:
    """The folder that a driver is given on its command line."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        with (self.path / "settings.csv").open(encoding="utf-8", newline="") as file:
            settings = next(csv.DictReader(file))
        self.topics, self.rounds, self.seed = (int(settings[name]) for name in ("topics", "rounds", "seed"))

    def counts(self, name: str) -> sp.csr_matrix:
        """Return a matrix of documents by words."""
        return sp.csr_matrix(scipy.io.mmread(self.path / f"{name}.mtx"))

    def tests(self) -> Iterator[tuple[str, sp.csr_matrix]]:
        """Yield the names and counts of the sets of test documents."""
        for path in sorted(self.path.glob("test-*.mtx")):
            yield path.stem.removeprefix("test-"), self.counts(path.stem)

    def write(self, name: str, values: Any) -> None:
        """Write an array as doubles, a row after the other."""
        np.ascontiguousarray(values, dtype="<f8").tofile(self.path / f"{name}.f64")


def drive(driver: Callable[[Folder], tuple[str, dict[str, float]]]) -> None:
    """Run a driver, which returns the package's version and its numbers by set of test documents."""
    folder = Folder(sys.argv[1])
    version, values = driver(folder)
    lines = [f"{name},{value:.17g}" for name, value in values.items()]
    (folder.path / "reported.csv").write_text("\n".join(["test,value", *lines, ""]), encoding="utf-8")
    (folder.path / "version.txt").write_text(version, encoding="utf-8")
