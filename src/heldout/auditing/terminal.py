"""An audit on a terminal: the verdict, the numbers side by side, and the documents that differ most.

The report fits 80 columns, and narrower terminals with fewer columns of the table. It needs neither colour nor Unicode:
words repeat what colours say, and all signs have ASCII spellings for other encodings.
"""

import io
import math
from collections.abc import Iterator

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from heldout.auditing import wording
from heldout.auditing.result import TRUTH, Audit, Different
from heldout.auditing.wording import ALPHA, MINUS, TIMES
from heldout.evaluators import FULL

_SPELT = str.maketrans({"±": "+/-", MINUS: "-", TIMES: "x", "…": "...", "∞": "inf", "“": '"', "”": '"', ALPHA: "alpha"})
_NARROW, _NARROWER = 76, 60  # terminal columns below which the table of numbers omits columns
GAP = 2  # spaces between columns
_LEAST = 12  # least width of a name, and of words


class Report:
    """An audit that rich can print on any console.

    Args:
        audit: what to print.
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the parts at the console's width."""
        yield from _Parts(self.audit, options.max_width, options.ascii_only)


def render(audit: Audit) -> Report:
    """Return an audit as an object for `rich.console.Console.print`.

    Args:
        audit: the audit; if it is incomplete, the first line says so.
    """
    return Report(audit)


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


class _Parts(Sheet):
    """The parts of a report for one width and one alphabet."""

    def __init__(self, audit: Audit, width: int, ascii_only: bool) -> None:
        super().__init__(width, ascii_only)
        self.audit = audit

    def __iter__(self) -> Iterator[Text | Table]:
        audit = self.audit
        if not audit.complete:
            yield self.text(wording.incomplete(audit), "bold red")
        yield self.text(wording.headline(audit), "bold")
        for sentence in wording.reasons(audit):
            yield self.text(sentence)
        yield self.text("")
        yield self.text(wording.model_line(audit))
        yield self.text("; ".join(wording.counted(audit)) + ".")
        yield self.text("")
        yield self.numbers()
        if audit.reason:
            yield self.text(wording.truth_note(audit), "dim")
        if wording.per_term(audit):
            yield self.text("")
            yield self.terms()
        if audit.probability is not None:
            yield self.text("")
            yield self.probabilities()
            yield self.text(f"{wording.probability_caption(audit)}.", "dim")
        if audit.most_different:
            yield self.text("")
            yield self.documents()

    def numbers(self) -> Table:
        """Return the numbers side by side."""
        table = self.table("Perplexity, and nats per token; ± is the standard error")
        self.column(table, "")
        self.column(table, "perplexity", number=True)
        self.column(table, "±", number=True)
        self.column(table, f"{TIMES} truth", number=True)
        if self.width >= _NARROWER:
            self.column(table, "nats", number=True)
            self.column(table, "±", number=True)
        if self.width >= _NARROW:
            self.column(table, "what it is")
        for row in wording.rows(self.audit):
            cells = [row.label, row.perplexity, row.error, row.ratio, row.nats, row.nats_error, row.kind]
            style = "bold" if row.evaluator == TRUTH else ""
            table.add_row(*(self.text(cell) for cell in cells[: len(table.columns)]), style=style)
        return table

    def terms(self) -> Table:
        """Return the parts of the library's own number."""
        reported = self.audit.reported
        table = self.table(f"The terms of {wording.clean(reported.function)}")
        self.column(table, "term")
        self.column(table, "nats per token", number=True)
        self.column(table, "grows with topics")
        for term, cost in zip(reported.terms, wording.per_term(self.audit), strict=True):
            table.add_row(
                self.text(wording.clean(term.name)),
                self.text(wording.nats(cost)),
                self.text("yes" if term.grows else ""),
                style="bold" if term.grows else "",
            )
        return table

    def probabilities(self) -> Table:
        """Return which of the numbers a probability could have given."""
        table = self.table("Is it a probability?")
        self.column(table, "")
        self.column(table, "nats above truth", number=True)
        self.column(table, "chance", number=True)
        self.column(table, "a probability?")
        for row in wording.probability_rows(self.audit):
            table.add_row(*map(self.text, row), style="bold" if row[-1] == "no" else "")
        return table

    def documents(self) -> Table:
        """Return the documents on which full folding-in and the truth differ most."""
        table = self.table("Where full folding-in and the truth differ most, nats per token")
        heads: tuple[str, ...] = ("tokens", "full", "truth", "gap")
        numbers = [_numbers(document) for document in self.audit.most_different]
        if self.width < _NARROWER:
            heads, numbers = heads[::3], [cells[::3] for cells in numbers]
        widths = sum(max(map(len, cells)) + GAP for cells in zip(heads, *numbers, strict=True))
        room = max(self.width - widths - GAP, 2 * _LEAST)
        names = room // 2 if room >= 2 * _LEAST + GAP else room
        self.column(table, "document", max_width=names)
        for head in heads:
            self.column(table, head, number=True)
        if names < room:
            self.column(table, "words")
        for document, cells in zip(self.audit.most_different, numbers, strict=True):
            name = self.cut(wording.shorten(wording.clean(document.name), names), names)
            words = self.cut(" ".join(map(wording.clean, document.words)), room - names)
            row = [name, *map(self.text, cells), words]
            table.add_row(*row[: len(table.columns)])
        return table

    def cut(self, text: str, cells: int) -> Text:
        """Return text cut to at most `cells` columns of the terminal."""
        shortened = self.text(text)
        shortened.truncate(max(cells, 1), overflow="crop" if self.ascii_only else "ellipsis")
        return shortened


def _numbers(document: Different) -> tuple[str, ...]:
    full, truth = (document.nats_per_token.get(name, math.nan) for name in (FULL, TRUTH))
    return f"{document.tokens:,}", wording.nats(full, 2), wording.nats(truth, 2), wording.signed(full - truth, 2)
