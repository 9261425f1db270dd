r"""Likelihoods under GaP, its spike and the user rating profile, by annealed importance sampling (Neal, 2001).

Where the moments of `heldout.evaluators.count_polynomial` are products, M(C) = prod_k m_k(C_k), as under
GaP, its spike and, up to a factor of the length, a Dirichlet, the likelihood is a sum over the tokens' components z,

    p(w) = sum_z prod_l x[l, z_l] prod_k m_k(C_k(z)),                          C_k(z) tokens of component k.

Its path f_b(z) = prod_l x[l, z_l]^b prod_k m_k(C_k(z)) starts where the sum over z is known and can be drawn from:

    sum_z f_0(z) = L! T_1(L),     T_k(n) = sum_c m_k(c) / c! T_{k+1}(n - c),     T_{K+1}(n) = [n = 0],

c_1, .., c_K come one after the other from the terms of T, and which tokens they are is random. Then, t = 1 .. T - 1, a
Gibbs sweep under f at b_t = (t / T)^2, p(z_l = k | the others) ∝ x[l, k]^b m_k(C_k + 1) / m_k(C_k), C without token l.
The weight L! T_1(L) prod_t prod_l x[l, z_l]^(b_t - b_{t-1}) has the mean p(w).
"""

import math
from collections.abc import Sequence

import numba as nb
import numpy as np
from scipy.special import gammaln, logsumexp

from heldout.errors import InputError
from heldout.evaluators.annealed_importance import schedule
from heldout.evaluators.count_polynomial import DirichletMoments, GammaPoissonMoments
from heldout.evaluators.evaluation import check_samples, log_mean
from heldout.evaluators.random_stream import first_above, starts, uniform
from heldout.typing import Floats, Ints

Estimate = tuple[Floats, Floats]  # log-likelihoods and their standard errors, (D,) nats each


def gap_annealed(
    counts: Floats, b: Floats, prior: GammaPoissonMoments, samples: int, rng: np.random.Generator, *, temperatures: int
) -> Estimate:
    """Return log p(n) of count vectors under GaP or the conditional GaP, and its standard error, (D,) nats.

    Args:
        counts: (D, V) whole numbers.
        b: (V, K) rates; see `heldout.evaluators.count_polynomial.gap_marginal`.
        prior: of the weights.
        samples: chains.
        rng: generator.
        temperatures: T, steps from the prior given the length to the posterior.

    Raises:
        InputError: for fewer than one sample or step.
    """
    tokens = [np.repeat(np.arange(len(b)), row.astype(np.int64)) for row in counts]
    longest = max((len(row) for row in tokens), default=0)
    log_moments = _topic_moments(prior, longest)
    with np.errstate(divide="ignore"):
        logs = np.log(b)
    value, error = _annealed([logs[row] for row in tokens], log_moments, samples, rng, temperatures)
    return value - gammaln(counts + 1.0).sum(axis=1), error


def rating_profile_annealed(
    responses: Ints, tables: Floats, alpha: Floats, samples: int, rng: np.random.Generator, *, temperatures: int
) -> Estimate:
    """Return log p(y) under the user rating profile, and its standard error, (N,) nats.

    Args:
        responses: (N, R), -1 where there is none.
        tables: (R, K, M); see `heldout.evaluators.count_polynomial.rating_profile_marginal`.
        alpha: (K,).
        samples: chains.
        rng: generator.
        temperatures: as of `gap_annealed`.

    Raises:
        InputError: for fewer than one sample or step.
    """
    given = [np.flatnonzero(row >= 0) for row in responses]
    with np.errstate(divide="ignore"):
        logs = [np.log(tables[r, :, row[r]]) for row, r in zip(responses, given, strict=True)]
    lengths = np.array([len(r) for r in given])
    c = np.arange(lengths.max(initial=0) + 1.0)
    log_moments = gammaln(alpha[:, None] + c) - gammaln(alpha)[:, None]
    value, error = _annealed(logs, log_moments, samples, rng, temperatures)
    moments = DirichletMoments(alpha)
    length_terms = np.array([moments.log_moment(np.eye(len(alpha))[:1] * L)[0] - log_moments[0, L] for L in lengths])
    return value + length_terms, error


def _topic_moments(prior: GammaPoissonMoments, longest: int) -> Floats:
    """Return log m_k(c), (K, longest + 1) nats, of GaP's prior."""
    K = len(prior.alpha)
    return np.stack(
        [
            GammaPoissonMoments(
                *(values[k : k + 1] for values in (prior.alpha, prior.beta, prior.totals, prior.rho))
            ).log_moment(np.arange(longest + 1.0)[:, None])
            for k in range(K)
        ]
    )


