"""Table of all exhibits: the name that makes one, its number in the document, and the verdicts on its claims."""

from collections import Counter

from artifact.study.manifest import Exhibit
from artifact.typesetting import latex
from artifact.typesetting.exhibits import exhibits
from artifact.verdicts.inputs import Inputs

_CAPTION = r"Exhibits by the names that make them, and the verdicts on the claims that they show.\SyntheticNotice"


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    body = [
        [
            f"{exhibit.title}{_which(exhibit, inputs)}",
            rf"\texttt{{{latex.escape(name)}}}",
            rf"\exhibitnumber{{{name}}}",
            _verdicts(exhibit, inputs) or latex.DASH,
        ]
        for name, exhibit in exhibits(inputs.papers, inputs.study).items()
        if name not in ("macros", "table-provenance")
    ]
    return latex.longtable(
        inputs,
        r"@{}P{0.37\linewidth}P{0.28\linewidth}lP{0.22\linewidth}@{}",
        r"exhibit & name & number & claims\\",
        body,
        caption=_CAPTION,
        label="tab:provenance",
    )


def _verdicts(exhibit: Exhibit, inputs: Inputs) -> str:
    """Return the verdicts on the claims that an exhibit shows, most frequent first, with their numbers."""
    verdicts = Counter(inputs.judged(claim).verdict for claim in exhibit.claims).most_common()
    return ", ".join(f"{number} {verdict}" for verdict, number in verdicts)


def _which(exhibit: Exhibit, inputs: Inputs) -> str:
    return "" if exhibit.corpus is None else f", {latex.corpus_name(inputs.settings.corpora[exhibit.corpus])}"
