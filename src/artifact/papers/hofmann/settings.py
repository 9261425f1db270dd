"""The settings of the experiments on Hofmann (1999)."""

from dataclasses import dataclass
from typing import Any

from heldout.settings import setting


def _shares() -> Any:
    return setting(
        "of training, validation and test tokens in every document",
        above=0,
        below=1,
        fewest=3,
        greatest=3,
        distinct=False,
    )


@dataclass(frozen=True, kw_only=True)
class LatentSemanticAnalysis:
    """Settings of `latent-semantic-analysis`; of the last three one each is chosen on validation tokens."""

    shares: tuple[float, ...] = _shares()
    ranks: tuple[int, ...] = setting("k; that of the training counts is added, those above it are left out", least=1)
    exponents: tuple[float, ...] = setting("of cosines", above=0)
    constants: tuple[float, ...] = setting("added to every word's count in the unigram", above=0)
    masses: tuple[float, ...] = setting("of the unigram, added to a document's counts", "tokens", above=0)


@dataclass(frozen=True, kw_only=True)
class Tempering:
    """Settings of `tempering`."""

    shares: tuple[float, ...] = _shares()
    early_patience: int = setting("iterations without improvement after which early stopping ends", least=1)
    eta: float = setting("by which beta falls, or rises on the coarse schedule", above=0, below=1)
    tolerance: float = setting(
        "gain that counts on the coarse schedule; share by which a worse perplexity ends annealing",
        "nats per token",
        least=0,
    )
    patience: int = setting("values of beta without improvement after which to stop", least=1)
    iterations: int = setting("of a fit, at most", least=1)
    annealing_topics: int = setting("the largest K that is annealed too", least=0)
    annealing_start: float = setting("first beta of annealing", above=0, most=1)
    annealing_eta: float = setting("by which annealing's beta rises, or falls on the fine schedule", above=0, below=1)
    convergence: float = setting("gain that counts on the fine schedule", "nats per token", least=0)
    annealing_noise: float = setting("on every p(w | z) at a new beta", least=0, most=0.1)
    path_topics: tuple[int, ...] = setting("K at which every iteration is reported", least=1)
    folded_in_topics: tuple[int, ...] = setting("K at which weights are folded in on all tokens too", least=1)
    fold_in_iterations: int = setting("of folding in, at most", least=1)
    fold_in_tolerance: float = setting("distance from the maximum at which it stops", "nats per token", least=0)
    samples: int = setting("of the reference over a document, on average, at most", "sweeps", least=240)
    predictive_samples: int = setting("states of the chain behind the posterior predictive", least=2)
    prior_sums: tuple[float, ...] = setting("K times the prior's parameter; validation tokens choose", above=0)
    prior_samples: int = setting("states of the chain, or sweeps, behind that choice", least=2)
    limit: float = setting("cost of exact values, at most", "updates", above=0)
