"""Add a row to data/claims.csv for every claim whose code, or verdict, has moved since its newest row.

usage: claims.py {data,test,code} NOTE: why, in a sentence. Verdicts are those of the committed effects.csv.
"""

import sys
from datetime import date
from pathlib import Path

from artifact.papers import DOCUMENTS
from artifact.study.study import MAIN
from artifact.verdicts.history import REASONS, Change, fingerprint, newest, read_history, write_history
from artifact.verdicts.verdicts import read_effects, verdict_of
from heldout.errors import InputError

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "data/claims.csv"
REFERENCES = {MAIN: "paper", "gallery": "gallery"}  # the study that a document is made from


def added(changes: list[Change], reason: str, note: str) -> list[Change]:
    """Return the rows that are missing."""
    known, rows = newest(changes), []
    for document, papers in DOCUMENTS.items():
        judgements = read_effects(ROOT / f"data/reference/{REFERENCES[document]}/effects.csv")
        for claim in (claim for paper in papers for claim in paper.part("claims")):
            last, digest = known.get(claim.name), fingerprint(claim, ROOT / "src")
            after = verdict_of(judgements, claim.name)
            if last is None or (last.digest, last.after) != (digest, after):
                version, before = (last.version + 1, last.after) if last else (1, "none")
                rows.append(Change(claim.name, version, f"{date.today()}", digest, before, after, reason, note))
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in REASONS:
        sys.exit(f"usage: claims.py {{{','.join(REASONS)}}} NOTE")
    try:
        changes = read_history(TABLE)
        rows = added(changes, *sys.argv[1:])
        write_history(TABLE, [*changes, *rows])
    except InputError as error:
        print(f"claims: {error}", file=sys.stderr)
        sys.exit(2)
    print(f"{TABLE}: {len(rows)} rows added")
