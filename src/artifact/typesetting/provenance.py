"""Table of all exhibits: the name that makes one, and its number in the document."""

from artifact.contrasts.inputs import Inputs
from artifact.study.manifest import Exhibit
from artifact.typesetting import latex
from artifact.typesetting.exhibits import exhibits

_CAPTION = r"Exhibits by the names that make them.\SyntheticNotice"


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    body = [
        [
            f"{exhibit.title}{_which(exhibit, inputs)}",
            rf"\texttt{{{latex.escape(name)}}}",
            rf"\exhibitnumber{{{name}}}",
        ]
        for name, exhibit in exhibits(inputs.papers, inputs.study).items()
        if name not in ("macros", "table-provenance")
    ]
    return latex.longtable(
        inputs,
        r"@{}P{0.55\linewidth}P{0.33\linewidth}l@{}",
        r"exhibit & name & number\\",
        body,
        caption=_CAPTION,
        label="tab:provenance",
    )


def _which(exhibit: Exhibit, inputs: Inputs) -> str:
    return "" if exhibit.corpus is None else f", {latex.corpus_name(inputs.settings.corpora[exhibit.corpus])}"
