"""Settings, experiments and exhibits of the models of tokens and records (sections 27.2 and 27.3).

The opening table's settings are the members' too: each member takes its own by name (`gallery.tokens.members`).
"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Several
from heldout.models.settings import Count, Positive

Share = Annotated[float, Gt(0), Lt(1)]
Pair = Annotated[int, Ge(2)]  # two or more
Topics = Annotated[Several[Count], doc("numbers K of topics")]
OneK = Annotated[Count, doc("number K of topics")]
Reference = Annotated[int, Ge(240), doc("largest number of sweeps of the reference")]

GIBBS = doc("number of sweeps of collapsed Gibbs sampling")
TEMPERATURES = doc("number of steps of annealing")


@dataclass(frozen=True, kw_only=True)
class _Priors:
    alpha: Annotated[Positive, doc("Dirichlet parameter of a document's weights")]
    gamma: Annotated[Positive, doc("Dirichlet parameter of the topics")]


@dataclass(frozen=True, kw_only=True)
class _Rows(_Priors):
    topics: Annotated[Several[Count], doc("numbers K of topics of all models but categorical PCA")]
    component_topics: Annotated[Several[Count], doc("numbers K of components of categorical PCA")]
    exact_topics: Annotated[Count, doc("largest number of components of the exact kernels")]
    penalty: Annotated[Positive, doc("precision of the Gaussian prior of categorical PCA's weights")]
    iterations: Annotated[
        Count,
        doc("largest number of iterations of EM and variational Bayes, and of passes of online variational Bayes"),
    ]
    smoothing: Annotated[Positive, doc("constant added to the probabilities of mixtures, pLSI and NMF")]
    chains: Annotated[Pair, doc("number of annealing chains")]
    temperatures: Annotated[Count, doc("number of steps of a chain, at first")]
    component_temperatures: Annotated[Count, doc("number of steps of a chain of categorical PCA, which starts nearer")]


@dataclass(frozen=True, kw_only=True)
class Gallery(_Rows):
    """Settings of `gallery`."""

    samples: Annotated[int, Ge(240), doc("largest number of sweeps of the reference beyond the exact kernels")]
    rho: Annotated[Share, doc("probability of a weight of 0 in the conditional GaP")]
    sweeps: Annotated[Count, doc("number of sweeps of Gibbs sampling")]
    fold_in_iterations: Annotated[Count, doc("number of iterations of folding in")]


@dataclass(frozen=True, kw_only=True)
class Records(_Rows):
    """Settings of `records`."""

    columns: Annotated[Count, doc("largest number of pairs of variable and value of categorical PCA")]


@dataclass(frozen=True, kw_only=True)
class Perplexity(_Priors):
    """Settings of `perplexity`; `gamma` is the parameter of every model's topics."""

    topics: Topics
    exact_topics: Annotated[Count, doc("largest number of topics of the exact kernel")]
    beta: Annotated[float, Gt(0), Le(1), doc("inverse temperature of tempered EM")]
    iterations: Annotated[Count, doc("largest number of EM iterations")]
    sweeps: Annotated[Count, GIBBS]
    fold_in_iterations: Annotated[Count, doc("largest number of iterations of folding in")]
    fold_in_tolerance: Annotated[float, Ge(0), Unit("nats"), doc("distance from the maximum at which folding in stops")]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class Completion(_Priors):
    """Settings of `completion`."""

    topics: Topics
    sweeps: Annotated[Count, GIBBS]
    fold_in_sweeps: Annotated[Count, doc("number of sweeps of folding in")]
    samples: Annotated[Pair, doc("number of states of document completion")]


@dataclass(frozen=True, kw_only=True)
class Samplers(_Priors):
    """Settings of `samplers`."""

    topics: OneK
    sweeps: Annotated[Count, doc("largest number of sweeps of both chains; powers of two are recorded")]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class BankAndRiver(_Priors):
    """Settings of `bank-and-river`."""

    documents: Annotated[Count, doc("number of documents drawn")]
    tokens: Annotated[Count, Unit("tokens"), doc("mean length of a document")]
    sweeps: Annotated[Count, doc("number of sweeps of each chain")]
    chains: Annotated[
        Count, doc("number of chains that are compared by means, the first of them shown, and of annealing chains")
    ]
    temperatures: Annotated[Count, TEMPERATURES]


