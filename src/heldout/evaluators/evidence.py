r"""The evidence of LDA, log p(y | K, alpha, gamma), topics and weights integrated out (Murphy 2012, section 27.3.8).

    p(y) = sum_q p(q | alpha) p(y | q, gamma),        equations 27.34 and 27.36, over all K^N assignments.

`annealed_evidence` anneals from the prior of the assignments to their posterior (annealed importance sampling; Wallach
et al. 2009), p_t(q) ∝ p(q | alpha) p(y | q, gamma)^beta_t, beta_0 = 0 < .. < beta_T = 1, by sweeps of

    p(q_l = k | .) ∝ (c_ik + alpha) [(c_vk + gamma) / (c_k + V gamma)]^beta_t,      counts without token l.

Its weight, log w = sum_t (beta_t - beta_{t-1}) log p(y | q_{t-1}, gamma), has E w = p(y): log w is low on average. From
a draw of the posterior, which a drawn corpus comes with, the same chain backwards, tokens in reverse order, has
E 1/w = 1/p(y): log w is then high on average, and the two enclose log p(y) (Grosse et al. 2015).

`exact_evidence` is exact for two topics and few words. Given the counts of topic 1 by word, c, the second factor is
known, so that p(y) = sum_c P(c) p(y | c, gamma), and P(c), their distribution under the prior, is a convolution over
documents of P_i(c) = prod_v binom(n_iv, c_v) B(alpha + |c|, alpha + L_i - |c|) / B(alpha, alpha).
"""

import itertools
import math

import numba as nb
import numpy as np
from scipy.special import betaln, gammaln, logsumexp

from heldout.errors import InputError
from heldout.typing import Floats, Ints

LARGEST_ARRAY = 5e7  # largest number of count vectors in `exact_evidence`


@nb.njit("void(int64[::1], int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], "
         "float64, float64, float64, float64[::1], boolean)", cache=True)  # fmt: skip
def _sweep(words, documents, q, in_document, in_word, totals, alpha, gamma, beta, uniforms, backwards):  # type: ignore[no-untyped-def]
    """Resample every token's topic at inverse temperature beta; a token whose topic is -1 is new."""
    K, V, N = totals.shape[0], in_word.shape[0], len(words)
    sums = np.empty(K)
    for step in range(N):
        token = N - 1 - step if backwards else step
        v, i, old = words[token], documents[token], q[token]
        if old >= 0:
            in_document[i, old] -= 1
            in_word[v, old] -= 1
            totals[old] -= 1
        total = 0.0
        for k in range(K):
            total += (in_document[i, k] + alpha) * ((in_word[v, k] + gamma) / (totals[k] + V * gamma)) ** beta
            sums[k] = total
        new = min(K - 1, np.searchsorted(sums, uniforms[token] * total, side="right"))
        q[token] = new
        in_document[i, new] += 1
        in_word[v, new] += 1
        totals[new] += 1


def log_likelihood(in_word: Ints, gamma: float) -> float:
    """Return log p(y | q, gamma), nats, equation 27.36, of the (V, K) counts of words in topics."""
    V = len(in_word)
    totals = in_word.sum(axis=0)
    word_terms = gammaln(in_word + gamma) - gammaln(gamma)
    return float(word_terms.sum() + (gammaln(V * gamma) - gammaln(totals + V * gamma)).sum())


