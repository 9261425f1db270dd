r"""The exact likelihood of documents with the topics fixed, at small numbers of topics.

    p(w | alpha, phi) = ∫ prod_l (sum_k theta_k phi[k, w_l]) Dir(theta | alpha) dtheta

(the integral of equation 4.36 of Welling et al., 2008, for the model of their equation 3.20).

Derivation. Give every token l a topic z_l and integrate theta out: with C_k the number of tokens of topic k and
A = sum_k alpha_k,

    p(w, z) = prod_l phi[z_l, w_l]  Gamma(A) / Gamma(A + L)  prod_k Gamma(alpha_k + C_k) / Gamma(alpha_k).

The K^L assignments enter the prior through their counts alone. So let m_l(C) = p(w_1 .. w_l, counts C) be the sum over
all assignments of the first l tokens that have the counts C. Polya's urn p(z_{l+1} = k | z_1 .. z_l) =
(alpha_k + C_k) / (A + l) gives

    m_{l+1}(C) = sum_k m_l(C - e_k) phi[k, w_{l+1}] (alpha_k + C_k - 1) / (A + l),        m_0(0) = 1,

and p(w_1 .. w_l) = sum_C m_l(C). Every term is positive, so nothing cancels. Each layer is divided by its sum, which is
p(w_l | w_1 .. w_{l-1}); the logarithms of the sums add up to the result. In a layer that sums to 1, values below 1e-290
become 0. What follows them can favour one count vector over another by at most a factor C(L, L/2) where every
alpha_k >= 1 (by L / alpha_k more for each smaller one), so with up to 900 tokens this moves the result by less than
1e-9 nats whatever the topics are; for documents whose words are in no contrived order it does not move it at all.

Layout. With t_k = C_1 + ... + C_k, the vectors with C_1 + ... + C_{K-1} <= l have the ranks
sum_{k<K} C(t_k + k - 1, k) (C_K follows from l): dense, and the same in every layer. C - e_k lies
sum_{k<=j<K} C(t_j + j - 2, j - 1) places before C, which does not depend on C_1: a run over C_1 reads K runs and writes
one. A layer has C(l + K - 1, K - 1) values, and a document costs K C(L + K - 1, K) updates.
"""

import math
from collections.abc import Iterable

import numba as nb
import numpy as np

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.evaluators.evaluation import Evaluation, in_vocabulary
from dlvm.models.topics import Topics

LARGEST_COST = 10**12  # updates; a quarter of an hour
LARGEST_LAYER = 2**26  # count vectors; two layers of 512 MiB
SMALLEST = 1e-290  # in a layer that sums to 1, what is below is 0


@nb.njit("float64(float64[::1], int64)", cache=True)
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


@nb.njit("void(int32[::1], int64[::1], float64[:, ::1], float64[::1], float64[::1])", cache=True, nogil=True)
def _forward(tokens, offsets, phi_by_word, alpha, out):  # type: ignore[no-untyped-def]
    """Write every document's log p(w | alpha, phi) to out; topics are counted from 0 here."""
    K = alpha.shape[0]
    longest = 0
    for d in range(out.shape[0]):
        longest = max(longest, offsets[d + 1] - offsets[d])
    steps = np.zeros((K, longest + 2), np.int64)  # C(t + k - 1, k): how far the rank falls with t_k
    steps[0] = 1
    for k in range(1, K):
        for length in range(1, longest + 2):
            steps[k, length] = steps[k, length - 1] + steps[k - 1, length]
    old, new = np.empty(steps[K - 1, longest + 1]), np.empty(steps[K - 1, longest + 1])
    t = np.zeros(K, np.int64)
    for d in range(out.shape[0]):
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
                back = 0  # how far before C lies C - e_k
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
                k = 1
                while k < K - 1 and t[k] == t[k + 1]:
                    t[k] = 0
                    k += 1
                if k >= K - 1:
                    break
                t[k] += 1
            total = _sum_and_flush(new, start)
            old, new = new, old
            if total == 0.0:  # a word that no topic gives
                out[d] = -np.inf
                break
            out[d] += math.log(total)


def cost(lengths: Iterable[int], topics: int) -> int:
    """Return how many updates documents of these lengths take: the sum over documents of K C(L + K - 1, K)."""
    return sum(topics * math.comb(int(length) + topics - 1, topics) for length in lengths)


def exact_marginal(
    topics: Topics,
    documents: Corpus,
    samples: int = 0,  # noqa: ARG001  the estimators' signature
    rng: np.random.Generator | None = None,  # noqa: ARG001
    *,
    limit: int = LARGEST_COST,
) -> Evaluation:
    """Return log p(w | alpha, phi) of every document, theta integrated out.

    Args:
        topics: phi and alpha; any positive alpha.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        samples: not used, nor is rng: there is nothing to sample.
        rng: not used.
        limit: the largest `cost` that is accepted.

    Returns:
        log-likelihoods in nats of the tokens in their order (sequences, not bags of words), without Monte Carlo
        error; 0 for an empty document.

    Raises:
        InputError: when the documents cost more than `limit` updates, or the longest needs more memory than
            `LARGEST_LAYER` count vectors; both figures are named.
    """
    documents, left_out = in_vocabulary(documents, topics)
    lengths, K = documents.lengths, topics.n_topics
    needed = cost(lengths, K)
    if needed > limit:
        raise InputError(
            f"exact marginal: {documents.n_documents} documents at {K} topics take {needed:.1e} updates, the limit is"
            f" {limit:.1e}; take fewer or shorter documents, or fewer topics"
        )
    longest = int(lengths.max(initial=0))
    layer = math.comb(longest + K - 1, K - 1)
    if layer > LARGEST_LAYER:
        raise InputError(
            f"exact marginal: a document of {longest} tokens at {K} topics has {layer:.1e} count vectors, the limit is"
            f" {LARGEST_LAYER:.1e}; take shorter documents or fewer topics"
        )
    log_likelihood = np.empty(documents.n_documents)
    _forward(
        np.ascontiguousarray(documents.tokens, dtype=np.int32),
        np.ascontiguousarray(documents.offsets, dtype=np.int64),
        topics.phi_by_word,
        np.ascontiguousarray(topics.alpha, dtype=np.float64),
        log_likelihood,
    )
    return Evaluation(log_likelihood, lengths, np.zeros(documents.n_documents), left_out)
