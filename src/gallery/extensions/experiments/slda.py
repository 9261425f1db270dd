"""Supervised LDA (27.65, 27.66): the label's likelihood given the words, beside LDA with a regression.

Of "slda" and of "lda-regression", whose topics do not know the labels, at each K, in nats of a held-out document's
label; a document has one "token", its label:

    likelihood    log p(c | w), exact to `exact_topics`, by states of Gibbs chains given the words beyond
    usual-score   log p(c | q-bar) of one state: a draw from the exact posterior, and beyond, the end of a chain

and of "label-frequency", the share of labels in training, the likelihood. All are of all test documents. Measured, on
the axis "topics":

    words               log p(w), exact or the reference, with its error, nats per token
    accuracy            the share of documents whose label is the more probable one
    estimated, exact    the estimate by states, and the exact value, where there are both, nats per label
"""

import math

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.models.slda import SLDA
from gallery.extensions.spec import Supervised
from gallery.member import ANSWERS, LIKELIHOOD, STATE, USUAL, Family
from gallery.tokens.members.data import deterministic, documents
from heldout.corpora.responses import labels_of
from heldout.evaluators import EXACT
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.reference import reference
from heldout.evaluators.slda_marginal import slda_marginal, slda_sampled
from heldout.typing import Floats

MODEL, REGRESSION, FREQUENCY = "slda", "lda-regression", "label-frequency"
WORDS, ACCURACY, ESTIMATED = "words", "accuracy", "estimated"
FAMILIES = (Family("labels given words", (MODEL, REGRESSION, FREQUENCY), STATE, ANSWERS, {MODEL: "sLDA: labels"}),)


def single_responses(values: Floats) -> Evaluation:
    """Return the evaluation of responses, one to a case, (N,) nats."""
    return Evaluation.deterministic(values, np.ones(len(values), dtype=np.int64))


def experiment(job: Job, settings: Supervised) -> Results:
    """Fit both models and score labels; raises InputError for a corpus without labels."""
    training, test, _ = documents(job)
    labels = dict(zip(job.corpus.documents, labels_of(job.corpus), strict=True))
    training_labels, test_labels = (
        np.array([labels[document] for document in part.documents]) for part in (training, test)
    )
    recorder = job.recorder(chain="0", documents=test.documents)
    share = training_labels.mean()
    frequency = np.where(test_labels == 1, math.log(share), math.log1p(-share))
    recorder.at(model=FREQUENCY, chain="none").score(LIKELIHOOD, single_responses(frequency))
    for K in settings.topics:
        for model, feedback in ((MODEL, True), (REGRESSION, False)):
            fitted = SLDA.of(
                settings, K, feedback=feedback, random_state=job.generator("slda", topics=K, model=model)
            ).fit(training, training_labels)
            topics, random = fitted.topics(training.vocabulary), job.generator("slda-state", topics=K)
            row, samples = recorder.at(model=model, topics=K), settings.chains * settings.states
            given = (topics, fitted.weights_, test, test_labels, random)
            label, state = slda_sampled(*given, chains=settings.chains, states=settings.states)
            if settings.exact_topics >= K:
                found = slda_marginal(*given)
                row.per_token(ESTIMATED, label)
                label, state, samples = single_responses(found.label), found.state, 0
                row.per_token(EXACT, label)
                words = deterministic(found.words, test)
            else:
                words = reference(topics, test, settings.samples, random)
            row.score(LIKELIHOOD, label, samples=samples)
            row.score(USUAL, single_responses(state), samples=1)
            row.per_token(WORDS, words)
            row.measure(ACCURACY, (label.log_likelihood > math.log(0.5)).mean())
    return recorder.results
