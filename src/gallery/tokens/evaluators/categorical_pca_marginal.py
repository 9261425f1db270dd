r"""The exact likelihood of categorical PCA with one or two components, by the trapezoid rule (Murphy 2012, 27.10).

    p(x_i) = ∫ p(x_i | z) N(z | 0, I) dz,      log p(x_i | z) = x_i' (W z + b) - sum_r n_ir lse(W_r z + b_r).

One grid serves all data cases: lse is computed once for each point. The spacing is halved until a case has settled. A
long case has a narrow posterior that no common grid resolves; it gets a grid of its own (`trapezoid`), which finds it,
for the integrand is log-concave.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp

from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.errors import InputError
from heldout.evaluators.trapezoid import SETTLED, grid, log_integral
from heldout.typing import Floats

REACH = 10.0  # end of the grid in standard deviations of the prior; a probability of 1e-23 lies beyond
SPACINGS = {1: (0.2, 0.1, 0.05, 0.025), 2: (0.2, 0.1, 0.05)}  # spacings of the common grid, by K
COARSE = 0.4  # spacing that a single case's grid starts with
MOST_NODES = 2**20  # largest number of nodes of one case's grid
ENTRIES = 2**21  # largest number of entries of an array of points by columns


def categorical_pca_marginal(model: CategoricalPCA, X: sp.sparray | NDArray[Any]) -> Floats:
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
        z = grid(np.full(K, -REACH), np.full(K, REACH), spacing)
        size = max(1, ENTRIES // max(len(open_cases), x.shape[1]))
        cases = x[open_cases], sums[open_cases]
        parts = [logsumexp(_log_joint(model, *cases, z[i : i + size]), axis=1) for i in range(0, len(z), size)]
        settled = logsumexp(parts, axis=0) + K * math.log(spacing)
        change[open_cases] = np.abs(settled - value[open_cases])
        value[open_cases] = settled
    for i in np.flatnonzero(~(change < SETTLED)).tolist():
        own = case_marginal(model, x[[i]], sums[[i]])
        if own is None:
            raise InputError(f"categorical PCA: data case {i} has not settled with {MOST_NODES:,} nodes")
        value[i] = own
    return value


def case_marginal(model: CategoricalPCA, case: sp.csr_array | Floats, sums: Floats) -> float | None:
    """Return log p(x) of one data case, nats, on its own grid; None where the rule does not settle."""
    size = max(1, ENTRIES // case.shape[1])

    def log_joint(z: Floats) -> Floats:
        return np.concatenate([_log_joint(model, case, sums, z[i : i + size])[0] for i in range(0, len(z), size)])

    ends = np.full(model.n_components, REACH)
    return log_integral(log_joint, -ends, ends, COARSE, most_nodes=MOST_NODES)


def _log_joint(model: CategoricalPCA, x: sp.csr_array | Floats, sums: Floats, z: Floats) -> Floats:
    """Return log p(x_i | z_j) N(z_j | 0, I), (N, J), at (J, K) points."""
    log_prior = -0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * math.log(2.0 * math.pi)
    return np.asarray(model.log_joint(x, sums, z) + log_prior)
