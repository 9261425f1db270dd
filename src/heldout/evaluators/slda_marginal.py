r"""The likelihood of supervised LDA, of a document and its label (Murphy 2012, equations 27.65 and 27.66).

The label sees the counts C of a document's topics alone, q-bar = C / L, so that

    p(w, c = 1) = sum_C a_C M(C) sigm(w^T C / L),          p(c = 1 | w) = sum_C p(C | w) sigm(w^T C / L),

a_C and M(C) as in `heldout.evaluators.count_polynomial`. A state of a Gibbs sampler is one draw of C: the label's
probability given it is what is usually reported, and here it is drawn from the exact p(C | w). Where the sum over C
costs too much, p(c = 1 | w) is the mean of sigm(w^T C / L) over a sampler's states given the words.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import posterior_counts
from heldout.evaluators.evaluation import Evaluation, corrected, in_vocabulary, log_mean
from heldout.evaluators.topic_states import topic_states
from heldout.topics import Topics
from heldout.typing import Floats, Ints


class Labelled(NamedTuple):
    """Log-likelihoods of D labelled documents.

    Attributes:
        words: log p(w), (D,) nats.
        label: log p(c | w), (D,) nats, of the label that it has.
        state: log p(c | q-bar), (D,) nats, with q-bar drawn from its posterior.
        means: (D, K) E[q-bar | w].
        tokens: (D,) tokens in the topics' vocabulary.
    """

    words: Floats
    label: Floats
    state: Floats
    means: Floats
    tokens: Ints


def slda_marginal(
    topics: Topics,
    weights: Floats,
    documents: Corpus,
    labels: Ints,
    random: np.random.Generator,
) -> Labelled:
    """Return exact likelihoods of documents and of their (D,) labels 0 and 1 under weights w, (K,).

    A document without words has q-bar = 0 and so the label's probability 1/2.

    Raises:
        InputError: for labels or weights of another number, or a document with too many count vectors.
    """
    check_labels(topics, weights, documents, labels)
    documents, _ = in_vocabulary(documents, topics)
    D = documents.n_documents
    words, label, state = np.empty((3, D))
    means, uniforms = np.empty((D, topics.n_topics)), random.random(D)
    for d in range(D):
        tokens = documents.document(d)
        value, counts, p = posterior_counts(topics.phi_by_word[tokens], topics.alpha)
        shares = counts / max(len(tokens), 1)
        probabilities = expit((2.0 * labels[d] - 1.0) * (shares @ weights))
        drawn = min(int(np.searchsorted(np.cumsum(p), uniforms[d])), len(p) - 1)
        words[d], label[d] = value, math.log(float(p @ probabilities))
        state[d], means[d] = math.log(float(probabilities[drawn])), p @ shares
    return Labelled(words, label, state, means, documents.lengths)


def slda_sampled(
    topics: Topics,
    weights: Floats,
    documents: Corpus,
    labels: Ints,
    random: np.random.Generator,
    *,
    chains: int,
    states: int,
) -> tuple[Evaluation, Floats]:
    """Return estimates of log p(c | w), nats, for any number of topics, and log p(c | q-bar) of one state, (D,).

    The mean of sigm(w^T q-bar) over `states` of each of `chains` Gibbs chains given the words, corrected as the
    logarithm of a mean is; the error is by the chains' means.

    Raises:
        InputError: as `slda_marginal` and `heldout.evaluators.topic_states.topic_states` do.
    """
    check_labels(topics, weights, documents, labels)
    drawn = topic_states(topics, documents, chains, states, random)
    p = expit((2.0 * labels - 1.0)[:, None, None] * (drawn.shares @ weights))
    value, error = log_mean(np.log(p.mean(axis=2)))
    return corrected(Evaluation(value, np.ones(len(p), dtype=np.int64), error)), np.log(p[:, 0, -1])


def check_labels(topics: Topics, weights: Floats, documents: Corpus, labels: Ints) -> None:
    """Raise InputError for weights that are not (K,), or labels that are not (D,)."""
    K, D = topics.n_topics, documents.n_documents
    if weights.shape != (K,) or labels.shape != (D,):
        raise InputError(f"supervised LDA: {weights.shape} weights and {labels.shape} labels; give {K} and {D}")
