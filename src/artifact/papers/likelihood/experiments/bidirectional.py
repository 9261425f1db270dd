"""The gap between bounds from both sides on simulated documents, and the place of left-to-right sequential in it.

Documents of the test documents' lengths are drawn from a model's topics with their assignments. Their log-likelihood
log p(w | alpha, phi) is bounded from both sides by `heldout.evaluators.bidirectional`, with ever more temperatures,
estimated by left-to-right sequential, and computed exactly where that costs little.
"""

from functools import partial

from artifact.papers.likelihood.settings import Bidirectional
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.errors import InputError
from heldout.evaluators import SEQUENTIAL
from heldout.evaluators.bidirectional import bidirectional, simulate
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import first_chain
from heldout.evaluators.priors import exact_within

AFFORDABLE = 10**10  # updates; about ten seconds
LOWER, UPPER, GAP, EXACT = "lower-difference", "upper-difference", "gap", "exact-difference"


def experiment(job: Job, settings: Bidirectional) -> Results:
    """Bound the log-likelihood of documents that are drawn from a model's topics.

    Simulated documents have the lengths of the split's first test documents that hold tokens. Of a sampled model the
    first chain alone is measured, and nothing is added to its p(w | z).

    Returns:
        No scores, and Measurements in nats per document, means over documents with the standard error of the mean from
        their spread. On the axis "temperatures": `lower-difference` and `upper-difference`, bound minus left-to-right
        sequential, and `gap`, upper minus lower bound. On the axis "samples" at `reference_samples`:
        `left-to-right-sequential` itself and, where exact values cost at most `AFFORDABLE` updates, `exact-difference`,
        exact minus left-to-right sequential.

    Raises:
        InputError: when there are fewer than 2 documents, or as the estimators do.
    """
    topics, smoothing, chain, _ = first_chain(job.chains, settings.smoothing)
    _, test = job.split()
    lengths = test.lengths[test.lengths > 0][: settings.documents]
    if len(lengths) < 2:
        raise InputError(f"bidirectional: {len(lengths)} documents of corpus {job.corpus.name}; simulate 2 or more")
    recorder = job.recorder(topics=topics.n_topics, smoothing=smoothing, chain=chain)
    random = partial(job.generator, model=job.model, topics=topics.n_topics)
    simulated, assignments = simulate(topics, lengths, random("bidirectional-simulation"))
    samples = settings.reference_samples
    rng = random("bidirectional-reference")
    reference = estimate(SEQUENTIAL, topics, simulated, samples, rng).log_likelihood
    recorder.mean(SEQUENTIAL, reference, axis="samples", position=samples)
    exact = exact_within(topics, simulated, AFFORDABLE)
    if exact is not None:
        recorder.mean(EXACT, exact.log_likelihood - reference, axis="samples", position=samples)
    for steps in settings.temperatures:
        rng = random("bidirectional-annealing", temperatures=steps)
        lower, upper = (
            evaluation.log_likelihood
            for evaluation in bidirectional(
                topics, simulated, settings.samples, rng, assignments=assignments, temperatures=steps
            )
        )
        recorder.mean(LOWER, lower - reference, axis="temperatures", position=steps)
        recorder.mean(UPPER, upper - reference, axis="temperatures", position=steps)
        recorder.mean(GAP, upper - lower, axis="temperatures", position=steps)
    return recorder.results
