"""The macros that the TeX of paper/ prints."""

import re
from collections.abc import Iterable
from pathlib import Path

PAPER = Path(__file__).parents[2] / "paper"
TEX = "\n".join(file.read_text() for file in (*PAPER.glob("*.tex"), *PAPER.glob("sections/*.tex")))
NAMED = set(re.findall(r"\\([A-Za-z]+)", TEX)) | {
    f"Corpus{position}{name}" for position in ("One", "Two", "Three") for name in re.findall(r"\\of\{#1\}\{(\w+)\}", TEX)
}


def printed_nowhere(names: Iterable[str]) -> set[str]:
    """Return the names that no TeX prints."""
    return set(names) - NAMED
