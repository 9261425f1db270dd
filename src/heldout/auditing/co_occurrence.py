"""Co-occurrence of documents' words, compared with a model's topics.

How often words occur does not tell where words stand in order of frequency, in the model and in the documents: numbers
that are off by one, or of another corpus, then fall as the model's do. Which words occur together tells.

Weights of the topics, and of a uniform one beside them, are fitted by EM to every document of a sample C, and to all of
them together. What documents gain by weights of their own,

    g(C) = sum_d max_theta sum_v n_dv log sum_k theta_k phi_kv  -  max_theta sum_dv n_dv log sum_k theta_k phi_kv,

they gain in part by chance: with several topics any bag of words is fitted better than all words together. So g is also
taken of the same documents with words exchanged, each for one of nearly its frequency: these have the same lengths,
frequencies and repetitions, but not the topics' words together. The co-occurrence is the share of the gain that is not
by chance, 1 - mean_j g(C pi_j) / g(C): 1 at most, and about 0 where words are other words than the model's.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.priors import prior_of
from heldout.seeds import generator
from heldout.topics import AnyTopics, Topics
from heldout.typing import Floats, Ints

STEPS = 10  # steps of EM from equal weights
PERMUTATIONS = 8
RANKS = 8  # ranks that words are exchanged within, about
MOST_DOCUMENTS, MOST_TOKENS, CUT = (
    100,
    10_000,
    400,
)  # largest numbers of a sample's documents, of its tokens and of one document's
LEAST_CO_OCCURRENCE = 0.2  # co-occurrence of documents like the model's own: see benchmarks/guard.py
FLAT = 0.98  # entropy, over log V, from which a topic is nearly uniform
TELLING = 0.03  # nats per token that the model's draws gain, not by chance: less tells nothing


def sample_of(documents: Corpus) -> tuple[Corpus, Ints]:
    """Return the first documents with tokens, each cut to `CUT` tokens, and their places, (D,).

    They are at most `MOST_DOCUMENTS`; none is added beyond `MOST_TOKENS`.
    """
    places = np.flatnonzero(documents.lengths)[:MOST_DOCUMENTS]
    tokens_before = np.cumsum(np.minimum(documents.lengths[places], CUT)) - np.minimum(documents.lengths[places], CUT)
    places = places[tokens_before < MOST_TOKENS]
    cut = [documents.document(d)[:CUT] for d in places.tolist()]
    return documents.with_streams(cut, tuple(documents.documents[d] for d in places.tolist())), places


class CoOccurrence(NamedTuple):
    """Gain of documents by weights of their own that is not by chance: its share of the gain, and nats per token."""

    share: float
    gain: float


def co_occurrence(phi: Floats, sample: Corpus) -> CoOccurrence:
    """Return the co-occurrence of a sample's words under topics (see the module).

    Args:
        phi: (K, V) p(w | z).
        sample: documents; two have a token.
    """
    used, tokens = np.unique(sample.tokens, return_inverse=True)
    p = np.column_stack([phi[:, used].T, np.full(len(used), 1.0 / phi.shape[1])])
    bounds = zip(sample.offsets[:-1].tolist(), sample.offsets[1:].tolist(), strict=True)
    documents = [np.unique(tokens[start:end], return_counts=True) for start, end in bounds if end > start]
    total = np.bincount(tokens)

    rng, ranks = generator("audit-co-occurrence"), np.arange(len(used))
    places = [ranks]
    for _ in range(PERMUTATIONS):
        order = np.lexsort((rng.random(len(used)), -total))  # words that occur equally often in a random order
        places.append(np.empty_like(ranks))
        places[-1][order] = order[np.argsort(ranks + rng.uniform(0.0, RANKS, len(used)), kind="stable")]
    exchanged = np.array(places)
    gains = -np.concatenate([_most(p[order][None], total) for order in exchanged])
    for words, counts in documents:
        gains += _most(p[exchanged[:, words]], counts)
    more = float(gains[0] - gains[1:].mean())
    return CoOccurrence(more / float(gains[0]) if gains[0] > 0.0 else 0.0, more / len(tokens))


def _most(p: Floats, counts: Ints) -> Floats:
    """Return the log-likelihoods, (J,) nats, of counts (U,) under the weights of topics p (J, U, K) that fit best."""
    shares, weights = counts / counts.sum(), np.full((len(p), p.shape[2], 1), 1.0 / p.shape[2])
    for _ in range(STEPS):
        weights *= p.transpose(0, 2, 1) @ (shares[:, None] / (p @ weights))
    return np.asarray(np.log(p @ weights)[:, :, 0] @ counts)


def flat_topics(phi: Floats) -> Ints:
    """Return the nearly uniform topics, rows of phi (K, V), as topics are that no document uses."""
    logs = np.log(phi, out=np.zeros_like(phi), where=phi > 0.0)
    return np.flatnonzero(-np.einsum("kv,kv->k", phi, logs) > FLAT * math.log(phi.shape[1]))


def least_co_occurrence(topics: AnyTopics, sample: Corpus, places: Ints) -> float:
    """Return the co-occurrence of documents like the model's own, at least: `LEAST_CO_OCCURRENCE`, or half its draws'.

    -inf where the model's draws gain too little to tell, as those of one topic do, or of topics that are nearly equal.

    Args:
        topics: phi and the prior, from which documents of the sample's lengths are drawn.
        sample: documents.
        places: (D,) theirs among all documents.
    """
    drawn = co_occurrence(topics.phi, draws(topics, sample.lengths, places))
    return min(LEAST_CO_OCCURRENCE, drawn.share / 2.0) if drawn.gain >= TELLING else -math.inf


def draws(topics: AnyTopics, lengths: Ints, places: Ints) -> Corpus:
    """Return documents of lengths (D,), drawn from a model's prior; `places` (D,) are their places among all.

    Under a Dirichlet prior nearly uniform topics, which no document uses, are not drawn.
    """
    model = topics.of_documents(places)
    if isinstance(model, Topics):
        used = np.setdiff1d(np.arange(model.n_topics), flat_topics(model.phi))
        model = replace(model, phi=model.phi[used], alpha=model.alpha[used]) if len(used) else model
    return prior_of(model).simulate(model, lengths, generator("audit-co-occurrence-drawn"))[0]
