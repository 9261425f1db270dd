"""The claims table: each claim of the original, its test, what was found, and the verdict that follows."""

from collections.abc import Iterable

from heldout.inputs import Inputs
from heldout.typesetting import latex
from heldout.verdicts import FAILS, HOLDS, Finding, Verdict

_CAPTION = r"""
Claims of Welling et al., of Buntine, of Hofmann, and of this paper (``beyond the original''), each with its
test. A claim holds where at least %s of the comparisons agree with it, fails where at most %s do, and is mixed in
between, unless its test says otherwise.\SyntheticNotice
""".strip()


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    rows = [
        [
            rf"{latex.escape(claim.statement)} {{\scriptsize({latex.escape(claim.source)})}}",
            latex.escape(claim.test),
            latex.escape(in_words(claim.finding)),
            rf"\textbf{{{claim.finding.verdict}}}",
        ]
        for claim in inputs.verdicts
    ]
    table = latex.longtable(
        inputs,
        r"@{}P{0.24\linewidth}P{0.28\linewidth}P{0.36\linewidth}P{0.07\linewidth}@{}",
        r"claim & test & found & verdict\\",
        rows,
        caption=_CAPTION % tuple(latex.percent(share, 0) for share in (HOLDS, FAILS)),
        label="tab:claims",
    )
    return "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{4pt}\n" + table + "\\endgroup\n"


def in_words(finding: Finding) -> str:
    """Say what a test found: how many comparisons agree, and the effect's size."""
    if not finding.comparisons:
        return "not run in this study"
    seeds = f", {finding.seeds} seed{'s' if finding.seeds > 1 else ''}" if finding.seeds else ""
    return f"{finding.agreeing:,} of {finding.comparisons:,}{seeds}; {finding.effect}"


def markdown(verdicts: Iterable[Verdict]) -> str:
    """Return claims in Markdown, a row each, with an anchor that a verdict can be cited by."""
    lines = ["| claim | where | comparisons | verdict |", "|---|---|---|---|"]
    for claim in verdicts:
        anchor = f'<a id="{claim.name}"></a>'
        cells = [f"{anchor}{claim.statement}", claim.source, in_words(claim.finding), f"**{claim.finding.verdict}**"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
