r"""The exact likelihood under a prior of theta with finitely many points, the richest prior that data can fit.

With points theta_j and weights pi_j, p(w) = sum_j pi_j prod_l sum_k theta_jk phi[k, w_l]. For points held fixed the
weights that make documents w_d most likely are the fixed point of EM, which raises the likelihood at every step,

    pi_j  <-  mean_d  pi_j p(w_d | theta_j) / sum_i pi_i p(w_d | theta_i).

A maximum-likelihood prior has at most as many points as documents that it is fitted to (Lindsay, 1983); the documents'
own maxima of p(w | theta) are natural ones. The documents that a prior of D points of equal weight is made of are
scored by it at most log D below folding in; others, which it has not seen, are what it has to predict.
"""

import numpy as np
from scipy.special import logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.topics import Topics
from heldout.typing import Floats

STEPS = 500  # EM steps for the weights


def mixture_of_points(topics: Topics, points: Floats, weights: Floats, documents: Corpus) -> Evaluation:
    """Return the exact log p(w) of every document, nats, under points (J, K), whose rows sum to 1, and weights (J,).

    Other arguments and the result are as in `heldout.evaluators`.

    Raises:
        InputError: where points and weights do not fit each other or the topics.

    Examples:
        >>> documents = Corpus.from_documents("one", [("a", ["cat", "sat"])])
        >>> value = mixture_of_points(topics, np.eye(2), np.full(2, 0.5), documents).log_likelihood
        >>> np.exp(value).round(3)
        array([0.08])
    """
    if points.shape != (len(weights), topics.n_topics) or not len(weights):
        raise InputError(f"mixture of points: {points.shape} points, {weights.shape} weights; {topics.n_topics} topics")
    known, left_out = in_vocabulary(documents, topics)
    logs = log_likelihoods(topics, points, known)
    with np.errstate(divide="ignore"):
        values = logsumexp(logs + np.log(weights), axis=1)
    return Evaluation.deterministic(values, known.lengths, left_out)


def log_likelihoods(topics: Topics, points: Floats, documents: Corpus) -> Floats:
    """Return log p(w_d | theta_j) of documents over the topics' vocabulary, (D, J), nats."""
    counts = documents.counts()
    words = np.unique(counts.indices)
    with np.errstate(divide="ignore"):
        logs: Floats = counts[:, words] @ np.log(points @ topics.phi[:, words]).T  # a sparse product: no 0 log 0
    return logs


def fit_weights(log_likelihoods: Floats) -> Floats:
    """Return the weights, (J,), by `STEPS` of EM from equal ones, given log p(w_d | theta_j), (D, J), nats.

    Raises:
        InputError: where no point gives a document.
    """
    D, J = log_likelihoods.shape
    highest = log_likelihoods.max(axis=1, keepdims=True)
    if not D or not np.isfinite(highest).all():
        raise InputError("mixture of points: no documents, or one that no point gives; give others")
    likelihoods, weights = np.exp(log_likelihoods - highest), np.full(J, 1.0 / J)
    for _ in range(STEPS):
        shares = likelihoods * weights
        weights = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    return weights
