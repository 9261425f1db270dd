"""A ranking that prints itself, writes its page, and stands in a notebook."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from heldout.auditing.pages import WIDTH, fragment, page, settings_text
from heldout.auditing.rank import wording
from heldout.auditing.rank.result import RankingResult
from heldout.auditing.sheet import Sheet, drawn, frame, plain
from heldout.auditing.tables import Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Ranking(RankingResult):
    """A ranking, with the attributes of `heldout.auditing.rank.result.RankingResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        sheet = Sheet(options.max_width, ascii_only=options.ascii_only)
        yield from self._verdict(sheet)
        yield sheet.text("")
        yield from self._details(sheet)

    def _verdict(self, sheet: Sheet) -> Iterator[RenderableType]:
        yield sheet.text(wording.headline(self), "bold")
        yield from map(sheet.text, wording.reasons(self))

    def _details(self, sheet: Sheet) -> Iterator[RenderableType]:
        table = self.table()
        yield from (sheet.text(wording.facts(self)), sheet.text(""), sheet.table(table), sheet.note(table.caption))

    def table(self) -> Table:
        """Return the models side by side, the best first."""
        return wording.models(self)

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Ranking of {len(self.models)} models: {wording.headline(self)}>"

    def _repr_html_(self) -> str:
        sheet = Sheet(WIDTH, is_page=True)
        return fragment([sheet.text(wording.headline(self), "bold"), sheet.table(self.table())])

    def to_frame(self) -> "pd.DataFrame":
        """Return the models as a pandas table, the best first; see `records` (needs pandas)."""
        return frame(self.records(), "model")

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw how far models are behind the best, by number of topics (needs matplotlib).

        Args:
            axes: drawn into; None makes them with pyplot.
        """
        from heldout.auditing.rank.figures import draw_behind

        return drawn(draw_behind, self, axes)

    def to_html(self) -> str:
        """Return the page of `heldout rank --html`, one file with its figure (needs matplotlib)."""
        from heldout.auditing.rank.figures import by_topics  # late: matplotlib may be missing

        sheet, title = Sheet(WIDTH, is_page=True), f"Ranking: {len(self.models)} models on {self.corpus}"
        details = (*self._details(sheet), sheet.note(settings_text(self.settings)))
        return page(title, self._verdict(sheet), [by_topics(self)], details)
