"""The estimators' errors, biases and times, measured on a grid of K and document length L.

The errors come from `heldout.papers.likelihood.experiments.precision`, the times from `benchmarks/estimators.py
--grid`, for a few priors. The reference results of both travel with the package, in `data/precision.csv`;

    python -m heldout.auditing.precision_table MEASUREMENTS TIMINGS

rewrites that file. Those under logistic-normal priors are in `data/logistic_normal.csv`, which
`benchmarks/logistic_normal.py` writes.

Measurements are read conservatively. An error is increased by its own standard error, and is at least the uncertainty
of the reference that it was measured against. Errors do not rise with the number of samples S: the largest error at S
or more samples counts. The size of a bias b is (b^2 + its standard error^2)^(1/2), and no error is smaller than the
bias.
"""

import csv
import gzip
import io
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.files import replacing
from heldout.limits import require_file
from heldout.tables import require_end

REFERENCE = Path(str(resources.files("heldout.auditing") / "data" / "precision.csv"))
LOGISTIC_NORMAL = REFERENCE.with_name("logistic_normal.csv")
COLUMNS = ("prior", "topics", "tokens", "estimator", "samples", "error", "bias", "ratio", "milliseconds")
LEAST = 1e-12  # nats: an error of 0 has no logarithm

Corner = tuple[int, int]  # K and L of a grid point
Timed = tuple[int, float]  # samples, and milliseconds per document
Cell = dict[str, dict[int, tuple[float, float]]]  # by quantity and samples: a value and its standard error


class Run(NamedTuple):
    """An estimator's measurements at one number of samples.

    Attributes:
        samples: S, 0 for a deterministic estimator.
        error: conservative root mean square error, nats per document.
        bias: estimate less log p, nats per document, of conservative size.
        ratio: the true error over the stated one; NaN if none is stated.
    """

    samples: int
    error: float
    bias: float
    ratio: float


Errors = dict[str, dict[Corner, dict[str, tuple[Run, ...]]]]
Times = dict[str, dict[Corner, dict[str, tuple[Timed, ...]]]]


@dataclass(frozen=True)
class Table:
    """Measured errors and times of the estimators.

    Attributes:
        errors: by prior, K, L and estimator, the runs in order of samples.
        milliseconds: by prior, K, L and estimator, (samples, milliseconds per document), samples ascending.
    """

    errors: Errors
    milliseconds: Times


@lru_cache(maxsize=4)
def read_table(calibration: Path | None = None, timings: Path | None = None) -> Table:
    """Read measured errors and times.

    Args:
        calibration: measurements (CSV, or gzipped) with the rows of `heldout.papers.likelihood.experiments.precision`;
            None for the reference results.
        timings: the CSV that `benchmarks/estimators.py --grid` writes; None for the reference results.

    Raises:
        InputError: when a file is missing or malformed.

    Examples:
        >>> table = read_table()
        >>> [run.samples for run in table.errors["alpha-0.1"][100, 50]["annealed-importance"]]
        [1, 10]
    """
    reference = parse(REFERENCE.read_text(encoding="utf-8"))
    return Table(
        reference.errors if calibration is None else read_errors(calibration),
        reference.milliseconds if timings is None else read_times(timings),
    )


@lru_cache(maxsize=1)
def logistic_normal_table() -> Table:
    """Read the errors and times under logistic-normal priors that travel with the package."""
    return parse(LOGISTIC_NORMAL.read_text(encoding="utf-8"))