def annealed_evidence(
    words: Ints,
    documents: Ints,
    n_words: int,
    *,
    topics: int,
    alpha: float,
    gamma: float,
    temperatures: int,
    random: np.random.Generator,
    posterior: Ints | None = None,
) -> float:
    """Return log w of one chain, nats: low on average if forward, high if backward from a posterior draw.

    `words`, (N,), are the tokens' words, 0 .. n_words - 1, `documents`, (N,), their documents, from 0; there are K
    topics, and T temperatures, steps from prior to posterior; `posterior`, (N,), are topics drawn from it, None anneals
    forwards. Raises InputError for no token, topic or step, or a parameter that is not positive.
    """
    if len(words) == 0 or topics < 1 or temperatures < 1 or not (0.0 < alpha < math.inf > gamma > 0.0):
        raise InputError(
            f"evidence: {len(words)} tokens, {topics} topics, {temperatures} temperatures, alpha {alpha}, gamma"
            f" {gamma}; each must be at least 1, or positive and finite"
        )
    N, D = len(words), int(documents.max()) + 1
    q = np.full(N, -1, dtype=np.int64) if posterior is None else posterior.astype(np.int64)
    in_document, in_word = np.zeros((D, topics), dtype=np.int64), np.zeros((n_words, topics), dtype=np.int64)
    totals = np.zeros(topics, dtype=np.int64)
    if posterior is not None:
        np.add.at(in_document, (documents, q), 1)
        np.add.at(in_word, (words, q), 1)
        totals += in_word.sum(axis=0)

    def sweep(beta: float) -> None:
        uniforms = random.random(N)
        _sweep(words, documents, q, in_document, in_word, totals, alpha, gamma, beta, uniforms, posterior is not None)

    betas = np.linspace(0.0, 1.0, temperatures + 1)
    log_weight = 0.0
    if posterior is None:
        sweep(0.0)  # from no topics this is the urn that draws from the prior
        for low, high in itertools.pairwise(betas):
            log_weight += (high - low) * log_likelihood(in_word, gamma)
            sweep(high)
    else:
        for high, low in itertools.pairwise(betas[::-1]):
            sweep(high)
            log_weight += (high - low) * log_likelihood(in_word, gamma)
    return float(log_weight)


def exact_evidence(counts: Ints, alpha: float, gamma: float) -> tuple[float, Floats]:
    """Return the exact evidence of (D, V) counts for two topics, nats, and the topics' means E[b | y], (2, V).

    Topic 1 is the one with the greater share of the first word's tokens, ties halved: without that the two topics,
    which may be swapped, have the same mean.

    Raises:
        InputError: for parameters that are not positive, or more count vectors than `LARGEST_ARRAY`.

    Examples:
        >>> counts = np.array([[2, 0], [0, 2]])
        >>> round(exact_evidence(counts, alpha=1.0, gamma=1.0)[0], 4)
        -2.9243
    """
    shape = tuple(int(n) + 1 for n in counts.sum(axis=0))
    if not (0.0 < alpha < math.inf > gamma > 0.0):
        raise InputError(f"exact evidence: alpha {alpha}, gamma {gamma}; both must be positive and finite")
    if math.prod(shape) > LARGEST_ARRAY:
        raise InputError(
            f"exact evidence: {math.prod(shape):.1e} count vectors of {len(shape)} words, the limit is"
            f" {LARGEST_ARRAY:.1e}; take fewer tokens"
        )
    prior = np.ones((1,) * len(shape))
    for n in counts:
        grown = np.zeros(tuple(np.array(prior.shape) + n))
        for c in itertools.product(*(range(int(m) + 1) for m in n)):
            ones, others = sum(c), int(n.sum()) - sum(c)
            ways = math.prod(math.comb(int(m), k) for m, k in zip(n, c, strict=True))
            p = ways * math.exp(betaln(alpha + ones, alpha + others) - betaln(alpha, alpha))
            grown[tuple(slice(k, k + size) for k, size in zip(c, prior.shape, strict=True))] += p * prior
        prior = grown
    V = len(shape)
    first = np.ogrid[tuple(map(slice, shape))]
    splits = [(n, size - 1 - n) for n, size in zip(first, shape, strict=True)]  # of topic 1 and of topic 2
    in_all = np.asarray(sum(first))
    totals = in_all, int(counts.sum()) - in_all
    with np.errstate(divide="ignore"):
        log_joint = np.log(prior)
    for total in totals:
        log_joint += gammaln(V * gamma) - gammaln(total + V * gamma)
    for both in splits:
        for count in both:
            log_joint += gammaln(count + gamma) - gammaln(gamma)
    log_evidence = float(logsumexp(log_joint))
    share = np.sign(2 * first[0] - (shape[0] - 1)) + 1.0  # 2, 1 or 0: both labellings count once
    posterior = np.exp(log_joint - log_evidence) * share
    means = np.empty((2, V))
    for v, both in enumerate(splits):
        for k, count in enumerate(both):
            means[k, v] = (posterior * ((count + gamma) / (totals[k] + V * gamma))).sum()
    return log_evidence, means
