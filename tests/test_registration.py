"""The registered cells of the law are those whose digest its page states."""

import csv
import hashlib
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_design_is_the_one_that_was_registered() -> None:
    design = (DOCS / "law-design.csv").read_bytes()
    assert hashlib.sha256(design).hexdigest() in (DOCS / "law.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(design.decode().splitlines()))
    assert [int(row["cell"]) for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) <= 300
    assert len({tuple(row.values())[1:9] for row in rows}) == len(rows)
    looked_at = {"cranfield", "medline", "nips", "newsgroups", "ap", "reuters"}
    assert not looked_at & {row["corpus"] for row in rows}
