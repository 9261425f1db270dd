"""How claims came to their verdicts: a tracked table with a row for every change of a claim's test, code or data.

A test that was changed after its data were seen says so. Each row has the digest of the claim's code as it then was,
and the newest that of today's: `workflow/scripts/claims.py` adds a row for every claim whose code has moved.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import get_type_hints

from artifact.results.tables import read_table
from artifact.study.digest import digest_of_name
from artifact.verdicts.claims import Claim
from heldout.errors import InputError
from heldout.files import write_rows

SHARED = (
    "artifact.verdicts.effects",
    "artifact.verdicts.verdicts",
    "artifact.results.reading",
)  # what judges the claims of every paper
REASONS = ("data", "test", "code", "withdrawn")


@dataclass(frozen=True)
class Change:
    """One change of a claim.

    Attributes:
        claim: its name.
        version: 1 is the first.
        date: ISO 8601.
        digest: of the code that judges it (`fingerprint`); empty of a claim that is withdrawn.
        before: the verdict before the change.
        after: the verdict after it.
        reason: what moved the verdict or was changed: the data, the test, code alone, or nothing is left of it.
        note: why, in a sentence.
    """

    claim: str
    version: int
    date: str
    digest: str
    before: str
    after: str
    reason: str
    note: str

    @property
    def of_code_alone(self) -> bool:
        """Whether code moved, and neither the test, the data nor the verdict."""
        return self.reason == "code" and self.before == self.after


_TYPES = {field.name: get_type_hints(Change)[field.name] for field in fields(Change)}


def fingerprint(claim: Claim, source: Path) -> str:
    """Return the digest of what judges a claim: its function, its arguments, what it reads of its paper and `SHARED`.

    A verdict is read off an effect after the claim's function has returned: the rule that does so counts for every
    claim.
    """
    measure, given = claim.measure, ""
    if isinstance(measure, partial):
        given = repr((measure.args, sorted(measure.keywords.items())))
        measure = measure.func
    module = measure.__module__
    own = digest_of_name(source, module, measure.__name__, module.rpartition(".")[0], *SHARED)
    rule = digest_of_name(source, "artifact.verdicts.verdicts", "Judgement", *SHARED)
    both = sha256(f"{own} {rule}".encode()).hexdigest()[:16]
    return f"{both}-{sha256(given.encode()).hexdigest()[:6]}" if given else both


def read_history(path: Path) -> list[Change]:
    """Read the changes of all claims, in the order in which they were written.

    Raises:
        InputError: when the table cannot be read, or a reason is none of `REASONS`.
    """
    table = read_table(path, _TYPES, "claims")
    changes = [Change(*row) for row in table[list(_TYPES)].itertuples(index=False)]
    for change in changes:
        if change.reason not in REASONS:
            raise InputError(f"{path}: {change.claim}: the reason {change.reason!r}; give {', '.join(REASONS)}")
    return changes


def write_history(path: Path, changes: Iterable[Change]) -> None:
    """Write changes as CSV, in the order given."""
    write_rows(path, tuple(_TYPES), map(astuple, changes))


def newest(changes: Iterable[Change]) -> dict[str, Change]:
    """Return the last change of every claim that is not withdrawn."""
    last = {change.claim: change for change in changes}
    return {claim: change for claim, change in last.items() if change.reason != "withdrawn"}
