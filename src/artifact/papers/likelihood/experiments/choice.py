"""Scores that choose the number of topics on a corpus of today's size, and the likelihood that judges them.

PLSA and LDA are trained as in `prior_share`, and test documents that are drawn at random are scored by full and half
folding-in at the maximum over theta, by the mean-field bound and by the likelihood under the topics' own prior (variant
`choice`), and by the likelihood under the prior that makes the training documents most likely (`choice-fitted-prior`).
The cost of a choice is in `artifact.papers.likelihood.regret`.
"""

import numpy as np

from artifact.papers.likelihood.experiments.optimism import FITTED
from artifact.papers.likelihood.settings import Choice
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.split import half_split
from heldout.evaluators import FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.folding_in import full_folding_in, maximum, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.reference import reference
from heldout.models import LDA, PLSA
from heldout.models.dirichlet_prior import fit_prior

KIND = "choice"


def experiment(job: Job, settings: Choice) -> Results:
    """Score the same test documents of one corpus and seed by every score that chooses or judges.

    Returns:
        Scores, nats, with the estimator's error, in the variants above; no measurements.
    """
    training, test = job.split()
    drawn = job.generator(KIND, topics=job.topics).permutation(np.flatnonzero(test.lengths))[: settings.documents]
    some = test.subset(np.sort(drawn))
    results = job.recorder(documents=some.documents)
    em, chain = trained(training, settings, job.topics, job.seed)
    fits = {PLSA: em.topics(training.vocabulary).smoothed(settings.smoothing), LDA: chain}
    for model, topics in fits.items():
        recorder = results.at(model=model, smoothing=settings.smoothing if model == PLSA else 0.0)
        recorder.score(FULL, full_folding_in([topics], some, maximum))
        recorder.score(HALF, predictive([topics], *half_split(some, job.seed), maximum))
        recorder.score(MEAN_FIELD_BOUND, mean_field_bound(topics, some))
        fitted = fit_prior(topics, training, job.generator(f"{KIND}-prior", topics=job.topics, model=model))
        for variant, judge in ((KIND, topics), (f"{KIND}-{FITTED}", fitted)):
            rng = job.generator(f"{KIND}-{REFERENCE}", topics=job.topics, model=model, variant=variant)
            likelihood = reference(judge, some, settings.samples, rng, chains=settings.annealing_chains)
            recorder.at(variant=variant).score(REFERENCE, likelihood, samples=settings.samples)
    return results.results
