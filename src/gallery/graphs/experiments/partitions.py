"""Section 27.5.1: the likelihood of a graph under the stochastic block model, by all partitions of its nodes.

Measured of "sbm" at K, on the axis "topics", nats:

    exact        log p(R)
    joint        max_q log p(R, q), of labelled clusters: a point posterior of the partition
    profile      max_{q, eta} log p(R | q, eta): clusters and probabilities plugged in
    agree        the number of nodes in the known group that their cluster stands for (`agreement`)

and as arrays

    cluster      (n,), the cluster of each node in the most probable partition
    arc          (n, n), 1 where there is an arc
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.graphs.evaluators.partitions import partitions_of_graph
from gallery.graphs.models.blocks import ClusterPrior
from gallery.graphs.spec import Partitions
from gallery.member import PARTITION, Family
from heldout.corpora.relations.relation import relations_of
from heldout.typing import Ints

SBM = "sbm"
EXACT, JOINT, PROFILE, CLUSTER, ARC, AGREE = "exact", "joint", "profile", "cluster", "arc", "agree"
GROUP = "group"  # labels that partitions are compared with
FAMILIES = (Family("blocks", (SBM,), PARTITION),)


def agreement(clusters: Ints, groups: tuple[str, ...]) -> int:
    """Return the number of entities in the group that their cluster stands for, by the best matching of clusters.

    Examples:
        >>> agreement(np.array([0, 0, 1, 1]), ("b", "b", "a", "b"))
        3
    """
    _, labels = np.unique(groups, return_inverse=True)
    table = np.zeros((int(clusters.max()) + 1, int(labels.max()) + 1))
    np.add.at(table, (clusters, labels), 1.0)
    return int(table[linear_sum_assignment(-table)].sum())


def experiment(job: Job, settings: Partitions) -> Results:
    """Sum over the partitions at every K; raises InputError for a corpus that is no graph."""
    relations, recorder = relations_of(job.corpus), job.recorder(model=SBM)
    for K in settings.topics:
        prior, row = ClusterPrior(settings.alpha, K), recorder.at(topics=K)
        sums = partitions_of_graph(relations.relations[0], prior, (settings.eta, settings.eta))
        values = {EXACT: sums.log_evidence, JOINT: sums.log_joint, PROFILE: sums.log_profile}
        if GROUP in relations.groups:
            values[AGREE] = agreement(sums.best, relations.groups[GROUP])
        for quantity, value in values.items():
            row.measure(quantity, value)
        row.array(CLUSTER, sums.best)
    recorder.array(ARC, relations.relations[0].values)
    for node, name in enumerate(relations.entities[relations.first]):
        recorder.note("node", name, axis="node", position=node)
    return recorder.results
