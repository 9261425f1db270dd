r"""Model selection where the truth is known: Buntine (2009), section 4.2, and this project's evaluators beside his.

A corpus that was drawn from known topics has training documents, of which growing numbers are taken from its start, and
held-out documents, taken from its end. One job scores one model (K, a number of training documents, a seed) on the
held-out documents, by every estimator. The known topics are scored in the same way, by the job whose K is theirs and
whose model is of the fewest documents: only by chance can a trained model beat them.

All documents and some. What is quadratic in a document's length is run on some of the held-out documents, drawn for
each K (so that K's are independent of each other) and the same for all training sizes and seeds (so that these are
paired). With an estimator c that scored all D documents, one that scored n of them is taken to say of all

    sum_D c + T_D r,     r = sum_n (estimate - c) / T_n,     T the numbers of tokens,

and r has the standard error of a ratio: it covers which documents were drawn, and the Monte Carlo errors of both.

Reference. A particle filter (`heldout.evaluators.particle_filter`) is unbiased as a probability; half the squared
standard error is added to its logarithm. An estimator's bias is the mean of its logarithm less the reference's over the
same documents. The sequential sampler with many samples is held against the same reference.

Readings. On some documents, what section 3.5 may mean by a record is estimated with particles in several ways.
"""

import math
from typing import Any

import numpy as np

from artifact.papers.buntine.readings import readings
from artifact.papers.buntine.settings import ModelSelection
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, FULL, HALF, PARTICLES, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.evaluators.particle_filter import particle_filter
from heldout.models import LDA, lda
from heldout.models.settings import LDAFoldingIn
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

PARTICLE_FILTER = "weighted-left-to-right"
MODEL, TRUE_MODEL, BEST = LDA, "truth", "best"
LESS_REFERENCE, READING = "-less-reference", "reading-"


def trained_on(documents: int) -> str:
    """Return the variant of a model that was trained on a number of documents."""
    return f"trained-on-{documents}"


def with_many(samples: int) -> str:
    """Return the name of the sequential sampler with another number of samples than the study's."""
    return f"{SEQUENTIAL}-{samples}-samples"


def ratio(differences: Floats, tokens: Ints) -> tuple[float, float]:
    """Return a sum of differences over documents per token, and its standard error; nats per token."""
    value = float(differences.sum() / tokens.sum())
    spread = (differences - value * tokens).std(ddof=1)
    return value, float(math.sqrt(len(tokens)) * spread / tokens.sum())


