r"""The stochastic block model by collapsed Gibbs sampling and by variational EM (Murphy 2012, equations 27.75).

    q_i ~ Cat(pi), pi ~ Dir(alpha),    eta_ab ~ Beta(b_1, b_0),    R_ij ~ Ber(eta_ab) where q_i = a and q_j = b.

Collapsed Gibbs sampling draws q_i given all other clusters, pi and eta integrated out (`gallery.graphs.models.blocks`).
Variational EM has a factor phi_i for every node. Its E step goes from node to node,

    log phi_ia = E log pi_a + sum_{j, b} phi_jb (R_ij E log eta_ab + (1 - R_ij) E log(1 - eta_ab)
                                               + R_ji E log eta_ba + (1 - R_ji) E log(1 - eta_ba)) + const,

and its M step gives pi and eta their posteriors, Dir(alpha + N) and Beta(b_1 + M, b_0 + N - M) by the expected counts.
The bound on log p(R), after an M step,

    sum_ab log B(b_1 + M_ab, b_0 + N_ab - M_ab) / B(b_1, b_0) + log prior of the expected sizes - sum phi log phi,

never falls. Several relations between the same nodes, such as terms of kinship, have an eta each; a cell that was not
observed is left out, and one of a node with itself, where there may be any, is of eta_aa.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma, gammaln, xlogy

from gallery.graphs.models import sbm_kernel as kernel
from gallery.graphs.models.blocks import Blocks, ClusterPrior
from heldout.corpora.relations.relation import Bools, Relations
from heldout.errors import InputError
from heldout.typing import Floats, Ints

_sweep: Any = kernel.sweep  # numba's types take fewer arguments than these have
_expected: Any = kernel.expected
START = 0.9  # share of a node in one cluster at the start of variational EM; the rest is spread over all


class Variational(NamedTuple):
    """The result of variational EM.

    Attributes:
        phi: (n, K), the nodes' probabilities of clusters.
        bounds: (iterations,), after every M step, nats.
        probabilities: the relation's shape, E eta of every cell's clusters under phi.
    """

    phi: Floats
    bounds: Floats
    probabilities: Floats


def sbm_blocks(relations: Relations, K: int, *, alpha: float = 1.0, eta: tuple[float, float] = (1.0, 1.0)) -> Blocks:
    """Return the blocks of the first type's K clusters; entities of other types have an eta each.

    Raises:
        InputError: for K below 1, or a parameter that is not positive.
    """
    if K < 1:
        raise InputError(f"stochastic block model: K is {K}; it must be 1 or more")
    return Blocks(relations, {relations.first: ClusterPrior(alpha, K)}, eta)


class Chain(NamedTuple):
    """States of collapsed Gibbs sampling.

    Attributes:
        log_joints: log p(R, q) after every sweep, nats.
        best: the state of the highest one, a copy of `Blocks.q`.
        states: the states that were kept, after the first half of the sweeps.
    """

    log_joints: Floats
    best: Ints
    states: list[Ints]


def sample(
    blocks: Blocks, *, sweeps: int, random: np.random.Generator, kept: int = 0, start_clusters: int = 0
) -> Chain:
    """Sample from a start drawn from the prior; keep `kept` states, evenly spaced, of the second half.

    With `start_clusters` the start is that many random clusters of each type, or as many as it may have.

    Raises:
        InputError: for no sweep, or fewer in the second half than states to keep.
    """
    if sweeps < 1 or kept > (sweeps + 1) // 2:
        raise InputError(f"collapsed Gibbs: {sweeps} sweeps, {kept} of the second half to keep; take more sweeps")
    blocks.start(random, start_clusters)
    keep = set(np.linspace(sweeps // 2, sweeps - 1, kept).round().astype(int).tolist()) if kept else set()
    log_joints, best, states = np.empty(sweeps), blocks.q.copy(), []
    for sweep in range(sweeps):
        blocks.sweep(random)
        log_joints[sweep] = blocks.log_joint()
        if sweep == 0 or log_joints[sweep] > log_joints[:sweep].max():
            best = blocks.q.copy()
        if sweep in keep:
            states.append(blocks.q.copy())
    return Chain(log_joints, best, states)


def variational_em(
    relations: Relations,
    K: int,
    *,
    alpha: float = 1.0,
    eta: tuple[float, float] = (1.0, 1.0),
    iterations: int = 100,
    random: np.random.Generator,
) -> Variational:
    """Fit one relation of the first type with itself, from random clusters, until the bound rises by less than 1e-9.

    Raises:
        InputError: for several relations or one of another form, or a setting out of range.
    """
    (one,) = relations.relations if len(relations.relations) == 1 else (None,)
    if one is None or one.values.ndim < 2 or one.types[0] != one.types[1]:
        raise InputError(f"{relations.name}: expected one relation of {relations.first} with themselves")
    if K < 1 or iterations < 1 or not all(0.0 < parameter < np.inf for parameter in (alpha, *eta)):
        raise InputError(f"variational EM: K {K}, {iterations} iterations, alpha {alpha}, eta {eta}; all positive")
    n = len(one.values)
    true, seen = one.values.reshape(n, n, -1), one.mask.reshape(n, n, -1)
    node = np.arange(n)
    self_true = true[node, node].astype(float)  # (n, P)
    self_false = seen[node, node] - self_true
    distinct = ~np.eye(n, dtype=bool)[..., None]
    listed = [_listed(cells & distinct) for cells in (true, np.swapaxes(true, 0, 1), ~seen, np.swapaxes(~seen, 0, 1))]
    lists = [array for pair in listed for array in pair]
    phi = (1.0 - START) / K + START * np.eye(K)[random.integers(K, size=n)]
    bounds: list[float] = []

    def expected(starts: Ints, nodes: Ints) -> Floats:
        """Return (K, K, P) expected counts of cells between nodes."""
        return np.stack([_expected(phi, starts, nodes, p) for p in range(len(starts))], axis=-1)

    while len(bounds) < iterations:
        sizes, diagonal = phi.sum(axis=0), np.arange(K)
        ones, gaps = expected(*listed[0]), expected(*listed[2])
        zeros = (np.outer(sizes, sizes) - phi.T @ phi)[..., None] - ones - gaps
        zeros = np.maximum(zeros, 0.0)  # a difference of sums
        ones[diagonal, diagonal] += phi.T @ self_true
        zeros[diagonal, diagonal] += phi.T @ self_false
        bound = (betaln(ones + eta[0], zeros + eta[1]) - betaln(*eta)).sum() - xlogy(phi, phi).sum()
        bound += gammaln(K * alpha) - gammaln(n + K * alpha) + (gammaln(sizes + alpha) - gammaln(alpha)).sum()
        bounds.append(float(bound))
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < 1e-9:
            break
        total = digamma(ones + zeros + sum(eta))
        log_one, log_zero = digamma(ones + eta[0]) - total, digamma(zeros + eta[1]) - total
        own = digamma(sizes + alpha) + self_true @ log_one[diagonal, diagonal].T
        own += self_false @ log_zero[diagonal, diagonal].T
        tables = (np.ascontiguousarray(np.moveaxis(table, -1, 0)) for table in (log_one, log_zero))
        _sweep(phi, *lists, *tables, own)
    means = (ones + eta[0]) / (ones + zeros + sum(eta))
    probabilities = np.einsum("ia,abp,jb->ijp", phi, means, phi, optimize=True)
    probabilities[node, node] = np.einsum("ia,aap->ip", phi, means)
    return Variational(phi, np.array(bounds), probabilities.reshape(one.values.shape))


def _listed(cells: Bools) -> tuple[Ints, Ints]:
    """Return where each node's list begins in each relation, (P, n + 1), and the nodes j of (n, n, P) true cells."""
    n, _, P = cells.shape
    numbers = cells.sum(axis=1).T.ravel()
    ends = np.concatenate([[0], np.cumsum(numbers)])
    starts = np.stack([ends[p * n : p * n + n + 1] for p in range(P)])
    return starts, np.concatenate([np.nonzero(cells[:, :, p])[1] for p in range(P)])
