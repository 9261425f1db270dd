"""The manifest of the gallery's models whose documents have priors of their own (sections 27.4.1 and 27.4.4)."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_priors as settings

COVARIATES, CORRELATION, GRAPH, TAGS = "covariates", "correlation", "topic-graph", "tags"
EXPERIMENTS = {
    COVARIATES: Experiment(settings.Covariates),
    CORRELATION: Experiment(settings.Correlation),
    GRAPH: Experiment(settings.TopicGraph),
    TAGS: Experiment(settings.Tags),
}
EXHIBITS = {
    "table-correlation": Exhibit(
        "LDA and the correlated topic model by bound and likelihood", "tables_priors.correlation", (CORRELATION,)
    ),
    "figure-27-10": Exhibit(
        "the graph of correlated topics", "figures_priors.figure_27_10", (GRAPH,), original="Figure 27.10"
    ),
    "table-covariates": Exhibit(
        "DMR, labelled and partially labelled LDA, folded in and by likelihood",
        "tables_priors.covariates",
        (COVARIATES,),
    ),
    "table-tags": Exhibit(
        "tags given words, by likelihood and by what they say of one another", "tables_priors.tags", (TAGS,)
    ),
}
