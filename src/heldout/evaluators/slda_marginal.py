r"""The exact likelihood of supervised LDA, of a document and its label (Murphy 2012, equations 27.65 and 27.66).

The label sees the counts C of a document's topics alone, q-bar = C / L, so that

    p(w, c = 1) = sum_C a_C M(C) sigm(w^T C / L),          p(c = 1 | w) = sum_C p(C | w) sigm(w^T C / L),

a_C and M(C) as in `heldout.evaluators.count_polynomial`. A state of a Gibbs sampler is one draw of C: the label's
probability given it is what is usually reported, and here it is drawn from the exact p(C | w).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.count_polynomial import posterior_counts
from heldout.evaluators.evaluation import in_vocabulary
from heldout.evaluators.exact_marginal import cost
from heldout.topics import Topics
from heldout.typing import Floats, Ints

LIMIT = 10**9  # updates of one document, which take a second or two


class Labelled(NamedTuple):
    """Log-likelihoods of D labelled documents, NaN where one is beyond the limit.

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

    @property
    def known(self) -> Ints:
        """Places of the documents within the limit."""
        return np.flatnonzero(~np.isnan(self.words))


def slda_marginal(
    topics: Topics,
    weights: Floats,
    documents: Corpus,
    labels: Ints,
    random: np.random.Generator,
    *,
    limit: int = LIMIT,
) -> Labelled:
    """Return exact likelihoods of documents and of their (D,) labels 0 and 1 under weights w, (K,).

    `limit` is the most updates that one document may take (`heldout.evaluators.exact_marginal.cost`). A document
    without words has q-bar = 0 and so the label's probability 1/2.

    Raises:
        InputError: for labels or weights of another number.
    """
    K, D = topics.n_topics, documents.n_documents
    if weights.shape != (K,) or labels.shape != (D,):
        raise InputError(f"supervised LDA: {weights.shape} weights and {labels.shape} labels; give {K} and {D}")
    documents, _ = in_vocabulary(documents, topics)
    words, label, state = np.full((3, D), math.nan)
    means, uniforms = np.full((D, K), math.nan), random.random(D)
    for d in range(D):
        tokens = documents.document(d)
        if cost([len(tokens)], K) > limit:
            continue
        value, counts, p = posterior_counts(topics.phi_by_word[tokens], topics.alpha)
        shares = counts / max(len(tokens), 1)
        probabilities = expit((2.0 * labels[d] - 1.0) * (shares @ weights))
        drawn = min(int(np.searchsorted(np.cumsum(p), uniforms[d])), len(p) - 1)
        words[d], label[d] = value, math.log(float(p @ probabilities))
        state[d], means[d] = math.log(float(probabilities[drawn])), p @ shares
    return Labelled(words, label, state, means, documents.lengths)
