"""DiscLDA (27.67): classes of held-out documents, by the exact likelihood and by folding in.

Trained on some documents of each of some newsgroups. The class has the posterior p(c | w) ∝ p(w | c), for there are as
many documents of each. In nats of a held-out document's class, one "token",

    likelihood    log p(c | w) with p(w | c) exact
    usual-score   the same with p(w | c) at the weights of greatest likelihood under each class

of

    disclda       A_c in block form
    disclda-em    A_c by EM
    apart         no common topics: an LDA for each class
    naive-bayes   one topic to a class

Measured, on the axis "topics":

    words               log p(w | c), exact, nats per token
    error, usual-error  the share of documents to which another class than their own is more probable
"""

import numpy as np
from scipy.special import logsumexp

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.experiments.slda import single_responses
from gallery.extensions.models.disclda import DiscLDA
from gallery.extensions.spec import Discriminative
from gallery.member import ANSWERS, FOLDED, LIKELIHOOD, USUAL, Family
from gallery.priors.experiments.covariates import keep_frequent_words
from gallery.tokens.members.data import folded_in_given_length
from heldout.corpora.corpus import Corpus
from heldout.corpora.responses import classes_of
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.typing import Floats, Ints

BLOCKS, LEARNT, BY_CLASS, BAYES = "disclda", "disclda-em", "apart", "naive-bayes"
WORDS, ERROR, USUAL_ERROR = "words", "error", "usual-error"
FAMILIES = (
    Family(
        "classes of documents",
        (BAYES, BY_CLASS, BLOCKS, LEARNT),
        FOLDED,
        ANSWERS,
        {BLOCKS: "DiscLDA, block form: classes", LEARNT: "DiscLDA, EM: classes"},
    ),
)


def divided(job: Job, settings: Discriminative) -> tuple[Corpus, Ints, Corpus, Ints, int]:
    """Return training documents and test documents, each with their classes, and the number of test tokens left out.

    Raises:
        InputError: for a corpus with too few classes or documents.
    """
    random = job.generator("disclda-documents")
    classes, lengths = classes_of(job.corpus), job.corpus.lengths
    chosen = np.sort(random.permutation(int(classes.max()) + 1)[: settings.classes])
    both: tuple[list[Ints], list[Ints]] = ([], [])
    for one in chosen:
        places = random.permutation(np.flatnonzero((classes == one) & (lengths > 0) & (lengths <= settings.longest)))
        if len(places) < settings.documents + settings.test_documents:
            raise InputError(f"disclda: {len(places)} documents of a class; take fewer")
        both[0].append(places[: settings.documents])
        both[1].append(places[settings.documents : settings.documents + settings.test_documents])
    training, test = (np.sort(np.concatenate(places)) for places in both)
    halves = keep_frequent_words(job.corpus.subset(training), job.corpus.subset(test), settings.words)
    return (
        halves[0],
        np.searchsorted(chosen, classes[training]),
        halves[1],
        np.searchsorted(chosen, classes[test]),
        halves[2],
    )


def posterior(values: Floats, classes: Ints) -> tuple[Floats, float]:
    """Return log p(c | w), (D,), of (D, C) log p(w | c), and the share of documents with a more probable class."""
    class_values = values[np.arange(len(values)), classes]
    return class_values - logsumexp(values, axis=1), float((values.max(axis=1) > class_values).mean())


def experiment(job: Job, settings: Discriminative) -> Results:
    """Fit the models and score classes; raises InputError as the model and the evaluators do."""
    training, training_classes, test, test_classes, left_out = divided(job, settings)
    recorder = job.recorder(chain="0", documents=test.documents, tokens_left_out=left_out)
    own, common = settings.own, settings.common
    kinds = {BAYES: (1, 0), BY_CLASS: (own + common, 0), BLOCKS: (own, common), LEARNT: (own, common)}
    for name, (class_topics, common_topics) in kinds.items():
        K = class_topics + common_topics
        random = job.generator("disclda", model=name, topics=K)
        fitted = DiscLDA.of(
            settings,
            class_topics,
            common=common_topics,
            softening=settings.softening if name == LEARNT else 0.0,
            random_state=random,
        ).fit(training.counts(), training_classes)
        topics = [fitted.topics(c, training.vocabulary) for c in range(int(training_classes.max()) + 1)]
        exact = np.column_stack([exact_marginal(one, test).log_likelihood for one in topics])
        folded = np.column_stack([folded_in_given_length(test, one.phi, settings.fold_in_iterations) for one in topics])
        row = recorder.at(model=name, topics=K)
        for evaluator, quantity, values in ((LIKELIHOOD, ERROR, exact), (USUAL, USUAL_ERROR, folded)):
            log_posterior, error = posterior(values, test_classes)
            row.score(evaluator, single_responses(log_posterior))
            row.measure(quantity, error)
        words = exact[np.arange(len(exact)), test_classes].sum() / test.n_tokens
        row.measure(WORDS, words)
    return recorder.results
