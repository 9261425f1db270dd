"""The likelihood of relations under blocks by annealed importance sampling (Neal 2001), from the clusters' prior.

A chain goes from p(q) to p(q) p(R | q) by collapsed Gibbs sweeps; the mean of its weight's exponential is p(R). It is
held to `gallery.graphs.evaluators.partitions`, which has all of its terms where there are few entities.
"""

import numpy as np

from gallery.graphs.models.blocks import Blocks
from heldout.evaluators.evaluation import log_mean


def annealed_evidence(
    blocks: Blocks, *, chains: int, temperatures: int, random: np.random.Generator
) -> tuple[float, float]:
    """Return an estimate of log p(R), nats, and its standard error, from two or more chains.

    The clusters that `blocks` has are lost. Where all chains have one weight the error is 0, although partitions that
    none has visited may be missing: at alpha = eta = 1e-3 some 5e-4 nats.
    """
    weights = np.array([[blocks.anneal(temperatures, random) for _ in range(chains)]])
    (value,), (error,) = log_mean(weights)
    return float(value), float(error)
