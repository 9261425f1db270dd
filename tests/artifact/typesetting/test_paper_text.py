"""The paper's sources hold no number, show every exhibit, and cite what the bibliography has."""

import functools
import math
import re
from pathlib import Path

import pytest
from printed import printed_nowhere
from small_study import inputs, small_study

from artifact.papers import EXHIBITS
from artifact.papers.likelihood.prior_share import TODAY
from artifact.results.data_sets import DATA_SETS
from artifact.study.study import read_study
from artifact.typesetting.exhibits import SHARED
from artifact.typesetting.macros import macros

PAPER = Path(__file__).parents[3] / "paper"
SECTIONS = sorted(file for file in (PAPER / "sections").glob("*.tex") if not file.name.startswith("gallery_"))
SOURCES = [PAPER / "main.tex", PAPER / "supplement.tex", *SECTIONS]
ALL_TEXT = "\n".join(source.read_text() for source in SOURCES)

NOT_TEXT = (
    r"(?<!\\)%.*",
    r"\\(Welling\w+|Buntine\w+)\{\d+\}(\{\d+\})?",  # the originals' own numbering
    r"\\Drawn\{\w+\}",  # a corpus's name
    r"\\(cite\w*|ref|eqref|Site|label|input|includegraphics|bibliography)(\[[^]]*\])*\{[^}]*\}",
    r"\\(holds|effect|size|ends)(\{[^{}]*\})+",
    r"(?s)\\begin\{(equation|tabular)\}.*?\\end\{\1\}",
    r"\$[^$]*\$",
    r"#\d",
    r"\\newcommand\{\\\w+\}\[\d\]",
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


@functools.cache
def all_macros() -> dict[str, str]:
    """Return the macros of the whole small study."""
    return macros(inputs())


def test_a_document_shows_exhibits_that_there_are_and_none_twice() -> None:
    """The site shows them all (test_site.py)."""
    shown = re.findall(r"\\includegraphics(?:\[[^]]*\])?\{([\w-]+)\}", ALL_TEXT)
    shown += re.findall(r"\\input\{(table-[\w-]+)\.tex\}", ALL_TEXT)
    assert len(shown) == len(set(shown))
    assert {*shown, *re.findall(r"\\Site\{([\w-]+)\}", ALL_TEXT)} <= EXHIBITS.keys() | SHARED.keys()


def test_citations_are_in_the_bibliography_and_all_of_it_is_cited() -> None:
    keys = set(re.findall(r"^@\w+\{(\w+),", (PAPER / "references.bib").read_text(), flags=re.MULTILINE))
    text = ALL_TEXT + "".join(source.read_text() for source in (PAPER / "gallery.tex", *PAPER.glob("*/gallery_*.tex")))
    cited = {key for group in re.findall(r"\\cite\w*(?:\[[^]]*\])*\{([^}]*)\}", text) for key in group.split(",")}
    cited |= {of.source for of in DATA_SETS.values() if of.source}  # in a table
    assert cited == keys


def test_the_reference_is_held_to_other_estimates_where_the_text_says_so() -> None:
    validation = read_study(PAPER.parent / "workflow/studies/paper.yaml")["measures"]["validation"]
    assert set(TODAY).isdisjoint(validation["corpora"]), "limits.tex and validation.tex say that it is not"
    assert len(validation["corpora"]) == 3


def test_sparks_own_rounds_are_one_pass_and_leave_half_of_its_start() -> None:
    settings = read_study(PAPER.parent / "workflow/studies/paper.yaml")["measures"]["packages"]["settings"]
    rounds, own = settings["rounds"], settings["own_rounds"]["spark"]
    assert own == 20  # a pass: `subsamplingRate` is 0.05
    assert rounds["spark"] == own * rounds["gensim"] == own * rounds["scikit-learn"]
    assert math.prod(1 - (1024 + t) ** -0.51 for t in range(1, own + 1)) > 0.5


def test_every_macro_is_printed() -> None:
    assert printed_nowhere(all_macros()) == set()


def test_key_numbers_follow_the_scores() -> None:
    values = all_macros()
    assert values["SizesApartMost"] == r"25.0\,\%"
    assert [values[f"Beyond{end}"] for end in ("From", "To")] == ["10", "50"]
    assert values["Commit"] == r"\texttt{0123456789ab}"


def test_a_study_that_ends_within_the_vocabulary_claims_nothing_beyond() -> None:
    within = small_study()
    within["beyond_vocabulary"]["topics"] = [30]
    values = macros(inputs(within))
    assert values["BeyondFullTo"] == "not run"
