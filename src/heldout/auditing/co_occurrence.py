"""Co-occurrence of documents' frequent words, compared with a model's topics.

How often words occur does not tell where words stand in order of frequency, in the model and in the documents: numbers
that are off by one, or of another corpus, then fall as the model's do. Which words occur together tells. It is asked of
frequent words alone (`heldout.auditing.word_order`), since small training sets say little of how others occur together.

Weights of the topics over these words, and of a uniform one beside them, are fitted by EM to every document, and to all
of them together. What documents gain by weights of their own,

    g = sum_d max_theta sum_v n_dv log sum_k theta_k phi_kv  -  max_theta sum_dv n_dv log sum_k theta_k phi_kv,

they gain in part by chance: with several topics any bag of words is fitted better than all words together. So g is also
taken of the same documents with words exchanged, each for one of nearly its frequency: these have the same lengths,
frequencies and repetitions, but not the topics' words together. The score is g less their mean, in standard deviations
of one of them, g itself being one: about 0, Student's, where words are other words than the model's. Where that of
documents that are drawn from the model is low, too, as of one topic, it tells nothing.
"""

import math
from dataclasses import replace

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.priors import prior_of
from heldout.seeds import generator
from heldout.topics import AnyTopics, Topics
from heldout.typing import Floats, Ints

STEPS = 10  # steps of EM from equal weights
PERMUTATIONS = 8
RANKS = 8  # ranks that words are exchanged within, about
MOST_DOCUMENTS = 300  # largest number of documents that are looked at
FLAT = 0.98  # entropy, over log V, from which a topic is nearly uniform


def co_occurrence(topics: AnyTopics, documents: Corpus, words: Ints, *, drawn: bool = False) -> float:
    """Return the score of words' co-occurrence in the first documents that have tokens (see the module).

    Args:
        topics: phi and the prior.
        documents: documents over the model's words.
        words: (F,) frequent words.
        drawn: whether to draw documents of the same lengths from the model, for the score that is expected.
    """
    places = np.flatnonzero(documents.lengths)[:MOST_DOCUMENTS]
    if len(words) < 2 or len(places) < 2:
        return 0.0
    phi = topics.phi[:, words] / np.maximum(topics.phi[:, words].sum(axis=1, keepdims=True), np.finfo(float).tiny)
    sample = draws(topics, documents.lengths[places], places) if drawn else documents.subset(places)
    return score(phi, sample.counts()[:, words].toarray())


def score(phi: Floats, counts: Floats) -> float:
    """Return the gain of documents by weights of their own, less the mean and over the deviation of exchanged words'.

    Args:
        phi: (K, F) p(w | z), over F words.
        counts: (D, F) how often each occurs in each document.
    """
    total, ranks = counts.sum(axis=0), np.arange(counts.shape[1])
    p = np.column_stack([phi.T, np.full(len(ranks), 1.0 / len(ranks))])
    rng, places = generator("audit-co-occurrence"), [ranks]
    for _ in range(PERMUTATIONS):
        order = np.lexsort((rng.random(len(ranks)), -total))  # words that occur equally often in a random order
        places.append(np.empty_like(ranks))
        places[-1][order] = order[np.argsort(ranks + rng.uniform(0.0, RANKS, len(ranks)), kind="stable")]
    exchanged = p[np.array(places)]  # (1 + PERMUTATIONS, F, K + 1)
    gains = -_most(exchanged, total)
    for document in counts:
        used = document > 0
        gains += _most(exchanged[:, used], document[used])
    deviation = gains[1:].std(ddof=1) * math.sqrt(1.0 + 1.0 / PERMUTATIONS)
    return float((gains[0] - gains[1:].mean()) / max(deviation, 1e-9))


def _most(p: Floats, counts: Floats) -> Floats:
    """Return the log-likelihoods, (J,) nats, of counts (U,) under the weights of topics p (J, U, K) that fit best."""
    shares, weights = counts / max(counts.sum(), 1.0), np.full((len(p), p.shape[2], 1), 1.0 / p.shape[2])
    for _ in range(STEPS):
        weights *= p.transpose(0, 2, 1) @ (shares[:, None] / (p @ weights))
    return np.asarray(np.log(p @ weights)[:, :, 0] @ counts)


def flat_topics(phi: Floats) -> Ints:
    """Return the nearly uniform topics, rows of phi (K, V), as topics are that no document uses."""
    logs = np.log(phi, out=np.zeros_like(phi), where=phi > 0.0)
    return np.flatnonzero(-np.einsum("kv,kv->k", phi, logs) > FLAT * math.log(phi.shape[1]))


def draws(topics: AnyTopics, lengths: Ints, places: Ints) -> Corpus:
    """Return documents of lengths (D,), drawn from a model's prior; `places` (D,) are their places among all.

    Under a Dirichlet prior nearly uniform topics, which no document uses, are not drawn.
    """
    model = topics.of_documents(places)
    if isinstance(model, Topics):
        used = np.setdiff1d(np.arange(model.n_topics), flat_topics(model.phi))
        model = replace(model, phi=model.phi[used], alpha=model.alpha[used]) if len(used) else model
    return prior_of(model).simulate(model, lengths, generator("audit-co-occurrence-drawn"))[0]
