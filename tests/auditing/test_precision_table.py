"""What was measured: read on the safe side, refused where it is something else, and the same in the package."""

import math
from pathlib import Path

import pytest
from made_precision import made

from heldout.auditing.precision_table import (
    REFERENCE,
    Run,
    Table,
    as_csv,
    parse,
    read_errors,
    read_table,
    read_times,
)
from heldout.errors import InputError
from heldout.measurements import write_measurements

ROOT = Path(__file__).parents[2]
MEASURED = ("data/reference/paper/measurements.csv.gz", "data/reference/precision_timings.csv")


def test_make_reference_renews_the_table_from_the_same_files() -> None:
    called = f"-m heldout.auditing.precision_table {' '.join(MEASURED)}\n"
    assert called in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_package_has_what_the_reference_results_say() -> None:
    measurements, timings = (ROOT / path for path in MEASURED)
    expected = as_csv(Table(read_errors(measurements), read_times(timings)))
    kept = REFERENCE.read_text(encoding="utf-8")
    assert kept == expected, f"out of date: run `python -m heldout.auditing.precision_table {' '.join(MEASURED)}`"
    assert len(kept) < 300_000
    assert as_csv(read_table()) == kept


def test_what_was_not_measured_or_not_timed_stays_unknown() -> None:
    runs = (Run(1, 2.5, -0.1, math.nan), Run(10, 1.0 / 3.0, -1e-12, 1.5))
    table = Table(
        {"alpha-0.1": {(4, 10): {"chib": runs}}},
        {"alpha-0.1": {(4, 10): {"chib": ((10, 0.5), (100, 5.0))}}, "alpha-1": {(4, 10): {"linear-time": ((0, 0.1),)}}},
    )
    assert repr(parse(as_csv(table))) == repr(table)  # NaN differs from itself


def test_one_of_the_two_may_be_given(tmp_path: Path) -> None:
    table, reference = made(tmp_path), read_table()
    given = read_table(tmp_path / "measurements.csv.gz")
    assert repr((given.errors, given.milliseconds)) == repr((table.errors, reference.milliseconds))
    given = read_table(timings=tmp_path / "timings.csv")
    assert repr((given.errors, given.milliseconds)) == repr((reference.errors, table.milliseconds))


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    made(tmp_path)
    measurements, timings = tmp_path / "measurements.csv", tmp_path / "timings.csv"
    with pytest.raises(InputError, match="no such file; give --calibration"):
        read_table(tmp_path / "none.csv", timings)
    with pytest.raises(InputError, match="no such file; give --timings"):
        read_table(measurements, tmp_path / "none.csv")
    with pytest.raises(InputError, match="lacks the columns variant, quantity; give --calibration"):
        read_table(timings, timings)
    empty = tmp_path / "empty.csv"
    write_measurements(empty, [])
    with pytest.raises(InputError, match="has no measurement of precision"):
        read_table(empty, timings)
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes((tmp_path / "measurements.csv.gz").read_bytes()[:200])
    with pytest.raises(InputError, match="cannot be read"):
        read_table(cut, timings)
