"""Settings, experiments and exhibits of models with priors of a document's own (sections 27.4.1 and 27.4.4)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Lt, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Several
from heldout.models.settings import Count, Positive

Share = Annotated[float, Gt(0), Lt(1)]
Pair = Annotated[int, Ge(2)]  # two or more
Reference = Annotated[int, Ge(240), doc("largest number of sweeps of the reference")]

DOCUMENTS = doc("number of training documents, the first of a random order")
TRAINING_WORDS = doc("size of the vocabulary, the words of most training documents")
GAMMA = doc("Dirichlet parameter of the topics")
GIBBS = doc("number of sweeps of collapsed Gibbs sampling")
MAXIMISATIONS = doc("sweeps between two maximisations over DMR's weights")
VARIATIONAL = doc("largest number of iterations of variational EM")


@dataclass(frozen=True, kw_only=True)
class Covariates:
    """Settings of `covariates`."""

    documents: Annotated[Count, DOCUMENTS]
    words: Annotated[Count, TRAINING_WORDS]
    least: Annotated[Count, doc("smallest number of training documents of a label; rarer labels are left out")]
    topics: Annotated[Several[Count], doc("numbers K of topics of DMR and of LDA")]
    subtopics: Annotated[Count, doc("number of topics of a label in partially labelled LDA")]
    common: Annotated[int, Ge(0), doc("number of topics of all documents in partially labelled LDA")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of a document's weights; of DMR at its start")]
    gamma: Annotated[Positive, GAMMA]
    sigma: Annotated[Positive, doc("standard deviation of DMR's weights")]
    sigma_constant: Annotated[Positive, doc("standard deviation of DMR's constant")]
    sweeps: Annotated[Count, GIBBS]
    optimise_every: Annotated[Count, MAXIMISATIONS]
    fold_in_iterations: Annotated[Count, doc("number of iterations of folding in")]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Settings of `correlation`."""

    documents: Annotated[Count, DOCUMENTS]
    words: Annotated[Count, TRAINING_WORDS]
    topics: Annotated[Several[Pair], doc("numbers K of topics")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of LDA's weights at the start")]
    gamma: Annotated[Positive, GAMMA]
    sweeps: Annotated[Count, doc("number of sweeps of LDA's collapsed Gibbs sampling")]
    tomotopy_sweeps: Annotated[Count, doc("number of sweeps of tomotopy's Gibbs sampling")]
    optimise_every: Annotated[Count, doc("sweeps between two estimates of LDA's prior")]
    iterations: Annotated[Count, VARIATIONAL]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class TopicGraph:
    """Settings of `topic-graph`."""

    words: Annotated[Count, doc("size of the vocabulary, the words of most documents")]
    topics: Annotated[Pair, doc("number K of topics")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of LDA's weights")]
    gamma: Annotated[Positive, GAMMA]
    sweeps: Annotated[Count, doc("number of sweeps of LDA's Gibbs sampling, from which variational EM starts")]
    iterations: Annotated[Count, VARIATIONAL]
    edge: Annotated[Share, doc("smallest absolute partial correlation of an edge")]
    shown: Annotated[Count, doc("number of words of a topic")]


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Settings of `tags`."""

    test_documents: Annotated[Count, doc("number of held-out documents among the documents with two tags or more")]
    words: Annotated[
        Count, doc("number of words whose presence in a document is an input, the words of most training documents")
    ]
    least: Annotated[Count, doc("smallest number of training documents of a tag; rarer tags are left out")]
    topics: Annotated[Several[Count], doc("numbers K of topics of multinomial regression LDA and of DMR")]
    component_topics: Annotated[
        Several[Count], doc("numbers K of components of categorical PCA and of hidden units of the network")
    ]
    alpha: Annotated[Positive, doc("Dirichlet parameter of LDA's weights; of DMR at its start")]
    gamma: Annotated[Positive, doc("Dirichlet parameter of the topics, or constant added to their expected counts")]
    penalties: Annotated[
        Several[Positive],
        doc("candidates for the precision of the Gaussian prior of all weights; validation documents choose by model"),
    ]
    validation: Annotated[Share, doc("share of the training documents that validate")]
    sweeps: Annotated[Count, GIBBS]
    optimise_every: Annotated[Count, MAXIMISATIONS]
    iterations: Annotated[Count, doc("largest number of iterations of EM, of variational EM and of L-BFGS")]
    samples: Reference
    chains: Annotated[Pair, doc("number of annealing chains of categorical PCA")]
    temperatures: Annotated[Count, doc("number of steps of a chain, at first")]


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
