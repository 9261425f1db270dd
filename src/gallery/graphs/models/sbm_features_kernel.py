"""The many small logistic regressions of `gallery.graphs.models.sbm_features`, by Newton's method."""

import numba as nb
import numpy as np

from heldout.typing import Floats

ITERATIONS, HALVINGS, SMALL = 100, 40, 1e-10


@nb.njit("float64(float64[:, ::1], int8[:], float64[::1], float64[::1])", cache=True)
def _objective(f: Floats, cells: "np.ndarray", precisions: Floats, w: Floats) -> float:
    """Return minus the log joint of cells and weights, less the prior's constant."""
    value = 0.0
    for p in range(len(w)):
        value += 0.5 * precisions[p] * w[p] * w[p]
    for i in range(len(cells)):
        if cells[i] >= 0:
            s = 0.0
            for p in range(len(w)):
                s += f[i, p] * w[p]
            loss_logit = -s if cells[i] == 1 else s
            value += max(loss_logit, 0.0) + np.log1p(np.exp(-abs(loss_logit)))
    return value


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
    N, R = cells.shape
    P = f.shape[1]
    evidences, weights, covariances = np.zeros(R), np.zeros((R, P)), np.zeros((R, P, P))
    gradient, hessian, L = np.zeros(P), np.zeros((P, P)), np.zeros((P, P))
    step, w, tried = np.zeros(P), np.zeros(P), np.zeros(P)
    for r in range(R):
        w[:] = 0.0
        value = _objective(f, cells[:, r], precisions, w)
        for _ in range(ITERATIONS + 1):
            for p in range(P):
                gradient[p] = precisions[p] * w[p]
                hessian[p] = 0.0
                hessian[p, p] = precisions[p]
            for i in range(N):
                if cells[i, r] >= 0:
                    s = 0.0
                    for p in range(P):
                        s += f[i, p] * w[p]
                    chance = 1.0 / (1.0 + np.exp(-s)) if s > 0.0 else 1.0 - 1.0 / (1.0 + np.exp(s))
                    for p in range(P):
                        gradient[p] += (chance - cells[i, r]) * f[i, p]
                        for o in range(p + 1):
                            hessian[p, o] += chance * (1.0 - chance) * f[i, p] * f[i, o]
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
                new_value = _objective(f, cells[:, r], precisions, tried)
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
