r"""log Z of a restricted Boltzmann machine by annealed importance sampling (Neal 2001; Salakhutdinov and Murray 2008).

Of any kind but multinomial visible units the path leads from independent visible units with the biases a,

    log f_t(v) = (1 - t) a' v + t b' v + log q(v) + B(t (c + W' v)),      t from 0 to 1,

to the model's own, hidden units summed out; the transition at t draws h given v and v given h with these parameters.
The start's log normaliser is A(a) + B(0). Without biases a the model's b are taken.

A replicated softmax has one path for all lengths, and no visible units on it. With them summed out,

    Z_L = sum_h exp(L g(h)),      g(h) = c' h + log sum_v exp(b_v + sum_k W_vk h_k),

so that the length L is itself the inverse temperature: from L = 0, where h is uniform and Z_0 = 2^K, a run passes every
length up to the longest, and its weight there is an unbiased estimate of Z_L / Z_0. The transition at L flips each h_k
in turn by Gibbs sampling, which takes O(V).

In either the logarithm of the mean of S weights is low by about half its squared error, which is corrected; the error
is that of the delta method (`heldout.evaluators.evaluation.log_mean`).
"""

import math

import numba as nb
import numpy as np

from heldout.errors import InputError
from heldout.evaluators.evaluation import check_samples, log_mean
from heldout.models.harmonium_units import BINARY, GAUSSIAN, MULTINOMIAL
from heldout.models.rbm import RBM
from heldout.typing import Floats, Ints

REFRESH = 16  # sweeps after which a chain's exponentials are computed afresh
REACH = 300.0  # sums of |W| up to which products of exponentials stay within floating point


def log_partition_annealed(
    model: RBM, chains: int, temperatures: int, random: np.random.Generator, *, base: Floats | None = None
) -> tuple[float, float]:
    """Return an estimate of log Z and its standard error, nats; `base` are the biases a, (R,).

    Raises:
        InputError: for multinomial visible units, for Gaussian units on both sides, whose chains mix too slowly near a
            norm of 1 of the weights, or for fewer than 2 chains or 1 temperature.
    """
    if model.visible == MULTINOMIAL:
        raise InputError("annealed log Z: of a replicated softmax take `log_partitions_annealed`")
    if model.visible == model.hidden == GAUSSIAN:
        raise InputError("annealed log Z: with Gaussian units on both sides it has a closed form; take `log_partition`")
    _check(chains, temperatures)
    W, b, c = model.weights_, model.visible_bias_, model.hidden_bias_
    visible, hidden, one = model.visible_units, model.hidden_units, np.ones(chains)
    a = b if base is None else base
    start = float(visible.log_normaliser(a[None])[0] + hidden.log_normaliser(np.zeros((1, len(c))))[0])
    v = visible.draw(np.broadcast_to(a, (chains, len(a))), one, random)
    log_w, previous = np.zeros(chains), 0.0
    for t in np.linspace(0.0, 1.0, temperatures + 1)[1:]:
        eta = v @ W + c
        log_w += (t - previous) * (v @ (b - a)) + hidden.log_normaliser(t * eta) - hidden.log_normaliser(previous * eta)
        h = hidden.draw(t * eta, one, random)
        v = visible.draw((1.0 - t) * a + t * b + t * (h @ W.T), one, random)
        previous = t
    value, error = log_mean(log_w[None])
    return start + float(value[0] + error[0] ** 2 / 2.0), float(error[0])


@nb.njit(cache=True)  # without types these are compiled where they are called: no audit of topics needs them
def _sum_of_products(x, y, least):  # type: ignore[no-untyped-def]
    """Return sum_v x_v y_v, or `least` where that is smaller, in four partial sums."""
    p = q = r = s = 0.0
    n = x.shape[0]
    for v in range(0, n - n % 4, 4):
        p += x[v] * y[v]
        q += x[v + 1] * y[v + 1]
        r += x[v + 2] * y[v + 2]
        s += x[v + 3] * y[v + 3]
    for v in range(n - n % 4, n):
        p += x[v] * y[v]
    return max(least, (p + q) + (r + s))


