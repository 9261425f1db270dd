r"""The mixed membership stochastic block model by collapsed Gibbs sampling (Murphy 2012, equations 27.77 to 27.79).

    pi_i ~ Dir(alpha),    eta_ab ~ Beta(b_1, b_0),
    q_{i -> j} ~ Cat(pi_i),    q_{i <- j} ~ Cat(pi_j),
    p(R_ij = r | q_{i -> j} = a, q_{i <- j} = b, eta) = rho delta_0(r) + (1 - rho) Ber(r | eta_ab),

for every observed pair i != j. With rho above 0 an observed 0 may come from the background, c_ij = 1, and says nothing
about eta then. With pi and eta integrated out, n_ik of the draws of node i being k, and m_ab of the n_ab pairs that are
not of the background being 1, a pair's draws have, given all others,

    p(a, b, c) ∝ (n_ia + alpha) (n_jb + alpha) times
        (1 - rho) (m_ab + b_1) / (n_ab + b_1 + b_0)             where R_ij = 1 (then c = 0),
        (1 - rho) (n_ab - m_ab + b_0) / (n_ab + b_1 + b_0)      where R_ij = 0 and c = 0,
        rho                                                     where R_ij = 0 and c = 1.
"""

import math
from typing import Any, Self

import numba as nb
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import betaln, gammaln

from heldout.corpora.relations.relation import Relation
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats, Ints

_COUNTS = "int64[:, ::1], int64[:, ::1], int64[:, ::1]"


@nb.njit(
    "void(int64[:, ::1], int64[::1], float64, float64, float64, float64, float64, int64[:, ::1],"
    f" {_COUNTS}, float64[::1])",
    cache=True,
)
def _sweep(pairs, values, alpha, one, zero, rho, beta, draws, members, ones, observed, uniforms):  # type: ignore[no-untyped-def]
    """Draw every pair's (a, b, c) given all others, the likelihood to the power beta; a = -1 where there is none."""
    K = len(ones)
    weights = np.empty(2 * K * K)
    for p in range(len(pairs)):
        i, j, value = pairs[p, 0], pairs[p, 1], values[p]
        if draws[p, 0] >= 0:
            a, b = draws[p, 0], draws[p, 1]
            members[i, a] -= 1
            members[j, b] -= 1
            if draws[p, 2] == 0:
                ones[a, b] -= value
                observed[a, b] -= 1
        total = 0.0
        for a in range(K):
            for b in range(K):
                # a node's two draws are of one urn only where i is j, which it never is
                prior = (members[i, a] + alpha) * (members[j, b] + alpha)
                hits = ones[a, b] + one if value else observed[a, b] - ones[a, b] + zero
                weight = prior * (1.0 - rho) * (hits / (observed[a, b] + one + zero)) ** beta
                weights[2 * (a * K + b)] = weight
                weights[2 * (a * K + b) + 1] = 0.0 if value else prior * rho
                total += weight + weights[2 * (a * K + b) + 1]
        left, chosen = uniforms[p] * total, -1
        for place in range(2 * K * K):
            if weights[place] > 0.0:
                chosen = place
                left -= weights[place]
                if left < 0.0:
                    break
        a, b, c = chosen // 2 // K, chosen // 2 % K, chosen % 2
        draws[p, 0], draws[p, 1], draws[p, 2] = a, b, c
        members[i, a] += 1
        members[j, b] += 1
        if c == 0:
            ones[a, b] += value
            observed[a, b] += 1


_run: Any = _sweep  # numba's types take fewer arguments than it has


