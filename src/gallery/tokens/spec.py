"""Settings, experiments and exhibits of the models of tokens and records (sections 27.2 and 27.3).

Those of the opening table are the members' too, each of which takes its own by name (`gallery.tokens.members`).
"""

from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class _Priors:
    alpha: float = setting("Dirichlet parameter of a document's weights", above=0)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)


@dataclass(frozen=True, kw_only=True)
class _Rows(_Priors):
    topics: tuple[int, ...] = setting("K of the models, but for categorical PCA", least=1)
    component_topics: tuple[int, ...] = setting("K of categorical PCA", least=1)
    exact_topics: int = setting("the most components of the exact kernels", least=1)
    penalty: float = setting("precision of the Gaussian prior of categorical PCA's weights", above=0)
    iterations: int = setting("of EM and variational Bayes, at most; of online variational Bayes passes", least=1)
    smoothing: float = setting("added to the probabilities of mixtures, pLSI and NMF", above=0)
    chains: int = setting("of annealing", least=2)
    temperatures: int = setting("steps of a chain, at first", least=1)
    component_temperatures: int = setting("steps of a chain of categorical PCA, which starts nearer", least=1)


@dataclass(frozen=True, kw_only=True)
class Gallery(_Rows):
    """Settings of `gallery`."""

    samples: int = setting("sweeps of the reference beyond the exact kernels, at most", least=240)
    rho: float = setting("probability of a weight of 0 in the conditional GaP", above=0, below=1)
    sweeps: int = setting("of Gibbs sampling", least=1)
    fold_in_iterations: int = setting("of folding in", least=1)


@dataclass(frozen=True, kw_only=True)
class Records(_Rows):
    """Settings of `records`."""

    columns: int = setting("the most pairs of variable and value of categorical PCA", least=1)


@dataclass(frozen=True, kw_only=True)
class Perplexity(_Priors):
    """Settings of `perplexity`; `gamma` is of every model's topics."""

    topics: tuple[int, ...] = setting("K", least=1)
    exact_topics: int = setting("the most topics of the exact kernel", least=1)
    beta: float = setting("inverse temperature of tempered EM", above=0, most=1)
    iterations: int = setting("of EM, at most", least=1)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    fold_in_iterations: int = setting("of folding in, at most", least=1)
    fold_in_tolerance: float = setting("of folding in, from the maximum", "nats", least=0)
    samples: int = setting("sweeps of the reference, at most", least=240)


@dataclass(frozen=True, kw_only=True)
class Completion(_Priors):
    """Settings of `completion`."""

    topics: tuple[int, ...] = setting("K", least=1)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    fold_in_sweeps: int = setting("of folding in", least=1)
    samples: int = setting("states of document completion", least=2)


@dataclass(frozen=True, kw_only=True)
class Samplers(_Priors):
    """Settings of `samplers`."""

    topics: int = setting("K", least=1)
    sweeps: int = setting("of both chains, at most; powers of two are recorded", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)


@dataclass(frozen=True, kw_only=True)
class BankAndRiver(_Priors):
    """Settings of `bank-and-river`."""

    documents: int = setting("drawn", least=1)
    tokens: int = setting("mean length of a document", "tokens", least=1)
    sweeps: int = setting("of each chain", least=1)
    chains: int = setting("whose means are compared, the first of them shown, and of annealing", least=1)
    temperatures: int = setting("steps of annealing", least=1)


@dataclass(frozen=True, kw_only=True)
class Online(_Priors):
    """Settings of `online`."""

    topics: int = setting("K", least=1)
    documents: int = setting("to train on, the first of a random order", least=1)
    batches: tuple[int, ...] = setting("documents of a batch", least=1)
    passes: int = setting("of online variational Bayes over the documents", least=1)
    iterations: int = setting("rounds of batch variational Bayes", least=1)
    document_iterations: int = setting("updates of a document in an E step", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)


@dataclass(frozen=True, kw_only=True)
class Polysemy(_Priors):
    """Settings of `polysemy`."""

    topics: int = setting("K", least=1)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    frequent: int = setting("most frequent words among which one is chosen", least=1)
    shown: int = setting("words of a topic that are shown", least=1)
    tokens: int = setting("of a document that are shown, of different words", least=1)


@dataclass(frozen=True, kw_only=True)
class Evidence(_Priors):
    """Settings of `evidence`."""

    topics: tuple[int, ...] = setting("K", least=1)
    true_topics: int = setting("K of the documents", least=1)
    documents: int = setting("drawn", least=1)
    tokens: int = setting("of each document", least=1)
    words: int = setting("of the vocabulary", least=1)
    temperatures: int = setting("steps of annealing", least=1)
    chains: int = setting("of annealing", least=1)
    iterations: int = setting("of variational Bayes, at most", least=1)
    sweeps: int = setting("of collapsed Gibbs sampling and of the HDP", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)


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
}
EXHIBITS = {
    "figure-27-6": Exhibit(
        "perplexity of unigram, mixture, pLSI and LDA",
        "exhibits.figure_27_6",
        ("perplexity", "completion"),
        original="Figure 27.6",
        claims=(
            "lda-outperforms-simpler",
            *(f"plsi-worse-by-{score}{end}" for score in ("full", "half", "mixture") for end in ("", "-tempered")),
        ),
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
        claims=("collapsed-is-better",),
    ),
    "figure-27-8": Exhibit(
        "collapsed Gibbs sampling on drawn documents",
        "exhibits.figure_27_8",
        ("bank-and-river",),
        original="Figure 27.8",
    ),
    "table-27-8": Exhibit("the topics of Figure 27.8, exactly", "exhibits.table_27_8", ("bank-and-river",)),
    "figure-27-9": Exhibit(
        "online against batch variational Bayes",
        "exhibits.figure_27_9",
        ("online",),
        original="Figure 27.9",
        claims=("online-is-faster", "online-is-similar"),
    ),
    "figure-evidence": Exhibit(
        "the number of topics by the evidence, the bound and held-out documents",
        "exhibits.evidence",
        ("evidence",),
        claims=("evidence-finds-topics", "bound-finds-topics", "held-out-finds-topics"),
    ),
}
