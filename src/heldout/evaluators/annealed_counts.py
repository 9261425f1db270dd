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

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from heldout.errors import InputError
from heldout.evaluators.count_polynomial import DirichletMoments, GammaPoissonMoments
from heldout.evaluators.evaluation import check_samples, log_mean

POWER = 2.0  # of the steps; as in `heldout.evaluators.annealed_importance`
BLOCK = 2**21  # entries of an array of documents by chains by components

Float = NDArray[np.float64]
Index = NDArray[np.int64]
Estimate = tuple[Float, Float]  # log-likelihoods and their standard errors, (D,) nats each


def gap_annealed(
    counts: Float, b: Float, prior: GammaPoissonMoments, samples: int, rng: np.random.Generator, *, temperatures: int
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
    log_moments = _of_each(prior, longest)
    with np.errstate(divide="ignore"):
        logs = np.log(b)
    value, error = _annealed([logs[row] for row in tokens], log_moments, samples, rng, temperatures)
    return value - gammaln(counts + 1.0).sum(axis=1), error


def rating_profile_annealed(
    responses: Index, tables: Float, alpha: Float, samples: int, rng: np.random.Generator, *, temperatures: int
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
    of_length = np.array([moments.log_moment(np.eye(len(alpha))[:1] * L)[0] - log_moments[0, L] for L in lengths])
    return value + of_length, error


def _of_each(prior: GammaPoissonMoments, longest: int) -> Float:
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
    logs: Sequence[Float], log_moments: Float, samples: int, rng: np.random.Generator, temperatures: int
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
    K = len(log_moments)
    tails = _tails(log_moments)
    lengths = np.array([len(one) for one in logs], dtype=np.int64)
    order = np.argsort(-lengths, kind="stable")  # longest first, so that the documents with a token l come first
    weights = np.empty((len(logs), samples))
    size = max(1, BLOCK // (samples * (lengths.max(initial=0) + K + 1)))
    for start in range(0, len(order), size):
        block = order[start : start + size]
        padded = np.zeros((len(block), lengths[block].max(initial=0), K))
        for place, d in enumerate(block):
            padded[place, : lengths[d]] = logs[d]
        weights[block] = _log_weights(padded, lengths[block], log_moments, tails, samples, rng, temperatures)
    return log_mean(weights)


def _tails(log_moments: Float) -> Float:
    """Return log T_k(n), (K, longest + 1); see the module."""
    K, size = log_moments.shape
    terms = log_moments - gammaln(np.arange(size) + 1.0)
    tails: Float = terms.copy()
    for k in range(K - 2, -1, -1):
        for n in range(size):
            tails[k, n] = logsumexp(terms[k, : n + 1] + tails[k + 1, n::-1])
    return tails


def _log_weights(
    logs: Float,
    lengths: Index,
    log_moments: Float,
    tails: Float,
    samples: int,
    rng: np.random.Generator,
    temperatures: int,
) -> Float:
    """Return the log weights, (D, S) nats, of documents (D, L, K), longest first, padded to the length of the first."""
    (D, L, K), S = logs.shape, samples
    with np.errstate(invalid="ignore"):
        ratios = np.exp(np.diff(log_moments, axis=1))
    counts = _prior_counts(log_moments, tails, lengths, S, rng)
    labels = (np.arange(L)[None, None, :, None] >= np.cumsum(counts, axis=2)[:, :, None, :-1]).sum(axis=3)
    there = np.arange(L) < lengths[:, None]
    places = np.argsort(np.where(there[:, None, :], rng.random((D, S, L)), 2.0), axis=2)
    z = np.zeros((D, S, L), dtype=np.int64)
    np.put_along_axis(z, places, np.minimum(labels, K - 1), axis=2)
    rows, chains, components = np.arange(D)[:, None], np.arange(S)[None, :], np.arange(K)
    open_documents = [int(np.searchsorted(-lengths, -position)) for position in range(L)]  # those longer than it
    b = (np.arange(temperatures + 1) / temperatures) ** POWER
    log_w = np.repeat((gammaln(lengths + 1.0) + tails[0, lengths])[:, None], S, axis=1)
    for t in range(1, temperatures + 1):
        each = logs[rows[:, :, None], np.arange(L), z]
        log_w += (b[t] - b[t - 1]) * np.where(there[:, None, :], each, 0.0).sum(axis=2)
        if t == temperatures:
            break
        powers = np.exp(b[t] * logs)
        for position, n in enumerate(open_documents):
            own = counts[:n]
            own[rows[:n], chains, z[:n, :, position]] -= 1
            sums = np.cumsum(powers[:n, None, position] * ratios[components, own], axis=2)
            drawn = rng.random((n, S, 1)) * sums[:, :, -1:]
            new = np.minimum((sums <= drawn).sum(axis=2), K - 1)
            z[:n, :, position] = new
            own[rows[:n], chains, new] += 1
    return log_w


def _prior_counts(log_moments: Float, tails: Float, lengths: Index, samples: int, rng: np.random.Generator) -> Index:
    """Draw the counts of f_0, (D, S, K), for documents of the given lengths."""
    K, size = log_moments.shape
    terms = log_moments - gammaln(np.arange(size) + 1.0)
    left = np.repeat(lengths[:, None], samples, axis=1)
    counts = np.zeros((len(lengths), samples, K), dtype=np.int64)
    c = np.arange(lengths.max(initial=0) + 1)
    for k in range(K - 1):
        rest = left[:, :, None] - c
        logs = np.where(rest >= 0, terms[k, c] + tails[k + 1, np.maximum(rest, 0)], -np.inf)
        sums = np.cumsum(np.exp(logs - logs.max(axis=2, keepdims=True)), axis=2)
        drawn = rng.random((*left.shape, 1)) * sums[:, :, -1:]
        counts[:, :, k] = np.minimum((sums <= drawn).sum(axis=2), left)
        left = left - counts[:, :, k]
    counts[:, :, K - 1] = left
    return counts
