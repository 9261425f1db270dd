"""The correlated topic model's VE step given topics' expected counts; `gallery.priors.models.ctm` has the equations.

Documents are taken eight at a time, as the last axis of all arrays, so that the processor works on them side by side.
"""

import math

import numba as nb
import numpy as np

from heldout.models.exponentials import exponentials
from heldout.models.simd import LANES, fill, load, store, where
from heldout.models.token_shares import SMALL

HALVINGS = 20


@nb.njit(cache=True)
def _log_sum(mean, variance, shares, log_sum):  # type: ignore[no-untyped-def]
    """Write t, (K, LANES), and log sum_k exp(lambda_k + nu_k^2 / 2), (LANES,)."""
    K = mean.shape[0]
    log_sum[:] = -np.inf
    for k in range(K):
        for j in range(LANES):
            shares[k, j] = mean[k, j] + 0.5 * variance[k, j]
            log_sum[j] = max(log_sum[j], shares[k, j])
    for k in range(K):
        for j in range(LANES):
            shares[k, j] -= log_sum[j]
    flat, total = shares.ravel(), fill(0.0)
    exponentials(flat)
    for k in range(K):
        total = total + load(flat, k * LANES)
    inverse = fill(1.0) / total
    for k in range(K):
        store(flat, k * LANES, load(flat, k * LANES) * inverse)
    sums = np.empty(LANES)
    store(sums, 0, total)
    for j in range(LANES):
        log_sum[j] += math.log(sums[j])


@nb.njit(cache=True)
def _terms(P, centred, variance, counts, pulled, value):  # type: ignore[no-untyped-def]
    """Write P (lambda - mu), and m' (lambda - mu) with the prior's and the entropy's terms, without constants.

    Rows of LANES numbers are vectors: arrays are flat, `centred` is lambda - mu.
    """
    K, half, logs = P.shape[0], fill(0.5), np.zeros(LANES)
    total, product, several = fill(0.0), fill(1.0), np.empty(LANES)
    for k in range(K):
        force = fill(0.0)
        for i in range(K):
            force = force + fill(P[k, i]) * load(centred, i * LANES)
        store(pulled, k * LANES, force)
        here, nu2 = load(centred, k * LANES), load(variance, k * LANES)
        total = total + (here * (load(counts, k * LANES) - half * force) - half * fill(P[k, k]) * nu2)
        product = product * nu2
        if k % 4 == 3 or k == K - 1:  # a logarithm of four, whose product does not overflow
            store(several, 0, product)
            product = fill(1.0)
            for j in range(LANES):
                logs[j] += 0.5 * math.log(several[j])
    store(value, 0, total)
    for j in range(LANES):
        value[j] += logs[j]


