"""Settings, experiments and exhibits of models of graphs and relations (sections 27.5.1, 27.5.2 and 27.6.1)."""

from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
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


PARTITIONS, BLOCKS, BLOCK_GRAPHS = "partitions", "blocks", "block-graphs"
LINKS, NODE_FEATURES, CONCEPTS, MEMBERSHIPS = "links", "node-features", "concepts", "memberships"
EXPERIMENTS = {
    PARTITIONS: Experiment(Partitions),
    BLOCKS: Experiment(Blocks),
    BLOCK_GRAPHS: Experiment(BlockGraphs, corpora="none"),
    LINKS: Experiment(Links),
    NODE_FEATURES: Experiment(NodeFeatures),
    CONCEPTS: Experiment(Concepts),
    MEMBERSHIPS: Experiment(Memberships),
}
EXHIBITS = {
    "figure-27-19": Exhibit(
        "a graph with blocks in two orders of its nodes",
        "exhibits.figure_27_19",
        (BLOCK_GRAPHS,),
        original="Figures 27.18 and 27.19",
    ),
    "figure-27-20": Exhibit(
        "four structures between blocks", "exhibits.figure_27_20", (BLOCK_GRAPHS,), original="Figure 27.20"
    ),
    "table-blocks": Exhibit(
        "usual scores and likelihoods of the stochastic block model",
        "exhibits.blocks",
        (PARTITIONS, BLOCKS),
        claims=("profile-is-optimistic",),
    ),
    "figure-27-22": Exhibit(
        "who likes whom among the monks, and their memberships",
        "exhibits.figure_27_22",
        (PARTITIONS, MEMBERSHIPS),
        original="Figure 27.22",
        claims=("monk-15-wavers", "waverers-waver"),
    ),
    "table-links": Exhibit(
        "hidden pairs, by one partition and by the average",
        "exhibits.links",
        (LINKS, NODE_FEATURES),
        claims=("average-is-better", "features-help"),
    ),
    "figure-27-25": Exhibit(
        "clusters of concepts and predicates", "exhibits.figure_27_25", (CONCEPTS,), original="Figure 27.25"
    ),
    "figure-27-26": Exhibit(
        "clusters of countries, features and interactions",
        "exhibits.figure_27_26",
        (CONCEPTS,),
        original="Figure 27.26",
    ),
    "table-concepts": Exhibit(
        "numbers of clusters beside the chapter's",
        "exhibits.concepts",
        (CONCEPTS,),
        claims=("umls-clusters", "nations-clusters"),
    ),
}
