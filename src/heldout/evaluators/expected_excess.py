r"""The expected excess of folding in over the likelihood, of documents that the model draws.

Topics that can be read off. With e(N) of `heldout.evaluators.excess`, n tokens and N from the Dirichlet-multinomial of
alpha, A = sum_k alpha_k, a count N_k has a beta-binomial distribution and e is a sum over topics:

    L(n, alpha) = log Gamma(A + n) / Gamma(A) + sum_k E[N_k log(N_k / n) - log Gamma(alpha_k + N_k) / Gamma(alpha_k)],

exact in O(n) steps for each different alpha_k, and without a constant to fit. Its limits, which the tests hold to it:

* long documents, alpha_k n / A >> 1 and n >> A. By Stirling's formula with N_k = n theta_k and E[log theta_k] =
  psi(alpha_k) - psi(A),

      L ~ (K - 1) / 2 log(n / 2 pi) + sum_k log Gamma(alpha_k) - log Gamma(A)
          + sum_k (1/2 - alpha_k) (psi(alpha_k) - psi(A)),

  for alpha = 1 the (K - 1) / 2 log(n / 2 pi) - log Gamma(K) + K / 2 (gamma + psi(K)), gamma being Euler's constant; for
  alpha = 1/2 the limit of log C(K, n) itself, which is at least L for every alpha;
* of these, many topics of equal alpha, by Stirling's formula in K,

      L ~ (K - 1) / 2 log(c n / A),
      log c = 2 (log Gamma(alpha) + alpha + (1/2 - alpha) psi(alpha)) - log 2 pi:

  c = e^(2 + gamma) / 2 pi = 2.09 for alpha = 1, e / 2 for 1/2, and e in the limit of large alpha. At alpha = 1 the law
  over K - 1 depends on n / K alone but for terms in 1 / K; (K - 1) / 2 log(1 + 2 n / K + 2 sqrt(n / K)), found by
  trial, is within 5 % of it for n >= K >= 3;
* short documents under equal alpha, n^2 (alpha + 1) << A. Tokens have topics of their own, but for n (n - 1) / 2
  (alpha + 1) / (A + 1) pairs in expectation, each of which changes e by log 4 alpha / (1 + alpha):

      L ~ sum_{i < n} log (A + i) / (n alpha) + n (n - 1) / 2 (alpha + 1) / (A + 1) log 4 alpha / (1 + alpha),

  for alpha = 1 about n log(K / n);
* many topics under equal alpha of a fixed sum A. Topics with tokens are the blocks of Ewens' partition,

      L ~ log Gamma(A + n) / Gamma(A) - n log n + sum_j E[b_j] (j log j - log Gamma(j) + log(K / A)),
      E[b_j] = A / j  Gamma(n + 1) / Gamma(n + 1 - j)  Gamma(A + n - j) / Gamma(A + n),

  for b_j blocks of j tokens: L grows by the number of topics in a document, A (psi(A + n) - psi(A)), times log K.

Topics that share words. Let a token have topic k with probability pi_k = alpha_k / A, and p = pi' phi,

    V^2 = (sum_k pi_k sum_v phi[k, v]^2 / p_v - 1) / (K - 1),                             (`topic_association`)

the chi-square of topic and word over K - 1, with which Cramér's V is defined: 1 for topics that share no word, 0 for
equal ones. It is the mean of all eigenvalues but the first, which is 1, of M[j, k] = sqrt(pi_j pi_k) sum_v phi[j, v]
phi[k, v] / p_v, the Fisher information of theta at pi in units of that of topics that share no word, where M is the
identity: by Laplace's method long documents of weights theta have an excess of e(n theta) + 1/2 sum_i log mu_i, mu the
eigenvalues at theta. Where topics give words of their own with probability s, and else all topics the same words in
the same shares, all mu_i and V^2 are s, for every pi. The common words cancel from p(w | theta) / p(w), and the
document is one of Binomial(n, s) tokens whose topics can be read off. So

    E[L(m, alpha)],  m ~ Binomial(n, V^2),                                                (`overlap_excess`)

is exact for these topics, and an approximation for others: the law at an effective number of tokens, V^2 n. So it is
with another share that is s there, 1 - H(z | w) / H(z), the information of a token's word on its topic over the
topic's entropy (`topic_information`). Many words that tell a little have a larger share of information than of
chi-square.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import betaln, entr, gammaln, xlogy

from heldout.errors import InputError
from heldout.evaluators.excess import checked_lengths
from heldout.topics import Topics
from heldout.typing import Floats, Ints

ROUNDING = 1e-9  # amount by which a share may be out of its range
NEGLIGIBLE = 1e-15  # probability of numbers of tokens that `overlap_excess` leaves out


def expected_excess(lengths: Ints, alpha: Floats) -> Floats:
    """Return the law L of documents of these lengths, (D,), nats, (D,), under alpha, (K,).

    Exact but for rounding, of 1e-6 nats up to 2,000 tokens and 1e-4 at 100,000, where log Gamma is large.

    Raises:
        InputError: for a negative length, or an alpha that is not positive.

    Examples:
        >>> expected_excess(np.array([83, 10]), np.ones(20)).round(2)
        array([23.93, 11.16])
    """
    parameters, times = np.unique(alpha, return_counts=True)
    return _by_length(lengths, alpha, lambda n: _law(n, parameters, times))


def _by_length(lengths: Ints, alpha: Floats, value: Callable[[int], float]) -> Floats:
    """Return a function's value at every length, (D,), which is worked out once for each that is different."""
    distinct, place = np.unique(checked_lengths(lengths, alpha), return_inverse=True)
    return np.array([value(int(n)) for n in distinct])[place.reshape(np.shape(lengths))]


