r"""The exact likelihood of categorical PCA with one or two components, by the trapezoid rule (Murphy 2012, 27.10).

    p(x_i) = ∫ p(x_i | z) N(z | 0, I) dz,      log p(x_i | z) = x_i' (W z + b) - sum_r n_ir lse(W_r z + b_r).

One grid serves all data cases: lse is computed once for each point. For an analytic integrand that vanishes at the ends
the rule converges geometrically; for a Gaussian of standard deviation s the relative error is 2 exp(-2 (pi s / h)^2) at
spacing h. The spacing is halved until a case has settled. A long case has a narrow posterior that no common grid
resolves; the integrand is log-concave, so a grid of its own closes in on the box where it is not negligible.
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
SPACINGS = {1: (0.2, 0.1, 0.05, 0.025), 2: (0.2, 0.1, 0.05)}  # of the common grid, by K
SETTLED = 1e-8  # nats between two spacings
COARSE = 0.4  # the spacing that a grid of one case starts with
NEGLIGIBLE = 60.0  # nats below the highest
MOST_NODES = 2**20  # of a grid of one case
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
    x, sums = model.counts_and_sums(X)
    value, change = np.full(len(sums), math.nan), np.full(len(sums), math.inf)
    for spacing in SPACINGS[K]:
        open_cases = np.flatnonzero(~(change < SETTLED))
        if not len(open_cases):
            break
        z = _grid(np.full(K, -REACH), np.full(K, REACH), spacing)
        size = max(1, BLOCK // max(len(open_cases), x.shape[1]))
        cases = x[open_cases], sums[open_cases]
        parts = [logsumexp(_log_joint(model, *cases, z[i : i + size]), axis=1) for i in range(0, len(z), size)]
        settled = logsumexp(parts, axis=0) + K * math.log(spacing)
        change[open_cases] = np.abs(settled - value[open_cases])
        value[open_cases] = settled
    for i in np.flatnonzero(~(change < SETTLED)).tolist():
        own = _closing_in(model, x[[i]], sums[[i]], K)
        if own is None:
            raise InputError(f"categorical PCA: data case {i} has not settled with {MOST_NODES:,} nodes")
        value[i] = own
    return value


def _grid(low: Float, high: Float, spacing: float) -> Float:
    """Return the points, (J, K), of a box from low to high (K,) or a little more."""
    axes = [np.arange(a, b + spacing / 2, spacing) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))


def _closing_in(model: CategoricalPCA, case: sp.csr_array | Float, sums: Float, K: int) -> float | None:
    """Return log p(x) of one data case, nats; None where the rule does not settle."""
    low, high, spacing, previous = np.full(K, -REACH), np.full(K, REACH), COARSE, math.nan
    while np.prod((high - low) / spacing + 2.0) <= MOST_NODES:
        z = _grid(low, high, spacing)
        size = max(1, BLOCK // case.shape[1])
        logs = np.concatenate([_log_joint(model, case, sums, z[i : i + size])[0] for i in range(0, len(z), size)])
        inside = z[logs > logs.max() - NEGLIGIBLE]
        cut = (inside.min(axis=0) < low + spacing / 2) | (inside.max(axis=0) > high - spacing / 2)
        cut &= (low > -REACH) | (high < REACH)
        total = float(logsumexp(logs)) + K * math.log(spacing)
        if not cut.any():
            if abs(total - previous) < SETTLED:
                return total
            previous = total
        margin = np.where(cut, (high - low) / 2.0, spacing)
        low = np.maximum(inside.min(axis=0) - margin, -REACH)
        high = np.minimum(inside.max(axis=0) + margin, REACH)
        spacing = spacing if cut.any() else spacing / 2.0
    return None


def _log_joint(model: CategoricalPCA, x: sp.csr_array | Float, sums: Float, z: Float) -> Float:
    """Return log p(x_i | z_j) N(z_j | 0, I), (N, J), at (J, K) points."""
    log_prior = -0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * math.log(2.0 * math.pi)
    return np.asarray(model.log_joint_of(x, sums, z) + log_prior)
