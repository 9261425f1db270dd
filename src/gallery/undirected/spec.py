"""Settings, experiments and exhibits of undirected models (section 27.7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from artifact.study.manifest import Exhibit, Experiment
from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class _Training:
    batch: int = setting("cases of a minibatch", least=1)
    annealed_chains: int = setting("of annealed importance sampling", least=2)
    temperatures: int = setting("steps of annealed importance sampling", least=1)


@dataclass(frozen=True, kw_only=True)
class Boltzmann(_Training):
    """Settings of `boltzmann`."""

    epochs: int = setting("passes over the training data", least=1)
    chains: int = setting("of persistent contrastive divergence", least=1)
    hidden: int = setting("hidden units of the machines with exact likelihoods", least=1, most=20)
    more_hidden: int = setting("hidden units of the machine whose likelihood is annealed", least=1)
    steps: int = setting("sweeps of the longer contrastive divergence", least=2)
    rounds: int = setting("of mean field for one negative phase", least=1)
    learning_rate: float = setting("of the first step", above=0)
    iterations: int = setting("of EM for the mixture, at most", least=1)
    smoothing: float = setting("added to the probabilities of the mixture", above=0)


@dataclass(frozen=True, kw_only=True)
class ReplicatedSoftmax(_Training):
    """Settings of `replicated-softmax`."""

    words: Mapping[str, int] = setting("the most frequent words that are kept, by corpus; all where it says nothing")
    training_documents: Mapping[str, int] = setting("to train on, drawn, by corpus; all where it says nothing")
    documents: int = setting("held-out documents that are scored, drawn", least=1)
    hidden: int = setting("hidden units of the machine whose likelihood is annealed", least=1)
    exact_hidden: int = setting("hidden units of the machine whose likelihood is exact", least=1, most=20)
    topics: tuple[int, ...] = setting("K of LDA", least=1)
    alpha: float = setting("Dirichlet parameter of LDA's weights, at first", above=0)
    gamma: float = setting("Dirichlet parameter of LDA's topics, at first, and of the unigram", above=0)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    optimise_every: int = setting("sweeps between two estimates of LDA's Dirichlet parameters; 0: they stay", least=0)
    samples: int = setting("sweeps of the reference, at most", least=240)
    validation: float = setting("share of the training documents that choose rate and passes", above=0, below=1)
    learning_rates: tuple[float, ...] = setting("of the first step, from which one is chosen", above=0)
    epochs: tuple[int, ...] = setting("passes over the training data, from which one is chosen", least=1)
    steps: int = setting("sweeps of contrastive divergence", least=1)
    queries: int = setting("held-out documents for which others are retrieved, at most", least=1)
    searched: int = setting("training documents among which they are retrieved, at most", least=1)


@dataclass(frozen=True, kw_only=True)
class UndirectedUnits:
    """Settings of `undirected-units`."""

    hidden: tuple[int, ...] = setting("hidden units, as many as quadrature takes", least=1, most=2)
    coordinates: int = setting("of latent semantic analysis", least=1)
    scales: tuple[float, ...] = setting("standard deviations of the coordinates", above=0)
    chains: int = setting("of persistent contrastive divergence", least=1)
    batch: int = setting("cases of a minibatch", least=1)
    updates: int = setting("steps of the gradient, rounded up to whole passes over the training data", least=1)
    learning_rate: float = setting("of the first step", above=0)
    penalty: float = setting("precision of a Gaussian prior of the weights, per case", least=0)


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
        claims=("pcd-better-than-cd", "cd-faster-early", "mean-field-fails"),
    ),
    "table-boltzmann": Exhibit("Boltzmann machines by their scores", "exhibits.boltzmann_table", (BOLTZMANN,)),
    "table-27-32": Exhibit(
        "perplexity of replicated softmax, LDA and unigram",
        "exhibits.figure_27_32",
        (SOFTMAX,),
        original="Figure 27.32",
        claims=("lda-better-than-unigram", "softmax-better-than-lda"),
    ),
    "figure-27-33": Exhibit(
        "retrieval by replicated softmax and by LDA",
        "exhibits.figure_27_33",
        (SOFTMAX,),
        original="Figure 27.33",
        claims=("softmax-retrieves-better",),
    ),
    "table-undirected-units": Exhibit(
        "other units than binary ones",
        "exhibits.units",
        (UNITS,),
        original="Table 27.2",
        claims=("binary-better-than-gaussian", "gaussian-units-are-factor-analysis", "gaussian-rbm-is-mixture"),
    ),
}
