r"""The infinite relational model by collapsed Gibbs sampling (Murphy 2012, equations 27.82 and 27.83).

Every type of entities has clusters of its own, whose number the Chinese restaurant process leaves open, and all
relations are given by the clusters of their entities (`gallery.graphs.models.blocks`). The model shown is the state
with the highest p(R, q) of several chains, which is how Kemp et al. (2006) choose; the posterior's samples are the
second half of the chains. Single moves merge clusters more easily than they split one, so that chains may start from
random clusters, more of them than there will be.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from gallery.graphs.models.blocks import Blocks, ClusterPrior
from gallery.graphs.models.sbm import sample
from heldout.corpora.relations.relation import Relations
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats, Ints


@estimator
class IRM(Estimator):
    """The infinite relational model.

    Args:
        n_components: not used: the number of clusters is inferred.
        gamma: concentration of every type's CRP.
        eta: both parameters of the cells' Beta prior.
        starts: chains.
        start_clusters: random ones of each type that a chain starts from; 0 for a draw of the prior.
        sweeps: of a chain.
        kept: states of each chain's second half that are kept.
        random_state: the generator, or its seed.

    Attributes (after `fit`):
        blocks_: the blocks in the state with the highest p(R, q).
        log_joint_: log p(R, q) of it, nats.
        log_joints_: (starts,), the highest of each chain.
        clusters_: that state's clusters, by type.
        states_: states that were kept, as `Blocks.restart_from` takes them.
        cluster_numbers_: the number of clusters in each of them, (starts * kept,), by type.

    Examples:
        >>> from heldout.corpora.relations.relation import graph
        >>> arcs = np.zeros((8, 8), dtype=bool)
        >>> arcs[:4, 4:] = True
        >>> bipartite = Relations("g", {"nodes": tuple("abcdefgh")}, (graph("arcs", "nodes", arcs),))
        >>> IRM(starts=2, sweeps=20, kept=5, random_state=0).fit(bipartite).clusters_["nodes"]
        array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    gamma: float = 1.0
    eta: float = 1.0
    starts: int = 10
    start_clusters: int = 0
    sweeps: int = 100
    kept: int = 20

    def fit(self, relations: Relations) -> Self:
        """Sample from every start.

        Raises:
            InputError: for a setting out of range.
        """
        if self.starts < 1:
            raise InputError(f"infinite relational model: {self.starts} starts; there must be 1 or more")
        used = {axis for one in relations.relations for axis in one.types}
        random = np.random.default_rng(self.random_state)
        self.blocks_ = Blocks(relations, {name: ClusterPrior(self.gamma) for name in used}, (self.eta, self.eta))
        given: dict[str, Any] = {"sweeps": self.sweeps, "kept": self.kept, "start_clusters": self.start_clusters}
        chains = [sample(self.blocks_, random=random, **given) for _ in range(self.starts)]
        self.log_joints_: Floats = np.array([chain.log_joints.max() for chain in chains])
        self.states_: list[Ints] = [state for chain in chains for state in chain.states]
        numbers: dict[str, list[int]] = {name: [] for name in sorted(used)}
        for state in self.states_:
            self.blocks_.restart_from(state)
            for name, cluster_numbers in numbers.items():
                cluster_numbers.append(int(self.blocks_.clusters(name).max()) + 1)
        self.cluster_numbers_: Mapping[str, Ints] = {name: np.array(n) for name, n in numbers.items()}
        self.blocks_.restart_from(chains[int(self.log_joints_.argmax())].best)
        self.log_joint_ = self.blocks_.log_joint()
        self.log_joints_[self.log_joints_.argmax()] = self.log_joint_  # to the last digit
        self.clusters_: Mapping[str, Ints] = {name: self.blocks_.clusters(name) for name in sorted(used)}
        return self
