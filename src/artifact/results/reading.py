"""Rows of the two tidy tables, and scores per token as the points of a curve over numbers of topics."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from artifact.results.measurements import COLUMNS
from heldout.evaluators import EXACT, REFERENCE, SEQUENTIAL
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

# "none": a deterministic model; "all": a sampled model's predictive distribution averaged over its chains
REPORTED_CHAINS = ("none", "all")
TRUTH = "truth"  # evaluator's name in place of the first of `TRUTHS`
TRUTHS = (EXACT, REFERENCE, SEQUENTIAL)  # sources of the truth: the first that was run counts
LARGEST = 0.02  # nats per token; largest stated error of a likelihood that an exhibit shows


@dataclass(frozen=True)
class Point:
    """A score per token.

    Attributes:
        topics: K.
        value: log-likelihood, nats per token.
        error: its standard error; 0 where none is stated.
        samples: the number of samples drawn; 0 for an exact or deterministic value.
    """

    topics: int
    value: float
    error: float
    samples: int

    @property
    def perplexity(self) -> float:
        """The perplexity per token; inf where it is beyond floating point."""
        return perplexity(self.value, 1)


def printable(rows: "pd.DataFrame", columns: Sequence[str]) -> "pd.Series[bool]":
    """Return whether an exhibit shows each mean over the splits of `rows`: unless its "error" is above `LARGEST`.

    Args:
        rows: a likelihood's rows, one per split, with "error", its stated error in nats per token.
        columns: the columns that name a mean.
    """
    largest: pd.Series[float] = rows.groupby(list(columns))["error"].max()
    return largest <= LARGEST


def first_of(rows: "pd.DataFrame", names: Sequence[str], column: str = "evaluator") -> "pd.DataFrame":
    """Return the rows whose `column` is the first of the names that occurs there; no rows if none does."""
    for name in names:
        chosen = rows[rows[column] == name]
        if len(chosen):
            return chosen
    return rows.iloc[:0]


def with_truth(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Return scores and, under the evaluator `TRUTH`, copies of each model's scores by the first of its `TRUTHS`."""
    import pandas as pd

    true = scores[scores["evaluator"].isin(TRUTHS)]
    true = true.assign(rank=true["evaluator"].map(TRUTHS.index)).sort_values("rank", kind="stable")
    model = ["corpus", "model", "variant", "topics", "smoothing", "chain", "seed"]
    first = true.drop_duplicates(model).drop(columns="rank").assign(evaluator=TRUTH)
    return pd.concat([scores, first], ignore_index=True)


def mean_points(table: "pd.DataFrame", evaluators: Sequence[str]) -> dict[int, Point]:
    """Return means over seeds by number of topics, ascending, each by the first evaluator with scores there."""
    points = {}
    for topics, rows in table.groupby("topics"):
        chosen = first_of(rows, evaluators)
        if len(chosen):
            per_token = chosen["log_likelihood"] / chosen["tokens"]
            errors = (chosen["standard_error"].fillna(0.0) / chosen["tokens"]) ** 2
            error, samples = math.sqrt(float(errors.sum())) / len(chosen), int(chosen["samples"].min())
            points[int(str(topics))] = Point(int(str(topics)), float(per_token.mean()), error, samples)
    return points


def select(table: "pd.DataFrame | None", **values: object) -> "pd.DataFrame":
    """Return the rows of scores or measurements with the given column values; no rows if `table` is None.

    A tuple or a list stands for any of its values.

    Examples:
        >>> import pandas as pd
        >>> scores = pd.DataFrame({"model": ["lda", "lda", "epca"], "topics": [2, 4, 2]})
        >>> select(scores, model="lda", topics=4).index.tolist()
        [1]
    """
    import pandas as pd

    rows = pd.DataFrame(columns=list(COLUMNS)) if table is None else table
    places = np.arange(len(rows))
    for column, value in values.items():
        entries = rows[column].take(places)
        keep = entries.isin(list(value)) if isinstance(value, tuple | list) else entries == value
        places = places[keep.to_numpy(bool)]
    return rows.iloc[places]  # wide tables are copied once
