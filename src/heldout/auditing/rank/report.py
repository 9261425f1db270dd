"""A ranking that prints itself and writes its page."""

from rich.console import Console, ConsoleOptions, RenderResult

from heldout.auditing.rank.result import RankingResult
from heldout.auditing.rank.terminal import parts
from heldout.auditing.sheet import Sheet, plain


class Ranking(RankingResult):
    """A ranking, with the attributes of `heldout.auditing.rank.result.RankingResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        yield from parts(self, Sheet(options.max_width, options.ascii_only))

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def to_html(self) -> str:
        """Return the page of `heldout rank --html`, one file with its figure (needs matplotlib)."""
        from heldout.auditing.rank.page import page  # late: matplotlib may be missing

        return page(self)