def read_errors(path: Path) -> Errors:
    """Read the errors from the measurements of a study with `precision`; of several seeds, the first.

    Raises:
        InputError: when the file is missing, is no table of measurements, or has none of precision.
    """
    try:
        errors = errors_in(_rows(path, "--calibration", "measurements.csv.gz of a study that measured precision"))
    except (ValueError, KeyError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{path}: not a whole table ({error})") from error
    if not any(of_corner for of_prior in errors.values() for of_corner in of_prior.values()):
        raise InputError(f"{path}: has no measurement of precision; give --calibration of a study that has one")
    return errors


def errors_in(rows: Iterable[Mapping[str, str]]) -> Errors:
    """Return the errors in rows of a table of measurements; of several seeds, the first.

    Raises:
        ValueError, KeyError: for rows that are none.
    """
    from heldout.papers.likelihood.experiments.precision import ERROR, NONE, VARIANT  # late, because it imports numba

    cells: dict[tuple[str, int, int], Cell] = {}
    for row in rows:
        prior, separator, tokens = row["variant"].rpartition(VARIANT)
        if separator and row["corpus"] == NONE and row["axis"] == "samples":
            values = cells.setdefault((prior, int(row["topics"]), int(tokens)), {}).setdefault(row["quantity"], {})
            values.setdefault(int(row["at"]), (float(row["value"]), float(row["standard_error"])))
    errors: Errors = {}
    for (prior, topics, length), cell in cells.items():
        errors.setdefault(prior, {})[topics, length] = {
            name: _runs(name, cell) for name in ESTIMATORS if ERROR + name in cell
        }
    return errors


def _runs(name: str, cell: Cell) -> tuple[Run, ...]:
    """Return an estimator's runs, conservative (see the module), samples ascending."""
    from heldout.papers.likelihood.experiments.precision import BIAS, ERROR, REFERENCE_BIAS, REFERENCE_ERROR, STATED

    of_reference = (at for quantity, at in cell.items() if quantity.startswith((REFERENCE_BIAS, REFERENCE_ERROR)))
    known = math.hypot(*(value for at in of_reference for value, _ in at.values()))
    runs: list[Run] = []
    highest = largest = 0.0
    for samples in sorted(cell[ERROR + name], reverse=True):
        error, its_error = cell[ERROR + name][samples]
        bias, bias_error = cell[BIAS + name][samples]
        stated, _ = cell.get(STATED + name, {}).get(samples, (0.0, 0.0))
        largest = max(largest, known, math.hypot(bias, bias_error), LEAST)
        highest = max(highest, error + its_error, largest)
        runs.append(Run(samples, highest, math.copysign(largest, bias), error / stated if stated > 0.0 else math.nan))
    return tuple(reversed(runs))


def read_times(path: Path) -> Times:
    """Read the estimators' milliseconds per document, made non-decreasing in the number of samples.

    Raises:
        InputError: when the file is missing or not a table of timings.
    """
    times: Times = {}
    try:
        for row in _rows(path, "--timings", "the file that benchmarks/estimators.py --grid writes"):
            corner = int(row["topics"]), int(row["tokens"])
            by_estimator = times.setdefault(row["prior"], {}).setdefault(corner, {})
            timed = by_estimator.get(row["estimator"], ())
            least = timed[-1][1] if timed else 0.0  # samples ascend in the file
            by_estimator[row["estimator"]] = (*timed, (int(row["samples"]), max(least, float(row["milliseconds"]))))
    except (ValueError, KeyError) as error:
        raise error if isinstance(error, InputError) else InputError(f"{path}: not a whole table ({error})") from error
    return times


def _rows(path: Path, option: str, what: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a plain or gzipped table that was written whole."""
    require_file(path)
    columns = ("variant", "quantity") if option == "--calibration" else ("prior", "estimator", "milliseconds")
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
            require_end(path, option.removeprefix("--"))
            header = next(csv.reader([next(stream, "")]))
            if not set(columns) <= set(header):
                raise InputError(f"{path}: lacks the columns {', '.join(columns)}; give {option} {what}")
            # a table of measurements is long, and few of its rows are needed
            lines = (line for line in stream if option != "--calibration" or "-tokens-" in line)
            for row in csv.DictReader(lines, header):
                if None in row or None in row.values():
                    raise ValueError("a line has too few cells or too many")
                yield row
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give {option} {what}") from error
    except (OSError, EOFError, ValueError, KeyError, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({error}); give {option} {what}") from error


def as_csv(table: Table) -> str:
    """Return a table as the package's CSV: a row per run or time, with empty cells where nothing was measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for prior in dict.fromkeys([*table.errors, *table.milliseconds]):
        errors, times = table.errors.get(prior, {}), table.milliseconds.get(prior, {})
        for corner in dict.fromkeys([*errors, *times]):
            of_runs, of_times = errors.get(corner, {}), times.get(corner, {})
            for name in dict.fromkeys([*of_runs, *of_times]):
                runs = {run.samples: run[1:] for run in of_runs.get(name, ())}
                timed = dict(of_times.get(name, ()))
                for samples in sorted({*runs, *timed}):
                    values = [*runs.get(samples, ("", "", "")), timed.get(samples, "")]
                    writer.writerow([prior, *corner, name, samples, *values])
    return text.getvalue()


def parse(text: str) -> Table:
    """Return the table that `as_csv` wrote."""
    table = Table({}, {})
    for row in csv.DictReader(text.splitlines()):
        prior, corner, name = row["prior"], (int(row["topics"]), int(row["tokens"])), row["estimator"]
        samples = int(row["samples"])
        if row["error"]:
            runs = table.errors.setdefault(prior, {}).setdefault(corner, {})
            run = Run(samples, float(row["error"]), float(row["bias"]), float(row["ratio"]))
            runs[name] = (*runs.get(name, ()), run)
        if row["milliseconds"]:
            times = table.milliseconds.setdefault(prior, {}).setdefault(corner, {})
            times[name] = (*times.get(name, ()), (samples, float(row["milliseconds"])))
    return table


if __name__ == "__main__":
    measured = Table(read_errors(Path(sys.argv[1])), read_times(Path(sys.argv[2])))
    with replacing(REFERENCE) as temporary:
        temporary.write_text(as_csv(measured), encoding="utf-8")
