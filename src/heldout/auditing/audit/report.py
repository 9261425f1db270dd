"""An audit that prints itself, writes its page, and stands in a notebook."""

from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult

from heldout.auditing import tables
from heldout.auditing.audit import wording
from heldout.auditing.audit.result import AuditResult
from heldout.auditing.sheet import Sheet, drawn, frame, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Audit(AuditResult):
    """An audit's result, with the attributes of `heldout.auditing.audit.result.AuditResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        sheet = Sheet(options.max_width, options.ascii_only)
        yield sheet.text(wording.headline(self), "bold")
        for sentence in wording.reasons(self):
            yield sheet.text(sentence)
        yield from map(sheet.text, ("", wording.model_line(self), "; ".join(wording.counted(self)) + "."))
        for at, table in enumerate(wording.tables(self)):
            yield sheet.text("")
            yield sheet.table(table)
            yield sheet.text(table.caption, "dim")
            if not at and self.reason:
                yield sheet.text(wording.note(self), "dim")

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Audit of {wording.model_line(self)}: perplexity {wording.likelihood_text(self)}>"

    def _repr_html_(self) -> str:
        return tables.fragment(wording.headline(self), wording.numbers(self))

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
        from heldout.auditing.audit.page import page  # late: matplotlib may be missing

        return page(self)
