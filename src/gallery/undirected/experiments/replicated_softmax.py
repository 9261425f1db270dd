"""Figures 27.32 and 27.33: the replicated softmax beside LDA, by perplexity and by retrieval.

The words are the most frequent ones of the training documents. The newsgroups are divided by date, as the chapter's
are; of other corpora the split is the study's. With the evaluator "likelihood" are scored, on some test documents,

    unigram             the words' shares, with the pseudo-count gamma
    lda                 at every K of `topics`, by collapsed Gibbs sampling with estimated priors: the reference
    replicated-softmax  with `hidden` units (annealed) and with `exact_hidden` (exact), by contrastive divergence

The share `validation` of the training documents trains nothing, the unigram neither, but says when to stop: passes of
the machines are doubled from `epochs`, sweeps of LDA from `sweeps`, each stage going on from where the last one ended
(the machines' rate falls from `learning_rate` to 0 in each), until their likelihood is lower than before; the best
stage is kept. Test documents play no part in it. A search that ends at `doublings` before that is censored. Of both
models are measured "validation", nats per token, on the axis "trained", and on the axis "topics" "chosen", the kept
number of passes or sweeps, and "censored", 1 or 0.

A score sums over tokens; equation 27.29 averages over documents first, which is measured as "per-document-likelihood",
nats per token, on the axis "topics"; of the unigram also over all test documents, as "per-document-all". Of the exact
machine log Z_L is measured on the axis "length" for every length L that is scored, as "log-z" and as "log-z-annealed".

Of the newsgroups, whose documents have labels ("group/name"), the `searched` training documents are ranked for each
of `queries` test documents by the cosine of E[h | v], or of LDA's mean-field posterior means; relevant are those of the
same group.
Measured of "lda" and "replicated-softmax" are the means over queries of

    average-precision           on the axis "topics"
    precision, recall           of the first M documents, on the axis "retrieved"
"""

import copy
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.member import LIKELIHOOD, Family
from gallery.undirected.spec import ReplicatedSoftmax
from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.log_partition import log_likelihood, log_partitions
from heldout.evaluators.log_partition_annealed import log_partitions_annealed
from heldout.evaluators.posterior_mean import posterior_mean
from heldout.evaluators.reference import reference
from heldout.models.harmonium_units import MULTINOMIAL
from heldout.models.lda import LDA
from heldout.models.rbm import CD, RBM
from heldout.seeds import generator
from heldout.typing import Floats, Ints

UNIGRAM, SOFTMAX = "unigram", "replicated-softmax"
PER_DOCUMENT, PER_DOCUMENT_ALL = "per-document-likelihood", "per-document-all"
LOG_Z, LOG_Z_ANNEALED, LENGTH = "log-z", "log-z-annealed", "length"
AVERAGE_PRECISION, PRECISION, RECALL, RETRIEVED = "average-precision", "precision", "recall", "retrieved"
VALIDATION, CHOSEN, CENSORED, TRAINED = "validation", "chosen", "censored", "trained"
TRAIN, TEST = "train-", "test-"  # prefixes of the parts of the newsgroups in documents' names
FAMILIES = (Family("replicated softmax", (SOFTMAX, UNIGRAM), None),)
Fitted = TypeVar("Fitted")


class Divided(NamedTuple):
    """Documents to train on, all held-out ones, the scored part of them, and whether they are divided by date."""

    training: Corpus
    test: Corpus
    scored: Corpus
    by_date: bool


class Model(NamedTuple):
    """A fitted model: its K, likelihood, samples, and vectors of documents, (D, K), of one that retrieves."""

    name: str
    topics: int
    likelihood: Evaluation
    samples: int = 0
    vectors: Callable[[Corpus], Floats] | None = None


