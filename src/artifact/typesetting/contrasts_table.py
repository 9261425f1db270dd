"""Views of effects: the paper's table of all contrasts, and the tables of RESULTS.md."""

import math
from collections.abc import Iterable
from dataclasses import replace

from artifact.contrasts.contrast import ANY, QUESTIONS, Contrast
from artifact.contrasts.effect import NATS, Effect, shown
from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex
from artifact.typesetting.table import MISSING, Table
from heldout.evaluators import ESTIMATORS, FULL, HALF

_CAPTION = r"""
Every contrast with its statement, its sides and its effects: the estimate with its 95\,\% interval on each corpus,
over documents, splits and the evaluator's error, and where the interval lies. Above, below: beyond the margin; within:
inside it; open: otherwise, and always of one replicate. Of effects by $K$ the fewest and the most topics are
shown.\SyntheticNotice
""".strip()
SAMPLED = "-sampled"  # ending of scores that are folded in by a point of a Gibbs chain
PRINTED = {
    **{FULL: "full folding-in", HALF: "half folding-in", "plug-in-posterior-mean": "plug-in posterior mean"},
    **{"plsa-hof": "PLSA-HOF", "mixture-of-multinomials": "mixture", "hmm": "HMM"},
}


def render(inputs: Inputs) -> str:
    """Return the table of all contrasts as a longtable, question by question."""
    rows: list[latex.TableRow] = []
    known = [contrast for contrast in contrasts_of(inputs) if inputs.effects.get(contrast.name)]
    for question, asked in QUESTIONS.items():
        own = [contrast for contrast in known if contrast.question == question]
        if own:
            rows += [latex.ADDLINESPACE] * bool(rows)
            rows.append(rf"\multicolumn{{3}}{{@{{}}l}}{{\emph{{{latex.escape(asked)}}}}}\\")
        for contrast in own:
            effects = inputs.effects[contrast.name]
            source = rf" {{\scriptsize({latex.escape(contrast.source)})}}" if contrast.source else ""
            rows.append(
                [
                    latex.wording(contrast.says) + source,
                    f"{latex.wording(sides(contrast))} {_units(contrast, effects)}",
                    r"\newline ".join(_in_table(effect) for effect in ends(effects)),
                ]
            )
    table = latex.longtable(
        inputs,
        r"@{}P{0.27\linewidth}P{0.25\linewidth}P{0.42\linewidth}@{}",
        r"statement & contrast & effects\\",
        rows,
        caption=_CAPTION,
        label="tab:contrasts",
    )
    return "\\begingroup\\footnotesize\\setlength{\\tabcolsep}{4pt}\n" + table + "\\endgroup\n"


def at_most_topics(effects: Iterable[Effect]) -> list[Effect]:
    """Return effects; where they are by K, the one with the most topics of every corpus and part."""
    known = ends(effects)
    places = {(effect.corpus, _without_topics(effect)): effect for effect in known}  # the last, which has the most
    return list(places.values())


def ends(effects: Iterable[Effect]) -> list[Effect]:
    """Return effects; where they are by K, the ones with the fewest and the most topics."""
    known = list(effects)
    by_place: dict[tuple[str, str], list[int]] = {}
    for effect in known:
        by_place.setdefault((effect.corpus, _without_topics(effect)), []).append(effect.topics)
    return [
        effect
        for effect in known
        if effect.topics in (min(topics := by_place[effect.corpus, _without_topics(effect)]), max(topics))
    ]


def _without_topics(effect: Effect) -> str:
    return ", ".join(word for word in effect.part.split(", ") if not word.startswith("K = "))


def markdown(contrasts: Iterable[Contrast], inputs: Inputs) -> str:
    """Return contrasts in Markdown: a row for each part of one, with its estimates and where their intervals lie."""
    rows = []
    for contrast in contrasts:
        parts: dict[str, list[Effect]] = {}
        for effect in at_most_topics(inputs.effects.get(contrast.name, ())):
            parts.setdefault(effect.part, []).append(effect)
        statement = f"{contrast.says} {sides(contrast)[0].upper()}{sides(contrast)[1:]}{_unit(contrast)}."
        for part, effects in parts.items():
            rows.append((statement, part, ", ".join(markdown_effect(effect) for effect in effects)))
            statement = ""
        if not parts:
            rows.append((statement, MISSING, "not run"))
    return Table(("contrast", "part", "estimate [95 % interval], where it lies"), rows).markdown()


