"""An audit that prints itself and writes its page."""

from rich.console import Console, ConsoleOptions, RenderResult

from heldout.auditing.audit.result import AuditResult
from heldout.auditing.audit.terminal import AuditSheet
from heldout.auditing.sheet import plain


class Audit(AuditResult):
    """An audit's result, with the attributes of `heldout.auditing.audit.result.AuditResult`; rich prints it, too."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts of the report at the console's width."""
        yield from AuditSheet(self, options.max_width, options.ascii_only)

    def __str__(self) -> str:
        """Return the report of the terminal, 80 columns wide, without colours."""
        return plain(self)

    def to_html(self) -> str:
        """Return the page of `heldout audit --html`, one file with its figures (needs matplotlib)."""
        from heldout.auditing.audit.page import page  # late: matplotlib may be missing

        return page(self)
