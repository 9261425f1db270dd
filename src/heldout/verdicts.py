"""Findings of claims' tests, and the verdicts that follow; no verdict is typed by hand.

A claim's test makes comparisons, each of which agrees with the claim, disagrees, or is undecided: its error covers
both. Were the undecided known, the share that agrees would lie between

    low = agreeing / comparisons    and    high = (agreeing + undecided) / comparisons.

The claim holds if low >= `HOLDS`, fails if high <= `FAILS`, is mixed if both shares lie strictly between the two, and
is undecided otherwise; it then says from which size an effect would have shown. A claim that follows from its
definitions is an identity: nothing but a bug can make it fail, and the sizes are what is found.
"""

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict, Unpack

from heldout.errors import InputError
from heldout.files import replacing

HOLDS, FAILS = 0.95, 0.5  # shares of the comparisons


class Limits(TypedDict, total=False):
    """Shares from which, and up to which, a claim holds or fails; the default where they are left out."""

    holds: float
    fails: float


ALWAYS: Limits = {"holds": 1.0}  # for a claim that says "always", or a theorem
GENERALLY: Limits = {"holds": 2.0 / 3.0, "fails": 1.0 / 3.0}
NOT_RUN, UNDECIDED, IDENTITY = "not run", "undecided", "identity"
# least difference between scores that counts, in claims that are not a source's with a cutoff of its own
SEEN = 3.0  # standard errors of the difference, if a score is sampled
WITHIN = 0.01  # nats per token: one percent of perplexity

Comparison = bool | None  # agrees, disagrees, or is undecided


@dataclass(frozen=True)
class Finding:
    """The result of a claim's test.

    Attributes:
        agreeing, comparisons: the number of comparisons that agree with the claim, and of all.
        effect: the sizes of effects, as plain text.
        seeds: the number of seeds compared.
        holds, fails: the shares from which, and up to which, the claim holds or fails.
        undecided: the number of comparisons whose error covers both answers.
        visible: the size from which an effect would have been seen in the median comparison, as plain text.
        identity: the reason why the claim cannot fail, as plain text; empty if it can.

    Examples:
        >>> Finding(19, 20, "", seeds=1).verdict, Finding(19, 20, "", seeds=1, **ALWAYS).verdict
        ('holds', 'mixed')
        >>> Finding(1, 20, "", seeds=1, undecided=19).verdict
        'undecided'
    """

    agreeing: int
    comparisons: int
    effect: str
    seeds: int
    holds: float = HOLDS
    fails: float = FAILS
    undecided: int = 0
    visible: str = ""
    identity: str = ""

    @property
    def verdict(self) -> str:
        """Holds, mixed, fails, undecided, identity, or not run."""
        if not self.comparisons:
            return NOT_RUN
        low, high = self.agreeing / self.comparisons, (self.agreeing + self.undecided) / self.comparisons
        if self.identity:
            return IDENTITY if high == 1.0 else "fails"
        if low >= self.holds:
            return "holds"
        if high <= self.fails:
            return "fails"
        return "mixed" if self.fails < low and high < self.holds else UNDECIDED


@dataclass(frozen=True)
class Verdict:
    """A claim and its finding, as saved with a study's scores.

    Attributes:
        name, source, statement, test: as in `Claim`.
        finding: over all of the study's corpora.
    """

    name: str
    source: str
    statement: str
    test: str
    finding: Finding


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts as JSON, one per line of a list, whole or not at all."""
    rows = [json.dumps(asdict(verdict) | {"verdict": verdict.finding.verdict}) for verdict in verdicts]
    with replacing(path) as temporary:
        temporary.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def read_verdicts(path: Path) -> list[Verdict]:
    """Read verdicts that `write_verdicts` wrote.

    Raises:
        InputError: when the file is missing or holds no verdicts.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        for row in rows:
            del row["verdict"]
        return [Verdict(**{**row, "finding": Finding(**row["finding"])}) for row in rows]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: not a file of verdicts ({error}); make it again") from error


def percent(value: float) -> str:
    """Return a fraction as a signed percentage."""
    return f"{100.0 * value:+.1f} %"


def median(values: Iterable[float]) -> float:
    """Return the median of the finite values; NaN if there are none."""
    finite = [value for value in values if math.isfinite(value)]
    return statistics.median(finite) if finite else math.nan


def above(value: float, error: float, least: float = 0.0, *, cutoff: float = SEEN) -> Comparison:
    """Return whether an estimate exceeds `least`; None if that is within `cutoff` of its standard errors.

    Examples:
        >>> above(0.5, 0.1), above(0.2, 0.1), above(-0.5, 0.1)
        (True, None, False)
    """
    return None if abs(value - least) <= cutoff * error and error > 0.0 else value > least


def within(value: float, error: float, most: float, *, cutoff: float = SEEN) -> Comparison:
    """Return whether an estimate's size is at most `most`; None if its error leaves that open.

    Examples:
        >>> within(-0.5, 0.1, 1.0), within(0.9, 0.1, 1.0), within(1.5, 0.1, 1.0)
        (True, None, False)
    """
    beyond = above(abs(value), error, most, cutoff=cutoff)
    return None if beyond is None else not beyond


def counted(
    comparisons: Iterable[Comparison],
    effect: str,
    seeds: Iterable[int],
    *,
    errors: Iterable[float] = (),
    unit: str = "nats per token",
    cutoff: float = SEEN,
    identity: str = "",
    **limits: Unpack[Limits],
) -> Finding:
    """Return the finding of comparisons; without any, its effect is empty.

    Args:
        comparisons: each agrees (True), disagrees (False), or is undecided (None).
        effect: the sizes of effects.
        seeds: the seed of each comparison.
        errors: the comparisons' standard errors, if they have any; `cutoff` times their median is what would show.
        unit: of the errors.
        cutoff: standard errors from which a difference counts.
        identity: why the claim cannot fail, if it cannot.
        limits: shares `holds` and `fails` other than the default.
    """
    known = list(comparisons)
    undecided = known.count(None)
    shown = cutoff * median(errors) if undecided else math.nan
    return Finding(
        known.count(True),
        len(known),
        effect if known else "",
        len(set(seeds)),
        undecided=undecided,
        visible=f"{shown:.2g} {unit}" if math.isfinite(shown) else "",
        identity=identity,
        **limits,
    )
