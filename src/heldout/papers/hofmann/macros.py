"""The numbers of Hofmann's experiment that the text uses."""

from heldout.papers.hofmann.exhibits.hofmann import macros

__all__ = ["macros"]
