r"""The probability of a link given two documents' words, under the relational topic model (Murphy 2012, 27.80).

A link sees the counts C of its documents' topics alone, q-bar = C / L. Given the words and no other link,

    p(R_ij = 1 | w_i, w_j) = sum_{C_i, C_j} p(C_i | w_i) p(C_j | w_j) sigm(w^T (C_i o C_j) / (L_i L_j) + w_0),

with the posterior of counts of `heldout.evaluators.count_polynomial`. Count vectors whose probabilities sum to less
than `LEFT_OUT` are left out of each document, which moves the probability by twice that at most. What is usually
reported is the probability at one state of a sampler, here a draw from p(C_i | w_i) p(C_j | w_j), or at the mean
weights E[pi | w] = (alpha + E[C | w]) / (sum alpha + L).

Where the sums cost too much, the mean is over states of a sampler given the words. A link that reads pi in the place of
q-bar has the mean over these states and a draw of pi given each, from Dir(alpha + C).
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from gallery.extensions.models.rtm import check_pairs
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import posterior_counts
from heldout.evaluators.evaluation import Evaluation, corrected, in_vocabulary
from heldout.evaluators.topic_states import topic_states
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


def rtm_link_sampled(
    topics: Topics,
    weights: Floats,
    bias: float,
    documents: Corpus,
    pairs: Ints,
    y: Ints,
    random: np.random.Generator,
    *,
    chains: int,
    states: int,
    reads: Literal["topics", "weights"] = "topics",
) -> tuple[Evaluation, Links]:
    """Return estimates of log p(R_ij = y), nats, for any number of topics, with their errors; and all three forms.

    The mean of the link's probability over all pairs of states of the documents' Gibbs chains given the words,
    corrected as the logarithm of a mean is. With the mean of chains a of document i and b of j in row a and column b,
    the error is by the spread of rows' and of columns' means. Links that read "weights" have a pi drawn for every
    state.

    Raises:
        InputError: as `rtm_link` and `heldout.evaluators.topic_states.topic_states` do.
    """
    _check(topics, weights, documents, pairs, y)
    asked, places = np.unique(pairs, return_inverse=True)
    drawn = topic_states(topics, documents.subset(asked), chains, states, random)
    pi = drawn.counts + topics.alpha  # E[pi | C] times a number
    means = pi.mean(axis=(1, 2)) / (topics.alpha.sum() + drawn.lengths)[:, None]
    inputs = drawn.shares
    if reads == "weights":
        gammas = random.standard_gamma(pi)
        inputs = gammas / gammas.sum(axis=-1, keepdims=True)
    flat = inputs.reshape(len(asked), chains * states, -1)
    p, error, state, mean = np.empty((4, len(pairs)))
    for n, (i, j) in enumerate(places.reshape(-1, 2)):
        sign = 2.0 * y[n] - 1.0
        each = expit(sign * ((flat[i] * weights) @ flat[j].T + bias))
        by_chain = each.reshape(chains, states, chains, states).mean(axis=(1, 3))
        spread = by_chain.mean(axis=0).var(ddof=1) + by_chain.mean(axis=1).var(ddof=1)
        p[n] = by_chain.mean()
        error[n], state[n] = math.sqrt(spread / chains) / p[n], math.log(each[-1, -1])
        mean[n] = -np.logaddexp(0.0, -sign * (float(weights @ (means[i] * means[j])) + bias))
    evaluation = corrected(Evaluation(np.log(p), np.ones(len(pairs), dtype=np.int64), error))
    return evaluation, Links(evaluation.log_likelihood, state, mean)


def _check(topics: Topics, weights: Floats, documents: Corpus, pairs: Ints, y: Ints) -> None:
    """Raise InputError for weights that are not (K,) or bad pairs."""
    if weights.shape != (topics.n_topics,):
        raise InputError(f"relational topic model: weights of shape {weights.shape}; give {topics.n_topics}")
    check_pairs(pairs, y, documents.n_documents)


def _posteriors(
    topics: Topics, weights: Floats, documents: Corpus, pairs: Ints, y: Ints, random: np.random.Generator
) -> dict[int, _Posterior]:
    """Return the posterior of counts of every document that belongs to a pair."""
    _check(topics, weights, documents, pairs, y)
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
    return _Posterior(shares, p, drawn, mean)
