r"""Blocks of relations: the state that the stochastic block model and the infinite relational model share.

Entities of each type t have clusters q_i^t, and a cell of a relation is a Bernoulli draw whose probability depends on
the clusters of its entities alone (Murphy 2012, equations 27.75 and 27.82),

    p(R(i, j, k) = 1 | q_i = a, q_j = b, q_k = c, eta) = eta_abc,    eta_abc ~ Beta(b_1, b_0).

With eta integrated out, and m_abc of n_abc observed cells of a block being 1,

    p(R | q) = prod_abc B(m_abc + b_1, n_abc - m_abc + b_0) / B(b_1, b_0),

a product over relations, too (27.83). The clusters of a type with N entities have as a prior

    Dirichlet   Gamma(K alpha) / Gamma(N + K alpha) prod_k Gamma(N_k + alpha) / Gamma(alpha),   of K labelled clusters,
    CRP         gamma^K Gamma(gamma) / Gamma(N + gamma) prod_k Gamma(N_k),                      of any number K of them,

or none: then every entity is a cluster of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from gallery.graphs.models import block_kernel as kernel
from heldout.corpora.relations.relation import Relations
from heldout.errors import InputError
from heldout.typing import Floats, Ints

_sweep: Any = kernel.sweep  # numba's types take fewer arguments than these have
_anneal: Any = kernel.anneal
_count: Any = kernel.count
LARGEST = 64  # clusters of a type under a CRP
_NO_AXIS = "alone"  # type, with a single entity, of an axis that a relation lacks


@dataclass(frozen=True)
class ClusterPrior:
    """The prior of a type's clusters.

    Attributes:
        concentration: alpha of the Dirichlet, gamma of the CRP; positive.
        K: the number of clusters of the Dirichlet; 0 for the CRP.

    Raises:
        InputError: for a concentration that is not positive and finite, or K below 0.
    """

    concentration: float
    K: int = 0

    def __post_init__(self) -> None:
        if not (0.0 < self.concentration < np.inf and self.K >= 0):
            raise InputError(f"clusters: concentration {self.concentration}, K {self.K}; positive, and 0 or more")

    def log_prior(self, sizes: Ints) -> float:
        """Return log p(q) of clusters of these sizes, nats; zeros among them are empty clusters."""
        full, N, alpha = sizes[sizes > 0], int(sizes.sum()), self.concentration
        if self.K:
            return float(
                gammaln(self.K * alpha) - gammaln(N + self.K * alpha) + (gammaln(full + alpha) - gammaln(alpha)).sum()
            )
        return float(len(full) * np.log(alpha) + gammaln(alpha) - gammaln(N + alpha) + gammaln(full).sum())

    def draw(self, N: int, cap: int, random: np.random.Generator) -> Ints:
        """Draw the clusters of N entities, smaller than `cap`."""
        q, sizes = np.zeros(N, dtype=np.int64), np.zeros(cap)
        for i in range(N):
            weights = sizes + self.concentration if self.K else sizes.copy()
            if not self.K and (empty := np.flatnonzero(sizes == 0)).size:
                weights[empty[0]] = self.concentration
            q[i] = np.searchsorted(weights.cumsum(), random.random() * weights.sum(), side="right")
            sizes[q[i]] += 1
        return q


class Blocks:
    """A state of the sampler: the clusters of every type, and the counts of all blocks.

    Args:
        relations: the data; each relation has at most three axes, and a type twice on the first two alone.
        priors: of types' clusters, by type; a type without one has a cluster for each entity.
        eta: b_1 and b_0, positive.

    Raises:
        InputError: for relations of another form, or eta that is not positive.

    Examples:
        >>> from heldout.corpora.relations.relation import graph
        >>> likes = np.zeros((4, 4), dtype=bool)
        >>> likes[:2, 2:] = True
        >>> two = Relations("two", {"people": tuple("abcd")}, (graph("likes", "people", likes),))
        >>> blocks = Blocks(two, {"people": ClusterPrior(1.0, K=2)})
        >>> round(blocks.start({"people": np.array([0, 0, 1, 1])}).log_likelihood(), 4)
        -5.4161
    """

    def __init__(
        self, relations: Relations, priors: Mapping[str, ClusterPrior], eta: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        if not all(0.0 < parameter < np.inf for parameter in eta):
            raise InputError(f"{relations.name}: eta {eta}; both must be positive and finite")
        names = [*relations.entities, _NO_AXIS]
        self.relations, self.priors, self.eta = relations, dict(priors), eta
        self._type = {name: place for place, name in enumerate(names)}
        counted = [len(relations.entities[name]) for name in relations.entities] + [1]
        self._caps = np.array(
            [
                n if name not in priors else priors[name].K or min(n, LARGEST)
                for name, n in zip(names, counted, strict=True)
            ],
            dtype=np.int64,
        )
        self._entities = np.concatenate([[0], np.cumsum(counted)]).astype(np.int64)
        shapes, types = [], []
        for one in relations.relations:
            axes = [*one.types, *[_NO_AXIS] * (3 - len(one.types))]
            if len(axes) > 3 or (axes[2] != _NO_AXIS and axes[2] in axes[:2]):
                raise InputError(
                    f"{relations.name}: relation {one.name} of types {', '.join(one.types)}; three at most, and one"
                    " twice on the first two axes alone"
                )
            shapes.append([*one.values.shape, *[1] * (3 - len(one.types))])
            types.append([self._type[axis] for axis in axes])
        self._cells = np.concatenate([np.where(one.mask, one.values, -1).ravel() for one in relations.relations])
        self._cells = self._cells.astype(np.int8)
        self._shape, self._types = np.array(shapes, dtype=np.int64), np.array(types, dtype=np.int64)
        self._offset = np.concatenate([[0], np.cumsum(self._shape.prod(axis=1))]).astype(np.int64)[:-1]
        blocks = np.array([self._caps[axes].prod() for axes in self._types])
        self._counts_at = np.concatenate([[0], np.cumsum(blocks)]).astype(np.int64)
        kinds = {name: kernel.DIRICHLET if prior.K else kernel.CRP for name, prior in priors.items()}
        self._kinds = np.array([kinds.get(name, kernel.SINGLETONS) for name in names], dtype=np.int64)
        self._concentrations = np.array([priors[n].concentration if n in priors else 1.0 for n in names])
        cells = np.arange(int((self._cells >= 0).sum()) + 1, dtype=float)
        self._log_beta = tuple(gammaln(cells + b) - gammaln(b) for b in (*eta, sum(eta)))
        self.q = np.zeros(self._entities[-1], dtype=np.int64)
        self.sizes = np.zeros((len(names), int(self._caps.max())), dtype=np.int64)
        self.ones, self.observed = (np.zeros(self._counts_at[-1], dtype=np.int64) for _ in range(2))

    def _data(self) -> tuple[Any, ...]:
        given = (self._cells, self._offset, self._shape, self._types, self._entities, self._caps, self._counts_at)
        return (*given, self._kinds, self._concentrations, *self._log_beta)

    def _state(self) -> tuple[Any, ...]:
        return self.q, self.sizes, self.ones, self.observed

    def start(self, given: Mapping[str, Ints] | np.random.Generator, clusters: int = 0) -> "Blocks":
        """Start from given clusters by type, or from random ones: drawn from the priors, or all equally probable.

        Returns the same object.
        """
        for name, place in self._type.items():
            begin, end = self._entities[place : place + 2]
            if name not in self.priors:
                self.q[begin:end] = np.arange(end - begin)
            elif isinstance(given, np.random.Generator) and clusters:
                most = min(clusters, int(self._caps[place]))
                self.q[begin:end] = given.integers(most, size=end - begin)
            elif isinstance(given, np.random.Generator):
                self.q[begin:end] = self.priors[name].draw(int(end - begin), int(self._caps[place]), given)
            else:
                self.q[begin:end] = given[name]
            self.sizes[place] = np.bincount(self.q[begin:end], minlength=self.sizes.shape[1])
        data = self._data()
        _count(*data[:7], self.q, self.ones, self.observed)
        return self

    def sweep(self, random: np.random.Generator, beta: float = 1.0) -> None:
        """Draw every cluster given all others from p(q) p(R | q)^beta."""
        _sweep(self._data(), self._state(), beta, random.random(len(self.q)))

    def anneal(self, temperatures: int, random: np.random.Generator) -> float:
        """Return the log weight, nats, of a chain that starts from the prior now; exp of it has the mean p(R)."""
        self.start(random)
        betas = np.linspace(0.0, 1.0, temperatures + 1) ** 2  # the likelihood changes most near the prior
        uniforms = random.random((temperatures, len(self.q)))
        return float(_anneal(self._data(), self._state(), betas, uniforms))

    def log_likelihood(self) -> float:
        """Return log p(R | q), nats."""
        return float(kernel.log_likelihood(self.ones, self.observed, *self._log_beta))

    def log_joint(self) -> float:
        """Return log p(R, q), nats."""
        return self.log_likelihood() + sum(
            prior.log_prior(self.sizes[self._type[name]]) for name, prior in self.priors.items()
        )

    def clusters(self, name: str) -> Ints:
        """Return a type's clusters, numbered in the order in which they first occur."""
        begin, end = self._entities[self._type[name] :][:2]
        return relabelled(self.q[begin:end])

    def restart_from(self, state: Ints) -> "Blocks":
        """Restore a state that was kept as a copy of `q`."""
        begins = self._entities
        return self.start({name: state[begins[place] : begins[place + 1]] for name, place in self._type.items()})

    def predictive(self, relation: int) -> Floats:
        """Return the probability that each cell of a relation is 1, given q and the observed cells.

        It is (m + b_1) / (n + b_1 + b_0) of the cell's block, with the relation's shape.
        """
        shape = self.relations.relations[relation].values.shape
        part = slice(self._counts_at[relation], self._counts_at[relation + 1])
        caps = self._caps[self._types[relation]]
        probabilities = (self.ones[part] + self.eta[0]) / (self.observed[part] + sum(self.eta))
        axes = [self.q[self._entities[t] : self._entities[t + 1]] for t in self._types[relation]]
        whole: Floats = probabilities.reshape(caps)[np.ix_(*axes)]
        return whole.reshape(shape)


def relabelled(q: Ints) -> Ints:
    """Return clusters numbered in the order in which they first occur.

    Examples:
        >>> relabelled(np.array([5, 2, 5, 0]))
        array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(q, return_index=True, return_inverse=True)
    result: Ints = np.argsort(np.argsort(first))[inverse]
    return result
