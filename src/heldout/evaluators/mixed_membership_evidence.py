"""The likelihood of a graph under mixed membership: by all assignments of a tiny one, and by annealing (Neal 2001)."""

import itertools
import math

import numpy as np
from scipy.special import betaln, gammaln, logsumexp, xlogy

from heldout.errors import InputError
from heldout.evaluators.evaluation import log_mean
from heldout.models.mmsb import Roles

LARGEST = 2**18  # assignments


def enumerated_roles(roles: Roles) -> float:
    """Return log p(R), nats, the sum over all assignments: of three nodes and two blocks 2^12.

    With rho above 0 every 0 has twice as many.

    Raises:
        InputError: for more than `LARGEST` assignments.
    """
    K, alpha, (one, zero) = roles.K, roles.alpha, roles.eta
    of_pair = [K * K * (2 if roles.rho > 0.0 and not value else 1) for value in roles.values]
    A = math.prod(of_pair)
    if A > LARGEST:
        raise InputError(f"mixed membership: {float(A):.1e} assignments, more than {LARGEST}; take annealing")
    left, every = np.arange(A), np.arange(A)
    members, ones, observed = np.zeros((A, roles.nodes, K)), np.zeros((A, K, K)), np.zeros((A, K, K))
    background = np.zeros(A)
    for (i, j), value, options in zip(roles.pairs, roles.values, of_pair, strict=True):
        code, left = left % options, left // options
        a, b, own = code % K, code // K % K, code // (K * K) == 0
        members[every, i, a] += 1.0
        members[every, j, b] += 1.0
        ones[every, a, b] += own * value
        observed[every, a, b] += own
        background += ~own
    log_joint = (betaln(ones + one, observed - ones + zero) - betaln(one, zero)).sum(axis=(1, 2))
    log_joint += (gammaln(members + alpha) - gammaln(alpha)).sum(axis=(1, 2))
    log_joint += (gammaln(K * alpha) - gammaln(members.sum(axis=2) + K * alpha)).sum(axis=1)
    log_joint += xlogy(background, roles.rho) + (len(roles.values) - background) * math.log1p(-roles.rho)
    return float(logsumexp(log_joint))


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
