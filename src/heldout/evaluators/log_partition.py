r"""log Z of a restricted Boltzmann machine, exactly (Murphy 2012, exercise 27.1), and the likelihood that follows.

With one layer summed out in closed form Z is a sum over the other one,

    Z = sum_h exp(s c' h + A(b + W h))       or       sum_v exp(b' v + B(c + W' v)),

A and B the layers' log normalisers (`heldout.models.harmonium_units`): O(R 2^K) or O(K 2^R). States are visited in the
order of a Gray code, one unit changes at a time, and exponentials change by a factor each; they are computed afresh
every 2^`UNITS_A_BLOCK` states. A replicated softmax has A(eta) = L lse(eta), so that one pass over the states serves
all lengths:

    Z_L = sum_h exp(L (c' h + lse(b + W h))).

Of Gaussian hidden units Z is an integral over h. With Gaussian visible units it has a closed form, for a Gaussian with
the precision I - W W' results. Otherwise the integrand is that of a mixture of Gaussians N(c + W' v, I) over all v, for
which the trapezoid rule with the spacing s has the relative error 2 exp(-2 (pi / s)^2), below 1e-30 here: K = 1 and 2.

Given binary hidden units, Gaussian visible ones are a mixture of 2^K Gaussians with unit variance, means b + W h and
weights exp(c' h + |b + W h|^2 / 2).
"""

import math

import numba as nb
import numpy as np
from scipy.special import logsumexp

from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.trapezoid import grid
from heldout.models.harmonium_units import BINARY, GAUSSIAN, HALF_LOG_2PI, MULTINOMIAL, Categorical, Units
from heldout.models.rbm import RBM
from heldout.typing import Floats, Ints

MOST_UNITS = 24  # largest number of binary units that are summed over: 2^24 terms of R factors
UNITS_A_BLOCK = 10  # units whose changes are factors; rounding errors of 2^10 products add up
REACH = 300.0  # largest |eta| at which exp(eta) and products of two are far from over- and underflow
SPACING, MOST_NODES = 0.5, 4_000_000  # spacing and largest number of nodes of the trapezoid rule
COVERED = 12.0  # standard deviations of a Gaussian unit that the rule covers on either side of its mean
_SOFTPLUS, _SOFTMAX, _SQUARE = 0, 1, 2


@nb.njit(cache=True)  # without types these are compiled where they are called: no audit of topics needs them
def _log_normaliser(eta, starts, form):  # type: ignore[no-untyped-def]
    """Return A(eta); blocks of a softmax begin at starts, whose last entry is R."""
    total = 0.0
    if form == 2:
        for r in range(eta.shape[0]):
            total += 0.5 * eta[r] * eta[r]
    elif form == 0:
        for r in range(eta.shape[0]):
            total += max(eta[r], 0.0) + math.log1p(math.exp(-abs(eta[r])))
    else:
        for block in range(starts.shape[0] - 1):
            highest, block_total = -math.inf, 0.0
            for r in range(starts[block], starts[block + 1]):
                highest = max(highest, eta[r])
            for r in range(starts[block], starts[block + 1]):
                block_total += math.exp(eta[r] - highest)
            total += highest + math.log(block_total)
    return total


@nb.njit(cache=True)
def _multiply_and_sum(x, factors, one):  # type: ignore[no-untyped-def]
    """Multiply x by factors in place and return the sum, in four partial sums, which a processor adds at once."""
    a = b = c = d = 0.0
    n = x.shape[0]
    for r in range(0, n - n % 4, 4):
        x[r] *= factors[r]
        x[r + 1] *= factors[r + 1]
        x[r + 2] *= factors[r + 2]
        x[r + 3] *= factors[r + 3]
        a += x[r]
        b += x[r + 1]
        c += x[r + 2]
        d += x[r + 3]
    for r in range(n - n % 4, n):
        x[r] *= factors[r]
        a += x[r]
    return one * ((a + b) + (c + d))


