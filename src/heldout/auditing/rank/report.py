"""A ranking that prints itself, writes its page, and stands in a notebook."""

from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult

from heldout.auditing import tables
from heldout.auditing.rank import wording
from heldout.auditing.rank.result import RankingResult
from heldout.auditing.sheet import Sheet, drawn, frame, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Ranking(RankingResult):
    """A ranking, with the attributes of `heldout.auditing.rank.result.RankingResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        sheet, table = Sheet(options.max_width, options.ascii_only), wording.models(self)
        yield sheet.text(wording.headline(self), "bold")
        yield from map(sheet.text, (*wording.reasons(self), "", wording.facts(self), ""))
        yield sheet.table(table)
        yield sheet.text(table.caption, "dim")

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Ranking of {len(self.models)} models: {wording.headline(self)}>"

    def _repr_html_(self) -> str:
        return tables.fragment(wording.headline(self), wording.models(self))

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
        from heldout.auditing.rank.page import page  # late: matplotlib may be missing

        return page(self)
