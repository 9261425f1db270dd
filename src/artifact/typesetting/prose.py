r"""Findings that the sentences of paper/*.tex rest on: each names its own, and a build checks that they still hold.

    LDA is better than PLSA\holds{lda-plsa}{nips: K = 800}{above}, by \effect{lda-plsa}{nips: K = 800}.
    With many topics it is by \ends{lda-plsa}{K = 400}\holds{lda-plsa}{K = 400}{positive}.

The braces of `\holds` have a contrast, the choice of its effects, and their finding, which all of them have: where the
interval lies (`artifact.contrasts.effect`), the sign of the estimate, "positive" or "negative", that the interval
"holds" the null, which a sentence on a published number may say, or a bound such as "<0.05" of the whole interval;
"<margin" and ">-margin" are the null's distance that the contrast was planned with.
Effects are chosen by corpus, by part, by "corpus: part", or all of them by nothing. A sentence that prints effects has
to name a finding of each. `\effect` prints them with their intervals, `\size` without the estimate's sign, which a word
says, `\ends` the least and the largest estimate, `\atmost` a bound on their sizes, the farthest end of their intervals.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from artifact.contrasts.effect import FINDINGS, NOT_RUN, Effect, Effects, chosen
from artifact.typesetting import latex
from artifact.typesetting.contrasts_table import latex_effect
from heldout.errors import InputError

SIGNS = ("positive", "negative")
HOLDS = "holds"  # the interval holds the null
MIXED = "of several kinds"

_BOUND = re.compile(r"([<>])(-?\d+(?:\.\d+)?)|<margin|>-margin")
_MACRO = re.compile(r"\\(holds|effect|size|ends|atmost)\s*\{([^{}#]*)\}\s*\{([^{}]*)\}(?:\s*\{([^{}]*)\})?")
# ends of sentences: a stop before a space, an empty line, or the start of a caption, a paragraph or an item
_END = re.compile(r"[.?!](?=[\s}~]|\\holds|$)(?<!e\.g\.)(?<!i\.e\.)|\n\s*\n|\\(?:caption|paragraph|item|begin|end)\b")


@dataclass(frozen=True)
class Named:
    """A finding that a sentence names.

    Attributes:
        file: the source's name.
        line: number of its line, from 1.
        contrast: the contrast's name.
        where: the choice of its effects; empty for all.
        finding: a finding of `FINDINGS`, a sign, `HOLDS`, or a bound.
    """

    file: str
    line: int
    contrast: str
    where: str
    finding: str


@dataclass(frozen=True)
class Text:
    """Findings and effects of a text.

    Attributes:
        named: the findings that it names.
        printed: the macro, the contrast and the choice of effects that it prints, with its sentence's findings of that
            contrast.
    """

    named: tuple[Named, ...]
    printed: tuple[tuple[str, str, str, tuple[Named, ...]], ...]


def read(sources: Iterable[Path]) -> Text:
    """Read the findings and effects of TeX sources.

    Raises:
        InputError: for a sentence that prints an effect of a contrast and names no finding of it, or for a finding that
            is none.
    """
    named: list[Named] = []
    printed: list[tuple[str, str, str, tuple[Named, ...]]] = []
    for source in sources:
        text = re.sub(r"(?<!\\)%.*", "", source.read_text(encoding="utf-8"))
        for start, sentence in sentences(text):
            macros = list(_MACRO.finditer(sentence))
            here: dict[str, list[Named]] = {}
            for match in sorted(macros, key=lambda match: match[1] != "holds"):
                line = text.count("\n", 0, start + match.start()) + 1
                macro, name, where, finding = (part and " ".join(part.split()) for part in match.groups())
                if macro == "holds":
                    here.setdefault(name, []).append(Named(source.name, line, name, where, finding or ""))
                    if finding not in (*FINDINGS, *SIGNS, HOLDS) and not _BOUND.fullmatch(finding or ""):
                        raise InputError(f"{source.name}:{line}: {name}: {finding!r} is neither a finding nor a sign")
                elif name in here:
                    printed.append((macro, name, where, tuple(here[name])))
                else:
                    raise InputError(
                        f"{source.name}:{line}: an effect of {name}, in a sentence that names no finding of it"
                    )
            named += [one for ones in here.values() for one in ones]
    return Text(tuple(named), tuple(printed))


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position of every sentence's start, and the sentence."""
    start = 0
    for end in _END.finditer(text):
        stop = end.end()
        while following := re.compile(r"\s*\\holds\{[^{}]*\}\{[^{}]*\}\{[^{}]*\}").match(text, stop):
            stop = following.end()  # a name after the stop
        yield start, text[start:stop]
        start = stop
    yield start, text[start:]


