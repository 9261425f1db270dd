"""Figures 27.18 to 27.20: graphs with blocks, and the blocks found in them.

The nine nodes of Figure 27.18, whose arcs the chapter does not list: all from B1 to B2, from B2 to B3 and from B3 to
B1, of nodes in the chapter's groups. Their partition is the most probable one of all. Then graphs drawn with four
patterns between their groups, as in Figure 27.20, in which the infinite relational model looks for the groups.

Recorded of "irm", by structure, as arrays and, the last one, as a measurement:

    NAME-arc         (n, n), 1 where there is an arc, nodes in a random order
    NAME-cluster     (n,), the cluster found of each node
    NAME-group       (n,), the group that it was drawn with
    NAME-agree       the number of nodes that agree, on the axis "nodes" at the number of all
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.graphs.evaluators.partitions import partitions_of_graph
from gallery.graphs.experiments.partitions import agreement
from gallery.graphs.models.blocks import ClusterPrior
from gallery.graphs.models.irm import IRM
from gallery.graphs.spec import BlockGraphs
from gallery.member import PARTITION, Family
from heldout.corpora.relations.relation import Relations, graph
from heldout.seeds import generator
from heldout.typing import Ints

NINE = "nine"
NINE_GROUPS = (0, 1, 1, 0, 1, 0, 2, 1, 2)  # B1 = {1, 4, 6}, B2 = {2, 3, 5, 8}, B3 = {7, 9}
STRUCTURES = {
    "ring": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "hierarchy": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
    "common-cause": ((0, 1), (0, 2), (0, 3)),
    "common-effect": ((0, 3), (1, 3), (2, 3)),
}
IRM_NAME = "irm"
FAMILIES = (Family("blocks", (IRM_NAME,), PARTITION),)


def drawn(
    pattern: tuple[tuple[int, int], ...], settings: BlockGraphs, random: np.random.Generator
) -> tuple[Relations, Ints]:
    """Return a graph with a pattern between its groups, its nodes in a random order, and their groups."""
    groups = random.permutation(np.repeat(np.arange(4), settings.nodes))
    eta = np.full((4, 4), settings.outside)
    for a, b in pattern:
        eta[a, b] = settings.inside
    values = random.random((len(groups), len(groups))) < eta[groups][:, groups]
    np.fill_diagonal(values, val=False)
    return _graph(values), groups


def _graph(values: np.ndarray) -> Relations:
    return Relations("graph", {"nodes": tuple(map(str, range(1, len(values) + 1)))}, (graph("arcs", "nodes", values),))


def nine_nodes() -> Relations:
    """Return Figure 27.18's graph of nine nodes."""
    groups = np.array(NINE_GROUPS)
    return _graph((groups[:, None] + 1) % 3 == groups)


def experiment(job: Job, settings: BlockGraphs) -> Results:
    """Find the blocks of every graph."""
    recorder = job.recorder(model=IRM_NAME, smoothing=settings.eta)
    exact = partitions_of_graph(nine_nodes().relations[0], ClusterPrior(settings.gamma), (settings.eta, settings.eta))
    _record(recorder, NINE, nine_nodes(), exact.best, np.array(NINE_GROUPS))
    for name, pattern in STRUCTURES.items():
        random = generator("block-graphs", structure=name, seed=job.seed)
        relations, groups = drawn(pattern, settings, random)
        model = IRM(
            gamma=settings.gamma,
            eta=settings.eta,
            starts=settings.starts,
            sweeps=settings.sweeps,
            kept=0,
            random_state=random,
        )
        _record(recorder, name, relations, model.fit(relations).clusters_["nodes"], groups)
    return recorder.results


def _record(recorder: Recorder, name: str, relations: Relations, clusters: Ints, groups: Ints) -> None:
    for part, values in (("arc", relations.relations[0].values), ("cluster", clusters), ("group", groups)):
        recorder.array(f"{name}-{part}", values)
    recorder.measure(f"{name}-agree", agreement(clusters, tuple(map(str, groups))), axis="nodes", position=len(groups))
