"""Scores and measurements of the experiments on models whose documents have priors of their own, read back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from heldout import models
from heldout.inputs import Inputs
from heldout.papers.murphy import table_rows
from heldout.papers.murphy.experiments import correlation, covariates, tags
from heldout.papers.murphy.manifest_priors import GRAPH, TAGS
from heldout.papers.murphy.table_rows import Row
from heldout.points import select

if TYPE_CHECKING:
    import pandas as pd

LABELS = {
    models.LDA: "LDA, fitted prior",
    correlation.PRIOR: "CTM, topics of LDA",
    correlation.JOINTLY: "CTM",
    correlation.TOMOTOPY: "CTM of tomotopy",
    covariates.CONSTANT: "LDA, fitted prior",
    covariates.REGRESSION: "DMR",
    covariates.LABELLED: "labelled LDA",
    covariates.PARTIALLY: "partially labelled LDA",
    tags.ALONE: "every tag alone",
    tags.EXPERTS: "MR-LDA, EM",
    tags.TWO_STEPS: "MR-LDA, two steps",
    tags.NETWORK: "softmax network",
    tags.INPUTS: "catPCA with inputs, variational EM",
    tags.QUADRATURE: "catPCA with inputs, exact EM",
}


def rows(inputs: Inputs, experiment: str) -> list[Row]:
    """Return an experiment's rows in the order of corpus, `LABELS` and K."""
    return table_rows.rows(inputs, experiment, LABELS)


def informations(inputs: Inputs, names: Sequence[str]) -> "pd.DataFrame":
    """Return what one tag says of another under some models, nats, of every seed and K."""
    table = select(inputs.measurements, variant=TAGS, quantity=tags.INFORMATION)
    return table[table["model"].isin(list(names))]


class Graph(NamedTuple):
    """Figure 27.10: the words and the prevalence of topics by number, and partial correlations of pairs of topics."""

    words: dict[int, list[str]]
    prevalence: dict[int, float]
    edges: dict[tuple[int, int], float]


def graph(inputs: Inputs) -> Graph:
    """Return the graph of topics of the first seed; empty where the experiment was not run."""
    if inputs.notes is None:
        return Graph({}, {}, {})
    values, texts = select(inputs.measurements, variant=GRAPH), select(inputs.notes, variant=GRAPH)
    values, texts = (table[table["seed"] == table["seed"].min()] for table in (values, texts))
    words = {int(at): str(text).split() for at, text in zip(texts["at"], texts["text"], strict=True)}
    prevalence, edges = (select(values, quantity=quantity) for quantity in ("prevalence", "edge"))
    K = max(len(words), 1)
    return Graph(
        words,
        dict(zip(map(int, prevalence["at"]), map(float, prevalence["value"]), strict=True)),
        {divmod(int(at), K): float(value) for at, value in zip(edges["at"], edges["value"], strict=True)},
    )
