"""LDA by longer chains: convergence, and changes of scores."""

from typing import TYPE_CHECKING

from artifact.contrasts.estimates import paired
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.long_chains import LONG, R_HAT, SHORT
from artifact.results.reading import select
from heldout.evaluators import FULL, HALF, REFERENCE

if TYPE_CHECKING:
    import pandas as pd

SCORES = {FULL: "full folding-in", HALF: "half folding-in", REFERENCE: "likelihood"}


def changes(inputs: Inputs, evaluator: str) -> "pd.DataFrame":
    """Return one score of the longer chains less the shorter ones', nats per token."""
    long, short = ({"evaluator": evaluator, "variant": variant} for variant in (LONG, SHORT))
    return paired(inputs.scores, long, short)


def r_hats(inputs: Inputs) -> "pd.DataFrame":
    """Return split R-hat of log p(w, z), columns for shorter and longer chains, by corpus and K, means over splits."""
    rows = select(inputs.measurements, quantity=R_HAT)
    rows = rows[rows["variant"].isin([SHORT, LONG])]
    return rows.pivot_table(values="value", index=["corpus", "topics"], columns="variant", observed=True)
