"""Plans of a study: the half width that more splits would give every effect, from the variances that are known."""

from collections.abc import Iterable
from pathlib import Path

from artifact.contrasts.effect import Effect, half_width
from heldout.files import write_rows

SPLITS = (3, 5, 10, 20)
COLUMNS = ("contrast", "corpus", "part", "estimate", "margin", "wanted", "now", *map(str, SPLITS), "splits")


def planned(effect: Effect, splits: int) -> float:
    """Return the half width of an effect's interval over so many splits, its spread as it is known now.

    The documents that splits share and the evaluator keep their part of the error; degrees of freedom are those of
    Satterthwaite, by which a small spread beside them counts for little.
    """
    own, rest = effect.spread**2 / splits, effect.shared**2 + effect.noise**2
    variance = own + rest
    freedom = variance**2 / (own**2 / (splits - 1.0)) if own else 1e9
    return half_width(variance**0.5, freedom)


def enough(effect: Effect) -> int | None:
    """Return the fewest of `SPLITS` that settle an effect if its estimate stays; None if none of them does."""
    distance = abs(abs(effect.estimate - effect.null) - effect.margin)
    for splits in SPLITS:
        width = planned(effect, splits)
        if width <= max(distance, effect.wanted or effect.margin):
            return splits
    return None


def write_plan(path: Path, effects: Iterable[Effect]) -> None:
    """Write a plan as CSV: each effect's half width now and over `SPLITS`, and the fewest splits that settle it.

    A number of splits is blank where none of them does: such an effect needs other documents or a better evaluator.
    """
    rows = []
    for effect in effects:
        widths = [f"{planned(effect, splits):.3g}" for splits in SPLITS]
        known = (effect.contrast, effect.corpus, effect.part, f"{effect.estimate:.4g}", effect.margin, effect.wanted)
        rows.append((*known, f"{effect.half_width:.3g}", *widths, enough(effect) or ""))
    write_rows(path, COLUMNS, rows)
