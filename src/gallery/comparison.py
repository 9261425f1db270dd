"""Contrasts of the gallery and their sides: scores of models, and quantities measured of them, by corpus and K."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from artifact.contrasts.contrast import Contrast, Side
from artifact.contrasts.estimates import per_token
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.member import LIKELIHOOD

if TYPE_CHECKING:
    import pandas as pd

Names = str | tuple[str, ...]


def contrast(name: str, source: str, says: str, one: Side, other: Side | None = None, **settings: Any) -> Contrast:
    """Return a contrast of the gallery, by K unless its settings say otherwise."""
    return Contrast(name=name, question="models", source=source, says=says, one=one, other=other, **settings)


def scored(name: str, experiment: Names, model: Names, evaluator: Names = LIKELIHOOD) -> Side:
    """Return a score of a model of one experiment or several, nats per token, by K; "variant" is the experiment."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        return per_token(select(inputs.scores, variant=experiment, model=model, evaluator=evaluator))

    return Side(name, rows)


def measured(name: str, experiment: Names, quantity: str, model: Names, sign: float = 1.0, **places: object) -> Side:
    """Return a quantity of a model, or minus it, by K and the position on its axis; `places` choose rows further."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = select(inputs.measurements, variant=experiment, quantity=quantity, model=model, **places)
        return table.assign(value=sign * table["value"], error=table["standard_error"])

    return Side(name, rows)


def at_most(side: Side, column: str = "topics") -> Side:
    """Return a side at the largest K, or position, that each split of an experiment has, without it."""
    return _at_end(side, column, "max")


def at_fewest(side: Side) -> Side:
    """Return a side at the smallest K that each split of an experiment has, without K."""
    return _at_end(side, "topics", "min")


def _at_end(side: Side, column: str, end: Literal["max", "min"]) -> Side:
    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = side.rows(inputs)
        return table[table[column] == table.groupby(["corpus", "variant", "seed"])[column].transform(end)].drop(
            columns=column
        )

    return Side(side.name, rows)


def together(name: str, column: str, sides: Mapping[str, Side]) -> Side:
    """Return several sides as one that has their names in a column."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        return pd.concat([side.rows(inputs).assign(**{column: key}) for key, side in sides.items()], ignore_index=True)

    return Side(name, rows)


def opposed(column: str, one: Side, name: str, others: Mapping[str, Side]) -> tuple[Side, Side]:
    """Return one side, and several others, as two that have the others' names in a column."""
    return together(one.name, column, dict.fromkeys(others, one)), together(name, column, others)
