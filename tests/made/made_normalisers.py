"""Sums over every document of so many tokens: every bag of words, weighted by its number of orders."""

import itertools

import numpy as np
from scipy.special import gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.evaluators import normaliser
from heldout.topics import Topics
from heldout.typing import Floats


def every_bag(topics: Topics, length: int) -> tuple[Corpus, Floats]:
    """Every bag of words as a document, and the log of its number of orders."""
    bags = itertools.combinations_with_replacement(range(len(topics.vocabulary)), length)
    documents = normaliser._corpus(topics, np.array(list(bags), dtype=np.int32))
    orders = gammaln(length + 1.0) - gammaln(documents.counts().toarray() + 1.0).sum(axis=1)
    return documents, orders


def log_normaliser_enumerated(topics: Topics, length: int) -> float:
    documents, orders = every_bag(topics, length)
    return float(logsumexp(orders + normaliser._log_maximum(topics, documents)))
