"""The NIPS papers of volumes 0 to 12, one raw text per paper."""

from collections.abc import Mapping
from pathlib import PurePosixPath


def read_texts(members: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return (volume/paper, text) of every paper, nipstxt/nipsVV/NNNN.txt, in the order of volumes and pages.

    The texts come from optical character recognition and are read as Latin-1, which accepts every byte.
    """
    papers = []
    for name in sorted(members):
        path = PurePosixPath(name)
        papers.append((f"{path.parent.name}/{path.stem}", members[name].decode("latin-1")))
    return papers
