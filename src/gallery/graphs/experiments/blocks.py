"""Section 27.5.1: the stochastic block model's usual scores and its likelihood by annealing, also with many clusters.

Measured of "sbm" at K, on the axis "topics", nats, each the best of several starts but for the first:

    annealed     log p(R), with its standard error
    bound        the bound of variational EM
    sampled      max_q log p(R, q) that collapsed Gibbs sampling has visited
"""

from functools import partial

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.graphs.evaluators.block_evidence import annealed_evidence
from gallery.graphs.experiments.partitions import SBM
from gallery.graphs.models.sbm import sample, sbm_blocks, variational_em
from gallery.graphs.spec import Blocks
from heldout.corpora.relations.relation import relations_of

ANNEALED_EVIDENCE, BOUND, SAMPLED = "annealed", "bound", "sampled"


def experiment(job: Job, settings: Blocks) -> Results:
    """Anneal, fit and sample at every K; raises InputError for a corpus of other data."""
    relations, recorder, eta = relations_of(job.corpus), job.recorder(model=SBM), (settings.eta, settings.eta)
    for K in settings.topics:
        row, blocks = recorder.at(topics=K), sbm_blocks(relations, K, alpha=settings.alpha, eta=eta)
        value, error = annealed_evidence(
            blocks,
            chains=settings.chains,
            temperatures=settings.temperatures,
            random=job.generator("blocks-annealed", topics=K),
        )
        row.measure(ANNEALED_EVIDENCE, value, error=error)
        random = job.generator("blocks-variational", topics=K)
        em = partial(variational_em, relations, K, alpha=settings.alpha, eta=eta, iterations=settings.iterations)
        row.measure(BOUND, max(em(random=random).bounds[-1] for _ in range(settings.starts)))
        random = job.generator("blocks-sampled", topics=K)
        chains = [sample(blocks, sweeps=settings.sweeps, random=random) for _ in range(settings.starts)]
        row.measure(SAMPLED, max(chain.log_joints.max() for chain in chains))
    return recorder.results
