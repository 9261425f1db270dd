r"""The likelihood of a graph or of features under a partition's prior, exactly: a sum over all partitions.

Of a graph on n nodes (Murphy 2012, equation 27.75, eta integrated out; see `gallery.graphs.models.blocks`)

    p(R) = sum_q p(q) p(R | q)

has K^n terms, but labels of clusters may be exchanged: with m of K clusters in use K! / (K - m)! assignments are one
partition. What is left, sum_{m <= K} S(n, m) of Stirling's numbers, are all restricted growth strings, visited so that
each differs from the one before in few blocks. K = n and the prior of the CRP give the infinite relational model, of
which Bell(10) = 115,975 partitions are ten nodes'.

Of features that are clusters of their own a cluster's likelihood depends on its members alone. Then

    Z(S) = sum_{T subset S, min(S) in T} w(T) Z(S \ T),         w(T) = prior and likelihood of the cluster T,

sums over the partitions of S by subset recursion, 3^n terms of which 14 nations have 5 million.
"""

import math
from typing import NamedTuple

import numba as nb
import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from gallery.graphs.models.blocks import ClusterPrior
from heldout.corpora.relations.relation import Relation
from heldout.errors import InputError
from heldout.typing import Floats, Ints

LARGEST_SET = 16  # largest number of entities for the recursion over subsets


class Enumerated(NamedTuple):
    """Results of a sum over partitions, nats.

    Attributes:
        log_evidence: log p(R).
        log_joint: max_q log p(R, q), of labelled clusters.
        log_profile: max_{q, eta} log p(R | q, eta), parameters and clusters plugged in.
        best: (n,) the clusters of the highest p(partition | R).
        by_clusters: log p(R, m clusters in use), (K + 1,), -inf for m = 0.
        partitions: the number of partitions that were visited.
    """

    log_evidence: float
    log_joint: float
    log_profile: float
    best: Ints
    by_clusters: Floats
    partitions: int


@nb.njit(
    "UniTuple(float64, 3)(int8[:, ::1], int64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1],"
    " float64[::1], float64[::1], int64[::1], float64[::1])",
    cache=True,
)
def _enumerate(cells, K, offset, copies, size, one, zero, both, entropy, best, by_clusters):  # type: ignore[no-untyped-def]
    """Visit all partitions into K clusters at most; fill `best` and `by_clusters`, and return maxima and the number."""
    n = len(cells)
    q, used = np.full(n, -1, np.int64), np.zeros(n + 1, np.int64)
    sizes = np.zeros(K, np.int64)
    ones, observed = np.zeros((K, K), np.int64), np.zeros((K, K), np.int64)
    # of each node, its cells with earlier ones by cluster: out, then in; and with itself
    m, seen = np.zeros((n, 2, K), np.int64), np.zeros((n, 2, K), np.int64)
    highest, total = np.full(K + 1, -np.inf), np.zeros(K + 1)
    largest_joint, largest_profile, largest_partition, visited = -np.inf, -np.inf, -np.inf, 0.0
    i = 0
    while i >= 0:
        a = q[i]
        if a >= 0:  # out of its cluster
            sizes[a] -= 1
            for b in range(K):
                ones[a, b] -= m[i, 0, b]
                observed[a, b] -= seen[i, 0, b]
                ones[b, a] -= m[i, 1, b]
                observed[b, a] -= seen[i, 1, b]
            if cells[i, i] >= 0:
                ones[a, a] -= cells[i, i]
                observed[a, a] -= 1
        a += 1
        if a > min(used[i], K - 1):
            q[i] = -1
            i -= 1
            continue
        q[i] = a
        sizes[a] += 1
        for b in range(K):
            ones[a, b] += m[i, 0, b]
            observed[a, b] += seen[i, 0, b]
            ones[b, a] += m[i, 1, b]
            observed[b, a] += seen[i, 1, b]
        if cells[i, i] >= 0:
            ones[a, a] += cells[i, i]
            observed[a, a] += 1
        used[i + 1] = max(used[i], a + 1)
        if i + 1 < n:
            i += 1
            m[i] = 0
            seen[i] = 0
            for j in range(i):
                if cells[i, j] >= 0:
                    m[i, 0, q[j]] += cells[i, j]
                    seen[i, 0, q[j]] += 1
                if cells[j, i] >= 0:
                    m[i, 1, q[j]] += cells[j, i]
                    seen[i, 1, q[j]] += 1
            continue
        clusters = used[n]
        joint, profile = offset[clusters], 0.0
        for b in range(clusters):
            joint += size[sizes[b]]
            for c in range(clusters):
                x, y = ones[b, c], observed[b, c]
                joint += one[x] + zero[y - x] - both[y]
                profile += entropy[x] + entropy[y - x] - entropy[y]
        visited += 1.0
        largest_joint, largest_profile = max(largest_joint, joint), max(largest_profile, profile)
        joint += copies[clusters]
        if joint > largest_partition:
            largest_partition = joint
            best[:] = q
        if joint > highest[clusters]:
            total[clusters] = total[clusters] * math.exp(highest[clusters] - joint) + 1.0
            highest[clusters] = joint
        else:
            total[clusters] += math.exp(joint - highest[clusters])
    for clusters in range(K + 1):
        by_clusters[clusters] = highest[clusters] + math.log(total[clusters]) if total[clusters] > 0.0 else -np.inf
    return largest_joint, largest_profile, visited


