"""Downloads of the corpora's archives, verified and whole or absent.

A member's address can last where an archive's does not: a file at a commit, and the same bytes by their Git blob at
Software Heritage. Members of `PARTS` have rows of their own in the corpora table, by the last part of their names, and
an archive that is gone is packed from them.
"""

import io
import logging
import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path

from heldout.corpora.archives import content_digest, read_members
from heldout.errors import InputError
from heldout.files import read_rows, replacing

WAYS_OUT = "take the file from a folder (`mirror:` in the study or HELDOUT_MIRROR=dir) or run the demo (`make demo`)"
TIMEOUT = (10, 60)  # seconds to connect, and between two pieces of the body
PARTS = {"ap.tgz": ("ap/ap.dat", "ap/vocab.txt")}  # members by archive


@dataclass(frozen=True)
class Source:
    """One downloadable file: a row of the corpora table.

    Attributes:
        corpus: which corpus it belongs to.
        file: the file's name, in a mirror too.
        urls: its public addresses, best first, separated by spaces.
        members: shell pattern of the archive members that are read; empty where the file is no archive.
        sha256: checksum of the public file; empty where none is known.
        content_sha256: digest of the members that are read (`heldout.corpora.archives.content_digest`).
        licence: who owns the texts and how they may be used.
        citation: where they were described.
    """

    corpus: str
    file: str
    urls: str
    members: str
    sha256: str
    content_sha256: str
    licence: str
    citation: str


def read_sources(table_path: Path) -> dict[str, Source]:
    """Read the table of downloadable files, by file name.

    Raises:
        InputError: when the table is missing or its columns are not the fields of `Source`.
    """
    columns = [column.name for column in fields(Source)]
    sources: dict[str, Source] = {}
    for where, row in read_rows(table_path, columns):
        if len(row) != len(columns) or row[1] in sources:
            raise InputError(f"{where}: not one row per file with every column")
        sources[row[1]] = Source(*row)
    return sources


def source(file: str, table_path: Path) -> Source:
    """Return the table's row for `file`; an InputError names the known files."""
    sources = read_sources(table_path)
    if file not in sources:
        raise InputError(f"{file}: not in {table_path}, which knows {', '.join(sources)}")
    return sources[file]


def verified_members(path: Path, row: Source) -> dict[str, bytes]:
    """Read the members of `row.file` from `path` and verify their content.

    Raises:
        InputError: when the file is missing or damaged, or its content is not the published one.
    """
    members = read_members(path, row.members)
    if not row.members:  # under its public name, whatever the name of the file that is read
        members = {row.file: members[path.name]}
    digest = content_digest(members)
    if digest != row.content_sha256:
        raise InputError(
            f"{path}: expected the content digest {row.content_sha256}, found {digest}"
            f" over {len(members)} member(s); the copy has been edited"
        )
    return members


def fetch(file: str, table_path: Path, destination: Path, mirror: Path | None = None, retries: int = 2) -> Path:
    """Bring one file of the corpora table to `destination`, verified; nothing is left there on failure.

    With a mirror the file is copied from that folder under the same name. Without one its public addresses are
    tried in order, each `retries` times more when it fails. The archive's own checksum is verified for public
    addresses only, because a mirror may have packed the archive again; the content digest is verified for both.
    An existing file with the right content is kept. An archive that no address has is packed from its `PARTS`.

    A failed download is tried again `retries` times at the same address. Return `destination`.

    Raises:
        InputError: one line with the file, the expected and the actual state, and the two ways out.
    """
    row = source(file, table_path)
    if destination.exists():
        try:
            verified_members(destination, row)
            return destination
        except InputError:
            pass  # damaged or edited since: it is replaced below, or stays as it is when that fails
    attempts = row.urls.split() if mirror is None else [str(mirror / file)]
    failures = []
    for place in attempts:
        try:
            with replacing(destination) as temporary:
                if mirror is None:
                    _download(place, row.sha256, temporary, retries)
                else:
                    try:
                        shutil.copyfile(place, temporary)
                    except OSError as error:
                        raise InputError(f"expected a file to copy, found: {error.strerror}") from error
                try:
                    verified_members(temporary, row)
                except InputError as error:
                    raise InputError(str(error).removeprefix(f"{temporary}: ")) from error
            return destination
        except InputError as error:
            failures.append(f"{place}: {error}")
    missing = f"{file}: {'; '.join(failures) or 'no public address is known'}"
    if mirror is not None or file not in PARTS:
        raise InputError(f"{missing}; {WAYS_OUT}")
    with replacing(destination) as temporary:
        with tempfile.TemporaryDirectory() as folder, tarfile.open(temporary, "w") as archive:
            for member in PARTS[file]:
                part = Path(folder) / Path(member).name
                try:
                    content = fetch(part.name, table_path, part, None, retries).read_bytes()
                except InputError as error:
                    raise InputError(f"{missing}; nor in parts: {error}") from error
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        verified_members(temporary, row)
    return destination


def _download(url: str, sha256: str, temporary: Path, retries: int) -> None:
    """Download one address to `temporary` with pooch, which tries again after a failure; verify its checksum."""
    # both take a fifth of a second to import, and a job that finds its files has no use for them
    import pooch
    import requests

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)  # its progress notes would stand between ours and the error line
    try:
        with tempfile.TemporaryDirectory(prefix=f"{temporary.name}.", dir=temporary.parent) as folder:
            file_settings = {"registry": {"file": None}, "urls": {"file": url}}
            pool = pooch.create(path=folder, base_url="", retry_if_failed=retries, **file_settings)
            as_it_is = {"headers": {"Accept-Encoding": "identity"}, "chunk_size": 1 << 16}
            downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT, **as_it_is)
            path = Path(pool.fetch("file", downloader=downloader))
            checksum = pooch.file_hash(str(path), alg="sha256")
            if sha256 and checksum != sha256:
                raise InputError(f"expected the SHA-256 {sha256}, found {checksum}; the file is truncated or edited")
            path.replace(temporary)
    except requests.exceptions.HTTPError as error:
        status = "an error" if error.response is None else f"HTTP status {error.response.status_code}"
        raise InputError(f"expected the file, found {status}") from error
    except requests.exceptions.Timeout as error:
        raise InputError("expected an answer, found none in time; the host is unreachable or slow") from error
    except requests.exceptions.SSLError as error:
        raise InputError("expected a trusted certificate, found another; the host cannot be verified") from error
    except requests.exceptions.ChunkedEncodingError as error:
        raise InputError(f"expected the whole file, found a connection that broke off ({error})") from error
    except requests.exceptions.ConnectionError as error:
        raise InputError("expected an answer, found no connection; the host is unreachable") from error
    except InputError:
        raise
    except (ValueError, OSError) as error:  # an address that pooch cannot read, or requests' other errors
        raise InputError(f"expected a download, found: {error}") from error
    finally:
        logger.setLevel(level)
