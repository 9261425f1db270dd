"""The numbers that the text on models whose documents have priors of their own uses."""

from typing import TYPE_CHECKING

from heldout.evaluators import EXACT
from heldout.inputs import Inputs
from heldout.papers.murphy import results_priors as results
from heldout.papers.murphy.experiments import correlation, covariates
from heldout.papers.murphy.gaps import apart, gaps
from heldout.papers.murphy.manifest_priors import CORRELATION, COVARIATES
from heldout.papers.murphy.table_rows import Row
from heldout.points import select
from heldout.typesetting import latex, over_seeds
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

if TYPE_CHECKING:
    import pandas as pd

_GAPS = {
    "Dmr": (COVARIATES, covariates.REGRESSION),
    "LabelledLda": (COVARIATES, covariates.LABELLED),
    "PartiallyLabelledLda": (COVARIATES, covariates.PARTIALLY),
}


def of_priors(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found = {}
    for name, (experiment, model) in _GAPS.items():
        of_model = [row for row in results.rows(inputs, experiment) if row.model == model and row.gap is not None]
        last = [row for row in of_model if row.corpus == of_model[-1].corpus]
        largest = max(last, key=lambda row: row.topics, default=None)
        scores = inputs.scores if largest is None else _scores(inputs, experiment, largest)
        found[f"PriorsGap{name}"] = NOT_RUN if largest is None else over_seeds.signed(gaps(scores), 3)
    graph = results.graph(inputs)
    found["GraphTopics"] = latex.integer(len(graph.words)) if graph.words else NOT_RUN
    values = list(graph.edges.values())
    found["GraphEdges"] = latex.integer(sum(value > 0.0 for value in values)) if graph.words else NOT_RUN
    found["GraphNegative"] = latex.integer(sum(value < 0.0 for value in values)) if graph.words else NOT_RUN
    off = apart(inputs, CORRELATION, EXACT, correlation.ESTIMATED)
    found["CorrelationApart"] = NOT_RUN if off is None else latex.decimal(off, 4)
    return found


def _scores(inputs: Inputs, experiment: str, row: Row) -> "pd.DataFrame":
    return select(inputs.scores, variant=experiment, corpus=row.corpus, model=row.model, topics=row.topics)
