"""Results and contrasts of models of graphs and relations (Murphy, 2012, sections 27.5 and 27.6.1).

The start and the Beta prior of numbers of clusters are chosen by p(R, q) alone.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from artifact.contrasts.contrast import Margin, Side
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from gallery.comparison import contrast, measured, opposed
from gallery.graphs.experiments import blocks, concepts, links, memberships, node_features, partitions
from gallery.graphs.experiments.block_graphs import IRM_NAME
from gallery.graphs.models.sbm_features import NO_FEATURES
from gallery.graphs.spec import (
    BLOCK_GRAPHS,
    BLOCKS,
    CONCEPTS,
    LINKS,
    MEMBERSHIPS,
    NODE_FEATURES,
    PARTITIONS,
)
from heldout.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


COUNTED = {"interactions": 54, "features": 90}  # numbers of nations' in the chapter; Kemp's file has more
# numbers of clusters of Kemp et al. (2006), as the chapter has them, by data and type
PUBLISHED = {
    "umls": {"concepts": 14, "predicates": 21},
    "nations": {"countries": 5, "features": 5, "interactions": 18},
}
WAVERERS = (7, 9, 12)  # nodes: Victor, Romauld and Amand, by Sampson
# monk 15 is the fifteenth row, or Amand, whose label is UCINET's fifteenth
WAVERING = {"row": (14,), "label": (12,), "waverers": WAVERERS}


def rows(inputs: Inputs, experiment: str, quantity: str, **values: object) -> "pd.DataFrame":
    """Return an experiment's measurements of a quantity; none where it was not run."""
    return select(inputs.measurements, variant=experiment, quantity=quantity, **values)


class BlockRow(NamedTuple):
    """A row of the stochastic block model's table, nats; None where it was not computed.

    Attributes:
        K: the number of clusters.
        exact, joint, profile: as `gallery.graphs.experiments.partitions` measures them.
        annealed, error, bound: as `gallery.graphs.experiments.blocks` measures them, means over seeds but for the
            bound, the best of all seeds.
    """

    K: int
    exact: float | None
    joint: float | None
    profile: float | None
    annealed: float | None
    error: float | None
    bound: float | None


def _mean(table: "pd.DataFrame") -> float | None:
    return float(table["value"].mean()) if len(table) else None


def block_rows(inputs: Inputs) -> list[BlockRow]:
    """Return the rows of the stochastic block model's table by K."""
    numbers = {
        *rows(inputs, PARTITIONS, partitions.EXACT)["topics"],
        *rows(inputs, BLOCKS, blocks.ANNEALED_EVIDENCE)["topics"],
    }
    result = []
    for K in sorted(int(number) for number in numbers):
        exact, joint, profile = (
            _mean(rows(inputs, PARTITIONS, quantity, topics=K))
            for quantity in (partitions.EXACT, partitions.JOINT, partitions.PROFILE)
        )
        annealed, bound = (
            rows(inputs, BLOCKS, quantity, topics=K) for quantity in (blocks.ANNEALED_EVIDENCE, blocks.BOUND)
        )
        error = float(np.sqrt((annealed["standard_error"] ** 2).sum()) / len(annealed)) if len(annealed) else None
        best = float(bound["value"].max()) if len(bound) else None
        result.append(BlockRow(K, exact, joint, profile, _mean(annealed), error, best))
    return result


class Structure(NamedTuple):
    """A drawn graph: (n, n) arcs, clusters found and groups drawn, (n,), and numbers of nodes that agree, by seed."""

    arcs: Floats
    clusters: Ints
    groups: Ints
    agree: list[int]


def structure(inputs: Inputs, name: str) -> Structure:
    """Return a graph of the first seed by its name."""
    groups, clusters, arcs = (
        inputs.arrays.first(variant=BLOCK_GRAPHS, name=f"{name}-{part}") for part in ("group", "cluster", "arc")
    )
    agree = [int(value) for value in rows(inputs, BLOCK_GRAPHS, f"{name}-agree")["value"]]
    n = len(groups)  # 0 where it was not run
    return Structure(arcs.reshape(n, n), clusters.astype(np.int64), groups.astype(np.int64), agree)


