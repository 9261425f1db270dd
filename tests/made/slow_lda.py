"""LDA's collapsed Gibbs conditional written out, every count made anew: the twin of whatever is LDA in a special case.

Two computations of one draw differ by rounding alone, some 1e-15 of a running sum: a uniform number falls between them
in one draw of 1e14. So the topics of a few thousand draws are compared one by one, without a tolerance.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.typing import Floats

Whole = Sequence[int] | NDArray[np.integer[Any]]


def slow_sweep(
    tokens: Whole,
    rows: Whole,
    alphas: Floats,
    gamma: float,
    q: Whole,
    uniforms: Floats,
    V: int,
    lanes: int = 1,
) -> list[int]:
    """Draw the topic of every token once, in order, in proportion to

        (c_ik + alpha_ik) (c_vk + gamma) / (c_k + V gamma),

    counts of the other tokens alone; by inversion of sums over the topics lane by lane.

    Tokens are (N,) words in the (N,) documents `rows`, whose Dirichlet parameters are `alphas`, (D, K), 0 for a topic
    that a document does not have; q, (N,), are topics, -1 where a token has none yet.
    """
    q, order = [int(k) for k in q], np.argsort(np.arange(alphas.shape[1]) % lanes, kind="stable")
    for i, (w, d) in enumerate(zip(tokens, rows, strict=True)):
        others = [j for j in range(len(tokens)) if j != i and q[j] >= 0]
        weights = []
        for k in range(alphas.shape[1]):
            same = [j for j in others if q[j] == k]
            own, of_word = (sum(1 for j in same if rows[j] == d), sum(1 for j in same if tokens[j] == w))
            has = alphas[d, k] > 0.0
            weights.append((own + alphas[d, k]) * (of_word + gamma) / (len(same) + V * gamma) if has else 0.0)
        sums = np.cumsum(np.array(weights)[order])
        q[i] = int(order[np.searchsorted(sums, uniforms[i] * sums[-1], side="right")])
    return q


def slow_lda(
    corpus: Corpus, K: int, alpha: float, gamma: float, sweeps: int, averaged: int, seed: int
) -> tuple[Floats, Floats]:
    """Return LDA's topics, (K, V), and shares of topics in documents, (D, K), by a chain from random topics.

    Both are from counts averaged over the last `averaged` sweeps: topics are (c_vk + gamma) / (c_k + V gamma), shares
    c_ik / L_i.
    """
    random, V, D = np.random.default_rng(seed), corpus.n_words, corpus.n_documents
    rows = np.repeat(np.arange(D), corpus.lengths)
    q = random.integers(K, size=corpus.n_tokens).tolist()
    in_word, in_document, alphas = np.zeros((K, V)), np.zeros((D, K)), np.full((D, K), alpha)
    for sweep in range(sweeps):
        q = slow_sweep(corpus.tokens, rows, alphas, gamma, q, random.random(corpus.n_tokens), V)
        if sweep >= sweeps - averaged:
            np.add.at(in_word, (np.array(q), corpus.tokens), 1.0)
            np.add.at(in_document, (rows, np.array(q)), 1.0)
    topics = in_word / averaged + gamma
    shares = in_document / averaged / np.maximum(corpus.lengths, 1)[:, None]
    return topics / topics.sum(axis=1, keepdims=True), shares
