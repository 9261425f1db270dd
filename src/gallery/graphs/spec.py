"""Settings, experiments and exhibits of models of graphs and relations (sections 27.5.1, 27.5.2 and 27.6.1)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Lt, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Several
from heldout.models.settings import Count, Positive

Share = Annotated[float, Gt(0), Lt(1)]
Pair = Annotated[int, Ge(2)]  # two or more
Topics = Annotated[Several[Count], doc("numbers K of blocks")]

CELLS = doc("both parameters of the Beta prior of a block's cells")
CLUSTERS = doc("Dirichlet parameter of the clusters")
CHAIN_SWEEPS = doc("number of sweeps of a chain")
BEST_OF_CHAINS = doc("number of chains; the best one counts")
HIDDEN = doc("share of the pairs that are hidden")
ANNEALING = doc("number of annealing chains")
TEMPERATURES = doc("number of steps of annealing")


@dataclass(frozen=True, kw_only=True)
class _Blocks:
    alpha: Annotated[Positive, CLUSTERS]
    eta: Annotated[Positive, CELLS]


@dataclass(frozen=True, kw_only=True)
class Partitions(_Blocks):
    """Settings of `partitions`."""

    topics: Topics


@dataclass(frozen=True, kw_only=True)
class Blocks(_Blocks):
    """Settings of `blocks`."""

    topics: Topics
    chains: Annotated[Pair, ANNEALING]
    temperatures: Annotated[Count, TEMPERATURES]
    starts: Annotated[
        Count, doc("number of starts of variational EM and of collapsed Gibbs sampling; the best one counts")
    ]
    iterations: Annotated[Count, doc("largest number of iterations of variational EM")]
    sweeps: Annotated[Count, doc("number of sweeps of collapsed Gibbs sampling")]


@dataclass(frozen=True, kw_only=True)
class BlockGraphs:
    """Settings of `block-graphs`."""

    nodes: Annotated[Pair, doc("number of nodes of each group of a drawn graph")]
    inside: Annotated[Share, doc("probability of an arc between groups that the abstract graph joins")]
    outside: Annotated[Share, doc("probability of any other arc")]
    gamma: Annotated[Positive, doc("concentration of the CRP")]
    eta: Annotated[Positive, CELLS]
    starts: Annotated[Count, doc("number of starts of the infinite relational model")]
    sweeps: Annotated[Count, CHAIN_SWEEPS]


@dataclass(frozen=True, kw_only=True)
class Links(_Blocks):
    """Settings of `links`."""

    topics: Annotated[Several[Count], doc("numbers K of blocks of the stochastic block model")]
    gamma: Annotated[Positive, doc("concentration of the infinite relational model's CRP")]
    start_clusters: Annotated[
        int, Ge(0), doc("number of random clusters of the infinite model's start; 0 for a draw of the prior")
    ]
    hidden: Annotated[Share, HIDDEN]
    sweeps: Annotated[Pair, CHAIN_SWEEPS]
    samples: Annotated[Count, doc("number of states of the second half over which predictions are averaged")]


@dataclass(frozen=True, kw_only=True)
class NodeFeatures:
    """Settings of `node-features`."""

    topics: Annotated[Several[Count], doc("numbers K of blocks, of few enough partitions to be summed over")]
    alpha: Annotated[Positive, CLUSTERS]
    components: Annotated[Count, doc("number of principal components of the nodes' features")]
    precision: Annotated[Positive, doc("precision of the Gaussian prior of the features' weights")]
    samples: Annotated[int, Ge(2), doc("number of samples of a block's weights, where they are integrated out")]
    hidden: Annotated[Share, HIDDEN]


@dataclass(frozen=True, kw_only=True)
class Concepts:
    """Settings of `concepts`."""

    gamma: Annotated[Positive, doc("concentration of every type's CRP")]
    etas: Annotated[Several[Positive], doc("values of both parameters of the Beta prior of a block's cells")]
    starts: Annotated[Count, BEST_OF_CHAINS]
    start_clusters: Annotated[
        int, Ge(0), doc("number of random clusters that a chain starts from; 0 for a draw of the prior")
    ]
    sweeps: Annotated[Pair, CHAIN_SWEEPS]
    samples: Annotated[Count, doc("number of states of each chain's second half")]
    chains: Annotated[Pair, ANNEALING]
    temperatures: Annotated[Count, TEMPERATURES]


@dataclass(frozen=True, kw_only=True)
class Memberships(_Blocks):
    """Settings of `memberships`."""

    topics: Annotated[Count, doc("number K of blocks")]
    rhos: Annotated[
        Several[Annotated[float, Ge(0), Lt(1)]], doc("probabilities that an observed 0 is of the background")
    ]
    starts: Annotated[Count, BEST_OF_CHAINS]
    sweeps: Annotated[Pair, CHAIN_SWEEPS]
    chains: Annotated[Pair, ANNEALING]
    temperatures: Annotated[Count, TEMPERATURES]


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
    ),
    "figure-27-22": Exhibit(
        "who likes whom among the monks, and their memberships",
        "exhibits.figure_27_22",
        (PARTITIONS, MEMBERSHIPS),
        original="Figure 27.22",
    ),
    "table-links": Exhibit(
        "hidden pairs, by one partition and by the average",
        "exhibits.links",
        (LINKS, NODE_FEATURES),
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
    ),
}
