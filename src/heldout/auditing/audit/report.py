"""An audit that prints itself, writes its page, and stands in a notebook."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

from heldout.auditing.audit import wording
from heldout.auditing.audit.result import AuditResult
from heldout.auditing.pages import WIDTH, fragment, page, settings_text
from heldout.auditing.sheet import Sheet, drawn, frame, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Audit(AuditResult):
    """An audit's result, with the attributes of `heldout.auditing.audit.result.AuditResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        sheet = Sheet(options.max_width, ascii_only=options.ascii_only)
        yield from self._verdict(sheet)
        yield from map(sheet.text, ("", wording.model_line(self)))
        yield from self._details(sheet)

    def _verdict(self, sheet: Sheet) -> Iterator[RenderableType]:
        yield from map(sheet.text, filter(None, (wording.left_out(self),)))
        yield sheet.text(wording.headline(self), "bold")
        yield from map(sheet.text, wording.reasons(self))

    def _details(self, sheet: Sheet) -> Iterator[RenderableType]:
        yield sheet.text(wording.counted(self))
        for number, table in enumerate(wording.tables(self)):
            yield sheet.text("")
            yield sheet.table(table)
            yield sheet.note(table.caption)
            if not number and self.reason:
                yield sheet.note(wording.note(self))

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Audit of {wording.model_line(self)}: perplexity {wording.likelihood_text(self)}>"

    def _repr_html_(self) -> str:
        sheet = Sheet(WIDTH, is_page=True)
        return fragment([sheet.text(wording.headline(self), "bold"), sheet.table(wording.numbers(self))])

    def to_frame(self, what: str = "numbers") -> "pd.DataFrame":
        """Return the "numbers", the "topics" or the "documents" as a pandas table; see `records` (needs pandas)."""
        return frame(self.records(what), {"numbers": "evaluator", "topics": "number"}.get(what, "document"))

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw all perplexities on a logarithmic axis, each joined to the likelihood (needs matplotlib).

        Args:
            axes: drawn into; None makes them with pyplot.
        """
        from heldout.auditing.audit.figures import draw_numbers

        return drawn(draw_numbers, self, axes)

    def to_html(self) -> str:
        """Return the page of `heldout audit --html`, one file with its figures (needs matplotlib)."""
        from heldout.auditing.audit import figures  # late: matplotlib may be missing

        sheet = Sheet(WIDTH, is_page=True)
        facts = (wording.own_number(self), wording.prior(self))
        details = (*self._details(sheet), *map(sheet.text, facts), sheet.note(settings_text(self.settings)))
        drawn = (figures.numbers(self), figures.by_length(self))
        return page(f"Audit: {wording.model_line(self)}", self._verdict(sheet), drawn, details)
