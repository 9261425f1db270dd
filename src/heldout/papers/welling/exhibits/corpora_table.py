"""Table 1: the corpora, what the paper printed of them, and the difference."""

from typing import Any

from heldout.inputs import Inputs
from heldout.typesetting import latex

_HEAD = r"""\begin{tabular}{@{}lrrrrrrrr@{}}
\toprule
& \multicolumn{2}{c}{training + test} & \multicolumn{3}{c}{vocabulary} & \multicolumn{3}{c}{mean length}\\
\cmidrule(lr){2-3}\cmidrule(lr){4-6}\cmidrule(l){7-9}
corpus & ours & paper & ours & paper & diff. & ours & paper & diff.\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"


def render(inputs: Inputs) -> str:
    """Return the table's tabular environment."""
    settings = inputs.settings
    body = ""
    for name in settings.described:
        if name == next((also for also in settings.described if also not in settings.corpora), None):
            body += "\\addlinespace\n"
        body += row(inputs.corpus(name)) + "\\\\\n"
    return _HEAD + latex.synthetic_mark(inputs, columns=9) + body + _FOOT


def row(corpus: dict[str, Any]) -> str:
    """Return a corpus's cells."""
    cells = [
        latex.corpus_name(str(corpus["corpus"])),
        documents(corpus["train_documents"], corpus["test_documents"]),
        documents(corpus["published_train_documents"], corpus["published_test_documents"]),
        latex.integer(corpus["vocabulary"]),
        latex.integer(corpus["published_vocabulary"]),
        latex.signed_percent(latex.difference(corpus["vocabulary"], corpus["published_vocabulary"])),
        latex.decimal(corpus["mean_length"]),
        latex.decimal(corpus["published_mean_length"]),
        latex.signed_percent(latex.difference(corpus["mean_length"], corpus["published_mean_length"])),
    ]
    return " & ".join(cells)


def documents(train: Any, test: Any) -> str:
    """Return "979 + 419"; a dash where either is missing."""
    if latex.missing(train) or latex.missing(test):
        return latex.DASH
    return f"{latex.integer(train)} + {latex.integer(test)}"
