r"""The exact likelihood of categorical PCA with one or two components, by the trapezoid rule (Murphy 2012, 27.10).

    p(x_i) = ∫ p(x_i | z) N(z | 0, I) dz,      log p(x_i | z) = x_i' (W z + b) - sum_r n_ir lse(W_r z + b_r).

One grid serves all data cases: lse is computed once for each point. For an analytic integrand that vanishes at the ends
the rule converges geometrically; for a Gaussian of standard deviation s the relative error is 2 exp(-2 (pi s / h)^2) at
spacing h. The spacing is halved until every case has settled.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp

from heldout.errors import InputError
from heldout.models.categorical_pca import CategoricalPCA

Float = NDArray[np.float64]
REACH = 10.0  # of the grid, in standard deviations of the prior: what lies beyond has probability 1e-23
SPACINGS = {1: (0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625), 2: (0.2, 0.1, 0.05)}  # by K
SETTLED = 1e-8  # nats between two spacings
BLOCK = 2**21  # entries of the array of points by columns


def categorical_pca_marginal(model: CategoricalPCA, X: sp.sparray | NDArray[Any]) -> Float:
    """Return log p(x), (N,) nats, of the (N, C) counts X under a fitted model of one or two components.

    Raises:
        InputError: for more components, bad counts, or a case that does not settle.

    Examples:
        >>> model = CategoricalPCA(1, iterations=0, random_state=0).fit(np.eye(2))
        >>> bool(np.exp(categorical_pca_marginal(model, np.eye(2))).sum().round(9) == 1.0)
        True
    """
    K = model.n_components
    if K not in SPACINGS:
        raise InputError(f"categorical PCA: {K} components; the rule takes {' or '.join(map(str, SPACINGS))}")
    previous = np.full(X.shape[0], math.nan)
    for spacing in SPACINGS[K]:
        axis = np.arange(-REACH, REACH + spacing / 2, spacing)
        z = np.stack(np.meshgrid(*[axis] * K), axis=-1).reshape(-1, K)
        size = max(1, BLOCK // max(X.shape))
        parts = [_log_sum(model, X, z[start : start + size]) for start in range(0, len(z), size)]
        value: Float = logsumexp(parts, axis=0) + K * math.log(spacing)
        change = np.abs(value - previous)
        if np.all(change < SETTLED):
            return value
        previous = value
    raise InputError(
        f"categorical PCA: data case {int(change.argmax())} has not settled at a spacing of {spacing}; take shorter"
        " documents"
    )


def _log_sum(model: CategoricalPCA, X: sp.sparray | NDArray[Any], z: Float) -> Float:
    """Return log sum_j p(x_i | z_j) N(z_j | 0, I), (N,), over (J, K) points."""
    log_prior = -0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * math.log(2.0 * math.pi)
    return np.asarray(logsumexp(model.log_joint(X, z) + log_prior, axis=1))
