"""Section 4.1 of Buntine (2009), his Figures 1 and 2: estimates of one document's likelihood as samples grow.

One pair of a model and a document is drawn as in `artifact.papers.buntine.experiments.calibration`, at gamma = 0.5. The
paper's captions say L = 14 and K = 4, the figures' titles L = 16 and K = 5; both are run. Every estimator runs several
times at every sample size. A run has one stream of random numbers for all sizes: an estimator that draws its samples
one after the other extends them, as the paper's curves do, and any other starts again.
"""

from artifact.papers.buntine.experiments.calibration import draw_pair, side_by_side, variant
from artifact.papers.buntine.settings import ConvergenceToExact
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.errors import InputError
from heldout.evaluators import EXACT, HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.seeds import Axes, generator

# the source's five methods, in its order
METHODS = (HARMONIC, MEAN_FIELD_FIRST, MEAN_FIELD_SECOND, PARTICLES, SEQUENTIAL)
ESTIMATE = "estimate-"  # beginning of a quantity; the estimator's name follows


def experiment(job: Job, settings: ConvergenceToExact) -> Results:
    """Return estimates of a document's log p(w | alpha, phi) by the number of samples.

    Returns:
        No score; and measurements of the variant "gamma-G", of corpus and model "none", in nats per document:
        "exact-marginal" on the axis "tokens" at L, and "estimate-ESTIMATOR" on the axis "samples", the run's number as
        the chain, with the estimator's own standard error.

    Raises:
        InputError: when the lists do not pair up.
    """
    numbers_of_topics, tokens, gamma = settings.numbers_of_topics, settings.tokens, settings.gamma
    if len(numbers_of_topics) != len(tokens):
        raise InputError("convergence to exact: there must be one number of tokens for each number of topics")
    recorder = job.recorder(variant=variant(gamma))
    for topics, length in zip(numbers_of_topics, tokens, strict=True):
        axes: Axes = {"topics": topics, "tokens": length, "seed": job.seed}
        pair = draw_pair(
            generator("convergence-pair", gamma=gamma, **axes),
            topics=topics,
            words=settings.words,
            tokens=length,
            gamma=gamma,
            alpha=settings.alpha,
        )
        model, documents, log_factor = side_by_side([pair], settings.alpha)
        shift = length * log_factor
        copies = documents.subset([0] * settings.runs)
        pair_row = recorder.at(topics=topics)
        pair_row.measure(
            EXACT, exact_marginal(model, documents).log_likelihood[0] + shift, axis="tokens", position=length
        )
        for name in METHODS:
            for size in settings.samples:
                evaluation = estimate(name, model, copies, size, generator("convergence", estimator=name, **axes))
                for run, value in enumerate(evaluation.log_likelihood):
                    error = evaluation.standard_error[run]
                    run_row = pair_row.at(chain=str(run))
                    run_row.measure(ESTIMATE + name, value + shift, axis="samples", position=size, error=error)
    return recorder.results
