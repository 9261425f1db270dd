r"""Annealed importance sampling of a document's likelihood (Neal, 2001), on topic assignments.

    f_b(z) = p(z | alpha) prod_l phi[z_l, w_l]^b 1[phi[z_l, w_l] > 0],        b = 0 .. 1,

is p(z, w) at b = 1, where its sum over z is Z = p(w | alpha, phi). Theta is integrated out: with C_k tokens of topic k
and A = sum_k alpha_k,

    p(z | alpha) = Gamma(A) / Gamma(A + L)  prod_k Gamma(alpha_k + C_k) / Gamma(alpha_k).

Forward. z_0 is drawn token by token from Polya's urn, restricted to the topics that can give the word:

    q(z) = prod_l a_l(z_l) / sum_k a_l(k),     a_l(k) = (alpha_k + C_k of the tokens before l) 1[phi[k, w_l] > 0].

With temperatures 0 = b_0 < b_1 < .. < b_T = 1 and one Gibbs sweep under f_b at each of b_1 .. b_{T-1}, the weight is

    w = f_0(z_0) / q(z_0)  prod_{t=1..T} f_{b_t}(z_{t-1}) / f_{b_{t-1}}(z_{t-1}),

f_0 / q = prod_l sum_k a_l(k) / (A + l) (1 where no phi is 0) and the ratios are p(w | z)^(b_t - b_{t-1}). On the space
of (z_0 .. z_{T-1}) the forward path has the probability q(z_0) prod_t S_t(z_{t-1}, z_t); since sweep S_t leaves f_{b_t}
invariant, w times this probability is Z times that of the same path drawn backwards, from the posterior by the reversed
sweeps. So E[w] = Z for every T, and by Jensen's inequality log w is low on average.

Backward. The same path from an exact draw of the posterior, with the sweeps reversed, has E[1 / w] = 1 / Z:
log w is then high on average (Grosse, Ghahramani and Adams, 2015; `bidirectional`).

Gibbs sweep: for every token in turn, z_l is drawn from p(z_l = k | the others) ∝ phi[k, w_l]^b (alpha_k + C_k), C
without token l. A single update is reversible, a sweep S is not; its reverse S~ visits the tokens from last to first:
pi(z) S(z, z') = pi(z') S~(z', z).

Wallach et al. (2009) anneal the same path for topic models. The temperatures b_t = (t / T)^2 crowd at the prior, where
the mean of log p(w | z) changes fastest.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, KernelArrays, check_samples, kernel_arrays, log_mean
from heldout.evaluators.random_stream import first_above, starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats, Ints

# 1 (even steps), 2 and 3 were compared by the spread of the weights on training documents of Cranfield and on documents
# simulated from its topics, K = 4 and 100: none wins everywhere, 2 is never far behind. No test document was seen.
POWER = 2.0


@nb.njit("float64(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[::1], int64[::1], boolean, "
         "float64[::1], uint64[::1])", cache=True)  # fmt: skip
def sweep(rows, z, counts, table, alpha, target, backward, cumulative, state):  # type: ignore[no-untyped-def]
    """Move z by one Gibbs sweep and return the log probability of the move, nats; counts follow.

    Args:
        rows: (L,) each token's row of `table`.
        z: (L,) topics, changed.
        counts: (K,) tokens per topic, changed.
        table: (U, K) phi of the document's U distinct words, to the power b.
        alpha: (K,).
        target: (L,) the assignments to move to; empty to draw them.
        backward: whether to visit the tokens from last to first.
        cumulative: (K,) scratch.
        state: the document's random stream.
    """
    length, K = rows.shape[0], alpha.shape[0]
    log_p, p = 0.0, 1.0
    for i in range(length):
        token = length - 1 - i if backward else i
        word = table[rows[token]]
        counts[z[token]] -= 1.0
        total = 0.0
        for k in range(K):
            total += word[k] * (alpha[k] + counts[k])
            cumulative[k] = total
        chosen = target[token] if target.shape[0] > 0 else first_above(cumulative, uniform(state) * total)
        p *= word[chosen] * (alpha[chosen] + counts[chosen]) / total
        if p < 1e-200:
            log_p += np.log(p)
            p = 1.0
        z[token] = chosen
        counts[chosen] += 1.0
    return log_p + np.log(p)


@nb.njit("int64(int32[::1], float64[:, ::1], int64[::1], float64[:, ::1], int64[::1])", cache=True)
def distinct(document, phi_by_word, rows, log_phi, known):  # type: ignore[no-untyped-def]
    """Write each token's row and the (U, K) log probabilities of distinct words; return U, or 0 if one is impossible.

    `known` is (V,) scratch, -1 everywhere before and after.
    """
    words, possible = 0, True
    for token in range(document.shape[0]):
        word = document[token]
        if known[word] < 0:
            known[word] = words
            explained = False
            for k in range(phi_by_word.shape[1]):
                log_phi[words, k] = np.log(phi_by_word[word, k])
                explained = explained or phi_by_word[word, k] > 0.0
            possible = possible and explained
            words += 1
        rows[token] = known[word]
    for token in range(document.shape[0]):
        known[document[token]] = -1
    return words if possible else 0


@nb.njit("float64(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[::1], boolean, float64[::1], "
         "uint64[::1])", cache=True)  # fmt: skip
def urn(rows, z, counts, log_phi, alpha, draw, cumulative, state):  # type: ignore[no-untyped-def]
    """Draw z from the urn, or take the given z; recount it and return log f_0(z) / q(z), nats."""
    counts[:] = 0.0
    log_weight, prior = 0.0, alpha.sum()
    for token in range(rows.shape[0]):
        total = 0.0
        everywhere = True
        for k in range(alpha.shape[0]):
            if log_phi[rows[token], k] > -np.inf:
                total += alpha[k] + counts[k]
            else:
                everywhere = False
            cumulative[k] = total
        if draw:
            z[token] = first_above(cumulative, uniform(state) * total)
        counts[z[token]] += 1.0
        if not everywhere:
            log_weight += math.log(total / (prior + token))
    return log_weight


@nb.njit("void(int32[::1], int64[::1], float64[:, ::1], float64[::1], float64[::1], int64[::1], uint64[:, ::1], "
         "float64[:, ::1])", cache=True, nogil=True)  # fmt: skip
def _anneal(tokens, offsets, phi_by_word, alpha, temperatures, assignments, states, out):  # type: ignore[no-untyped-def]
    """Write log w of every document and chain to out; backward from `assignments` (N,), forward if they are empty."""
    K, chains, steps = alpha.shape[0], out.shape[1], temperatures.shape[0] - 1
    backward = assignments.shape[0] > 0
    known = np.full(phi_by_word.shape[0], -1, np.int64)
    cumulative, nowhere = np.empty(K), np.empty(0, np.int64)
    for d in range(out.shape[0]):
        document = tokens[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        rows, log_phi = np.empty(length, np.int64), np.empty((length, K))
        words = distinct(document, phi_by_word, rows, log_phi, known)
        if words == 0 and length > 0:
            out[d] = -np.inf
            continue
        z, counts, table = np.empty((chains, length), np.int64), np.empty((chains, K)), np.empty((words, K))
        for s in range(chains):
            if backward:
                z[s] = assignments[offsets[d] : offsets[d + 1]]
            start = urn(rows, z[s], counts[s], log_phi, alpha, not backward, cumulative, states[d])
            out[d, s] = 0.0 if backward else start
        for t in range(1, steps + 1):
            upper = steps + 1 - t if backward else t
            power = temperatures[upper] - temperatures[upper - 1]
            level = temperatures[upper - 1] if backward else temperatures[upper]
            if t < steps:
                for u in range(words):
                    for k in range(K):
                        table[u, k] = math.exp(level * log_phi[u, k])  # 0 where phi is 0: between is positive
            for s in range(chains):
                log_likelihood = 0.0
                for token in range(length):
                    log_likelihood += log_phi[rows[token], z[s, token]]
                out[d, s] += power * log_likelihood
                if t < steps:
                    sweep(rows, z[s], counts[s], table, alpha, nowhere, backward, cumulative, states[d])
        if backward:  # f_0 / q of where the path ends
            for s in range(chains):
                out[d, s] += urn(rows, z[s], counts[s], log_phi, alpha, False, cumulative, states[d])


def schedule(temperatures: int) -> Floats:
    """Return the (T + 1,) inverse temperatures (t / T)^2 from 0 to 1."""
    powers: Floats = (np.arange(temperatures + 1) / temperatures) ** POWER
    return powers


def log_weights(
    arrays: KernelArrays,
    rng: np.random.Generator,
    *,
    chains: int,
    temperatures: int,
    assignments: Ints | None = None,
) -> Floats:
    """Return the log weights of annealing runs, (D, chains), nats.

    Args:
        arrays: documents and topics.
        rng: seeds one stream per document.
        chains: S, runs per document.
        temperatures: T, steps between prior and posterior.
        assignments: (N,) topics of the tokens, an exact draw from the posterior: every chain starts there and runs to
            the prior. None runs from prior to posterior.

    Raises:
        InputError: for fewer than one chain or step.
    """
    check_samples("annealed importance sampling", chains)
    if temperatures < 1:
        raise InputError(f"annealed importance sampling: {temperatures} temperatures; take 1 or more")
    out = np.zeros((len(arrays.lengths), chains))
    start = np.zeros(0, np.int64) if assignments is None else np.ascontiguousarray(assignments, dtype=np.int64)
    states = starts(rng, len(out))
    if len(arrays.tokens):
        _anneal(
            *(arrays.tokens, arrays.offsets, arrays.phi_by_word, arrays.alpha),
            *(schedule(temperatures), start, states, out),
        )
    return out


def annealed_importance(
    topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator, *, temperatures: int = 1000
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document by annealed importance sampling.

    Arguments, result and errors are as in `heldout.evaluators`. A sample is a chain of `temperatures` - 1
    sweeps; in one step of temperature it is importance sampling from the prior. The estimates are unbiased as
    probabilities; the standard error does not cover weights that no chain has met: with few temperatures, missing a
    rare large weight makes both estimate and error too small.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> annealed_importance(topics, documents, 100, rng, temperatures=50).log_likelihood.round(2)
        array([-3.75, -0.78])
    """
    arrays = kernel_arrays(topics, documents)
    value, error = log_mean(log_weights(arrays, rng, chains=samples, temperatures=temperatures))
    return Evaluation(value, arrays.lengths, np.where(arrays.lengths > 0, error, 0.0), arrays.left_out)
