"""The numbers on which the paper stands, of this run beside the committed ones: `make verify`.

On a processor whose instructions `heldout.processor` fixes a run gives the same bytes: a number passes where it is the
same. Elsewhere the last digits of a logarithm may differ, after which a Markov chain is another draw: there it
passes within `ERRORS` of the standard errors that both state.
"""

import math
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from artifact.contrasts.effect import Effect, read_effects
from artifact.papers.likelihood.headline import NUMBERS
from artifact.recording import moved
from artifact.results.provenance import FILE, read_provenance, sentences
from artifact.typesetting.table import Table
from heldout.errors import InputError
from heldout.files import replacing

# said where effects stand without the scores of a run, as `make paper` makes them
NO_RUN = ": the committed results beside themselves, for no run is here (make reproduce)"
ERRORS = 4.0  # standard errors; normal differences are within them in all but one of 16,000


class Verified(NamedTuple):
    """A number of the paper, and this run's.

    Attributes:
        place: its contrast, corpus and part.
        ours, theirs: the run's effect, None where it has none, and the committed one.
        passed: whether the run's is within the tolerance.
    """

    place: tuple[str, str, str]
    ours: Effect | None
    theirs: Effect
    passed: bool


def verify(effects: Path, reference: Path) -> list[Verified]:
    """Return the paper's numbers beside a run's.

    Args:
        effects: the run's effects.csv.
        reference: the committed one.

    Raises:
        InputError: when a table cannot be read, or the committed one lacks a number.
    """
    run, known = (
        {(one.contrast, one.corpus, one.part): one for effects in read_effects(path).values() for one in effects}
        for path in (effects, reference)
    )
    if lacking := [place for place in NUMBERS if place not in known]:
        raise InputError(f"{reference}: no {', '.join(filter(None, lacking[0]))}; it is not the paper's")
    found = []
    for place in NUMBERS:
        ours, theirs = run.get(place), known[place]
        passed = ours is not None and abs(ours.estimate - theirs.estimate) <= tolerance(ours, theirs)
        found.append(Verified(place, ours, theirs, passed))
    return found


def tolerance(ours: Effect, theirs: Effect) -> float:
    """Return the difference of two estimates that passes: 0 where a run gives the same bytes."""
    same = platform.machine() in ("x86_64", "AMD64")
    return 0.0 if same else ERRORS * math.hypot(ours.error, theirs.error)


def page(found: list[Verified], source: Sequence[str] = (), note: str = "") -> str:
    """Return the page `verification.md`, with a note and sentences on the committed results' source."""
    return "\n".join(_lines(found, source, note)) + "\n"


def _lines(found: list[Verified], source: Sequence[str], note: str) -> Iterator[str]:
    passed = sum(one.passed for one in found)
    yield f"# Verification: {passed} of {len(found)} numbers pass{note}\n"
    yield (
        "The numbers on which the paper stands: the committed value and this run's. On x86-64 both are the same; on"
        f" another processor they may differ by {ERRORS:g} standard errors.\n"
    )
    rows = [
        (
            " ".join(filter(None, (one.place[0], one.place[1], one.place[2]))),
            f"{one.theirs.estimate:.6g}",
            "not run" if one.ours is None else f"{one.ours.estimate:.6g}",
            f"{0.0 if one.ours is None else tolerance(one.ours, one.theirs):.2g}",
            one.theirs.unit,
            "pass" if one.passed else "FAIL",
        )
        for one in found
    ]
    yield Table(("number", "paper", "this run", "tolerance", "unit", ""), rows).markdown()
    yield from source


def source_of(reference: Path) -> list[str]:
    """Return sentences on the run that committed effects are of, and the experiments whose code has changed since."""
    file = reference.parent.parent / FILE
    recorded = read_provenance(file).get(reference.parent.name, {}) if file.exists() else {}
    changed = moved(recorded, Path(__file__).parents[2])
    return [*sentences(recorded), *([f"Code has changed since: {', '.join(changed)}."] if changed else [])]


def write(effects: Path, reference: Path, output: Path, out: TextIO) -> bool:
    """Write the page and print its first line; return whether every number passes."""
    found = verify(effects, reference)
    note = "" if (effects.parent / "scores.csv").exists() else NO_RUN
    with replacing(output) as temporary:
        temporary.write_text(page(found, source_of(reference), note), encoding="utf-8")
    passed = sum(one.passed for one in found)
    print(f"{output}: {passed} of {len(found)} numbers pass{note}", file=out)
    return passed == len(found)
