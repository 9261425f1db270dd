"""Tiny archives in the formats of the real ones, and the table that describes them."""

import csv
import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from heldout.corpora.archives import content_digest
from heldout.corpora.download import Source

CRANFIELD = (
    ".I 1\n.T\na title\n.A\nsomebody\n.B\nsomewhere\n.W\nflows over wings, the flow .\n\nboundary layers\n"
    ".I 2\n.T\n.A\n.B\n.W\n"
    ".I 3\n.W\nwings heated .\n.A\nsomebody else\n.W\nlayers flowing\n"
)
MEDLINE = ".I 1\n.W\nrats and cells\n.I 2\n.W\nlens of cells\n.I 3\n.W\ncells\n"
PATTERNS = {
    "cran.tar.gz": "cran.all.1400",
    "med.tar.gz": "MED.ALL",
    "nips12raw_str602.tgz": "nipstxt/nips[0-9][0-9]/[0-9][0-9][0-9][0-9].txt",
    "reuters21578.tar.gz": "reut2-[0-9][0-9][0-9].sgm",
    "english.stop": "",
    "ap.tgz": "ap/*[bd]*",
    "ap.dat": "",
    "vocab.txt": "",
    "house-votes-84.data": "",
    "20news_w100.mat": "",
    "u.data": "",
    **{f"cora.{part}.rda": "" for part in ("documents", "cites", "vocab")},
    "sampson.RData": "",
    "cora.cites.rda": "",
    "irmdata.tar.gz": "*.mat",
}


def pack(path: Path, members: Mapping[str, bytes]) -> Path:
    """Write a gzipped tar archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


class Mirror:
    """A folder of tiny archives and a corpora table that knows their digests."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "mirror"
        self.table = root / "corpora.csv"
        self.rows: dict[str, Source] = {}
        self.add("cran.tar.gz", {"cran.all.1400": CRANFIELD.encode(), "cran.qry": b"not read"})
        self.add("med.tar.gz", {"MED.ALL": MEDLINE.replace("\n", "\r\n").encode()})
        self.add("english.stop", {"english.stop": b"a\na's\nthe\nand\nof\nover\n"})

    def add(self, file: str, members: Mapping[str, bytes], urls: str = "") -> None:
        """Pack a file and enter its digest in the table."""
        if PATTERNS[file]:
            path = pack(self.folder / file, members)
        else:
            path = self.folder / file
            path.write_bytes(members[file])
        read = {name: content for name, content in members.items() if not name.endswith((".qry", "notes", "ap.txt"))}
        self.enter(file, urls, hashlib.sha256(path.read_bytes()).hexdigest(), content_digest(read))

    def enter(self, file: str, urls: str, sha256: str, content_sha256: str) -> None:
        """Write a row of the table."""
        self.rows[file] = Source("some", file, urls, PATTERNS[file], sha256, content_sha256, "none", "none")
        with self.table.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            names = [column.name for column in fields(Source)]
            writer.writerow(names)
            writer.writerows([getattr(row, name) for name in names] for row in self.rows.values())
