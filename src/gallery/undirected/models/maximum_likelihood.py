r"""Maximum likelihood of Boltzmann machines with few hidden units, by exact gradients (Murphy 2012, section 27.7.2).

With the hidden layer's log normaliser B and the visible one's A, the objective is that of stochastic gradients,

    l = b' mean(v) + mean B(c + W' v) - log Z - penalty |W|^2 / 2,      log Z = log sum_h exp(c' h + A(b + W h)) r(h),

but both phases of its gradient (27.112) are sums: the clamped one over the data, the free one over the states h of one
or two binary units, or over the nodes of the trapezoid rule for Gaussian ones, with p(h) and E[v | h]:

    dl/dW = mean v E[h | v]' - sum_h p(h) E[v | h] h' - penalty W,      dl/db, dl/dc alike.

L-BFGS climbs it until it no longer rises: no rate, no number of passes, no chain. The likelihood has several maxima, so
that every machine starts at the best one inside it, and ends no lower: one Gaussian unit at independent
responses, a binary one at the mixture of two products that it is, two at the machine with one.

A mixture of two products, with log weights l_j and natural parameters eta_j, p(v) = sum_j exp(l_j + eta_j' v -
A(eta_j)) q(v), has as its term j = h the joint probability of the machine with

    b = eta_0,      W = eta_1 - eta_0,      c = l_1 - l_0 - A(eta_1) + A(eta_0),      log Z = A(eta_0) - l_0.

Every machine with one binary hidden unit is one, and EM fits it: r_j(v) = p(j | v), then l_j = log mean r_j and
E[v | eta_j] = mean r_j v / mean r_j, smoothed as the layer's `bias` is.

Gaussian units on both sides are factor analysis with unit noise, whose maximum is known (Tipping and Bishop 1999): with
eigenvalues lambda_k and eigenvectors u_k of the data's covariance W = sum_k u_k (1 - 1 / lambda_k)^1/2 over the K
largest above 1, c = 0 and b = (I - W W') mean(v). It is not penalised.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from heldout.errors import InputError
from heldout.evaluators.log_partition import quadrature_nodes
from heldout.evaluators.trapezoid import grid
from heldout.models.harmonium_units import BINARY, GAUSSIAN, MULTINOMIAL, Units
from heldout.models.rbm import RBM, START
from heldout.typing import Floats

SPACING = 0.9  # spacing of the trapezoid rule, with a relative error of 2 exp(-2 (pi / 0.9)^2) = 5e-11
ITERATIONS, GRADIENT = 2000, 1e-5  # largest number of L-BFGS iterations, and largest entry of the last gradient
NEGLIGIBLE, FAR = 40.0, 60.0  # nats below log Z, and below the largest value of a wide grid, that leave a node out
RESTARTS, EM_ITERATIONS, TOLERANCE = 3, 1000, 1e-7  # starts of EM, its iterations, and its last gain in nats


def fit(model: RBM, X: object, random: np.random.Generator, contained: RBM | None = None) -> RBM:
    """Fit a machine with one or two hidden units to (N, R) data; start at a machine that it contains.

    `n_components`, kinds of units and `penalty` are the model's, which is returned. Units beyond those of
    `contained`, or all, start with small random weights.

    Raises:
        InputError: for multinomial units, more than two hidden units, or values that the units cannot take.
    """
    layer, K = model.visible_units, model.n_components
    if layer.kind == MULTINOMIAL or K > 2:
        raise InputError(f"exact gradients: {K} hidden and {layer.kind} visible units; take 1 or 2, not multinomial")
    data = layer.check(X)
    R = data.shape[1]
    model.weights_, model.visible_bias_ = START * random.standard_normal((R, K)), layer.bias(data)
    model.hidden_bias_ = np.zeros(K)
    if layer.kind == model.hidden == GAUSSIAN:
        return _factor_analysis(model, data)
    if contained is not None:
        k = contained.n_components
        model.weights_[:, :k], model.hidden_bias_[:k] = contained.weights_, contained.hidden_bias_
        model.visible_bias_ = contained.visible_bias_
    objective = _objective(model, data)
    found = minimize(
        objective,
        parameters(model),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "gtol": GRADIENT, "ftol": 1e-10},
    )
    set_parameters(model, found.x)
    return model


def penalised(model: RBM, X: object) -> float:
    """Return the objective of a machine on (N, R) data, nats per case, without the constant log base measures."""
    return -_objective(model, model.visible_units.check(X))(parameters(model))[0]


def fit_mixture(model: RBM, X: object, random: np.random.Generator) -> RBM:
    """Fit a machine with one binary hidden unit to (N, R) data by EM, as the mixture of two products that it is.

    Raises:
        InputError: for other hidden units, multinomial visible ones, or values that the units cannot take.
    """
    layer = model.visible_units
    if layer.kind == MULTINOMIAL or (model.hidden, model.n_components) != (BINARY, 1):
        raise InputError("a mixture of two products: take one binary hidden unit, and not multinomial visible ones")
    data = layer.check(X)
    fits = (_em(layer, data, random.random(len(data))) for _ in range(RESTARTS))
    _, log_weights, eta = max(fits, key=lambda one: one[0])
    A = layer.log_normaliser(eta)
    model.weights_, model.visible_bias_ = (eta[1] - eta[0])[:, None], eta[0]
    model.hidden_bias_ = np.array([log_weights[1] - log_weights[0] - A[1] + A[0]])
    return model


def _em(layer: Units, data: Floats, first: Floats) -> tuple[float, Floats, Floats]:
    """Return the mean log-likelihood, log weights, (2,), and eta, (2, R), from (N,) first probabilities of j = 1."""
    shares, previous = np.stack([1.0 - first, first], axis=1), -np.inf
    for _ in range(EM_ITERATIONS):
        log_weights = np.log(shares.mean(axis=0))
        eta = np.stack([layer.bias(data, shares[:, j]) for j in range(2)])
        joint = log_weights + data @ eta.T - layer.log_normaliser(eta)
        total = logsumexp(joint, axis=1)
        mean = float(total.mean())
        if mean - previous < TOLERANCE:
            break
        shares, previous = np.exp(joint - total[:, None]), mean
    return mean, log_weights, eta


def _factor_analysis(model: RBM, data: Floats) -> RBM:
    """Set the parameters of Gaussian units on both sides to the maximum of the likelihood."""
    mean, K = data.mean(axis=0), model.n_components
    values, vectors = np.linalg.eigh(np.cov(data.T, bias=True))
    largest, directions = values[::-1][:K], vectors[:, ::-1][:, :K]
    model.weights_ = directions * np.sqrt(np.maximum(0.0, 1.0 - 1.0 / np.maximum(largest, 1.0)))
    model.visible_bias_ = mean - model.weights_ @ (model.weights_.T @ mean)
    model.hidden_bias_ = np.zeros(K)
    return model


def parameters(model: RBM) -> Floats:
    """Return W, b and c in one vector."""
    return np.concatenate([model.weights_.ravel(), model.visible_bias_, model.hidden_bias_])


def set_parameters(model: RBM, values: Floats) -> None:
    """Take W, b and c from one vector."""
    K = model.n_components
    R = (len(values) - K) // (K + 1)
    model.weights_ = values[: R * K].reshape(R, K).copy()
    model.visible_bias_, model.hidden_bias_ = values[R * K : -K].copy(), values[-K:].copy()


def _objective(model: RBM, data: Floats) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function of W, b and c whose values are minus the objective and its gradient."""
    visible, hidden, K = model.visible_units, model.hidden_units, model.n_components
    R, mean = data.shape[1], data.mean(axis=0)
    cell = 0.0 if model.hidden == BINARY else K * math.log(SPACING)
    binary = np.array(list(itertools.product((0.0, 1.0), repeat=K)))

    def value_and_gradient(values: Floats) -> tuple[float, Floats]:
        W, b, c = values[: R * K].reshape(R, K), values[R * K : -K], values[-K:]
        eta = data @ W + c
        h = hidden.mean(eta)
        log_weight = partial(_log_weights, model, W, b, c)
        states = binary if model.hidden == BINARY else _nodes(visible, W, c, log_weight)
        log_joint = log_weight(states) + cell
        log_z = logsumexp(log_joint)
        kept = log_joint > log_z - NEGLIGIBLE
        p, states = np.exp(log_joint[kept] - log_z), states[kept]
        free = visible.mean(b + states @ W.T)
        value = mean @ b + hidden.log_normaliser(eta).mean() - log_z - 0.5 * model.penalty * (W**2).sum()
        weight_gradient = data.T @ h / len(data) - free.T @ (p[:, None] * states) - model.penalty * W
        gradient = np.concatenate([weight_gradient.ravel(), mean - p @ free, h.mean(axis=0) - p @ states])
        return -float(value), -gradient

    return value_and_gradient


def _log_weights(model: RBM, W: Floats, b: Floats, c: Floats, h: Floats) -> Floats:
    """Return c'h + A(b + W h) + log r(h), (J,) nats, of (J, K) hidden states."""
    values: Floats = h @ c + model.hidden_units.log_base(h) + model.visible_units.log_normaliser(b + h @ W.T)
    return values


def _nodes(layer: Units, W: Floats, c: Floats, log_weight: Callable[[Floats], Floats]) -> Floats:
    """Return the nodes, (J, K), of the box that a grid with four times the spacing shows not to be negligible."""
    wide = quadrature_nodes(layer, W, c, 4.0 * SPACING)
    values = log_weight(wide)
    kept = wide[values > values.max() - FAR]
    return grid(kept.min(axis=0) - 4.0 * SPACING, kept.max(axis=0) + 4.0 * SPACING, SPACING)
