"""Supervised LDA (27.65, 27.66): the label's likelihood given the words, exactly, beside LDA with a regression.

Of "slda" and of "lda-regression", whose topics do not know the labels, at each K, in nats of a held-out document's
label; a document has one "token", its label:

    likelihood    log p(c | w), exact
    usual-score   log p(c | q-bar) of one state, a draw from the exact posterior

on the documents within the limit, the same for both; and of "label-frequency", the share of labels in training, the
likelihood. Measured, on the axis "topics":

    words         log p(w), exact, nats per token
    within        the share of documents within the limit
    accuracy      the share of them whose label is the more probable one
"""

import math

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.models.slda import SLDA
from gallery.extensions.spec import Supervised
from gallery.member import ANSWERS, LIKELIHOOD, STATE, USUAL, Family
from gallery.tokens.members.data import documents
from heldout.corpora.responses import labels_of
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.slda_marginal import slda_marginal
from heldout.typing import Floats

MODEL, REGRESSION, FREQUENCY = "slda", "lda-regression", "label-frequency"
WORDS, WITHIN_LIMIT, ACCURACY = "words", "within", "accuracy"
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
    recorder = job.recorder(chain="0")
    share = training_labels.mean()
    frequency = np.where(test_labels == 1, math.log(share), math.log1p(-share))
    row = recorder.at(model=FREQUENCY, documents=test.documents, chain="none")
    row.score(LIKELIHOOD, single_responses(frequency))
    for K in settings.topics:
        for model, feedback in ((MODEL, True), (REGRESSION, False)):
            fitted = SLDA.of(
                settings, K, feedback=feedback, random_state=job.generator("slda", topics=K, model=model)
            ).fit(training, training_labels)
            topics = fitted.topics(training.vocabulary)
            found = slda_marginal(
                topics, fitted.weights_, test, test_labels, job.generator("slda-state", topics=K), limit=settings.limit
            )
            known = found.known
            row = recorder.at(model=model, topics=K, documents=tuple(test.documents[d] for d in known))
            row.score(LIKELIHOOD, single_responses(found.label[known]))
            row.score(USUAL, single_responses(found.state[known]), samples=1)
            tokens = found.tokens[known].sum()
            for quantity, value in (
                (WORDS, found.words[known].sum() / max(tokens, 1)),
                (WITHIN_LIMIT, len(known) / test.n_documents),
                (ACCURACY, (found.label[known] > math.log(0.5)).mean() if len(known) else math.nan),
            ):
                row.measure(quantity, value)
    return recorder.results
