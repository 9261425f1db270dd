"""log Z, nats, summed over every bag of words, weighted by its number of orders."""

import itertools

import numpy as np
from scipy.special import gammaln, logsumexp

from heldout.evaluators import normaliser
from heldout.topics import Topics


def log_normaliser_enumerated(topics: Topics, length: int) -> float:
    bags = itertools.combinations_with_replacement(range(len(topics.vocabulary)), length)
    documents = normaliser._corpus(topics, np.array(list(bags), dtype=np.int32))
    orders = gammaln(length + 1.0) - gammaln(documents.counts().toarray() + 1.0).sum(axis=1)
    return float(logsumexp(orders + normaliser._log_maximum(topics, documents)))
