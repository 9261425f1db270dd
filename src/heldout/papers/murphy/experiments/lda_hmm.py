"""LDA-HMM (27.61 to 27.64) beside LDA and a hidden Markov model, by the likelihood of documents in their order.

All three by one sampler: LDA has no function states, the hidden Markov model one topic. On whole test documents, nats:

    likelihood    exact up to `exact_topics` topics and of the hidden Markov model, by particles beyond
    usual-score   full folding-in, max over the document's weights

Measured, on the axis "topics":

    exact, estimated   on the first `checked` tokens of every document, the exact sum and particles, nats per token
    content            the share of training tokens in the topics' state
    function-words     the share of function words among the most probable words of the topics: those that at least a
                       share `spread` of the training documents have
"""

from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.lda_hmm_marginal import lda_hmm_folded_in, lda_hmm_marginal, lda_hmm_particles
from heldout.job import Job
from heldout.models.lda_hmm import LDAHMM, Parameters
from heldout.papers.murphy.members.data import documents, per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.settings_extensions import Roles, Sequences
from heldout.recorder import Results
from heldout.seeds import generator
from heldout.typing import Floats, Ints

MODEL, LDA, HMM = "lda-hmm", "lda", "hmm"
EXACT, ESTIMATED, CONTENT, FUNCTION = "exact", "estimated", "content", "function-words"


def training_documents(job: Job, number: int) -> Corpus:
    """Return the first training documents of a random order, in the corpus's own, over the words that they have."""
    training, _ = job.split()
    order = generator("lda-hmm-documents", corpus=job.corpus.name, seed=job.seed).permutation(training.n_documents)
    some = training.subset(np.sort(order[:number]))
    return some.over(tuple(some.vocabulary[w] for w in np.unique(some.tokens)))[0]


def fit(training: Corpus, settings: Sequences | Roles, K: int, C: int, random: np.random.Generator) -> LDAHMM:
    """Return LDA-HMM of K topics and C states besides, fitted."""
    asked: dict[str, Any] = {name: vars(settings)[name] for name in ("alpha", "gamma", "delta", "epsilon", "sweeps")}
    return LDAHMM(K, n_states=C, random_state=random, **asked).fit(training)


def function_words(training: Corpus, spread: float) -> Ints:
    """Return the words that at least a share of the documents have."""
    share = (training.counts() > 0).sum(axis=0) / training.n_documents
    return np.flatnonzero(share >= spread)


def most_probable(rows: Floats, number: int) -> Ints:
    """Return the most probable words of every row, (K, number)."""
    return np.argsort(-rows, axis=1, kind="stable")[:, :number]


def experiment(job: Job, settings: Sequences) -> Results:
    """Fit and score all three at every K; raises InputError as the models and evaluators do."""
    training = training_documents(job, settings.documents)
    _, test, _ = documents(job)
    test, left_out = test.over(training.vocabulary)
    first = test.with_streams([test.document(d)[: settings.checked] for d in range(test.n_documents)], test.documents)
    frequent = function_words(training, settings.spread)
    recorder = job.recorder(documents=test.documents, chain="0")
    fits = [(HMM, 1, settings.states)]
    fits += [(model, K, C) for K in settings.topics for model, C in ((MODEL, settings.states), (LDA, 0))]

    def by_particles(parameters: Parameters, part: Corpus, purpose: str, **axes: Any) -> Evaluation:
        random = generator(purpose, corpus=job.corpus.name, seed=job.seed, **axes)
        return lda_hmm_particles(parameters, part, settings.particles, settings.runs, random)

    for model, K, C in fits:
        axes: dict[str, Any] = {"model": model, "topics": K}
        random = generator("lda-hmm", corpus=job.corpus.name, seed=job.seed, **axes)
        fitted, row = fit(training, settings, K, C, random), recorder.at(model=model, topics=K)
        parameters = fitted.parameters_
        if settings.exact_topics >= K:
            row.score(LIKELIHOOD, lda_hmm_marginal(parameters, test), tokens_left_out=left_out)
        else:
            likelihood = by_particles(parameters, test, "lda-hmm-particles", **axes)
            row.score(LIKELIHOOD, likelihood, samples=settings.particles, tokens_left_out=left_out)
        folded = lda_hmm_folded_in(parameters, test, settings.fold_in_iterations)
        row.score(USUAL, folded, tokens_left_out=left_out)
        if model == MODEL and settings.checked_topics >= K:
            row.measure(EXACT, **per_token(lda_hmm_marginal(parameters, first)), axis="topics", at=K)
            check = by_particles(parameters, first, "lda-hmm-check", **axes)
            row.measure(ESTIMATED, **per_token(check), axis="topics", at=K)
        row.measure(CONTENT, fitted.content_.mean(), axis="topics", at=K)
        shown = most_probable(parameters.topics, settings.shown)
        row.measure(FUNCTION, np.isin(shown, frequent).mean(), axis="topics", at=K)
    return recorder.results
