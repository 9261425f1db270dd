r"""The exact likelihood of documents with the topics fixed, at small numbers of topics.

    p(w | alpha, phi) = ∫ prod_l (sum_k theta_k phi[k, w_l]) Dir(theta | alpha) dtheta

(the integral of equation 4.36 of Welling et al., 2008, for the model of their equation 3.20).

Derivation. Give every token l a topic z_l and integrate theta out: with C_k the number of tokens of topic k and
A = sum_k alpha_k,

    p(w, z) = prod_l phi[z_l, w_l]  Gamma(A) / Gamma(A + L)  prod_k Gamma(alpha_k + C_k) / Gamma(alpha_k).

The prior of an assignment depends on its counts alone. So let m_l(C) = p(w_1 .. w_l, counts C) be the sum over all
assignments of the first l tokens with the counts C. Polya's urn p(z_{l+1} = k | z_1 .. z_l) = (alpha_k + C_k) / (A + l)
gives

    m_{l+1}(C) = sum_k m_l(C - e_k) phi[k, w_{l+1}] (alpha_k + C_k - 1) / (A + l),        m_0(0) = 1,

and p(w_1 .. w_l) = sum_C m_l(C). Every term is positive, so nothing cancels. Each layer is divided by its sum, which is
p(w_l | w_1 .. w_{l-1}); the logarithms of the sums add up to the result.

Values up to e = 1e-290 are set to 0. Of layer l, whose N_l values then sum to p_l = p(w_l | w_1 .. w_{l-1}), this takes
at most the share N_l e / p_l. With g(C) = p(w_{l+1} .. w_L | counts C) the result is sum_C m_l(C) g(C), so it loses at
most the share (N_l e / p_l) max g / min g. Write g as a sum over the later tokens' topics: where n_k of them have topic
k, C enters by prod_k (alpha_k + C_k)(alpha_k + C_k + 1) .. (alpha_k + C_k + n_k - 1). Each factor is least at C_k = 0,
and its ratio to that is prod_{i<C_k} (alpha_k + n_k + i) / (alpha_k + i): it falls as alpha_k grows, is the binomial
coefficient C(C_k + n_k, n_k) at alpha_k = 1, and at most L / alpha_k times that below 1. The product of the binomial
coefficients is at most C(L, l), of which it is one term by Vandermonde's identity, and sum_l C(L, l) = 2^L. In all

    share lost  <=  e 2^L N_L prod_{alpha_k < 1} (L / alpha_k) / min_l p_l.

With 800 tokens, a flat prior and K = 2 it is 1e-46 / min_l p_l, at most 1e-41 / min_l p_l for any K that memory allows;
with 900 tokens 1e-16 and 1e-11 in their place. The tokens of a longer document are shuffled, which does not change p:
in the original order a contrived first part could suppress the count vectors that the second requires.

Layout. With t_k = C_1 + ... + C_k, the vectors with C_1 + ... + C_{K-1} <= l have the ranks
sum_{k<K} C(t_k + k - 1, k) (C_K follows from l): dense, and the same in every layer. C - e_k lies
sum_{k<=j<K} C(t_j + j - 2, j - 1) places before C, which does not depend on C_1: a run over C_1 reads K runs and writes
one. A layer has C(l + K - 1, K - 1) values, and a document costs K C(L + K - 1, K) updates.

The posterior mean of theta comes with the last layer: given the counts, theta is Dirichlet(alpha + C), so

    E[theta_k | w] = sum_C m_L(C) (alpha_k + C_k) / (A + L) / sum_C m_L(C).

Repeated tokens. Multiplying n copies of a word in at once takes fewer terms at K = 2 only, where the gain is
negligible. Evaluating the polynomial at points instead of expanding it does pay:
`heldout.evaluators.simplex_quadrature`, whose cost depends on the distinct words, takes the documents for which it is
faster and does not underflow, from K = 3 on.
"""

import math
from collections.abc import Iterable

import numba as nb
import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, KernelArrays, kernel_arrays
from heldout.evaluators.simplex_quadrature import FEWEST_TOPICS, LEAST_COST, by_quadrature, is_safe, quadrature_cost
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

LARGEST_COST = 10**12  # updates, which take a quarter of an hour
UPDATES_PER_SECOND = 1e9  # approximate speed of the polynomial on one core, for the time that a refusal states
CHEAPER = 4  # operations of the quadrature in the time of one update
LARGEST_LAYER = 2**26  # count vectors; two layers take 512 MiB
SMALLEST = 1e-290  # largest value of a layer that is set to 0
LONGEST_IN_ORDER = 900  # tokens; longer documents are shuffled


