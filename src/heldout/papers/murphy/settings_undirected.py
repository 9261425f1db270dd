"""The settings of the experiments on Murphy's undirected models (2012, section 27.7)."""

from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class _Training:
    chains: int = setting("of persistent contrastive divergence", least=1)
    batch: int = setting("cases of a minibatch", least=1)
    epochs: int = setting("passes over the training data", least=1)
    annealed_chains: int = setting("of annealed importance sampling", least=2)
    temperatures: int = setting("steps of annealed importance sampling", least=1)


@dataclass(frozen=True, kw_only=True)
class Boltzmann(_Training):
    """Settings of `boltzmann`."""

    hidden: int = setting("hidden units of the machines with exact likelihoods", least=1, most=20)
    more_hidden: int = setting("hidden units of the machine whose likelihood is annealed", least=1)
    steps: int = setting("sweeps of the longer contrastive divergence", least=2)
    rounds: int = setting("of mean field for one negative phase", least=1)
    learning_rate: float = setting("of the first step", above=0)
    iterations: int = setting("of EM for the mixture, at most", least=1)
    smoothing: float = setting("added to the probabilities of the mixture", above=0)
