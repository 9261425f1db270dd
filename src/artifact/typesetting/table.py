"""A table that is printed in LaTeX or in Markdown, and the table of the corpora."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex

MISSING = "-"


@dataclass(frozen=True)
class Table:
    """Cells of plain text, and their names.

    Attributes:
        head: the columns' names.
        rows: the cells.

    Examples:
        >>> print(Table(["corpus", "words"], [["ap", "10,473"]]).markdown(), end="")
        | corpus | words |
        |---|---|
        | ap | 10,473 |
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [" | ".join(cells) for cells in (self.head, *self.rows)]
        head, *body = (f"| {line} |" for line in lines)
        return "\n".join((head, f"|{'---|' * len(self.head)}", *body)) + "\n"

    def latex(self) -> list[list[str]]:
        """Return the rows' cells in LaTeX."""
        return [[latex.DASH if cell == MISSING else latex.typeset(cell) for cell in row] for row in self.rows]


def corpora(inputs: Inputs) -> Table:
    """Return the corpora's sizes, the sizes that the original printed, and the relative differences."""
    head = ["corpus", "training + test", "the paper's", "vocabulary", "the paper's", "difference"]
    head += ["tokens per document", "the paper's", "difference"]
    rows = [_corpus(name, inputs.corpus(name)) for name in inputs.settings.described]
    return Table(head, rows)


def _corpus(name: str, corpus: dict[str, Any]) -> list[str]:
    cells = [latex.corpus_title(name)]
    for start in ("", "published_"):
        numbers = [corpus[f"{start}{part}_documents"] for part in ("train", "test")]
        cells.append(MISSING if any(map(latex.missing, numbers)) else " + ".join(f"{n:,.0f}" for n in numbers))
    for column, form in (("vocabulary", ",.0f"), ("mean_length", ",.1f")):
        ours, published = corpus[column], corpus[f"published_{column}"]
        cells += [MISSING if latex.missing(value) else format(value, form) for value in (ours, published)]
        percent = 100.0 * latex.relative_difference(ours, published)
        cells.append(MISSING if latex.missing(percent) else "0.0 %" if abs(percent) < 0.05 else f"{percent:+.1f} %")
    return cells
