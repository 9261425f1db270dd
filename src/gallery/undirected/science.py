"""Results and claims about undirected models (Murphy, 2012, section 27.7).

Scores are in nats per token, or per response of a record. Models are compared where both have a likelihood, exact or
annealed; its error enters the interval.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from artifact.verdicts.claims import Claim
from artifact.verdicts.effects import effects, largest_differences, less, per_token
from artifact.verdicts.verdicts import MODELS, Effect, Margin

from artifact.contrasts.inputs import Inputs
from artifact.results.reading import Point, mean_points, select
from gallery.comparison import SPLIT, compared
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


def average_precision(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return the mean average precision: "corpus", "seed", "value" and "error"."""
    quantity = replicated_softmax.AVERAGE_PRECISION
    rows = select(inputs.measurements, variant=SOFTMAX, model=model, quantity=quantity)
    return rows[["corpus", "seed", "value", "standard_error"]].rename(columns={"standard_error": "error"})


RETRIEVERS: Mapping[str, str] = {replicated_softmax.SOFTMAX: "replicated softmax", models.LDA: "LDA"}


def unit_likelihoods(inputs: Inputs) -> dict[tuple[str, int], dict[str, dict[int, float]]]:
    """Return the likelihoods of `undirected-units` by corpus and scale (in hundredths; 0 for records), model and K."""
    found: dict[tuple[str, int], dict[str, dict[int, float]]] = {}
    scores = valued(inputs, UNITS)[["corpus", "model", "topics", "value"]].assign(at=0)
    rows = select(inputs.measurements, variant=UNITS, quantity=LIKELIHOOD, axis=undirected_units.SCALE)
    keys = ["corpus", "at", "model", "topics"]
    both = [table.groupby(keys)["value"].mean().reset_index().to_dict("records") for table in (scores, rows)]
    for row in (*both[0], *both[1]):
        by_model = found.setdefault((str(row["corpus"]), int(row["at"])), {})
        by_model.setdefault(str(row["model"]), {})[int(row["topics"])] = float(row["value"])
    order: Sequence[str] = corpora(inputs, UNITS)
    return dict(sorted(found.items(), key=lambda item: (order.index(item[0][0]), item[0][1])))


SAME = 1e-6  # largest difference, nats, of two computations of the same density
RANKS = Margin(
    0.01, "average precision", "a hundredth of the documents looked through", "2026-11-25, before retrieval was run"
)


def _one(rows: "pd.DataFrame", model: str, topics: int | None = None) -> "pd.DataFrame":
    """Return the rows of a model at the given K, or at its smallest."""
    own = select(rows, model=model)
    return own[own["topics"] == (own["topics"].min() if topics is None else topics)]


def machine_above(inputs: Inputs, _: Sequence[str], *, one: str, others: Sequence[tuple[str, str]]) -> list[Effect]:
    """Measure the likelihood of a machine against others, each with its fewest hidden units."""
    rows, found = valued(inputs, BOLTZMANN), []
    for part, other in others:
        gains = less(_one(rows, one), _one(rows, other), SPLIT)
        found += effects(gains, margin=MODELS, held_out=inputs.held_out, part=part)
    return found


