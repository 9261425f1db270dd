r"""Findings that the sentences of paper/*.tex rest on: each names its own, and a build checks that they still hold.

    LDA is better than PLSA\holds{lda-better}{nips}{supported}, by \effect{lda-better}{nips: half, than PLSA}.

The braces of `\holds` have a claim, the choice of its effects, and their finding: their verdict together, or the
sign that all of their estimates have, "positive" or "negative". Effects are chosen by corpus, by part, by
"corpus: part", or all of them by nothing. A sentence that prints effects has to name a finding of each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from artifact.typesetting import latex
from artifact.typesetting.claims_table import latex_effect
from artifact.verdicts.verdicts import NOT_RUN, VERDICTS, Effect, Judgement, together, verdict_of
from heldout.errors import InputError

SIGNS = ("positive", "negative")

_VERDICT = re.compile(r"\\verdict\{([^{}#]+)\}")
_MACRO = re.compile(r"\\(holds|effect)\s*\{([^{}#]*)\}\s*\{([^{}]*)\}(?:\s*\{([^{}]*)\})?")
# ends of sentences: a stop before a space, an empty line, or the start of a caption, a paragraph or an item
_END = re.compile(r"[.?!](?=[\s}~]|\\holds|$)(?<!e\.g\.)(?<!i\.e\.)|\n\s*\n|\\(?:caption|paragraph|item|begin|end)\b")

Judgements = Mapping[str, Judgement]
Chosen = list[tuple[Effect, str, bool]]  # effects, their verdicts, and whether these are of corrected intervals


@dataclass(frozen=True)
class Named:
    """A finding that a sentence names.

    Attributes:
        file: the source's name.
        line: number of its line, from 1.
        claim: the claim's name.
        where: the choice of its effects; empty for all.
        finding: a verdict or a sign.
    """

    file: str
    line: int
    claim: str
    where: str
    finding: str


@dataclass(frozen=True)
class Text:
    """Findings and effects of a text.

    Attributes:
        named: the findings that it names.
        printed: the claim and the choice of effects that it prints, with its sentence's findings of that claim.
        tabulated: the claims whose verdicts it prints.
    """

    named: tuple[Named, ...]
    printed: tuple[tuple[str, str, tuple[Named, ...]], ...]
    tabulated: tuple[str, ...] = ()


def read(sources: Iterable[Path]) -> Text:
    """Read the findings and effects of TeX sources.

    Raises:
        InputError: for a sentence that prints an effect of a claim and names no finding of it, or for a finding that
            is none.
    """
    named: list[Named] = []
    printed: list[tuple[str, str, tuple[Named, ...]]] = []
    tabulated: list[str] = []
    for source in sources:
        text = re.sub(r"(?<!\\)%.*", "", source.read_text(encoding="utf-8"))
        tabulated += _VERDICT.findall(text)
        for start, sentence in sentences(text):
            macros = list(_MACRO.finditer(sentence))
            here: dict[str, list[Named]] = {}
            for match in sorted(macros, key=lambda match: match[1] == "effect"):
                line = text.count("\n", 0, start + match.start()) + 1
                macro, claim, where, finding = (part and " ".join(part.split()) for part in match.groups())
                if macro == "holds":
                    here.setdefault(claim, []).append(Named(source.name, line, claim, where, finding or ""))
                    if finding not in (*VERDICTS, *SIGNS):
                        raise InputError(f"{source.name}:{line}: {claim}: {finding!r} is neither a verdict nor a sign")
                elif claim in here:
                    printed.append((claim, where, tuple(here[claim])))
                else:
                    raise InputError(
                        f"{source.name}:{line}: an effect of {claim}, in a sentence that names no finding of it"
                    )
            named += [one for ones in here.values() for one in ones]
    return Text(tuple(named), tuple(printed), tuple(tabulated))


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


def chosen(judgements: Judgements, claim: str, where: str) -> Chosen:
    """Return the effects of a claim that a text chooses."""
    effects = judgements[claim].with_verdicts() if claim in judgements else []
    return [one for one in effects if where in ("", one[0].corpus, one[0].part, f"{one[0].corpus}: {one[0].part}")]


def finding(judgements: Judgements, claim: str, where: str, kind: str) -> str:
    """Return the finding of a claim's effects: their sign where `kind` is a sign, else their verdict."""
    effects = chosen(judgements, claim, where)
    if kind not in SIGNS:
        return together(verdict for _, verdict, _ in effects)
    signs = {SIGNS[effect.estimate <= 0.0] for effect, _, _ in effects}
    return NOT_RUN if not signs else signs.pop() if len(signs) == 1 else "of both signs"


def moved(text: Text, judgements: Judgements) -> list[tuple[Named, str]]:
    """Return the findings that no longer hold, each with today's finding."""
    findings = ((one, finding(judgements, one.claim, one.where, one.finding)) for one in text.named)
    return [(one, now) for one, now in findings if now != one.finding]


def line(one: Named, now: str) -> str:
    """Return a line on a finding that has moved."""
    claim = f"{one.claim}{f' ({one.where})' if one.where else ''}"
    return f"{one.file}:{one.line}: {claim}: the sentence says {one.finding}, found is {now}"


def render(text: Text, judgements: Judgements) -> str:
    r"""Return as LaTeX the effects that a text prints, the findings that have moved, and their list for its end.

    Raises:
        InputError: for an effect that does not exist, or whose sentence names no finding of it.
    """
    lines = [_define("verdict", (claim,), verdict_of(judgements, claim)) for claim in text.tabulated]
    for claim, where, findings in text.printed:
        if not (effects := chosen(judgements, claim, where)):
            raise InputError(f"the text prints an effect of {claim} ({where or 'all'}), of which there is none")
        known = [effect for one in findings for effect, _, _ in chosen(judgements, claim, one.where)]
        for effect in (effect for effect, _, _ in effects if effect not in known):
            place = f"{findings[0].file}:{findings[0].line}: {claim} ({effect.corpus}: {effect.part})"
            raise InputError(f"{place}: an effect, in a sentence that names no finding of it")
        lines.append(_define("effect", (claim, where), _in_words(effects)))
    other = moved(text, judgements)
    lines += [_define("moved", (one.claim, one.where, one.finding), latex.escape(now)) for one, now in other]
    items = "".join(rf"\item {latex.escape(line(one, now))}" for one, now in other)
    listed = rf"\section*{{Sentences that this run moved}}\begin{{itemize}}{items}\end{{itemize}}" if items else ""
    return "".join(f"{one}\n" for one in dict.fromkeys(lines)) + rf"\newcommand{{\MovedSentences}}{{{listed}}}" + "\n"


def _define(kind: str, key: Sequence[str], value: str) -> str:
    return rf"\expandafter\def\csname {':'.join((kind, *key))}\endcsname{{{value}}}"


def _in_words(effects: Chosen) -> str:
    """Return effects with their intervals, each followed by its corpus and part as far as these differ."""
    corpora, parts = {e.corpus for e, _, _ in effects}, {e.part for e, _, _ in effects}
    words = []
    for effect, verdict, corrected in effects:
        corpus = latex.corpus_name(effect.corpus) if len(corpora) > 1 else ""
        place = ", ".join(filter(None, (corpus, latex.escape(effect.part) if len(parts) > 1 else "")))
        numbers = latex_effect(replace(effect, corpus="none", part=""), verdict, corrected)
        words.append(f"{numbers} ({place})" if place else numbers)
    return latex.listed(words)
