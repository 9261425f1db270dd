"""The reference's error beside the exact value, and the error that it states.

PLSA and LDA are trained with few topics, on the training documents of a split, and the test documents are evaluated
exactly and by `heldout.evaluators.reference` under several priors of theta and constants: a cell each. Where exact
values of all test documents would cost more than `limit`, the first ones that do not are taken.

Variants name the prior: "reference-own" (PLSA: Dirichlet(1); LDA: that of its training), "reference-flat" (LDA:
Dirichlet(1)), "reference-fitted" (`heldout.models.dirichlet_prior`) and "reference-sum-0.5", symmetric with that sum.
Further constants are added to PLSA's topics under its own prior.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from artifact.papers.likelihood.settings import Reference
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import in_vocabulary
from heldout.evaluators.exact_marginal import cost, exact_marginal
from heldout.evaluators.reference import reference
from heldout.models import LDA, PLSA
from heldout.models.dirichlet_prior import fit_prior
from heldout.seeds import generator
from heldout.topics import Topics

KIND = "reference"
DIFFERENCE, DOCUMENTS_Z, TOKENS = "reference-less-exact", "reference-z-of-documents", "reference-tokens"


def experiment(job: Job, settings: Reference) -> Results:
    """Measure the reference's error in the cells of one corpus and seed.

    Returns:
        No scores. Measurements of every cell on the axis "samples": "reference-less-exact", the difference of the sums
        over documents, nats, with the error that the reference states; the root mean square over documents of their
        differences in their own standard errors; and the number of tokens.
    """
    training, test = job.split()
    recorder = job.recorder()
    for model, K, constant, prior, topics in cells(training, settings, job.seed):
        documents, _ = in_vocabulary(test, topics)
        affordable = np.flatnonzero(np.cumsum([cost([length], K) for length in documents.lengths]) <= settings.limit)
        if len(affordable) == 0:
            continue
        documents = documents.subset(affordable)
        exact = exact_marginal(topics, documents).log_likelihood
        row = recorder.at(model=model, variant=f"{KIND}-{prior}", topics=K, smoothing=constant)
        for most in settings.samples:
            rng = job.generator(KIND, model=model, variant=row.variant, topics=K, smoothing=constant, samples=most)
            evaluation = reference(topics, documents, most, rng)
            differences, errors = evaluation.log_likelihood - exact, evaluation.standard_error
            uncertain = errors > 0.0
            z = np.sqrt(np.mean((differences[uncertain] / errors[uncertain]) ** 2)) if uncertain.any() else 0.0
            row.measure(DIFFERENCE, differences.sum(), axis="samples", position=most, error=evaluation.total_error())
            row.measure(DOCUMENTS_Z, z, axis="samples", position=most)
            row.measure(TOKENS, evaluation.tokens.sum(), axis="samples", position=most)
    return recorder.results


def cells(training: Corpus, settings: Reference, seed: int) -> Iterator[tuple[str, int, float, str, Topics]]:
    """Yield model, K, the constant added, the prior's name and the topics of every cell."""
    for K in settings.topics:
        em, chain = trained(training, settings, K, seed)
        for model, fit in {PLSA: em.topics(training.vocabulary), LDA: chain}.items():
            constant = settings.smoothing if model == PLSA else 0.0
            smoothed = fit.smoothed(constant) if constant else fit
            yield model, K, constant, "own", smoothed
            if model == LDA:
                yield model, K, constant, "flat", replace(smoothed, alpha=np.ones(K))
            rng = generator(f"{KIND}-prior", corpus=training.name, model=model, topics=K, seed=seed)
            yield model, K, constant, "fitted", fit_prior(smoothed, training, rng)
            for alpha_sum in settings.prior_sums:
                yield model, K, constant, f"sum-{alpha_sum:g}", replace(smoothed, alpha=np.full(K, alpha_sum / K))
            for other in settings.constants if model == PLSA else ():
                yield model, K, other, "own", fit.smoothed(other)
