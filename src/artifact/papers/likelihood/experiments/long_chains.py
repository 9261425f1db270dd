"""LDA by chains that are ten times as long: their convergence, and the change of its scores.

The same chains are scored after `sweeps` and after `more_sweeps`: variants "long-chains-short" and "long-chains-long".
Split R-hat of their log joint probability (`heldout.models.convergence`) is taken from all chains over
the last half of their sweeps; the first chain is scored, on the same test documents.
"""

import numpy as np

from artifact.papers.likelihood.settings import LongChains
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.split import half_split
from heldout.evaluators import FULL, HALF, REFERENCE
from heldout.evaluators.folding_in import full_folding_in, maximum, predictive
from heldout.evaluators.reference import reference
from heldout.models import LDA, lda
from heldout.models.convergence import split_r_hat
from heldout.models.settings import LDATraining

KIND = "long-chains"
SHORT, LONG = f"{KIND}-short", f"{KIND}-long"
R_HAT = "r-hat"


def experiment(job: Job, settings: LongChains) -> Results:
    """Train LDA twice from the same starts, and score test documents.

    Returns:
        Full and half folding-in and the likelihood under the model's prior in the variants; and measurements of these
        variants: quantity "r-hat" on axis "sweep", at the number of sweeps.
    """
    training, test = job.split()
    drawn = job.generator(KIND, topics=job.topics).permutation(np.flatnonzero(test.lengths))[: settings.documents]
    some = test.subset(np.sort(drawn))
    results = job.recorder(model=LDA, documents=some.documents)
    for name, sweeps in ((SHORT, settings.sweeps), (LONG, settings.more_sweeps)):
        training_settings = LDATraining(
            alpha_sum=settings.alpha_sum, beta=settings.beta, sweeps=sweeps, chains=settings.chains
        )
        chains = lda.train(training, training_settings, topics=job.topics, seed=job.seed)
        traces = np.array([chain.provenance["log_likelihood"] for chain in chains])
        recorded = np.array(chains[0].provenance["log_likelihood_sweeps"])
        row = results.at(variant=name, chain="all")
        row.measure(R_HAT, split_r_hat(traces[:, recorded >= recorded[-1] / 2]), axis="sweep", position=sweeps)
        row = results.at(variant=name, chain="0")
        row.score(FULL, full_folding_in([chains[0]], some, maximum))
        halves = half_split(some, job.seed)
        row.score(HALF, predictive([chains[0]], *halves, maximum))
        rng = job.generator(f"{KIND}-{REFERENCE}", topics=job.topics, variant=name)
        likelihood = reference(chains[0], some, settings.samples, rng, chains=settings.annealing_chains)
        row.score(REFERENCE, likelihood, samples=settings.samples)
    return results.results