def divided(job: Job, settings: ReplicatedSoftmax) -> Divided:
    """Return the documents over their most frequent words, without the documents that have none of them."""
    corpus, names = job.corpus, [name.rpartition("/")[2] for name in job.corpus.documents]
    by_date = [[d for d, name in enumerate(names) if name.startswith(part)] for part in (TRAIN, TEST)]
    training, test = (corpus.subset(part) for part in by_date) if all(by_date) else job.split()
    random = generator("replicated-softmax-documents", corpus=corpus.name, seed=job.seed)
    training = _sample(training, settings.training_documents.get(corpus.name, training.n_documents), random)
    counts = np.asarray(training.counts().sum(axis=0)).ravel()
    most = settings.words.get(corpus.name, len(counts))
    frequent = np.sort(np.argsort(-counts, kind="stable")[: min(most, int((counts > 0).sum()))])
    words = tuple(corpus.vocabulary[w] for w in frequent)
    training, test = (part.over(words)[0] for part in (training, test))
    training, test = (part.subset(np.flatnonzero(part.lengths)) for part in (training, test))
    return Divided(training, test, _sample(test, settings.documents, random), all(by_date))


def _sample(corpus: Corpus, most: int, random: np.random.Generator) -> Corpus:
    return corpus.subset(random.permutation(corpus.n_documents)[:most])


def experiment(job: Job, settings: ReplicatedSoftmax) -> Results:
    """Train all models, score them and retrieve documents by them; raises InputError as they do."""
    everything, test, scored, grouped = divided(job, settings)
    order = job.generator("replicated-softmax-validation").permutation(everything.n_documents)
    away = max(1, round(settings.validation * everything.n_documents))
    validation, training = everything.subset(order[:away]), everything.subset(order[away:])
    words = training.vocabulary
    counts, held_out, lengths = training.counts(), scored.counts(), scored.lengths
    recorder = job.recorder(documents=scored.documents)
    queries, searched = test, training
    if grouped:
        random = job.generator("replicated-softmax-queries")
        queries, searched = _sample(test, settings.queries, random), _sample(training, settings.searched, random)

    def lda(K: int) -> Model:
        random = job.generator("replicated-softmax-lda", topics=K)

        def further(chain: LDA | None, sweeps: int) -> LDA:
            every = settings.optimise_every
            alpha, beta = (settings.alpha, settings.gamma) if chain is None else (chain.alpha_, chain.beta_)
            model = LDA(K, alpha=alpha, beta=beta, sweeps=sweeps, optimise_every=every, random_state=random)
            return model.fit(training, assignments=None if chain is None else chain.assignments_)

        def likelihood(model: LDA, documents: Corpus) -> Evaluation:
            return reference(model.topics(words), documents, settings.samples, random)

        row = recorder.at(model=models.LDA, topics=K)
        model = _until_it_turns(row, further, likelihood, validation, settings.sweeps, settings.doublings)
        vectors = partial(posterior_mean, model.topics(words)) if settings.hidden == K else None
        return Model(models.LDA, K, likelihood(model, scored), settings.samples, vectors)

    def softmax(K: int) -> Model:
        random = job.generator("replicated-softmax", hidden=K)
        exact, row = settings.exact_hidden == K, recorder.at(model=SOFTMAX, topics=K)

        def further(machine: RBM | None, epochs: int) -> RBM:
            machine = _machine(settings, K, random) if machine is None else copy.copy(machine)
            machine.epochs = epochs
            return machine.fit(counts)

        def annealed(machine: RBM, lengths: Ints) -> tuple[Floats, Floats]:
            return log_partitions_annealed(machine, lengths, settings.annealed_chains, settings.temperatures, random)

        def likelihood(machine: RBM, documents: Corpus) -> Evaluation:
            known = (log_partitions(machine, documents.lengths),) if exact else annealed(machine, documents.lengths)
            return log_likelihood(machine, documents.counts(), *known)

        machine = _until_it_turns(row, further, likelihood, validation, settings.epochs, settings.doublings)
        if not exact:
            vectors = lambda documents: machine.hidden_means(documents.counts())  # noqa: E731
            return Model(SOFTMAX, K, likelihood(machine, scored), settings.annealed_chains, vectors)
        for L, one, value, error in sorted(
            set(zip(lengths, log_partitions(machine, lengths), *annealed(machine, lengths), strict=True))
        ):
            row.measure(LOG_Z, one, axis=LENGTH, position=L)
            row.measure(LOG_Z_ANNEALED, value, axis=LENGTH, position=L, error=error)
        return Model(SOFTMAX, K, likelihood(machine, scored))

    def every_model() -> Iterator[Model]:
        yield Model(UNIGRAM, 1, Evaluation.deterministic(held_out @ log_shares, lengths))
        per_token = (test.counts() @ log_shares) / test.lengths
        recorder.at(model=UNIGRAM, topics=1).measure(PER_DOCUMENT_ALL, per_token.mean())
        for K in settings.topics:
            yield lda(K)
        for K in (settings.hidden, settings.exact_hidden):
            yield softmax(K)

    shares = np.asarray(counts.sum(axis=0)).ravel() + settings.gamma
    log_shares = np.log(shares / shares.sum())
    relevant = np.array([[_group(q) == _group(d) for d in searched.documents] for q in queries.documents])
    for model in every_model():
        row, evaluation = recorder.at(model=model.name, topics=model.topics), model.likelihood
        row.score(LIKELIHOOD, evaluation, samples=model.samples)
        bias = 0.0 if evaluation.bias is None else evaluation.bias
        errors = np.hypot(evaluation.standard_error, bias) / lengths
        row.measure(PER_DOCUMENT, (evaluation.log_likelihood / lengths).mean(), error=errors.mean())
        if grouped and model.vectors is not None:
            average, precision, recall = ranked(model.vectors(queries), model.vectors(searched), relevant)
            row.measure(AVERAGE_PRECISION, average)
            for M in (2**i for i in range(len(precision).bit_length())):
                row.measure(PRECISION, precision[M - 1], axis=RETRIEVED, position=M)
                row.measure(RECALL, recall[M - 1], axis=RETRIEVED, position=M)
    return recorder.results


