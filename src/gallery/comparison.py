"""Two models, or two scores, of an experiment on the same documents: the measure of most of the gallery's claims."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.contrast import MODELS, Effect, Margin, Test
from artifact.contrasts.estimates import ON, effects, paired
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.member import LIKELIHOOD

if TYPE_CHECKING:
    import pandas as pd

SPLIT = ("corpus", "seed")
Side = str | tuple[str, str]  # a model, of which the score is compared, or a model and another of its scores


def compared(
    inputs: Inputs,
    _: Sequence[str],
    *,
    experiment: str,
    pairs: Sequence[tuple[str, Side, Side]],
    evaluator: str = LIKELIHOOD,
    keys: Sequence[str] = ON,
    margin: Margin = MODELS,
    test: Test = "above",
) -> list[Effect]:
    """Measure one side's scores less the other's; `pairs` are a part's name and two sides.

    Where models are not paired by their numbers of topics, each is taken with its most.
    """
    scores, gains = select(inputs.scores, variant=experiment), []
    for part, *sides in pairs:
        one, other = (_rows(side, evaluator) for side in sides)
        table = scores if "topics" in keys else _largest(scores)
        gains += effects(paired(table, one, other, keys), margin=margin, test=test, held_out=inputs.held_out, part=part)
    return gains


def _rows(side: Side, evaluator: str) -> dict[str, str]:
    model, score = side if isinstance(side, tuple) else (side, evaluator)
    return {"model": model, "evaluator": score}


def _largest(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Return the scores of every model and split with the most topics."""
    return scores.sort_values("topics").drop_duplicates([*SPLIT, "model", "evaluator"], keep="last")
