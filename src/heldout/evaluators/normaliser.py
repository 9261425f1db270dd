r"""The normaliser that folding-in ignores (Welling et al. 2008, sections 4.2 and 4.3).

Folding-in scores a document by f(x) = max_h p(x | h), h = theta (equation 5.37): the energy-based model g(x) = f(x) / Z
(4.33) without its Z, the sum of f over all V^L sequences of L tokens. The paper's f maximises p(x, h) = p(x | h) Dir(h
| 1) instead (4.32). That density is the constant Gamma(K), so log f and log Z are both larger by log Gamma(K) and log g
is the same. The paper's toy example states "log Z = log 1/V"; log 1/V is -log Z, which is added to log f = log 1.

Three results.

1. Identity topics. With K = V and p(w | z) = 1 for w = z, p(x | h) is a multinomial's sequence probability and
   f(x) = prod_w (n_w / L)^n_w. Hence Z = C(V, L), the multinomial's normalised-maximum-likelihood constant. Splitting
   the words into two groups, of which the first gets j of the L tokens, gives

       C(a + b, L) = sum_j binomial(L, j) (j / L)^j ((L - j) / L)^(L - j) C(a, j) C(b, L - j),

   so C(1, L) = 1 and C(2, L) is a sum of L + 1 terms. From the generating function Kontkanen and Myllymäki (2007)
   derive

       C(V + 2, L) = C(V + 1, L) + (L / V) C(V, L):

   L + V steps in all, every term positive. The toy example is C(V, 1) = V.

2. Learned topics. By equation 4.34, Z = sum_x p(x) max_h p(x | h) / p(x) = E_p[ratio], with p(x) the exact marginal
   under Dir(alpha): draw documents from the model and average the ratio. For alpha = 1, by Laplace's method, the
   ratio's logarithm is about (K - 1) / 2 log L plus a term that does not grow with L, so at small K few samples suffice
   for any V and L.

3. Bounds. A maximum is no less than an average: Z >= 1. And since max_h sum_z <= sum_z max_h, where z are the tokens'
   topics,

       Z <= sum_z max_h prod_l h_{z_l} sum_x prod_l phi[z_l, x_l] = C(K, L),

   with equality for topics that share no word: log Z is bounded in terms of K and L, whatever the vocabulary.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.exact_marginal import LARGEST_COST, cost, exact_marginal
from heldout.models.plsa import fold_in_counts
from heldout.models.sparse_products import products, rows_of_entries
from heldout.topics import Topics
from heldout.typing import Floats, Ints

FOLD_IN_ITERATIONS = 100_000
FOLD_IN_TOLERANCE = 1e-7  # nats per token by which a maximum may be too low


@dataclass(frozen=True)
class Normaliser:
    """An estimate of a document's log Z, its standard error by the delta method, nats, and the effective samples.

    These are (sum of ratios)^2 / sum of squared ratios; far below the number of samples the error cannot be trusted.
    """

    log_z: float
    standard_error: float
    effective_samples: float


@dataclass(frozen=True)
class ToyExample:
    """The quantities of section 4.3 for a document of one token, in nats.

    log p(y), 4.36; log max_h p(y | h); log max_h p(y, h), 4.30 with the density of Dir(h | 1); and log Z of
    max_h p(x | h): log g(y) = folding_in - log_normaliser.
    """

    exact_marginal: float
    folding_in: float
    folding_in_joint: float
    log_normaliser: float


def log_multinomial_nml(vocabulary: int, length: int) -> float:
    """Return log C(V, L), the sum over all sequences of L tokens of the maximised multinomial likelihood, in nats.

    Raises:
        InputError: for V below 1 or L below 0.
    """
    if vocabulary < 1 or length < 0:
        raise InputError(
            f"NML constant: {vocabulary} words, {length} tokens; there must be a word, and 0 or more tokens"
        )
    if length == 0 or vocabulary == 1:
        return 0.0
    j = np.arange(length + 1)
    log_factorial = np.array([math.lgamma(i + 1.0) for i in range(length + 1)])
    entropy = np.where(j > 0, j * np.log(np.maximum(j, 1) / length), 0.0)
    terms = log_factorial[-1] - log_factorial - log_factorial[::-1] + entropy + entropy[::-1]
    previous, value = 0.0, float(np.logaddexp.reduce(terms))  # log C(1, L), log C(2, L)
    for v in range(1, vocabulary - 1):
        # log C(v + 2) = log(C(v + 1) + (L / v) C(v)); C grows with v, so that the exponential cannot overflow
        previous, value = value, value + math.log1p(length / v * math.exp(previous - value))
    return value


def log_multinomial_nml_by_document(vocabulary: int, lengths: Ints) -> Floats:
    """Return log C(V, L) of every document's length, (D,), nats; with min(K, V) for V, an upper bound on its log Z."""
    distinct, position = np.unique(lengths, return_inverse=True)
    return np.array([log_multinomial_nml(vocabulary, int(length)) for length in distinct])[position]


