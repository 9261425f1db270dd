"""The many small logistic regressions of `gallery.graphs.models.sbm_features`, by Newton's method.

A pass over the cells has one exponential for each: its loss max(-x, 0) + log(1 + exp(-|x|)), x the logit of what was
observed, is summed as the logarithm of products of 1 + exp(-|x|).
"""

import numba as nb
import numpy as np

from heldout.typing import Floats

ITERATIONS, HALVINGS, SMALL = 100, 40, 1e-10
FACTORS = 1000  # most factors of a product, each at most 2, that floating point holds


@nb.njit(
    "float64(float64[:, ::1], int8[:], float64[::1], float64[::1], float64[::1], float64[:, ::1], boolean)", cache=True
)
def _expand(f, cells, precisions, w, gradient, hessian, derivatives):  # type: ignore[no-untyped-def]
    """Return minus the log joint of cells and weights w, less the prior's constant.

    Its gradient and its Hessian's lower triangle are written to the arrays if they are asked for.
    """
    P, value, product, factors = len(w), 0.0, 1.0, 0
    for p in range(P):
        gradient[p] = precisions[p] * w[p]
        value += 0.5 * gradient[p] * w[p]
        hessian[p] = 0.0
        hessian[p, p] = precisions[p]
    for i in range(len(cells)):
        if cells[i] < 0:
            continue
        s = 0.0
        for p in range(P):
            s += f[i, p] * w[p]
        e = np.exp(-abs(s))
        if (cells[i] == 1) == (s < 0.0):
            value += abs(s)
        product *= 1.0 + e
        factors += 1
        if factors == FACTORS:
            value += np.log(product)
            product, factors = 1.0, 0
        if derivatives:
            inverse = 1.0 / (1.0 + e)
            error, spread = (inverse if s > 0.0 else e * inverse) - cells[i], e * inverse * inverse
            for p in range(P):
                gradient[p] += error * f[i, p]
                slope = spread * f[i, p]
                for o in range(p + 1):
                    hessian[p, o] += slope * f[i, o]
    return value + np.log(product)


@nb.njit("void(float64[:, ::1], float64[::1], float64[::1])", cache=True)
def _solve(L: Floats, b: Floats, x: Floats) -> None:
    """Solve L L^T x = b."""
    P = len(b)
    for p in range(P):
        total = b[p]
        for k in range(p):
            total -= L[p, k] * x[k]
        x[p] = total / L[p, p]
    for p in range(P - 1, -1, -1):
        total = x[p]
        for k in range(p + 1, P):
            total -= L[k, p] * x[k]
        x[p] = total / L[p, p]


@nb.njit(
    "Tuple((float64[::1], float64[:, ::1], float64[:, :, ::1]))(float64[:, ::1], int8[:, ::1], float64[::1])",
    cache=True,
)
def regressions(f: Floats, cells: "np.ndarray", precisions: Floats) -> tuple[Floats, Floats, Floats]:
    """Fit a logistic regression to every column of cells, (N, R), 1, 0 or -1 for none, on f, (N, P), by Newton's steps.

    Returns log evidences by Laplace, (R,), weights (R, P) and covariances (R, P, P).
    """
    R, P = cells.shape[1], f.shape[1]
    evidences, weights, covariances = np.zeros(R), np.zeros((R, P)), np.zeros((R, P, P))
    gradient, hessian, L = np.zeros(P), np.zeros((P, P)), np.zeros((P, P))
    step, w, tried = np.zeros(P), np.zeros(P), np.zeros(P)
    for r in range(R):
        ones, seen = (cells[:, r] == 1).sum(), (cells[:, r] >= 0).sum()
        w[:] = 0.0
        w[P - 1] = np.log((ones + 0.5) / (seen - ones + 0.5))  # the last of f is constant
        value = _expand(f, cells[:, r], precisions, w, gradient, hessian, True)
        for _ in range(ITERATIONS + 1):
            # Cholesky of the Hessian's lower triangle, then two substitutions
            for p in range(P):
                for o in range(p + 1):
                    total = hessian[p, o]
                    for k in range(o):
                        total -= L[p, k] * L[o, k]
                    L[p, o] = np.sqrt(total) if p == o else total / L[o, o]
            _solve(L, gradient, step)
            decrement = 0.0
            for p in range(P):
                decrement += step[p] * gradient[p]
            if decrement < SMALL:
                break
            size = 1.0
            for _ in range(HALVINGS):
                for p in range(P):
                    tried[p] = w[p] - size * step[p]
                new_value = _expand(f, cells[:, r], precisions, tried, gradient, hessian, True)
                if new_value <= value:
                    break
                size /= 2.0
            w[:] = tried
            value = new_value
        evidences[r] = -value
        for p in range(P):
            evidences[r] += 0.5 * np.log(precisions[p]) - np.log(L[p, p])
            weights[r, p] = w[p]
            gradient[:] = 0.0
            gradient[p] = 1.0
            _solve(L, gradient, step)
            covariances[r, p] = step
    return evidences, weights, covariances


@nb.njit("float64[:, ::1](float64[:, ::1], int8[:, ::1], float64[::1], float64[:, :, ::1])", cache=True)
def log_joints(f: Floats, cells: "np.ndarray", precisions: Floats, weights: Floats) -> Floats:
    """Return the log joint of every column of cells, (N, R), and its S weights, (R, S, P), (R, S) nats.

    The prior's constant is left out, as from the evidences' exponent in `regressions`.
    """
    R, S, P = weights.shape
    values, gradient, hessian = np.empty((R, S)), np.zeros(P), np.zeros((P, P))
    for r in range(R):
        column = np.ascontiguousarray(cells[:, r])
        for s in range(S):
            values[r, s] = -_expand(f, column, precisions, weights[r, s], gradient, hessian, False)
    return values
