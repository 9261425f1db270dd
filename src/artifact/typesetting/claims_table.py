"""Views of the claims' effects: the paper's table of all claims, its scorecard, and the tables of RESULTS.md."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from artifact.typesetting import latex
from artifact.typesetting.table import MISSING, Table
from artifact.verdicts.claims import Claim
from artifact.verdicts.inputs import Inputs
from artifact.verdicts.verdicts import IDENTITY, NATS, NOT_RUN, Effect, Judgement, shown, together
from heldout.evaluators import ESTIMATORS, FULL, HALF

_CAPTION = r"""
Claims of %s, each with its test and its effects: the estimate with its 95\,\%% interval on each corpus, over documents,
splits and the evaluator's error. Supported: the whole interval lies above the margin; contradicted: below it, the other
way; no difference: within; undecided: otherwise, and always of one replicate. A dagger marks an interval that is too
narrow for its verdict because the claim has others: they are corrected together. Cells are those of one effect;
reversed, of all effects: those that lie the other way by more than the margin in every replicate.\SyntheticNotice
""".strip()
SAMPLED = "-sampled"  # ending of scores that are folded in by a point of a Gibbs chain
PRINTED = {
    **{FULL: "full folding-in", HALF: "half folding-in", "plug-in-posterior-mean": "plug-in posterior mean"},
    **{"plsa-hof": "PLSA-HOF", "mixture-of-multinomials": "mixture", "hmm": "HMM"},
}
MOST_EFFECTS = 3  # largest number of a claim's effects on the scorecard; of more, verdicts are counted


def render(inputs: Inputs) -> str:
    """Return the table of all claims as a longtable."""
    rows = [
        [
            rf"{latex.wording(claim.statement)} {{\scriptsize({latex.escape(claim.source)})}}",
            latex.wording(claim.test),
            r"\newline ".join(_lines(inputs.judged(claim.name))) or latex.DASH,
            rf"\textbf{{{inputs.judged(claim.name).verdict}}}",
        ]
        for claim in claims_of(inputs)
    ]
    table = latex.longtable(
        inputs,
        r"@{}P{0.23\linewidth}P{0.25\linewidth}P{0.345\linewidth}P{0.115\linewidth}@{}",
        r"claim & test & effects & verdict\\",
        rows,
        caption=_CAPTION % latex.listed([latex.escape(paper.source) for paper in inputs.papers]),
        label="tab:claims",
    )
    return "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{4pt}\n" + table + "\\endgroup\n"


def scorecard(inputs: Inputs) -> str:
    """Return the claims on the papers' scorecards, source by source, each with its effects and verdict."""
    rows: list[latex.TableRow] = []
    for paper in inputs.papers:
        claims = {claim.name: claim for claim in paper.part("claims")}
        named = [claims[name] for name in paper.scorecard if inputs.judged(name).effects]
        if named:
            rows += [latex.ADDLINESPACE] * bool(rows)
            rows.append(rf"\multicolumn{{3}}{{@{{}}l}}{{\emph{{{latex.escape(paper.source)}}}}}\\")
        for claim in named:
            judgement = inputs.judged(claim.name)
            same_part = len({effect.part for effect in judgement.effects}) == 1 < len(judgement.effects)
            line = _without_part if same_part else _in_table
            effects = r"\newline ".join(line(*one) for one in judgement.with_verdicts())
            if len(judgement.effects) > MOST_EFFECTS:
                verdicts = Counter(judgement.verdicts).most_common()
                effects = ", ".join(f"{number} {verdict}" for verdict, number in verdicts)
            rows.append([latex.wording(claim.statement), effects, rf"\textbf{{{judgement.verdict}}}"])
    return latex.tabular(inputs, r"@{}P{0.44\linewidth}P{0.36\linewidth}l@{}", r"claim & effect & verdict\\", rows)


def markdown(claims: Iterable[Claim], inputs: Inputs) -> str:
    """Return claims in Markdown: a row for each part of a claim, with its estimates and the verdict on them."""
    rows = []
    for claim in claims:
        parts: dict[str, list[tuple[Effect, str, bool]]] = {}
        for one in inputs.judged(claim.name).with_verdicts():
            parts.setdefault(one[0].part, []).append(one)
        units = {effect.unit: None for effects in parts.values() for effect, _, _ in effects if effect.unit}
        statement = claim.statement if set(units) <= {NATS} else f"{claim.statement} ({', '.join(units)})"
        for part, effects in parts.items():
            estimates = ", ".join(markdown_effect(*one) for one in effects)
            rows.append((statement, part, estimates, together(verdict for _, verdict, _ in effects)))
            statement = ""
        if not parts:
            rows.append((statement, MISSING, MISSING, NOT_RUN))
    return Table(("claim", "part", "estimate [95 % interval]", "verdict"), rows).markdown()


