r"""PLSI as a distribution over documents: the mixture over its training documents (Murphy 2012, section 27.2.3).

PLSI has weights pi_i for its N training documents and no prior for those of another (Hofmann 1999; Blei et al. 2003,
section 4.3). The one that its parameters hold is their own distribution, 1/N on each:

    p(w) = (1 / N) sum_i prod_l sum_k pi_ik b_k[w_l],

which is a probability, exact, and what PLSI says of a document that it has not seen. Folding in leaves the sum out.
"""

import math

import numpy as np
from scipy.special import logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.topics import Topics
from heldout.typing import Floats

ENTRIES = 2**21  # largest number of entries of an array of training documents by words


def training_mixture(topics: Topics, weights: Floats, documents: Corpus) -> Evaluation:
    """Return log p(w) of every document, nats.

    Arguments, result and errors are as in `heldout.evaluators`, with the training documents' weights, (N, K), whose
    rows sum to 1, in the place of alpha.

    Examples:
        >>> documents = Corpus.from_documents("one", [("a", ["cat", "sat"])])
        >>> value = training_mixture(topics, np.eye(2), documents).log_likelihood  # 0.8 * 0.1 in either
        >>> np.exp(value).round(3)
        array([0.08])
    """
    if weights.ndim != 2 or weights.shape[1] != topics.n_topics or not len(weights):
        raise InputError(f"training mixture: weights of shape {weights.shape}; give {topics.n_topics} to a document")
    documents, left_out = in_vocabulary(documents, topics)
    counts = documents.counts()
    words = np.unique(counts.indices)
    seen, phi = counts[:, words], topics.phi[:, words]
    size = max(1, ENTRIES // max(1, len(words)))
    parts = []
    for start in range(0, len(weights), size):
        with np.errstate(divide="ignore"):
            logs = np.log(weights[start : start + size] @ phi)
        parts.append(seen @ logs.T)  # a sparse product: no 0 log 0
    values = logsumexp(np.hstack(parts), axis=1) - math.log(len(weights))
    return Evaluation.deterministic(values, documents.lengths, left_out)
