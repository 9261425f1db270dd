"""Tables of formatted cells, said once: `sheet` prints them and `html` writes them, as pages and notebooks show them.

Every text is escaped, and loses the characters that a browser acts on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from heldout.auditing.formats import TIMES, clean


class Column(NamedTuple):
    """A table's column.

    Attributes:
        head: its head.
        number: whether its cells are numbers, which are never cut.
        wide: whether it is left out of narrow pages.
    """

    head: str
    number: bool = True
    wide: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: its title.
        columns: in their order; narrow terminals leave the last out. The first heads the rows.
        rows: the cells.
        caption: says what the numbers are; empty for nothing.
        bold: the rows that stand out.
        marks: colours, CSS, of the rows' marks; empty for none.
        most: the rows that a terminal has; a page has all.
    """

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[str, ...]]
    caption: str = ""
    bold: tuple[int, ...] = ()
    marks: tuple[str, ...] = ()
    most: int = 12


def html(table: Table) -> Markup:
    """Return a table as HTML, without its title."""
    kinds = [" ".join(name for name in ("number", "wide") if getattr(column, name)) for column in table.columns]
    head = Markup().join(
        Markup('<th scope="col" class="{}">{}</th>').format(kind, text(column.head))
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = []
    for at, row in enumerate(table.rows):
        mark = Markup('<span class="swatch" style="background:{}"></span>').format(*table.marks[at : at + 1] or [""])
        cells = [Markup('<th scope="row">{}{}</th>').format(mark if table.marks else "", text(row[0]))]
        cells += [
            Markup('<td class="{}">{}</td>').format(kind, power(text(cell)) if column.number else text(cell))
            for column, kind, cell in zip(table.columns[1:], kinds[1:], row[1:], strict=True)
        ]
        strong = Markup(' class="strong"') if at in table.bold else ""
        rows.append(Markup("<tr{}>{}</tr>\n").format(strong, Markup().join(cells)))
    left_out = ", ".join(column.head for column in table.columns if column.wide)
    narrow = Markup('<span class="narrow" hidden> Wider windows also show: {}.</span>').format(text(left_out))
    caption = Markup("<caption>{}{}</caption>\n").format(text(table.caption), narrow if left_out else "")
    return Markup("<table>\n{}<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>").format(
        caption if table.caption else "", head, Markup().join(rows)
    )


def fragment(verdict: str, *tables: Table) -> str:
    """Return what a notebook shows: the verdict, and tables with their titles."""
    parts = [Markup("<p><b>{}</b></p>").format(text(verdict))]
    parts += [Markup("<p>{}</p>\n{}").format(text(table.title), html(table)) for table in tables]
    return str(Markup("\n").join(parts))


def text(value: Any) -> Any:
    """Return a text without characters that a browser acts on, unbroken between a number and its error or unit."""
    if isinstance(value, Markup):
        return value
    return clean(value).replace(" ± ", "\xa0±\xa0").replace(" %", "\xa0%")


def breakable(title: str) -> Markup:
    """Return a title whose dotted names may be broken before dots and capital letters, not elsewhere."""
    return Markup("<wbr>").join(re.split(r"(?<=[a-z])(?=\.?[A-Z]|\.[a-z])", text(title)))


def power(number: str) -> str:
    """Return a formatted number with its power of ten as a superscript."""
    mantissa, _, exponent = number.partition("e")
    if not exponent.lstrip("-").isdigit():
        return number
    return Markup("{} {} 10<sup>{}</sup>").format(mantissa, TIMES, int(exponent))
