"""An audit's values on disk: a folder of .npz files with documents' values, and a key that identifies the audit."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.files import reading_arrays, replacing
from heldout.typing import Floats, Ints

KEY = "audit.json"
MODEL = "model-"  # and a digest: the folder of one of several models
EVERY = 5.0  # seconds between two files: the most that a killed process loses


class Store:
    """Documents' values on disk, for one audit.

    Args:
        folder: created if missing.
        key: what the values depend on (model, documents, settings), JSON-compatible.
        columns: the number of values per document.

    Raises:
        InputError: when the folder holds other contents, such as another audit's values, or cannot be written.
    """

    def __init__(self, folder: Path, key: dict[str, Any], columns: int) -> None:
        self.folder, self.columns = folder, columns
        self._pending: list[tuple[Ints, Floats]] = []
        self._written = time.monotonic()
        path = folder / KEY
        if not path.exists():
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise InputError(f"{folder}: not a folder of an audit; name a new or an empty one")
            try:
                with replacing(path) as temporary:
                    temporary.write_text(json.dumps(key, sort_keys=True, indent=1) + "\n", encoding="utf-8")
            except OSError as error:
                raise InputError(
                    f"{folder}: nothing can be kept there ({error.strerror}); name another folder (store, --store)"
                ) from error
            return
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            other = sorted(name for name in {*key, *stored} if key.get(name) != stored.get(name))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"{path}: cannot be read ({error}); delete the folder") from error
        if other:
            raise InputError(
                f"{folder}: holds another audit, of other {', '.join(other)}; name another folder or delete it"
            )

    def load(self, documents: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the stored values, (D, columns), and which documents have them, (D,).

        Raises:
            InputError: for a damaged file, with its name.
        """
        values, done = np.zeros((documents, self.columns)), np.zeros(documents, dtype=bool)
        for path in self._parts():
            with reading_arrays(path, "part of an audit", "run the audit again") as file:
                at, stored = file["documents"], file["values"]
                if stored.shape != (len(at), self.columns) or not np.all((at >= 0) & (at < documents)):
                    raise ValueError(f"{stored.shape} values of {len(at)} documents")
                values[at], done[at] = stored, True
        return values, done

    def add(self, at: Ints, values: Floats) -> None:
        """Add the values of the documents `at`; they are on disk after `EVERY` seconds or after `write`."""
        self._pending.append((at, values))
        if time.monotonic() - self._written >= EVERY:
            self.write()

    def write(self) -> None:
        """Write the values that are not on disk yet."""
        if self._pending:
            parts = self._parts()
            number = int(parts[-1].stem.removeprefix("part-")) + 1 if parts else 0
            at, values = zip(*self._pending, strict=True)
            with replacing(self.folder / f"part-{number:06d}.npz") as temporary, temporary.open("wb") as file:
                np.savez(file, documents=np.concatenate(at), values=np.concatenate(values))
            self._pending = []
        self._written = time.monotonic()

    def _parts(self) -> list[Path]:
        return parts(self.folder)


def parts(folder: Path) -> list[Path]:
    """Return a store's files in the order of writing."""
    return sorted(folder.glob("part-[0-9]*.npz"))


class Kept(NamedTuple):
    """The values of D documents, C each, as far as they are done.

    Attributes:
        values: (D, C), nats; filled in place.
        done: (D,) which documents have theirs; updated in place.
        store: keeps the values on disk; None for no store.
    """

    values: Floats
    done: NDArray[np.bool_]
    store: Store | None = None


def kept(folder: Path | None, key: dict[str, Any], documents: int, columns: int) -> Kept:
    """Return the values that the store in a folder has; without a folder there is no store, and no document is done.

    Raises:
        InputError: as `Store` and its `load` do.
    """
    if folder is None:
        return Kept(np.zeros((documents, columns)), np.zeros(documents, dtype=bool))
    store = Store(folder, key, columns)
    return Kept(*store.load(documents), store)


def remove(folder: Path) -> None:
    """Delete the files of an audit's store, or of the stores of a ranking, and the folder if nothing else is in it."""
    for inner in sorted(folder.glob(f"{MODEL}*")):
        remove(inner)
    for path in [*parts(folder), folder / KEY]:
        path.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()