def sides(contrast: Contrast) -> str:
    """Return the two sides in words."""
    if contrast.other is None:
        return contrast.one.name
    verb = {"difference": "less", "share": "as a share of", "factor": "over"}[contrast.estimand]
    return f"{contrast.one.name} {verb} {contrast.other.name}"


def contrasts_of(inputs: Inputs) -> list[Contrast]:
    """Return the contrasts of a study's papers, in order."""
    return [contrast for paper in inputs.papers for contrast in paper.part("contrasts")]


def _unit(contrast: Contrast) -> str:
    unit = contrast.unit or contrast.margin.unit
    return f" ({unit})" if unit and unit != NATS else ""


def _units(contrast: Contrast, effects: Iterable[Effect]) -> str:
    """Return the unit, the margin and the numbers of replicates."""
    replicates = sorted({effect.replicates for effect in effects})
    margin = math.exp(contrast.margin.value) if contrast.estimand == "factor" else contrast.margin.value
    words = [
        contrast.unit or contrast.margin.unit,
        "" if contrast.margin is ANY else f"margin {margin:.3g}",
        f"{' to '.join(f'{number:,}' for number in dict.fromkeys((replicates[0], replicates[-1])))} replicates",
    ]
    return rf"{{\scriptsize {latex.escape('; '.join(word for word in words if word))}}}"


def latex_effect(effect: Effect) -> str:
    r"""Return an effect as LaTeX: its place, the estimate, without a sign where it rounds to 0, and its interval.

    Examples:
        >>> latex_effect(Effect("gap", "cranfield", "", 0, 0.742, 0.003, 2.0, "", replicates=3))
        'Cranfield \\ensuremath{0.742} [\\ensuremath{0.729}, \\ensuremath{0.755}]'
        >>> latex_effect(Effect("gap", "none", "", 0, -0.0002, 0.003, 2.0, "", replicates=3))
        '\\ensuremath{0.000} [\\ensuremath{-0.013}, \\ensuremath{0.013}]'
    """
    estimate, *ends = shown(effect)
    if not estimate.strip("-0."):
        estimate = estimate.removeprefix("-")  # an end keeps its sign, which says on which side of 0 it is
    numbers = [rf"\ensuremath{{{_in_math(value)}}}" for value in (estimate, *ends)]
    return _effect(effect, latex.corpus_name(effect.corpus), latex.wording(_in_words(effect.part)), numbers)


def _in_math(number: str) -> str:
    r"""Return a number in mathematics.

    Examples:
        >>> _in_math("-1,234.5"), _in_math("3.1e-13")
        ('-1{,}234.5', '3.1{\\cdot}10^{-13}')
    """
    mantissa, _, exponent = number.replace(",", "{,}").partition("e")
    return rf"{mantissa}{{\cdot}}10^{{{int(exponent)}}}" if exponent else mantissa


def _in_table(effect: Effect) -> str:
    """Return an effect as LaTeX, its estimate and interval on one line, and where it lies."""
    where = "" if effect.corpus == "none" else latex.corpus_name(effect.corpus)
    numbers = latex_effect(replace(effect, corpus="none", part=""))
    part = latex.wording(_in_words(effect.part))
    return " ".join(filter(None, (where, part, rf"\mbox{{{numbers}}}", effect.finding)))


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


def markdown_effect(effect: Effect) -> str:
    """Return an effect as Markdown: its corpus, estimate and interval, and where that lies.

    Examples:
        >>> markdown_effect(Effect("gap", "cranfield", "by half", 0, 0.742, 0.003, 2.0, "", replicates=3))
        'cranfield 0.742 [0.729, 0.755] above'
    """
    return f"{_effect(effect, effect.corpus, '', shown(effect))} {effect.finding}"


def _effect(effect: Effect, corpus: str, part: str, numbers: Iterable[str]) -> str:
    estimate, low, high = numbers
    known = math.isfinite(effect.error) and effect.error > 0.0
    where = ("" if effect.corpus == "none" else corpus, part)
    return " ".join(filter(None, (*where, estimate, f"[{low}, {high}]" if known else "")))
