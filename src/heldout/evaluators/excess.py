r"""Bounds on the excess of folding in over the likelihood, for all topics.

A document w of n tokens has the topics z_1 .. z_n, N_k tokens of topic k; its weights theta have the prior Dir(alpha),
A = sum_k alpha_k. With the prior and the maximised probability of the topics,

    p(z) = Gamma(A) / Gamma(A + n) prod_k Gamma(alpha_k + N_k) / Gamma(alpha_k),
    max_theta p(z | theta) = prod_k (N_k / n)^N_k,

both functions of N alone, let e(N) = log max_theta p(z | theta) - log p(z). Where no word belongs to two topics, z can
be read off w, and e(N) is the excess of folding in, max_theta log p(w | theta) - log p(w), itself: p(w | z) cancels.

1. All documents (theorem 1). Since p(w | theta) / p(w) = E[p(z | theta) / p(z) | w], for any theta, however it was
   found,

       log p(w | theta) - log p(w)  <=  log E[exp e(N) | w]  <=  max_N e(N).

   Equality at the maximum of w: each of its tokens is of a word that one topic alone gives, and N maximises e. The
   proof asks nothing of the prior but p(z) > 0. The maximum, `largest_excess`, is that of a sum over topics,

       e(N) = log Gamma(A + n) / Gamma(A) - n log n + sum_k f_k(N_k),
       f_k(N) = N log N - log Gamma(alpha_k + N) / Gamma(alpha_k).

   a. Larger counts belong to smaller alpha. Let alpha_j <= alpha_k and a < b. To give b to j and a to k, rather than
      the reverse, changes the sum by sum_{a <= i < b} log (alpha_k + i) / (alpha_j + i) >= 0. So with alpha ascending
      some maximiser has N_1 >= N_2 >= .., its q-th count is at most n / q, topics after the n-th have none, and

          F_q(m) = max_{0 <= r <= m / q} F_{q-1}(m - r) + f_q(r),        F_1(m) = f_1(m),

      in n^2 / 2 (1 + 1/2 + .. + 1 / min(n, K)) steps, for all lengths up to n at once.
   b. f_k is convex for alpha_k >= 1/2: its second derivative is 1 / N - psi'(alpha_k + N), and psi'(N + 1/2) =
      int_0^inf t exp(-N t) / (2 sinh(t / 2)) dt < 1 / N. Of two topics with convex f_k one can give all its tokens to
      the other at no loss, by a. to that of the smaller alpha. So of the topics from 1/2 on only the first can have
      tokens, and where all are from 1/2 on it has all: the bound is -log p(z) of a document of the least likely topic
      alone, for alpha = 1 log C(n + K - 1, n).
   c. On the whole numbers f_k is concave for alpha_k <= 1/3. Its second difference at N >= 1 is s_N - log (alpha_k +
      N) / (alpha_k + N - 1), with s_N = sum_{j >= 0} 2 / ((2j + 1)(2j + 2)) N^(-2j - 1) that of N log N; s_1 = log 4,
      and for N >= 2 s_N <= 1 / N + 1 / (6 N^2) <= 1 / (N - 1/6) <= log (N + 1/3) / (N - 2/3). So where all alpha are
      equal and at most 1/3 all counts are n // K or one more, and the bound grows as (min(n, K) - 1) log 1 / alpha
      when alpha falls to 0.

   That the maximum moves from a corner at 1/2 to the middle at 1/3 is known for equal alpha (Jääsaari et al. 2018).

2. A document of known weights. With q(z) = p(z | w, theta), under which tokens are independent, by Jensen's inequality

       log p(w)  =  log p(w | theta) + log E_q[p(z) / p(z | theta)]
                >=  log p(w | theta) + E_q[log p(z) - log p(z | theta)].

   log p(z) is convex in N. So, with m_k = E_q[N_k] and p(m) as p(z) with m for N,

       log p(w | theta) - log p(w)  <=  sum_k m_k log theta_k - log p(m),

   which is the mean-field bound (`heldout.evaluators.mean_field_bound`) at gamma = alpha + m; maximised from there that
   bound is no lower. At the maximum m = n theta, as EM moves it no more, and the right side is e(n theta): a document
   exceeds its likelihood by no more than one of the same weights whose topics can be read off.

3. All documents together (theorem 2). Z_n = sum_w max_theta p(w | theta) <= sum_z max_theta p(z | theta) = C(K, n),
   the parametric complexity of a multinomial (`heldout.evaluators.normaliser`), with equality for topics that share no
   word. By Jensen's inequality the mean excess of documents that the model draws, under any prior, is at most log Z_n.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from heldout.errors import InputError
from heldout.typing import Floats, Ints

CONVEX = 0.5  # least alpha at which a topic's part of the excess is convex in its tokens


def disjoint_excess(counts: Floats | Ints, alpha: Floats) -> Floats:
    """Return e(N), (...), nats, of documents with N_k tokens of topic k, (..., K), whole or not, under alpha, (K,).

    Examples:
        >>> disjoint_excess(np.array([[3, 0], [2, 1]]), np.ones(2)).round(3)  # log C(4, 3), and log 4/9 more
        array([1.386, 0.575])
    """
    n, A = counts.sum(axis=-1), alpha.sum()
    prior = gammaln(A) - gammaln(A + n) + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)
    value: Floats = xlogy(counts, counts).sum(axis=-1) - xlogy(n, n) - prior
    return value


def largest_excess(lengths: Ints, alpha: Floats) -> Floats:
    """Return the largest e(N) of documents of these lengths, (D,), nats: the bound of theorem 1; alpha is (K,).

    Raises:
        InputError: for a negative length, or an alpha that is not positive.

    Examples:
        >>> largest_excess(np.array([83, 10]), np.ones(20)).round(2)  # log C(102, 83) and log C(29, 10)
        array([46.75, 16.81])
    """
    lengths = checked_lengths(lengths, alpha)
    A, ordered = alpha.sum(), np.sort(alpha)
    ordered = ordered[: np.searchsorted(ordered, CONVEX) + 1]
    parts = _largest_parts(int(lengths.max(initial=0)), ordered)[lengths]
    value: Floats = gammaln(A + lengths) - gammaln(A) - xlogy(lengths, lengths) + parts
    return value


def _largest_parts(longest: int, alpha: Floats) -> Floats:
    """Return F_K(m) of the recurrence for m up to the longest, (longest + 1,); alpha, (K,), ascends."""
    N = np.arange(longest + 1)
    best = xlogy(N, N) - gammaln(alpha[0] + N) + gammaln(alpha[0])
    for q in range(2, min(len(alpha), longest) + 1):
        fewer = best.copy()
        part = xlogy(N, N) - gammaln(alpha[q - 1] + N) + gammaln(alpha[q - 1])
        for r in range(1, longest // q + 1):
            np.maximum(best[q * r :], fewer[(q - 1) * r : longest + 1 - r] + part[r], out=best[q * r :])
    value: Floats = best
    return value


def checked_lengths(lengths: Ints, alpha: Floats) -> Ints:
    """Return lengths as an array; raises InputError for a negative one, or an alpha that is not positive."""
    checked = np.asarray(lengths, dtype=np.int64)
    if np.any(checked < 0) or len(alpha) == 0 or not np.all(alpha > 0.0):
        raise InputError(f"excess: lengths from {checked.min(initial=0)}, alpha {alpha}; give 0 or more, and positive")
    return checked
