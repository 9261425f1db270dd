r"""Mixture of Gaussians with a point posterior, and K-means as its special case (Welling et al. 2008, section 3.1).

    p(x, h = k) = pi_k N(x; mu_k, Sigma_k)                                                            (3.7)
    log p(x, k) = log pi_k - 1/2 (x - mu_k)' Sigma_k^-1 (x - mu_k) - 1/2 log det Sigma_k - D/2 log 2 pi

Summed over the data cases, each with its own k, this is the bound 3.8 plus the constant that 3.8 omits, so it is
comparable with the log-likelihood. VE step: the best k of each data case (or, for exact EM, q(k) = p(k | x)). VM step,
with N_k = sum_n q_n(k):

    pi_k = N_k / N,   mu_k = sum_n q_n(k) x_n / N_k,   S_k = sum_n q_n(k) (x_n - mu_k)(x_n - mu_k)' / N_k.

The likelihood is unbounded if a covariance may be singular, so the eigenvalues of Sigma_k are constrained to be at
least `floor`. The minimum of log det Sigma + tr(Sigma^-1 S) then has the eigenvectors of S and, for each eigenvalue s_k
of S, the eigenvalue s that minimises log s + s_k / s: the larger of s_k and the floor. So the VM step is exact under
the constraint and the objective never falls. A component without data cases gets pi_k = 0 and keeps its mean and
covariance, which no longer affect the objective.

K-means: pi_k = 1 / K and Sigma_k = sigma^2 I fixed (the source writes sigma I). Then

    log p(x, k) = -|x - mu_k|^2 / (2 sigma^2) + constant                                              (3.9)
"""

import math
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.models.vem import Family, PointMixture, real_matrix
from heldout.typing import Floats


class Gaussians(NamedTuple):
    """Parameters of a mixture of Gaussians: pi (K,), mu (K, D), Sigma (K, D, D)."""

    weights: Floats
    means: Floats
    covariances: Floats


@estimator
class GaussianMixture(PointMixture[Floats, Gaussians]):
    """Mixture of Gaussians with full covariances.

    Other arguments are as of `DiscreteVEM`, attributes as of `PointVEM`; `parameters_` is a `Gaussians`.

    Args:
        floor: the least eigenvalue of a covariance, in the data's squared units; positive.

    Examples:
        >>> data = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0]])
        >>> model = GaussianMixture(2, floor=0.1, posterior="exact", random_state=0).fit(data)
        >>> model.parameters_.means.round(2)
        array([[5. , 5.5],
               [0. , 0.5]])
    """

    family = Family(
        "mixture of Gaussians", "discrete", r"h \in \{1, \dots, K\}", r"\mathcal{N}(x; \mu_h, \Sigma_h)", "3.7, 3.8"
    )

    floor: float = 1e-6

    def check(self, X: Any) -> Floats:
        """Return X as a dense (N, D) array."""
        self.check_posterior()
        if not self.floor > 0.0:
            raise InputError(f"{self.family.name}: the floor is {self.floor}; it must be positive")
        return real_matrix(X, self.family.name)

    def start(self, data: Floats, random: np.random.Generator) -> Gaussians:
        """Return equal weights, K data cases as means, and the covariance of all data for every component."""
        K = self.n_components
        means = _distinct_rows(data, K, random, self.family.name)
        centred = data - data.mean(axis=0)
        covariance = _floored(centred.T @ centred / len(data), self.floor)
        return Gaussians(np.full(K, 1.0 / K), means, np.repeat(covariance[None], K, axis=0))

    def log_joint(self, data: Floats, parameters: Gaussians) -> Floats:
        """Return log pi_k + log N(x_n; mu_k, Sigma_k), (N, K) nats."""
        D = data.shape[1]
        joint = np.empty((len(data), len(parameters.weights)))
        with np.errstate(divide="ignore"):  # a component without data cases: log 0
            log_weights = np.log(parameters.weights)
        for k, (mean, covariance) in enumerate(zip(parameters.means, parameters.covariances, strict=True)):
            root = cholesky(covariance, lower=True)
            z = solve_triangular(root, (data - mean).T, lower=True)
            half_log_det = np.log(np.diagonal(root)).sum()
            joint[:, k] = log_weights[k] - 0.5 * np.sum(z**2, axis=0) - half_log_det - 0.5 * D * math.log(2.0 * math.pi)
        return joint

    def vm_step(self, data: Floats, latent: Floats, parameters: Gaussians) -> Gaussians:
        """Return the weights, means and (floored) covariances that maximise the objective."""
        sizes = latent.sum(axis=0)
        means, covariances = parameters.means.copy(), parameters.covariances.copy()
        for k in np.flatnonzero(sizes > 0.0):
            share = latent[:, k] / sizes[k]
            means[k] = share @ data
            centred = data - means[k]
            covariances[k] = _floored((share[:, None] * centred).T @ centred, self.floor)
        return Gaussians(sizes / len(data), means, covariances)


@estimator
class KMeans(GaussianMixture):
    """K-means: equal weights and Sigma = `variance` I, both fixed.

    Other arguments are as of `DiscreteVEM`: the "exact" posterior is soft K-means, exact EM for the means.

    Args:
        variance: sigma^2, in the data's squared units.

    Examples:
        >>> KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]]).latent_  # the cluster of each case
        array([[0., 1.],
               [0., 1.],
               [1., 0.],
               [1., 0.]])
    """

    family = Family("K-means", "discrete", r"h \in \{1, \dots, K\}", r"\mathcal{N}(x; \mu_h, \sigma^2 I)", "3.9")

    variance: float = 1.0
    floor: float = field(default=1e-6, init=False)  # unused: no covariance is fitted

    def check(self, X: Any) -> Floats:
        """Return X as a dense (N, D) array."""
        if not 0.0 < self.variance < math.inf:
            raise InputError(f"{self.family.name}: the variance is {self.variance}; it must be positive")
        return super().check(X)

    def start(self, data: Floats, random: np.random.Generator) -> Gaussians:
        """Return K data cases as means."""
        return self.parameters_at(_distinct_rows(data, self.n_components, random, self.family.name))

    def parameters_at(self, means: Floats) -> Gaussians:
        """Return the parameters with these means, (K, D)."""
        K, D = means.shape
        return Gaussians(np.full(K, 1.0 / K), means, np.repeat(self.variance * np.eye(D)[None], K, axis=0))

    def vm_step(self, data: Floats, latent: Floats, parameters: Gaussians) -> Gaussians:
        """Return the means that maximise the objective; an empty cluster keeps its own."""
        sizes = latent.sum(axis=0)[:, None]
        means = np.where(sizes > 0.0, (latent.T @ data) / np.where(sizes > 0.0, sizes, 1.0), parameters.means)
        return self.parameters_at(means)


def _distinct_rows(data: Floats, K: int, random: np.random.Generator, model: str) -> Floats:
    distinct = np.unique(data, axis=0)
    if len(distinct) < K:
        raise InputError(f"{model}: {K} components cannot start from {len(distinct)} distinct data cases; take fewer")
    chosen: Floats = random.permutation(distinct)[:K]
    return chosen


def _floored(matrix: Floats, floor: float) -> Floats:
    """Return a symmetric matrix with every eigenvalue below the floor raised to it."""
    matrix = 0.5 * (matrix + matrix.T)
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= floor:
        return matrix
    floored: Floats = (vectors * np.maximum(values, floor)) @ vectors.T
    return 0.5 * (floored + floored.T)