def early(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure contrastive divergence against its persistent form over the first half of the updates."""
    cd, pcd = (trained(inputs, LIKELIHOOD, model) for model in (boltzmann.ONE, boltzmann.PERSISTENT))
    gains = less(cd, pcd, ["corpus", "seed", "at"])
    gains = gains[(gains["at"] > 0) & (2 * gains["at"] <= gains["at"].max())]
    return effects(gains, margin=MODELS, held_out=inputs.held_out)


def document_above(inputs: Inputs, _: Sequence[str], *, one: str, other: str) -> list[Effect]:
    """Measure the replicated softmax with the most hidden units, or LDA, against another model, for every K of LDA."""
    rows, found = valued(inputs, SOFTMAX), []
    ours = select(rows, model=one)
    for K in sorted(set(select(rows, model=other if one == replicated_softmax.SOFTMAX else one)["topics"])):
        if one == replicated_softmax.SOFTMAX:
            pair, part = (_one(ours, one, int(ours["topics"].max())), _one(rows, other, int(K))), f"than K = {K}"
        else:
            pair, part = (_one(ours, one, int(K)), _one(rows, other)), f"K = {K}"
        found += effects(less(*pair, SPLIT), margin=MODELS, held_out=inputs.held_out, part=part)
    return found


def retrieves(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the mean average precision of the replicated softmax against LDA's."""
    ours, other = (average_precision(inputs, model) for model in (replicated_softmax.SOFTMAX, models.LDA))
    gains = less(ours, other, SPLIT)
    return effects(gains, margin=RANKS, held_out=inputs.held_out)


def identity(inputs: Inputs, _: Sequence[str], *, model: str) -> list[Effect]:
    """Compare a machine's density with the directed model's; the effect is the largest difference."""
    rows = select(inputs.measurements, variant=UNITS, model=model, quantity=undirected_units.IDENTITY)
    return largest_differences(rows, SAME)


UNDIRECTED = (
    Claim(
        "pcd-better-than-cd",
        "section 27.7.2.5",
        "Persistent contrastive divergence often works better than contrastive divergence",
        "exact likelihood of held-out records after as many updates from one start, persistent less other",
        partial(
            machine_above,
            one=boltzmann.PERSISTENT,
            others=(("than one sweep", boltzmann.ONE), ("than more sweeps", boltzmann.MORE)),
        ),
    ),
    Claim(
        "cd-faster-early",
        "section 27.7.2.5",
        "Contrastive divergence can be faster than persistent contrastive divergence in the early stages of learning",
        "exact likelihood of held-out records after 1, 2, 4, .. updates up to half of them, one sweep less persistent,"
        " mean",
        early,
    ),
    Claim(
        "mean-field-fails",
        "section 27.7.2.3",
        "Mean field in the negative phase does not work",
        "exact likelihood of held-out records, the other model's less that of the machine trained so",
        partial(machine_above, one=boltzmann.ONE, others=(("than one sweep", boltzmann.FIELD),)),
    ),
    Claim(
        "mean-field-below-independent",
        "section 27.7.2.3",
        "Mean field in the negative phase leaves less than independent responses",
        "exact likelihood of held-out records, independent responses less the machine trained so",
        partial(machine_above, one=boltzmann.INDEPENDENT, others=(("", boltzmann.FIELD),)),
    ),
    Claim(
        "machine-better-than-mixture",
        "section 27.7",
        "A product of experts might work better than a mixture",
        "exact likelihood of held-out records, machine by persistent contrastive divergence less mixture with one"
        " component more than it has hidden units",
        partial(machine_above, one=boltzmann.PERSISTENT, others=(("", boltzmann.MIXTURE),)),
    ),
    Claim(
        "lda-better-than-unigram",
        "section 27.7.3.1, Figure 27.32",
        "LDA is significantly better than a unigram model",
        "likelihood of held-out documents, LDA's less the unigram's",
        partial(document_above, one=models.LDA, other=replicated_softmax.UNIGRAM),
    ),
    Claim(
        "softmax-better-than-lda",
        "section 27.7.3.1, Figure 27.32",
        "A replicated softmax is significantly better than LDA",
        "likelihood of held-out documents, the annealed one of the replicated softmax less LDA's",
        partial(document_above, one=replicated_softmax.SOFTMAX, other=models.LDA),
    ),
    Claim(
        "softmax-retrieves-better",
        "section 27.7.3.1, Figure 27.33",
        "A replicated softmax retrieves more accurately than LDA",
        "mean average precision of training documents of the query's group, replicated softmax less LDA",
        retrieves,
    ),
    Claim(
        "binary-better-than-gaussian",
        "section 27.7.1.4",
        "Gaussian hidden units are significantly inferior to binary ones",
        "exact likelihood of held-out records, binary hidden units less Gaussian ones, mean over K",
        partial(compared, experiment=UNITS, pairs=(("", undirected_units.RBM_NAME, undirected_units.PCA),)),
    ),
    Claim(
        "gaussian-units-are-factor-analysis",
        "section 27.7.1.4",
        "With Gaussian units on both sides a machine is factor analysis",
        "its log density against that of the directed model on every held-out document: both are Gaussian, with the"
        " precision I - W W'",
        partial(identity, model=undirected_units.FACTORS),
    ),
    Claim(
        "gaussian-rbm-is-mixture",
        "section 27.7.1.3",
        "A Gaussian machine with binary hidden units is a mixture of Gaussians, one for each of their states",
        "its log density against that of the mixture on every held-out document: the units are Gaussian given h",
        partial(identity, model=undirected_units.MIXTURE),
    ),
)