@nb.njit(cache=True)
def _directions(P, lengths, shares, variance, counts, pulled, grown, step, change):  # type: ignore[no-untyped-def]
    """Write the gradient of lambda to step, and the change of nu^2 by two of Newton's steps; arrays are flat.

    e^(lambda + nu^2 / 2) / zeta at the best zeta is t: at a fixed zeta it grows with nu^2, by `grown`.
    """
    L, one, half, most = load(lengths, 0), fill(1.0), fill(0.5), fill(300.0)
    for i in range(0, P.shape[0] * LANES, LANES):
        nu2, own, precision = load(variance, i), L * load(shares, i), fill(P[i // LANES, i // LANES])
        store(step, i, load(counts, i) - load(pulled, i) - own)
        moved = (one - nu2 * (precision + own)) / (precision + own * (one + half * nu2))
        store(change, i, moved)
        store(grown, i, where(half * moved <= most, half * moved, most))
    exponentials(grown)
    for i in range(0, P.shape[0] * LANES, LANES):
        own, precision = L * load(shares, i) * load(grown, i), fill(P[i // LANES, i // LANES])
        nu2 = load(variance, i) + load(change, i)
        moved = (one - nu2 * (precision + own)) / (precision + own * (one + half * nu2))
        store(change, i, load(change, i) + moved)


@nb.njit(cache=True)
def _solve(P, shares, lengths, curvature, step):  # type: ignore[no-untyped-def]
    """Solve [P + L (diag t - t t')] x = step in place, by L D L' of the curvature, (K, K, LANES).

    Rows of LANES numbers are vectors: arrays are flat.
    """
    K, L, one = P.shape[0], load(lengths, 0), fill(1.0)
    for k in range(K):
        own = load(shares, k * LANES)
        weight = L * own
        for i in range(k):
            store(curvature, (k * K + i) * LANES, fill(P[k, i]) - weight * load(shares, i * LANES))
        store(curvature, k * (K + 1) * LANES, fill(P[k, k]) + (weight - weight * own))
    for i in range(K):
        inverse = one / load(curvature, i * (K + 1) * LANES)
        store(curvature, i * (K + 1) * LANES, inverse)
        pivot = load(step, i * LANES)
        for k in range(i + 1, K):
            scaled = load(curvature, (k * K + i) * LANES) * inverse
            store(step, k * LANES, load(step, k * LANES) - scaled * pivot)
            for o in range(i + 1, k + 1):
                place = (k * K + o) * LANES
                store(curvature, place, load(curvature, place) - scaled * load(curvature, (o * K + i) * LANES))
    for i in range(K - 1, -1, -1):
        total = load(step, i * LANES)
        for k in range(i + 1, K):
            total = total - load(curvature, (k * K + i) * LANES) * load(step, k * LANES)
        store(step, i * LANES, total * load(curvature, i * (K + 1) * LANES))


@nb.njit(
    "void(float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1],"
    " float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1],"
    " float64[::1])",
    cache=True,
)
def ascend(  # type: ignore[no-untyped-def]
    P, mu, m, lengths, mean, variance, shares, log_sums, new_mean, new_variance, new_shares, new_log_sums, theta, value
):
    """Write lambda, nu^2, t and log zeta after a step from them; theta, (D, K) or wider, becomes ∝ exp(lambda).

    To value, (D,), the bound's terms are added that are not the tokens', before the step, without the constants of
    the prior; the tokens' are those of theta.
    """
    D, K = mean.shape
    shape = (K, LANES)
    centred, s, counts, t, pulled = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    step, change, grown, centred_new, s_new = (
        np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    )  # fmt: skip
    curvature, highest = np.empty(K * K * LANES), np.empty(LANES)
    L, log_sum, old_value, new_value = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for first in range(0, D, LANES):
        many = min(LANES, D - first)
        for j in range(LANES):
            d = first + min(j, many - 1)
            L[j] = lengths[d]
            for k in range(K):
                centred[k, j], s[k, j], counts[k, j], t[k, j] = (
                    mean[d, k] - mu[k],
                    variance[d, k],
                    m[d, k],
                    shares[d, k],
                )
        _terms(P, centred.ravel(), s.ravel(), counts.ravel(), pulled.ravel(), old_value)
        for j in range(many):
            d = first + j
            old_value[j] -= L[j] * log_sums[d]
            value[d] += old_value[j]
            highest[j] = -np.inf
            for k in range(K):
                value[d] -= counts[k, j] * centred[k, j]
                highest[j] = max(highest[j], mean[d, k])
            value[d] += L[j] * highest[j]
        _directions(
            P, L, t.ravel(), s.ravel(), counts.ravel(), pulled.ravel(), grown.ravel(), step.ravel(), change.ravel()
        )
        _solve(P, t.ravel(), L, curvature, step.ravel())
        for _ in range(HALVINGS):
            for k in range(K):
                for j in range(LANES):
                    centred_new[k, j] = centred[k, j] + step[k, j]
                    s_new[k, j] = s[k, j] + change[k, j]
                    grown[k, j] = centred_new[k, j] + mu[k]
            _log_sum(grown, s_new, t, log_sum)
            _terms(P, centred_new.ravel(), s_new.ravel(), counts.ravel(), pulled.ravel(), new_value)
            worse = False
            for j in range(many):
                if not new_value[j] - L[j] * log_sum[j] >= old_value[j]:
                    worse = True
                    for k in range(K):
                        step[k, j] *= 0.5
                        change[k, j] *= 0.5
            if not worse:
                break
        highest[:] = -np.inf
        for j in range(many):
            d = first + j
            if not new_value[j] - L[j] * log_sum[j] >= old_value[j]:
                log_sum[j] = log_sums[d]
                for k in range(K):
                    grown[k, j], s_new[k, j], t[k, j] = mean[d, k], s[k, j], shares[d, k]
            else:
                for k in range(K):
                    grown[k, j] = centred_new[k, j] + mu[k]
            new_log_sums[d] = log_sum[j]
            for k in range(K):
                new_mean[d, k], new_variance[d, k], new_shares[d, k] = grown[k, j], s_new[k, j], t[k, j]
                highest[j] = max(highest[j], grown[k, j])
        for k in range(K):
            for j in range(LANES):
                grown[k, j] = grown[k, j] - highest[j] if j < many else 0.0
        exponentials(grown.ravel())
        for j in range(many):
            for k in range(K):
                theta[first + j, k] = grown[k, j]


@nb.njit("float64(float64[:, ::1], int64, float64)", cache=True)
def topics_step(b, K, gamma):  # type: ignore[no-untyped-def]
    """Replace expected counts, (V, K) and padded, by the topics that they and gamma give; return sum log b."""
    sums, total, product = np.zeros(K), 0.0, 1.0
    for v in range(b.shape[0]):
        for k in range(K):
            b[v, k] += gamma
            sums[k] += b[v, k]
    for k in range(K):
        sums[k] = 1.0 / sums[k]
    for v in range(b.shape[0]):
        for k in range(K):
            b[v, k] *= sums[k]
            if b[v, k] < SMALL:
                total += math.log(b[v, k])
                continue
            product *= b[v, k]
            if product < SMALL:
                total += math.log(product)
                product = 1.0
    return total + math.log(product)
