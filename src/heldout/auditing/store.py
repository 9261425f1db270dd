"""The values of finished blocks: in memory, and in one folder's files, from which the same audit goes on."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.typing import Floats


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """Make a folder, in which the context writes.

    Raises:
        InputError: where it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        said = f"{folder}: nothing can be kept there ({error.strerror}); name another folder (store)"
        raise InputError(said) from error


class Values:
    """The values of D documents, C each, as far as they are done.

    Rows of a finished block are appended to a file at once: the document's place, then its values, float64. The file's
    name is a digest of the key, so one folder holds any number of audits. A row that a kill has cut off is left out.

    Args:
        documents: D.
        columns: C.
        folder: made if missing; None keeps the values in memory alone.
        key: what the values depend on (model, documents, settings), JSON-compatible.

    Attributes:
        values: (D, C), nats.
        done: (D,) which documents have theirs.

    Raises:
        InputError: when the folder cannot be written, or a file of it is damaged.
    """

    def __init__(self, documents: int, columns: int, folder: Path | None = None, key: Any = None) -> None:
        self.values, self.done = np.zeros((documents, columns)), np.zeros(documents, dtype=bool)
        self.path: Path | None = None
        if folder is None:
            return
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        self.path = folder / f"{digest[:24]}.values"
        with keeping(folder), self.path.open("ab") as file:
            rows = np.fromfile(self.path)
            rows = rows[: len(rows) // (columns + 1) * (columns + 1)].reshape(-1, columns + 1)
            file.truncate(rows.nbytes)
        if not np.isin(rows[:, 0], np.arange(documents)).all():
            raise InputError(f"{self.path}: not the values of {documents} documents; delete it")
        places = rows[:, 0].astype(np.int64)
        self.values[places], self.done[places] = rows[:, 1:], True

    def add(self, first: int, values: Floats) -> None:
        """Take the values of consecutive documents from place `first` on, and write them."""
        places = np.arange(first, first + len(values))
        self.values[places], self.done[places] = values, True
        if self.path is not None:
            with self.path.open("ab") as file:
                file.write(np.column_stack([places, values]).tobytes())
