"""Limits on files: a damaged one must not take the machine's memory, nor its time.

Nothing is allocated for a header's sake: an array's shape has to fit the bytes that are there, what a zip or gzip file
may expand to is bounded, and so is the memory of whatever unpickles.
"""

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from heldout.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# K V float64 of 2 GB: more is a damaged file or no model to audit on one machine
MAXIMUM_ENTRIES = 2**28
# deflate reaches 1032 : 1 on zeros; states and dense topics stay far below 200 : 1, small sparse topics need not
EXPANSION, ALLOWANCE = 200, 128 << 20


def require_file(path: Path) -> None:
    """Refuse a path that would be read without end, or only once: a device, a pipe, a socket; a missing one passes.

    Raises:
        InputError: names `path`.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path}: a device or a pipe, not a file; write what it gives into a file first")


def check_size(topics: int, words: int, where: str) -> None:
    """Refuse a phi of K `topics` and V `words` that has no entry or more than `MAXIMUM_ENTRIES`, before it is made.

    Raises:
        InputError: names `where`.
    """
    if topics < 1 or words < 1 or topics * words > MAXIMUM_ENTRIES:
        raise InputError(
            f"{where}: {topics} topics over {words} words; there must be at least one of each and at most"
            f" {MAXIMUM_ENTRIES} probabilities: the file is damaged, or is not a topic model"
        )


def check_expansion(packed: int, expanded: int, where: str, *, times: int = EXPANSION, more: int | None = None) -> None:
    """Refuse a compressed file of `packed` bytes that says or shows that it expands to `expanded` bytes.

    Raises:
        InputError: beyond `times` the bytes and `more`, or `ALLOWANCE` (128 MB), where `more` is None.
    """
    if expanded > times * packed + (ALLOWANCE if more is None else more):
        raise InputError(
            f"{where}: {packed} bytes expand to {expanded} or more, which no model or corpus does; damaged?"
        )


@contextmanager
def one_line(where: object, what: str = "truncated or damaged", remedy: str = "save it again") -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one line: zipfile, zlib, numpy, pickles raise anything.

    Raises:
        InputError: for every exception; one that is an InputError already stays as it is.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{where}: {what} ({type(error).__name__}: {error!s:.200}); {remedy}") from error


@contextmanager
def memory_for(size: int) -> Iterator[None]:
    """Let this process take 2 GB and 50 times `size` bytes more than it has, and no more, until the context ends.

    A damaged number in a pickle makes the unpickler ask for as much memory as it says, 16 GB and more; under the limit
    that is a MemoryError. Where there is no such limit (not Linux) nothing is done.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    previous = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + (2 << 30) + 50 * size
    limits = [limit for limit in previous if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(most, *limits) if limits else most, previous[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, previous)


def npy_header(member: IO[bytes]) -> "tuple[tuple[int, ...], np.dtype[Any]]":
    """Read the header of a .npy stream: shape and type; numpy raises whatever the parts of a damaged one raise."""
    import numpy as np

    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(member)
    return shape, dtype


def check_npy(member: IO[bytes], size: int, where: str) -> None:
    """Refuse a .npy stream of `size` bytes whose header asks for another number of bytes, or for objects.

    Raises:
        InputError: names `where`.
    """
    try:
        shape, dtype = npy_header(member)
    except Exception as error:
        raise InputError(f"{where}: not an array ({error!s:.200}); save the model again") from error
    entries = math.prod(map(int, shape))
    if dtype.hasobject:
        raise InputError(f"{where}: an array of objects, which only unpickling reads; save text as dtype=str")
    if min(shape, default=0) < 0 or entries * dtype.itemsize != size - member.tell():
        raise InputError(
            f"{where}: the header announces {entries} entries of {dtype}, the file has {size - member.tell()} bytes of"
            " them; truncated or damaged: save the model again"
        )


def read_npy(archive: zipfile.ZipFile, name: str) -> "NDArray[Any]":
    """Return an array of an .npz file, after `check_npy`.

    Raises:
        InputError: as `check_npy` does.
        Exception: of any kind, where the archive is damaged (see `one_line`).
    """
    import numpy as np

    with archive.open(f"{name}.npy") as file:
        check_npy(file, archive.getinfo(f"{name}.npy").file_size, f"{archive.filename}: {name}")
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def open_zip(path: Path, what: str, remedy: str = "save the model again") -> zipfile.ZipFile:
    """Open a zip file whose members together expand within bounds; `what` it is and a `remedy` are for messages.

    Raises:
        InputError: when it cannot be read, is no zip file, or announces too much.
    """
    require_file(path)
    try:
        packed = path.stat().st_size
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:  # zipfile, struct and codecs each raise their own kinds
        raise InputError(f"{path}: truncated, or not a {what} file ({error!s:.200}); {remedy}") from error
    check_expansion(packed, sum(member.file_size for member in archive.infolist()), str(path))
    return archive
