"""The E step of the stochastic block model's variational EM, node by node; cells of 1 and gaps are listed by node.

All other cells are 0, so that a node's expected zeros are the nodes' sizes less its own, its ones and its gaps: a sweep
takes O(E K + n K^2) for E listed cells.
"""

import math

import numba as nb
import numpy as np

_lists = "int64[:, ::1], int64[::1]"


@nb.njit(inline="always")
def _listed(phi, starts, nodes, starts_gap, gaps, p, i, sums, ones, zeros):  # type: ignore[no-untyped-def]
    """Sum phi over a node's ones, (K,), and over all nodes but its gaps."""
    ones[:] = 0.0
    zeros[:] = sums
    for place in range(starts[p, i], starts[p, i + 1]):
        for b in range(len(ones)):
            ones[b] += phi[nodes[place], b]
    for place in range(starts_gap[p, i], starts_gap[p, i + 1]):
        for b in range(len(ones)):
            zeros[b] -= phi[gaps[place], b]


@nb.njit(
    f"void(float64[:, ::1], {_lists}, {_lists}, {_lists}, {_lists}, float64[:, :, ::1], float64[:, :, ::1],"
    " float64[:, ::1])",
    cache=True,
)
def sweep(phi, starts, sent, starts_in, received, starts_gap, gaps, starts_gap_in, gaps_in, log_one, log_zero, own):  # type: ignore[no-untyped-def]
    """Update phi, (n, K), in place.

    Nodes' cells of the relation p begin at starts[p, i] of `sent`, and so on; tables are (P, K, K), `own` is (n, K):
    E log pi, and the cells of a node with itself.
    """
    n, K = phi.shape
    P = starts.shape[0]
    sums, ones, zeros, score = np.zeros(K), np.empty(K), np.empty(K), np.empty(K)
    for i in range(n):
        for a in range(K):
            sums[a] += phi[i, a]
    for i in range(n):
        for a in range(K):
            score[a] = own[i, a]
            sums[a] -= phi[i, a]
        for p in range(P):
            _listed(phi, starts, sent, starts_gap, gaps, p, i, sums, ones, zeros)
            for a in range(K):
                for b in range(K):
                    score[a] += log_one[p, a, b] * ones[b] + log_zero[p, a, b] * (zeros[b] - ones[b])
            _listed(phi, starts_in, received, starts_gap_in, gaps_in, p, i, sums, ones, zeros)
            for b in range(K):
                for a in range(K):
                    score[a] += log_one[p, b, a] * ones[b] + log_zero[p, b, a] * (zeros[b] - ones[b])
        highest, total = score.max(), 0.0
        for a in range(K):
            phi[i, a] = math.exp(score[a] - highest)
            total += phi[i, a]
        for a in range(K):
            phi[i, a] /= total
            sums[a] += phi[i, a]


@nb.njit(f"float64[:, ::1](float64[:, ::1], {_lists}, int64)", cache=True)
def expected(phi, starts, nodes, p):  # type: ignore[no-untyped-def]
    """Return sum phi_ia phi_jb over the listed cells (i, j) of the relation p, (K, K)."""
    n, K = phi.shape
    counts, node_sums = np.zeros((K, K)), np.empty(K)
    for i in range(n):
        node_sums[:] = 0.0
        for place in range(starts[p, i], starts[p, i + 1]):
            for b in range(K):
                node_sums[b] += phi[nodes[place], b]
        for a in range(K):
            for b in range(K):
                counts[a, b] += phi[i, a] * node_sums[b]
    return counts
