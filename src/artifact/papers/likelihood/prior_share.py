"""The prior's share of the gap read back: priors that other test documents fitted, and the sum of alpha as a dial."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.prior_share import (
    CONCENTRATION,
    KIND,
    PER_SUM,
    RICHNESS,
    TOKENS,
)
from artifact.results.reading import printable, select
from heldout.evaluators import FULL
from heldout.models import PLSA

if TYPE_CHECKING:
    import pandas as pd

RUN = ["corpus", "model", "topics", "seed"]
TODAY = ("newsgroups",)  # corpora of today's size, of the part `gap`


def gaps(inputs: Inputs, axis: str, corpora: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return full folding-in less the likelihood of the same documents, under every prior of an axis.

    Returns:
        "corpus", "model", "topics", "seed"; "prior" and "at", its size or a thousand times the sum of its parameters;
        in nats per token "value", the likelihood, its "error", and "gap", full folding-in less it.
    """
    table = select(inputs.measurements, variant=KIND, axis=axis)
    table = table[table["corpus"].isin(inputs.settings.corpora if corpora is None else list(corpora))]
    rows = table[~table["quantity"].isin([FULL, TOKENS])]
    rows = rows.rename(columns={"quantity": "prior", "standard_error": "error"})
    for name in (FULL, TOKENS):
        values = select(table, quantity=name)[[*RUN, "value"]].rename(columns={"value": name})
        rows = rows.merge(values, on=RUN)
    for name in ("value", "error", FULL):
        rows[name] = rows[name] / rows[TOKENS]
    return rows.assign(gap=rows[FULL] - rows["value"])[[*RUN, "prior", "at", "value", "error", "gap"]]


def flat(inputs: Inputs, corpora: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return the rows of `gaps` under the flat prior, whose parameters have the sum K."""
    dial = gaps(inputs, CONCENTRATION, corpora)
    return dial[dial["at"] == PER_SUM * dial["topics"]]


def means(rows: "pd.DataFrame", column: str) -> "pd.Series[float]":
    """Return the means over splits of a column of `gaps` by "at", as far as exhibits show them."""
    shown = printable(rows, ["at"])
    return rows.groupby("at")[column].mean()[shown]


def shares(inputs: Inputs, corpora: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return the share of PLSA's gap under the flat prior that another prior leaves, a row per prior."""
    rows = gaps(inputs, RICHNESS, corpora)
    flat_gaps = select(flat(inputs, corpora), model=PLSA)[[*RUN, "gap"]]
    rows = rows.merge(flat_gaps.rename(columns={"gap": "flat"}), on=RUN)
    return rows.assign(share=rows["gap"] / rows["flat"], error=rows["error"] / rows["flat"])