def _until_it_turns(
    row: Recorder,
    further: Callable[[Fitted | None, int], Fitted],
    likelihood: Callable[[Fitted, Corpus], Evaluation],
    validation: Corpus,
    first: int,
    doublings: int,
) -> Fitted:
    """Return the stage of training of greatest likelihood of the validation documents; record all of them.

    `further` takes the last stage, or None, and the number of passes or sweeps to add; in all there are `first` of
    them, then twice as many, up to `doublings` times, until the likelihood falls.
    """
    best, model, chosen, trained, turned = -math.inf, None, 0, 0, False
    kept = None
    for stage in range(doublings + 1):
        model = further(model, first * 2**stage - trained)
        trained = first * 2**stage
        value = float(likelihood(model, validation).log_likelihood.sum()) / validation.n_tokens
        row.measure(VALIDATION, value, axis=TRAINED, position=trained)
        if value < best:
            turned = True
            break
        best, kept, chosen = value, model, trained
    row.measure(CHOSEN, chosen)
    row.measure(CENSORED, not turned)
    assert kept is not None  # the first value is above minus infinity
    return kept


def _machine(settings: ReplicatedSoftmax, K: int, random: np.random.Generator) -> RBM:
    return RBM(
        K,
        visible=MULTINOMIAL,
        negative=CD,
        steps=settings.steps,
        batch=settings.batch,
        learning_rate=settings.learning_rate,
        random_state=random,
        warm_start=True,
    )


def _group(name: str) -> str:
    return name.partition("/")[0]


def ranked(queries: Floats, searched: Floats, relevant: Any) -> tuple[float, Floats, Floats]:
    """Rank documents by cosine for each query.

    Of vectors (Q, K) and (D, K), and (Q, D) booleans, all queries with a relevant document count.

    Returns:
        The mean average precision; precision and recall of the first M = 1 .. D documents, (D,), means over queries.
    """
    unit, other = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300) for x in (queries, searched))
    order = np.argsort(-(unit @ other.T), axis=1, kind="stable")
    hits = np.take_along_axis(relevant, order, axis=1)[relevant.any(axis=1)]
    found, retrieved = hits.cumsum(axis=1), np.arange(1, hits.shape[1] + 1)
    precision, total = found / retrieved, hits.sum(axis=1, keepdims=True)
    average = (precision * hits).sum(axis=1) / total[:, 0]
    return float(average.mean()), precision.mean(axis=0), (found / total).mean(axis=0)
