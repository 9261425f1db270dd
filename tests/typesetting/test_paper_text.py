"""The paper's sources hold no number, use no macro that is not there, and cite what the bibliography has."""

import functools
import re
from pathlib import Path
from typing import Any

import pytest
from small_study import inputs, made_up, small_study

from heldout.evaluators import FULL
from heldout.papers import PAPERS
from heldout.typesetting.exhibits import exhibits
from heldout.typesetting.macros import POSITIONS, macros

PAPER = Path(__file__).parents[2] / "paper"
SECTIONS = sorted((PAPER / "sections").glob("*.tex"))
SOURCES = [PAPER / "main.tex", PAPER / "preamble.tex", *SECTIONS]
ALL_TEXT = "\n".join(source.read_text() for source in SOURCES)

NOT_TEXT = (
    r"(?<!\\)%.*",
    r"\\(Welling\w+|Buntine\w+)\{\d+\}(\{\d+\})?",  # the originals' own numbering
    r"\\Drawn\{\w+\}",  # a corpus's name
    r"\\(cite\w*|ref|eqref|label|input|includegraphics|bibliography)(\[[^]]*\])*\{[^}]*\}",
    r"(?s)\\begin\{(equation|tabular)\}.*?\\end\{\1\}",
    r"\$[^$]*\$",
    r"#1",
    r"\\newcommand\{\\\w+\}\[1\]",
    r"-\{\}-cores 2",  # part of a command
    r"\\setlength\{[^}]*\}\{[^}]*\}",
)


def prose(source: Path) -> str:
    text = source.read_text()
    for pattern in NOT_TEXT:
        text = re.sub(pattern, " ", text)
    return text


@pytest.mark.parametrize("source", SECTIONS, ids=lambda source: str(source.stem))
def test_no_number_is_typed(source: Path) -> None:
    assert re.findall(r".{0,30}\d.{0,10}", prose(source)) == []


def test_the_number_test_sees_numbers(tmp_path: Path) -> None:
    typed = tmp_path / "typed.tex"
    typed.write_text(r"Perplexity is 853.2 in \WellingEquation{5}{37} of \citet{welling2008}.")
    assert re.findall(r"\d[\d.]*", prose(typed)) == ["853.2"]


def studies() -> list[Any]:
    one = small_study(corpora={"cranfield": {"test_documents": 4}}, smoothing_in_m_step={"seeds": []})
    unmeasured = small_study(smoothing=[1e-3], topics=[2], seeds=[0])
    unmeasured["beyond_vocabulary"] = {"corpus": "cranfield", "topics": [4], "seeds": [0]}
    return [small_study(), one, unmeasured]


@functools.cache
def all_macros() -> dict[str, str]:
    """Return the macros of the whole small study."""
    return macros(inputs())


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("synthetic", [False, True])
def test_every_macro_that_the_paper_uses_is_defined_for_every_study(number: int, synthetic: bool) -> None:
    study = studies()[number]
    defined = set(macros(inputs(study, synthetic=synthetic)))
    generated = {name for name in all_macros() if not name.startswith("Corpus") or name.startswith("Corpora")}
    used = {name for name in re.findall(r"\\([A-Z][A-Za-z]+)", ALL_TEXT) if name in generated}
    own = set(re.findall(r"\\newcommand\{\\(\w+)\}", ALL_TEXT))
    unknown = (
        set(re.findall(r"\\([A-Z][A-Za-z]+)", ALL_TEXT))
        - defined
        - own
        - {"PackageError", "Gamma", "Bigl", "Bigm", "Bigr", "DeclareRobustCommand", "Say", "Said"}
    )
    assert unknown == set()
    assert len(used) > 30
    per_corpus = set(re.findall(r"\\of\{#1\}\{(\w+)\}", ALL_TEXT))
    assert len(per_corpus) > 30
    for position in POSITIONS[: len(study["corpora"])]:
        assert {f"Corpus{position}{name}" for name in per_corpus} <= defined


