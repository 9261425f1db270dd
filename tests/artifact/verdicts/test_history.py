"""The history of claims, kept by hand: every change of a test, of data or of a verdict, to the verdicts of today."""

import csv
from pathlib import Path

import pytest

from artifact.papers import DOCUMENTS
from artifact.verdicts.verdicts import read_effects, verdict_of

ROOT = Path(__file__).parents[3]
STUDIES = dict(zip(DOCUMENTS, ("paper", "gallery"), strict=True))
REASONS = {"data", "test", "code", "withdrawn"}


@pytest.fixture(scope="module")
def changes() -> dict[str, list[dict[str, str]]]:
    """The changes of every claim, the oldest first."""
    kept: dict[str, list[dict[str, str]]] = {}
    with (ROOT / "data/claims.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kept.setdefault(row["claim"], []).append(row)
    return kept


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_verdict_moves_without_a_row(document: str, changes: dict[str, list[dict[str, str]]]) -> None:
    judgements = read_effects(ROOT / f"data/reference/{STUDIES[document]}/effects.csv")
    for claim in (claim for paper in DOCUMENTS[document] for claim in paper.part("claims")):
        assert claim.name in changes, f"data/claims.csv has no row of the new claim {claim.name}"
        assert changes[claim.name][-1]["after"] == verdict_of(judgements, claim.name), claim.name


def test_a_row_begins_where_the_one_before_it_ended(changes: dict[str, list[dict[str, str]]]) -> None:
    for claim, rows in changes.items():
        assert all(row["reason"] in REASONS and row["note"] and row["date"] for row in rows), claim
        assert [row["before"] for row in rows[1:]] == [row["after"] for row in rows[:-1]], claim
        assert [row["date"] for row in rows] == sorted(row["date"] for row in rows), claim


def test_a_withdrawn_claim_is_none(changes: dict[str, list[dict[str, str]]]) -> None:
    names = {claim.name for papers in DOCUMENTS.values() for paper in papers for claim in paper.part("claims")}
    assert {claim for claim, rows in changes.items() if rows[-1]["reason"] != "withdrawn"} == names
