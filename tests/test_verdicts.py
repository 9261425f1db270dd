"""Verdicts follow their comparisons, and every paper's claims say where they stand and how they are tested."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_study import inputs

from heldout.claims import Claim, of_no_corpus
from heldout.errors import InputError
from heldout.papers import PAPERS
from heldout.typesetting import claims_table
from heldout.verdicts import ALWAYS, GENERALLY, Finding, Limits, above, counted, read_verdicts, within, write_verdicts

CLAIMS = [claim for paper in PAPERS for claim in paper.part("claims")]


@pytest.mark.parametrize(
    ("agreeing", "undecided", "comparisons", "holds", "verdict"),
    [
        (20, 0, 20, 0.95, "holds"),
        (19, 0, 20, 0.95, "holds"),
        (19, 1, 20, 0.95, "holds"),
        (18, 0, 20, 0.95, "mixed"),
        (18, 1, 20, 0.95, "undecided"),
        (11, 0, 20, 0.95, "mixed"),
        (11, 7, 20, 0.95, "mixed"),
        (10, 0, 20, 0.95, "fails"),
        (10, 1, 20, 0.95, "undecided"),
        (9, 1, 20, 0.95, "fails"),
        (0, 0, 20, 0.95, "fails"),
        (0, 20, 20, 0.95, "undecided"),
        (19, 0, 20, 1.0, "mixed"),
        (19, 1, 20, 1.0, "undecided"),
        (20, 0, 20, 1.0, "holds"),
        (0, 0, 0, 0.95, "not run"),
    ],
)
def test_the_verdict_follows_the_shares(
    agreeing: int, undecided: int, comparisons: int, holds: float, verdict: str
) -> None:
    assert Finding(agreeing, comparisons, "", 1, holds=holds, undecided=undecided).verdict == verdict


@given(st.lists(st.sampled_from([True, False, None]), min_size=1), st.sampled_from([Limits(), ALWAYS, GENERALLY]))
def test_deciding_the_undecided_never_turns_a_verdict_over(comparisons: list[bool | None], limits: Limits) -> None:
    """A verdict other than "undecided" is the one that any decision of the undecided would have given."""
    verdict = counted(comparisons, "", (), **limits).verdict
    decided = {
        counted([answer if one is None else one for one in comparisons], "", (), **limits).verdict
        for answer in (True, False)
    }
    assert {verdict} == decided or verdict == "undecided"


@pytest.mark.parametrize(("disagreeing", "verdict"), [(0, "identity"), (1, "fails")])
def test_an_identity_fails_by_a_single_disagreement(disagreeing: int, verdict: str) -> None:
    finding = counted([True, None] + [False] * disagreeing, "size", (), identity="max >= mean")
    assert finding.verdict == verdict
    assert claims_table.finding_in_words(finding).startswith("cannot fail: max >= mean; 1 of ")


@given(st.floats(-1e3, 1e3), st.floats(0.0, 1e3), st.floats(0.0, 1e3))
def test_a_comparison_is_undecided_where_its_interval_covers_the_limit(
    value: float, error: float, limit: float
) -> None:
    low, high = value - 2.0 * error, value + 2.0 * error
    answer = above(value, error, limit, cutoff=2.0)
    slack = 1e-9 * (1.0 + abs(value) + error + limit)
    if answer is None:
        assert low - slack <= limit <= high + slack
    elif answer:
        assert low > limit - slack
    else:
        assert high < limit + slack
    size = within(value, error, limit, cutoff=2.0)
    assert size is None or size == (abs(value) <= limit)


def test_what_would_have_shown_is_said_of_the_undecided_alone() -> None:
    finding = counted([True, None, False], "size", [0, 1, 1], errors=[0.1, 0.2, 0.4], unit="nats", cutoff=3.0)
    assert (finding.visible, finding.seeds) == ("0.6 nats", 2)
    assert claims_table.finding_in_words(finding) == (
        "1 of 3, 1 undecided (an effect of 0.6 nats would show), 2 seeds; size"
    )
    assert counted([True], "size", [0], errors=[0.1]).visible == ""


def test_names_are_a_claims_own() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_claim_says_where_it_stands_and_how_it_is_tested(claim: Claim) -> None:
    where = r"(Buntine, )?(sections?|lemma) \d|Hofmann, (section|Figure) \d|issues of |beyond the original$"
    assert re.match(where, claim.source)
    assert claim.statement.endswith(".")
    assert claim.test.startswith(("every ", "the drawn pairs "))


def test_verdicts_are_every_claims_and_found_by_name() -> None:
    tables = inputs()
    assert [verdict.name for verdict in tables.verdicts] == [claim.name for claim in CLAIMS]
    assert tables.finding("full-always-improves").verdict == "holds"
    assert tables.finding("no such claim").verdict == "not run"


def test_corpora_play_no_part_in_a_claim_of_none() -> None:
    check = of_no_corpus(lambda tables: Finding(1, 1, tables.settings.name, 1))
    assert check(inputs(), []) == check(inputs(), ["cranfield"]) == Finding(1, 1, "small", 1)


def test_verdicts_are_read_as_they_were_written(tmp_path: Path) -> None:
    verdicts = tuple(inputs().verdicts)
    write_verdicts(tmp_path / "verdicts.json", verdicts)
    assert tuple(read_verdicts(tmp_path / "verdicts.json")) == verdicts
    (tmp_path / "other.json").write_text('[{"name": "x"}]')
    with pytest.raises(InputError, match=r"other\.json: not a file of verdicts"):
        read_verdicts(tmp_path / "other.json")
