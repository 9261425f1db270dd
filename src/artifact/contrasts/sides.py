"""Sides made of other sides: at the best number of topics, and at the largest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.contrast import Side
from artifact.contrasts.estimates import CHOSEN, LEFT_OUT

if TYPE_CHECKING:
    import pandas as pd

    from artifact.contrasts.inputs import Inputs


def with_groups(table: "pd.DataFrame", *columns: str) -> "pd.DataFrame":
    """Return the columns of a side: these beside corpus, seed, value and error, and groups of documents where known."""
    groups = [name for name in LEFT_OUT if name in table.columns]
    return table[["corpus", "seed", *columns, "value", "error", *groups]].reset_index(drop=True)


def at_best(side: Side, keys: Sequence[str] = (), choice: Sequence[str] = ("topics",), called: str = "best K") -> Side:
    """Return a side at the number of topics where its mean over replicates is highest, by corpus and `keys`.

    The choice looks at the scored documents. `choice` are the columns that are chosen. `CHOSEN` stands in their place,
    with the side's name, so that of two sides that are one number no evaluator's error is left.
    """

    def rows(inputs: "Inputs") -> "pd.DataFrame":
        table = side.rows(inputs)
        place, chosen = ["corpus", *keys], [*keys, *choice]
        means = table.groupby(["corpus", *chosen])["value"].mean().reset_index()
        best = means.loc[means.groupby(place)["value"].idxmax(), ["corpus", *chosen]]
        return _named(table.merge(best, on=["corpus", *chosen]), side, choice)

    return Side(f"{side.name}, at its {called}", rows)


def at_most(side: Side, keys: Sequence[str] = ()) -> Side:
    """Return a side at the largest number of topics, by corpus and `keys`, as `at_best` does."""

    def rows(inputs: "Inputs") -> "pd.DataFrame":
        table = side.rows(inputs)
        largest = table.groupby(["corpus", *keys])["topics"].transform("max")
        return _named(table[table["topics"] == largest], side, ("topics",))

    return Side(f"{side.name}, at the largest K", rows)


def _named(table: "pd.DataFrame", side: Side, choice: Sequence[str]) -> "pd.DataFrame":
    names = [f"{side.name}: {', '.join(map(str, row))}" for row in table[list(choice)].itertuples(index=False)]
    return table.drop(columns=list(choice)).assign(**{CHOSEN: names})
