r"""Gaussian co-clustering of ratings (Murphy 2012, 27.85), users integrated out.

    p(R_ij = r | q_i^u = a, q_j^v = b) = N(r | mu_ab, sigma^2),        q_i^u ~ Cat(pi)            (27.85)

The clusters q_j^v of items are parameters, as loadings are of probabilistic matrix factorisation; then users are a
mixture, whose likelihood is a sum over K_u clusters:

    p(r_i) = sum_a pi_a prod_j N(r_ij | mu_{a, q_j}, sigma^2).

EM has the shares of users' clusters as E step; the M step assigns every item to the cluster that it fits best, then
takes means, variance and weights. The likelihood never falls.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.special import logsumexp

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats, Ints

NAME = "Gaussian co-clustering"


class Blocks(NamedTuple):
    """Parameters: pi, (K_u,); q_j^v, (M,); mu, (K_u, K_v); sigma^2."""

    weights: Floats
    clusters: Ints
    means: Floats
    noise: float

    def log_joint(self, ratings: Ratings) -> Floats:
        """Return log p(r_i, q_i = a), (N, K_u) nats."""
        numbers, sums = _by_cluster(ratings, self.clusters, self.means.shape[1])
        squares = ratings.by_user(ratings.value.astype(float) ** 2)[:, None]
        squared_errors = squares - 2.0 * sums @ self.means.T + numbers @ (self.means**2).T
        noise_term = ratings.numbers[:, None] * np.log(2.0 * np.pi * self.noise)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights) - 0.5 * (noise_term + squared_errors / self.noise))


@estimator
class CoClustering(Estimator):
    """Gaussian co-clustering of `Ratings`, with K_u = `n_components`.

    Args:
        item_clusters: K_v; None is K_u.
        iterations: of EM, at most.
        restarts: the number of random shares that EM starts from; the best likelihood stays.

    Attributes (after `fit`):
        blocks_: a `Blocks`.
        objective_: log p(R), nats, at each iteration.

    Examples:
        >>> users, items = np.repeat([0, 1, 2, 3], 2), np.tile([0, 1], 4)
        >>> ratings = Ratings(tuple("abcd"), ("x", "y"), users, items, np.array([5, 1, 5, 2, 1, 4, 1, 5]))
        >>> np.sort(CoClustering(2, random_state=0).fit(ratings).blocks_.means, axis=None)
        array([1. , 1.5, 4.5, 5. ])
    """

    item_clusters: int | None = None
    iterations: int = 100
    restarts: int = 5

    def fit(self, X: Ratings, y: None = None) -> Self:  # noqa: ARG002
        """Run EM on ratings X; raises InputError for settings out of range, or no ratings."""
        K_v = self.n_components if self.item_clusters is None else self.item_clusters
        if min(self.n_components, K_v, self.iterations, self.restarts) < 1 or len(X) == 0:
            raise InputError(f"{NAME}: take ratings, and one cluster, iteration and start or more")
        random, best = np.random.default_rng(self.random_state), -np.inf
        for _ in range(self.restarts):
            blocks, objective = self._run(X, K_v, random)
            if objective[-1] > best:
                best, self.blocks_, self.objective_ = objective[-1], blocks, np.array(objective)
        return self

    def _run(self, ratings: Ratings, K_v: int, random: np.random.Generator) -> tuple[Blocks, list[float]]:
        M, objective = len(ratings.items), list[float]()
        rated = np.bincount(ratings.item, minlength=M)
        mean = (np.bincount(ratings.item, ratings.value, M) + 3.0) / (rated + 1.0)
        clusters = np.empty(M, dtype=np.int64)  # items of about one mean start together
        clusters[np.argsort(mean + random.normal(0.0, 0.3, M))] = np.arange(M) * K_v // M
        shares = random.dirichlet(np.ones(self.n_components), len(ratings.users))
        blocks = _maximised(ratings, shares, clusters, np.full((self.n_components, K_v), ratings.value.mean()))
        for _ in range(self.iterations):
            joint = blocks.log_joint(ratings)
            evidence = logsumexp(joint, axis=1)
            objective.append(float(evidence.sum()))
            if len(objective) > 1 and objective[-1] - objective[-2] < 1e-6 * len(ratings):
                break
            shares = np.exp(joint - evidence[:, None])
            numbers, sums = ratings.mask().T @ shares, ratings.mask(ratings.value.astype(float)).T @ shares
            clusters = np.argmin(numbers @ blocks.means**2 - 2.0 * sums @ blocks.means, axis=1)
            blocks = _maximised(ratings, shares, clusters, blocks.means)
        return blocks, objective


def _maximised(ratings: Ratings, shares: Floats, clusters: Ints, means: Floats) -> Blocks:
    """Return the parameters that maximise the expected log joint density; a block without ratings keeps its mean."""
    numbers, sums = _by_cluster(ratings, clusters, means.shape[1])
    weight, total = shares.T @ numbers, shares.T @ sums
    means = np.where(weight > 1e-12, total / np.maximum(weight, 1e-12), means)
    squares = (ratings.value.astype(float) ** 2).sum() - 2.0 * (total * means).sum() + (weight * means**2).sum()
    return Blocks(shares.mean(axis=0), clusters, means, max(float(squares) / len(ratings), 1e-10))


def _by_cluster(ratings: Ratings, clusters: Ints, K_v: int) -> tuple[Floats, Floats]:
    """Return the number and the sum of every user's ratings in each cluster of items, (N, K_v)."""
    cell, size = ratings.user * K_v + clusters[ratings.item], len(ratings.users) * K_v
    numbers, sums = np.bincount(cell, minlength=size), np.bincount(cell, ratings.value, size)
    return numbers.reshape(-1, K_v).astype(float), sums.reshape(-1, K_v).astype(float)
