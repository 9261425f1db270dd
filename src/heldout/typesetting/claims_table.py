"""The claims table: each claim of the original, its test, what was found, and the verdict that follows."""

import re
from collections.abc import Iterable

from heldout.evaluators import ESTIMATORS
from heldout.inputs import Inputs
from heldout.typesetting import latex, style
from heldout.typesetting.table import Table
from heldout.verdicts import FAILS, HOLDS, Finding, Verdict

IN_PRINT = {"mixed": "holds in part"}  # printed words of verdicts, where they differ
_ENGLISH = ("annealed", "reference")  # identifiers that are words, too
_COMPOUND = (  # words that keep their hyphen
    "folding-in|folded-in|plug-in|mean-field|pseudo-counts|Chib-style|log-likelihood|document-specific|left-to-right"
    "|scikit-learn"
)
_CAPTION = r"""
Claims of %s, each with its test. A comparison agrees, disagrees, or is undecided where its error covers both.
Whatever the undecided ones would say, a claim that holds has at least %s of the comparisons for it, one that fails at
most %s, and one that holds in part a share in between, unless its test says otherwise; else it is undecided. An
identity cannot fail: its sizes are what is found.\SyntheticNotice
""".strip()


def render(inputs: Inputs) -> str:
    """Return the table as a longtable."""
    rows = [
        [
            rf"{latex.escape(claim.statement)} {{\scriptsize({latex.escape(claim.source)})}}",
            _numbers(claim.test),
            readable(finding_in_words(claim.finding), inputs.settings.described),
            rf"\textbf{{{printed(claim.finding.verdict)}}}",
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
    rows: list[latex.TableRow] = []
    for paper in inputs.papers:
        named = [verdicts[name] for name in paper.scorecard if name in verdicts]
        if named:
            rows += [latex.ADDLINESPACE] * bool(rows)
            rows.append(rf"\multicolumn{{3}}{{@{{}}l}}{{\emph{{{latex.escape(paper.source)}}}}}\\")
        for claim in named:
            finding = claim.finding
            met = f"{latex.integer(finding.agreeing)} of {latex.integer(finding.comparisons)}"
            verdict = rf"\textbf{{{printed(finding.verdict)}}}"
            rows.append([latex.escape(claim.statement), met if finding.comparisons else latex.DASH, verdict])
    return latex.tabular(inputs, r"@{}P{0.68\linewidth}rl@{}", r"claim & comparisons & verdict\\", rows)


def printed(verdict: str) -> str:
    """Return a verdict as the paper's tables say it: holds, holds in part, fails, undecided, identity, not run."""
    return IN_PRINT.get(verdict, verdict)


def readable(text: str, corpora: Iterable[str] = ()) -> str:
    r"""Return what a test found as LaTeX: models and corpora by their names, variants in words, numbers set as such.

    Examples:
        >>> readable("medline plsa-hof 0.1 +- 2e-07, free-columns -1", ["medline"])
        'Medline PLSA-HOF 0.1 \\ensuremath{\\pm} \\ensuremath{2\\cdot 10^{-7}}, free columns \\ensuremath{-}1'
    """
    names = style.MODEL_NAMES | {name: known.label for name, known in ESTIMATORS.items()}
    names = {identifier: name for identifier, name in names.items() if identifier not in _ENGLISH}
    for identifier, name in (names | {corpus: latex.corpus_title(corpus) for corpus in corpora}).items():
        text = re.sub(rf"(?<![\w-]){re.escape(identifier)}(?![\w-])", name, text)
    return _numbers(re.sub(rf"({_COMPOUND})|(?<=[a-z])-(?=[a-z])", lambda match: match[1] or " ", text))


def _numbers(text: str) -> str:
    text = latex.escape(text).replace("+-", r"\ensuremath{\pm}")
    text = re.sub(r"\d[\d.]*e[+-]?\d+", lambda match: latex.power(match[0]), text)
    text = re.sub(r"(?<=[+-])inf\b", r"\\ensuremath{\\infty}", text)
    return re.sub(r"(?<![\w{})-])-(?=\d|\\ensuremath)", r"\\ensuremath{-}", text)


def finding_in_words(finding: Finding) -> str:
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
    rows = [
        (
            f'<a id="{claim.name}"></a>{claim.statement}',
            claim.source,
            finding_in_words(claim.finding),
            f"**{claim.finding.verdict}**",
        )
        for claim in verdicts
    ]
    return Table(("claim", "where", "comparisons", "verdict"), rows).markdown()
