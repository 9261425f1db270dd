"""The macros that the TeX of paper/ prints."""

import re
from collections.abc import Iterable
from pathlib import Path

PAPER = Path(__file__).parents[2] / "paper"
TEX = "\n".join(file.read_text() for file in (*PAPER.glob("*.tex"), *PAPER.glob("sections/*.tex")))
BY_CORPUS = re.findall(r"\\of\{#1\}\{(\w+)\}", TEX)
NAMED = set(re.findall(r"\\([A-Za-z]+)", TEX)) | {
    f"Corpus{place}{n}" for place in ("One", "Two", "Three") for n in BY_CORPUS
}


def printed_nowhere(names: Iterable[str]) -> set[str]:
    """Return the names that no TeX prints."""
    return set(names) - NAMED
