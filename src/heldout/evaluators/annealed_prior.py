r"""Annealed importance sampling from a folded-in point to the prior: the way from folding-in to the likelihood.

The path. Let m be a point of the simplex with positive components, such as a document's posterior mean. The priors

    Dir(theta | alpha + g m),        g from infinity to 0,

lead from a point mass at m to the prior itself. With theta integrated out, A = sum_k alpha_k and C_k tokens of topic k,

    f_g(z) = p(z | alpha + g m) prod_l phi[z_l, w_l],
    p(z | a) = Gamma(sum_k a_k) / Gamma(sum_k a_k + L)  prod_k Gamma(a_k + C_k) / Gamma(a_k).

At g = infinity the tokens are independent, p(z | m) = prod_l m[z_l]: z is drawn exactly, and the sum of f over z is the
score of folding-in at m, prod_l sum_k m_k phi[k, w_l]. At g = 0 the sum is p(w | alpha, phi). Annealed importance
sampling (Neal, 2001; `annealed_importance` proves it) takes one Gibbs sweep at each g_1 > .. > g_{T-1} and weighs

    log w = sum_l log sum_k m_k phi[k, w_l]  +  sum_{t=1..T} log p(z_{t-1} | a_t) / p(z_{t-1} | a_{t-1}),

a_t = alpha + g_t m, g_0 = infinity, g_T = 0: the score of folding-in and what it leaves out. E[w] = p(w | alpha, phi)
for every m, T and sequence of g. `annealed_importance` has to find the posterior from the prior. Here the chain starts
around the posterior's mean, and only the spread of theta is left to be found: of documents that say much about theta,
little.

The sequence. Topic k's count, drawn from p(z | alpha + g m), has the variance of independent draws times about
(alpha_k + (g + L) m_k) / (alpha_k + g m_k). Its logarithm, as a mean over topics with the weights m_k,

    H(g) = sum_k m_k log(1 + L / (r_k + g)),        r_k = alpha_k / m_k,

goes from 0 at g = infinity to H(0) in T equal steps. For m = alpha / A it is log (A + g + L) / (A + g). Where a sparse
prior gives a document's topics a small alpha_k, their r_k is far below A, and what a chain has to find it finds at such
g: of PLSA with 800 topics under its fitted prior, equal steps of log (A + g + L) / (A + g) take three to four times as
many for the same variance. Topics whose r_k have the same power of two count as one here: any sequence is right.

Gibbs sweep: for every token in turn p(z_l = k | the others) ∝ (C_k + alpha_k + g m_k) phi[k, w_l], C without token l.
The normaliser is the sum of C_k phi[k, w] over the topics that the document uses at the moment, and those of alpha_k
phi[k, w] and m_k phi[k, w], whose cumulative sums are tabulated once per document. So a draw takes as many steps as
topics are in use, and a binary search if it falls into the tables, at every g.

Backward. From an exact draw z of the posterior at g = 0, as the topics that drew a document are, with the moves
reversed and the same weight, E[1 / w] = 1 / p(w | alpha, phi): log w is then high on average (Grosse, Ghahramani and
Adams, 2015). A sweep is reversed by visiting the tokens from last to first, and the move below is its own reverse.

Two topics at once. Of topics that hardly differ the sweep moves the counts slowly, token by token. So after each sweep
the tokens of two topics j and k are divided anew. With a = alpha + g m, and t the share of j in theta_j + theta_k,

    p(t | z) = Beta(t | a_j + C_j, a_k + C_k),
    p(t | words) ∝ Beta(t | a_j, a_k) prod_l (t phi[j, w_l] + (1 - t) phi[k, w_l]),       l over the tokens of both:

t is drawn from the first, moved by slice sampling (Neal, 2003) on log t / (1 - t) under the second, in which the
assignments are summed out, and the tokens are drawn anew given t, each for itself. That leaves f_g invariant. Which two
topics are taken depends on m and chance alone, not on z.
"""

import math

import numba as nb
import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.bidirectional import check_assignments
from heldout.evaluators.evaluation import (
    Annealing,
    Evaluation,
    KernelArrays,
    check_samples,
    in_vocabulary,
    kernel_arrays,
    log_mean,
)
from heldout.evaluators.posterior_mean import variational_gamma
from heldout.evaluators.random_stream import first_above, starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats, Ints

