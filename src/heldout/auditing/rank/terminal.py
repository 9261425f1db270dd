"""A ranking on a terminal: the verdict, and the models side by side."""

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from heldout.auditing.rank import wording
from heldout.auditing.rank.result import RankingResult
from heldout.auditing.sheet import GAP, Sheet

LONGEST = 24  # of a model's name, before columns are left out for it


def parts(ranking: RankingResult, sheet: Sheet) -> Iterator[Text | Table]:
    """Yield the parts of the report for a sheet's width and alphabet."""
    yield sheet.text(wording.headline(ranking), "bold")
    for sentence in wording.reasons(ranking):
        yield sheet.text(sentence)
    yield sheet.text("")
    yield sheet.text(wording.facts(ranking))
    yield sheet.text("")
    rows = wording.rows(ranking)
    columns = [at for at in range(len(wording.HEADS)) if any(row[at] for row in rows)]
    widths = [max(len(head), *(len(row[at]) for row in rows)) for at, head in enumerate(wording.HEADS)]
    widths[0] = min(widths[0], LONGEST)
    while len(columns) > 1 and sum(widths[at] + GAP for at in columns) - GAP > sheet.width:
        columns.pop()  # the last are the least
    table = sheet.table(wording.TITLE)
    for at in columns:
        sheet.column(table, wording.HEADS[at], number=at not in (0, 6))
    for place, row in enumerate(rows):
        table.add_row(*(sheet.text(row[at]) for at in columns), style="" if place else "bold")
    yield table
