"""Results and contrasts of undirected models (Murphy, 2012, section 27.7).

Scores are in nats per token, or per response of a record. Models are compared where both have a likelihood, exact or
annealed; its error enters the interval.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from artifact.contrasts.contrast import Side
from artifact.contrasts.estimates import per_token
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point, mean_points, select
from gallery.comparison import at_fewest, contrast, scored
from gallery.member import LIKELIHOOD, USUAL
from gallery.tokens.science import corpora
from gallery.undirected.experiments import boltzmann, replicated_softmax, undirected_units
from gallery.undirected.spec import BOLTZMANN, SOFTMAX, UNITS
from heldout import models

if TYPE_CHECKING:
    import pandas as pd


MACHINES: Mapping[str, str] = {
    boltzmann.PERSISTENT: "persistent CD",
    boltzmann.ONE: "CD, one sweep",
    boltzmann.MORE: "CD, more sweeps",
    boltzmann.FIELD: "mean field",
}
WATCHED: Mapping[str, str] = {
    LIKELIHOOD: "likelihood, exact",
    boltzmann.RECONSTRUCTION: "reconstruction error",
}


def trained(inputs: Inputs, quantity: str, model: str) -> "pd.DataFrame":
    """Return a quantity of `boltzmann` along updates: "corpus", "seed", "at", "value" and "error"."""
    rows = select(inputs.measurements, variant=BOLTZMANN, quantity=quantity, model=model, axis=boltzmann.UPDATE)
    return rows[["corpus", "seed", "at", "value", "standard_error"]].rename(columns={"standard_error": "error"})


def trace(inputs: Inputs, quantity: str, model: str) -> dict[int, float]:
    """Return the means over seeds of a quantity of `boltzmann` by update, of the study's first corpus."""
    rows = trained(inputs, quantity, model)
    rows = rows[rows["corpus"].isin(corpora(inputs, BOLTZMANN)[:1])]
    return {int(str(update)): float(value) for update, value in rows.groupby("at")["value"].mean().items()}


class Machine(NamedTuple):
    """A row of the table of Boltzmann machines, means over seeds, per response.

    Attributes:
        name, hidden: its name, and its number of hidden units.
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
    """Return every annealed log Z with a known exact value."""
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


class Choice(NamedTuple):
    """Numbers of passes or sweeps that validation chose, over seeds, and whether a search ended before it turned."""

    trained: tuple[int, ...]
    censored: bool


def choices(inputs: Inputs, corpus: str) -> dict[tuple[str, int], Choice]:
    """Return the choices of `replicated-softmax` by model and K."""
    rows = select(inputs.measurements, variant=SOFTMAX, corpus=corpus)
    ends = select(rows, quantity=replicated_softmax.CENSORED)
    found = {}
    for (model, K), values in select(rows, quantity=replicated_softmax.CHOSEN).groupby(["model", "topics"])["value"]:
        trained = tuple(sorted({int(value) for value in values}))
        found[str(model), int(str(K))] = Choice(trained, bool(select(ends, model=model, topics=K)["value"].max() > 0.0))
    return found


def turned(inputs: Inputs, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows of `replicated-softmax` without models whose search ended before validation turned."""
    keys = ["corpus", "model", "topics", "seed"]
    ends = select(inputs.measurements, variant=SOFTMAX, quantity=replicated_softmax.CENSORED, value=0.0)
    kept = set(ends[keys].itertuples(index=False, name=None))
    return table[np.array([row in kept for row in table[keys].itertuples(index=False, name=None)], dtype=bool)]


def unigram_of_all(inputs: Inputs, corpus: str) -> list[float]:
    """Return the unigram's nats per token, averaged over all test documents (27.29), seed by seed."""
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


RETRIEVERS: Mapping[str, str] = {replicated_softmax.SOFTMAX: "replicated softmax", models.LDA: "LDA"}


def unit_likelihoods(inputs: Inputs) -> dict[tuple[str, int], dict[str, dict[int, float]]]:
    """Return the likelihoods of `undirected-units` by corpus and scale (in hundredths; 0 for records), model and K."""
    found: dict[tuple[str, int], dict[str, dict[int, float]]] = {}
    scores = per_token(select(inputs.scores, variant=UNITS, evaluator=LIKELIHOOD)).assign(at=0)
    rows = select(inputs.measurements, variant=UNITS, quantity=LIKELIHOOD, axis=undirected_units.SCALE)
    keys = ["corpus", "at", "model", "topics"]
    both = [table.groupby(keys)["value"].mean().reset_index().to_dict("records") for table in (scores, rows)]
    for row in (*both[0], *both[1]):
        by_model = found.setdefault((str(row["corpus"]), int(row["at"])), {})
        by_model.setdefault(str(row["model"]), {})[int(row["topics"])] = float(row["value"])
    order: Sequence[str] = corpora(inputs, UNITS)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))


def _machine(name: str, model: str) -> Side:
    """Return a machine's exact likelihood, nats per response, by K."""
    return scored(name, BOLTZMANN, model)


_CD = _machine("the likelihood by contrastive divergence", boltzmann.ONE)
_PCD = _machine("the likelihood by persistent contrastive divergence", boltzmann.PERSISTENT)
_SOFTMAX = scored("the replicated softmax's likelihood", SOFTMAX, replicated_softmax.SOFTMAX)
UNDIRECTED = (
    contrast(
        "pcd-cd",
        "section 27.7.2.5",
        "Persistent contrastive divergence often works better than contrastive divergence.",
        _PCD,
        _CD,
    ),
    contrast(
        "cd-mean-field",
        "section 27.7.2.3",
        "Mean field in the negative phase does not work.",
        _CD,
        _machine("that by mean field", boltzmann.FIELD),
    ),
    contrast(
        "machine-mixture",
        "section 27.7",
        "A product of experts might work better than a mixture.",
        at_fewest(_PCD),
        at_fewest(_machine("that of a mixture with one component more than hidden units", boltzmann.MIXTURE)),
        by=(),
    ),
    contrast(
        "softmax-lda",
        "section 27.7.3.1, Figure 27.32",
        "A replicated softmax is significantly better than LDA.",
        Side(_SOFTMAX.name, lambda inputs: turned(inputs, _SOFTMAX.rows(inputs))),
        scored("LDA's", SOFTMAX, models.LDA),  # where it is ahead, a search that did not turn only understates it
    ),
    contrast(
        "binary-gaussian",
        "section 27.7.1.4",
        "Gaussian hidden units are significantly inferior to binary ones.",
        scored("the likelihood with binary hidden units", UNITS, undirected_units.RBM_NAME),
        scored("that with Gaussian ones", UNITS, undirected_units.PCA),
    ),
)
