"""Files that are whole or absent."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_origin

from heldout.errors import InputError

Record = TypeVar("Record")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, delete it on failure.

    So no reader, and no run that starts after a kill, sees half a file. The temporary name is always the same, so that
    the next run overwrites what a killed one left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".partial-{path.name}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def reading_arrays(path: Path, what: str, remedy: str) -> Iterator[Mapping[str, Any]]:
    """Yield the arrays of an .npz file by name.

    Args:
        path: the file.
        what: what it should hold, such as "topics".
        remedy: what to do where it does not, such as "train them with `heldout fit`".

    Raises:
        InputError: when the file is missing or truncated, or the caller cannot make of it what it should hold.
    """
    import numpy as np

    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            yield file
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such {what}; {remedy}") from error
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib, numpy and json each raise their own kinds
        raise InputError(f"{path}: not a {what} file ({error}); delete it and {remedy}") from error


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; an InputError names the file that cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def save_record(path: Path, record: Any, *, compressed: bool) -> None:
    """Write a dataclass to one .npz file; the same record always gives the same bytes.

    Args:
        path: the file.
        record: its fields are arrays, strings, tuples of strings, or mappings that JSON can hold.
        compressed: whether the file is.
    """
    import numpy as np

    pack: dict[type, Callable[[Any], Any]] = {
        tuple: lambda words: np.array(words, dtype=np.str_),
        dict: lambda mapping: np.array(json.dumps(mapping, sort_keys=True)),
        str: np.array,
    }
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    save = np.savez_compressed if compressed else np.savez
    with replacing(path) as temporary, temporary.open("wb") as file:
        save(file, **{name: pack.get(type(value), np.asarray)(value) for name, value in values.items()})


def load_record(kind: type[Record], path: Path, what: str, remedy: str) -> Record:
    """Read a dataclass that `save_record` wrote; the arguments and errors are those of `reading_arrays`."""
    unpack: dict[Any, Callable[[Any], Any]] = {
        tuple: lambda words: tuple(words.tolist()),
        dict: lambda mapping: json.loads(str(mapping)),
        str: str,
    }
    with reading_arrays(path, what, remedy) as file:
        values: dict[str, Any] = {}
        for field in fields(kind):  # type: ignore[arg-type]
            value = file[field.name]
            plain = unpack.get(get_origin(field.type) or field.type)
            values[field.name] = plain(value) if plain else value
        return kind(**values)