@nb.njit(cache=True)
def _log_weights(W, b, c, starts, form, block, reach, bias_terms, layer_terms):  # type: ignore[no-untyped-def]
    """Fill the (2^K,) c'h and A(b + W h) of all states, in the order of the Gray code; W is (K, R)."""
    K, R = W.shape
    low = min(K, block)
    factors = np.empty((2, K, R))
    largest = 0.0
    for k in range(low):
        most = 0.0
        for r in range(R):
            most = max(most, abs(W[k, r]))
        largest += most
    fits = form != 2 and largest <= reach
    for k in range(low):
        for r in range(R):
            factors[0, k, r] = math.exp(W[k, r]) if fits else 0.0
            factors[1, k, r] = math.exp(-W[k, r]) if fits else 0.0
    h, eta, x = np.zeros(K, np.int64), np.empty(R), np.empty(R)
    bias, fast, n_blocks = 0.0, False, starts.shape[0] - 1
    for i in range(1 << K):
        k = 0
        if i:
            while not (i >> k) & 1:
                k += 1
            h[k] = 1 - h[k]
        if i % (1 << low) == 0:
            bias = 0.0
            for r in range(R):  # an assignment of slices, which checks shapes, compiles for seconds
                eta[r] = b[r]
            for j in range(K):
                if h[j]:
                    bias += c[j]
                    for r in range(R):
                        eta[r] += W[j, r]
            most = 0.0
            for r in range(R):
                most = max(most, abs(eta[r]))
            fast = fits and most + largest <= reach
            if fast:
                for r in range(R):
                    x[r] = math.exp(eta[r])
            layer_terms[i] = _log_normaliser(eta, starts, form)
        else:
            sign = 1.0 if h[k] else -1.0
            bias += sign * c[k]
            if not fast:
                for r in range(R):
                    eta[r] += sign * W[k, r]
                layer_terms[i] = _log_normaliser(eta, starts, form)
            elif form == 1 and n_blocks == 1:
                layer_terms[i] = math.log(_multiply_and_sum(x, factors[1 - h[k], k], 1.0))
            else:
                total, product = 0.0, 1.0
                if form == 0:
                    for r in range(R):
                        x[r] *= factors[1 - h[k], k, r]
                        product *= 1.0 + x[r]
                        if product > 1e150:
                            total += math.log(product)
                            product = 1.0
                else:
                    for block_ in range(n_blocks):
                        block_sum = 0.0
                        for r in range(starts[block_], starts[block_ + 1]):
                            x[r] *= factors[1 - h[k], k, r]
                            block_sum += x[r]
                        product *= block_sum
                        if product > 1e150 or product < 1e-150:
                            total += math.log(product)
                            product = 1.0
                layer_terms[i] = total + math.log(product)
        bias_terms[i] = bias


def log_weights(W: Floats, b: Floats, c: Floats, kind: str, blocks: Ints | None = None) -> tuple[Floats, Floats]:
    """Return c'h and A(b + W h), (2^K,) nats each, of all states h of K binary units, in the order of a Gray code.

    `kind` is of the other layer's (R,) units, b (R,) and W (R, K); A is for one token of multinomial ones, and lacks
    its constant of Gaussian ones. `blocks` are the sizes of categorical units' blocks.

    Raises:
        InputError: for more than `MOST_UNITS` units.
    """
    R, K = W.shape
    if K > MOST_UNITS:
        raise InputError(f"exact log Z: {K} binary units; more than {MOST_UNITS} take too long, anneal instead")
    form = {BINARY: _SOFTPLUS, GAUSSIAN: _SQUARE}.get(kind, _SOFTMAX)
    sizes = np.array([R]) if blocks is None else blocks
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    bias_terms, layer_terms = np.empty(2**K), np.empty(2**K)
    rows = np.ascontiguousarray(W.T, dtype=float)
    reach = REACH / 2.0 if form == _SOFTPLUS else REACH
    _log_weights(rows, b.astype(float), c.astype(float), starts, form, UNITS_A_BLOCK, reach, bias_terms, layer_terms)
    return bias_terms, layer_terms


def hidden_log_weights(model: RBM) -> tuple[Floats, Floats]:
    """Return c'h and A(b + W h), (2^K,) nats each, of all states of binary hidden units; see `log_weights`."""
    layer = model.visible_units
    blocks = layer.blocks if isinstance(layer, Categorical) else None
    bias_terms, layer_terms = log_weights(model.weights_, model.visible_bias_, model.hidden_bias_, layer.kind, blocks)
    if layer.kind == GAUSSIAN:
        layer_terms += HALF_LOG_2PI * len(model.visible_bias_)
    return bias_terms, layer_terms


def log_partition(model: RBM) -> float:
    """Return log Z, nats, of a fitted model of any kind but multinomial visible units, over the cheaper layer.

    Raises:
        InputError: where it has no value or costs too much: use `heldout.evaluators.log_partition_annealed`.
    """
    W, b, c = model.weights_, model.visible_bias_, model.hidden_bias_
    visible, hidden = model.visible, model.hidden
    if visible == MULTINOMIAL:
        raise InputError("log Z: of a replicated softmax it depends on the length; take `log_partitions`")
    if hidden == BINARY and visible == BINARY and len(b) < len(c):
        return float(logsumexp(np.add(*log_weights(W.T, c, b, BINARY))))
    if hidden == BINARY:
        return float(logsumexp(np.add(*hidden_log_weights(model))))
    if visible == GAUSSIAN:
        return _gaussian_log_partition(W, b, c)
    return _by_quadrature(model)


def log_partitions(model: RBM, lengths: Ints) -> Floats:
    """Return log Z_L, (n,) nats, of a replicated softmax for (n,) lengths L, by one pass over all hidden states.

    Raises:
        InputError: for other visible units, or as `log_weights`.
    """
    if model.visible != MULTINOMIAL:
        raise InputError(f"log Z by length: the visible units are {model.visible}, not {MULTINOMIAL}")
    per_token = np.add(*hidden_log_weights(model))
    distinct, places = np.unique(lengths, return_inverse=True)
    return np.array([logsumexp(L * per_token) for L in distinct])[places]


