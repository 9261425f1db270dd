r"""The likelihood of categorical PCA with any number of components, by annealed importance sampling (Neal, 2001).

p(x) = ∫ p(x | z) N(z | 0, I) dz (Murphy 2012, 27.10) has a log-concave integrand: from its Laplace approximation the
path of `heldout.evaluators.components_marginal` leads to the posterior, with the chapter's blocks and bias.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.errors import InputError
from heldout.evaluators.components_marginal import Integrand, anneal_from_laplace
from heldout.evaluators.evaluation import check_samples, log_mean
from heldout.typing import Floats

NEWTON_STEPS, HALVINGS = 100, 40
SETTLED = 1e-9  # nats; the mode is found when a Newton step would gain less


@dataclass(frozen=True)
class _Case(Integrand):
    """A data case of categorical PCA and the Laplace approximation N(mode, C C') of its posterior."""

    model: CategoricalPCA
    x: Floats  # (C,)
    mode: Floats  # (K,)
    C: Floats  # (K, K)

    def log_ratio(self, u: Floats) -> Floats:
        """Return log p(x, z) - log q(z), nats, at z = mode + C u for every row of u."""
        K = len(self.mode)
        volume = 0.5 * K * np.log(2.0 * np.pi) + float(np.log(np.diag(self.C)).sum())
        joint = _log_joint(self.model, self.x, self.mode + u @ self.C.T)
        return np.asarray(joint + 0.5 * (u**2).sum(axis=1) + volume)


def categorical_pca_annealed(
    model: CategoricalPCA, X: sp.sparray | NDArray[Any], samples: int, rng: np.random.Generator, *, temperatures: int
) -> tuple[Floats, Floats]:
    """Return log p(x) of the (N, C) counts X under a fitted model, and its standard error, (N,) nats.

    Errors are as in `heldout.evaluators`. Samples are chains of each data case, which has a stream of its own;
    `temperatures` is T, the steps from the Laplace approximation to the posterior.
    """
    check_samples("annealed categorical PCA", samples)
    if temperatures < 1:
        raise InputError(f"annealed categorical PCA: {temperatures} temperatures; take 1 or more")
    x = model._check(X)
    log_weights = np.zeros((len(x), samples))
    for row, stream, out in zip(x, rng.spawn(len(x)), log_weights, strict=True):
        if row.any():
            out[:] = anneal_from_laplace(_laplace(model, row), temperatures, samples, stream)
    return log_mean(log_weights)


def _log_joint(model: CategoricalPCA, x: Floats, z: Floats) -> Floats:
    """Return log p(x, z), nats, of one (C,) data case at every row of z."""
    n = model._sums(x[None])[0]
    eta = z @ model.weights_.T + model.bias_
    log_prior = -0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * np.log(2.0 * np.pi)
    return np.asarray(eta @ x - model._lse(eta) @ n + log_prior)


def _laplace(model: CategoricalPCA, x: Floats) -> _Case:
    """Return the Laplace approximation of one data case, by Newton's method with steps halved until they gain."""
    W, n = model.weights_, model._sums(x[None])[0]
    each = model._spread(n[None])[0]
    z = np.zeros((1, W.shape[1]))
    value = _log_joint(model, x, z)[0]
    for _ in range(NEWTON_STEPS):
        p = model._softmax(z @ W.T + model.bias_)[0]
        gradient = (x - each * p) @ W - z[0]
        means = model._sums((p[:, None] * W).T).T  # (R, K)
        curvature = np.eye(W.shape[1]) + (W * (each * p)[:, None]).T @ W - (means * n[:, None]).T @ means
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < SETTLED:
            break
        for _ in range(HALVINGS):
            raised = _log_joint(model, x, z + step)[0]
            if raised >= value:
                z, value = z + step, raised
                break
            step = 0.5 * step
    return _Case(model, x, z[0], np.linalg.inv(np.linalg.cholesky(curvature)).T)
