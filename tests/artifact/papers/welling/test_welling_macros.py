"""What is said of curves in words."""

import pytest

from artifact.papers.welling.macros import how_often


@pytest.mark.parametrize(
    ("count", "total", "words"),
    [
        (7, 7, "falls at every one of 7 steps"),
        (6, 7, "falls at 6 of 7 steps"),
        (0, 7, "falls at none of 7 steps"),
        (1, 1, "falls at the only step"),
        (0, 0, "falls nowhere, for there are no steps to compare"),
    ],
)
def test_verdicts_in_words(count: int, total: int, words: str) -> None:
    assert how_often("falls", count, total) == words