@nb.njit(cache=True)
def _run(factors, W, b, c, path, kept, refresh, h, uniforms, out):  # type: ignore[no-untyped-def]
    """Anneal one chain; write the log weight at every place of `path` where `kept` is not negative to `out`.

    Rows of W, (K, V), have the exponentials factors[1] and, of -W, factors[0]; uniforms are (T, K).
    """
    K, V = W.shape
    x, highest, total, bias, log_w, previous = np.empty(V), 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(path.shape[0]):
        if t % refresh == 0:
            bias = 0.0
            for v in range(V):
                x[v] = b[v]
            for k in range(K):
                if h[k]:
                    bias += c[k]
                    for v in range(V):
                        x[v] += W[k, v]
            highest = -math.inf
            for v in range(V):
                highest = max(highest, x[v])
            total = 0.0
            for v in range(V):
                x[v] = math.exp(x[v] - highest)
                total += x[v]
        L = path[t]
        log_w += (L - previous) * (bias + highest + math.log(total))
        previous = L
        if kept[t] >= 0:
            out[kept[t]] = log_w
        for k in range(K):
            sign = -1.0 if h[k] else 1.0
            turned = _sum_of_products(x, factors[1 - h[k], k], 1e-300)
            gain = L * (sign * c[k] + math.log(turned / total))
            if uniforms[t, k] < 1.0 / (1.0 + math.exp(-min(max(gain, -700.0), 700.0))):
                for v in range(V):
                    x[v] *= factors[1 - h[k], k, v]
                h[k] = 1 - h[k]
                total = turned
                bias += sign * c[k]


def log_partitions_annealed(
    model: RBM, lengths: Ints, chains: int, temperatures: int, random: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return log Z_L of a replicated softmax for (n,) lengths L and its standard errors, (n,) nats each.

    A run takes `temperatures` steps, evenly spaced in log(1 + L), and one more at each of the lengths. Lengths share
    runs, so that their errors are not independent.

    Raises:
        InputError: for other units, fewer than 2 chains or 1 temperature, or weights whose exponentials overflow.
    """
    if (model.visible, model.hidden) != (MULTINOMIAL, BINARY):
        raise InputError("annealed log Z by length: take multinomial visible and binary hidden units")
    _check(chains, temperatures)
    rows = np.ascontiguousarray(model.weights_.T)
    if not np.abs(rows).max(axis=1).sum() <= REACH:
        raise InputError("annealed log Z: the weights are so large that exponentials overflow; penalise the weights")
    distinct, places = np.unique(lengths, return_inverse=True)
    steps = np.expm1(np.linspace(0.0, math.log1p(distinct[-1]), temperatures + 1)[1:])
    path = np.unique(np.concatenate([steps, distinct]))
    kept = np.full(len(path), -1)
    kept[np.searchsorted(path, distinct)] = np.arange(len(distinct))
    factors, K = np.exp(np.stack([-rows, rows])), len(rows)
    log_w = np.empty((chains, len(distinct)))
    for stream, out in zip(random.spawn(chains), log_w, strict=True):
        h = stream.integers(2, size=K)
        uniforms = stream.random((len(path), K))
        _run(factors, rows, model.visible_bias_, model.hidden_bias_, path, kept, REFRESH, h, uniforms, out)
    value, error = log_mean(np.ascontiguousarray(log_w.T))
    value = value + K * math.log(2.0) + error**2 / 2.0
    return value[places], error[places]


def _check(chains: int, temperatures: int) -> None:
    check_samples("annealed log Z", chains, 2)
    if temperatures < 1:
        raise InputError(f"annealed log Z: {temperatures} temperatures; take 1 or more")
