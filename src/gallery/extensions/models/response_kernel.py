r"""Collapsed Gibbs sweeps of LDA whose topics are also read by binary responses; see `slda` and `rtm`.

A response y_ij of documents i and j has p(y_ij = 1) = sigm(w^T (q-bar_i o q-bar_j) + w_0). That of a label is one of
document i and of a partner whose q-bar is all ones. Of a token of document i, all counts taken without it,

    p(q_il = k | .) ∝ (c_ik + alpha_k) (c_vk + gamma) / (c_k + V gamma)
                          prod_j sigm(s_ij (w^T (q-bar_i o q-bar_j) + w_0))

with q-bar_i as it is if the token has the topic k, and s_ij = 2 y_ij - 1. A response's odds against,
exp(-s (w^T (q-bar_i o q-bar_j) + w_0)), are a product over the document's tokens, kept up by one factor for each that
leaves or comes, and made anew for every document. Where they could overflow, their logarithms are kept up instead.
"""

import math
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.typing import Floats, Ints

SMALLEST = 1e-280  # a sum of weights below it is made anew by logarithms
LARGEST = 300.0  # nats; where the logarithms of odds could be larger they are kept up themselves: exp(710) overflows


class Responses(NamedTuple):
    """Responses by document: partners[offsets[d]:offsets[d + 1]] and signs, 1.0 or -1.0, of document d."""

    offsets: Ints
    partners: Ints
    signs: Floats

    @classmethod
    def of(cls, pairs: Ints, labels: Ints, documents: int) -> "Responses":
        """Return the responses of (M, 2) pairs with (M,) labels, for both of a pair that are among the documents."""
        one, other = pairs[:, 0], pairs[:, 1]
        owners, partners = np.concatenate([one, other]), np.concatenate([other, one])
        signs = np.tile(2.0 * labels - 1.0, 2)
        kept = owners < documents
        order = np.argsort(owners[kept], kind="stable")
        counts = np.bincount(owners[kept], minlength=documents)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return cls(offsets, partners[kept][order].astype(np.int64), signs[kept][order])


class State(NamedTuple):
    """A state: topics of tokens (N,), q-bar (D + 1, K) with ones in the last row, c_vk (V, K) and c_k (K,)."""

    q: NDArray[np.int64]
    shares: Floats
    in_word: Floats
    totals: Floats

    @classmethod
    def of(cls, corpus: Corpus, q: Ints, K: int) -> "State":
        """Return the state of the (N,) topics of a corpus's tokens."""
        shares, in_word = np.zeros((corpus.n_documents + 1, K)), np.zeros((corpus.n_words, K))
        rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
        np.add.at(shares, (rows, q), 1.0)
        np.add.at(in_word, (corpus.tokens, q), 1.0)
        shares[:-1] /= np.maximum(corpus.lengths, 1)[:, None]
        shares[-1] = 1.0
        return cls(q.astype(np.int64), shares, in_word, in_word.sum(axis=0))


@nb.njit(cache=True)
def _sweep(  # type: ignore[no-untyped-def]
    tokens, offsets, firsts, partners, signs, weights, bias, alpha, gamma, uniforms, q, shares, in_word, totals
):
    """Draw every token's topic once, in order; the arguments are fields of `Responses` and `State`."""
    K, V = alpha.shape[0], in_word.shape[0]
    most = 0
    for d in range(offsets.shape[0] - 1):
        most = max(most, firsts[d + 1] - firsts[d])
    odds, factors = np.empty(most), np.empty((most, K))
    counts, sums = np.empty(K), np.empty(K)
    for d in range(offsets.shape[0] - 1):
        start, length = offsets[d], offsets[d + 1] - offsets[d]
        if length == 0:
            continue
        counts[:] = 0.0
        for i in range(start, start + length):
            counts[q[i]] += 1.0
        responses, far = firsts[d + 1] - firsts[d], False
        for r in range(responses):
            partner, sign = partners[firsts[d] + r], signs[firsts[d] + r]
            odds[r], largest = -sign * bias, 0.0
            for k in range(K):
                factors[r, k] = -sign * weights[k] * shares[partner, k] / length
                odds[r] += factors[r, k] * counts[k]
                largest = max(largest, abs(factors[r, k]))
            far = far or abs(bias) + largest * length > LARGEST
        if not far:
            for r in range(responses):
                odds[r] = math.exp(odds[r])
                for k in range(K):
                    factors[r, k] = math.exp(factors[r, k])
        for i in range(start, start + length):
            v, k = tokens[i], q[i]
            counts[k] -= 1.0
            in_word[v, k] -= 1.0
            totals[k] -= 1.0
            for r in range(responses):
                odds[r] = odds[r] - factors[r, k] if far else odds[r] / factors[r, k]
            total = 0.0
            for k in range(0 if far else K):
                weight, divisor = (counts[k] + alpha[k]) * (in_word[v, k] + gamma), totals[k] + V * gamma
                for r in range(responses):
                    divisor *= 1.0 + odds[r] * factors[r, k]
                    if r % 8 == 7:  # a product of more could overflow
                        weight, divisor = weight / divisor, 1.0
                total += weight / divisor
                sums[k] = total
            if not total > SMALLEST:  # improbable whatever the topic: relative to the likeliest
                for k in range(K):
                    sums[k] = math.log((counts[k] + alpha[k]) * (in_word[v, k] + gamma) / (totals[k] + V * gamma))
                    for r in range(responses):
                        x = odds[r] + factors[r, k] if far else 0.0
                        sums[k] -= max(x, 0.0) + math.log1p(math.exp(-abs(x)) if far else odds[r] * factors[r, k])
                highest, total = sums.max(), 0.0
                for k in range(K):
                    total += math.exp(sums[k] - highest)
                    sums[k] = total
            threshold, k = uniforms[i] * total, 0
            while k < K - 1 and sums[k] <= threshold:
                k += 1
            q[i] = k
            counts[k] += 1.0
            in_word[v, k] += 1.0
            totals[k] += 1.0
            for r in range(responses):
                odds[r] = odds[r] + factors[r, k] if far else odds[r] * factors[r, k]
        for k in range(K):
            shares[d, k] = counts[k] / length


