"""DiscLDA (27.67): classes of held-out documents, by the likelihood and by folding in.

Trained on some documents of each of some newsgroups. The class has the posterior p(c | w) ∝ p(w | c), for there are as
many documents of each. In nats of a held-out document's class, one "token",

    likelihood    log p(c | w) with p(w | c) exact to `exact_topics` topics of a document, the reference beyond
    usual-score   the same with p(w | c) at the weights of greatest likelihood under each class

of

    disclda       A_c in block form
    disclda-em    A_c by EM
    disclda-conditional   A_c by the conditional likelihood from there
    apart         no common topics: an LDA for each class
    naive-bayes   one topic to a class

Measured, on the axis "topics":

    words               log p(w | c), nats per token
    left-out            the share of test tokens whose word is left out
    error, usual-error  the share of documents to which another class than their own is more probable
"""

import numpy as np
from scipy.special import logsumexp, softmax

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
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.reference import reference
from heldout.typing import Floats, Ints

BLOCKS, LEARNT, BY_CLASS, BAYES = "disclda", "disclda-em", "apart", "naive-bayes"
CONDITIONAL = "disclda-conditional"
WORDS, ERROR, USUAL_ERROR, LEFT_OUT = "words", "error", "usual-error", "left-out"
FAMILIES = (
    Family(
        "classes of documents",
        (BAYES, BY_CLASS, BLOCKS, LEARNT, CONDITIONAL),
        FOLDED,
        ANSWERS,
        {BLOCKS: "DiscLDA, block form: classes", CONDITIONAL: "DiscLDA, conditional: classes"},
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


def with_errors(log_posterior: Floats, parts: list[Evaluation], classes: Ints) -> Evaluation:
    """Return log p(c | w), (D,), with errors from the C estimates of log p(w | c), to second order.

    With the error e_c and the bias m_c of an estimate, g_c = [c = c_d] - p(c | w) and classes' errors independent, the
    variance is sum g_c^2 e_c^2, and the bias sum g_c m_c - sum p(c | w) (1 - p(c | w)) e_c^2 / 2.
    """
    values, errors = (
        np.column_stack([getattr(part, name) for part in parts]) for name in ("log_likelihood", "standard_error")
    )
    biases = np.column_stack([np.zeros(len(values)) if part.bias is None else part.bias for part in parts])
    p = softmax(values, axis=1)
    g = (np.arange(len(parts)) == classes[:, None]) - p
    bias = (g * biases - p * (1.0 - p) * errors**2 / 2.0).sum(axis=1)
    return Evaluation(
        log_posterior, np.ones(len(p), dtype=np.int64), np.sqrt((g**2 * errors**2).sum(axis=1)), bias=bias
    )


def experiment(job: Job, settings: Discriminative) -> Results:
    """Fit the models and score classes; raises InputError as the model and the evaluators do."""
    training, training_classes, test, test_classes, left_out = divided(job, settings)
    recorder = job.recorder(chain="0", documents=test.documents, tokens_left_out=left_out)
    kinds = [(BAYES, 1, 0)]
    for own in settings.own:
        common = own * settings.common
        kinds += [(BY_CLASS, own + common, 0), *((name, own, common) for name in (BLOCKS, LEARNT, CONDITIONAL))]
    for name, class_topics, common_topics in kinds:
        K = class_topics + common_topics
        random = job.generator("disclda", model=LEARNT if name == CONDITIONAL else name, topics=K)
        fitted = DiscLDA.of(
            settings,
            class_topics,
            common=common_topics,
            softening=settings.softening if name in (LEARNT, CONDITIONAL) else 0.0,
            conditional=settings.conditional if name == CONDITIONAL else 0,
            random_state=random,
        ).fit(training.counts(), training_classes)
        topics = [fitted.topics(c, training.vocabulary) for c in range(int(training_classes.max()) + 1)]
        score, exact = job.generator("disclda-score", model=name, topics=K), settings.exact_topics >= K
        parts = [
            exact_marginal(one, test) if exact else reference(one, test, settings.samples, score) for one in topics
        ]
        likelihoods = np.column_stack([part.log_likelihood for part in parts])
        folded = np.column_stack([folded_in_given_length(test, one.phi, settings.fold_in_iterations) for one in topics])
        row = recorder.at(model=name, topics=K)
        for evaluator, quantity, values in ((LIKELIHOOD, ERROR, likelihoods), (USUAL, USUAL_ERROR, folded)):
            log_posterior, error = posterior(values, test_classes)
            estimated = evaluator == LIKELIHOOD and not exact
            scored = with_errors(log_posterior, parts, test_classes) if estimated else single_responses(log_posterior)
            row.score(evaluator, scored, samples=settings.samples if estimated else 0)
            row.measure(quantity, error)
        row.measure(LEFT_OUT, left_out / max(left_out + test.n_tokens, 1))
        row.measure(WORDS, likelihoods[np.arange(len(likelihoods)), test_classes].sum() / test.n_tokens)
    return recorder.results