def _annealed(
    logs: Sequence[Floats], log_moments: Floats, samples: int, rng: np.random.Generator, temperatures: int
) -> Estimate:
    """Return the log-likelihoods of documents, log sum_z prod_l x[l, z_l] prod_k m_k(C_k), and their errors.

    Args:
        logs: D arrays (L, K), log x.
        log_moments: (K, longest + 1), log m_k(c).
        samples: chains.
        rng: generator.
        temperatures: as of `gap_annealed`.
    """
    check_samples("annealed counts", samples)
    if temperatures < 1:
        raise InputError(f"annealed counts: {temperatures} temperatures; take 1 or more")
    tails, states = _tails(log_moments), starts(rng, len(logs))
    with np.errstate(invalid="ignore"):
        ratios = np.ascontiguousarray(np.exp(np.diff(log_moments, axis=1)).T)
    powers = schedule(temperatures)
    weights = np.empty((len(logs), samples))
    for one, state, row in zip(logs, states, weights, strict=True):
        L, K = one.shape
        counts = _prior_counts(log_moments, tails, L, samples, rng)
        ordered = np.array([np.repeat(np.arange(K), chain_counts) for chain_counts in counts])
        z = rng.permuted(ordered.reshape(samples, L), axis=1)
        row[:] = math.lgamma(L + 1.0) + tails[0, L] + _log_ratios(one, ratios, counts, z, powers, state)
    return log_mean(weights)


def _tails(log_moments: Floats) -> Floats:
    """Return log T_k(n), (K, longest + 1); see the module."""
    K, size = log_moments.shape
    terms = log_moments - gammaln(np.arange(size) + 1.0)
    tails: Floats = terms.copy()
    for k in range(K - 2, -1, -1):
        for n in range(size):
            tails[k, n] = logsumexp(terms[k, : n + 1] + tails[k + 1, n::-1])
    return tails


@nb.njit(
    "float64[::1](float64[:, ::1], float64[:, ::1], int64[:, ::1], int64[:, ::1], float64[::1], uint64[::1])",
    cache=True,
)
def _log_ratios(logs, ratios, counts, z, schedule, state):  # type: ignore[no-untyped-def]
    """Return the chains' log weights, (S,) nats, less the log weight of the start; z (S, L) and counts (S, K) move.

    Args:
        logs: (L, K), log x.
        ratios: (longest, K), m_k(c + 1) / m_k(c).
        counts: (S, K) tokens of each component.
        z: (S, L) components.
        schedule: (T + 1,), b from 0 to 1.
        state: of the document's random numbers.
    """
    (L, K), S, T = logs.shape, len(z), len(schedule) - 1
    log_w, powers, sums = np.zeros(S), np.empty((L, K)), np.empty(K)
    for t in range(1, T + 1):
        step = schedule[t] - schedule[t - 1]
        for s in range(S):
            for i in range(L):
                log_w[s] += step * logs[i, z[s, i]]
        if t == T:
            break
        for i in range(L):
            for k in range(K):
                powers[i, k] = math.exp(schedule[t] * logs[i, k])
        for s in range(S):
            own = counts[s]
            for i in range(L):
                own[z[s, i]] -= 1
                total = 0.0
                for k in range(K):
                    total += powers[i, k] * ratios[own[k], k]
                    sums[k] = total
                new = first_above(sums, uniform(state) * total)
                z[s, i] = new
                own[new] += 1
    return log_w


def _prior_counts(log_moments: Floats, tails: Floats, length: int, samples: int, rng: np.random.Generator) -> Ints:
    """Draw the counts of f_0, (S, K), for a document of `length` tokens."""
    K, size = log_moments.shape
    terms = log_moments - gammaln(np.arange(size) + 1.0)
    left = np.full(samples, length)
    counts = np.zeros((samples, K), dtype=np.int64)
    c = np.arange(length + 1)
    for k in range(K - 1):
        rest = left[:, None] - c
        logs = np.where(rest >= 0, terms[k, c] + tails[k + 1, np.maximum(rest, 0)], -np.inf)
        sums = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        drawn = rng.random((samples, 1)) * sums[:, -1:]
        counts[:, k] = np.minimum((sums <= drawn).sum(axis=1), left)
        left = left - counts[:, k]
    counts[:, K - 1] = left
    return counts
