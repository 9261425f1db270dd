"""A usual score less the likelihood, seed by seed, and an estimate less its exact value."""

from typing import TYPE_CHECKING

from artifact.contrasts.estimates import per_token
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.member import LIKELIHOOD, USUAL

if TYPE_CHECKING:
    import pandas as pd


def gaps(scores: "pd.DataFrame", score: str = USUAL) -> list[float]:
    """Return a score less the likelihood of one model at one K, nats per token, by seed."""
    rows = per_token(scores)
    by_seed = [rows[rows["evaluator"] == name].set_index("seed")["value"] for name in (score, LIKELIHOOD)]
    return [float(gap) for gap in (by_seed[0] - by_seed[1]).dropna().sort_index()]


def largest_distance(inputs: Inputs, experiment: str, exact: str, estimated: str) -> float | None:
    """Return the largest distance of estimates from exact values of an experiment, nats per token; None without any.

    `exact` and `estimated` are measured quantities, of the same corpora, models, K and seeds.
    """
    keys, measured = ["corpus", "model", "topics", "seed"], select(inputs.measurements, variant=experiment)
    both = [select(measured, quantity=quantity).set_index(keys)["value"] for quantity in (exact, estimated)]
    return float((both[1] - both[0]).abs().max()) if len(both[0]) else None
