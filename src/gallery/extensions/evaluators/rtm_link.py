r"""The exact probability of a link given two documents' words, under the relational topic model (Murphy 2012, 27.80).

A link sees the counts C of its documents' topics alone, q-bar = C / L. Given the words and no other link,

    p(R_ij = 1 | w_i, w_j) = sum_{C_i, C_j} p(C_i | w_i) p(C_j | w_j) sigm(w^T (C_i o C_j) / (L_i L_j) + w_0),

with the posterior of counts of `heldout.evaluators.count_polynomial`. Count vectors whose probabilities sum to less
than `LEFT_OUT` are left out of each document, which moves the probability by twice that at most. What is usually
reported is the probability at one state of a sampler, here a draw from p(C_i | w_i) p(C_j | w_j), or at the mean
weights E[pi | w] = (alpha + E[C | w]) / (sum alpha + L).

A link that reads pi in the place of q-bar has the mean over draws of C, and of pi given C from Dir(alpha + C).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gallery.extensions.models.rtm import check_pairs
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import posterior_counts
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.topics import Topics
from heldout.typing import Floats, Ints

LEFT_OUT = 1e-12


class Links(NamedTuple):
    """Log-probabilities of M links, nats, (M,) each: exact, at q-bar of one state, and at the mean weights."""

    exact: Floats
    state: Floats
    mean: Floats


class _Posterior(NamedTuple):
    shares: Floats
    p: Floats
    drawn: Floats
    mean: Floats
    length: int


def rtm_link(
    topics: Topics, weights: Floats, bias: float, documents: Corpus, pairs: Ints, y: Ints, random: np.random.Generator
) -> Links:
    """Return log p(R_ij = y) of the (M, 2) pairs under w, (K,), and w_0 given their words.

    A document without words has q-bar = 0.

    Raises:
        InputError: for weights of another number, bad pairs, or a document with too many count vectors.
    """
    document_posteriors = _posteriors(topics, weights, documents, pairs, y, random)
    exact, state, mean = np.empty((3, len(pairs)))
    for n, (i, j) in enumerate(pairs):
        one, other, sign = document_posteriors[int(i)], document_posteriors[int(j)], 2.0 * y[n] - 1.0
        exact[n] = math.log(one.p @ expit(sign * ((one.shares * weights) @ other.shares.T + bias)) @ other.p)
        for values, (a, b) in ((state, (one.drawn, other.drawn)), (mean, (one.mean, other.mean))):
            values[n] = -np.logaddexp(0.0, -sign * (float(weights @ (a * b)) + bias))
    return Links(exact, state, mean)


def rtm_link_of_weights(
    topics: Topics,
    weights: Floats,
    bias: float,
    documents: Corpus,
    pairs: Ints,
    y: Ints,
    random: np.random.Generator,
    draws: int,
) -> tuple[Evaluation, Links]:
    """Return log p(R_ij = y) of links that read pi, estimated by `draws`, with its error; and all three forms.

    Raises:
        InputError: as `rtm_link` does, or for fewer than 2 draws.
    """
    if draws < 2:
        raise InputError(f"relational topic model: {draws} draws of the weights; give at least 2")
    document_posteriors = _posteriors(topics, weights, documents, pairs, y, random)
    drawn = {}
    for d, own in document_posteriors.items():
        counts = own.shares[random.choice(len(own.p), draws, p=own.p)] * own.length
        gammas = random.standard_gamma(counts + topics.alpha)
        drawn[d] = gammas / gammas.sum(axis=1, keepdims=True)
    value, error, state, mean = np.empty((4, len(pairs)))
    for n, (i, j) in enumerate(pairs):
        sign = 2.0 * y[n] - 1.0
        p = expit(sign * ((drawn[int(i)] * drawn[int(j)]) @ weights + bias))
        value[n], error[n] = math.log(p.mean()), p.std(ddof=1) / math.sqrt(draws) / p.mean()
        state[n] = math.log(p[0])
        mean[n] = -np.logaddexp(
            0.0, -sign * (float(weights @ (document_posteriors[int(i)].mean * document_posteriors[int(j)].mean)) + bias)
        )
    evaluation = Evaluation(value, np.ones(len(pairs), dtype=np.int64), error)
    return evaluation, Links(value, state, mean)


def _posteriors(
    topics: Topics, weights: Floats, documents: Corpus, pairs: Ints, y: Ints, random: np.random.Generator
) -> dict[int, _Posterior]:
    """Return the posterior of counts of every document that belongs to a pair."""
    K = topics.n_topics
    if weights.shape != (K,):
        raise InputError(f"relational topic model: weights of shape {weights.shape}; give {K}")
    check_pairs(pairs, y, documents.n_documents)
    documents, _ = in_vocabulary(documents, topics)
    uniforms = random.random(documents.n_documents)
    return {
        d: _posterior(topics, documents.document(d).astype(np.int64), uniforms[d]) for d in map(int, np.unique(pairs))
    }


def _posterior(topics: Topics, tokens: NDArray[np.int32], uniform: float) -> _Posterior:
    """Return q-bar of the count vectors of any weight, their probabilities, a draw of them, and E[pi | w]."""
    _, counts, p = posterior_counts(topics.phi_by_word[tokens], topics.alpha)
    order = np.argsort(p, kind="stable")
    order = order[np.cumsum(p[order]) >= LEFT_OUT]
    counts, p = counts[order], p[order] / p[order].sum()
    shares = counts / max(len(tokens), 1)
    drawn = shares[min(int(np.searchsorted(np.cumsum(p), uniform)), len(p) - 1)]
    mean = (topics.alpha + p @ counts) / (topics.alpha.sum() + len(tokens))
    return _Posterior(shares, p, drawn, mean, len(tokens))
