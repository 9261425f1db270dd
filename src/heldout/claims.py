"""What a claim is, and its test over scores and measurements: a paper's `CLAIMS` are a tuple of these."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heldout.inputs import Inputs
from heldout.verdicts import Finding, Verdict

Check = Callable[[Inputs, Sequence[str]], Finding]  # a claim's test over some of a study's corpora


def of_no_corpus(check: Callable[[Inputs], Finding]) -> Check:
    """Return the check of a claim that is about none of the study's corpora: they play no part in it."""
    return lambda inputs, _: check(inputs)


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        name: a short name.
        source: where the original makes it.
        statement: what it says.
        test: what is compared, and what would count as agreeing.
        check: the test over some of a study's corpora.
    """

    name: str
    source: str
    statement: str
    test: str
    check: Check


def judge(claims: Iterable[Claim], inputs: Inputs) -> list[Verdict]:
    """Return every claim's verdict over the corpora of the study."""
    return [
        Verdict(claim.name, claim.source, claim.statement, claim.test, claim.check(inputs, inputs.settings.corpora))
        for claim in claims
    ]
