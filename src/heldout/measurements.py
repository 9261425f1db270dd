"""The second tidy table: measurements other than the score of a test set.

A row is one number along an axis: the log joint probability of a chain at a sweep, a document's exact log-likelihood,
the logarithm of a normaliser at a length. Like scores, measurements hold no timings.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.tables import merge_rows, read_table, write_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, order=True)
class Measurement:
    """One number at a position on an axis.

    Attributes:
        corpus, model, variant: names, as in `heldout.scores.Score`.
        topics: K (components, states); 0 where the model has none.
        smoothing: the constant that was added to p(w | z); 0 where none was.
        chain: the Markov chain's number as text; "none" for a model without chains.
        seed: determines split, start and sampling.
        quantity: what was measured, such as "log-likelihood" or "r-hat".
        axis: what `at` counts, such as "iteration", "sweep", "document" or "length".
        at: the position on that axis.
        value: the number, in nats where it is a log probability.
        standard_error: its Monte Carlo error; 0 for a deterministic number, NaN where none is stated.
    """

    corpus: str
    model: str
    variant: str
    topics: int
    smoothing: float
    chain: str
    seed: int
    quantity: str
    axis: str
    at: int
    value: float
    standard_error: float = 0.0


TYPES: dict[str, Any] = {field.name: field.type for field in fields(Measurement)}
COLUMNS = tuple(TYPES)


def write_measurements(path: Path, measurements: Iterable[Measurement]) -> None:
    """Write measurements as CSV, sorted."""
    write_rows(path, COLUMNS, map(astuple, sorted(measurements)))


def collect_measurements(paths: Iterable[Path], destination: Path) -> None:
    """Merge files of measurements into one, sorted.

    Raises:
        InputError: when a file has other columns, or two files report the same measurement.
    """
    key, numbers = COLUMNS[: COLUMNS.index("value")], ("topics", "smoothing", "seed", "at")
    merge_rows(paths, destination, TYPES, key, numbers=numbers, what="measurements")


def read_measurements(path: Path) -> "pd.DataFrame":
    """Read a measurements table into a data frame with the columns of `Measurement`.

    Raises:
        InputError: when it has other columns, is cut, or holds no number where one belongs.
    """
    table = read_table(path, TYPES, "measurements")
    if tuple(table.columns) != COLUMNS:
        raise InputError(f"{path}: not a measurements table; its columns are not {', '.join(COLUMNS)}")
    return table
