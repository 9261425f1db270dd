r"""The prior's share of the gap: log p(w) of held-out documents under ever richer priors, fitted to others of them.

PLSA has no prior of theta. Under one that is fitted to documents like those that are scored the likelihood is as high
as it can be without having seen them. Documents drawn from the test documents of a split are halved; on one half are
fitted

* `mixture`: a mixture of M Dirichlets (`heldout.models.dirichlet_prior`), for every M of `components`; log p(w) of
  the other half is by `heldout.evaluators.reference`;
* `points`: as many points as there are documents, these' own maxima of p(w | theta), with weights that make them most
  likely (`heldout.evaluators.mixture_of_points`): exact;

and the halves change roles. Beside them are the `training-mixture`, a point for every training document, exact; and
`full-folding-in`, the maximum, which leaves out the prior. Under a symmetric Dirichlet with the sum of its parameters
as a dial, for each of `sums`, is the likelihood of all the documents, `sum`, for PLSA and LDA.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from artifact.papers.likelihood.settings import PriorShare
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.evaluators import FULL
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.evaluators.folding_in import full_folding_in, maximum
from heldout.evaluators.mixture_of_points import fit_weights, log_likelihoods, mixture_of_points
from heldout.evaluators.reference import least_samples, mixture_reference, reference
from heldout.evaluators.training_mixture import training_mixture
from heldout.models import LDA, PLSA
from heldout.models.dirichlet_prior import fit_mixture
from heldout.topics import Topics

KIND = "prior-share"
MIXTURE, POINTS, TRAINING, SUM = "mixture", "points", "training-mixture", "sum"
RICHNESS, CONCENTRATION, TOKENS = "richness", "concentration", "tokens"  # axes, and the number of tokens scored
PER_SUM = 1000  # place on the axis "concentration" of a sum of 1


def experiment(job: Job, settings: PriorShare) -> Results:
    """Score held-out documents of one corpus and seed under priors of growing richness, and against the dial.

    Returns:
        No scores. Measurements, sums over the documents in nats, with the estimate's error: of PLSA on the axis
        "richness" `mixture`, at its number of components, `points` at theirs, `training-mixture` at the number of
        training documents, and `full-folding-in` and `tokens` at 0; of PLSA and LDA on the axis "concentration" `sum`,
        at a thousand times the parameters' sum, `full-folding-in` and `tokens` at 0.
    """
    training, test = job.split()
    K = job.topics
    drawn = job.generator(KIND, topics=K).permutation(np.flatnonzero(test.lengths))[: settings.documents]
    some = test.subset(np.sort(drawn))
    em, chain = trained(training, settings, K, job.seed)
    fitted = {PLSA: em.topics(training.vocabulary).smoothed(settings.smoothing), LDA: chain}
    results = job.recorder()
    for model, topics in fitted.items():
        recorder = results.at(model=model, smoothing=settings.smoothing if model == PLSA else 0.0)
        documents, _ = in_vocabulary(some, topics)
        full = full_folding_in([topics], documents, maximum)

        def measure(name: str, axis: str, place: int, *evaluations: Evaluation, recorder: Recorder = recorder) -> None:
            value = sum(float(each.log_likelihood.sum()) for each in evaluations)
            error = math.hypot(*(each.total_error() for each in evaluations))
            recorder.measure(name, value, axis=axis, position=place, error=error)

        for axis in (CONCENTRATION, RICHNESS) if model == PLSA else (CONCENTRATION,):
            measure(FULL, axis, 0, full)
            recorder.measure(TOKENS, documents.n_tokens, axis=axis, position=0)
        for alpha_sum in settings.sums:
            rng = job.generator(f"{KIND}-{SUM}", topics=K, model=model, sum=alpha_sum)
            dialled = replace(topics, alpha=np.full(K, alpha_sum / K))
            value = reference(dialled, documents, settings.samples, rng, chains=settings.annealing_chains)
            measure(SUM, CONCENTRATION, round(PER_SUM * alpha_sum), value)
        if model == PLSA:
            weights = em.document_topics_
            measure(TRAINING, RICHNESS, len(weights), training_mixture(topics, weights, documents))
            for name, size, evaluations in richer(topics, documents, settings, job):
                measure(name, RICHNESS, size, *evaluations)
    return results.results


def richer(
    topics: Topics, documents: Corpus, settings: PriorShare, job: Job
) -> Iterator[tuple[str, int, tuple[Evaluation, Evaluation]]]:
    """Yield priors' names and sizes, with the evaluations of both halves under the priors of the other half.

    The halves are the documents at even and at odd places, which were drawn at random.
    """
    halves = [documents.subset(np.arange(start, documents.n_documents, 2)) for start in (0, 1)]
    start = replace(topics, alpha=np.full(topics.n_topics, 1.0 / topics.n_topics))
    for components in settings.components:
        rng = job.generator(f"{KIND}-{MIXTURE}", topics=topics.n_topics, components=components)
        samples = max(settings.samples, components * least_samples(settings.annealing_chains))

        def held_out(half: int, M: int = components, most: int = samples, rng: Any = rng) -> Evaluation:
            prior = fit_mixture(start, halves[1 - half], rng, components=M, rounds=settings.rounds)
            return mixture_reference(topics, prior, halves[half], most, rng, chains=settings.annealing_chains)

        yield MIXTURE, components, (held_out(0), held_out(1))
    points = [maximum(topics, half) for half in halves]
    weights = [fit_weights(log_likelihoods(topics, maxima, half)) for maxima, half in zip(points, halves, strict=True)]
    evaluations = [mixture_of_points(topics, points[1 - h], weights[1 - h], halves[h]) for h in (0, 1)]
    yield POINTS, len(points[0]), (evaluations[0], evaluations[1])
