"""The gallery's scores read back: the rows of its opening table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from heldout.papers.murphy.experiments.gallery import (
    BATCH,
    COMPONENTS,
    CONDITIONAL,
    FACTORS,
    GAP,
    GIBBS,
    LIKELIHOOD,
    MIXTURE,
    ONLINE,
    POISSON,
    USUAL,
)

if TYPE_CHECKING:
    import pandas as pd


class Usual(NamedTuple):
    """What is usually reported of a model.

    Attributes:
        score: its name.
        total: its sum over all documents against 1: "below" for a lower bound on a probability, "above" for what is
            nowhere below the likelihood and above it somewhere.
    """

    score: str
    total: str


BEST, FOLDED, BOUND = Usual("best component", "below"), Usual("full folding-in", "above"), Usual("bound", "below")
USUAL_SCORES: Mapping[str, Usual] = {
    MIXTURE: BEST,
    POISSON: BEST,
    GAP: FOLDED,
    CONDITIONAL: FOLDED,
    FACTORS: FOLDED,
    GIBBS: FOLDED,
    BATCH: BOUND,
    ONLINE: BOUND,
    COMPONENTS: BOUND,
}


class Row(NamedTuple):
    """A row of the opening table; numbers are nats per token, None where the model has no likelihood.

    Attributes:
        corpus, model, topics, seed: as in `heldout.scores.Score`.
        usual: what is usually reported.
        value: its value.
        likelihood, error: the likelihood and its standard error.
        gap: value less likelihood.
    """

    corpus: str
    model: str
    topics: int
    seed: int
    usual: Usual
    value: float
    likelihood: float | None
    error: float | None
    gap: float | None


def opening_rows(scores: "pd.DataFrame") -> list[Row]:
    """Return the rows of the opening table, in the order of corpus, K, seed and the gallery's models."""
    ours = scores[(scores["variant"] == "gallery") & scores["evaluator"].isin([USUAL, LIKELIHOOD])]
    order = list(USUAL_SCORES)
    rows = []
    for (corpus, model, topics, seed), cell in ours.groupby(["corpus", "model", "topics", "seed"]):
        by = {str(row["evaluator"]): row for _, row in cell.iterrows()}
        value, exact = by[USUAL]["log_likelihood"] / by[USUAL]["tokens"], by.get(LIKELIHOOD)
        likelihood = None if exact is None else float(exact["log_likelihood"] / exact["tokens"])
        error = None if exact is None else float(exact["standard_error"] / exact["tokens"])
        gap = None if likelihood is None else float(value - likelihood)
        key = (str(corpus), str(model), int(topics), int(seed))
        rows.append(Row(*key, USUAL_SCORES[str(model)], float(value), likelihood, error, gap))
    return sorted(rows, key=lambda row: (row.corpus, row.topics, row.seed, order.index(row.model)))
