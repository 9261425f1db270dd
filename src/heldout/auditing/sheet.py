"""Texts and tables for a terminal of any width and alphabet.

Reports fit 80 columns. They need neither colour nor Unicode: words repeat what colours say, and all signs have ASCII
spellings for other encodings.
"""

import io

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.auditing.formats import ALPHA, MINUS, TIMES

GAP = 2  # spaces between columns
_SPELT = str.maketrans({"±": "+/-", MINUS: "-", TIMES: "x", "…": "...", "∞": "inf", "“": '"', "”": '"', ALPHA: "alpha"})


def plain(report: RenderableType) -> str:
    """Return a report as text, 80 columns wide, without colours."""
    text = io.StringIO()
    Console(file=text, width=80, color_system=None).print(report)
    return text.getvalue().rstrip()


class Sheet:
    """Texts and tables for one width and one alphabet."""

    def __init__(self, width: int, ascii_only: bool) -> None:
        self.width, self.ascii_only = width, ascii_only

    def text(self, text: str, style: str = "") -> Text:
        """Return text without markup, in the console's alphabet."""
        if self.ascii_only:
            text = text.translate(_SPELT).encode("ascii", "replace").decode()
        return Text(text, style)

    def table(self, title: str) -> Table:
        """Return an empty table in the report's style."""
        return Table(
            title=self.text(title, "bold"),
            title_justify="left",
            box=box.ASCII2 if self.ascii_only else box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, GAP - 1, 0, 0),
            header_style="bold",
        )

    def column(self, table: Table, header: str, *, number: bool = False, **options: int) -> None:
        """Add a column; a number is never broken or cut."""
        head = self.text(header)
        if number:
            table.add_column(head, justify="right", no_wrap=True, **options)  # type: ignore[arg-type]
        else:
            table.add_column(head, overflow="fold", **options)  # type: ignore[arg-type]