def claims_of(inputs: Inputs) -> list[Claim]:
    """Return the claims of a study's papers, in order."""
    return [claim for paper in inputs.papers for claim in paper.part("claims")]


def _lines(judgement: Judgement) -> list[str]:
    """Return a line for each effect, and one for their units; none without effects."""
    lines = [_in_table(*one) for one in judgement.with_verdicts()]
    return [*lines, *([_units(judgement)] if lines else [])]


def _units(judgement: Judgement) -> str:
    """Return units, margins, and the numbers of replicates and cells, each once."""
    effects = judgement.effects
    margins = sorted({math.exp(e.margin) if e.factor else e.margin for e in effects if e.margin})
    reversed_cells = sum(effect.reversed_cells for effect in effects)
    words = [
        ", ".join(dict.fromkeys(effect.unit for effect in effects if effect.unit)),
        f"margin {', '.join(f'{margin:.3g}' for margin in margins)}" if margins else "",
        _range("replicate", [effect.replicates for effect in effects]),
        _range("cell", [effect.cells for effect in effects]),
        f"{reversed_cells} reversed" if reversed_cells else "",
    ]
    text = "; ".join(word for word in words if word)
    return rf"{{\scriptsize {latex.escape(text)}}}"


def _range(noun: str, numbers: list[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{f'{least:,}' if least == most else f'{least:,} to {most:,}'} {noun}{'s' if most != 1 else ''}"


def latex_effect(effect: Effect, verdict: str, corrected: bool) -> str:
    r"""Return an effect as LaTeX: its place, the estimate, without a sign where it rounds to 0, and its interval.

    Examples:
        >>> latex_effect(Effect("cranfield", "", 0.742, 0.003, 2.0, "", replicates=3), "supported", False)
        'Cranfield \\ensuremath{0.742} [\\ensuremath{0.729}, \\ensuremath{0.755}]'
        >>> latex_effect(Effect("none", "", -0.0002, 0.003, 2.0, "", replicates=3), "undecided", False)
        '\\ensuremath{0.000} [\\ensuremath{-0.013}, \\ensuremath{0.013}]'
    """
    estimate, *ends = shown(effect)
    if not estimate.strip("-0."):
        estimate = estimate.removeprefix("-")  # an end keeps its sign, which says on which side of 0 it is
    numbers = [rf"\ensuremath{{{_in_math(value)}}}" for value in (estimate, *ends)]
    text = _effect(effect, verdict, latex.corpus_name(effect.corpus), latex.wording(_in_words(effect.part)), numbers)
    return text + r"\textsuperscript{\dag}" * corrected


def _in_math(number: str) -> str:
    r"""Return a number in mathematics.

    Examples:
        >>> _in_math("-1,234.5"), _in_math("3.1e-13")
        ('-1{,}234.5', '3.1{\\cdot}10^{-13}')
    """
    mantissa, _, exponent = number.replace(",", "{,}").partition("e")
    return rf"{mantissa}{{\cdot}}10^{{{int(exponent)}}}" if exponent else mantissa


def _in_table(effect: Effect, verdict: str, corrected: bool) -> str:
    """Return an effect as LaTeX, its estimate and interval on one line."""
    where = "" if effect.corpus == "none" else latex.corpus_name(effect.corpus)
    numbers = latex_effect(replace(effect, corpus="none", part=""), verdict, corrected)
    return " ".join(filter(None, (where, latex.wording(_in_words(effect.part)), rf"\mbox{{{numbers}}}")))


def _without_part(effect: Effect, verdict: str, corrected: bool) -> str:
    return _in_table(replace(effect, part=""), verdict, corrected)


def _in_words(part: str) -> str:
    """Return a part with the names that evaluators have in print.

    Examples:
        >>> _in_words("full-folding-in-sampled, K = 10")
        'full folding-in, Gibbs sample, K = 10'
    """
    names = {name: known.label for name, known in ESTIMATORS.items()} | PRINTED
    words = []
    for word in part.split(", "):
        score = word.removesuffix(SAMPLED)
        words.append(names.get(score, score) + ", Gibbs sample" * (score != word))
    return ", ".join(words)


def markdown_effect(effect: Effect, verdict: str, corrected: bool) -> str:
    """Return an effect as Markdown: its corpus, estimate and interval.

    Examples:
        >>> markdown_effect(Effect("cranfield", "by half", 0.742, 0.003, 2.0, "", replicates=3), "supported", True)
        'cranfield 0.742 [0.729, 0.755]†'
    """
    return _effect(effect, verdict, effect.corpus, "", shown(effect)) + "†" * corrected


def _effect(effect: Effect, verdict: str, corpus: str, part: str, numbers: Iterable[str]) -> str:
    estimate, low, high = numbers
    known = math.isfinite(effect.error) and effect.error > 0.0 and verdict != IDENTITY
    where = ("" if effect.corpus == "none" else corpus, part)
    return " ".join(filter(None, (*where, estimate, f"[{low}, {high}]" if known else "")))
