"""Tables of claims show every verdict."""

from dataclasses import replace

from small_study import inputs

from heldout.papers import PAPERS
from heldout.typesetting import claims_table
from heldout.typesetting.macros import STATES


def test_tables_show_every_claim() -> None:
    given = inputs()
    text, markdown = claims_table.render(given), claims_table.markdown(given.verdicts)
    assert text.count(r"\textbf{") == len(given.verdicts)
    assert markdown.count("\n") == len(given.verdicts) + 2


def test_the_scorecard_has_its_claims_of_each_paper_and_a_verdict() -> None:
    given = inputs()
    text = claims_table.scorecard(given)
    for paper in PAPERS:
        assert set(paper.scorecard) <= {claim.name for claim in paper.part("claims")}
        assert (rf"\emph{{{paper.source}}}" in text) == bool(paper.scorecard)
    assert text.count(r"\textbf{") == sum(len(paper.scorecard) for paper in PAPERS)
    unjudged = claims_table.scorecard(replace(given, verdicts=()))
    assert r"\textbf{" not in unjudged


def test_verdicts_have_the_same_words_in_every_table() -> None:
    words = [claims_table.printed(verdict) for verdict in STATES]
    assert words == ["holds", "fails", "holds in part", "undecided", "identity", "not run"]


def test_what_was_found_is_read_without_knowing_the_code() -> None:
    found = claims_table.readable("below plsa-hof at 1e-06; annealed, folding-in -0.1 +- 2, mean-of-logs 4-6")
    assert found == (
        r"below PLSA-HOF at \ensuremath{10^{-6}}; annealed, folding-in \ensuremath{-}0.1 \ensuremath{\pm} 2,"
        " mean of logs 4-6"
    )
    assert claims_table.readable("nips-like nips", ["nips"]) == "nips like NIPS"
