"""Likelihoods of new users' ratings under Gaussian co-clustering: a sum over the clusters of a user (27.85)."""

import numpy as np
from scipy.special import logsumexp, softmax

from gallery.ratings.models.coclustering import Blocks
from heldout.corpora.relations.ratings import Ratings
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.rating_marginal import log_bins, rating_bins
from heldout.typing import Floats


def coclustering_marginal(ratings: Ratings, blocks: Blocks) -> Evaluation:
    """Return the exact log density of each user's ratings, (N,) nats.

    Examples:
        >>> one = Ratings(("a",), ("x",), np.array([0]), np.array([0]), np.array([4]))
        >>> blocks = Blocks(np.array([0.5, 0.5]), np.array([0]), np.array([[4.0], [2.0]]), 1.0)
        >>> np.exp(coclustering_marginal(one, blocks).log_likelihood).round(4)  # (N(0) + N(2)) / 2
        array([0.2265])
    """
    return Evaluation.deterministic(np.asarray(logsumexp(blocks.log_joint(ratings), axis=1)), ratings.numbers)


def best_cluster(ratings: Ratings, blocks: Blocks) -> Evaluation:
    """Return max_a log p(r_i, q_i = a), (N,) nats: hard assignment, a lower bound."""
    return Evaluation.deterministic(blocks.log_joint(ratings).max(axis=1), ratings.numbers)


def coclustering_binned(ratings: Ratings, blocks: Blocks) -> Evaluation:
    """Return the exact log-likelihood of each user's ratings as bins (`heldout.evaluators.rating_marginal`), nats."""
    means = blocks.means.T[blocks.clusters[ratings.item]]
    log_probabilities = log_bins(means, rating_bins(ratings), blocks.noise)
    joint = np.stack([ratings.by_user(column) for column in log_probabilities.T], axis=1)
    with np.errstate(divide="ignore"):
        values = logsumexp(joint + np.log(blocks.weights), axis=1)
    return Evaluation.deterministic(np.asarray(values), ratings.numbers)


def coclustering_predictions(given: Ratings, wanted: Ratings, blocks: Blocks) -> Floats:
    """Return the means of the ratings `wanted`, (n,), given other ratings of the same users."""
    shares = softmax(blocks.log_joint(given), axis=1)
    return np.asarray((shares[wanted.user] * blocks.means.T[blocks.clusters[wanted.item]]).sum(axis=1))
