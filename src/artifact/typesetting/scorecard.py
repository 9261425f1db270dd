"""The scorecard: statements of the sources beside effects, and whether these come to the same."""

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from artifact.contrasts.effect import NATS, Effect, chosen
from artifact.contrasts.inputs import Inputs
from artifact.typesetting import latex
from artifact.typesetting.prose import Named, finding_of


@dataclass(frozen=True)
class Statement:
    """A statement of a source and the finding that it predicts; a paper's `tables` list theirs as STATEMENTS.

    Attributes:
        says: the statement in few words.
        contrast: the name of the contrast that examines it.
        finding: the finding of every effect if it is right, as `artifact.typesetting.prose` names them.
        where: the choices of effects, by corpus or part; all of them by nothing.
        differs: the reason, in few words, printed where an effect has another finding.
        parts: the noun of the settings that tell its effects apart, of one corpus and K.
    """

    says: str
    contrast: str
    finding: str
    where: tuple[str, ...] = ("",)
    differs: str = ""
    parts: str = "settings"


def render(inputs: Inputs) -> str:
    """Return the statements of the sources: the range of our effects, its extent, and how many have the finding."""
    rows: list[latex.TableRow] = []
    for paper in inputs.papers:
        statements = getattr(importlib.import_module(f"{paper.module}.tables"), "STATEMENTS", ())
        shown = [row for row in (_row(inputs, statement) for statement in statements) if row]
        if shown:
            rows += [latex.ADDLINESPACE] * bool(rows)
            rows += [rf"\multicolumn{{5}}{{@{{}}l}}{{\emph{{{latex.escape(paper.source)}}}}}\\", *shown]
    columns = r"@{}P{0.355\linewidth}P{0.165\linewidth}P{0.17\linewidth}P{0.075\linewidth}P{0.18\linewidth}@{}"
    return latex.tabular(inputs, columns, r"the source says & we find & over & same? & why not\\", rows)


def _row(inputs: Inputs, one: Statement) -> list[str]:
    effects = [effect for where in one.where for effect in chosen(inputs.effects, one.contrast, where)]
    if not effects:
        return []
    named = Named("", 0, one.contrast, "", one.finding)
    met = sum(finding_of({one.contrast: (effect,)}, named) == one.finding for effect in effects)
    same = verdict(met, len(effects))
    why_not = "" if same == "yes" else latex.wording(one.differs)
    return [latex.wording(one.says), span(effects), extent(effects, one.parts), same, why_not]


def extent(effects: Sequence[Effect], parts: str) -> str:
    """Return how many corpora, numbers of topics and other parts effects are of; nothing where they are of one.

    Examples:
        >>> from dataclasses import replace
        >>> effect = Effect("gap", "cranfield", "K = 20, fitted prior", 20, 0.1, 0.01, 9.0, NATS)
        >>> others = [replace(effect, corpus="nips"), replace(effect, part="K = 20, flat prior")]
        >>> extent([effect, *others], "priors"), extent([effect], "priors")
        ('2 corpora, 2 priors', '')
    """
    rest = {" ".join(one for one in effect.part.split(", ") if not one.startswith("K = ")) for effect in effects}
    corpora, topics = {effect.corpus for effect in effects}, {effect.topics for effect in effects}
    numbers = {"corpora": len(corpora), "$K$": len(topics), parts: len(rest)}
    return ", ".join(f"{number} {noun}" for noun, number in numbers.items() if number > 1)


def verdict(met: int, number: int) -> str:
    """Return whether effects come to a source's conclusion: all, none, or as many as are said.

    Examples:
        >>> verdict(3, 3), verdict(0, 3), verdict(2, 3)
        ('yes', 'no', '2 of 3')
    """
    return "yes" if met == number else f"{met} of {number}" if met else "no"


def span(effects: Sequence[Effect]) -> str:
    """Return the least and the largest estimate to two decimals, or two digits of the larger, and units but nats."""
    values = [math.exp(effect.estimate) if effect.factor else effect.estimate for effect in effects]
    size = math.floor(math.log10(max(map(abs, values)) or 1.0))
    digits = min(4, max(0, 2 if -1 <= size <= 0 else 1 - size))
    ends = dict.fromkeys(_number(value, digits) for value in (min(values), max(values)))
    return " to ".join(ends) + f" {latex.escape(effects[0].unit)}" * (effects[0].unit != NATS)


def _number(value: float, digits: int) -> str:
    text = latex.decimal(abs(value), digits)
    return rf"\ensuremath{{-}}{text}" if value < 0.0 and text.strip("0.") else text