def log_normaliser(topics: Topics, length: int, samples: int, rng: np.random.Generator) -> Normaliser:
    """Estimate log Z of g(x) = max_h p(x | h) / Z over sequences of `length` tokens (equation 4.34).

    The estimate is from `samples`, 2 or more, drawn under the topics' prior, on which Z does not depend.

    Raises:
        InputError: for a length or samples below the least, or as `exact_marginal` does.

    Examples:
        >>> z = log_normaliser(topics, 10, 1000, np.random.default_rng(0))
        >>> round(z.log_z, 2), round(z.standard_error, 2)
        (1.18, 0.02)
    """
    if length < 1 or samples < 2:
        raise InputError(f"log Z: length {length}, {samples} samples; there must be 1 or more, and 2 or more")
    needed = cost([length], topics.n_topics) * samples
    if needed > LARGEST_COST:  # checked before the documents are drawn
        raise InputError(
            f"log Z: {samples} samples of {length} tokens at {topics.n_topics} topics take {needed:.1e} updates, the"
            f" limit is {LARGEST_COST:.1e}; take fewer samples, shorter documents, or fewer topics"
        )
    documents = _draw(topics, length, samples, rng)
    log_ratio = _log_maximum(topics, documents) - exact_marginal(topics, documents).log_likelihood
    highest = float(log_ratio.max())
    ratio = np.exp(log_ratio - highest)
    mean = float(ratio.mean())
    return Normaliser(
        log_z=highest + math.log(mean),
        standard_error=float(ratio.std(ddof=1)) / (mean * math.sqrt(samples)),
        effective_samples=float(ratio.sum() ** 2 / np.sum(ratio**2)),
    )


@cache
def toy_example(vocabulary: int) -> ToyExample:
    """Return the quantities of section 4.3: V words, V identity topics, Dir(1), one token.

    All words are equivalent, so the token is the first word, and the other V - 1 words are merged into one that V - 1
    topics share, which keeps phi small at any V. log Z is the logarithm of the NML constant C(V, 1).

    Raises:
        InputError: for V < 1.

    Examples:
        >>> toy = toy_example(1000)
        >>> round(toy.exact_marginal, 2), round(toy.folding_in - toy.log_normaliser, 2)  # both log 1 / V
        (-6.91, -6.91)
    """
    if vocabulary < 1:
        raise InputError(f"toy example: {vocabulary} words; there must be 1 or more")
    phi = np.tile([0.0, 1.0], (vocabulary, 1))
    phi[0] = 1.0, 0.0
    topics = Topics(phi, np.ones(vocabulary), ("the first", "another"))
    document = _corpus(topics, np.zeros((1, 1), np.int32))
    maximum = float(_log_maximum(topics, document)[0])
    return ToyExample(
        exact_marginal=float(exact_marginal(topics, document).log_likelihood[0]),
        folding_in=maximum,
        folding_in_joint=maximum + math.lgamma(vocabulary),
        log_normaliser=log_multinomial_nml(vocabulary, 1),
    )


def _draw(topics: Topics, length: int, samples: int, rng: np.random.Generator) -> Corpus:
    """Draw documents from the model: theta from Dir(alpha), then each token's topic and word."""
    theta = rng.dirichlet(topics.alpha, size=samples)
    assigned = (rng.random((samples, length, 1)) >= np.cumsum(theta, axis=1)[:, None, :-1]).sum(axis=2)
    uniforms = rng.random((samples, length))
    tokens = np.empty((samples, length), np.int32)
    for k in range(topics.n_topics):
        cumulative = np.cumsum(topics.phi[k])
        chosen = assigned == k
        # scaled to the last cumulative sum and strictly below it: rounding never selects a word of probability 0
        tokens[chosen] = np.searchsorted(cumulative, uniforms[chosen] * cumulative[-1], side="right")
    return _corpus(topics, tokens)


def _corpus(topics: Topics, tokens: NDArray[np.int32]) -> Corpus:
    """Return the rows of `tokens` as documents over the topics' vocabulary."""
    documents, length = tokens.shape
    offsets = np.arange(documents + 1, dtype=np.int64) * length
    return Corpus("drawn", topics.vocabulary, tokens.ravel(), offsets, tuple(str(d) for d in range(documents)))


def _log_maximum(topics: Topics, documents: Corpus) -> Floats:
    """Return log max_h p(x | h) of every document, nats."""
    counts = documents.counts()
    theta = fold_in_counts(topics, counts, iterations=FOLD_IN_ITERATIONS, tolerance=FOLD_IN_TOLERANCE)
    with np.errstate(divide="ignore"):
        terms = counts.data * np.log(products(counts, theta, topics.phi_by_word))
    log_likelihood = np.zeros(counts.shape[0])
    np.add.at(log_likelihood, rows_of_entries(counts), terms)
    return log_likelihood
