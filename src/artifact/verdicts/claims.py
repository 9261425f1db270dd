"""What a claim is, and what it is judged by: a paper's `CLAIMS` are a tuple of these."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from artifact.side_by_side import each
from artifact.verdicts.inputs import Inputs
from artifact.verdicts.verdicts import Effect, Judgement

# why a claim cannot fail, where more than one paper makes it
MAX_IS_NO_LESS = "a maximum is no less than an average"

Measure = Callable[[Inputs, Sequence[str]], Sequence[Effect]]  # a claim's effects on some of a study's corpora


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, and what it is judged by.

    Attributes:
        name: a short name.
        source: the place in the original.
        statement: the claim in words.
        test: what is compared, how cells are summarised, and what supports the claim.
        measure: its effects, one per corpus and part.
    """

    name: str
    source: str
    statement: str
    test: str
    measure: Measure


def judge(claims: Iterable[Claim], inputs: Inputs, processes: int = 1) -> list[Judgement]:
    """Return every claim's judgement over the corpora of the study, the same by any number of processes."""
    known = list(claims)

    def judged(place: int) -> Judgement:
        return Judgement(known[place].name, tuple(known[place].measure(inputs, inputs.settings.corpora)))

    return each(judged, range(len(known)), processes)
