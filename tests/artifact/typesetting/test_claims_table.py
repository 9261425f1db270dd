"""Tables of claims show every claim's effects and its verdict."""

import math
from dataclasses import replace

import pytest
from small_study import inputs

from artifact.papers import PAPERS
from artifact.typesetting import claims_table
from artifact.verdicts.claims import judge
from artifact.verdicts.verdicts import NATS, Effect, Judgement


def test_tables_show_every_claim() -> None:
    given = inputs()
    claims = claims_table.claims_of(given)
    assert claims_table.render(given).count(r"\textbf{") == len(claims)
    assert claims_table.markdown(claims, given).count("\n") == len(claims) + 2


def test_the_scorecard_has_its_claims_of_each_paper_and_a_verdict() -> None:
    given = inputs()
    text = claims_table.scorecard(given)
    judged = 0
    for paper in PAPERS:
        assert set(paper.scorecard) <= {claim.name for claim in paper.part("claims")}
        shown = [name for name in paper.scorecard if given.judged(name).effects]
        assert (rf"\emph{{{paper.source}}}" in text) == bool(shown)
        judged += len(shown)
    assert text.count(r"\textbf{") == judged > 0
    assert r"\textbf{" not in claims_table.scorecard(replace(given, judgements={}))


@pytest.mark.parametrize("empty", [("scores",), ("measurements",), ("scores", "measurements")], ids="-".join)
def test_a_study_without_rows_is_judged(empty: tuple[str, ...]) -> None:
    given = inputs()
    given = replace(given, **{name: getattr(given, name).iloc[:0] for name in empty})
    judged = {judgement.claim for judgement in judge(claims_table.claims_of(given), given) if judgement.effects}
    computed = {"toy-values", "toy-normaliser"}  # not measured
    assert (judged == computed) == (len(empty) == 2)


def test_a_row_says_units_and_replicates_once_and_marks_what_is_corrected() -> None:
    claim = claims_table.claims_of(inputs())[0]
    near = Effect("cranfield", "", 0.0121, 0.001, math.inf, NATS, margin=0.01, replicates=3, cells=2, reversed_cells=1)
    effects = (near, *[replace(near, corpus="medline")] * 9)
    table = claims_table.markdown([claim], replace(inputs(), judgements={claim.name: Judgement(claim.name, effects)}))
    assert "cranfield 0.0121 [0.0101, 0.0141]†" in table
    assert table.count("nats per token; margin 0.01; 3 replicates; 2 cells; 10 reversed") == 1
