"""Files that are whole or absent."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, delete it on failure.

    A reader (or a run that starts after a kill) therefore never sees half a file. The temporary name is
    always the same, so that the run after a kill writes over what the kill left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".partial-{path.name}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
