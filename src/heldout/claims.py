"""What a claim is, and its test over scores and measurements: a paper's `CLAIMS` are a tuple of these."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heldout.inputs import Inputs
from heldout.verdicts import Finding, Verdict

# why a claim cannot fail, where more than one paper makes it
MAX_IS_NO_LESS = "a maximum is no less than an average"

Check = Callable[[Inputs, Sequence[str]], Finding]  # a claim's test over some of a study's corpora


def of_no_corpus(check: Callable[[Inputs], Finding]) -> Check:
    """Return the check of a claim that does not depend on the study's corpora."""
    return lambda inputs, _: check(inputs)


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and its test.

    Attributes:
        name: a short name.
        source: the place in the original.
        statement: the claim in words.
        test: what is compared, and what counts as agreeing.
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
