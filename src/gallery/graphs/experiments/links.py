"""Section 27.5: hidden pairs predicted by one partition and by the average over the posterior's samples.

A share of each relation's pairs is hidden from the chain. Measured of "sbm" at K and of "irm" (K = 0), on the axis
"topics", a prediction being E[eta | q, R] of a cell's block:

    one-log-loss, one-auc            by the one state of the chain with the highest p(R, q)
    average-log-loss, average-auc    by the mean over states of the chain's second half
    plugged-log-loss                 by the same one state with the share m / n of its block in the place of the mean,
                                     kept from 0 and 1 by a thousandth of a cell
    density-log-loss                 by the share of observed cells that are 1, of each relation alone

Log losses are in nats per hidden cell.
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.graphs.evaluators.link_prediction import area_under_curve, log_loss
from gallery.graphs.experiments.block_graphs import IRM_NAME
from gallery.graphs.experiments.partitions import SBM
from gallery.graphs.models.blocks import Blocks, ClusterPrior
from gallery.graphs.models.sbm import sample, sbm_blocks
from gallery.graphs.spec import Links
from heldout.corpora.relations.relation import Relations, relations_of
from heldout.typing import Floats

ONE, AVERAGE, PLUGGED, DENSITY = "one", "average", "plugged", "density"
LOG_LOSS, AUC = "log-loss", "auc"
SPARED = 1e-3  # part of a cell, added to either count of a block where parameters are plugged in


def experiment(job: Job, settings: Links) -> Results:
    """Hide pairs and predict them; raises InputError for a corpus of other data."""
    whole, eta = relations_of(job.corpus), (settings.eta, settings.eta)
    seen, hidden = whole.without_pairs(settings.hidden, job.generator("links-hidden"))
    values = np.concatenate([one.values[cells] for one, cells in zip(whole.relations, hidden, strict=True)])
    used = {axis for one in seen.relations for axis in one.types}

    def predicted(blocks: Blocks) -> Floats:
        return np.concatenate([blocks.predictive(r)[cells] for r, cells in enumerate(hidden)])

    def plugged(blocks: Blocks) -> Floats:
        spared = Blocks(seen, blocks.priors, (SPARED, SPARED)).restart_from(blocks.q)
        return predicted(spared)

    def density(relations: Relations) -> Floats:
        shares = [one.values.sum() / one.mask.sum() for one in relations.relations]
        return np.repeat(shares, [int(cells.sum()) for cells in hidden])

    models = [(SBM, K, sbm_blocks(seen, K, alpha=settings.alpha, eta=eta)) for K in settings.topics]
    models.append((IRM_NAME, 0, Blocks(seen, {name: ClusterPrior(settings.gamma) for name in used}, eta)))
    recorder = job.recorder(smoothing=settings.eta)
    for model, K, blocks in models:
        random = job.generator("links", model=model, topics=K)
        start_clusters = settings.start_clusters if model == IRM_NAME else 0
        chain = sample(
            blocks, sweeps=settings.sweeps, kept=settings.samples, start_clusters=start_clusters, random=random
        )
        mean = np.mean([predicted(blocks.restart_from(state)) for state in chain.states], axis=0)
        blocks.restart_from(chain.best)
        row = recorder.at(model=model, topics=K, chain="0")
        for name, probabilities in ((ONE, predicted(blocks)), (AVERAGE, mean)):
            row.measure(f"{name}-{LOG_LOSS}", log_loss(values, probabilities))
            row.measure(f"{name}-{AUC}", area_under_curve(values, probabilities))
        row.measure(f"{PLUGGED}-{LOG_LOSS}", log_loss(values, plugged(blocks)))
        row.measure(f"{DENSITY}-{LOG_LOSS}", log_loss(values, density(seen)))
    return recorder.results
