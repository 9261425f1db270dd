"""The members of a downloaded file, and the digest of their content.

An archive can be packed again without a change to what it holds, so what is verified is its content: a
SHA-256 over the members that are read, in name order, of each its name, its length and its bytes.
"""

import fnmatch
import hashlib
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from heldout.errors import InputError
from heldout.limits import open_zip, require_file

LARGEST = 2**30  # largest number of bytes of all members that are read


def read_members(path: Path, pattern: str) -> dict[str, bytes]:
    """Return the archive members whose whole names match a shell pattern, by name, in name order.

    An archive is a tar, which may be compressed, or a zip; with an empty pattern any file is its own only member.

    Raises:
        InputError: when the file is missing, truncated or no archive, when no member matches, or one is no file.
    """
    require_file(path)
    try:
        if not pattern:
            return {path.name: path.read_bytes()}
        if zipfile.is_zipfile(path):
            return _zip_members(path, pattern)
        members: dict[str, bytes] = {}
        size = 0
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.removeprefix("./")
                if member.isdir() or not fnmatch.fnmatchcase(name, pattern):
                    continue
                size += member.size
                if not member.isfile() or size > LARGEST:
                    raise InputError(f"{path}: the member {name} is a link, a device or very large; damaged?")
                stream = archive.extractfile(member)
                if stream is not None:
                    members[name] = stream.read()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; fetch it first") from error
    except InputError:
        raise
    except Exception as error:  # gzip, lzma and tarfile each report damage in their own way
        kind = "a whole tar archive" if pattern else "a file"
        raise InputError(f"{path}: expected {kind}, found a truncated or unreadable one ({error})") from error
    return _require_some(path, pattern, members)


def _zip_members(path: Path, pattern: str) -> dict[str, bytes]:
    with open_zip(path, "zip", "get it again") as archive:
        names = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, pattern)]
        return _require_some(path, pattern, {name: archive.read(name) for name in names})


def _require_some(path: Path, pattern: str, members: Mapping[str, bytes]) -> dict[str, bytes]:
    if not members:
        raise InputError(f"{path}: expected the member {pattern}, found none of that name")
    return dict(sorted(members.items()))


def content_digest(members: Mapping[str, bytes]) -> str:
    """Return the SHA-256 (hexadecimal) of the members in name order: name, length and bytes of each."""
    digest = hashlib.sha256()
    for name in sorted(members):
        # a name that is not UTF-8 keeps its bytes
        digest.update(f"{name}\0{len(members[name])}\0".encode(errors="surrogateescape"))
        digest.update(members[name])
    return digest.hexdigest()
