"""The scores and measurements of Murphy's undirected models read back."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from heldout import models
from heldout.effects import per_token
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import boltzmann, replicated_softmax, undirected_units
from heldout.papers.murphy.manifest_undirected import BOLTZMANN, SOFTMAX, UNITS
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.results import corpora
from heldout.points import Point, mean_points, select

if TYPE_CHECKING:
    import pandas as pd

MACHINES: Mapping[str, str] = {
    boltzmann.PERSISTENT: "persistent CD",
    boltzmann.ONE: "CD, one sweep",
    boltzmann.MORE: "CD, more sweeps",
    boltzmann.FIELD: "mean field",
}
WATCHED: Mapping[str, str] = {
    LIKELIHOOD: "likelihood",
    boltzmann.PSEUDO: "pseudo-likelihood",
    boltzmann.RECONSTRUCTION: "reconstruction error",
}


def valued(inputs: Inputs, experiment: str) -> "pd.DataFrame":
    """Return the likelihoods of an experiment with "value" and "error", nats per token; see `per_token`."""
    return per_token(select(inputs.scores, variant=experiment, evaluator=LIKELIHOOD))


def trained(inputs: Inputs, quantity: str, model: str) -> "pd.DataFrame":
    """Return a quantity of `boltzmann` along updates: "corpus", "seed", "at", "value" and "error"."""
    rows = select(inputs.measurements, variant=BOLTZMANN, quantity=quantity, model=model, axis=boltzmann.UPDATE)
    return rows[["corpus", "seed", "at", "value", "standard_error"]].rename(columns={"standard_error": "error"})


def trace(inputs: Inputs, quantity: str, model: str) -> dict[int, float]:
    """Return the means over seeds of a quantity of `boltzmann` by update, of the study's first corpus."""
    rows = trained(inputs, quantity, model)
    rows = rows[rows["corpus"].isin(corpora(inputs, BOLTZMANN)[:1])]
    return {int(str(at)): float(value) for at, value in rows.groupby("at")["value"].mean().items()}


class Machine(NamedTuple):
    """A row of the table of Boltzmann machines, means over seeds, per response.

    Attributes:
        name, hidden: what it is, and its hidden units.
        reconstruction: squares; None where there is none.
        pseudo: pseudo-likelihood, nats; None where there is none.
        likelihood: nats, with its error.
    """

    name: str
    hidden: int
    reconstruction: float | None
    pseudo: float | None
    likelihood: Point


def machines(inputs: Inputs) -> list[Machine]:
    """Return the table's rows, of the study's first corpus: the machines, the mixture and independent responses."""
    found = []
    names = {**MACHINES, boltzmann.MIXTURE: "mixture of categoricals", boltzmann.INDEPENDENT: "independent"}
    for corpus in corpora(inputs, BOLTZMANN)[:1]:
        for model, name in names.items():
            scores = select(inputs.scores, variant=BOLTZMANN, corpus=corpus, model=model)
            usual, squares = mean_points(scores, [USUAL]), trace(inputs, boltzmann.RECONSTRUCTION, model)
            fewest = min(mean_points(scores, [LIKELIHOOD]), default=0)
            for hidden, point in mean_points(scores, [LIKELIHOOD]).items():
                last = squares[max(squares)] if squares and hidden == fewest else None
                pseudo = usual[hidden].value if hidden in usual else None
                found.append(Machine(name, hidden, last, pseudo, point))
    return found


class Checked(NamedTuple):
    """An annealed log Z with its error, and the exact one, nats."""

    value: float
    error: float
    exact: float


def checked(inputs: Inputs, experiment: str) -> list[Checked]:
    """Return every log Z that was annealed where it is exactly known."""
    keys = ["corpus", "model", "topics", "seed", "axis", "at"]
    rows = select(inputs.measurements, variant=experiment)
    exact = select(rows, quantity=boltzmann.LOG_Z).set_index(keys)["value"].to_dict()
    annealed = select(rows, quantity=boltzmann.LOG_Z_ANNEALED).to_dict("records")
    return [Checked(r["value"], r["standard_error"], exact[tuple(r[key] for key in keys)]) for r in annealed]


