"""Settings, experiments and exhibits of undirected models (section 27.7)."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, doc

from artifact.study.manifest import Exhibit, Experiment
from artifact.study.settings import Named, Several
from heldout.models.settings import Count, Positive

HiddenUnits = Annotated[Count, Le(20)]  # number small enough for exact likelihoods
Pair = Annotated[int, Ge(2)]  # two or more

BATCH = doc("number of cases of a minibatch")
RATE = doc("learning rate of the first step")


@dataclass(frozen=True, kw_only=True)
class _Training:
    batch: Annotated[Count, BATCH]
    annealed_chains: Annotated[Pair, doc("number of chains of annealed importance sampling")]
    temperatures: Annotated[Count, doc("number of steps of annealed importance sampling")]


@dataclass(frozen=True, kw_only=True)
class Boltzmann(_Training):
    """Settings of `boltzmann`."""

    epochs: Annotated[Count, doc("number of passes over the training data")]
    chains: Annotated[Count, doc("number of chains of persistent contrastive divergence")]
    hidden: Annotated[HiddenUnits, doc("number of hidden units of the machines with exact likelihoods")]
    more_hidden: Annotated[Count, doc("number of hidden units of the machine whose likelihood is annealed")]
    steps: Annotated[Pair, doc("number of sweeps of the longer contrastive divergence")]
    rounds: Annotated[Count, doc("number of rounds of mean field for one negative phase")]
    learning_rate: Annotated[Positive, RATE]
    iterations: Annotated[Count, doc("largest number of EM iterations of the mixture")]
    smoothing: Annotated[Positive, doc("constant added to the probabilities of the mixture")]


@dataclass(frozen=True, kw_only=True)
class ReplicatedSoftmax(_Training):
    """Settings of `replicated-softmax`."""

    words: Annotated[
        Named[str, int], doc("number of most frequent words that are kept, by corpus; all for corpora without one")
    ]
    training_documents: Annotated[
        Named[str, int], doc("number of training documents, drawn, by corpus; all for corpora without one")
    ]
    documents: Annotated[Count, doc("number of held-out documents that are scored, drawn")]
    hidden: Annotated[Count, doc("number of hidden units of the machine whose likelihood is annealed")]
    exact_hidden: Annotated[HiddenUnits, doc("number of hidden units of the machine whose likelihood is exact")]
    topics: Annotated[Several[Count], doc("numbers K of topics of LDA")]
    alpha: Annotated[Positive, doc("Dirichlet parameter of LDA's weights, at first")]
    gamma: Annotated[Positive, doc("Dirichlet parameter of LDA's topics, at first, and of the unigram")]
    sweeps: Annotated[Count, doc("number of sweeps of collapsed Gibbs sampling, at first")]
    optimise_every: Annotated[
        int, Ge(0), doc("sweeps between two estimates of LDA's Dirichlet parameters; 0 leaves them as they are")
    ]
    samples: Annotated[int, Ge(240), doc("largest number of sweeps of the reference")]
    validation: Annotated[float, Gt(0), Lt(1), doc("share of the training documents that say when to stop")]
    learning_rate: Annotated[Positive, RATE]
    epochs: Annotated[Count, doc("number of passes over the training data, at first")]
    doublings: Annotated[int, Ge(0), doc("largest number of times that passes and sweeps are doubled")]
    steps: Annotated[Count, doc("number of sweeps of contrastive divergence")]
    queries: Annotated[Count, doc("largest number of held-out documents for which others are retrieved")]
    searched: Annotated[Count, doc("largest number of training documents among which they are retrieved")]


@dataclass(frozen=True, kw_only=True)
class UndirectedUnits:
    """Settings of `undirected-units`."""

    hidden: Annotated[Several[Annotated[Count, Le(2)]], doc("numbers of hidden units, few enough for quadrature")]
    coordinates: Annotated[Count, doc("number of coordinates of latent semantic analysis")]
    scales: Annotated[Several[Positive], doc("standard deviations of the coordinates")]
    penalty: Annotated[Positive, doc("precision of a Gaussian prior of the weights")]


BOLTZMANN, SOFTMAX, UNITS = "boltzmann", "replicated-softmax", "undirected-units"

EXPERIMENTS = {
    BOLTZMANN: Experiment(Boltzmann),
    SOFTMAX: Experiment(ReplicatedSoftmax),
    UNITS: Experiment(UndirectedUnits),
}

EXHIBITS = {
    "figure-boltzmann": Exhibit(
        "likelihood and usual scores of Boltzmann machines against updates",
        "exhibits.boltzmann",
        (BOLTZMANN,),
    ),
    "table-boltzmann": Exhibit("Boltzmann machines by their scores", "exhibits.boltzmann_table", (BOLTZMANN,)),
    "table-27-32": Exhibit(
        "perplexity of replicated softmax, LDA and unigram",
        "exhibits.figure_27_32",
        (SOFTMAX,),
        original="Figure 27.32",
    ),
    "figure-27-33": Exhibit(
        "retrieval by replicated softmax and by LDA",
        "exhibits.figure_27_33",
        (SOFTMAX,),
        original="Figure 27.33",
    ),
    "table-undirected-units": Exhibit(
        "other units than binary ones",
        "exhibits.units",
        (UNITS,),
        original="Table 27.2",
    ),
}
