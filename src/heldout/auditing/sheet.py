"""Texts and tables for a terminal of any width and alphabet, and results as tables of pandas and axes of matplotlib.

Reports fit 80 columns. They need neither colour nor Unicode: words repeat what colours say, and all signs have ASCII
spellings for other encodings.
"""

import io
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from heldout.auditing.colours import SOFT
from heldout.auditing.formats import MINUS, shorten
from heldout.auditing.tables import Table
from heldout.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

GAP = 2  # spaces between columns
FIRST, OTHER = 24, 18  # columns of a terminal that a text may be cut to, at the head of a row and elsewhere
_SPELT = str.maketrans({"±": "+/-", MINUS: "-", "…": "...", "∞": "inf", "“": '"', "”": '"'})


def plain(report: RenderableType) -> str:
    """Return a report as text, 80 columns wide, without colours."""
    text = io.StringIO()
    Console(file=text, width=80, color_system=None, force_jupyter=False).print(report)
    return text.getvalue().rstrip()


def frame(records: Iterable[dict[str, Any]], index: str | None = None) -> "pd.DataFrame":
    """Return rows as a pandas table.

    Raises:
        InputError: without pandas.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise InputError("a table takes pandas: pip install pandas") from error
    table = pd.DataFrame(list(records))
    return table.set_index(index) if index in table else table


def drawn(draw: Callable[[Any, "Axes"], bool], result: Any, axes: "Axes | None") -> "Axes":
    """Return the axes that a function drew a result into, new ones of pyplot where none are given.

    Raises:
        InputError: without matplotlib.
    """
    if axes is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise InputError("a figure takes matplotlib: pip install matplotlib") from error
        _, axes = plt.subplots(layout="constrained")
    draw(result, axes)
    return axes


class Sheet:
    """Texts and tables for one width and one alphabet, of a terminal or of a page, which has all rows."""

    def __init__(self, width: int, *, ascii_only: bool = False, is_page: bool = False) -> None:
        self.width, self.ascii_only, self.is_page = width, ascii_only, is_page

    def text(self, text: str, style: str = "") -> Text:
        """Return text without markup, in the console's alphabet."""
        if self.ascii_only:
            text = text.translate(_SPELT).encode("ascii", "replace").decode()
        elif not self.is_page:
            text = text.replace(MINUS, "-")  # which a program reads, too
        return Text(text, style)

    def note(self, text: str) -> Text:
        """Return text that stands back."""
        return self.text(text, SOFT if self.is_page else "dim")

    def table(self, table: Table) -> RichTable:
        """Return a table with as many of its first columns as fit; texts that do not are cut."""
        columns, rows = list(table.columns), table.rows if self.is_page else table.rows[: table.most]
        heads = tuple(column.head for column in columns)
        widest = [max(self.text(row[place]).cell_len for row in (heads, *rows)) for place in range(len(heads))]
        least = [
            wide if column.number else min(wide, OTHER if place else FIRST)
            for place, (column, wide) in enumerate(zip(columns, widest, strict=True))
        ]
        while len(columns) > 1 and sum(least[: len(columns)]) + GAP * (len(columns) - 1) > self.width:
            columns.pop()
        room = self.width - sum(least[: len(columns)]) - GAP * (len(columns) - 1)
        shown = RichTable(
            title=self.text(table.title, "bold"),
            title_justify="left",
            box=box.ASCII2 if self.ascii_only else box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, GAP - 1, 0, 0),
            header_style="bold",
        )
        for place, column in enumerate(columns):
            more = max(0, min(room, widest[place] - least[place]))
            least[place], room = least[place] + more, room - more
            side: Literal["left", "right"] = "right" if column.number else "left"
            shown.add_column(self.text(column.head), justify=side, no_wrap=column.number)
        for place, row in enumerate(rows):
            cut = (row[0] if columns[0].number else shorten(row[0], least[0]), *row[1:])
            cells = map(self.cut, cut[: len(columns)], least)
            shown.add_row(*cells, style="bold" if place in table.bold else "")
        return shown

    def cut(self, text: str, cells: int) -> Text:
        """Return text cut to at most `cells` columns of the terminal."""
        shortened = self.text(text)
        shortened.truncate(max(cells, 1), overflow="crop" if self.ascii_only else "ellipsis")
        return shortened
