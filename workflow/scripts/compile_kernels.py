"""Compile every numba kernel into its cache, for the machine instructions that jobs and tests run on, two at a time.

Kernels name their types, so that an import compiles them. It would otherwise fall to the first jobs that use each.
"""

import importlib
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from heldout.processor import pin

KINDS = ("models", "evaluators")
SOURCE = Path(__file__).parents[2] / "src"
PACKAGES = (
    *("heldout.evaluators", "heldout.models", "artifact.papers.buntine"),
    *(f"gallery.{folder.parent.name}.{kind}" for kind in KINDS for folder in sorted(SOURCE.glob(f"gallery/*/{kind}"))),
)


def main() -> None:
    """Import all modules of the packages, side by side."""
    pin()
    with ProcessPoolExecutor(2) as pool:
        for number, package in enumerate(pool.map(load, PACKAGES), start=1):
            print(f"kernels: {number} of {len(PACKAGES)} packages compiled ({package})", flush=True)


def load(package: str) -> str:
    """Import every module of a package; return its name."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")
    return package


if __name__ == "__main__":
    main()
