r"""The likelihood of a document of the next time under the dynamic topic model (Murphy 2012, 27.57 to 27.60).

Given all documents until T, the state at T + 1 is beta_kv ~ N(m_kv, s_kv^2), by the filter with the random walk's
variance added (`heldout.models.dtm.DTM.next_state`). A document of that time, the first of it that is seen, has

    p(y) = ∫ ∫ N(beta | m, s^2) Dir(pi | alpha) prod_l sum_k pi_k softmax(beta_k)[y_l] dpi dbeta.

The likelihood of all of its time's documents together has a posterior so far from N(m, s^2) that a mean over draws of
beta rests on one of them, and annealing takes as long as training; so every document is scored for itself.

Annealed importance sampling (Neal 2001) goes from the prior, pi integrated out, to the posterior along

    f_tau = p(q) N(beta | m, s^2) prod_l b_(q_l)(y_l)^tau,       tau = (j / J)^2,   j = 0 .. J,

with the weight exp(sum_j (tau_j+1 - tau_j) sum_l log b_(q_l)(y_l)), whose mean is p(y). (From the document's
variational posterior it is faster, and misses modes: on papers of NIPS by nats.) The moves under f_tau: every token's
topic given the others', ∝ (C_k + alpha) b_k(y_l)^tau with C_k other tokens of a topic; and beta_k, for which prior and
counts make a Gaussian and leave -tau C_k log sum_v e^beta_kv. Less its tangent at m, p' (beta - m), that is nearly
constant, and an elliptical slice (Murray, Adams and MacKay 2010) moves by most of an angle. Weights of chains that are
not long enough are low on average, and rest on few of them: the effective size tells.
"""

import numba as nb
import numpy as np
from scipy.special import logsumexp

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, check_samples, corrected, log_mean
from heldout.evaluators.random_stream import starts, uniform
from heldout.models.dtm import DynamicState, Walk, softmax
from heldout.models.token_shares import Documents
from heldout.typing import Floats, Ints

ITERATIONS, DOCUMENT_ITERATIONS, TOPIC_ITERATIONS = 60, 3, 2  # updates of a document's variational posterior


@nb.njit(
    "void(float64[:, :, ::1], float64[:, ::1], float64[:, :, ::1], uint64[:, ::1], float64[:, ::1], float64[:, ::1],"
    "float64[:, ::1], float64[:, ::1], int64[::1], float64[:, :, ::1])",
    cache=True,
)
def _slice(  # type: ignore[no-untyped-def]
    beta, log_sum, normals, streams, linear, deviation, tangent, weight, words, counts
):
    """Move beta (S, K, V) and log sum (S, K) under N(centre, deviation^2) exp(-weight [log sum_v e^beta - p' beta]).

    The centre is deviation^2 (linear - weight p + counts), the counts (S, K, U) those of the words, p the tangent.
    """
    S, K, V = beta.shape
    x, centre, proposed = np.empty(V), np.empty(V), np.empty(V)
    for s in range(S):
        for k in range(K):
            at_tangent = 0.0
            for v in range(V):
                centre[v] = linear[k, v] - weight[s, k] * tangent[k, v]
                at_tangent += tangent[k, v] * beta[s, k, v]
            for u in range(words.shape[0]):
                centre[words[u]] += counts[s, k, u]
            for v in range(V):
                centre[v] *= deviation[k, v] ** 2
                x[v] = beta[s, k, v] - centre[v]
            level = -weight[s, k] * (log_sum[s, k] - at_tangent) + np.log(1.0 - uniform(streams[s]))
            angle = 2.0 * np.pi * uniform(streams[s])
            low, high = angle - 2.0 * np.pi, angle
            while True:
                cosine, sine, highest, at_tangent, total = np.cos(angle), np.sin(angle), -np.inf, 0.0, 0.0
                for v in range(V):
                    proposed[v] = centre[v] + x[v] * cosine + deviation[k, v] * normals[s, k, v] * sine
                    highest = max(highest, proposed[v])
                    at_tangent += tangent[k, v] * proposed[v]
                for v in range(V):
                    total += np.exp(proposed[v] - highest)
                total = np.log(total) + highest
                if -weight[s, k] * (total - at_tangent) >= level:
                    break
                if angle < 0.0:
                    low = angle
                else:
                    high = angle
                angle = low + (high - low) * uniform(streams[s])
            beta[s, k] = proposed
            log_sum[s, k] = total


@nb.njit(
    "void(int64[::1], int64[:, ::1], float64[:, ::1], float64[:, :, ::1], float64[:, ::1], uint64[:, ::1], float64,"
    "float64)",
    cache=True,
)
def _assign(tokens, q, totals, beta, log_sum, streams, alpha, tau):  # type: ignore[no-untyped-def]
    """Draw the topics q (S, L) of the tokens one after the other; `totals`, (S, K), counts each topic's tokens."""
    S, L = q.shape
    K, V = beta.shape[1], beta.shape[2]
    places, sums = np.full(V, -1), np.empty(K)
    distinct = 0
    for token in tokens:
        if places[token] < 0:
            places[token] = distinct
            distinct += 1
    powers = np.empty((distinct, K))
    for s in range(S):
        for token in tokens:
            for k in range(K):
                powers[places[token], k] = np.exp(tau * (beta[s, k, token] - log_sum[s, k]))
        for i in range(L):
            if q[s, i] >= 0:
                totals[s, q[s, i]] -= 1.0
            total = 0.0
            for k in range(K):
                total += (totals[s, k] + alpha) * powers[places[tokens[i]], k]
                sums[k] = total
            x, k = uniform(streams[s]) * total, 0
            while k < K - 1 and sums[k] <= x:
                k += 1
            q[s, i] = k
            totals[s, k] += 1.0


