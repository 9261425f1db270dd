r"""The sampler of the left-to-right estimators: collapsed Gibbs sampling of a document that grows by one token.

    p(w_1 .. w_L) = prod_l p(w_l | w_1 .. w_{l-1})                                       (Buntine, 2009, equation 5)

Derivation. With theta integrated out, topics are drawn from Polya's urn: given z_1 .. z_{l-1} with N_k tokens of topic
k, and A = sum_k alpha_k, the next token has topic k with probability (alpha_k + N_k) / (A + l - 1), hence

    p(w_l | z_1 .. z_{l-1}) = sum_k (alpha_k + N_k) phi[k, w_l] / (A + l - 1)            (equation 7)
    p(w_l | w_1 .. w_{l-1}) = E[p(w_l | z_1 .. z_{l-1}) | w_1 .. w_{l-1}]                (equation 6)

The urn is exchangeable: any token is the last one given the others. So token l' of a growing document is resampled by

    p(z_l' = k | the other topics, words) ∝ (alpha_k + N_k) phi[k, w_l'],    N without token l'.

Equation 7 is this conditional's normaliser for the next token; the kernel computes both from one sum. For every l it
repeats `sweeps` times: resample z_1 .. z_{l-1} in turn given w_1 .. w_{l-1}, and record equation 7 for w_l. Then it
draws z_l from its conditional. So no topic behind a record of token l depends on w_l.

Expectation. The estimate of p(w) is the product over l of m_l(w_l), the mean of token l's records. As the topics behind
them depend on w_1 .. w_{l-1} alone, m_l is a distribution over w_l. Summed over w_L, then w_{L-1}, and so on,

    sum_w E[prod_l m_l(w_l)] = 1    over all documents w of L tokens,

so the expected estimate q(w) is itself a distribution over documents, with any number of particles and sweeps. If w is
drawn from the model, the inequalities of Jensen and Gibbs and that of Markov give

    E[sum_l log m_l(w_l)] <= E[log q(w)] <= E[log p(w)],    P(sum_l log m_l(w_l) - log p(w) >= t) <= exp(-t);

of one given document q(w) may be more than p(w). Which distribution it is:

    one particle, one record per token      q = p: given E[m_1 .. m_{l-1}; z_1 .. z_{l-1}] = p(w_1 .. w_{l-1}, z_1 ..
                                            z_{l-1}), which a sweep leaves as it is, m_l and the draw of z_l make it
                                            p(w_1 .. w_l, z_1 .. z_l);
    many particles                          q tends to prod_l E[m_l], whose factors count all particles alike; those
                                            of p weight each by the product of its records so far;
    one particle, many sweeps               q tends to p (equation 6).

Work. The conditional's normaliser is split into

    sum_k N_k phi[k, w]  +  sum_k alpha_k phi[k, w].

The second sum is constant. The first is stored for every distinct word of the document; when a token moves, phi's row
of its new topic is added and that of its old topic subtracted. A draw first tests the share of the other tokens of its
own topic, so the cost of a token that stays does not depend on K. Otherwise the topic is drawn from the rest which,
with the floor f_k = min_w phi[k, w] and without these other tokens, is

    sum_k (alpha_k + N_k) (phi[k, w] - f_k)  +  sum_k N_k f_k  +  sum_k alpha_k f_k.

The first sum runs over the topics in which the word exceeds the floor, few where topics are sparse and smoothed; they
are searched from the largest excess down. The second is searched token by token (sum_k N_k f_k = sum_l f[z_l]), or
topic by topic if there are fewer topics; the third by bisection. A word above the floor in more than MOST topics has
f_k = phi[k, w] instead and no first sum. With few topics all terms are simply summed.

Side by side. The steps of one draw depend on each other and on unpredictable branches; documents are independent. So
several are sampled side by side, one token of each at a time: first which tokens leave their topic, without a branch,
then where they go, then the sums. Every document has its own random stream, so its result does not depend on the
others.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import Evaluation, KernelArrays, kernel_arrays
from heldout.evaluators.random_stream import starts, uniform
from heldout.topics import Topics
from heldout.typing import Floats

PLAIN = 20  # topics; up to this many, or one in WORDS distinct words, plain sums are faster
WORDS = 8
MOST = 256  # longest list of topics per word
GROUP = 8  # entries of a list searched at once, without a branch
RENEWED = 16  # tokens after which the stored sums are recomputed, so that rounding errors do not add up
SIDE_BY_SIDE = 8  # most documents sampled together
TOGETHER = 2**16  # values of phi for documents sampled together: half a megabyte, to fit into the cache
PADDING = 16  # multiple to which columns are padded: vector instructions without a remainder

Records = Floats


@nb.njit(
    "int64(uint32[::1], float64[:, ::1], float64[::1], int64, int64, uint64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _sample_plain(words, phi, alpha, particles, sweeps, state, out):  # type: ignore[no-untyped-def]
    """Write equation 7 for every record and token to out, (particles max(sweeps, 1), L); return the terms summed.

    words: (L,) rows of phi.
    """
    L, K = words.shape[0], alpha.shape[0]
    total_alpha = alpha.sum()
    z = np.empty(L, np.uint32)
    count, weight, cumulative = np.empty(K), np.empty(K), np.empty(K)  # N_k, alpha_k + N_k, running sum
    work = 0
    for particle in range(particles):
        count[:] = 0.0
        weight[:] = alpha
        for last in range(L):
            for sweep in range(max(sweeps, 1)):
                for position in range(0 if sweeps > 0 else last, last + 1):
                    if position < last:
                        old = z[position]
                        count[old] -= 1.0
                        weight[old] = alpha[old] + count[old]
                    row = phi[words[position]]
                    total = 0.0
                    for k in range(K):
                        total += weight[k] * row[k]
                        cumulative[k] = total
                    work += K
                    if position == last:
                        out[particle * max(sweeps, 1) + sweep, last] = total / (total_alpha + last)
                        if sweep + 1 < sweeps:
                            break
                    x = uniform(state) * total
                    new = 0
                    while new < K - 1 and cumulative[new] <= x:
                        new += 1
                    count[new] += 1.0
                    weight[new] = alpha[new] + count[new]
                    z[position] = new
    return work


@nb.njit(
    "Tuple((uint32, int64))(float64, int64, int64, int64, uint32, uint32[:, ::1], float64[::1], float64[:, ::1],"
    " float64[:, ::1])",
    cache=True,
    nogil=True,
    inline="always",
)
def _beyond_the_list(x, d, row, last, old, z, count, phi, prior):  # type: ignore[no-untyped-def]
    """Return the topic of document d at which x falls below 0 in the second or third sum, and the number of steps.

    row: phi's row of the floor, or of a word without a floor. The document's topic K stands for "no topic yet".
    """
    K = phi.shape[1]
    first, steps = d * (K + 1), min(last, K)
    for t in range(steps):
        k = z[t, d] if last <= K else np.uint32(first + t)
        if k != old:
            x -= phi[row, k - first] if last <= K else phi[row, k - first] * count[k]
            if x < 0.0:
                return k, t + 1
    if prior[row, K - 1] == 0.0:
        return np.uint32(first + K), steps
    x = min(x, prior[row, K - 1] * (1.0 - 1e-15))
    start, size = 0, K  # the range of topics whose cumulative sum may be the first above x
    while size > 1:
        half = size >> 1
        start = start + half if prior[row, start + half - 1] <= x else start
        size -= half
        steps += 1
    return np.uint32(first + start), steps


@nb.njit(
    "int64(uint32[:, ::1], int64[::1], uint64[::1], uint32[:, ::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1], float64[:, ::1], float64[::1], int64, int64, uint64[:, ::1], float64[:, ::1],"
    " float64[:, :, ::1])",
    cache=True,
    nogil=True,
)
def _sample_sparse(  # type: ignore[no-untyped-def]
    words, lengths, begins, listed, excess, phi, columns, prior, alpha, particles, sweeps, states, sums, out
):
    """Write equation 7 for every record and token of D documents to out, (D, particles max(sweeps, 1), L).

    Words and topics are numbered consecutively over documents, `width` words and K + 1 topics in each. A document's
    words are numbered as they first appear; its topic K holds the tokens without a topic yet, with alpha 0 and no
    words.

    words: (L, D), the longest document first. phi: by word, the last row is the floor. Word u exceeds it in the topics
    listed[begins[u]:begins[u + 1]], by `excess`, largest first, padded with an excess of 0; a word without a floor has
    an empty list. columns: phi by topic, (D (K + 1), width). prior: phi's rows times alpha, summed up over topics.
    alpha: by topic. sums: (D, width), to work in.

    Returns the number of steps: draws, topics or tokens looked at, and bisections.
    """
    (L, D), K, width = words.shape, phi.shape[1], columns.shape[1]
    total_alpha, total_prior = alpha[: K + 1].sum(), prior[:, K - 1].copy()
    z, phi_z = np.empty((L, D), np.uint32), np.empty((L, D))  # phi[z_l, w_l]
    count, weight = np.empty(D * (K + 1)), np.empty(D * (K + 1))  # N_k, alpha_k + N_k
    seen = np.empty(D, np.int64)  # distinct words so far; `sums` has sum_k N_k phi[k, w] of each
    sum_of = sums.reshape(D * width)
    leaving, left, drawn = np.empty(D, np.uint32), np.empty(D), np.empty(D, np.uint32)
    work = 0
    for particle in range(particles):
        z[:] = (np.arange(D) * (K + 1) + K).astype(np.uint32)
        phi_z[:] = 0.0
        count[:] = 0.0
        weight[:] = alpha
        seen[:] = 0
        running = D
        for last in range(L):
            while lengths[running - 1] <= last:
                running -= 1
            for d in range(running):
                begin = 0 if last % RENEWED == 0 else seen[d]
                if words[last, d] == d * width + seen[d]:
                    seen[d] += 1
                for i in range(begin, seen[d]):
                    s = 0.0
                    for t in range(last):
                        s += columns[z[t, d], i]
                    sums[d, i] = s
            filled = (seen[:running].max() + PADDING - 1) & -PADDING
            for sweep in range(max(sweeps, 1)):
                for position in range(0 if sweeps > 0 else last, last + 1):
                    if position == last:
                        for d in range(running):
                            u = words[last, d]
                            total = max(sum_of[u], 0.0) + total_prior[u]
                            out[d, particle * max(sweeps, 1) + sweep, last] = total / (total_alpha + last)
                        if sweep + 1 < sweeps:
                            break
                    work += running
                    n_leaving = 0
                    for d in range(running):
                        u = words[position, d]
                        total = max(sum_of[u] - phi_z[position, d], 0.0) + total_prior[u]
                        others = count[z[position, d]] - 1.0
                        x = uniform(states[d]) * total - others * phi_z[position, d]
                        leaving[n_leaving], left[n_leaving] = d, x
                        n_leaving += x >= 0.0
                    for m in range(n_leaving):
                        d, x = leaving[m], left[m]
                        u, old = words[position, d], z[position, d]
                        count[old] -= 1.0
                        weight[old] = alpha[old]  # the share of its other tokens was tested first
                        new = old
                        for i in range(begins[u], begins[u + 1]):
                            for j in range(GROUP):
                                new = listed[i, j] if x >= 0.0 else new
                                x -= weight[listed[i, j]] * excess[i, j]
                            work += GROUP
                            if x < 0.0:
                                break
                        if x >= 0.0:
                            row = D * width if begins[u + 1] > begins[u] else np.int64(u)
                            new, steps = _beyond_the_list(x, np.int64(d), row, last, old, z, count, phi, prior)
                            work += steps
                            if new == d * (K + 1) + K:  # rounding alone leads here
                                new = listed[begins[u], 0]
                        weight[old] = alpha[old] + count[old]
                        drawn[m] = new
                    for m in range(n_leaving):
                        d, new = leaving[m], drawn[m]
                        old = z[position, d]
                        count[new] += 1.0
                        weight[new] = alpha[new] + count[new]
                        z[position, d] = new
                        phi_z[position, d] = columns[new, words[position, d] - d * width]
                        for i in range(filled):
                            sums[d, i] += columns[new, i] - columns[old, i]
    return work


class _Document(NamedTuple):
    """A document's index, its distinct words in order of appearance, and its tokens as indices into them."""

    d: int
    distinct: NDArray[np.int32]
    words: NDArray[np.uint32]


