"""Pang and Lee's movie reviews (2004): 1,000 in favour, 1,000 against, one text each."""

from collections.abc import Mapping
from pathlib import PurePosixPath


def read_texts(members: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return (label/review, text) of every review, txt_sentoken/LABEL/NAME.txt, in name order; Latin-1."""
    texts = []
    for name in sorted(members):
        path = PurePosixPath(name)
        texts.append((f"{path.parent.name}/{path.stem}", members[name].decode("latin-1")))
    return texts
