"""The claims table: each claim of the original, its test, what was found, and the verdict that follows."""

from heldout.inputs import Inputs
from heldout.typesetting import latex
from heldout.verdicts import FAILS, HOLDS, Finding

_HEAD = r"""\begingroup\footnotesize\setlength{\tabcolsep}{4pt}
\begin{longtable}{@{}P{0.24\linewidth}P{0.28\linewidth}P{0.36\linewidth}P{0.07\linewidth}@{}}
\caption{Claims of Welling et al., of Buntine, of Hofmann, and of this paper (``beyond the original''), each with its
test. A claim holds where at least %s of the comparisons agree with it, fails where at most %s do, and is mixed in
between, unless its test says otherwise.\SyntheticNotice}\label{tab:claims}\\
\toprule
claim & test & found & verdict\\
\midrule
\endfirsthead
\toprule
claim & test & found & verdict\\
\midrule
\endhead
\bottomrule
\endfoot
"""
_FOOT = "\\end{longtable}\n\\endgroup\n"


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    body = ""
    for claim in inputs.verdicts:
        cells = [
            rf"{latex.escape(claim.statement)} {{\scriptsize({latex.escape(claim.source)})}}",
            latex.escape(claim.test),
            latex.escape(in_words(claim.finding)),
            rf"\textbf{{{claim.finding.verdict}}}",
        ]
        body += " & ".join(cells) + "\\\\\n\\addlinespace\n"
    head = _HEAD % tuple(latex.percent(share, 0) for share in (HOLDS, FAILS))
    return head + latex.synthetic_mark(inputs, columns=4) + body.removesuffix("\\addlinespace\n") + _FOOT


def in_words(finding: Finding) -> str:
    """Say what a test found: how many comparisons agree, and the effect's size."""
    if not finding.comparisons:
        return "not run in this study"
    seeds = f", {finding.seeds} seed{'s' if finding.seeds > 1 else ''}" if finding.seeds else ""
    return f"{finding.agreeing:,} of {finding.comparisons:,}{seeds}; {finding.effect}"


def markdown(inputs: Inputs) -> str:
    """Return the claims in Markdown, a row each, with an anchor that a verdict can be cited by."""
    lines = ["| claim | where | found | verdict |", "|---|---|---|---|"]
    for claim in inputs.verdicts:
        anchor = f'<a id="{claim.name}"></a>'
        cells = [f"{anchor}{claim.statement}", claim.source, in_words(claim.finding), f"**{claim.finding.verdict}**"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
