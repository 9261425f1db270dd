"""The claims table: each claim of the original, its test, what was found, and the verdict that follows."""

from collections.abc import Iterable

from heldout.inputs import Inputs
from heldout.typesetting import latex
from heldout.verdicts import FAILS, HOLDS, Finding, Verdict

ON_CARD = {
    "mixed": "holds in part",
    "undecided": "is undecided",
    "identity": "is an identity",
    "not run": "was not run",
}
_CAPTION = r"""
Claims of %s, each with its test. A comparison agrees, disagrees, or is undecided where its error covers both.
Whatever the undecided ones would say, a claim that holds has at least %s of the comparisons for it, one that fails at
most %s, and one that is mixed a share in between, unless its test says otherwise; else it is undecided. An identity
cannot fail: its sizes are what is found.\SyntheticNotice
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
        r"@{}P{0.23\linewidth}P{0.27\linewidth}P{0.335\linewidth}P{0.105\linewidth}@{}",
        r"claim & test & found & verdict\\",
        rows,
        caption=_CAPTION
        % (
            latex.listed([latex.escape(paper.source) for paper in inputs.papers]),
            *(latex.percent(share, 0) for share in (HOLDS, FAILS)),
        ),
        label="tab:claims",
    )
    return "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{4pt}\n" + table + "\\endgroup\n"


def scorecard(inputs: Inputs) -> str:
    """Return the claims that the papers put on their scorecards: who made it, how often it was met, and the verdict."""
    verdicts = {verdict.name: verdict for verdict in inputs.verdicts}
    rows: list[latex.Row] = []
    for paper in inputs.papers:
        named = [verdicts[name] for name in paper.scorecard if name in verdicts]
        if named:
            rows += [latex.ADDLINESPACE] * bool(rows)
            rows.append(rf"\multicolumn{{3}}{{@{{}}l}}{{\emph{{{latex.escape(paper.source)}}}}}\\")
        for claim in named:
            finding = claim.finding
            met = f"{latex.integer(finding.agreeing)} of {latex.integer(finding.comparisons)}"
            verdict = rf"\textbf{{{ON_CARD.get(finding.verdict, finding.verdict)}}}"
            rows.append([latex.escape(claim.statement), met if finding.comparisons else latex.DASH, verdict])
    return latex.tabular(inputs, r"@{}P{0.68\linewidth}rl@{}", r"claim & comparisons & here it\\", rows)


def in_words(finding: Finding) -> str:
    """Say what a test found: how many comparisons agree, and the effect's size."""
    if not finding.comparisons:
        return "not run in this study"
    parts = [f"{finding.agreeing:,} of {finding.comparisons:,}"]
    if finding.undecided:
        visible = f" (an effect of {finding.visible} would show)" if finding.visible else ""
        parts.append(f"{finding.undecided:,} undecided{visible}")
    if finding.seeds:
        parts.append(f"{finding.seeds} seed{'s' if finding.seeds > 1 else ''}")
    reason = f"cannot fail: {finding.identity}; " if finding.identity else ""
    return f"{reason}{', '.join(parts)}; {finding.effect}"


def markdown(verdicts: Iterable[Verdict]) -> str:
    """Return claims in Markdown, a row each, with an anchor that a verdict can be cited by."""
    lines = ["| claim | where | comparisons | verdict |", "|---|---|---|---|"]
    for claim in verdicts:
        anchor = f'<a id="{claim.name}"></a>'
        cells = [f"{anchor}{claim.statement}", claim.source, in_words(claim.finding), f"**{claim.finding.verdict}**"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