def partitions_of_graph(relation: Relation, prior: ClusterPrior, eta: tuple[float, float] = (1.0, 1.0)) -> Enumerated:
    """Sum over all partitions of a graph's nodes.

    Args:
        relation: of one type with itself.
        prior: of K clusters, or the CRP's, of up to as many as there are nodes.
        eta: b_1 and b_0 of the Beta prior.

    Raises:
        InputError: for a relation of another form.

    Examples:
        >>> from heldout.corpora.relations.relation import graph
        >>> likes = np.array([[False, True], [False, False]])
        >>> found = partitions_of_graph(graph("likes", "people", likes), ClusterPrior(1.0, K=2))
        >>> round(found.log_evidence, 4), found.partitions  # 2/3 of 1/6 and 1/3 of 1/4
        (-1.6376, 2)
    """
    if relation.values.ndim != 2 or relation.types[0] != relation.types[1]:
        raise InputError(f"relation {relation.name}: types {', '.join(relation.types)}; expected one type with itself")
    n, alpha = len(relation.values), prior.concentration
    K = min(prior.K or n, n)
    m = np.arange(K + 1)
    if prior.K:
        offset = np.full(K + 1, gammaln(prior.K * alpha) - gammaln(n + prior.K * alpha))
        copies = gammaln(prior.K + 1.0) - gammaln(prior.K - m + 1.0)
        size = gammaln(np.arange(n + 1) + alpha) - gammaln(alpha)
    else:
        offset = m * np.log(alpha) + gammaln(alpha) - gammaln(n + alpha)
        copies = np.zeros(K + 1)
        size = np.concatenate([[0.0], gammaln(np.arange(1, n + 1))])
    counts = np.arange(n * n + 1, dtype=float)
    one, zero, both = (gammaln(counts + b) - gammaln(b) for b in (*eta, sum(eta)))
    cells = np.where(relation.mask, relation.values, -1).astype(np.int8)
    best, by_clusters = np.zeros(n, dtype=np.int64), np.zeros(K + 1)
    joint, profile, visited = _enumerate(
        cells, K, offset, copies, size, one, zero, both, xlogy(counts, counts), best, by_clusters
    )
    return Enumerated(float(logsumexp(by_clusters)), joint, profile, best, by_clusters, int(visited))


@nb.njit("float64[:, ::1](float64[::1], int64)", cache=True)
def _subsets(log_weights: Floats, n: int) -> Floats:
    """Return log Z(S, m) of every subset S and number m of clusters, (2^n, n + 1)."""
    Z = np.full((1 << n, n + 1), -np.inf)
    Z[0, 0] = 0.0
    terms = np.empty((1 << (n - 1), n + 1))
    for S in range(1, 1 << n):
        lowest = S & -S
        rest = S ^ lowest
        T, count = rest, 0
        while True:  # all subsets of the rest, with the lowest member
            w = log_weights[T | lowest]
            for m in range(n):
                terms[count, m + 1] = w + Z[rest ^ T, m]
            count += 1
            if T == 0:
                break
            T = (T - 1) & rest
        for m in range(1, n + 1):
            highest = -np.inf
            for c in range(count):
                highest = max(highest, terms[c, m])
            if highest > -np.inf:
                total = 0.0
                for c in range(count):
                    total += math.exp(terms[c, m] - highest)
                Z[S, m] = highest + math.log(total)
    return Z


def partitions_by_features(relation: Relation, concentration: float, eta: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Return log p(R, m clusters), nats, (n + 1,), of n entities under a CRP; every feature is its own cluster.

    The relation is of entities and features, (n, F).

    Raises:
        InputError: for a relation of another form, or more than `LARGEST_SET` entities.
    """
    if relation.values.ndim != 2 or relation.types[0] == relation.types[1]:
        raise InputError(f"relation {relation.name}: types {', '.join(relation.types)}; expected entities and features")
    n = len(relation.values)
    if n > LARGEST_SET:
        raise InputError(f"relation {relation.name}: {n} entities, more than {LARGEST_SET}; take annealing")
    members = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    ones, observed = members @ relation.values.astype(np.int64), members @ relation.mask.astype(np.int64)
    counts = np.arange(n + 1, dtype=float)
    one, zero, both = (gammaln(counts + b) - gammaln(b) for b in (*eta, sum(eta)))
    log_weights = (one[ones] + zero[observed - ones] - both[observed]).sum(axis=1)
    sizes = members.sum(axis=1)
    log_weights += np.log(concentration) + gammaln(np.maximum(sizes, 1))
    prior = gammaln(concentration) - gammaln(n + concentration)
    result: Floats = _subsets(np.ascontiguousarray(log_weights), n)[-1] + prior
    return result
