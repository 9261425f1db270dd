"""Made-up measurements of precision: power laws, written as a study writes them, and read."""

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heldout.auditing.precision_table import Table, read_table
from heldout.evaluators import CHIB, LINEAR, SEQUENTIAL
from heldout.measurements import Measurement, write_measurements
from heldout.papers.likelihood.experiments.precision import BIAS, ERROR, REFERENCE_BIAS, REFERENCE_ERROR, STATED

GRID_TOPICS, GRID_TOKENS, SAMPLES = (10, 100), (20, 200), (1, 10, 100)
COLUMNS = ("prior", "topics", "tokens", "estimator", "samples", "milliseconds")


def law(name: str, topics: float, tokens: float, samples: float) -> tuple[float, float, float]:
    """Return the error, the bias and the milliseconds of the made-up estimators."""
    if name == SEQUENTIAL:
        return (
            0.1 * topics**0.3 * tokens**0.6 * samples**-0.5,
            -1e-6 * topics**0.3 / samples,
            1e-5 * samples * tokens**2,
        )
    if name == CHIB:
        return 0.01 * topics * tokens**0.5 * samples**-0.25, -1e-6, 1e-4 * topics * tokens * samples
    return 0.05 * tokens * topics**0.1, 0.05 * tokens * topics**0.1, 1e-5 * topics * tokens


def made(folder: Path, *, known: float = 0.0, error: float = 0.0, harder: float = 2.0) -> Table:
    """Return a table of the made-up laws, written and read: errors under the second prior are larger by a factor."""
    rows, times = [], []
    for prior, factor in (("alpha-0.1", 1.0), ("alpha-sum-1", harder)):
        for K in GRID_TOPICS:
            for L in GRID_TOKENS:
                named: dict[str, Any] = {
                    **{"corpus": "none", "model": "none", "variant": f"{prior}-tokens-{L}", "topics": K},
                    **{"smoothing": 0.0, "chain": "none", "seed": 0, "axis": "samples"},
                }
                for name in (SEQUENTIAL, CHIB, LINEAR):
                    for S in [0] if name == LINEAR else SAMPLES:
                        e, b, ms = law(name, K, L, S)
                        its = {"at": S, **named}
                        rows.append(Measurement(quantity=ERROR + name, value=e * factor, standard_error=error, **its))
                        rows.append(Measurement(quantity=BIAS + name, value=b * factor, **its))
                        if name == SEQUENTIAL and S > 1:
                            rows.append(Measurement(quantity=STATED + name, value=e * factor / 1.5, **its))
                        times.append((prior, K, L, name, S, ms))
                rows.append(Measurement(quantity=REFERENCE_ERROR + CHIB, at=99, value=known, **named))
                rows.append(Measurement(quantity=REFERENCE_BIAS + CHIB, at=99, value=0.0, **named))
    return written(folder, rows, times)


def written(folder: Path, rows: Iterable[Measurement], times: Iterable[tuple[Any, ...]]) -> Table:
    write_measurements(folder / "measurements.csv", rows)
    (folder / "measurements.csv.gz").write_bytes(gzip.compress((folder / "measurements.csv").read_bytes()))
    with (folder / "timings.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *times])
    return read_table(folder / "measurements.csv.gz", folder / "timings.csv")