def sweep(
    corpus: Corpus,
    state: State,
    responses: Responses,
    weights: Floats,
    bias: float,
    alpha: Floats,
    gamma: float,
    random: np.random.Generator,
) -> None:
    """Draw every token's topic once, in place; weights and alpha are (K,)."""
    arrays = (np.ascontiguousarray(corpus.tokens, dtype=np.int64), corpus.offsets, *responses)
    _sweep(*arrays, weights, bias, alpha, gamma, random.random(corpus.n_tokens), *state)


@nb.njit(cache=True)
def _sweep_given_weights(tokens, offsets, pi, gamma, uniforms, q, in_word, totals):  # type: ignore[no-untyped-def]
    """Draw every token's topic once, in order, in proportion to pi_k (c_vk + gamma) / (c_k + V gamma)."""
    K, V = pi.shape[1], in_word.shape[0]
    sums = np.empty(K)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            v, total = tokens[i], 0.0
            in_word[v, q[i]] -= 1.0
            totals[q[i]] -= 1.0
            for k in range(K):
                total += pi[d, k] * (in_word[v, k] + gamma) / (totals[k] + V * gamma)
                sums[k] = total
            k = 0
            while k < K - 1 and sums[k] <= uniforms[i] * total:
                k += 1
            q[i] = k
            in_word[v, k] += 1.0
            totals[k] += 1.0


@nb.njit(cache=True)
def _move_weights(firsts, partners, signs, weights, bias, proposals, uniforms, pi):  # type: ignore[no-untyped-def]
    """Replace each document's pi by its proposal with the probability that its responses give it, in order."""
    for d in range(len(proposals)):
        ratio = 0.0
        for r in range(firsts[d], firsts[d + 1]):
            other = pi[partners[r]]
            for sign, own in ((1.0, proposals[d]), (-1.0, pi[d])):
                ratio -= sign * math.log1p(math.exp(-signs[r] * ((weights * own * other).sum() + bias)))
        if math.log(uniforms[d]) < ratio:
            pi[d] = proposals[d]


def sweep_of_weights(
    corpus: Corpus,
    state: State,
    responses: Responses,
    weights: Floats,
    bias: float,
    alpha: Floats,
    gamma: float,
    random: np.random.Generator,
) -> None:
    """Draw once, in place, every token's topic given pi, and every pi given topics, where responses read pi.

    `state.shares` holds pi in the place of q-bar. Without responses pi_i has a Dirichlet distribution with the
    parameters alpha + c_i, which is the proposal; Metropolis accepts it in proportion to the responses' probability.
    """
    tokens = np.ascontiguousarray(corpus.tokens, dtype=np.int64)
    pi, D, K = state.shares, corpus.n_documents, len(alpha)
    _sweep_given_weights(
        tokens, corpus.offsets, pi, gamma, random.random(corpus.n_tokens), state.q, state.in_word, state.totals
    )
    rows = np.repeat(np.arange(D), corpus.lengths)
    counts = np.bincount(rows * K + state.q, minlength=D * K).reshape(D, K)
    gammas = random.standard_gamma(counts + alpha)
    proposals = gammas / np.maximum(gammas.sum(axis=1, keepdims=True), SMALLEST)
    _move_weights(*responses, weights, bias, proposals, 1.0 - random.random(D), pi)


def check(model: str, alpha: float, gamma: float, rounds: int, sweeps: int) -> None:
    """Raise InputError for a setting out of range."""
    if not (alpha > 0.0 and gamma > 0.0 and rounds >= 1 and sweeps >= 2):
        raise InputError(
            f"{model}: alpha {alpha}, gamma {gamma}, {rounds} rounds of {sweeps} sweeps; the first two must be"
            " positive, rounds at least 1, sweeps at least 2"
        )


def topics_of(in_word: Floats, gamma: float) -> Floats:
    """Return b, (K, V), rows that sum to 1, of counts (V, K) with pseudo-counts gamma."""
    b = np.ascontiguousarray((in_word + gamma).T)
    return np.asarray(b / b.sum(axis=1, keepdims=True))
