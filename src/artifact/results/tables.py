"""Tidy tables as CSV: written whole or not at all, merged without touching the text of a row, read only if whole."""

import csv
import gzip
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.files import write_rows
from heldout.limits import require_file

if TYPE_CHECKING:
    import pandas as pd


NUMBER_OF_ROWS = "# rows: "  # start of the first line of a job's table, with how many follow the columns


def write_counted(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a job's table, whose first line says how many rows it has: one that has lost some is told by it."""
    write_rows(path, columns, rows, head=f"{NUMBER_OF_ROWS}{len(rows)}")


def _rows_said(path: Path, what: str) -> int | None:
    """Return the number of rows that a table says it has; None where it says none, or cannot be read."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            first = file.readline(80).decode(errors="replace").strip()
    except (OSError, EOFError):  # which the reader of its rows will name
        return None
    if not first.startswith(NUMBER_OF_ROWS):
        return None
    if not (number := first.removeprefix(NUMBER_OF_ROWS)).isdecimal():
        raise InputError(f"{path}: not a {what} table: its first line is damaged; make it again")
    return int(number)


def _require_number(path: Path, what: str, rows: int, said: int | None) -> None:
    """Refuse a table that has another number of rows than it says."""
    if said is not None and rows != said:
        raise InputError(
            f"{path}: not a whole {what} table: {rows} rows, where its first line says {said}; make it again"
        )


def merge_rows(
    paths: Iterable[Path],
    destination: Path,
    types: Mapping[str, type],
    key: Sequence[str],
    *,
    numbers: Sequence[str],
    what: str,
    forms: Sequence[Sequence[str]] = (),
) -> None:
    """Merge tables into one, sorted by the columns of `key`; the text of every row stays as it was.

    `numbers` are the columns of the key that are sorted as numbers, `what` the name of the tables in errors. A table,
    plain or gzipped, may have the columns of one of `forms` instead: others are left out, and so is a row whose columns
    beyond the key are empty or missing.

    Raises:
        InputError: when a file has other columns, two rows have the same key, or a line is cut or holds no number where
            one belongs.
    """
    columns = tuple(types)
    numeric_columns = [(place, kind) for place, kind in enumerate(types.values()) if kind is not str]
    rows: dict[tuple[str, ...], list[str]] = {}
    positions = [columns.index(name) for name in key]
    text: Any = {"newline": "", "encoding": "utf-8"}
    further = [place for place in range(len(columns)) if place not in positions]
    for path in paths:
        require_end(path, what)
        said, found = _rows_said(path, what), 0
        try:
            with gzip.open(path, "rt", **text) if path.suffix == ".gz" else path.open(**text) as file:
                if said is not None:
                    next(file)
                reader = csv.reader(file, strict=True)
                header = tuple(next(reader, ()))
                if header not in (columns, *forms):
                    raise InputError(f"{path}: not a {what} table; its columns are not {', '.join(columns)}")
                places = [header.index(name) for name in columns if name in header]
                for cells in reader:
                    found += 1
                    if len(cells) != len(header):
                        raise ValueError(f"line {reader.line_num} has {len(cells)} cells, not {len(header)}")
                    row = cells if header == columns else [cells[place] for place in places]
                    if header != columns and not any(row[place] for place in further[: len(row) - len(key)]):
                        continue
                    for place, kind in numeric_columns:
                        kind(row[place])
                    name = tuple(row[i] for i in positions)
                    if rows.setdefault(name, row) is not row:
                        raise InputError(f"{path}: reports {', '.join(name)} a second time")
        except InputError:
            raise
        except (OSError, EOFError, ValueError, csv.Error) as error:
            raise InputError(f"{path}: not a whole {what} table ({error!s:.200}); make it again") from error
        _require_number(path, what, found, said)
    numeric = [name in numbers for name in key]

    def order(name: tuple[str, ...]) -> tuple[str | float, ...]:
        return tuple(float(part) if number else part for part, number in zip(name, numeric, strict=True))

    write_rows(destination, columns, (rows[name] for name in sorted(rows, key=order)))


def read_table(path: Path, types: Mapping[str, type], what: str, **options: Any) -> "pd.DataFrame":
    """Read a table with known columns, plain or gzipped, with pandas.

    Without other options for `pandas.read_csv` an empty cell is no number, and "nan" is.

    Raises:
        InputError: when the file is missing or cut, a line has cells too many or too few, a cell is not of its type, or
            a column is missing.
    """
    import pandas as pd

    require_end(path, what)
    said = _rows_said(path, what)
    options |= {"skiprows": 1} if said is not None else {}
    defaults: dict[str, Any] = {"dtype": dict(types), "keep_default_na": False, "na_values": ["nan"]}
    try:
        table: pd.DataFrame = pd.read_csv(path, **(defaults | options))
    except (OSError, EOFError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise InputError(f"{path}: cannot be read as a {what} table ({error!s:.200}); make it again") from error
    _require_number(path, what, len(table), said)
    missing = [column for column in types if column not in table.columns]
    if missing:
        raise InputError(f"{path}: not a {what} table; it lacks {', '.join(missing)}")
    return table


def require_rows(path: Path, what: str) -> None:
    """Refuse a table in which a line has more or fewer cells than the first: pandas takes missing ones for empty.

    Raises:
        InputError: names the line.
    """
    require_end(path, what)
    said = _rows_said(path, what)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            if said is not None:
                next(file)
            reader = csv.reader(file, strict=True)
            columns = len(next(reader, ()))
            for row in reader:
                if len(row) != columns:
                    raise ValueError(f"line {reader.line_num} has {len(row)} cells, not {columns}")
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: not a whole {what} table ({error!s:.200}); make it again") from error


def require_end(path: Path, what: str) -> None:
    """Refuse a plain table whose last line has no end, since it is cut; a gzipped one has a checksum.

    Raises:
        InputError: when it is missing, empty or cut.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            if path.suffix == ".gz":
                return
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
            last = file.read(1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read as a {what} table ({error.strerror}); make it again") from error
    if last != b"\n":
        raise InputError(f"{path}: not a whole {what} table: its last line has no end; make it again")


@dataclass(frozen=True)
class Tidy:
    """A tidy table with rows of one dataclass: as jobs write it, as it is collected, and as it is read.

    Attributes:
        row: the dataclass.
        what: the table's name in errors.
        key: number of its fields, the first ones, that name a row.
        numbers: fields of the key that are sorted as numbers.
        reading: options for `read_table`.
    """

    row: Any
    what: str
    key: int
    numbers: tuple[str, ...]
    reading: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def types(self) -> dict[str, Any]:
        """The columns and their types."""
        return {column.name: column.type for column in fields(self.row)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(self.types)

    def write(self, path: Path, rows: Iterable[Any]) -> None:
        """Write a job's rows as CSV, sorted."""
        write_counted(path, self.columns, [astuple(row) for row in sorted(rows)])

    def collect(self, paths: Iterable[Path], destination: Path) -> None:
        """Merge files into one, sorted; errors are as in `merge_rows`."""
        merge_rows(paths, destination, self.types, self.columns[: self.key], numbers=self.numbers, what=self.what)

    def read(self, path: Path) -> "pd.DataFrame":
        """Return a table as a data frame.

        Raises:
            InputError: when it has other columns, is cut, or holds no number where one belongs.
        """
        table = read_table(path, self.types, self.what, **self.reading)
        if tuple(table.columns) != self.columns:
            raise InputError(f"{path}: not a {self.what} table; its columns are not {', '.join(self.columns)}")
        return table
