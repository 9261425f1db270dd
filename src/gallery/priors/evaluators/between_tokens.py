r"""Pointwise mutual information of two tokens, exactly, given all that the model was given of their document.

    I(y_1; y_2) = sum_vw p(v, w) log p(v, w) / (p(v) p(w)) nats,      p(v, w) = E[p(v | theta) p(w | theta)].

With weights theta on topics b, p(v, w) = b_v' E[theta theta'] b_w. Under a Dirichlet of parameters alpha, A their sum,
E[theta_j theta_k] = alpha_j (alpha_k + [j = k]) / (A (A + 1)); where theta is a function of the inputs, as in
multinomial regression LDA (Murphy 2012, 27.68), it is theta_j theta_k, and the information is 0.
"""

import numpy as np
from scipy.special import xlogy

from heldout.typing import Floats


def mutual_information(joint: Floats) -> float:
    """Return the mutual information I(y_1; y_2), nats, of symmetric joint probabilities p(v, w), (V, V).

    Examples:
        >>> float(mutual_information(np.diag([0.5, 0.5])).__round__(6)), mutual_information(np.full((2, 2), 0.25))
        (0.693147, 0.0)
    """
    single = joint.sum(axis=1)
    return float(xlogy(joint, joint).sum() - 2.0 * xlogy(single, single).sum())


def pairs_under_dirichlet(phi: Floats, alpha: Floats) -> Floats:
    """Return p(v, w), (V, V), under topics phi, (K, V), with Dirichlet parameters alpha, (K,)."""
    total = alpha.sum()
    moments = (np.outer(alpha, alpha) + np.diag(alpha)) / (total * (total + 1.0))
    return np.asarray(phi.T @ moments @ phi)


def pairs_under_weights(phi: Floats, theta: Floats) -> Floats:
    """Return p(v, w), (V, V), under topics phi, (K, V), with certain weights theta, (K,)."""
    single = theta @ phi
    return np.outer(single, single)
