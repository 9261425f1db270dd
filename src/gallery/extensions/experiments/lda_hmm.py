"""LDA-HMM (27.61 to 27.64) beside LDA and a hidden Markov model, by the likelihood of documents in their order.

All three by one sampler: LDA has no function states, the hidden Markov model one topic. On whole test documents, nats:

    likelihood    exact up to `exact_topics` topics and of the hidden Markov model, by importance sampling
                  beyond
    usual-score   full folding-in, max over the document's weights

Measured, on the axis "topics":

    exact, estimated   on the first `checked` tokens of every document, the exact sum and its estimate, nats
                       per token
    content            the share of training tokens in the topics' state
    function-words     the share of function words, which at least the share `spread` of the training documents have,
                       among the most probable words of the topics
"""

from functools import partial

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_folded_in, lda_hmm_marginal, lda_hmm_sampled
from gallery.extensions.models.lda_hmm import LDAHMM
from gallery.extensions.spec import Roles, Sequences
from gallery.member import FOLDED, LIKELIHOOD, TOKENS, USUAL, Family
from gallery.tokens.members.data import documents
from heldout.corpora.corpus import Corpus
from heldout.typing import Floats, Ints

MODEL, LDA, HMM = "lda-hmm", "lda", "hmm"
EXACT, ESTIMATED, CONTENT, FUNCTION = "exact", "estimated", "content", "function-words"
FAMILIES = (Family("topics and states", (MODEL, HMM), FOLDED, TOKENS, {MODEL: "LDA-HMM"}),)


def training_documents(job: Job, number: int) -> Corpus:
    """Return the first training documents of a random order, in the corpus's order, over their own words."""
    training, _ = job.split()
    chosen = job.sample(training, number, "lda-hmm-documents")
    return chosen.over(tuple(chosen.vocabulary[w] for w in np.unique(chosen.tokens)))[0]


def fit(training: Corpus, settings: Sequences | Roles, K: int, C: int, random: np.random.Generator) -> LDAHMM:
    """Return LDA-HMM of K topics and C further states, fitted."""
    return LDAHMM.of(settings, K, n_states=C, random_state=random).fit(training)


def function_words(training: Corpus, spread: float) -> Ints:
    """Return the words that occur in at least the share `spread` of the documents."""
    share = (training.counts() > 0).sum(axis=0) / training.n_documents
    return np.flatnonzero(share >= spread)


def most_probable(rows: Floats, number: int) -> Ints:
    """Return the most probable words of every row, (K, number)."""
    return np.argsort(-rows, axis=1, kind="stable")[:, :number]


def experiment(job: Job, settings: Sequences) -> Results:
    """Fit and score the three models at every K; raises InputError as the models and evaluators do."""
    training = training_documents(job, settings.documents)
    _, test, _ = documents(job)
    test, left_out = test.over(training.vocabulary)
    first = test.with_streams([test.document(d)[: settings.checked] for d in range(test.n_documents)], test.documents)
    frequent = function_words(training, settings.spread)
    recorder = job.recorder(documents=test.documents, chain="0", tokens_left_out=left_out)
    fits = [(HMM, 1, settings.states)]
    fits += [(model, K, C) for K in settings.topics for model, C in ((MODEL, settings.states), (LDA, 0))]

    for model, K, C in fits:
        random, row = partial(job.generator, model=model, topics=K), recorder.at(model=model, topics=K)
        fitted = fit(training, settings, K, C, random("lda-hmm"))
        parameters = fitted.parameters_
        if settings.exact_topics >= K:
            row.score(LIKELIHOOD, lda_hmm_marginal(parameters, test))
        else:
            likelihood = lda_hmm_sampled(parameters, test, settings.samples, random("lda-hmm-samples"))
            row.score(LIKELIHOOD, likelihood, samples=settings.samples)
        row.score(USUAL, lda_hmm_folded_in(parameters, test, settings.fold_in_iterations))
        if model == MODEL and settings.checked_topics >= K:
            row.per_token(EXACT, lda_hmm_marginal(parameters, first))
            row.per_token(ESTIMATED, lda_hmm_sampled(parameters, first, settings.samples, random("lda-hmm-check")))
        row.measure(CONTENT, fitted.content_.mean())
        shown = most_probable(parameters.topics, settings.shown)
        row.measure(FUNCTION, np.isin(shown, frequent).mean())
    return recorder.results
