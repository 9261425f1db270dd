"""What a misprint is."""

from collections.abc import Callable
from dataclasses import dataclass

Errors = tuple[float, float]


@dataclass(frozen=True)
class Misprint:
    """A misprint.

    Attributes:
        place: section, equation or line.
        printed, corrected: what it says and what it should say, in LaTeX.
        identity: what the corrected form satisfies, in words.
        errors: returns how far the printed and the corrected form are from it; None for a symbol.
    """

    place: str
    printed: str
    corrected: str
    identity: str
    errors: Callable[[], Errors] | None = None
