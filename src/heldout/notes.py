"""The third tidy table: notes, short texts that a job gives beside its numbers.

A row is one text along an axis: a topic's word by its rank, the version of a library. What is a number is a
measurement; a note may stand at the same place.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.tables import merge_rows, read_table, write_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, order=True)
class Note:
    """One text at a position on an axis.

    Attributes:
        corpus, model, variant, topics, seed, quantity, axis, at: as in `heldout.measurements.Measurement`.
        text: without a line's end.
    """

    corpus: str
    model: str
    variant: str
    topics: int
    seed: int
    quantity: str
    axis: str
    at: int
    text: str


TYPES: dict[str, Any] = {field.name: field.type for field in fields(Note)}
COLUMNS = tuple(TYPES)


def write_notes(path: Path, notes: Iterable[Note]) -> None:
    """Write notes as CSV, sorted."""
    write_rows(path, COLUMNS, map(astuple, sorted(notes)))


def collect_notes(paths: Iterable[Path], destination: Path) -> None:
    """Merge files of notes into one, sorted.

    Raises:
        InputError: when a file has other columns, or two files have the same note.
    """
    merge_rows(paths, destination, TYPES, COLUMNS[:-1], numbers=("topics", "seed", "at"), what="notes")


def read_notes(path: Path) -> "pd.DataFrame":
    """Read a table of notes into a data frame with the columns of `Note`; a text is never a missing value.

    Raises:
        InputError: when it has other columns, is cut, or holds no number where one belongs.
    """
    return read_table(path, TYPES, "notes", keep_default_na=False, na_values=[])
