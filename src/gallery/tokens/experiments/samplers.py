"""Section 27.3.4: collapsed against uncollapsed Gibbs sampling, from one start, by the state after as many sweeps.

After 1, 2, 4, .. sweeps, measured of "lda" (collapsed, 27.37) and of "lda-gibbs" (27.30 to 27.32) on the axis "sweep",
nats per token, of the one state that the chain is in:

    joint        log p(y, q), equations 27.34 and 27.36, of the training documents
    likelihood   the reference on held-out documents under E[b | q, y], the mean of 27.32
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import LIKELIHOOD
from gallery.tokens.members.data import documents
from gallery.tokens.members.lda import CollapsedGibbs, Gibbs
from gallery.tokens.models.lda_gibbs import LDAGibbs, State, dirichlet
from gallery.tokens.spec import Samplers
from heldout.evaluators.evidence import log_likelihood
from heldout.evaluators.reference import reference
from heldout.models.lda import LDA
from heldout.topics import Topics
from heldout.typing import Floats

JOINT, SWEEP = "joint", "sweep"


def log_joint(in_document: Floats, in_word: Floats, alpha: float, gamma: float) -> float:
    """Return log p(y, q), nats, from the counts (D, K) and (K, V)."""
    K = in_document.shape[1]
    prior = gammaln(in_document + alpha).sum() - gammaln(in_document.sum(axis=1) + K * alpha).sum()
    prior += len(in_document) * (gammaln(K * alpha) - K * gammaln(alpha))
    return float(prior) + log_likelihood(in_word.T.astype(np.int64), gamma)


def experiment(job: Job, settings: Samplers) -> Results:
    """Run both chains and score their states; raises InputError as the samplers do."""
    training, test, _ = documents(job)
    words, K, alpha, gamma = training.vocabulary, settings.topics, settings.alpha, settings.gamma
    counts, rows = training.counts(), np.repeat(np.arange(training.n_documents), training.lengths)
    start = job.generator("samplers", topics=K).integers(K, size=len(rows))
    recorder = job.recorder(topics=K, chain="0")

    def topic_counts(q: NDArray[Any]) -> tuple[Floats, Floats]:
        in_document, in_word = np.zeros((training.n_documents, K)), np.zeros((K, len(words)))
        np.add.at(in_document, (rows, q), 1.0)
        np.add.at(in_word, (q, training.tokens), 1.0)
        return in_document, in_word

    recorded = [2**i for i in range(settings.sweeps.bit_length())]

    def states() -> Iterator[tuple[str, int, Floats, Floats]]:
        random = job.generator("samplers-chain", model=CollapsedGibbs.name, topics=K)
        q, done = start.astype(np.int32), 0
        for sweep in recorded:
            # a first pass precedes `sweeps`, and from assignments it is a sweep too
            chain = LDA(K, alpha=alpha, beta=gamma, sweeps=sweep - done - 1, random_state=random)
            q, done = chain.fit(training, assignments=q).assignments_, sweep
            yield CollapsedGibbs.name, sweep, *topic_counts(q)
        random = job.generator("samplers-chain", model=Gibbs.name, topics=K)
        model, (in_document, in_word) = LDAGibbs(K, alpha=alpha, gamma=gamma), topic_counts(start)
        state = State(dirichlet(alpha + in_document, random), dirichlet(gamma + in_word, random), in_document, in_word)
        for sweep in range(1, recorded[-1] + 1):
            state = model.sweep(counts, state, random)
            if sweep in recorded:
                yield Gibbs.name, sweep, state.in_document, state.in_word

    for name, sweep, in_document, in_word in states():
        b, row = (in_word + gamma) / (in_word + gamma).sum(axis=1, keepdims=True), recorder.at(model=name)
        random = job.generator("samplers-score", sweep=sweep)
        scored = reference(Topics(b, np.full(K, alpha), words), test, settings.samples, random)
        joint = log_joint(in_document, in_word, alpha, gamma) / training.n_tokens
        row.measure(JOINT, joint, axis=SWEEP, position=sweep)
        row.per_token(LIKELIHOOD, scored, axis=SWEEP, position=sweep)
    return recorder.results