def _law(n: int, parameters: Floats, times: Ints) -> float:
    """Return L at n tokens; each of the parameters, (P,), is the alpha of as many topics as `times`, (P,), says."""
    if n == 0 or times.sum() == 1:
        return 0.0
    A, N = float(times @ parameters), np.arange(n + 1)
    orders, maximised = gammaln(n + 1) - gammaln(N + 1) - gammaln(n - N + 1), xlogy(N, N / n)
    value = float(gammaln(A + n) - gammaln(A))
    for alpha, topics in zip(parameters, times, strict=True):
        probability = np.exp(orders + betaln(alpha + N, A - alpha + n - N) - betaln(alpha, A - alpha))
        value += topics * float(probability @ (maximised - gammaln(alpha + N) + gammaln(alpha)))
    return value


def topic_association(topics: Topics) -> float:
    """Return V^2 of a token's topic and its word under the prior's mean weights, from 0 to 1; 1 for a single topic.

    Examples:
        >>> round(topic_association(topics), 2)
        0.54
    """
    if topics.n_topics == 1:
        return 1.0
    weights = topics.alpha / topics.alpha.sum()
    p = weights @ topics.phi
    squares = np.divide(weights @ topics.phi**2, p, out=np.zeros_like(p), where=p > 0.0)
    return float((squares.sum() - 1.0) / (topics.n_topics - 1))


def topic_information(topics: Topics) -> float:
    """Return 1 - H(z | w) / H(z) of a token's topic and its word under the prior's mean weights, from 0 to 1.

    Examples:
        >>> round(topic_information(topics), 2)
        0.45
    """
    if topics.n_topics == 1:
        return 1.0
    weights = topics.alpha / topics.alpha.sum()
    joint = weights[:, None] * topics.phi
    topic = float(entr(weights).sum())
    return (topic + float(entr(weights @ topics.phi).sum()) - float(entr(joint).sum())) / topic


def overlap_excess(topics: Topics, lengths: Ints, *, share: float | None = None) -> Floats:
    """Return the mean excess, (D,), nats, of documents of these lengths, (D,), by the share of tokens that tell theirs.

    The share is `topic_association` unless another is given. Exact for documents drawn from topics whose words are
    their own or common to all in the same shares, an approximation for others.

    Raises:
        InputError: for a negative length, or a share that is none.

    Examples:
        >>> overlap_excess(topics, np.array([20])).round(2)
        array([1.41])
    """
    share = topic_association(topics) if share is None else share
    if not -ROUNDING <= share <= 1.0 + ROUNDING:
        raise InputError(f"excess: a share of {share}; give one from 0 to 1")
    from scipy.stats import binom  # an import of a second, which an audit need not wait for

    told_share = float(np.clip(share, 0.0, 1.0))

    def mean(n: int) -> float:
        probability = binom.pmf(np.arange(n + 1), n, told_share)
        told = np.flatnonzero(probability > NEGLIGIBLE)
        return float(probability[told] @ expected_excess(told, topics.alpha))

    return _by_length(lengths, topics.alpha, mean)
