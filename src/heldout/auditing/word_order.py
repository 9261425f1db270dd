"""Order of a model's words, told by how many documents hold each of the words.

Where a model and documents have the same words in their columns, words of many documents are probable under the model;
in another order they may be any. Let d_v be the tokens of word v, at most `REPEATED` of a document, as a rare word is
repeated within a few, and p(v) the mixture of topics, and of a uniform one, that fits the words' counts best. Its
weights are fitted by EM to a random half of the words for the other half, so no p(v) depends on its own word's count.

In a random order s = sum_v d_v log p(v), of either half, has the mean and the variance of a permutation's sum,

    E s = sum_v d_v  mean_v log p(v),    Var s = sum_v (d_v - mean d)^2  sum_v (log p(v) - mean log p)^2 / (H - 1),

H the half's number of words. The score is s less its mean, in standard deviations: about 0 in a random order, whatever
the sizes. `expected` is the score of words that occur as often as p says, p being here the mean of the topics, nearly
uniform ones left out; it grows with tokens and with how uneven the topics are. Where it is low, a low score tells
nothing.

Where a part of the words stands elsewhere, s is still high, and the frequent words tell: words that are no less than
`TIMES` as frequent as three quarters of the words are in the model, by two standard errors. In the right order few of
them are among these three quarters, however small the training set; of words in a random order three in four are.
"""

import math
from typing import NamedTuple

import numpy as np

from heldout.auditing.blocks import batches
from heldout.auditing.co_occurrence import flat_topics
from heldout.corpora.corpus import Corpus
from heldout.seeds import generator
from heldout.typing import Floats, Ints

EM_STEPS = 30  # steps of EM from equal weights
REPEATED = 2  # tokens of a word in a document that count, at most
PART = 20_000  # documents that are counted at once
UNIFORM_SHARE = 0.01  # least weight of the uniform topic, which bounds log p
RARE, TIMES, MOST_FREQUENT = 0.75, 3.0, 100  # rare words' share of all; a frequent word's factor; the most of these


class WordOrder(NamedTuple):
    """The order of words in documents, beside a model's.

    Attributes:
        score: by how many standard deviations it is better than a random one.
        expected: of documents whose words occur as often as in the topics' mean.
        frequent: (F,) the words that occur often, the most frequent first.
        rare: how many of them are rare in the model.
    """

    score: float
    expected: float
    frequent: Ints
    rare: int


def mixed(phi: Floats, words: Ints) -> Floats:
    """Return the weights of topics, (K,), whose mixture fits words' counts best, by EM from equal weights.

    Args:
        phi: (K, V) p(w | z).
        words: (V,) how often each word occurs; some do.
    """
    used = words > 0
    p, shares, weights = phi[:, used], words[used] / words.sum(), np.full(len(phi), 1.0 / len(phi))
    for _ in range(EM_STEPS):
        weights *= p @ np.divide(shares, weights @ p, out=np.zeros_like(shares), where=weights @ p > 0.0)
    return np.asarray(weights / weights.sum())


def word_order(phi: Floats, documents: Corpus) -> WordOrder:
    """Return the order of documents' words beside the model's (see the module).

    Args:
        phi: (K, V) p(w | z), of V > 3.
        documents: D documents over the V words; two of the words, at least, occur.
    """
    V, words = phi.shape[1], np.bincount(documents.tokens, minlength=phi.shape[1])
    spread, document_frequencies = _occurrences(documents)
    half = generator("audit-word-order").permutation(V) % 2
    topics, p = np.vstack([phi, np.full(V, 1.0 / V)]), np.empty(V)
    for here in (half == 0, half == 1):
        weights = mixed(topics[:, here], words[here]) if words[here].any() else np.full(len(topics), 1.0 / len(topics))
        p[~here] = weights @ topics[:, ~here]
    used = np.delete(phi, flat_topics(phi), axis=0)
    score, _ = _scores(p / p.sum(), spread, half)
    _, expected = _scores(used.mean(axis=0) if len(used) else topics[-1], spread, half)
    least = TIMES * documents.n_tokens * np.quantile(p / p.sum(), RARE)
    frequent = np.flatnonzero((document_frequencies > 1) & (spread - 2.0 * np.sqrt(spread) > least))
    frequent = frequent[np.lexsort((-words[frequent], -spread[frequent]))][:MOST_FREQUENT]
    return WordOrder(score, expected, frequent, int((p[frequent] < np.quantile(p, RARE)).sum()))


def _occurrences(documents: Corpus) -> tuple[Floats, Ints]:
    """Return the words' tokens, `REPEATED` of a document at most, and their document frequencies, both (V,).

    Documents are counted by parts, for the counts of a million take more room than the rest of an audit.
    """
    V = documents.n_words
    tokens, frequencies = np.zeros(V), np.zeros(V, dtype=np.int64)
    for _, part in batches(documents, PART):
        counts = part.counts()
        tokens += np.bincount(counts.indices, np.minimum(counts.data, REPEATED), V)
        frequencies += np.bincount(counts.indices, minlength=V)
    return tokens, frequencies


def _scores(p: Floats, spread: Floats, half: Ints) -> tuple[float, float]:
    """Return the scores of words' occurrences (V,) under p (V,), and of as many that occur as often as p says."""
    logs, variance = np.log((1.0 - UNIFORM_SHARE) * p + UNIFORM_SHARE / len(p)), 0.0
    for here in (half == 0, half == 1):
        logs[here] -= logs[here].mean()
        variance += spread[here].var() * np.square(logs[here]).sum() * here.sum() / (here.sum() - 1)
    deviation = max(math.sqrt(variance), 1e-9)
    return float(spread @ logs) / deviation, float(spread.sum() * (p @ logs)) / deviation
