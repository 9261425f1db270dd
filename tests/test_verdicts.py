"""Verdicts follow their comparisons, and every paper's claims say where they stand and how they are tested."""

import re
from pathlib import Path

import pytest
from small_study import inputs

from heldout.claims import Claim, of_no_corpus
from heldout.errors import InputError
from heldout.papers import PAPERS
from heldout.verdicts import Finding, read_verdicts, write_verdicts

CLAIMS = [claim for paper in PAPERS for claim in paper.part("claims")]


@pytest.mark.parametrize(
    ("agreeing", "comparisons", "holds", "verdict"),
    [
        (20, 20, 0.95, "holds"),
        (19, 20, 0.95, "holds"),
        (18, 20, 0.95, "mixed"),
        (11, 20, 0.95, "mixed"),
        (10, 20, 0.95, "fails"),
        (0, 20, 0.95, "fails"),
        (19, 20, 1.0, "mixed"),
        (20, 20, 1.0, "holds"),
        (0, 0, 0.95, "not run"),
    ],
)
def test_the_verdict_follows_the_share(agreeing: int, comparisons: int, holds: float, verdict: str) -> None:
    assert Finding(agreeing, comparisons, "", 1, holds=holds).verdict == verdict


def test_names_are_a_claims_own() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_every_claim_says_where_it_stands_and_how_it_is_tested(claim: Claim) -> None:
    where = r"(Buntine, )?(sections?|lemma) \d|Hofmann, (section|Figure) \d|issues of |beyond the original$"
    assert re.match(where, claim.source)
    assert claim.statement.endswith(".")
    assert claim.test.startswith(("every ", "the drawn pairs "))


def test_verdicts_are_every_claims_and_found_by_name() -> None:
    given = inputs()
    assert [verdict.name for verdict in given.verdicts] == [claim.name for claim in CLAIMS]
    assert given.finding("full-always-improves").verdict == "holds"
    assert given.finding("no such claim").verdict == "not run"


def test_corpora_play_no_part_in_a_claim_of_none() -> None:
    check = of_no_corpus(lambda given: Finding(1, 1, given.settings.name, 1))
    assert check(inputs(), []) == check(inputs(), ["cranfield"]) == Finding(1, 1, "small", 1)


def test_verdicts_are_read_as_they_were_written(tmp_path: Path) -> None:
    given = inputs().verdicts
    write_verdicts(tmp_path / "verdicts.json", given)
    assert tuple(read_verdicts(tmp_path / "verdicts.json")) == given
    (tmp_path / "other.json").write_text('[{"name": "x"}]')
    with pytest.raises(InputError, match=r"other\.json: not a file of verdicts"):
        read_verdicts(tmp_path / "other.json")
