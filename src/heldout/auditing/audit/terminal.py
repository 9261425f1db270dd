"""An audit on a terminal: the verdict, the numbers side by side, and the documents that differ most.

Narrow terminals have fewer columns of the table.
"""

import math
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from heldout.auditing.audit import wording
from heldout.auditing.audit.result import AuditResult, Different
from heldout.auditing.blocks import TRUTH
from heldout.auditing.formats import TIMES, clean, nats, shorten, signed
from heldout.auditing.sheet import GAP, Sheet
from heldout.evaluators import FULL

_NARROW, _NARROWER = 76, 60  # terminal columns below which the table of numbers omits columns
_LEAST = 12  # least width of a name, and of words


class AuditSheet(Sheet):
    """The parts of an audit's report for one width and one alphabet.

    Args:
        audit: what to print; if it is incomplete, the first line says so.
        width: of the terminal, columns.
        ascii_only: whether its encoding has ASCII alone.
    """

    def __init__(self, audit: AuditResult, width: int, ascii_only: bool) -> None:
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
        table = self.table(f"The terms of {clean(reported.function)}")
        self.column(table, "term")
        self.column(table, "nats per token", number=True)
        self.column(table, "grows with topics")
        for term, cost in zip(reported.terms, wording.per_term(self.audit), strict=True):
            table.add_row(
                self.text(clean(term.name)),
                self.text(nats(cost)),
                self.text("yes" if term.grows else ""),
                style="bold" if term.grows else "",
            )
        return table

    def probabilities(self) -> Table:
        """Return which of the numbers a probability could have given."""
        table = self.table("Is it a probability?")
        self.column(table, "")
        self.column(table, "log e-value", number=True)
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
            name = self.cut(shorten(clean(document.name), names), names)
            words = self.cut(" ".join(map(clean, document.words)), room - names)
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
    return f"{document.tokens:,}", nats(full, 2), nats(truth, 2), signed(full - truth, 2)