class Variational:
    """Variational posteriors of single documents: means and variances of beta, (D, K, V), gamma (D, K), L (D,)."""

    def __init__(self, state: DynamicState, documents: Corpus) -> None:
        """Fit documents over the state's vocabulary: the best of K + 1 starts, even and with one topic."""
        D, K = documents.n_documents, state.n_topics
        S = K + 1
        several, walk = documents.subset(np.repeat(np.arange(D), S)), Walk.of(state.mean, state.variance)
        weights = np.vstack([np.full((1, K), 1.0 / K), np.eye(K)])
        gamma = state.alpha + (documents.lengths[:, None, None] * weights).reshape(D * S, K)
        own = Documents(several.counts(), np.arange(D * S), state.alpha, gamma)
        nothing = np.zeros((D * S, 1, *walk.mean.shape))
        observed = walk.observed(nothing, nothing)
        for _ in range(ITERATIONS):
            b = observed.topic_rows(own.tokens.row_starts)
            own.advance()
            own.step(b, DOCUMENT_ITERATIONS)
            observed = walk.ascend(own.expected_counts(b).reshape(nothing.shape), observed, TOPIC_ITERATIONS)
        own.advance()
        value = own.step(observed.topic_rows(own.tokens.row_starts), DOCUMENT_ITERATIONS)
        bound = value - observed.divergence.sum(axis=1)
        best = np.arange(D) * S + bound.reshape(D, S).argmax(axis=1)
        moments = (x[best, 0, :, :K].swapaxes(1, 2) for x in (observed.mean, observed.variance))
        self.mean, self.variance = moments
        self.expected_log = self.mean - observed.log_sums[best, 0, :K, None]
        self.gamma: Floats = own.gamma[best]
        self.bound: Floats = bound[best]


def variational(state: DynamicState, documents: Corpus) -> Evaluation:
    """Return the variational bound on every document's log p(y), nats, with its own q(beta).

    Words outside the state's vocabulary are left out and counted.
    """
    documents, left_out = documents.over(state.vocabulary)
    return Evaluation.deterministic(Variational(state, documents).bound, documents.lengths, left_out)


def dtm_annealed(
    state: DynamicState, documents: Corpus, samples: int, rng: np.random.Generator, *, temperatures: int = 50
) -> tuple[Evaluation, Floats]:
    """Return log p(y) of every document, and the effective sample size of its weights, (D,).

    Other arguments and the result are as in `heldout.evaluators`; samples are chains of J = `temperatures` steps. The
    effective size is (sum w)^2 / sum w^2; from less than 100 nothing should be concluded.

    Raises:
        InputError: for fewer than two samples or no step.

    Examples:
        >>> state = DynamicState(np.zeros((1, 2)), np.ones((1, 2)), 1.0, ("ape", "bear"))
        >>> one = Corpus.from_documents("one", [("a", ["ape"])])
        >>> value, size = dtm_annealed(state, one, 1000, np.random.default_rng(0), temperatures=10)
        >>> abs(value.log_likelihood[0] - np.log(0.5)) < 0.05, size[0] > 500
        (np.True_, np.True_)
    """
    check_samples("dynamic topics", samples, 2)
    check_samples("dynamic topics, temperatures", temperatures)
    documents, left_out = documents.over(state.vocabulary)
    D = documents.n_documents
    value, error, size = np.zeros(D), np.zeros(D), np.full(D, float(samples))
    streams = rng.spawn(D)
    for d in np.flatnonzero(documents.lengths > 0):
        weights = _anneal(state, documents.document(int(d)).astype(np.int64), samples, temperatures, streams[d])
        value[d : d + 1], error[d : d + 1] = log_mean(weights[None])
        size[d] = np.exp(2.0 * logsumexp(weights) - logsumexp(2.0 * weights))
    return corrected(Evaluation(value, documents.lengths, error, left_out)), size


def _anneal(state: DynamicState, tokens: Ints, samples: int, J: int, rng: np.random.Generator) -> Floats:
    """Return the log weights, (S,), of chains of J steps of one document."""
    m, s2, (K, V) = state.mean, state.variance, state.mean.shape
    words, place = np.unique(tokens, return_inverse=True)
    streams, deviation, tangent = starts(rng, samples), np.sqrt(s2), softmax(m)
    beta = m + deviation * rng.standard_normal((samples, K, V))
    log_sum = logsumexp(beta, axis=2)
    q, totals = np.full((samples, len(tokens)), -1), np.zeros((samples, K))
    weights, chain = np.zeros(samples), np.arange(samples)[:, None]
    for j in range(J):
        tau = (j / J) ** 2
        _assign(tokens, q, totals, beta, log_sum, streams, state.alpha, tau)
        counts = np.zeros((samples, K, len(words)))
        np.add.at(counts, (chain, q, place), tau)
        normals = rng.standard_normal(beta.shape)
        _slice(beta, log_sum, normals, streams, m / s2, deviation, tangent, tau * totals, words, counts)
        log_b = beta[chain, q, tokens] - log_sum[chain, q]
        weights += (((j + 1) / J) ** 2 - tau) * log_b.sum(axis=1)
    return weights