def _zeros(*shape: int) -> Floats:
    """Return an array of zeros aligned to a cache line, so that no vector of a row straddles two."""
    room = np.zeros(math.prod(shape) + 7)
    begin = -room.ctypes.data // room.itemsize % 8
    return room[begin : begin + math.prod(shape)].reshape(shape)


def _width(document: _Document) -> int:
    return -(-len(document.distinct) // PADDING) * PADDING


def _together(documents: list[_Document], K: int) -> Iterator[list[_Document]]:
    """Yield groups of documents to sample side by side, of about the same length, longest first."""
    documents = sorted(documents, key=lambda document: -len(document.words))
    while documents:
        n = min(max(TOGETHER // (K * _width(documents[0])), 1), SIDE_BY_SIDE)
        yield documents[:n]
        documents = documents[n:]


def _sample_together(
    documents: list[_Document],
    arrays: KernelArrays,
    floor: Floats,
    particles: int,
    sweeps: int,
    states: NDArray[np.uint64],
) -> tuple[Floats, int]:
    """Return the records and the number of terms of `_sample_sparse` for these documents."""
    D, K, width = len(documents), len(floor), max(map(_width, documents))
    lengths = np.array([len(document.words) for document in documents])
    words, phi = np.zeros((lengths[0], D), np.uint32), np.zeros((D * width + 1, K))
    phi[-1] = floor
    for d, document in enumerate(documents):
        words[: lengths[d], d] = document.words + d * width
        phi[d * width : d * width + len(document.distinct)] = arrays.phi_by_word[document.distinct]
    columns = _zeros(D * (K + 1), width)
    columns.reshape(D, K + 1, width)[:, :-1] = phi[:-1].reshape(D, width, K).transpose(0, 2, 1)
    listed_cells = phi[:-1] > floor
    n_above = listed_cells.sum(axis=1)
    listed_cells[n_above > MOST] = False
    n_above[n_above > MOST] = 0
    row, k = np.nonzero(listed_cells)
    exceeds = phi[row, k] - floor[k]
    largest_first = np.lexsort((-exceeds, row))
    begins = np.concatenate([[0], np.cumsum(-(-n_above // GROUP))])
    place = begins[row] * GROUP + np.arange(len(row)) - (np.cumsum(n_above) - n_above)[row]
    listed, excess = np.zeros((begins[-1], GROUP), np.uint32), np.zeros((begins[-1], GROUP))
    listed.flat[place], excess.flat[place] = (k + row // width * (K + 1))[largest_first], exceeds[largest_first]
    out = np.empty((D, particles * max(sweeps, 1), lengths[0]))
    work = _sample_sparse(
        words,
        lengths,
        begins.astype(np.uint64),
        listed,
        excess,
        phi,
        columns,
        np.cumsum(phi * arrays.alpha, axis=1),
        np.tile(np.append(arrays.alpha, 0.0), D),
        particles,
        sweeps,
        states,
        _zeros(D, width),
        out,
    )
    return out, work


def sample(
    topics: Topics,
    documents: Corpus,
    rng: np.random.Generator,
    *,
    particles: int,
    sweeps: int,
    error: Callable[[Records], float],
) -> tuple[Evaluation, int]:
    """Estimate every document's log p(w | alpha, phi), the logarithm of the product over tokens of the mean record.

    Every particle is an independent run over a document, with `sweeps` resampling sweeps before each token and a record
    of each, or one record without resampling where these are 0. `error` takes the records (equation 7), (particles
    max(sweeps, 1), L), particle by particle, divided by each token's mean, and returns the standard error of their
    document's log-likelihood. Other arguments and the result are as in `heldout.evaluators`; it comes with
    the number of topics that were visited in all.
    """
    arrays = kernel_arrays(topics, documents)
    states = starts(rng, len(arrays.lengths))
    floor = topics.phi.min(axis=1)
    log_likelihood, standard_error = np.zeros(len(arrays.lengths)), np.zeros(len(arrays.lengths))
    possible = arrays.phi_by_word @ arrays.alpha > 0.0
    sparse: list[_Document] = []
    work = 0

    def estimate(d: int, records: Records) -> None:
        means = records.mean(axis=0)
        log_likelihood[d] = np.log(means).sum()
        standard_error[d] = error(records / means)

    for d in np.flatnonzero(arrays.lengths).tolist():
        distinct, first, words = np.unique(
            arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        document = _Document(d, distinct[order], np.argsort(order)[words].astype(np.uint32))
        if not possible[distinct].all():
            log_likelihood[d] = -math.inf
        elif topics.n_topics <= max(PLAIN, len(distinct) // WORDS):
            phi, records = arrays.phi_by_word[document.distinct], np.empty((particles * max(sweeps, 1), len(words)))
            work += _sample_plain(document.words, phi, arrays.alpha, particles, sweeps, states[d], records)
            estimate(d, records)
        else:
            sparse.append(document)
    for together in _together(sparse, topics.n_topics):
        indices = [document.d for document in together]
        out, steps = _sample_together(together, arrays, floor, particles, sweeps, states[indices])
        work += steps
        for d, records in zip(indices, out, strict=True):
            estimate(d, records[:, : arrays.lengths[d]])
    return Evaluation(log_likelihood, arrays.lengths, standard_error, arrays.left_out), work
