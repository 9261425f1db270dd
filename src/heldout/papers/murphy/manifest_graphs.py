"""The manifest of the gallery's models of graphs and relations (sections 27.5.1, 27.5.2 and 27.6.1)."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_graphs as settings

PARTITIONS, BLOCKS, BLOCK_GRAPHS = "partitions", "blocks", "block-graphs"
LINKS, NODE_FEATURES, CONCEPTS, MEMBERSHIPS = "links", "node-features", "concepts", "memberships"
EXPERIMENTS = {
    PARTITIONS: Experiment(settings.Partitions),
    BLOCKS: Experiment(settings.Blocks),
    BLOCK_GRAPHS: Experiment(settings.BlockGraphs, corpora="none"),
    LINKS: Experiment(settings.Links),
    NODE_FEATURES: Experiment(settings.NodeFeatures),
    CONCEPTS: Experiment(settings.Concepts),
    MEMBERSHIPS: Experiment(settings.Memberships),
}
EXHIBITS = {
    "figure-27-19": Exhibit(
        "a graph with blocks in two orders of its nodes",
        "figures_graphs.figure_27_19",
        (BLOCK_GRAPHS,),
        original="Figures 27.18 and 27.19",
    ),
    "figure-27-20": Exhibit(
        "four structures between blocks", "figures_graphs.figure_27_20", (BLOCK_GRAPHS,), original="Figure 27.20"
    ),
    "table-blocks": Exhibit(
        "usual scores and likelihoods of the stochastic block model",
        "tables_graphs.blocks",
        (PARTITIONS, BLOCKS),
        claims=("profile-is-optimistic",),
    ),
    "figure-27-22": Exhibit(
        "who likes whom among the monks, and their memberships",
        "figures_graphs.figure_27_22",
        (PARTITIONS, MEMBERSHIPS),
        original="Figure 27.22",
        claims=("monk-15-wavers", "waverers-waver"),
    ),
    "table-links": Exhibit(
        "hidden pairs, by one partition and by the average",
        "tables_graphs.links",
        (LINKS, NODE_FEATURES),
        claims=("average-is-better", "features-help"),
    ),
    "figure-27-25": Exhibit(
        "clusters of concepts and predicates", "figures_graphs.figure_27_25", (CONCEPTS,), original="Figure 27.25"
    ),
    "figure-27-26": Exhibit(
        "clusters of countries, features and interactions",
        "figures_graphs.figure_27_26",
        (CONCEPTS,),
        original="Figure 27.26",
    ),
    "table-concepts": Exhibit(
        "numbers of clusters beside the chapter's",
        "tables_graphs.concepts",
        (CONCEPTS,),
        claims=("umls-clusters", "nations-clusters"),
    ),
}
