"""One page that looks at the original's figures and at ours: each one's message, what is seen here, same or not."""

from dataclasses import dataclass

from heldout.inputs import Inputs
from heldout.papers.welling.claims import CLAIMS
from heldout.typesetting import latex
from heldout.verdicts import Finding

_HEAD = r"""\begin{tabular}{@{}P{0.10\linewidth}P{0.21\linewidth}P{0.26\linewidth}P{0.29\linewidth}P{0.06\linewidth}@{}}
\toprule
figure & message of the original & here & measured & same?\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"

VERSIONS = ("The three versions of PLSA lie close together.", ("plsa-vem-similar", "plsa-tem-similar"))
SMOOTHING = (
    "Full folding-in falls throughout; half folding-in lies higher and turns up under small constants.",
    ("full-always-improves", "half-above-full", "half-overfits"),
)
LONG = (
    "Full folding-in falls throughout; half folding-in lies closer to it than on the short documents.",
    ("full-always-improves", "long-documents-alleviate"),
)
COMPARISON = (
    "LDA lies lowest, more clearly by half folding-in; EPCA, shown to fewer topics, lies near PLSA.",
    ("lda-better", "lda-better-by-half", "epca-similar"),
)
ACROSS = ("long-documents-alleviate",)  # claims that compare corpora


@dataclass(frozen=True)
class Row:
    """A figure: its number, the position of its corpus, what the original shows, and the claims that say so."""

    number: int
    corpus: int
    message: str
    claims: tuple[str, ...]


ROWS = (
    *(Row(1 + i, i, *VERSIONS) for i in range(3)),
    *(Row(4 + i, i, *(LONG if i == 2 else SMOOTHING)) for i in range(3)),
    *(Row(7 + i, i, *COMPARISON) for i in range(3)),
)


def render(inputs: Inputs) -> str:
    """Return the table's tabular environment, with small copies of our figures."""
    corpora = inputs.settings.corpora
    checks = {claim.name: claim.check for claim in CLAIMS}
    body = ""
    for row in ROWS:
        if row.corpus >= len(corpora):
            continue
        corpus = corpora[row.corpus]
        found = {name: checks[name](inputs, corpora if name in ACROSS else [corpus]) for name in row.claims}
        cells = [
            rf"{row.number}, {latex.corpus_name(corpus)}",
            row.message,
            rf"\raisebox{{-0.85\height}}{{\includegraphics[width=\linewidth]{{figure-{row.number}}}}}",
            r"\newline ".join(f"{_short(name)}: {_share(finding)}" for name, finding in found.items()),
            same(list(found.values())),
        ]
        body += " & ".join(cells) + "\\\\[0.5ex]\n"
    return _HEAD + latex.synthetic_mark(inputs, columns=5) + body + _FOOT


def same(found: list[Finding]) -> str:
    """Say whether the message is the original's: yes where every claim holds, no where none does, even in part."""
    verdicts = {finding.verdict for finding in found}
    if "not run" in verdicts:
        return "not run"
    return {frozenset({"holds"}): "yes", frozenset({"fails"}): "no"}.get(frozenset(verdicts), "in part")


def _short(name: str) -> str:
    return latex.escape(name.replace("-", " "))


def _share(finding: Finding) -> str:
    if not finding.comparisons:
        return "not run"
    return f"{finding.verdict} ({finding.agreeing} of {finding.comparisons})"
