r"""The expected excess of folding in over the likelihood, of documents that the model draws.

Topics that can be read off. With e(N) of `heldout.evaluators.excess`, n tokens and N from the Dirichlet-multinomial of
alpha, A = sum_k alpha_k, a count N_k has a beta-binomial distribution and e is a sum over topics:

    L(n, alpha) = log Gamma(A + n) / Gamma(A) + sum_k E[N_k log(N_k / n) - log Gamma(alpha_k + N_k) / Gamma(alpha_k)],

exact in O(n) steps for each different alpha_k, and without a constant to fit. Its limits:

* long documents, alpha_k n / A >> 1 and n >> A. By Stirling's formula with N_k = n theta_k and E[log theta_k] =
  psi(alpha_k) - psi(A),

      L ~ (K - 1) / 2 log(n / 2 pi) + sum_k log Gamma(alpha_k) - log Gamma(A)
          + sum_k (1/2 - alpha_k) (psi(alpha_k) - psi(A)),                                (`long_document_excess`)

  for alpha = 1 the (K - 1) / 2 log(n / 2 pi) - log Gamma(K) + K / 2 (gamma + psi(K)), gamma being Euler's constant; for
  alpha = 1/2 the limit of log C(K, n) itself, which is at least L for every alpha;
* of these, many topics of equal alpha, by Stirling's formula in K,

      L ~ (K - 1) / 2 log(c n / A),                                                       (`many_topics_excess`)
      log c = 2 (log Gamma(alpha) + alpha + (1/2 - alpha) psi(alpha)) - log 2 pi:

  c = e^(2 + gamma) / 2 pi = 2.09 for alpha = 1, e / 2 for 1/2, and e in the limit of large alpha. At alpha = 1 the law
  over K - 1 depends on n / K alone but for terms in 1 / K; (K - 1) / 2 log(1 + 2 n / K + 2 sqrt(n / K)), found by
  trial, is within 5 % of it for n >= K >= 3 (`flat_prior_excess`);
* short documents under equal alpha, n^2 (alpha + 1) << A. Tokens have topics of their own, but for n (n - 1) / 2
  (alpha + 1) / (A + 1) pairs in expectation, each of which changes e by log 4 alpha / (1 + alpha):

      L ~ sum_{i < n} log (A + i) / (n alpha) + n (n - 1) / 2 (alpha + 1) / (A + 1) log 4 alpha / (1 + alpha),
                                                                                          (`short_document_excess`)
  for alpha = 1 about n log(K / n);
* many topics under equal alpha of a fixed sum A. Topics with tokens are the blocks of Ewens' partition,

      L ~ log Gamma(A + n) / Gamma(A) - n log n + sum_j E[b_j] (j log j - log Gamma(j) + log(K / A)),
      E[b_j] = A / j  Gamma(n + 1) / Gamma(n + 1 - j)  Gamma(A + n - j) / Gamma(A + n),    (`sparse_prior_excess`)

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

import math

import numpy as np
from scipy.special import betaln, digamma, entr, gammaln, xlogy
from scipy.stats import binom

from heldout.errors import InputError
from heldout.evaluators.excess import checked_lengths
from heldout.topics import Topics
from heldout.typing import Floats, Ints

LOG_2_PI = math.log(2.0 * math.pi)
ROUNDING = 1e-9  # amount by which a share may be out of its range
NEGLIGIBLE = 1e-15  # probability of numbers of tokens that `overlap_excess` leaves out


def expected_excess(lengths: Ints, alpha: Floats) -> Floats:
    """Return the law L of documents of these lengths, (D,), nats, (D,), under alpha, (K,); exact but for rounding.

    Raises:
        InputError: for a negative length, or an alpha that is not positive.

    Examples:
        >>> expected_excess(np.array([83, 10]), np.ones(20)).round(2)
        array([23.93, 11.16])
    """
    distinct, place = np.unique(checked_lengths(lengths, alpha), return_inverse=True)
    parameters, times = np.unique(alpha, return_counts=True)
    values = [_law(int(n), parameters, times) for n in distinct]
    return np.array(values)[place.reshape(np.shape(lengths))]


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


def long_document_excess(lengths: Ints, alpha: Floats) -> Floats:
    """Return the law's limit of long documents, (D,), nats: n >> A, and every topic has many tokens; alpha is (K,).

    Examples:
        >>> long_document_excess(np.array([1000]), np.ones(20)).round(2)  # exact: 44.76
        array([44.3])
    """
    A, K = alpha.sum(), len(alpha)
    volume = gammaln(alpha).sum() - gammaln(A) + (0.5 - alpha) @ (digamma(alpha) - digamma(A))
    value: Floats = (K - 1) / 2 * (np.log(lengths) - LOG_2_PI) + volume
    return value


def many_topics_excess(lengths: Ints, topics: int, alpha: float = 1.0) -> Floats:
    """Return (K - 1) / 2 log(c n / A), (D,), nats: `long_document_excess` of many topics of one alpha each.

    Examples:
        >>> many_topics_excess(np.array([1000]), 20).round(2)
        array([44.19])
    """
    log_c = 2.0 * (gammaln(alpha) + alpha + (0.5 - alpha) * digamma(alpha)) - LOG_2_PI
    value: Floats = (topics - 1) / 2 * (log_c + np.log(lengths / (topics * alpha)))
    return value


def flat_prior_excess(lengths: Ints, topics: int) -> Floats:
    """Return an approximation of the law under Dir(1), (D,), nats, to be worked out by hand, for n of K or more.

    Examples:
        >>> flat_prior_excess(np.array([83]), 20).round(1)  # exact: 23.9
        array([24.6])
    """
    ratio = np.asarray(lengths) / topics
    value: Floats = (topics - 1) / 2 * np.log1p(2.0 * ratio + 2.0 * np.sqrt(ratio))
    return value


def short_document_excess(lengths: Ints, topics: int, alpha: float = 1.0) -> Floats:
    """Return the law's limit of short documents, (D,), nats: hardly two of their tokens share one of the K topics.

    Examples:
        >>> short_document_excess(np.array([10]), 1000).round(2)  # exact: 46.16
        array([46.16])
    """
    n, A = np.asarray(lengths, np.float64), topics * alpha
    pairs = n * (n - 1.0) / 2.0 * (alpha + 1.0) / (A + 1.0)
    value: Floats = gammaln(A + n) - gammaln(A) - xlogy(n, n * alpha) + pairs * math.log(4.0 * alpha / (1.0 + alpha))
    return value


def sparse_prior_excess(lengths: Ints, topics: int, alpha_sum: float) -> Floats:
    """Return the law's limit of many topics, K, under equal alpha of a fixed sum, (D,), nats.

    Examples:
        >>> sparse_prior_excess(np.array([83]), 1000, 1.0).round(2)  # exact: 37.73
        array([37.81])
    """
    A, values = alpha_sum, []
    distinct, place = np.unique(lengths, return_inverse=True)
    for n in distinct:
        j = np.arange(1, n + 1)
        falling = gammaln(n + 1) - gammaln(n + 1 - j) + gammaln(A + n - j) - gammaln(A + n)
        parts = xlogy(j, j) - gammaln(j) + math.log(topics / A)
        values.append(gammaln(A + n) - gammaln(A) - xlogy(n, n) + (A / j * np.exp(falling)) @ parts)
    return np.array(values)[place.reshape(np.shape(lengths))]


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
    share = float(np.clip(share, 0.0, 1.0))
    distinct, place = np.unique(checked_lengths(lengths, topics.alpha), return_inverse=True)
    values = []
    for n in distinct:
        probability = binom.pmf(np.arange(n + 1), n, share)
        told = np.flatnonzero(probability > NEGLIGIBLE)
        values.append(probability[told] @ expected_excess(told, topics.alpha))
    return np.array(values)[place.reshape(np.shape(lengths))]
