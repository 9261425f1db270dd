"""Tidy tables as CSV: written whole or not at all, merged without touching the text of a row."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from heldout.errors import InputError
from heldout.files import replacing


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows in the order given, floats with all their digits (the shortest that read back the same)."""
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def merge_rows(
    paths: Iterable[Path],
    destination: Path,
    columns: Sequence[str],
    key: Sequence[str],
    *,
    numbers: Sequence[str],
    what: str,
) -> None:
    """Merge tables into one, sorted by the columns of `key`; the text of every row stays as it was.

    Args:
        paths: the tables.
        destination: the file to write.
        columns: what each must have.
        key: the columns that name a row.
        numbers: those of them that are sorted as numbers.
        what: what such a table is called.

    Raises:
        InputError: when a file has other columns, or two rows have the same key.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    positions = [columns.index(name) for name in key]
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if tuple(next(reader, ())) != tuple(columns):
                raise InputError(f"{path}: not a {what} table; its columns are not {', '.join(columns)}")
            for row in reader:
                name = tuple(row[i] for i in positions)
                if rows.setdefault(name, row) is not row:
                    raise InputError(f"{path}: reports {', '.join(name)} a second time")
    numeric = [name in numbers for name in key]

    def order(name: tuple[str, ...]) -> tuple[str | float, ...]:
        return tuple(float(part) if number else part for part, number in zip(name, numeric, strict=True))

    write_rows(destination, columns, (rows[name] for name in sorted(rows, key=order)))