@nb.njit(cache=True)
def _sum_and_flush(layer, size):  # type: ignore[no-untyped-def]
    """Return the sum of the first `size` values in a fixed order (four partial sums), after setting tiny ones to 0."""
    sums = np.zeros(4)
    for i in range(0, size - size % 4, 4):
        for j in range(4):
            value = layer[i + j]
            value = value if value > SMALLEST else 0.0
            layer[i + j] = value
            sums[j] += value
    for i in range(size - size % 4, size):
        layer[i] = layer[i] if layer[i] > SMALLEST else 0.0
        sums[0] += layer[i]
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


@nb.njit(cache=True, inline="always")
def _next_run(t):  # type: ignore[no-untyped-def]
    """Advance the partial sums t_2 .. t_{K-1} (t[1] .. t[K - 2] here) to the next run; return False after the last."""
    K = t.shape[0]
    k = 1
    while k < K - 1 and t[k] == t[k + 1]:
        t[k] = 0
        k += 1
    if k >= K - 1:
        return False
    t[k] += 1
    return True


@nb.njit(cache=True, nogil=True)  # without types it is compiled where it is called: most audits do not
def forward(tokens, offsets, phi_by_word, alpha, wanted, out, means, layer):  # type: ignore[no-untyped-def]
    """Write log p(w | alpha, phi) of the wanted documents to out, and E[theta | w] to means unless it has no rows.

    `layer`, unless it is empty, takes m_L(C), up to a common factor, of the last wanted document. Topics are counted
    from 0 here.
    """
    K = alpha.shape[0]
    longest = 0
    for d in range(out.shape[0]):
        if wanted[d]:
            longest = max(longest, offsets[d + 1] - offsets[d])
    steps = np.zeros((K, longest + 2), np.int64)  # C(t + k - 1, k): how far the rank falls with t_k
    steps[0] = 1
    for k in range(1, K):
        for length in range(1, longest + 2):
            steps[k, length] = steps[k, length - 1] + steps[k - 1, length]
    old, new = np.empty(steps[K - 1, longest + 1]), np.empty(steps[K - 1, longest + 1])
    t = np.zeros(K, np.int64)
    for d in range(out.shape[0]):
        if not wanted[d]:
            continue
        out[d] = 0.0
        old[0] = 1.0
        total = 1.0
        for position in range(offsets[d + 1] - offsets[d]):
            phi = phi_by_word[tokens[offsets[d] + position]] / (total * (alpha.sum() + position))
            t[:] = 0
            t[K - 1] = position + 1
            start = 0
            while True:  # one run of the new layer: C_0 goes from 0 to t_1, the other partial sums are fixed
                size = t[1] + 1 if K > 1 else 1
                run = new[start : start + size]
                back = 0  # how many places before C stands C - e_k
                count = t[K - 1] - t[K - 2] if K > 2 else 0
                if count > 0:
                    factor = phi[K - 1] * (alpha[K - 1] + (count - 1))
                    source = old[start : start + size]
                    for i in range(size):
                        run[i] = factor * source[i]
                else:
                    run[:] = 0.0
                for k in range(K - 2, 1, -1):
                    back += steps[k, t[k]]
                    count = t[k] - t[k - 1]
                    if count > 0:
                        factor = phi[k] * (alpha[k] + (count - 1))
                        source = old[start - back : start - back + size]
                        for i in range(size):
                            run[i] += factor * source[i]
                if K > 2:
                    back += steps[1, t[1]]
                if size > 1:  # C_0 = i comes from the same value of the old layer by topic 1, from i - 1 by topic 0
                    source = old[start - back : start - back + size - 1]
                    for i in range(size - 1):
                        run[i] += phi[1] * (alpha[1] + (size - 2 - i)) * source[i]
                    for i in range(size - 1):
                        run[i + 1] += phi[0] * (alpha[0] + i) * source[i]
                elif K == 1:
                    run[0] = phi[0] * (alpha[0] + position) * old[0]
                start += size
                if not _next_run(t):
                    break
            total = _sum_and_flush(new, start)
            old, new = new, old
            if total == 0.0:  # no topic gives this word
                out[d] = -np.inf
                break
            out[d] += math.log(total)
        layer[:] = old[: layer.shape[0]]
        if means.shape[0] == 0:
            continue
        if total == 0.0:
            means[d] = np.nan
            continue
        length = offsets[d + 1] - offsets[d]
        means[d] = 0.0  # becomes sum_C m_L(C) C_k
        t[:] = 0
        t[K - 1] = length
        start = 0
        while True:
            size = t[1] + 1 if K > 1 else 1
            mass = 0.0
            for i in range(size):
                value = old[start + i]
                mass += value
                if K > 1:
                    means[d, 0] += value * i
                    means[d, 1] += value * (size - 1 - i)
            if K == 1:
                means[d, 0] = mass * length
            for k in range(2, K):
                means[d, k] += mass * (t[k] - t[k - 1])
            start += size
            if not _next_run(t):
                break
        for k in range(K):
            means[d, k] = (alpha[k] + means[d, k] / total) / (alpha.sum() + length)


