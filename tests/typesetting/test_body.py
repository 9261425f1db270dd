"""The body of the paper reads right whatever the verdicts are: every alternative is rendered and looked at."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_study import inputs, small_study

from heldout.papers import PAPERS
from heldout.typesetting import latex
from heldout.typesetting.macros import STATES, macros
from heldout.verdicts import IDENTITY, NO_DIFFERENCE

PAPER = Path(__file__).parents[2] / "paper"
MAIN = (PAPER / "main.tex").read_text()
BODY, APPENDIX = (re.findall(r"\\input\{sections/(\w+)\}", part) for part in MAIN.split(r"\appendix", 1))
SECTIONS = [*BODY, *APPENDIX]
CLAIMS = {latex.camel(claim.name) for paper in PAPERS for claim in paper.part("claims")}
CAN_FAIL = set(STATES.values()) - {STATES[IDENTITY]}
CANNOT = {"identity", "contradicted", "notrun"}
OPTIONAL = {STATES[NO_DIFFERENCE]}  # where it is missing the alternative "undecided" serves
MOST, MOST_IN_PARENTHESES = 3, 2  # numbers


def group(text: str, start: int) -> tuple[str, int]:
    """Return what stands in the braces that open at `start`, and where they end."""
    depth = 0
    for i in range(start, len(text)):
        escaped = re.search(r"(?<!\\)(?:\\\\)*\\$", text[max(0, i - 3) : i])  # a brace after two is one
        depth += 0 if escaped else {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1 : i], i + 1
    raise ValueError(text[start : start + 60])


def said(text: str) -> Iterator[tuple[str, dict[str, str], int, int]]:
    r"""Yield every outermost `\Say`: the claim, its alternatives, and where it starts and ends."""
    at = 0
    while (start := text.find(r"\Say{", at)) >= 0:
        claim, end = group(text, start + 4)
        content, at = group(text, end)
        alternatives, i = {}, 0
        while found := re.compile(r"\s*\\([a-z]+)(?=\{)").match(content, i):
            alternatives[found[1]], i = group(content, found.end())
        assert content[i:].strip() == "", f"{claim}: {content[i:]}"
        yield claim, alternatives, start, at


def source(name: str) -> str:
    text = (PAPER / "sections" / f"{name}.tex").read_text()
    return re.sub(r"(?m)(?<!\\)%.*\n\s*", "", text)


@pytest.mark.parametrize("name", SECTIONS)
def test_every_sentence_about_a_claim_has_an_alternative_for_every_verdict(name: str) -> None:
    for claim, alternatives, *_ in said(source(name)):
        assert claim in CLAIMS
        assert set(alternatives) | OPTIONAL in (CAN_FAIL, CANNOT | OPTIONAL), claim
        assert all(text.strip() for text in alternatives.values()), claim
        assert len(set(alternatives.values())) == len(alternatives), claim


def test_identities_are_said_as_such() -> None:
    found = {claim: set(alternatives) for name in SECTIONS for claim, alternatives, *_ in said(source(name))}
    assert len(found) > 30
    for name, judgement in inputs().judgements.items():
        if latex.camel(name) in found and judgement.effects:
            cannot = all(effect.test == "identity" for effect in judgement.effects)
            assert cannot == (found[latex.camel(name)] == CANNOT), name


@functools.cache
def values(own: bool = False) -> dict[str, str]:
    study = small_study()
    if own:
        study = small_study(corpora={"my-news": {"test_documents": 4}}, table_1_also=[])
        study["realistic"]["source"] = "my-news"
        study["beyond_vocabulary"]["corpus"] = study["alternatives"]["corpus"] = "my-news"
        for asked in study["measures"].values():
            if set(asked["corpora"]) <= {"cranfield", "medline", "nips"}:  # others draw their own documents
                asked["corpora"] = ["my-news"]
    names = ("Commit", "CommitDate", "Versions", "PeersVersions")  # they have digits
    return macros(inputs(study)) | dict.fromkeys(names, "a name")


def rendered(name: str, state: str, numbers: dict[str, str], conditionals: str = "#1") -> str:
    r"""Return a section as text: verdicts in one state, `\If...` as given where the study leaves it open."""
    text = re.sub(r"(?s)\\begin\{tabular\}.*?\\end\{tabular\}", "", expanded(source(name)))
    while found := next(said(text), None):
        _, alternatives, start, end = found
        likely = alternatives.get(
            "identity", alternatives.get("supported", "")
        )  # where the claim cannot be in that state
        chosen = alternatives.get(state, alternatives.get("undecided", likely) if {state} == OPTIONAL else likely)
        text = text[:start] + chosen + text[end:]
    while found_if := re.search(r"\\(If[A-Z]\w+)\{", text):
        content, end = group(text, found_if.end() - 1)
        shown = numbers[found_if[1]] or (conditionals if found_if[1] in OPEN else "")
        text = text[: found_if.start()] + shown.replace("#1", content) + text[end:]
    text = re.sub(r"\\of\{One\}\{(\w+)\}", lambda found: numbers[f"CorpusOne{found[1]}"], text)
    text = re.sub(r"\\([A-Z][A-Za-z]+)(?:\{\})?", lambda found: numbers.get(found[1], found[0]), text)
    for pattern, by in CLEANED:
        text = re.sub(pattern, by, text)
    return text


def expanded(text: str) -> str:
    """Return a section with what it defines for every corpus written out for the first."""
    while found := re.search(r"\\newcommand\{(\\\w+)\}\[1\]\{", text):
        body, end = group(text, found.end() - 1)
        text = text[: found.start()] + text[end:]
        for every in (r"\ForEachCorpus", r"\ForEachHofmann"):
            text = text.replace(f"{every}{{{found[1]}}}", body.replace("#1", "One"))
    return text


OPEN = {
    *("IfProbability", "IfPeers", "IfHofmann", "IfBeyond", "IfRealistic", "IfPriorDecides", "IfLongest"),
    *("IfRepairPartly", "IfAxisForWords", "IfAxisForNeither"),
}
CLEANED = (
    (r"(?s)\\begin\{equation\}.*?([.,]?)\s*(?:\\label\{[^}]*\})?\s*\\end\{equation\}", r"m\1"),
    (r"(?s)\\begin\{center\}.*?\\end\{center\}", "m"),
    (r"\\(?:Buntine|Welling)\w+(?:\{\d+\})+", "Author's"),
    (r"\\Drawn\{\w+\}", "drawn"),
    (r"\\Effect\{\w+\}", "m"),
    (r"\\emph\{([^{}]*)\}", r"\1"),
    (r"\\(begin|end)\{abstract\}", ""),
    (r"\\(?:setlength|addtolength)\{[^}]*\}\{[^}]*\}", ""),
    (r"\\(?:noindent|centering|small|footnotesize|smallskip|clearpage|par)\b", ""),
    (r"\\cite\w*(\[[^]]*\])*\{[^}]*\}", "Author"),
    (r"\\(eq)?ref\{[^}]*\}", "X"),
    (r"\\(label|input|includegraphics)(\[[^]]*\])?\{[^}]*\}", ""),
    (r"\\ensuremath\{(?:[^{}]|\{[^{}]*\})*\}|\$[^$]*\$", "m"),
    (r"\\(?:sub)?section\{[^}]*\}", "\n\n"),
    (r"\\paragraph\{(?:[^{}]|\{[^{}]*\})*\}\s*", "\n\n"),
    (r"\\(emph|texttt|textbf|citeauthor)\{([^}]*)\}", r"\2"),
    (r"\{,\}", ""),
    (r"\\,|~", " "),
    (r"\\%", "percent"),
)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and captions of a rendered section."""
    while found := re.search(r"(?s)\\begin\{(figure|table)\}(.*?)\\end\{\1\}", text):
        caption = re.search(r"\\caption\{", found[2])
        assert caption is not None
        yield " ".join(group(found[2], caption.end() - 1)[0].split())
        text = text[: found.start()] + text[found.end() :]
    for part in re.split(r"\n\s*\n", text):
        if part.strip(" {}\n"):
            yield " ".join(part.split())


