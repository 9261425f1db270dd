"""Archives whose members are also public each for itself: packed from these where the archive is gone.

A member's address can last where an archive's does not: a file at a commit, and the same bytes by their Git blob at
Software Heritage. The members have rows of their own in the corpora table, by the last part of their names.
"""

import io
import tarfile
import tempfile
from pathlib import Path

from heldout.corpora import download
from heldout.corpora.download import WAYS_OUT, source, verified_members
from heldout.errors import InputError
from heldout.files import replacing

PARTS = {"ap.tgz": ("ap/ap.dat", "ap/vocab.txt")}  # archive: members


def fetch(file: str, table_path: Path, destination: Path, mirror: Path | None = None, retries: int = 2) -> Path:
    """Bring one file of the corpora table to `destination` as `download.fetch` does, in parts where it is not there.

    Raises:
        InputError: as `download.fetch` does; names the archive's addresses and that of the part that is missing.
    """
    try:
        return download.fetch(file, table_path, destination, mirror, retries)
    except InputError as error:
        if mirror is not None or file not in PARTS:
            raise
        whole = str(error).removesuffix(f"; {WAYS_OUT}")
    members: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for member in PARTS[file]:
            part = Path(member).name
            try:
                members[member] = download.fetch(part, table_path, Path(folder) / part, None, retries).read_bytes()
            except InputError as error:
                raise InputError(f"{whole}; nor in parts: {error}") from error
    with replacing(destination) as temporary:
        with tarfile.open(temporary, "w") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        verified_members(temporary, source(file, table_path))
    return destination
