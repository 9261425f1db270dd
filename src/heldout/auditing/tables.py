"""Tables of formatted cells, said once for terminal, page and notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Column(NamedTuple):
    """A table's column.

    Attributes:
        head: its head.
        number: whether its cells are numbers, which are never cut.
    """

    head: str
    number: bool = True


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: its title.
        columns: in their order; narrow terminals leave the last out. The first heads the rows.
        rows: the cells.
        caption: says what the numbers are; empty for nothing.
        bold: the rows that stand out.
        most: the rows that a terminal has; a page has all.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[str, ...]]
    caption: str = ""
    bold: tuple[int, ...] = ()
    most: int = 12
