"""A usual score less the likelihood, seed by seed."""

from typing import TYPE_CHECKING

from heldout.effects import per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL

if TYPE_CHECKING:
    import pandas as pd


def gaps(scores: "pd.DataFrame", score: str = USUAL) -> list[float]:
    """Return a score less the likelihood of one model at one K, nats per token, by seed."""
    rows = per_token(scores)
    by_seed = [rows[rows["evaluator"] == name].set_index("seed")["value"] for name in (score, LIKELIHOOD)]
    return [float(gap) for gap in (by_seed[0] - by_seed[1]).dropna().sort_index()]
