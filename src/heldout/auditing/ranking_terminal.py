"""A ranking on a terminal: the verdict, and the models side by side."""

from rich.console import Console, ConsoleOptions, RenderResult

from heldout.auditing import ranking_wording as wording
from heldout.auditing.ranking import Ranking
from heldout.auditing.terminal import GAP, Sheet

LONGEST = 24  # of a model's name, before columns are left out for it


class RankingReport:
    """A ranking that rich can print on any console.

    Args:
        ranking: what to print.
    """

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts at the console's width."""
        sheet = Sheet(options.max_width, options.ascii_only)
        yield sheet.text(wording.headline(self.ranking), "bold")
        for sentence in wording.reasons(self.ranking):
            yield sheet.text(sentence)
        yield sheet.text("")
        yield sheet.text(wording.facts(self.ranking))
        yield sheet.text("")
        rows = wording.rows(self.ranking)
        columns = [at for at in range(len(wording.HEADS)) if any(row[at] for row in rows)]
        widths = [max(len(head), *(len(row[at]) for row in rows)) for at, head in enumerate(wording.HEADS)]
        widths[0] = min(widths[0], LONGEST)
        while len(columns) > 1 and sum(widths[at] + GAP for at in columns) - GAP > options.max_width:
            columns.pop()  # the last are the least
        table = sheet.table(wording.TITLE)
        for at in columns:
            sheet.column(table, wording.HEADS[at], number=at not in (0, 6))
        for place, row in enumerate(rows):
            table.add_row(*(sheet.text(row[at]) for at in columns), style="" if place else "bold")
        yield table
