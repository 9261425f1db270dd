"""Section 4.2 on learned models: log Z of the energy-based model that folding-in stands for, by document length."""

from dataclasses import replace

import numpy as np

from artifact.papers.welling.settings import Normalisers
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.errors import InputError
from heldout.evaluators.normaliser import log_normaliser
from heldout.seeds import generator

QUANTITY = "log-normaliser"
EFFECTIVE = "log-normaliser-effective-samples"
# Z does not depend on the prior that the documents are drawn under. Jeffreys' prior of the multinomial makes the ratio
# of maximum to marginal nearly constant, where a flat prior lets the few documents near the simplex's faces dominate.
PRIOR = 0.5


def experiment(job: Job, settings: Normalisers) -> Results:
    """Estimate log Z of one model at several lengths and at the corpus's mean length (rounded).

    Of a sampled model the first chain alone is measured. Corpus, model, variant, topics, chain, seed and length name
    the draws.

    Returns:
        No score; and per length, on the axis "length": `log-normaliser` in nats per document with its standard
        error, and `log-normaliser-effective-samples`, a number of samples.

    Raises:
        InputError: when the corpus holds no tokens, or as `log_normaliser` does.
    """
    corpus, topics = job.corpus, job.chains[0]
    if corpus.n_tokens == 0:
        raise InputError(f"corpus {corpus.name}: it holds no tokens, so there is no mean length to take log Z at")
    if settings.smoothing > 0.0:
        topics = topics.smoothed(settings.smoothing)
    K, chain = topics.n_topics, str(topics.provenance.get("chain", "none"))
    recorder = job.recorder(topics=K, smoothing=settings.smoothing, chain=chain)
    drawn_from = replace(topics, alpha=np.full(K, PRIOR))
    for length in sorted({*settings.lengths, max(1, round(corpus.n_tokens / corpus.n_documents))}):
        axes = {"corpus": corpus.name, "model": job.model, "variant": job.variant, "chain": chain}
        random = generator(QUANTITY, **axes, topics=K, seed=job.seed, length=length)
        z = log_normaliser(drawn_from, length, settings.samples, random)
        recorder.measure(QUANTITY, z.log_z, axis="length", position=length, error=z.standard_error)
        recorder.measure(EFFECTIVE, z.effective_samples, axis="length", position=length)
    return recorder.results
