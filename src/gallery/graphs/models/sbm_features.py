r"""The stochastic block model with features of its nodes (Murphy 2012, equation 27.76).

    q_i ~ Cat(pi), pi ~ Dir(alpha),    p(R_ijk = 1 | q_i = a, q_j = b, x_i, x_j) = sigm(w_abk^T f(x_i, x_j) + c_abk),

for several relations k between the same nodes, each with weights of its own. The chapter prints the argument of the
sigmoid where the probability belongs. f is the concatenation of x_i and x_j or their product, element by element; with
no features c_abk alone is left, the model of equation 27.75 with logit-normal blocks. Priors are

    w ~ N(0, 1 / precision),    c ~ N(0, pi^2 / 3), whose variance is that of the logit of a uniform probability.

Given q the blocks are separate logistic regressions. Laplace's approximation of the integral over weights, at the
maximum w* of their posterior, with H minus its second derivatives there, is

    log p(R_ab | q) = log p(R_ab, w*) + (P / 2) log 2 pi - (1 / 2) log |H|.

Posteriors of few cells are skew, and many blocks add up to tens of nats. The integral itself is the mean of

    p(R_ab, w) / t(w),    w ~ t, Student's t with `FREEDOM` degrees at w*, of scale H^-1,

whose tails are heavier than the prior's, so that the ratio is bounded. What is left is a sum over partitions: K^n
assignments, of which K! / (K - m)! are one partition into m clusters, of few nodes. Laplace's values rank them, and
partitions within `REACH` nats of the best have the sampled integrals; the others weigh nothing. Blocks are sampled
independently, so that with e_B the error of block B's logarithm, and s_B the posterior probability of the partitions
that have B, log p(R) has the squared error sum_B s_B^2 e_B^2.

A hidden cell's logit is Gaussian under Laplace's approximation: its probability is an integral over one dimension.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from gallery.graphs.models import sbm_features_kernel as kernel
from gallery.graphs.models.blocks import ClusterPrior
from heldout.corpora.relations.relation import Bools, Relation
from heldout.errors import InputError
from heldout.evaluators.evaluation import check_samples, log_mean
from heldout.typing import Floats, Ints

Combination = Literal["none", "concatenation", "product"]
NO_FEATURES: Combination = "none"
COMBINATIONS: tuple[Combination, ...] = (NO_FEATURES, "concatenation", "product")
CONSTANT_PRECISION = 3.0 / np.pi**2
FREEDOM = 5.0  # degrees of freedom of the proposal
REACH = 60.0  # nats below the best partition by Laplace, whose errors are up to some 30
LARGEST_SUM = 20_000  # largest number of partitions that are summed over; 14 nodes in two clusters have 8,192
NEGLIGIBLE = 1e-9  # posterior probability below which a partition predicts nothing
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def node_features(relation: Relation, components: int) -> Floats:
    """Return the first principal components of nodes' features, (n, components), each of variance one.

    A feature that was not observed has its mean. Relations between the nodes play no part.

    Args:
        relation: of nodes and features, (n, F).
        components: the number of components, fewer than n.

    Raises:
        InputError: for more components than the features have.
    """
    values, mask = relation.values.astype(float), relation.mask
    counts = mask.sum(axis=0)
    means = np.divide(values.sum(axis=0), counts, out=np.zeros(len(counts)), where=counts > 0)
    left, sizes, right = np.linalg.svd(np.where(mask, values - means, 0.0), full_matrices=False)
    if components < 1 or not (sizes[:components] > 1e-9).sum() == components:
        raise InputError(f"relation {relation.name}: {components} components of {len(values)} nodes; take fewer")
    signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])  # the same signs everywhere
    result: Floats = (left * signs)[:, :components] * np.sqrt(len(values))
    return result


def pair_features(x: Floats, combination: Combination) -> Floats:
    """Return f(x_i, x_j) and a constant, (n, n, P), of nodes' features (n, D).

    P is 1, 2 D + 1 or D + 1.

    Examples:
        >>> pair_features(np.array([[1.0], [2.0]]), "product")[0].tolist()
        [[1.0, 1.0], [2.0, 1.0]]
    """
    n, D = x.shape
    shape = (n, n, D)
    parts = {
        NO_FEATURES: [],
        "concatenation": [np.broadcast_to(x[:, None], shape), np.broadcast_to(x[None], shape)],
        "product": [x[:, None] * x[None]],
    }[combination]
    return np.concatenate([*parts, np.ones((n, n, 1))], axis=2)


class Predicted(NamedTuple):
    """Probabilities that hidden cells are 1, (H,) each, and the sum over partitions.

    Attributes:
        plugged: at the most probable partition and its weights' maximum.
        one: at that partition, weights integrated out.
        average: the posterior's, over partitions and weights.
        log_evidence: log p(R) of the observed cells, nats.
        error: its standard error, nats.
        effective: the least effective sample size of a regression of the most probable partition.
        log_laplace: log p(R) by Laplace's approximation alone, nats.
        log_profile: log p(R | q, w) of the observed cells with both plugged in, nats.
        log_joints: log p(R, q) of every partition, labels of clusters summed over, (partitions,), nats.
        best: (n,) the most probable partition.
    """

    plugged: Floats
    one: Floats
    average: Floats
    log_evidence: float
    error: float
    effective: float
    log_laplace: float
    log_profile: float
    log_joints: Floats
    best: Ints


class Sampled(NamedTuple):
    """A block's log evidence of all relations, nats, its squared error, and a regression's least effective size."""

    log_evidence: float
    variance: float
    effective: float


class FeatureBlocks:
    """The blocks of relations between n nodes, given pairs' features.

    Args:
        relation: (n, n) or (n, n, R), of one type with itself.
        features: (n, n, P), the last one constant, as `pair_features` gives them.
        precision: of the Gaussian prior of the weights, positive.

    Raises:
        InputError: for a relation or features of another form, or a precision that is not positive.
    """

    def __init__(self, relation: Relation, features: Floats, precision: float) -> None:
        n = len(relation.values)
        if relation.values.ndim < 2 or relation.types[0] != relation.types[1] or features.shape[:2] != (n, n):
            raise InputError(
                f"relation {relation.name}: types {', '.join(relation.types)}, features of"
                f" {' by '.join(map(str, features.shape[:2]))} pairs; expected one type with itself"
            )
        if not 0.0 < precision < np.inf:
            raise InputError(f"blocks with features: precision {precision}; it must be positive and finite")
        self.shape = relation.values.shape
        self.features = features
        self.cells = np.where(relation.mask, relation.values, -1).astype(np.int8).reshape(n, n, -1)
        self.precisions = np.array([*[precision] * (features.shape[2] - 1), CONSTANT_PRECISION])
        self._evidences: dict[tuple[int, int], float] = {}

    def _block(self, rows: Ints, columns: Ints) -> tuple[Floats, "np.ndarray"]:
        """Return the features (N, P) and the cells (N, R) of the pairs of some nodes with others."""
        block = np.ix_(rows, columns)
        f, cells = (whole[block].reshape(-1, whole.shape[2]) for whole in (self.features, self.cells))
        return np.ascontiguousarray(f), np.ascontiguousarray(cells)

    def regressions(self, rows: Ints, columns: Ints) -> tuple[Floats, Floats, Floats]:
        """Return evidences (R,), weights (R, P) and covariances (R, P, P) of the block of some nodes with others."""
        return kernel.regressions(*self._block(rows, columns), self.precisions)

    def sampled(self, rows: Ints, columns: Ints, samples: int, random: np.random.Generator) -> Sampled:
        """Return the evidence of a block by importance sampling from Student's t about Laplace's Gaussian.

        Raises:
            InputError: for fewer than two samples.
        """
        check_samples("blocks with features", samples, 2)
        f, cells = self._block(rows, columns)
        _, weights, covariances = kernel.regressions(f, cells, self.precisions)
        roots = np.linalg.cholesky(covariances)
        R, P = weights.shape
        normal = random.standard_normal((R, samples, P))
        normal *= np.sqrt(FREEDOM / random.chisquare(FREEDOM, (R, samples, 1)))
        points = weights[:, None] + normal @ roots.transpose(0, 2, 1)
        log_prior = 0.5 * (np.log(self.precisions).sum() - P * np.log(2.0 * np.pi))
        log_t = gammaln((FREEDOM + P) / 2.0) - gammaln(FREEDOM / 2.0) - 0.5 * P * np.log(FREEDOM * np.pi)
        log_t = log_t - 0.5 * (FREEDOM + P) * np.log1p((normal**2).sum(axis=2) / FREEDOM)
        log_t -= np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)[:, None]
        values, errors = log_mean(kernel.log_joints(f, cells, self.precisions, points) + log_prior - log_t)
        variances = errors**2  # the logarithm of a mean is low by half of it
        effective = float((1.0 / (variances + 1.0 / samples)).min())
        return Sampled(float((values + variances / 2.0).sum()), float(variances.sum()), effective)

    def _blocks_of(self, q: Ints) -> list[tuple[Ints, Ints]]:
        members = [np.flatnonzero(q == cluster) for cluster in np.unique(q)]
        return [(rows, columns) for rows in members for columns in members]

    def log_likelihood(self, q: Ints) -> float:
        """Return log p(R | q) by Laplace's approximation, nats, of (n,) clusters; blocks are kept by their members."""
        total = 0.0
        for rows, columns in self._blocks_of(q):
            key = _key(rows, columns)
            if key not in self._evidences:
                self._evidences[key] = float(self.regressions(rows, columns)[0].sum())
            total += self._evidences[key]
        return total

    def probabilities(self, q: Ints) -> tuple[Floats, Floats]:
        """Return p(R = 1) of every cell with weights plugged in, and with weights integrated out, the shape of R."""
        plugged, averaged = np.empty(self.cells.shape), np.empty(self.cells.shape)
        for a in np.unique(q):
            for b in np.unique(q):
                rows, columns = np.flatnonzero(q == a), np.flatnonzero(q == b)
                _, weights, covariances = self.regressions(rows, columns)
                f = self.features[np.ix_(rows, columns)]
                logits = f @ weights.T
                deviations = np.sqrt(np.einsum("ijp,rpo,ijo->ijr", f, covariances, f))
                plugged[np.ix_(rows, columns)] = expit(logits)
                block_average = expit(logits[..., None] + deviations[..., None] * _NODES) @ (_WEIGHTS / _WEIGHTS.sum())
                averaged[np.ix_(rows, columns)] = block_average
        return plugged.reshape(self.shape), averaged.reshape(self.shape)

    def predict(self, prior: ClusterPrior, hidden: Bools, samples: int, random: np.random.Generator) -> Predicted:
        """Sum over all partitions of the nodes and predict cells that were not observed.

        Args:
            prior: of K clusters.
            hidden: of the relation's shape, H of them true.
            samples: the number of samples of every regression's weights.
            random: what draws them.

        Raises:
            InputError: for the prior of a CRP, more partitions than `LARGEST_SUM`, or fewer than two samples.
        """
        n, K = self.shape[0], prior.K
        if K < 1 or (partitions := number_of_partitions(n, K)) > LARGEST_SUM:
            raise InputError(f"{n} nodes in {K} clusters: of {LARGEST_SUM:,} partitions at most; take fewer clusters")
        log_joints, states = np.empty(partitions), np.empty((partitions, n), dtype=np.int64)
        for place, q in enumerate(restricted_growth(n, K)):
            copies = gammaln(K + 1.0) - gammaln(K - q.max())
            log_joints[place] = self.log_likelihood(q) + prior.log_prior(np.bincount(q, minlength=K)) + copies
            states[place] = q
        log_laplace = float(logsumexp(log_joints))
        blocks: dict[tuple[int, int], Sampled] = {}
        reached = np.flatnonzero(log_joints > log_joints.max() - REACH)
        for number in reached:
            for rows, columns in self._blocks_of(states[number]):
                key = _key(rows, columns)
                if key not in blocks:
                    blocks[key] = self.sampled(rows, columns, samples, random)
                log_joints[number] += blocks[key].log_evidence - self._evidences[key]
        log_evidence = float(logsumexp(log_joints))
        shares, average = np.exp(log_joints - log_evidence), np.zeros(int(hidden.sum()))
        counted = np.flatnonzero(shares > NEGLIGIBLE)
        for q, share in zip(states[counted], shares[counted] / shares[counted].sum(), strict=True):
            average += share * self.probabilities(q)[1][hidden]
        best = states[log_joints.argmax()]
        masses = dict.fromkeys(blocks, 0.0)
        for number in reached:
            for pair in self._blocks_of(states[number]):
                masses[_key(*pair)] += shares[number]
        error = np.sqrt(sum(mass**2 * blocks[key].variance for key, mass in masses.items()))
        effective = min(blocks[_key(*pair)].effective for pair in self._blocks_of(best))
        plugged, one = self.probabilities(best)
        cells = self.cells.reshape(self.shape)
        profile = np.log(np.where(cells == 1, plugged, 1.0 - plugged)[cells >= 0]).sum()
        predicted = plugged[hidden], one[hidden], average
        return Predicted(
            *predicted, log_evidence, float(error), effective, log_laplace, float(profile), log_joints, best
        )


def _key(rows: Ints, columns: Ints) -> tuple[int, int]:
    """Return the members of a block as the bits of two numbers."""
    return int((1 << rows).sum()), int((1 << columns).sum())


def restricted_growth(n: int, K: int) -> Iterator[Ints]:
    """Yield the partitions of n nodes into K clusters at most, (n,), clusters numbered as they first occur.

    Examples:
        >>> [q.tolist() for q in restricted_growth(3, 2)]
        [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """
    q, most = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)  # the largest cluster before a node
    while True:
        yield q.copy()
        i = n - 1
        while i > 0 and q[i] == min(most[i] + 1, K - 1):
            i -= 1
        if i <= 0:
            return
        q[i] += 1
        q[i + 1 :] = 0
        most[i + 1 :] = max(most[i], q[i])


def number_of_partitions(n: int, K: int) -> int:
    """Return the number of partitions of n nodes into K clusters at most, a sum of Stirling's numbers.

    Examples:
        >>> number_of_partitions(14, 2), number_of_partitions(4, 4)
        (8192, 15)
    """
    counts = [1] + [0] * K
    for _ in range(n):
        counts = [0] + [m * counts[m] + counts[m - 1] for m in range(1, K + 1)]
    return sum(counts)
