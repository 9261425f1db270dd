"""Tables of claims show every verdict."""

from dataclasses import replace

from small_study import inputs

from heldout.papers import PAPERS
from heldout.typesetting import claims_table


def test_tables_show_every_claim() -> None:
    given = inputs()
    text, markdown = claims_table.render(given), claims_table.markdown(given.verdicts)
    assert text.count(r"\textbf{") == len(given.verdicts)
    assert markdown.count("\n") == len(given.verdicts) + 2


def test_the_scorecard_has_its_claims_of_each_paper_and_a_verdict_as_a_verb() -> None:
    given = inputs()
    text = claims_table.scorecard(given)
    for paper in PAPERS:
        assert set(paper.scorecard) <= {claim.name for claim in paper.part("claims")}
        assert (rf"\emph{{{paper.source}}}" in text) == bool(paper.scorecard)
    assert text.count(r"\textbf{") == sum(len(paper.scorecard) for paper in PAPERS)
    unjudged = claims_table.scorecard(replace(given, verdicts=()))
    assert r"\textbf{" not in unjudged
    for verdict in ("mixed", "undecided", "identity", "not run"):
        assert claims_table.ON_CARD[verdict].startswith(("is ", "was ", "holds "))