def monks(inputs: Inputs) -> tuple[Floats, Ints, list[str]]:
    """Return the monks' likes, (n, n), their most probable clusters at the largest K, and names; empty if not run."""
    names = select(inputs.notes, variant=PARTITIONS, quantity="node")
    K = max((place.topics for place in inputs.arrays.select(variant=PARTITIONS)), default=0)
    likes = inputs.arrays.first(variant=PARTITIONS, name=partitions.ARC)
    clusters = inputs.arrays.first(variant=PARTITIONS, name=partitions.CLUSTER, topics=K).astype(np.int64)
    n = len(likes)
    return likes.reshape(n, n), clusters, [str(name) for name in names.sort_values("at")["text"]]


def memberships_by_seed(inputs: Inputs, rho: float) -> dict[int, Floats]:
    """Return E[pi], (n, K), by seed."""
    places = inputs.arrays.select(variant=MEMBERSHIPS, name=memberships.MEMBERSHIP, smoothing=rho)
    return {place.seed: inputs.arrays[place] for place in places}


def rhos(inputs: Inputs) -> list[float]:
    """Return the probabilities of the background."""
    return sorted({float(rho) for rho in rows(inputs, MEMBERSHIPS, memberships.PLUGGED)["smoothing"]})


def second_shares(shares: Floats) -> Floats:
    """Return every node's second largest membership, (n,); 0 with one block."""
    ordered: Floats = np.sort(shares, axis=1)
    return ordered[:, -2] if shares.shape[1] > 1 else np.zeros(len(shares))


def chosen_eta(inputs: Inputs, corpus: str) -> float | None:
    """Return the Beta prior with the highest mean log p(R, q) over seeds; None where it was not run."""
    found = rows(inputs, CONCEPTS, concepts.JOINT, corpus=corpus)
    return None if found.empty else float(str(found.groupby("smoothing")["value"].mean().idxmax()))


def numbers_of_clusters(inputs: Inputs, corpus: str, kind: str, eta: float) -> "pd.DataFrame":
    """Return the number of clusters of a type in the state with the highest p(R, q), by seed."""
    return rows(inputs, CONCEPTS, f"{concepts.BEST}-{kind}", corpus=corpus, smoothing=eta)


def shares_of_numbers(inputs: Inputs, corpus: str, kind: str, eta: float) -> dict[int, float]:
    """Return the shares of all seeds' samples by their number of clusters of a type."""
    found = rows(inputs, CONCEPTS, f"{concepts.SHARE}-{kind}", corpus=corpus, smoothing=eta)
    seeds = max(1, found["seed"].nunique())
    return {int(str(number)): float(shares["value"].sum()) / seeds for number, shares in found.groupby("at")}


class Clustered(NamedTuple):
    """The state with the highest p(R, q) of all seeds.

    Attributes:
        clusters: by type, numbered from 0.
        names: names of the entities, by type.
        seed, eta: the seed and the Beta prior that it was found with.
    """

    clusters: dict[str, Ints]
    names: dict[str, list[str]]
    seed: int
    eta: float


def best_state(inputs: Inputs, corpus: str) -> Clustered | None:
    """Return the state with the highest p(R, q) under the chosen Beta prior; None where it was not run."""
    eta = chosen_eta(inputs, corpus)
    if eta is None:
        return None
    joints = rows(inputs, CONCEPTS, concepts.JOINT, corpus=corpus, smoothing=eta)
    seed = int(joints["seed"].to_numpy()[int(np.argmax(joints["value"].to_numpy(float)))])
    clusters, names = {}, {}
    for kind in PUBLISHED[corpus]:
        labels = inputs.arrays.first(
            variant=CONCEPTS, corpus=corpus, smoothing=eta, seed=seed, name=f"{concepts.CLUSTER}-{kind}"
        )
        clusters[kind] = labels.astype(np.int64)
        noted = select(inputs.notes, variant=CONCEPTS, corpus=corpus, quantity=f"{concepts.CLUSTER}-{kind}", seed=seed)
        names[kind] = [str(name) for name in noted.sort_values("at")["text"]]
    return Clustered(clusters, names, seed, eta)


