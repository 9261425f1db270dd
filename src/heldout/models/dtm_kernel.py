"""The topics' step of the dynamic topic model, its filter and smoother; `heldout.models.dtm` has the equations.

Arrays of N sequences have the shape (N, T, V, K), K padded to whole vectors of LANES topics. All times of a word and
eight topics are gone through while they are in registers and the first cache.
"""

import math

import numba as nb
import numpy as np

from heldout.models.exponentials import LARGEST, exponentials
from heldout.models.simd import LANES, fill, load, store

# weights, 1 + lambda P, are multiplied and one logarithm taken where the product, looked at so often, is large
LARGE, OFTEN = 1e100, 8

_S, _T = "float64[:, :, :, ::1]", "float64[:, :, ::1]"


@nb.njit(
    f"float64({_S}, {_T}, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64, {_S}, {_S}, {_S}, {_S}, {_T},"
    f" {_S}, {_S}, {_S}, {_S}, {_S}, {_T}, {_T}, int64)",
    cache=True,
)
def propose(  # type: ignore[no-untyped-def]
    counts, totals, size, start_mean, start_variance, sigma2,
    h, precision, mean, p, log_sums,
    new_h, new_precision, new_mean, new_variance, new_p, new_log_sums, values, K,
):  # fmt: skip
    """Write the state after a step of a `size`, (N, K); return the sum of E (beta_t - beta_t-1)^2 of K topics.

    A state is h, lambda, m, V, p and log sum_w exp(m + V / 2). The rows of values, (3, N, K), become sum_tv n m before
    and after the step, and the KL after it. A topic whose sum overflows gets an infinite one.
    """
    N, T, V, width = counts.shape
    one, half, two, variance_of_step = fill(1.0), fill(0.5), fill(2.0), fill(sigma2)
    logits, sums, products = np.empty(T * width), np.empty(T * width), np.empty(width)
    step_sums, log_weights = np.empty(width), np.empty(width)
    flat_values, flat_start_mean, flat_start_variance = values.ravel(), start_mean.ravel(), start_variance.ravel()
    flat_counts, flat_totals, flat_size, flat_log_sums = counts.ravel(), totals.ravel(), size.ravel(), log_sums.ravel()
    flat_h, flat_precision, flat_mean, flat_p = h.ravel(), precision.ravel(), mean.ravel(), p.ravel()
    to_h, to_precision, to_mean = new_h.ravel(), new_precision.ravel(), new_mean.ravel()
    to_variance, to_p = new_variance.ravel(), new_p.ravel()
    values[:] = 0.0
    step_sums[:] = 0.0
    for n in range(N):
        sums[:] = 0.0
        products[:] = 1.0
        log_weights[:] = 0.0
        for v in range(V):
            for k in range(0, width, LANES):
                rho, product = load(flat_size, n * width + k), load(products, k)
                filtered, predicted = load(flat_start_mean, v * width + k), load(flat_start_variance, v * width + k)
                own_variance, old_value, log_normaliser = predicted, fill(0.0), fill(0.0)
                for t in range(T):
                    cell = ((n * T + t) * V + v) * width + k
                    number, old_mean = load(flat_counts, cell), load(flat_mean, cell)
                    share = load(flat_totals, (n * T + t) * width + k) * load(flat_p, cell)
                    old_h, old_precision = load(flat_h, cell), load(flat_precision, cell)
                    old_value = old_value + number * old_mean
                    observed = old_h + rho * (share * old_mean + number - share - old_h)
                    weighted = old_precision + rho * (share - old_precision)
                    store(to_h, cell, observed)
                    store(to_precision, cell, weighted)
                    weight = one + weighted * predicted
                    inverse = one / weight
                    product = product * weight
                    if t % OFTEN == OFTEN - 1 or t == T - 1:
                        store(products, k, product)
                        for j in range(k, k + LANES):
                            if products[j] > LARGE:
                                log_weights[j] += math.log(products[j])
                                products[j] = 1.0
                        product = load(products, k)
                    exponent = two * filtered * observed + predicted * observed * observed
                    log_normaliser = log_normaliser + half * inverse * (exponent - filtered * filtered * weighted)
                    filtered = (filtered + predicted * observed) * inverse
                    own_variance = predicted * inverse
                    store(to_mean, cell, filtered)
                    store(to_variance, cell, own_variance)
                    predicted = own_variance + variance_of_step
                later_mean, later_variance = filtered, own_variance
                new_value, divergence, step_sum = fill(0.0), fill(0.0) - log_normaliser, load(step_sums, k)
                for t in range(T - 1, -1, -1):
                    cell = ((n * T + t) * V + v) * width + k
                    if t < T - 1:
                        filtered, own_variance = load(to_mean, cell), load(to_variance, cell)
                        predicted = own_variance + variance_of_step
                        gain = own_variance / predicted
                        smoothed = filtered + gain * (later_mean - filtered)
                        own_variance = own_variance + gain * gain * (later_variance - predicted)
                        moved = later_mean - smoothed
                        step_sum = step_sum + (moved * moved + own_variance + (one - two * gain) * later_variance)
                        store(to_mean, cell, smoothed)
                        store(to_variance, cell, own_variance)
                        later_mean, later_variance = smoothed, own_variance
                    new_value = new_value + load(flat_counts, cell) * later_mean
                    square = later_mean * later_mean + later_variance
                    divergence = divergence + (load(to_h, cell) * later_mean - half * load(to_precision, cell) * square)
                    log_sum = load(flat_log_sums, (n * T + t) * width + k)
                    store(logits, t * width + k, later_mean + half * later_variance - log_sum)
                store(step_sums, k, step_sum)
                for row, value in ((0, old_value), (1, new_value), (2, divergence)):
                    entry = (row * N + n) * width + k
                    store(flat_values, entry, load(flat_values, entry) + value)
            exponentials(logits)
            for t in range(T):
                for k in range(0, width, LANES):
                    grown = load(logits, t * width + k)
                    store(sums, t * width + k, load(sums, t * width + k) + grown)
                    store(to_p, ((n * T + t) * V + v) * width + k, grown)
        for k in range(width):
            values[2, n, k] += 0.5 * (log_weights[k] + math.log(products[k]))
        for t in range(T):
            for k in range(width):
                total = sums[t * width + k]
                new_log_sums[n, t, k] = log_sums[n, t, k] + math.log(total) if total < LARGEST else np.inf
                sums[t * width + k] = 1.0 / total
            for v in range(V):
                for k in range(0, width, LANES):
                    cell = ((n * T + t) * V + v) * width + k
                    store(to_p, cell, load(to_p, cell) * load(sums, t * width + k))
    total = 0.0
    for k in range(K):
        total += step_sums[k]
    return total


@nb.njit("void(float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1])", cache=True)
def topic_rows(mean, log_sums, row_starts, out):  # type: ignore[no-untyped-def]
    """Write exp(e), (R, K), of the rows that have tokens: rows of the same group have one of the (G, K) log sums."""
    size = mean.shape[0] // log_sums.shape[0]
    for row in range(mean.shape[0]):
        if row_starts[row + 1] > row_starts[row]:
            own = out[row]
            for k in range(mean.shape[1]):
                own[k] = mean[row, k] - log_sums[row // size, k]
            exponentials(own)