def cost(lengths: Iterable[int], topics: int) -> int:
    """Return the updates for documents of (D,) lengths (tokens): the sum over documents of K C(L + K - 1, K)."""
    return sum(topics * math.comb(int(length) + topics - 1, topics) for length in lengths)


def document_cost(topics: Topics, tokens: NDArray[np.int32]) -> float:
    """Return the number of updates for a document of tokens (L,), by the cheaper method; inf for want of memory."""
    K, length = topics.n_topics, len(tokens)
    if math.comb(length + K - 1, K - 1) > LARGEST_LAYER:
        return math.inf
    faster = _quadrature_is_faster(tokens, topics.phi_by_word, topics.alpha)
    return quadrature_cost(tokens, K) / CHEAPER if faster else float(cost([length], K))


def _quadrature_is_faster(tokens: NDArray[np.int32], phi_by_word: Floats, alpha: Floats) -> bool:
    """Return whether quadrature takes less time for a document, and is accurate enough for it."""
    K, polynomial = len(alpha), cost([len(tokens)], len(alpha))
    if K < FEWEST_TOPICS or polynomial < LEAST_COST or quadrature_cost(tokens, K) > CHEAPER * polynomial:
        return False
    return is_safe(tokens, phi_by_word, alpha)


def exact_marginal(topics: Topics, documents: Corpus, *, limit: int = LARGEST_COST) -> Evaluation:
    """Return log p(w | alpha, phi) of every document, theta integrated out.

    Arguments and result are as in `heldout.evaluators`; `limit` is the largest `cost` that is accepted.

    Raises:
        InputError: when the documents cost more than `limit` updates, or the longest needs more memory than
            `LARGEST_LAYER` count vectors; states the need and the limit.

    Examples:
        >>> exact_marginal(topics, documents).log_likelihood.round(2)
        array([-3.72, -0.8 ])
    """
    arrays, log_likelihood, _ = _run(topics, documents, limit, means=False)
    return Evaluation.deterministic(log_likelihood, arrays.lengths, arrays.left_out)


def exact_posterior_mean(topics: Topics, documents: Corpus) -> Floats:
    """Return E[theta | w, alpha, phi] of every document, (D, K); alpha / A for an empty one.

    Arguments and errors are as in `exact_marginal`. A document of probability 0 has no posterior, and its row is NaN.

    Examples:
        >>> exact_posterior_mean(topics, documents).round(2)
        array([[0.72, 0.28],
               [0.37, 0.63]])
    """
    return _run(topics, documents, LARGEST_COST, means=True)[2]


def _run(topics: Topics, documents: Corpus, limit: int, *, means: bool) -> tuple[KernelArrays, Floats, Floats]:
    """Return the kernel's arrays, the documents' log-likelihoods, (D,), and, if `means`, posterior means, (D, K)."""
    arrays, D, K = kernel_arrays(topics, documents), documents.n_documents, topics.n_topics
    needed = cost(arrays.lengths, K)
    if needed > limit:
        raise InputError(
            f"exact marginal: {D} documents at {K} topics take {needed:.1e} updates (at most about"
            f" {needed / UPDATES_PER_SECOND:.2g} s), the limit is {limit:.1e}; take fewer or shorter documents, or"
            " fewer topics"
        )
    log_likelihood, theta = np.empty(D), np.empty((D if means else 0, K))
    left = np.ones(D, dtype=np.bool_)
    for d in range(D):
        tokens = arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]]
        if _quadrature_is_faster(tokens, arrays.phi_by_word, arrays.alpha):
            left[d] = False
            log_likelihood[d], mean = by_quadrature(tokens, arrays.phi_by_word, arrays.alpha)
            if means:
                theta[d] = mean
    longest = int(arrays.lengths[left].max(initial=0))
    layer = math.comb(longest + K - 1, K - 1)
    if layer > LARGEST_LAYER:
        raise InputError(
            f"exact marginal: a document of {longest} tokens at {K} topics has {layer:.1e} count vectors, the limit is"
            f" {LARGEST_LAYER:.1e}; take shorter documents or fewer topics"
        )
    tokens = arrays.tokens.copy()
    for long in np.flatnonzero(left & (arrays.lengths > LONGEST_IN_ORDER)):
        stream = tokens[arrays.offsets[long] : arrays.offsets[long + 1]]
        generator("exact-marginal", tokens=len(stream)).shuffle(stream)
    forward(tokens, arrays.offsets, arrays.phi_by_word, arrays.alpha, left, log_likelihood, theta, np.empty(0))
    return arrays, log_likelihood, theta
