"""Rows of the tables of models, by experiment: both scores of each and other measurements, means over seeds."""

from collections.abc import Iterable
from typing import NamedTuple

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point, mean_points, select
from gallery.member import LIKELIHOOD, USUAL


class Row(NamedTuple):
    """A model at K on a corpus, means over seeds, nats per token or case; None where there is no number.

    Attributes:
        usual, likelihood: its two scores.
        measured: other numbers by quantity.
    """

    corpus: str
    model: str
    topics: int
    usual: Point | None
    likelihood: Point
    measured: dict[str, float]

    @property
    def gap(self) -> float | None:
        """The usual score less the likelihood."""
        return None if self.usual is None else self.usual.value - self.likelihood.value


def rows(inputs: Inputs, experiment: str, models: Iterable[str]) -> list[Row]:
    """Return an experiment's rows in the order of its corpora, of the models and of K; others are left out."""
    scores, others = select(inputs.scores, variant=experiment), select(inputs.measurements, variant=experiment)
    table, order = [], list(models)
    for (corpus, model), cells in select(scores, model=order).groupby(["corpus", "model"]):
        usual = mean_points(cells, [USUAL])
        for K, likelihood in mean_points(cells, [LIKELIHOOD]).items():
            measurements = select(others, corpus=corpus, model=model, topics=K).groupby("quantity")["value"].mean()
            measured = {str(quantity): float(value) for quantity, value in measurements.items()}
            table.append(Row(str(corpus), str(model), K, usual.get(K), likelihood, measured))
    corpora = list(dict.fromkeys(scores["corpus"]))
    return sorted(table, key=lambda r: (corpora.index(r.corpus), order.index(r.model), r.topics))
