"""The scripts of benchmarks/, imported for tests."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def script(name: str) -> Iterator[Any]:
    """Yield a script's module; the thread counts that it sets for its own process are undone."""
    with pytest.MonkeyPatch.context() as patch:
        for library in ("NUMBA", "OMP", "OPENBLAS", "MKL"):
            patch.setenv(f"{library}_NUM_THREADS", "1")
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield importlib.import_module(name)