@pytest.mark.parametrize("state", sorted(STATES.values()))
@pytest.mark.parametrize("name", SECTIONS)
def test_every_alternative_reads_as_a_paragraph_with_few_numbers(name: str, state: str) -> None:
    for paragraph in paragraphs(rendered(name, state, values())):
        assert re.search(r"[.:,]\}?$", paragraph), paragraph
        assert not re.search(r"[a-z,]\. [a-z]|[,;] ?[.,;]|\.\.| [.,;]|\\[A-Z]", paragraph), paragraph
        assert re.match(r"\{?\(?[A-Zm]|scikit|tomotopy", paragraph), paragraph
        assert len(re.findall(r"\d[\d.]*", paragraph)) <= MOST, paragraph
        for inside in re.findall(r"\(([^()]*)\)", paragraph):
            assert len(re.findall(r"\d[\d.]*", inside)) <= MOST_IN_PARENTHESES, paragraph


@pytest.mark.parametrize("state", sorted(STATES.values()))
def test_a_study_of_ones_own_corpus_names_no_other(state: str) -> None:
    for name in SECTIONS:
        text = rendered(name, state, values(own=True))
        assert not re.search(r"Cranfield|Medline|NIPS|Reuters", text), name
    assert "my-news" in rendered("message", state, values(own=True))


def test_the_body_ends_where_the_appendix_begins() -> None:
    assert BODY == ["abstract", "message", "why", "truth", "how_far", "reproduces", "repair", "libraries", "limits"]


def test_what_does_not_fit_its_page_fails_the_paper() -> None:
    rule = (PAPER.parent / "workflow/rules/paper.smk").read_text()
    (pattern,) = re.findall(r'overfull=r"([^"]*)"', rule)
    for line in (
        "LaTeX Warning: Float too large for page by 159.0pt on input line 12.",
        r"Overfull \vbox (21.5pt too high) has occurred while \output is active",
        r"Overfull \hbox (159.24046pt too wide) in alignment at lines 2--9",
    ):
        assert re.search(pattern, line), line
    assert not re.search(pattern, r"Overfull \hbox (1.24046pt too wide) in alignment at lines 2--9")
