"""A test that changes after its data were seen says so: the tracked table is held to the claims' code and verdicts."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from artifact.papers import DOCUMENTS
from artifact.papers.welling.claims import CLAIMS as WELLING
from artifact.study.digest import digest_of_name
from artifact.verdicts.claims import Claim
from artifact.verdicts.history import Change, fingerprint, newest, read_history, write_history
from artifact.verdicts.verdicts import read_effects, verdict_of
from heldout.errors import InputError

ROOT = Path(__file__).parents[3]
CHANGES = read_history(ROOT / "data/claims.csv")
STUDIES = dict(zip(DOCUMENTS, ("paper", "gallery"), strict=True))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_claims_code_moves_without_a_row(document: str) -> None:
    known = newest(CHANGES)
    judgements = read_effects(ROOT / f"data/reference/{STUDIES[document]}/effects.csv")
    for claim in (claim for paper in DOCUMENTS[document] for claim in paper.part("claims")):
        assert claim.name in known, f"{claim.name}: new; run workflow/scripts/claims.py"
        moved = known[claim.name].digest != fingerprint(claim, ROOT / "src")
        assert not moved, f"{claim.name}: its code has moved; run workflow/scripts/claims.py {{test,code}} 'why'"
        assert known[claim.name].after == verdict_of(judgements, claim.name), claim.name


def test_a_withdrawn_claim_is_none() -> None:
    names = {claim.name for papers in DOCUMENTS.values() for paper in papers for claim in paper.part("claims")}
    assert newest(CHANGES).keys() == names
    assert {change.claim for change in CHANGES if change.reason == "withdrawn"} & names == set()


def write(folder: Path, claims: str, results: str = "LIMIT = 1\nOTHER = 2\n") -> Path:
    paper = folder / "heldout/papers/one"
    paper.mkdir(parents=True, exist_ok=True)
    (paper / "claims.py").write_text(f"from artifact.papers.one.results import LIMIT, OTHER\n{claims}")
    (paper / "results.py").write_text(results)
    return folder


def test_the_digest_is_of_what_a_claim_reads_and_of_nothing_else(tmp_path: Path) -> None:
    code = "def helper():\n    return LIMIT\n\ndef one():\n    '''Prose.'''\n    return helper()\n\n"
    code += "def two():\n    return OTHER\n"

    def digest(claims: str = code, results: str = "LIMIT = 1\nOTHER = 2\n") -> str:
        place = "artifact.papers.one"
        return digest_of_name(write(tmp_path, claims, results), f"{place}.claims", "one", place)

    before = digest()
    assert digest(code.replace("Prose", "Other words")) == digest(results="LIMIT = 1\nOTHER = 3\n") == before
    assert digest(code.replace("return OTHER", "return 0")) == before
    assert digest(code.replace("return LIMIT", "return LIMIT + 1")) != before
    assert digest(results="LIMIT = 2\nOTHER = 2\n") != before


def measure(*_: object, of: str = "") -> list[object]:
    return [of]


def test_arguments_count() -> None:
    claims = [Claim("a", "", "", "", partial(measure, of=of)) for of in ("one", "two")]  # type: ignore[arg-type]
    one, two = (fingerprint(claim, ROOT) for claim in claims)
    assert one != two


@pytest.mark.parametrize(
    ("file", "before", "after", "moves"),
    [
        ("verdicts.py", "MODELS = Margin(0.01", "MODELS = Margin(0.02", {"half-above-full"}),
        ("verdicts.py", "MANY = 30.0", "MANY = 20.0", {"half-above-full", "epca-harder"}),
        ("effects.py", "values.var(axis=-1, ddof=1)", "values.var(axis=-1)", {"half-above-full", "epca-harder"}),
        ("points.py", "return rows.iloc[places]", "return rows.iloc[places[:1]]", {"half-above-full", "epca-harder"}),
        ("effects.py", "Return one effect per corpus", "Return other words", set()),
    ],
)
def test_what_all_papers_share_counts(tmp_path: Path, file: str, before: str, after: str, moves: set[str]) -> None:
    own = {claim.name: claim for claim in WELLING if claim.name in ("half-above-full", "epca-harder")}
    folder = shutil.copytree(ROOT / "src/heldout", tmp_path / "heldout", ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(text.replace(before, after), encoding="utf-8")
    assert {name for name in own if fingerprint(own[name], tmp_path) != fingerprint(own[name], ROOT / "src")} == moves


def test_a_table_reads_back_and_a_reason_must_be_one(tmp_path: Path) -> None:
    change = Change("a", 1, "2026-01-01", "0123", "none", "supported", "test", "why, with a comma")
    write_history(tmp_path / "claims.csv", [change])
    assert read_history(tmp_path / "claims.csv") == [change]
    (tmp_path / "claims.csv").write_text((tmp_path / "claims.csv").read_text().replace(",test,", ",whim,"))
    with pytest.raises(InputError, match="'whim'"):
        read_history(tmp_path / "claims.csv")
