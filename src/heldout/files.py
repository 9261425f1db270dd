"""Files that are whole or absent."""

import csv
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, get_origin

from heldout.errors import InputError
from heldout.limits import check_expansion, require_file


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, delete it on failure.

    So no reader, and no run that starts after a kill, sees half a file. The temporary name is always the same, so that
    the next run overwrites what a killed one left; only while another process writes the same file is it one of its
    own. A link stays, and the file that it names is replaced. A path that is no regular file (a device, a pipe) gets
    the content written to it.

    Raises:
        InputError: when `path` is a folder.
        OSError: names `path` where it cannot be written.
    """
    if path.is_dir():
        raise InputError(f"{path}: a folder; name a file")
    try:
        if path.exists() and not path.is_file():
            with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
                temporary = Path(folder) / path.name
                yield temporary
                path.write_bytes(temporary.read_bytes())
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary(target) as temporary:
            try:
                yield temporary
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        # name `path`: where the disk is full the error names no file, and elsewhere it names the temporary one
        if error.errno is not None and (error.filename is None or ".partial-" in str(error.filename)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Yield `.partial-NAME` beside `path`, locked while the context lasts, or another name if that is taken."""
    fixed = path.with_name(f".partial-{path.name}")
    try:
        import fcntl

        descriptor = os.open(fixed, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except (ImportError, FileExistsError):  # not a POSIX system
        yield path.with_name(f".partial-{secrets.token_hex(8)}-{path.name}")
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # since it was opened another writer may have renamed it
            taken = not os.path.samestat(os.fstat(descriptor), fixed.stat())
        except (BlockingIOError, FileNotFoundError):
            taken = True
        except OSError:  # a file system without locks
            taken = False
        yield path.with_name(f".partial-{secrets.token_hex(8)}-{path.name}") if taken else fixed
    finally:
        os.close(descriptor)


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse outputs that would overwrite one another, an input, or a file that is read in an input folder.

    Raises:
        InputError: names the output.
    """
    seen: list[Path] = []
    given = list(inputs)
    for output in outputs:
        for other in seen:
            if other == output or (other.is_file() and output.is_file() and other.samefile(output)):
                raise InputError(f"{output}: would be written twice; give every output a name of its own")
        seen.append(output)
        if not output.is_file():
            continue
        for source in given:
            is_part = source.is_dir() and output.suffix in _SOURCES and output.resolve().parent == source.resolve()
            if is_part or (source.exists() and source.samefile(output)):
                raise InputError(f"{output}: an input, which would be overwritten; name another file for the output")


_SOURCES = (".txt", ".beta", ".other")  # endings of files that make a folder a model or documents


@contextmanager
def reading_arrays(path: Path, what: str, remedy: str) -> Iterator[Mapping[str, Any]]:
    """Yield the arrays of an .npz file by name; messages say `what` it should hold and the `remedy`.

    Raises:
        InputError: when the file is missing or truncated, or the caller cannot make of it what it should hold.
    """
    import numpy as np

    try:
        require_file(path)
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            check_expansion(path.stat().st_size, sum(part.file_size for part in file.zip.infolist()), str(path))
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
        require_file(path)
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


class Saved:
    """A dataclass that is kept in one .npz file; the same object always gives the same bytes.

    Its fields are arrays, strings, tuples of strings, or mappings that JSON can hold.
    """

    _saved: ClassVar[tuple[str, str, bool]]  # what it is, how to make one, and whether the file is compressed

    def save(self, path: Path) -> None:
        """Write the file."""
        import numpy as np

        pack: dict[type, Callable[[Any], Any]] = {
            tuple: lambda words: np.array(words, dtype=np.str_),
            dict: lambda mapping: np.array(json.dumps(mapping, sort_keys=True)),
            str: np.array,
        }
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        save = np.savez_compressed if self._saved[2] else np.savez
        with replacing(path) as temporary, temporary.open("wb") as file:
            save(file, **{name: pack.get(type(value), np.asarray)(value) for name, value in values.items()})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file of `save`; raises InputError if it is missing, truncated, or of another kind."""
        unpack: dict[Any, Callable[[Any], Any]] = {
            tuple: lambda words: tuple(words.tolist()),
            dict: lambda mapping: json.loads(str(mapping)),
            str: str,
        }
        with reading_arrays(path, *cls._saved[:2]) as file:
            values: dict[str, Any] = {}
            for field in fields(cls):  # type: ignore[arg-type]
                value = file[field.name]
                plain = unpack.get(get_origin(field.type) or field.type)
                values[field.name] = plain(value) if plain else value
            return cls(**values)


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], head: str = "") -> None:
    """Write rows in the order given, floats with all their digits (the shortest that read back the same).

    A line may stand before the columns.
    """
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        file.write(head and f"{head}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield where (file and line) and the cells of a small table written by hand, after its first line.

    Raises:
        InputError: when the file cannot be read, or its columns are others.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            if next(reader, None) != list(columns):
                raise InputError(f"{path}: line 1: the columns must be {','.join(columns)}")
            for row in reader:
                yield f"{path}: line {reader.line_num}", row
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