def block_means(inputs: Inputs, corpus: str, relation: str, state: Clustered) -> Floats:
    """Return E[eta | q, R] of a state's blocks, an axis for each type."""
    name = f"{relation}-{concepts.MEAN}"
    return inputs.arrays.first(variant=CONCEPTS, corpus=corpus, smoothing=state.eta, seed=state.seed, name=name)


def cells(inputs: Inputs, corpus: str, relation: str) -> Floats:
    """Return a relation's cells, an axis for each type, NaN where they were not observed."""
    return inputs.arrays.first(variant=CONCEPTS, corpus=corpus, name=f"{relation}-{concepts.CELL}")


def link_means(inputs: Inputs, quantity: str, experiment: str = LINKS) -> "pd.DataFrame":
    """Return means over seeds of a quantity of hidden pairs, by corpus, model and K: "value"."""
    found = rows(inputs, experiment, quantity)
    return found.groupby(["corpus", "model", "topics"], sort=False)["value"].mean().reset_index()


def feature_gaps(inputs: Inputs, model: str, one: str, other: str) -> list[float]:
    """Return one score of observed cells less another, nats, with the most clusters, by seed."""
    left, right = (
        rows(inputs, NODE_FEATURES, quantity, model=model).set_index(["topics", "seed"])["value"]
        for quantity in (one, other)
    )
    gaps = (left - right).dropna()
    most = gaps.index.get_level_values("topics") == gaps.index.get_level_values("topics").max()
    return [float(gap) for gap in gaps[most]]


_BEFORE_DATA = "2026-11-25, before any of these data were modelled in this way"
SHARES = Margin(0.05, "of a membership", "a twentieth: what a simplex shows", _BEFORE_DATA)
CELLS = Margin(0.001, "nats per cell", "a hundredth of what an arc of such graphs is worth", _BEFORE_DATA)
HIDDEN = 0.1  # share of the pairs, in every split of relations


def _hidden_pairs(name: str, experiment: str, prediction: str, model: str) -> Side:
    """Return the log probability of hidden pairs by a prediction, nats per cell, by K."""
    return measured(name, experiment, f"{prediction}-{links.LOG_LOSS}", model, sign=-1.0)


def _averaged(model: str) -> Side:
    """Return the log probability of hidden pairs by the average over partitions, with or without features, by K."""
    return _hidden_pairs("that without", NODE_FEATURES, links.AVERAGE, model)


def wavering(inputs: Inputs) -> "pd.DataFrame":
    """Return the second membership of some monks less the mean of all others', without background, by "monks"."""
    import pandas as pd

    rows = []
    by_seed = memberships_by_seed(inputs, rhos(inputs)[0]) if rhos(inputs) else {}
    for name, nodes in WAVERING.items():
        for seed, shares in by_seed.items():
            second, own = second_shares(shares), np.isin(np.arange(len(shares)), nodes)
            if own.any():
                rows.append(("monks", name, seed, float(second[own].mean() - second[~own].mean()), 0.0))
    return pd.DataFrame(rows, columns=["corpus", "monks", "seed", "value", "error"])


GRAPHS = (
    contrast(
        "average-partition",
        "section 27.6.1",
        "Hidden pairs are predicted better by the average over partitions than by the most probable one.",
        _hidden_pairs("log p of hidden cells by the average", LINKS, links.AVERAGE, IRM_NAME),
        _hidden_pairs("that by one partition, of the infinite relational model", LINKS, links.ONE, IRM_NAME),
        by=(),
        over=("topics",),
        margin=CELLS,
        held_out=HIDDEN,
    ),
    contrast(
        "node-features",
        "section 27.5.1",
        "Features of the nodes help to predict hidden pairs beside blocks.",
        *opposed(
            "features",
            _averaged(node_features.MODEL[NO_FEATURES]),
            "log p of hidden cells under blocks with features",
            {key: _averaged(model) for key, model in node_features.MODEL.items() if key != NO_FEATURES},
        )[::-1],
        by=("features", "topics"),
        margin=CELLS,
        held_out=HIDDEN,
    ),
    contrast(
        "wavering-monks",
        "section 27.5.2, Figure 27.22",
        "Monk 15 belongs to two clusters.",
        Side("the second largest expected membership less the mean of all others'", wavering),
        by=("monks",),
        margin=SHARES,
    ),
)