def _gaussian_log_partition(W: Floats, b: Floats, c: Floats) -> float:
    """Return log Z of Gaussian units on both sides: precision [[I, -W], [-W', I]], linear terms (b, c)."""
    R, K = W.shape
    precision = np.block([[np.eye(R), -W], [-W.T, np.eye(K)]])
    if np.linalg.eigvalsh(precision).min() <= 0.0:
        raise InputError("log Z: Gaussian units with a weight matrix of norm 1 or more have none; penalise the weights")
    linear = np.concatenate([b, c])
    determinant = np.linalg.slogdet(precision)[1]
    return float(0.5 * linear @ np.linalg.solve(precision, linear) - 0.5 * determinant + HALF_LOG_2PI * (R + K))


def _by_quadrature(model: RBM) -> float:
    """Return log Z of Gaussian hidden units, K = 1 or 2: the integral over h of exp(c'h - |h|^2 / 2 + A(b + W h))."""
    W, b, c, layer = model.weights_, model.visible_bias_, model.hidden_bias_, model.visible_units
    if W.shape[1] > 2:
        raise InputError(f"log Z: {W.shape[1]} Gaussian hidden units; quadrature takes 1 or 2, anneal instead")
    nodes = quadrature_nodes(layer, W, c)
    parts = (nodes[i : i + 4096] for i in range(0, len(nodes), 4096))
    values = [h @ c - 0.5 * (h**2).sum(axis=1) + layer.log_normaliser(b + h @ W.T) for h in parts]
    return float(logsumexp(np.concatenate(values)) + W.shape[1] * math.log(SPACING))


def quadrature_nodes(layer: Units, W: Floats, c: Floats, spacing: float = SPACING) -> Floats:
    """Return the nodes, (J, K), of the trapezoid rule over Gaussian hidden units, for discrete visible ones.

    Raises:
        InputError: for more than `MOST_NODES` nodes.
    """
    if isinstance(layer, Categorical):
        low, high = (extreme.reduceat(W, layer.starts, axis=0).sum(axis=0) for extreme in (np.minimum, np.maximum))
    else:
        low, high = np.minimum(W, 0.0).sum(axis=0), np.maximum(W, 0.0).sum(axis=0)
    needed = np.prod((high - low + 2.0 * COVERED) / spacing)
    if not needed <= MOST_NODES:
        raise InputError(f"log Z: quadrature would take {needed:.0f} nodes; the weights are too large, penalise them")
    return grid(low + c - COVERED, high + c + COVERED, spacing)


def log_likelihood(model: RBM, X: object, log_z: Floats | float, error: Floats | float = 0.0) -> Evaluation:
    """Return log p(v) of (N, R) data from log Z, nats, one number or (N,), and its error, which all cases share."""
    v = model.visible_units.check(X)
    tokens = model.visible_units.size(v) if model.visible == MULTINOMIAL else np.full(len(v), v.shape[1])
    if isinstance(model.visible_units, Categorical):
        tokens = np.full(len(v), len(model.visible_units.blocks))
    values = -model.free_energy(v) - log_z
    bias = np.broadcast_to(np.asarray(error, dtype=float), (len(v),)).copy()
    return Evaluation(values, tokens.astype(np.int64), np.zeros(len(v)), bias=bias)


def gaussian_mixture(model: RBM) -> tuple[Floats, Floats]:
    """Return log weights, (2^K,) nats, and means, (2^K, R), of the Gaussians with unit variance that the model mixes.

    For Gaussian visible and binary hidden units.

    Raises:
        InputError: for other units.
    """
    if (model.visible, model.hidden) != (GAUSSIAN, BINARY):
        raise InputError("a mixture of Gaussians: the visible units must be gaussian, the hidden ones binary")
    K = model.n_components
    h = (np.arange(2**K)[:, None] >> np.arange(K)) & 1
    means = h @ model.weights_.T + model.visible_bias_
    log_weight = h @ model.hidden_bias_ + 0.5 * (means**2).sum(axis=1)
    return np.asarray(log_weight - logsumexp(log_weight)), np.asarray(means, dtype=float)


def factor_analysis(model: RBM) -> tuple[Floats, Floats]:
    """Return the mean, (R,), and loadings, (R, K), of the factor analysis equal to Gaussian units on both sides.

    v ~ N(mean, I + L L') with L L' = (I - W W')^-1 - I, since the marginal precision of v is I - W W'.

    Raises:
        InputError: for other units, or weights of norm 1 or more.
    """
    if (model.visible, model.hidden) != (GAUSSIAN, GAUSSIAN):
        raise InputError("factor analysis: both layers must be gaussian")
    W = model.weights_
    left, singular, _ = np.linalg.svd(W, full_matrices=False)
    if singular.max() >= 1.0:
        raise InputError("factor analysis: a weight matrix of norm 1 or more has no density; penalise the weights")
    mean = np.linalg.solve(np.eye(len(W)) - W @ W.T, model.visible_bias_ + W @ model.hidden_bias_)
    return np.asarray(mean), np.asarray(left * np.sqrt(singular**2 / (1.0 - singular**2)))
