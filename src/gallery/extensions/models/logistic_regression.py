r"""Logistic regression with a Gaussian prior of its weights, by Newton's method.

    minimise  - sum_i log sigm(s_i (w^T x_i + w_0)) + penalty / 2 |w|^2,       s_i = 2 y_i - 1,

which is convex; an intercept w_0 is not penalised.
"""

import numpy as np
from scipy.special import expit

from heldout.errors import InputError
from heldout.typing import Floats, Ints

ITERATIONS, HALVINGS, SMALL = 100, 40, 1e-10


def objective(parameters: Floats, x: Floats, labels: Ints, penalties: Floats) -> float:
    """Return the penalised negative log-likelihood, nats, of (N, P) features x, whose penalties are (P,)."""
    signs = 2.0 * labels - 1.0
    return float(np.logaddexp(0.0, -signs * (x @ parameters)).sum() + (penalties * parameters**2).sum() / 2.0)


def logistic_regression(
    features: Floats, labels: Ints, penalty: float, *, intercept: bool = False
) -> tuple[Floats, float]:
    """Return the weights (F,) and the intercept, 0 where there is none, of (N, F) features and (N,) labels 0 and 1.

    Raises:
        InputError: for a penalty that is not positive, or other labels.

    Examples:
        >>> weights, _ = logistic_regression(np.eye(2), np.array([1, 0]), 0.1)
        >>> weights.round(2)
        array([ 1.63, -1.63])
    """
    if not penalty > 0.0 or not np.isin(labels, (0, 1)).all() or features.shape[:1] != labels.shape:
        raise InputError("logistic regression: give a positive penalty and a label, 0 or 1, to every row")
    N, F = features.shape
    x = np.column_stack([features, np.ones(N)]) if intercept else features
    penalties = np.full(x.shape[1], penalty)
    if intercept:
        penalties[F] = 1e-9  # all labels may be equal
    parameters = np.zeros(x.shape[1])
    value = objective(parameters, x, labels, penalties)
    for _ in range(ITERATIONS):
        p = expit(x @ parameters)
        gradient = x.T @ (p - labels) + penalties * parameters
        hessian = (x * (p * (1.0 - p))[:, None]).T @ x + np.diag(penalties)
        step, size = np.linalg.solve(hessian, gradient), 1.0
        for _ in range(HALVINGS):
            new_value = objective(parameters - size * step, x, labels, penalties)
            if new_value <= value:
                break
            size /= 2.0
        decrease, parameters, value = value - new_value, parameters - size * step, new_value
        if decrease < SMALL:
            break
    return parameters[:F], float(parameters[F]) if intercept else 0.0
