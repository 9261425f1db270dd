"""The settings of the experiments on graphs and relations (sections 27.5.1, 27.5.2 and 27.6.1)."""

from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    alpha: float = setting("Dirichlet parameter of the clusters", above=0)
    eta: float = setting("both parameters of the Beta prior of a block's cells", above=0)


@dataclass(frozen=True, kw_only=True)
class Partitions(_Blocks):
    """Settings of `partitions`."""

    topics: tuple[int, ...] = setting("K", least=1)


@dataclass(frozen=True, kw_only=True)
class Blocks(_Blocks):
    """Settings of `blocks`."""

    topics: tuple[int, ...] = setting("K", least=1)
    chains: int = setting("of annealing", least=2)
    temperatures: int = setting("steps of annealing", least=1)
    starts: int = setting("of variational EM and of collapsed Gibbs sampling, the best of which counts", least=1)
    iterations: int = setting("of variational EM, at most", least=1)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)


@dataclass(frozen=True, kw_only=True)
class BlockGraphs:
    """Settings of `block-graphs`."""

    nodes: int = setting("of each group of a drawn graph", least=2)
    inside: float = setting("probability of an arc between groups that the abstract graph joins", above=0, below=1)
    outside: float = setting("probability of any other arc", above=0, below=1)
    gamma: float = setting("concentration of the CRP", above=0)
    eta: float = setting("both parameters of the Beta prior of a block's cells", above=0)
    starts: int = setting("of the infinite relational model", least=1)
    sweeps: int = setting("of a chain", least=1)


@dataclass(frozen=True, kw_only=True)
class Links(_Blocks):
    """Settings of `links`."""

    topics: tuple[int, ...] = setting("K of the stochastic block model", least=1)
    gamma: float = setting("concentration of the infinite relational model's CRP", above=0)
    start_clusters: int = setting("random clusters of the infinite model's start; 0 for a draw of the prior", least=0)
    hidden: float = setting("share of the pairs that are hidden", above=0, below=1)
    sweeps: int = setting("of a chain", least=2)
    samples: int = setting("states of the second half over which predictions are averaged", least=1)


@dataclass(frozen=True, kw_only=True)
class NodeFeatures:
    """Settings of `node-features`."""

    topics: tuple[int, ...] = setting("K, of few enough partitions to be summed over", least=1)
    alpha: float = setting("Dirichlet parameter of the clusters", above=0)
    components: int = setting("principal components of the nodes' features", least=1)
    precision: float = setting("of the Gaussian prior of the features' weights", above=0)
    hidden: float = setting("share of the pairs that are hidden", above=0, below=1)


@dataclass(frozen=True, kw_only=True)
class Concepts:
    """Settings of `concepts`."""

    gamma: float = setting("concentration of every type's CRP", above=0)
    etas: tuple[float, ...] = setting("both parameters of the Beta prior of a block's cells", above=0)
    starts: int = setting("chains, the best of which counts", least=1)
    start_clusters: int = setting("random clusters that a chain starts from; 0 for a draw of the prior", least=0)
    sweeps: int = setting("of a chain", least=2)
    samples: int = setting("states of each chain's second half", least=1)
    chains: int = setting("of annealing", least=2)
    temperatures: int = setting("steps of annealing", least=1)


@dataclass(frozen=True, kw_only=True)
class Memberships(_Blocks):
    """Settings of `memberships`."""

    topics: int = setting("K", least=1)
    rhos: tuple[float, ...] = setting("probability that an observed 0 is of the background", least=0, below=1)
    starts: int = setting("chains, the best of which counts", least=1)
    sweeps: int = setting("of a chain", least=2)
    chains: int = setting("of annealing", least=2)
    temperatures: int = setting("steps of annealing", least=1)
