"""Section 27.6.1: the clusters that the infinite relational model finds, and the posterior of their number.

For each Beta prior of the cells, which rows are recorded under, measured of "irm", TYPE being a type of entities:

    best-TYPE        the number of clusters in the state with the highest p(R, q), on the axis "entities" at the number
                     of entities
    share-TYPE       the share of samples with so many clusters, on the axis "clusters"
    joint            log p(R, q) of that state, nats, on the axis "start" at its start's number
    apart            its lead over the next best start, nats

and as arrays, entities named by notes "cluster-TYPE" on the axis "entity",

    cluster-TYPE     (n,), the cluster of each entity in that state
    RELATION-mean    E[eta | q, R] of the blocks in that state, an axis for each type
    RELATION-cell    1 where the relation holds, 0 where not, NaN where it was not observed, an axis for each type

From features alone, where their entities are so few that their partitions can be summed over, also

    features-exact, features-annealed    log p(features), nats, on the axis "entities"
    features-share                       the exact posterior of the number of clusters, on the axis "clusters"

The likelihood of all relations together is not estimated: annealing finds less than one state has.
"""

import numpy as np
from scipy.special import logsumexp

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.graphs.evaluators.block_evidence import annealed_evidence
from gallery.graphs.evaluators.partitions import LARGEST_SET, partitions_by_features
from gallery.graphs.experiments.block_graphs import IRM_NAME
from gallery.graphs.models.blocks import Blocks, ClusterPrior
from gallery.graphs.models.irm import IRM
from gallery.graphs.spec import Concepts
from heldout.corpora.relations.relation import Relations, relations_of

BEST, SHARE, CLUSTER, MEAN, CELL, JOINT, LEAD = "best", "share", "cluster", "mean", "cell", "joint", "apart"
FEATURES_EXACT, FEATURES_ANNEALED, FEATURES_SHARE = "features-exact", "features-annealed", "features-share"


def experiment(job: Job, settings: Concepts) -> Results:
    """Fit the infinite relational model at every prior; raises InputError for a corpus of other data."""
    relations, recorder = relations_of(job.corpus), job.recorder(model=IRM_NAME)
    for eta in settings.etas:
        model = IRM(
            gamma=settings.gamma,
            eta=eta,
            starts=settings.starts,
            start_clusters=settings.start_clusters,
            sweeps=settings.sweeps,
            kept=settings.samples,
            random_state=job.generator("concepts", eta=eta),
        )
        row = recorder.at(smoothing=eta)
        _record(row, model.fit(relations))
        row.measure(JOINT, model.log_joint_, axis="start", position=int(model.log_joints_.argmax()))
        if settings.starts > 1:
            ordered = np.sort(model.log_joints_)
            row.measure(LEAD, ordered[-1] - ordered[-2], axis="start", position=int(model.log_joints_.argmax()))
        _features(row, relations, settings, job.generator("concepts-features", eta=eta))
    names = recorder.at(smoothing=settings.etas[0])
    for name, entities in relations.entities.items():
        for i, entity in enumerate(entities):
            names.note(f"{CLUSTER}-{name}", entity, axis="entity", position=i)
    for one in relations.relations:
        names.array(f"{one.name}-{CELL}", np.where(one.mask, one.values, np.nan))
    return recorder.results


def _record(row: Recorder, model: IRM) -> None:
    for name, clusters in model.clusters_.items():
        row.measure(f"{BEST}-{name}", clusters.max() + 1, axis="entities", position=len(clusters))
        numbers = model.cluster_numbers_[name]
        for n in np.unique(numbers):
            row.measure(f"{SHARE}-{name}", (numbers == n).mean(), axis="clusters", position=n)
        row.array(f"{CLUSTER}-{name}", clusters)
    for r, one in enumerate(model.blocks_.relations.relations):
        probabilities = model.blocks_.predictive(r)
        axis_clusters = [model.clusters_[axis] for axis in one.types]
        first = [np.unique(clusters, return_index=True)[1] for clusters in axis_clusters]
        row.array(f"{one.name}-{MEAN}", probabilities[np.ix_(*first)])


def _features(row: Recorder, relations: Relations, settings: Concepts, random: np.random.Generator) -> None:
    gamma, eta = settings.gamma, (row.smoothing, row.smoothing)
    for one in relations.relations:
        n = len(one.values)
        if one.values.ndim != 2 or one.types[0] == one.types[1] or n > LARGEST_SET:
            continue
        by_clusters = partitions_by_features(one, gamma, eta)
        exact = float(logsumexp(by_clusters))
        row.measure(FEATURES_EXACT, exact, axis="entities", position=n)
        for m, share in enumerate(np.exp(by_clusters - exact)):
            row.measure(FEATURES_SHARE, share, axis="clusters", position=m)
        blocks = Blocks(relations.only(one.name), {one.types[0]: ClusterPrior(gamma)}, eta)
        value, error = annealed_evidence(
            blocks, chains=settings.chains, temperatures=settings.temperatures, random=random
        )
        row.measure(FEATURES_ANNEALED, value, axis="entities", position=n, error=error)