ITERATIONS, TOLERANCE = 100, 1e-3  # limits of mean field: any point is right, and one near the mean takes fewer steps
BELOW_ONE = 1.0 - 2.0**-53
SMALLEST = 1e-15  # share of the whole that is left out
POWERS = 64  # powers of two, down and up, by which ratios of alpha to m are told apart
SPACING = 1.25  # ratio of neighbouring points in the table of H, which is linear between them
TRIES = 10  # draws from m until another topic comes
LARGE = 1e200  # bound of products, which are turned into logarithms before they overflow


@nb.njit("int64(float64[::1], float64[::1], float64, float64)", cache=True, nogil=True)
def _search(first, second, g, x):  # type: ignore[no-untyped-def]
    """Return the first k at which first[k] + g second[k] is above x; cumulative sums, the last above x."""
    low, high = 0, first.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if first[middle] + g * second[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


@nb.njit(
    "float64(int64, uint32[::1], float64[::1], float64[::1], float64[::1], float64, float64, int64)",
    cache=True,
    nogil=True,
)
def _log_ratio(n_used, used, counts, alpha, m, share, g, L):  # type: ignore[no-untyped-def]
    """Return log p(z | alpha + g m) / p(z | alpha + h m), nats, h the concentration before g.

    share: 1 / h; 0 at the start of the path, where p(z | m) is a multinomial. Both factors are rising factorials: with
    A + h and alpha_k + h m_k divided by h their ratio stays finite.
    """
    log_ratio, ratio, A = 0.0, 1.0, 0.0
    for k in range(alpha.shape[0]):
        A += alpha[k]
    for j in range(n_used):
        k = used[j]
        for i in range(int(counts[k])):
            ratio *= (alpha[k] + i + g * m[k]) / ((alpha[k] + i) * share + m[k])
            if ratio > LARGE or ratio < 1.0 / LARGE:
                log_ratio += math.log(ratio)
                ratio = 1.0
    log_ratio += math.log(ratio)
    ratio = 1.0
    for i in range(L):
        ratio *= (A + i + g) / ((A + i) * share + 1.0)
        if ratio > LARGE or ratio < 1.0 / LARGE:
            log_ratio -= math.log(ratio)
            ratio = 1.0
    return log_ratio - math.log(ratio)


@nb.njit("void(float64[::1], float64[::1], int64, int64, float64[:, ::1], float64[::1])", cache=True, nogil=True)
def _sequence(alpha, m, L, T, sums, out):  # type: ignore[no-untyped-def]
    """Write g_0 = infinity, g_1 > .. > g_T = 0, which lie at equal steps of H, to out; sums, (3, 2 POWERS), is room."""
    weight, total, r = sums[0], sums[1], sums[2]
    for power in range(2 * POWERS):
        weight[power] = total[power] = 0.0
    for k in range(alpha.shape[0]):
        if m[k] > SMALLEST:
            power = min(max(math.frexp(alpha[k] / m[k])[1] + POWERS, 0), 2 * POWERS - 1)
            weight[power] += m[k]
            total[power] += alpha[k]
    groups = 0
    for power in range(2 * POWERS):
        if weight[power] > 0.0:
            weight[groups], r[groups] = weight[power], total[power] / weight[power]
            groups += 1
    smallest = r[0]  # groups are in the order of r
    out[0], out[T] = np.inf, 0.0
    g, H, t = 0.0, 0.0, T - 1
    for i in range(groups):
        H += weight[i] * math.log1p(L / r[i])
    step = H / T
    while t > 0:  # linear between points at which g + r has the constant ratio SPACING
        g_before, H_before = g, H
        g, H = (g + smallest) * SPACING - smallest, 0.0
        for i in range(groups):
            H += weight[i] * math.log1p(L / (r[i] + g))
        while t > 0 and t * step >= H:
            out[t] = g_before + (g - g_before) * (H_before - t * step) / (H_before - H)
            t -= 1


@nb.njit("float64(float64, uint64[::1])", cache=True, nogil=True)
def _log_gamma_draw(shape, state):  # type: ignore[no-untyped-def]
    """Return the logarithm of a draw from Gamma(shape, 1), possibly far below -700 (Marsaglia and Tsang, 2000)."""
    boost = 0.0
    if shape < 1.0:
        boost = math.log(1.0 - uniform(state)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    while True:
        x = math.sqrt(-2.0 * math.log(1.0 - uniform(state))) * math.cos(2.0 * math.pi * uniform(state))
        v = 1.0 + x / math.sqrt(9.0 * d)
        if v > 0.0 and math.log(1.0 - uniform(state)) < 0.5 * x * x + d * (1.0 - v**3 + 3.0 * math.log(v)):
            return math.log(d) + 3.0 * math.log(v) + boost


@nb.njit("float64(float64, float64, float64, float64[:, ::1], int64)", cache=True, nogil=True)
def _log_density(u, a_j, a_k, phi, n):  # type: ignore[no-untyped-def]
    """Return the log density of u = log t / (1 - t) given n words, up to a constant; phi[i] has both of a word's."""
    log_t, log_rest = -math.log1p(math.exp(-u)) if u > -700.0 else u, -math.log1p(math.exp(u)) if u < 700.0 else -u
    t, rest = math.exp(log_t), math.exp(log_rest)
    log_p, p = a_j * log_t + a_k * log_rest, 1.0
    for i in range(n):
        p *= t * phi[i, 0] + rest * phi[i, 1]
        if p < 1.0 / LARGE:
            if p == 0.0:
                return -np.inf
            log_p += math.log(p)
            p = 1.0
    return log_p + math.log(p)


@nb.njit("float64(float64, float64, float64, float64[:, ::1], int64, uint64[::1])", cache=True, nogil=True)
def _slice(u, a_j, a_k, phi, n, state):  # type: ignore[no-untyped-def]
    """Return the next u by slice sampling: stepping out, then shrinking."""
    level = _log_density(u, a_j, a_k, phi, n) + math.log(1.0 - uniform(state))
    width = 1.0 + 1.0 / a_j + 1.0 / a_k
    low = u - width * uniform(state)
    high = low + width
    if level == -np.inf:
        return u
    while _log_density(low, a_j, a_k, phi, n) > level:
        low -= width
    while _log_density(high, a_j, a_k, phi, n) > level:
        high += width
    while True:
        new = low + (high - low) * uniform(state)
        if _log_density(new, a_j, a_k, phi, n) >= level:
            return new
        if high - low < SMALLEST * width:  # rounding alone leads here
            return u
        if new < u:
            low = new
        else:
            high = new


@nb.njit(
    "void(int32[::1], int64[::1], float64[:, ::1], float64[::1], float64[:, ::1], int64[::1], int64[::1],"
    " uint64[:, ::1], int64[::1], int64[:, ::1], uint32[:, ::1], float64[:, ::1], float64[:, :, ::1], float64[:, ::1],"
    " float64[:, ::1], float64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _anneal(  # type: ignore[no-untyped-def]
    tokens, offsets, phi_by_word, alpha, points, steps, assignments, states,
    row_of, by_token, places, by_topic, tables, pair_phi, groups, concentrations, out,
):  # fmt: skip
    """Write log w of every document and chain to out, (D, S); backward from assignments (N,) if there are any.

    `row_of`, -1 everywhere, and the arrays between it and out are room: made here, they take a second more to compile.
    """
    D, S = out.shape
    backward = assignments.shape[0] > 0
    K = alpha.shape[0]
    rows, words, z, pair_tokens = by_token[0], by_token[1], by_token[2], by_token[3]
    used, place = places[0], places[1]  # topics with tokens, and their places there
    counts, cumulative, sums = by_topic[0], by_topic[1], by_topic[2]
    prior, centre = tables[0], tables[1]  # cumulative sums of alpha phi and m phi, by row
    for d in range(D):
        begin, L = offsets[d], offsets[d + 1] - offsets[d]
        m, T, state = points[d], steps[d], states[d]
        U, folded_in = 0, 0.0
        for i in range(L):
            w = tokens[begin + i]
            if row_of[w] < 0:
                row_of[w] = U
                words[U] = w
                total, weighted = 0.0, 0.0
                for k in range(K):
                    total += alpha[k] * phi_by_word[w, k]
                    weighted += m[k] * phi_by_word[w, k]
                    prior[U, k] = total
                    centre[U, k] = weighted
                U += 1
            rows[i] = row_of[w]
            likelihood = centre[rows[i], K - 1]
            folded_in += math.log(likelihood) if likelihood > 0.0 else -np.inf
        for u in range(U):
            row_of[words[u]] = -1
        if folded_in == -np.inf or L == 0:  # no topic gives one of the words
            for s in range(S):
                out[d, s] = folded_in
            continue
        total = 0.0
        for k in range(K):
            total += m[k]
            cumulative[k] = total
        sequence = concentrations[: T + 1]
        _sequence(alpha, m, L, T, groups, sequence)
        for s in range(S):
            for k in range(K):  # an assignment of slices compiles longer
                counts[k] = 0.0
            n_used = 0
            for i in range(L):
                if backward:
                    k = assignments[begin + i]
                else:
                    k = first_above(centre[rows[i]], uniform(state) * centre[rows[i], K - 1])
                if counts[k] == 0.0:
                    used[n_used], place[k] = k, n_used
                    n_used += 1
                counts[k] += 1.0
                z[i] = k
            log_w = folded_in
            for step in range(1, T + 1):
                t = T + 1 - step if backward else step
                g, g_after = sequence[t - 1], sequence[t]
                share = 0.0 if t == 1 else 1.0 / g
                if backward:
                    log_w += _log_ratio(n_used, used, counts, alpha, m, share, g_after, L)
                for part in range(2 if t > 1 else 0):
                    if (part == 0) != backward:
                        for token in range(L):
                            i = L - 1 - token if backward else token
                            u, k = rows[i], z[i]
                            phi = phi_by_word[words[u]]
                            counts[k] -= 1.0
                            if counts[k] == 0.0:
                                n_used -= 1
                                used[place[k]] = used[n_used]
                                place[used[n_used]] = place[k]
                            seen = 0.0
                            for j in range(n_used):
                                seen += counts[used[j]] * phi[used[j]]
                                sums[j] = seen
                            unseen = prior[u, K - 1] + g * centre[u, K - 1]
                            x = uniform(state) * (seen + unseen)
                            if x < seen:
                                j = 0
                                while sums[j] <= x:
                                    j += 1
                                k = used[j]
                            else:
                                k = _search(prior[u], centre[u], g, min(x - seen, unseen * BELOW_ONE))
                            if counts[k] == 0.0:
                                used[n_used], place[k] = k, n_used
                                n_used += 1
                            counts[k] += 1.0
                            z[i] = k
                    elif K > 1:
                        first = first_above(cumulative, uniform(state) * cumulative[K - 1])
                        second = first
                        for _ in range(TRIES):
                            if second == first:
                                second = first_above(cumulative, uniform(state) * cumulative[K - 1])
                        if second == first:
                            second = (first + 1 + int(uniform(state) * (K - 1))) % K
                        n = 0
                        for i in range(L if counts[first] + counts[second] > 0.0 else 0):
                            if z[i] == first or z[i] == second:
                                pair_tokens[n] = i
                                pair_phi[n, 0] = phi_by_word[words[rows[i]], first]
                                pair_phi[n, 1] = phi_by_word[words[rows[i]], second]
                                n += 1
                        if n > 0:
                            a_j, a_k = alpha[first] + g * m[first], alpha[second] + g * m[second]
                            u = _log_gamma_draw(a_j + counts[first], state)
                            u -= _log_gamma_draw(a_k + counts[second], state)
                            u = _slice(u, a_j, a_k, pair_phi, n, state)
                            odds, drawn = math.exp(min(u, 700.0)), 0
                            for i in range(n):
                                left, right = odds * pair_phi[i, 0], pair_phi[i, 1]
                                to_first = uniform(state) * (left + right) < left
                                z[pair_tokens[i]] = first if to_first else second
                                drawn += to_first
                            counts[first], counts[second] = float(drawn), float(n - drawn)
                            n_used = 0
                            for k in range(K):
                                if counts[k] > 0.0:
                                    used[n_used], place[k] = k, n_used
                                    n_used += 1
                if not backward:
                    log_w += _log_ratio(n_used, used, counts, alpha, m, share, g_after, L)
            out[d, s] = log_w


def log_weights(
    arrays: KernelArrays,
    points: Floats,
    steps: Ints,
    rng: np.random.Generator,
    *,
    chains: int,
    assignments: Ints | None = None,
) -> Floats:
    """Return the log weights of annealing runs from points to the prior, (D, chains), nats.

    Args:
        arrays: documents and topics.
        points: (D, K) m, rows sum to 1; positive wherever phi is for some word of the document.
        steps: (D,) T, 1 or more; a chain of T steps takes T - 1 sweeps.
        rng: seeds one stream per document.
        chains: S, runs per document.
        assignments: (N,) topics of the tokens, drawn from the posterior, from which to run backward.

    Returns:
        log weights, whose exponentials have the mean p(w | alpha, phi), or of backward runs a mean inverse of
        1 / p(w | alpha, phi); -inf where a word has probability 0 under every
        topic, 0 for an empty document.
    """
    out = np.empty((len(arrays.lengths), chains))
    points = np.ascontiguousarray(points, dtype=np.float64)
    states = starts(rng, len(out))
    K, longest = len(arrays.alpha), int(arrays.lengths.max(initial=1))
    _anneal(
        *(arrays.tokens, arrays.offsets, arrays.phi_by_word, arrays.alpha),
        *(points, np.ascontiguousarray(steps, dtype=np.int64)),
        np.ascontiguousarray(() if assignments is None else assignments, dtype=np.int64),
        *(states, np.full(len(arrays.phi_by_word), -1), np.empty((4, longest), np.int64), np.empty((2, K), np.uint32)),
        *(np.empty((3, K)), np.empty((2, longest, K)), np.empty((longest, 2)), np.empty((3, 2 * POWERS))),
        *(np.empty(int(np.max(steps, initial=1)) + 1), out),
    )
    return out


def annealing(topics: Topics, documents: Corpus, rng: np.random.Generator) -> Annealing:
    """Return the annealing of documents from their mean-field posterior means to the prior, for the reference."""
    arrays, points = kernel_arrays(topics, documents), _points(topics, documents)
    return Annealing(
        lambda steps, chains: log_weights(arrays, points, steps, rng, chains=chains), arrays.lengths, arrays.left_out
    )


def annealed_upper(
    topics: Topics, documents: Corpus, samples: int, rng: np.random.Generator, *, assignments: Ints, steps: int = 500
) -> Evaluation:
    """Return a stochastic upper bound on log p(w | alpha, phi) of simulated documents.

    The annealing of `annealing` backward, from an exact draw of the posterior.

    Args:
        topics: the phi and alpha that the documents were drawn from.
        documents: D documents over the topics' vocabulary, from `heldout.evaluators.bidirectional.simulate`.
        samples: runs from the topics that drew a document, whose estimates of 1 / p(w) are averaged.
        rng: seeds one stream per document.
        assignments: (N,) the topics that the tokens were drawn from.
        steps: T of every run.

    Returns:
        log-likelihoods in nats; exp of the negative ones is unbiased for 1 / p(w). The standard error is NaN: all runs
        start from the same draw, so their spread is no measure of the error.

    Raises:
        InputError: for fewer than one run or step, or when the assignments do not fit the documents.
    """
    check_samples("annealed upper bound", min(samples, steps))
    check_assignments(topics, documents, assignments)
    arrays = kernel_arrays(topics, documents)
    every = np.full(len(arrays.lengths), steps)
    x = log_weights(arrays, _points(topics, documents), every, rng, chains=samples, assignments=assignments)
    inverse, _ = log_mean(-x)
    return Evaluation(0.0 - inverse, arrays.lengths, np.where(arrays.lengths > 0, np.nan, 0.0))


def _points(topics: Topics, documents: Corpus) -> Floats:
    """Return the documents' mean-field posterior means of theta, (D, K)."""
    known, _ = in_vocabulary(documents, topics)
    points = variational_gamma(topics, known, mean_field=True, iterations=ITERATIONS, tolerance=TOLERANCE)
    points /= points.sum(axis=1, keepdims=True)
    return points