def test_every_exhibit_is_in_the_paper() -> None:
    values = all_macros()
    per_corpus = set(re.findall(r"\\includegraphics(?:\[[^]]*\])?\{\\of\{#1\}\{(\w+)\}\}", ALL_TEXT))
    shown = {values[f"Corpus{position}{name}"] for position in POSITIONS for name in per_corpus}
    shown |= set(re.findall(r"\\includegraphics(?:\[[^]]*\])?\{([\w-]+)\}", ALL_TEXT))
    shown |= set(re.findall(r"\\input\{([\w-]+)\.tex\}", ALL_TEXT))
    assert shown == set(exhibits(PAPERS, small_study()))


def test_every_caption_says_that_data_are_synthetic() -> None:
    captions = re.findall(r"\\caption\{(.*?)\n?\s*\\label", ALL_TEXT, flags=re.DOTALL)
    assert len(captions) == ALL_TEXT.count(r"\caption{") > 0
    assert all(
        "SyntheticNotice" in caption or r"\of{#1}{Notice}" in caption or "No data play" in caption
        for caption in captions
    )
    synthetic, real = macros(inputs(synthetic=True)), macros(inputs())
    for name in ("SyntheticNotice", "CorpusOneNotice", "CorpusThreeNotice"):
        assert "Synthetic data" in synthetic[name]
        assert real[name] == ""
    assert (synthetic["IfSynthetic"], real["IfSynthetic"]) == ("#1", "")


def test_citations_are_in_the_bibliography_and_all_of_it_is_cited() -> None:
    keys = set(re.findall(r"^@\w+\{(\w+),", (PAPER / "references.bib").read_text(), flags=re.MULTILINE))
    text = ALL_TEXT + (PAPER / "gallery.tex").read_text()
    cited = {key for group in re.findall(r"\\cite\w*(?:\[[^]]*\])*\{([^}]*)\}", text) for key in group.split(",")}
    assert cited == keys


def test_verdicts_and_key_numbers_follow_the_scores() -> None:
    values = all_macros()
    assert values["CorpusOneFullVerdict"] == "falls at every one of 12 steps"  # 3 constants, 2 seeds, 2 steps
    assert values["AllFullVerdict"] == "falls at every one of 36 steps"
    assert values["CorpusTwoHalfTurns"] == "1 of 3"
    assert values["CorpusTwoFullTurns"] == "none of 3"
    assert values["CorpusThreeHalfBestConstant"] == r"\ensuremath{10^{-4}}"
    assert values["CorpusThreeHalfBestLowestTopics"] == "10"
    assert values["CorpusThreeHalfSmallestLowestTopics"] == "5"
    assert values["CorpusOneLdaHalfVerdict"] == "lies lower at every one of 3 points"
    assert values["IfPriorDecides"] == "#1"
    assert values["SizesApartMost"] == r"25.0\,\%"
    assert (values["BeyondTo"], values["IfBeyond"]) == ("50", "#1")
    assert values["Commit"] == r"\texttt{0123456789ab}"


def test_verdicts_turn_with_the_scores() -> None:
    def p(topics: int, smoothing: float, evaluator: str, seed: int) -> float:
        other = made_up(topics, smoothing, evaluator, seed)
        return 1e6 / other if evaluator == FULL else other

    values = macros(inputs(p=p))
    assert values["AllFullVerdict"] == "falls at none of 36 steps"
    assert values["CorpusOneFullTurns"] == "all 3"


def test_a_study_that_ends_within_the_vocabulary_claims_nothing_beyond() -> None:
    within = small_study()
    within["beyond_vocabulary"]["topics"] = [30]
    values = macros(inputs(within))
    assert values["IfBeyond"] == ""
    assert values["BeyondFullTo"] == "not run"


def test_data_are_called_the_originals_only_where_they_are() -> None:
    own = small_study(corpora={"my-news": {"test_documents": 4}}, table_1_also=[])
    own["beyond_vocabulary"]["corpus"] = own["alternatives"]["corpus"] = "my-news"
    flags = ("IfOriginal", "IfSynthetic", "IfOther")
    for study, synthetic, expected in (
        (small_study(), False, ("#1", "", "")),
        (small_study(), True, ("", "#1", "")),
        (own, False, ("", "", "#1")),
    ):
        values = macros(inputs(study, synthetic=synthetic))
        assert tuple(values[flag] for flag in flags) == expected
