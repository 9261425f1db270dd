"""Settings, experiments and exhibits of models with priors of a document's own (sections 27.4.1 and 27.4.4)."""

from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Covariates:
    """Settings of `covariates`."""

    documents: int = setting("to train on, the first of a random order", least=1)
    words: int = setting("of the vocabulary, those of most training documents", least=1)
    least: int = setting("training documents of a label; rarer ones are left out", least=1)
    topics: tuple[int, ...] = setting("K of DMR and of LDA", least=1)
    subtopics: int = setting("of a label in partially labelled LDA", least=1)
    common: int = setting("topics of all documents in partially labelled LDA", least=0)
    alpha: float = setting("Dirichlet parameter of a document's weights; of DMR at its start", above=0)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    sigma: float = setting("standard deviation of DMR's weights", above=0)
    sigma_constant: float = setting("standard deviation of DMR's constant", above=0)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    optimise_every: int = setting("sweeps between two maximisations over DMR's weights", least=1)
    fold_in_iterations: int = setting("of folding in", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Settings of `correlation`."""

    documents: int = setting("to train on, the first of a random order", least=1)
    words: int = setting("of the vocabulary, those of most training documents", least=1)
    topics: tuple[int, ...] = setting("K", least=2)
    alpha: float = setting("Dirichlet parameter of LDA's weights at the start", above=0)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    sweeps: int = setting("of LDA's collapsed Gibbs sampling", least=1)
    tomotopy_sweeps: int = setting("of tomotopy's Gibbs sampling", least=1)
    optimise_every: int = setting("sweeps between two re-estimations of LDA's prior", least=1)
    iterations: int = setting("of variational EM, at most", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)


@dataclass(frozen=True, kw_only=True)
class TopicGraph:
    """Settings of `topic-graph`."""

    words: int = setting("of the vocabulary, those of most documents", least=1)
    topics: int = setting("K", least=2)
    alpha: float = setting("Dirichlet parameter of LDA's weights", above=0)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    sweeps: int = setting("of LDA's Gibbs sampling, which variational EM starts from", least=1)
    iterations: int = setting("of variational EM, at most", least=1)
    edge: float = setting("least absolute partial correlation of an edge", above=0, below=1)
    shown: int = setting("words of a topic", least=1)


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Settings of `tags`."""

    test_documents: int = setting("held out of the documents with two tags or more", least=1)
    words: int = setting("whose presence in a document are the inputs, those of most training documents", least=1)
    least: int = setting("training documents of a tag; rarer ones are left out", least=1)
    topics: tuple[int, ...] = setting("K of multinomial regression LDA and of DMR", least=1)
    component_topics: tuple[int, ...] = setting("K of categorical PCA and of the network", least=1)
    alpha: float = setting("Dirichlet parameter of LDA's weights; of DMR at its start", above=0)
    gamma: float = setting("Dirichlet parameter of the topics, or added to their expected counts", above=0)
    penalties: tuple[float, ...] = setting(
        "precisions of the Gaussian prior of all weights, of which each model takes the best on validation documents",
        above=0,
    )
    validation: float = setting("share of the training documents that validate", above=0, below=1)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    optimise_every: int = setting("sweeps between two maximisations over DMR's weights", least=1)
    iterations: int = setting("of EM, of variational EM and of L-BFGS, at most", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)
    chains: int = setting("of annealing of categorical PCA", least=2)
    temperatures: int = setting("steps of a chain, at first", least=1)


COVARIATES, CORRELATION, GRAPH, TAGS = "covariates", "correlation", "topic-graph", "tags"
EXPERIMENTS = {
    COVARIATES: Experiment(Covariates),
    CORRELATION: Experiment(Correlation),
    GRAPH: Experiment(TopicGraph),
    TAGS: Experiment(Tags),
}
EXHIBITS = {
    "table-correlation": Exhibit(
        "LDA and the correlated topic model by bound and likelihood", "exhibits.correlation", (CORRELATION,)
    ),
    "figure-27-10": Exhibit(
        "the graph of correlated topics", "exhibits.figure_27_10", (GRAPH,), original="Figure 27.10"
    ),
    "table-covariates": Exhibit(
        "DMR, labelled and partially labelled LDA, folded in and by likelihood",
        "exhibits.covariates",
        (COVARIATES,),
    ),
    "table-tags": Exhibit(
        "tags given words, by likelihood and by what they say of one another", "exhibits.tags", (TAGS,)
    ),
}