class Published(NamedTuple):
    """A row of Figure 27.32: documents, words, and the perplexities of LDA by K, replicated softmax and unigram."""

    training: int
    test: int
    words: int
    lda: Mapping[int, int]
    softmax: int
    unigram: int


# Murphy (2012, Figure 27.32), from Salakhutdinov and Hinton (2010); the machines have 50 hidden units
PUBLISHED: Mapping[str, Published] = {
    "nips-volumes": Published(1690, 50, 13649, {50: 3576, 200: 3391}, 3405, 4385),
    "newsgroups": Published(11314, 7531, 2000, {50: 1091, 200: 1058}, 953, 1335),
    "reuters": Published(794414, 10000, 10000, {50: 1437, 200: 1142}, 988, 2208),
}


class Perplexities(NamedTuple):
    """A model's perplexities on a corpus, means over seeds, by 27.29 (of documents) and per token, with its error."""

    documents: float
    tokens: float
    error: float


def perplexities(inputs: Inputs, corpus: str) -> dict[tuple[str, int], Perplexities]:
    """Return the perplexities of a corpus by model and K."""
    scores = select(inputs.scores, variant=SOFTMAX, corpus=corpus, evaluator=LIKELIHOOD)
    measured = select(inputs.measurements, variant=SOFTMAX, corpus=corpus, quantity=replicated_softmax.PER_DOCUMENT)
    found = {}
    for (model, topics), rows in scores.groupby(["model", "topics"]):
        K = int(str(topics))
        point = mean_points(rows, [LIKELIHOOD])[K]
        mean = fmean(select(measured, model=model, topics=K)["value"])
        error = point.perplexity * point.error
        found[str(model), K] = Perplexities(math.exp(-mean), point.perplexity, error)
    return found


def unigram_of_all(inputs: Inputs, corpus: str) -> list[float]:
    """Return the unigram's mean over all test documents of their nats per token (27.29), by seed."""
    rows = select(inputs.measurements, variant=SOFTMAX, corpus=corpus, quantity=replicated_softmax.PER_DOCUMENT_ALL)
    return [float(value) for value in rows["value"]]


def retrieval(inputs: Inputs, model: str) -> tuple[list[float], list[float]]:
    """Return recall and precision of the first M documents, means over seeds, by M ascending."""
    table = select(inputs.measurements, variant=SOFTMAX, model=model, axis=replicated_softmax.RETRIEVED)
    recall, precision = (
        select(table, quantity=quantity).groupby("at")["value"].mean().sort_index().tolist()
        for quantity in (replicated_softmax.RECALL, replicated_softmax.PRECISION)
    )
    return recall, precision


def average_precision(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the mean average precision: "corpus", "seed", "value" and "error"."""
    quantity = replicated_softmax.AVERAGE_PRECISION
    rows = select(inputs.measurements, variant=SOFTMAX, model=model, quantity=quantity)
    return rows[["corpus", "seed", "value", "standard_error"]].rename(columns={"standard_error": "error"})


RETRIEVERS: Mapping[str, str] = {replicated_softmax.SOFTMAX: "replicated softmax", models.LDA: "LDA"}


def of_units(inputs: Inputs) -> dict[tuple[str, int], dict[str, dict[int, float]]]:
    """Return the values of `undirected-units` by (corpus, scale in hundredths, 0 of records), model and K."""
    found: dict[tuple[str, int], dict[str, dict[int, float]]] = {}
    scores = valued(inputs, UNITS)[["corpus", "model", "topics", "value"]].assign(at=0)
    rows = select(inputs.measurements, variant=UNITS, quantity=LIKELIHOOD, axis=undirected_units.SCALE)
    keys = ["corpus", "at", "model", "topics"]
    both = [table.groupby(keys)["value"].mean().reset_index().to_dict("records") for table in (scores, rows)]
    for row in (*both[0], *both[1]):
        of_data = found.setdefault((str(row["corpus"]), int(row["at"])), {})
        of_data.setdefault(str(row["model"]), {})[int(row["topics"])] = float(row["value"])
    order: Sequence[str] = corpora(inputs, UNITS)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))
