"""Section 27.4.4.2: priors that depend on a document's labels, beside LDA, on Reuters' topics and NIPS's volumes.

Every model is scored twice on held-out documents given their labels: folded in, with the weights of greatest
likelihood among the topics that the document has, and by the likelihood under its own prior, which is exact where a
document has few topics and the reference's elsewhere. Recorded as "usual-score" and "likelihood" of

    dmr                     K topics, the labels and a constant as covariates (27.71, 27.72)
    dmr-constant            the same with the constant alone, which is LDA with a fitted prior: at K as DMR, and as
                            labelled LDA has topics
    labelled-lda            a topic to each label
    partially-labelled-lda  subtopics of every label and common topics

A label of too few training documents is left out, and so is a document without another one. Measured of each model on
the axis "topics":

    exact-share     the share of the test documents whose likelihood is exact
    topics-of-one   mean topics that a test document has
"""

from collections.abc import Iterator

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import FOLDED, LIKELIHOOD, TOKENS, USUAL, Family
from gallery.priors.models.dmr import DMR
from gallery.priors.models.labelled_lda import LabelledLDA
from gallery.priors.spec import Covariates
from gallery.tokens.members.data import deterministic, folded_in_given_length
from heldout.corpora.corpus import Corpus
from heldout.corpora.labels import frequent_labels, indicators
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.own_priors import own_priors
from heldout.topics import OwnPriors
from heldout.typing import Floats

REGRESSION, CONSTANT = "dmr", "dmr-constant"
LABELLED, PARTIALLY = "labelled-lda", "partially-labelled-lda"
EXACT_SHARE, TOPICS_OF_ONE = "exact-share", "topics-of-one"
FAMILIES = (
    Family(
        "topics under covariates",
        (REGRESSION, CONSTANT, LABELLED, PARTIALLY),
        FOLDED,
        TOKENS,
        {REGRESSION: "DMR", LABELLED: "labelled LDA", PARTIALLY: "PLDA"},
    ),
)


def split(job: Job, documents: int, words: int, least: int) -> tuple[Corpus, Corpus, tuple[str, ...], int]:
    """Return training and test documents over their words, the labels, and the number of test tokens left out.

    Raises:
        InputError: for a corpus without labels, or where no label is frequent enough.
    """
    rest, test = job.split()
    training = job.sample(rest, documents, "labelled-documents")
    labels = frequent_labels(training, least)
    if not labels:
        raise InputError(f"{job.variant}: no label of {least} training documents or more; take more documents")
    training, test = (half.subset(np.flatnonzero(indicators(half, labels).any(axis=1))) for half in (training, test))
    training, test, left_out = keep_frequent_words(training, test, words)
    return training, test, labels, left_out


def keep_frequent_words(training: Corpus, test: Corpus, words: int) -> tuple[Corpus, Corpus, int]:
    """Return both corpora over the words of most training documents, and the number of test tokens left out."""
    present = np.asarray((training.counts() > 0.0).sum(axis=0)).ravel()
    most = np.sort(np.argsort(-present, kind="stable")[: min(words, int((present > 0).sum()))])
    vocabulary = tuple(training.vocabulary[v] for v in most)
    return training.over(vocabulary)[0], *test.over(vocabulary)


def with_constant(labels: Floats) -> Floats:
    """Return covariates: a constant 1 and the (D, labels) indicators."""
    return np.column_stack([np.ones(len(labels)), labels])


def folded_in(model: OwnPriors, test: Corpus, iterations: int) -> Evaluation:
    """Return the score of every document, nats, at the best weights of its own topics."""
    value, present = np.zeros(test.n_documents), model.alphas > 0.0
    distinct, group = np.unique(present, axis=0, return_inverse=True)
    for g, own in enumerate(distinct):
        places = np.flatnonzero(group == g)
        value[places] = folded_in_given_length(test.subset(places), model.phi[own], iterations)
    return deterministic(value, test)


def experiment(job: Job, settings: Covariates) -> Results:
    """Train the models and score them; raises InputError as they and the evaluators do."""
    training, test, labels, left_out = split(job, settings.documents, settings.words, settings.least)
    counts, words = training.counts(), training.vocabulary
    training_labels, test_labels = indicators(training, labels), indicators(test, labels)
    recorder = job.recorder(chain="0", documents=test.documents, tokens_left_out=left_out)

    def random(model: str, K: int, part: str) -> np.random.Generator:
        return job.generator("covariates", model=model, topics=K, part=part)

    def models() -> Iterator[tuple[str, OwnPriors]]:
        x, x_test = with_constant(training_labels), with_constant(test_labels)
        for name, covariates, numbers in (
            (REGRESSION, x.shape[1], settings.topics),
            (CONSTANT, 1, sorted({*settings.topics, len(labels)})),
        ):
            for K in numbers:
                dmr = DMR.of(settings, K, random_state=random(name, K, "fit")).fit(counts, x[:, :covariates])
                yield name, OwnPriors(dmr.components_, dmr.priors(x_test[:, :covariates]), words)
        for name, subtopics, common in ((LABELLED, 1, 0), (PARTIALLY, settings.subtopics, settings.common)):
            labelled = LabelledLDA.of(
                settings, subtopics, common=common, random_state=random(name, common + len(labels) * subtopics, "fit")
            ).fit(counts, training_labels)
            yield name, OwnPriors(labelled.components_, labelled.priors(test_labels), words)

    for name, model in models():
        row = recorder.at(model=name, topics=model.n_topics)
        likelihood, exact = own_priors(model, test, settings.samples, random(name, model.n_topics, "score"))
        row.score(USUAL, folded_in(model, test, settings.fold_in_iterations))
        row.score(LIKELIHOOD, likelihood, samples=0 if exact.all() else settings.samples)
        row.measure(EXACT_SHARE, exact.mean())
        row.measure(TOPICS_OF_ONE, (model.alphas > 0.0).sum(axis=1).mean())
    return recorder.results