def finding_of(effects: Effects, one: Named) -> str:
    """Return today's finding in the place of the one that a sentence names; `MIXED` where effects differ in it."""

    def kind(effect: Effect) -> str:
        if one.finding in SIGNS:
            return SIGNS[effect.estimate <= effect.null]
        if one.finding == HOLDS:
            return HOLDS if effect.low <= effect.null <= effect.high else "does not hold"
        if bound := _BOUND.fullmatch(one.finding):
            least = one.finding.startswith(">")
            end = float(bound[2]) if bound[2] else effect.null + (-effect.margin if least else effect.margin)
            holds = effect.low > end if least else effect.high < end
            return one.finding if holds else f"[{effect.low:.3g}, {effect.high:.3g}]"
        return effect.finding

    findings = {kind(effect) for effect in chosen(effects, one.contrast, one.where)}
    return NOT_RUN if not findings else findings.pop() if len(findings) == 1 else MIXED


def moved(text: Text, effects: Effects) -> list[tuple[Named, str]]:
    """Return the findings that no longer hold, each with today's finding."""
    findings = ((one, finding_of(effects, one)) for one in text.named)
    return [(one, now) for one, now in findings if now != one.finding]


def line(one: Named, now: str) -> str:
    """Return a line on a finding that has moved."""
    contrast = f"{one.contrast}{f' ({one.where})' if one.where else ''}"
    return f"{one.file}:{one.line}: {contrast}: the sentence says {one.finding}, found is {now}"


def render(text: Text, effects: Effects) -> str:
    r"""Return as LaTeX the effects that a text prints, the findings that have moved, and their list for its end.

    An effect of what was not run is printed as such.

    Raises:
        InputError: for an effect whose sentence names no finding of it.
    """
    lines = []
    for macro, contrast, where, findings in text.printed:
        if not (printed := chosen(effects, contrast, where)):  # its sentence is among those that moved
            lines.append(_define(macro, (contrast, where), NOT_RUN))
            continue
        known = [effect for one in findings for effect in chosen(effects, contrast, one.where)]
        for effect in (effect for effect in printed if effect not in known):
            place = f"{findings[0].file}:{findings[0].line}: {contrast} ({effect.corpus}: {effect.part})"
            raise InputError(f"{place}: an effect, in a sentence that names no finding of it")
        lines.append(_define(macro, (contrast, where), _PRINTED[macro](printed)))
    other = moved(text, effects)
    lines += [_define("moved", (one.contrast, one.where, one.finding), latex.escape(now)) for one, now in other]
    items = "".join(rf"\item {latex.escape(line(one, now))}" for one, now in other)
    listed = rf"\section*{{Sentences that this run moved}}\begin{{itemize}}{items}\end{{itemize}}" if items else ""
    return "".join(f"{one}\n" for one in dict.fromkeys(lines)) + rf"\newcommand{{\MovedSentences}}{{{listed}}}" + "\n"


def _define(kind: str, key: Sequence[str], value: str) -> str:
    return rf"\expandafter\def\csname {':'.join((kind, *key))}\endcsname{{{value}}}"


def _ends(effects: Sequence[Effect]) -> str:
    """Return the least and the largest estimate; one number where they print as one."""
    least, largest = (end(effects, key=lambda effect: effect.estimate) for end in (min, max))
    numbers = [latex_effect(replace(effect, corpus="none", part="")).partition(" [")[0] for effect in (least, largest)]
    return " to ".join(dict.fromkeys(numbers))


def _at_most(effects: Sequence[Effect]) -> str:
    """Return the farthest end of the intervals from the null, rounded up to hundredths, below one to thousandths."""
    size = max(abs(end - effect.null) for effect in effects for end in (effect.low, effect.high))
    digits = 2 if size >= 0.01 else 3
    return f"{math.ceil(size * 10**digits) / 10**digits:.{digits}f}"


def _in_words(effects: Sequence[Effect]) -> str:
    """Return effects with their intervals, each followed by its corpus and part as far as these differ."""
    corpora, parts = {e.corpus for e in effects}, {e.part for e in effects}
    words = []
    for effect in effects:
        corpus = latex.corpus_name(effect.corpus) if len(corpora) > 1 else ""
        place = ", ".join(filter(None, (corpus, latex.escape(effect.part) if len(parts) > 1 else "")))
        numbers = latex_effect(replace(effect, corpus="none", part=""))
        words.append(f"{numbers} ({place})" if place else numbers)
    return latex.listed(words)


def _sizes(effects: Sequence[Effect]) -> str:
    """Return effects as `_in_words` does, turned to the positive side."""
    return _in_words([replace(effect, estimate=abs(effect.estimate)) for effect in effects])


_PRINTED = {"effect": _in_words, "size": _sizes, "ends": _ends, "atmost": _at_most}
