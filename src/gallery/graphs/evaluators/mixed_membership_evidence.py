"""The likelihood of a graph under mixed membership, by annealing (Neal 2001)."""

import itertools

import numpy as np

from gallery.graphs.models.mmsb import Roles
from heldout.evaluators.evaluation import log_mean


def annealed_roles(roles: Roles, *, chains: int, temperatures: int, random: np.random.Generator) -> tuple[float, float]:
    """Return an estimate of log p(R), nats, and its standard error, of two or more chains from the prior.

    The draws that `roles` has are lost.
    """
    betas = np.linspace(0.0, 1.0, temperatures + 1) ** 2
    weights = np.zeros(chains)
    for chain in range(chains):
        roles.start()
        roles.sweep(random, 0.0)
        for low, high in itertools.pairwise(betas):
            weights[chain] += (high - low) * roles.log_likelihood()
            roles.sweep(random, high)
    (value,), (error,) = log_mean(weights[None])
    return float(value) + roles.log_constant(), float(error)