class Roles:
    """A state of the sampler: the draws (a, b, c) of every observed pair, and their counts.

    Args:
        relation: a graph without self-loops.
        K: the number of blocks.
        alpha: Dirichlet parameter of the memberships.
        eta: b_1 and b_0.
        rho: probability of the background, in [0, 1).

    Raises:
        InputError: for a relation of another form, or a parameter out of range.
    """

    def __init__(self, relation: Relation, K: int, *, alpha: float, eta: tuple[float, float], rho: float) -> None:
        if relation.values.ndim != 2 or relation.types[0] != relation.types[1] or relation.mask.diagonal().any():
            raise InputError(f"relation {relation.name}: expected a graph without self-loops")
        if not (K >= 1 and all(0.0 < parameter < math.inf for parameter in (alpha, *eta)) and 0.0 <= rho < 1.0):
            raise InputError(
                f"mixed membership: K {K}, alpha {alpha}, eta {eta}, rho {rho}; these must be at least 1, positive and"
                " finite, and in [0, 1)"
            )
        self.K, self.alpha, self.eta, self.rho = K, alpha, eta, rho
        self.pairs: Ints = np.ascontiguousarray(np.argwhere(relation.mask))
        self.values: Ints = relation.values[relation.mask].astype(np.int64)
        self.nodes = len(relation.values)
        self.start()

    def start(self) -> None:
        """Remove all draws; a sweep at beta = 0 then draws them from the prior."""
        self.draws = np.full((len(self.pairs), 3), -1, dtype=np.int64)
        self.members = np.zeros((self.nodes, self.K), dtype=np.int64)
        self.ones, self.observed = (np.zeros((self.K, self.K), dtype=np.int64) for _ in range(2))

    def sweep(self, random: np.random.Generator, beta: float = 1.0) -> None:
        """Draw every pair's roles given all others, the likelihood to the power beta."""
        parameters = (self.alpha, *self.eta, self.rho, beta)
        counts = (self.members, self.ones, self.observed)
        _run(self.pairs, self.values, *parameters, self.draws, *counts, random.random(len(self.pairs)))

    def log_likelihood(self) -> float:
        """Return log p(R | q, c) of the pairs outside the background, nats."""
        one, zero = self.eta
        return float((betaln(self.ones + one, self.observed - self.ones + zero) - betaln(one, zero)).sum())

    def log_constant(self) -> float:
        """Return the log probability that no 1 is background, which c leaves out where R_ij = 1, nats."""
        return float(self.values.sum() * math.log1p(-self.rho))

    def log_joint(self) -> float:
        """Return log p(R, q, c), nats."""
        alpha, K, draws = self.alpha, self.K, self.members.sum(axis=1)
        prior = (gammaln(self.members + alpha) - gammaln(alpha)).sum()
        prior += (gammaln(K * alpha) - gammaln(draws + K * alpha)).sum()
        zeros = self.draws[self.values == 0, 2]
        zero_term = len(zeros) * math.log1p(-self.rho)
        if self.rho > 0.0:
            zero_term += zeros.sum() * (math.log(self.rho) - math.log1p(-self.rho))
        return float(prior + zero_term) + self.log_constant() + self.log_likelihood()

    def memberships(self) -> Floats:
        """Return E[pi | q], (n, K)."""
        smoothed = self.members + self.alpha
        result: Floats = np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))
        return result

    def means(self) -> Floats:
        """Return E[eta | q, R], (K, K)."""
        result: Floats = (self.ones + self.eta[0]) / (self.observed + sum(self.eta))
        return result


@estimator
class MMSB(Estimator):
    """The mixed membership stochastic block model: of several chains, the one with the highest mean log p(R, q).

    Args:
        n_components: K.
        alpha: Dirichlet parameter of the memberships.
        eta: both parameters of the Beta prior.
        rho: probability that an observed 0 is of the background (27.79).
        starts: chains.
        sweeps: of a chain; its second half counts.
        random_state: the generator, or its seed.

    Attributes (after `fit`):
        memberships_: (n, K), E[pi] over the states, blocks named as in the first of them.
        eta_: (K, K), E[eta] over the states.
        log_joint_: the mean of log p(R, q) over the states, nats.

    Examples:
        >>> from heldout.corpora.relations.relation import graph
        >>> arcs = np.kron(np.eye(2, dtype=bool), np.ones((4, 4), dtype=bool)) & ~np.eye(8, dtype=bool)
        >>> model = MMSB(2, starts=3, sweeps=100, random_state=0).fit(graph("likes", "people", arcs))
        >>> len(set(model.memberships_.argmax(axis=1)[:4])), len(set(model.memberships_.argmax(axis=1)))
        (1, 2)
    """

    alpha: float = 0.1
    eta: float = 1.0
    rho: float = 0.0
    starts: int = 10
    sweeps: int = 1000

    def fit(self, relation: Relation) -> Self:
        """Sample from every start; raises InputError for a setting out of range."""
        if self.starts < 1 or self.sweeps < 2:
            raise InputError(f"mixed membership: {self.starts} starts, {self.sweeps} sweeps; at least 1 and 2")
        eta, random = (self.eta, self.eta), np.random.default_rng(self.random_state)
        roles = Roles(relation, self.n_components, alpha=self.alpha, eta=eta, rho=self.rho)
        self.log_joint_ = -math.inf
        for _ in range(self.starts):
            roles.start()
            roles.sweep(random, 0.0)
            joints: list[float] = []
            memberships: list[Floats] = []
            means: list[Floats] = []
            for sweep in range(self.sweeps):
                roles.sweep(random)
                if sweep < self.sweeps // 2:
                    continue
                joints.append(roles.log_joint())
                own = roles.memberships()
                order = np.arange(self.n_components)
                if memberships:
                    order = linear_sum_assignment(-memberships[0].T @ own)[1]
                memberships.append(own[:, order])
                means.append(roles.means()[np.ix_(order, order)])
            if np.mean(joints) > self.log_joint_:
                self.log_joint_ = float(np.mean(joints))
                self.memberships_, self.eta_ = np.mean(memberships, axis=0), np.mean(means, axis=0)
        return self

    def plugged_in(self, relation: Relation) -> float:
        """Return log p(R | E[pi], E[eta]), nats: parameters plugged in, which is no likelihood of R."""
        zero_chances = self.rho + (1.0 - self.rho) * (1.0 - self.memberships_ @ self.eta_ @ self.memberships_.T)
        chances = np.where(relation.values, 1.0 - zero_chances, zero_chances)
        return float(np.log(chances[relation.mask]).sum())
