"""Findings of claims' tests, and the verdicts that follow; no verdict is typed by hand.

A claim's test makes comparisons, each of which agrees with the claim or does not. By default the claim holds if at
least the share `HOLDS` of them agree, fails if at most `FAILS` do, and is mixed in between.
"""

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from heldout.errors import InputError
from heldout.files import replacing

HOLDS, FAILS = 0.95, 0.5  # shares of the comparisons
ALWAYS = {"holds": 1.0}  # for a claim that says "always", or a theorem
GENERALLY = {"holds": 2.0 / 3.0, "fails": 1.0 / 3.0}
NOT_RUN = "not run"
# least difference between scores that counts
SEEN = 3.0  # standard errors of the difference, if a score is sampled
WITHIN = 0.01  # nats per token: one percent of perplexity


@dataclass(frozen=True)
class Finding:
    """The result of a claim's test.

    Attributes:
        agreeing, comparisons: the number of comparisons that agree with the claim, and of all.
        effect: the sizes of effects, as plain text.
        seeds: the number of seeds compared.
        holds, fails: the shares from which, and up to which, the claim holds or fails.

    Examples:
        >>> Finding(19, 20, "", seeds=1).verdict, Finding(19, 20, "", seeds=1, **ALWAYS).verdict
        ('holds', 'mixed')
    """

    agreeing: int
    comparisons: int
    effect: str
    seeds: int
    holds: float = HOLDS
    fails: float = FAILS

    @property
    def verdict(self) -> str:
        """Holds, mixed, fails, or not run."""
        if not self.comparisons:
            return NOT_RUN
        share = self.agreeing / self.comparisons
        return "holds" if share >= self.holds else "fails" if share <= self.fails else "mixed"


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


def counted(agree: Iterable[bool], effect: str, seeds: Iterable[int], **limits: float) -> Finding:
    """Return the finding of comparisons; without any, its effect is empty."""
    agreeing = list(agree)
    return Finding(sum(agreeing), len(agreeing), effect if agreeing else "", len(set(seeds)), **limits)