def experiment(job: Job, settings: ModelSelection) -> Results:
    """Score one model of a drawn corpus, or it and the truth, by every evaluator.

    The job's topics are the model, its number of training documents in its provenance, and the truth that its corpus
    was drawn from. Full and half folding-in come on top of `samples`. The corpus's last documents are held out.

    Returns:
        Scores of all held-out documents: of model "lda" and variant "trained-on-I", one row per evaluator; of model and
        variant "truth" too, where this job scores it. Measurements in nats per token, on axis "documents" at the number
        of documents: quantity "NAME-less-reference" of every estimator of `some_samples`, of "reading-NAME" for every
        reading, and of "left-to-right-sequential-S-samples" with the S of `check_samples`.

    Raises:
        InputError: where training and held-out documents do not fit into the corpus without sharing any, an estimator
            is unknown or one of the left-to-right samplers missing, or fewer than two documents are to be compared.
    """
    corpus, seed, test_documents = job.corpus, job.seed, job.test_documents
    trained, truth = job.chains
    control, training_documents, some_documents = settings.control, settings.training_documents, settings.some_documents
    everywhere, some_samples = {**control, **settings.samples}, settings.some_samples
    most, size = max(training_documents), int(trained.provenance.get("documents", 0))
    if test_documents < 1 or most + test_documents > corpus.n_documents:
        raise InputError(
            f"model selection: {most} training and {test_documents} held-out documents do not fit into the"
            f" {corpus.n_documents} of {corpus.name}; take fewer of either, at least one of both"
        )
    unknown = ", ".join(name for name in {**everywhere, **some_samples} if name not in ESTIMATORS)
    if unknown:
        raise InputError(f"model selection: there is no estimator {unknown}; there are {', '.join(ESTIMATORS)}")
    missing = ", ".join(name for name in (SEQUENTIAL, PARTICLES) if name not in some_samples)
    if missing:
        raise InputError(f"model selection: some_samples lacks {missing}; give samples to it")
    if not max(settings.reading_documents, settings.check_documents) <= some_documents <= test_documents:
        raise InputError(
            f"model selection: {some_documents} documents for some estimators, {settings.reading_documents} for"
            f" readings, {settings.check_documents} for the check; take the latter of the some, and these of the"
            f" {test_documents} held out"
        )

    held_out = corpus.subset(range(corpus.n_documents - test_documents, corpus.n_documents))
    observed, scored = half_split(held_out, seed)
    results = job.recorder().results

    def score(topics: Topics, model: str, variant: str, chain: str) -> None:
        names = {"model": model, "variant": variant, "chain": chain, "documents": held_out.documents}
        recorder = job.recorder(topics=topics.n_topics, results=results, **names)

        def random(purpose: str) -> np.random.Generator:
            return job.generator("model-selection", evaluator=purpose)

        def fold_in(model: Topics, documents: Corpus) -> Any:
            return lda.fold_in(model, documents, LDAFoldingIn(sweeps=settings.fold_in_sweeps), seed=seed)

        recorder.score(FULL, full_folding_in([topics], held_out, fold_in), samples=1, standard_error=math.nan)
        recorder.score(HALF, predictive([topics], observed, scored, fold_in), samples=1, standard_error=math.nan)
        evaluations = {
            name: estimate(name, topics, held_out, count, random(name)) for name, count in everywhere.items()
        }
        for name, evaluation in evaluations.items():
            recorder.score(name, evaluation, samples=everywhere[name])

        # some documents: a choice for each K, and the control on them
        chosen = generator("model-selection-documents", corpus=corpus.name, topics=topics.n_topics)
        places = chosen.choice(test_documents, some_documents, replace=False)
        some = held_out.subset(places)
        whole = evaluations[next(iter(control))]
        known, tokens = whole.log_likelihood[places], whole.tokens[places]

        particles, runs = settings.reference_particles, settings.reference_runs
        reference = particle_filter(topics, some, particles, runs, random(PARTICLE_FILTER))
        truthful = reference.log_likelihood + 0.5 * reference.standard_error**2
        estimates = {PARTICLE_FILTER: (particles * runs, truthful)}
        for name, count in some_samples.items():
            estimates[name] = count, estimate(name, topics, some, count, random(name)).log_likelihood
        for name, (count, values) in estimates.items():
            value, error = ratio(values - known, tokens)
            nats = whole.log_likelihood + value * whole.tokens
            total = error * float(whole.tokens.sum())
            recorder.score(name, Evaluation.deterministic(nats, whole.tokens), samples=count, standard_error=total)

        compared = {name: values for name, (_, values) in estimates.items() if name != PARTICLE_FILTER}
        checked = some.subset(range(settings.check_documents))
        many = estimate(SEQUENTIAL, topics, checked, settings.check_samples, random("check"))
        compared[with_many(settings.check_samples)] = many.log_likelihood
        few = some.subset(range(settings.reading_documents))
        for name, values in readings(topics, few, settings.reading_particles, random("readings")).items():
            compared[READING + name] = values
        for name, values in compared.items():
            n = len(values)
            value, error = ratio(values - truthful[:n], tokens[:n])
            recorder.measure(name + LESS_REFERENCE, value, axis="documents", position=n, error=error)

    score(trained, model=MODEL, variant=trained_on(size), chain=BEST)
    if trained.n_topics == truth.n_topics and size == min(training_documents):
        score(truth, model=TRUE_MODEL, variant=TRUE_MODEL, chain="none")
    return results