@dataclass(frozen=True, kw_only=True)
class Online(_Priors):
    """Settings of `online`."""

    topics: OneK
    documents: Annotated[Count, doc("number of training documents, the first of a random order")]
    batches: Annotated[Several[Count], doc("numbers of documents of a batch")]
    passes: Annotated[Count, doc("number of passes of online variational Bayes over the documents")]
    iterations: Annotated[Count, doc("number of rounds of batch variational Bayes")]
    document_iterations: Annotated[Count, doc("number of updates of a document in an E step")]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class Polysemy(_Priors):
    """Settings of `polysemy`."""

    topics: OneK
    sweeps: Annotated[Count, GIBBS]
    frequent: Annotated[Count, doc("number of most frequent words among which one is chosen")]
    shown: Annotated[Count, doc("number of words of a topic that are shown")]
    tokens: Annotated[Count, doc("number of tokens of a document that are shown, of different words")]


@dataclass(frozen=True, kw_only=True)
class Evidence(_Priors):
    """Settings of `evidence`."""

    topics: Topics
    true_topics: Annotated[Count, doc("number K of topics of the documents")]
    documents: Annotated[Count, doc("number of documents drawn")]
    tokens: Annotated[Count, doc("length of each document")]
    words: Annotated[Count, doc("size of the vocabulary")]
    temperatures: Annotated[Count, TEMPERATURES]
    chains: Annotated[Count, doc("number of annealing chains")]
    iterations: Annotated[Count, doc("largest number of iterations of variational Bayes")]
    sweeps: Annotated[Count, doc("number of sweeps of collapsed Gibbs sampling and of the HDP")]
    samples: Reference


@dataclass(frozen=True, kw_only=True)
class Restarts:
    """Settings of `restarts`."""

    components: Annotated[Count, doc("number of components, of the points and of the mixture")]
    points: Annotated[Count, doc("number of points drawn to train on, and of held-out ones")]
    spread: Annotated[Positive, doc("standard deviation of the components' means; a point has 1")]
    starts: Annotated[Pair, doc("number of random starts")]
    iterations: Annotated[Count, doc("largest number of EM iterations")]


EXPERIMENTS = {
    "gallery": Experiment(Gallery),
    "records": Experiment(Records),
    "perplexity": Experiment(Perplexity),
    "completion": Experiment(Completion),
    "polysemy": Experiment(Polysemy),
    "samplers": Experiment(Samplers),
    "bank-and-river": Experiment(BankAndRiver, corpora="none"),
    "online": Experiment(Online),
    "evidence": Experiment(Evidence, corpora="none"),
    "restarts": Experiment(Restarts, corpora="none"),
}
EXHIBITS = {
    "figure-restarts": Exhibit(
        "maxima of the likelihood that EM ends at, by random start",
        "exhibits.restarts",
        ("restarts",),
    ),
    "figure-27-6": Exhibit(
        "perplexity of unigram, mixture, pLSI and LDA",
        "exhibits.figure_27_6",
        ("perplexity", "completion"),
        original="Figure 27.6",
    ),
    "table-27-6": Exhibit("Figure 27.6 in numbers", "exhibits.table_27_6", ("perplexity", "completion")),
    "table-polysemy": Exhibit("three topics of one word", "exhibits.polysemy", ("polysemy",), original="Figure 27.4"),
    "table-senses": Exhibit(
        "three documents with that word", "exhibits.documents", ("polysemy",), original="Figure 27.5"
    ),
    "figure-samplers": Exhibit(
        "collapsed and uncollapsed Gibbs sampling against sweeps",
        "exhibits.samplers",
        ("samplers",),
    ),
    "figure-27-9": Exhibit(
        "online against batch variational Bayes",
        "exhibits.figure_27_9",
        ("online",),
        original="Figure 27.9",
    ),
    "figure-evidence": Exhibit(
        "the number of topics by the evidence, the bound and held-out documents",
        "exhibits.evidence",
        ("evidence",),
    ),
}
