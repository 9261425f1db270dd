r"""Left-to-right estimates beside the likelihood, on documents drawn from realistic models: ratios, and logarithms.

Buntine (2009) calls LR biased and LRS unbiased (lemma 1), and compares logarithms. D documents are drawn from a model
with the lengths of the corpus's last documents, or from one that is drawn here; all are estimated with the first number
of samples, the first of them with every other.

The logarithm of an unbiased estimate is low by about half its variance; its spread falls with the samples where the
estimate converges to p(w), and stays where it converges to another number. E[estimate / p(w)] over documents of the
model is 1 of both, for their terms are distributions over the next word: it checks the code, and tells no bias.

p(w) is exact where that costs no more than `limit`. Elsewhere it is the reference (`heldout.evaluators.reference`),
with as many sweeps as bring its standard error e to `reference_error`, at most `reference_samples`. It estimates log p
without bias, nearly normal, so that E[p / P] = exp(e^2 / 2): every ratio is multiplied by exp(-e^2 / 2).
"""

import math
from functools import partial

import numpy as np

from artifact.papers.buntine.settings import MeanRatio
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora import synthetic
from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Law, Shape
from heldout.errors import InputError
from heldout.evaluators import PARTICLES, SEQUENTIAL
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference, variance_for
from heldout.topics import Topics

KIND = "mean-ratio"
RATIO, LOGARITHM = "ratio-", "logarithm-"  # beginnings of quantities; the estimator's name follows
DOCUMENTS, MEAN_TOKENS = "documents", "mean-tokens"
REFERENCE_ERROR, REFERENCE_BIAS = "reference-error", "reference-bias"
SMOOTHING = 1e-5  # a drawn model's smoothing: no word has probability 0


def experiment(job: Job, settings: MeanRatio) -> Results:
    """Return the mean ratios of LR and LRS to the likelihood.

    The job's topics are the model that its corpus was drawn from; without topics a model is drawn here.

    Returns:
        No score; and measurements of the variant "mean-ratio". On the axis "samples": "ratio-ESTIMATOR", the mean of
        estimate / p(w), and "logarithm-ESTIMATOR", the mean of its logarithm, nats per document, each with its standard
        error over documents; "documents", their number; "mean-tokens", their mean length; "reference-error", the root
        mean square of the reference's errors, and "reference-bias", the mean of its biases, nats per document, 0 where
        it is exact.

    Raises:
        InputError: for a corpus drawn from another number of topics or with too few documents, or as the evaluators do.
    """
    corpus, D = job.corpus, settings.documents
    if settings.fewer_documents > D:
        raise InputError(f"{KIND}: {settings.fewer_documents} of {D} documents; take no more than documents")
    if job.chains:
        truth, lengths = job.chains[0], corpus.lengths[-D:]
        if truth.n_topics != job.topics or corpus.n_documents < D:
            raise InputError(
                f"{KIND}: {job.topics} topics and {D} documents of {corpus.name}, which has {truth.n_topics} and"
                f" {corpus.n_documents}; give its own number of topics, and fewer documents"
            )
    else:
        shape, law = Shape(1, D, settings.words, settings.mean_length), Law(topics=job.topics)
        made, truth = synthetic.draw(f"{KIND}-{job.topics}", shape, seed=job.seed, law=law)
        truth, lengths = truth.smoothed(SMOOTHING), made.lengths[1:]
    documents, _ = simulate(truth, lengths, job.generator(KIND, topics=job.topics))
    truly = likelihood(truth, documents, settings, job.generator(f"{KIND}-reference", topics=job.topics))
    recorder = job.recorder()
    for samples in settings.samples:
        n = D if samples == settings.samples[0] else settings.fewer_documents
        some, log_p = documents.subset(range(n)), truly.log_likelihood[:n]
        half_variances = truly.standard_error[:n] ** 2 / 2.0
        measure = partial(recorder.measure, axis="samples", position=samples)
        for name in (PARTICLES, SEQUENTIAL):
            rng = job.generator(f"{KIND}-estimate", topics=job.topics, evaluator=name, samples=samples)
            logarithms = estimate(name, truth, some, samples, rng).log_likelihood - log_p
            recorder.mean(RATIO + name, np.exp(logarithms - half_variances), axis="samples", position=samples)
            recorder.mean(LOGARITHM + name, logarithms, axis="samples", position=samples)
        measure(DOCUMENTS, n)
        measure(MEAN_TOKENS, some.n_tokens / n)
        measure(REFERENCE_ERROR, math.sqrt(2.0 * half_variances.mean()))
        measure(REFERENCE_BIAS, 0.0 if truly.bias is None else truly.bias[:n].mean())
    return recorder.results


def likelihood(topics: Topics, documents: Corpus, settings: MeanRatio, rng: np.random.Generator) -> Evaluation:
    """Return log p(w) of every document, exact or the reference."""
    variance = variance_for(settings.reference_error)
    return exact_within(topics, documents, settings.limit) or reference(
        topics, documents, settings.reference_samples, rng, variance=variance
    )
