r"""Principal component analysis by alternating least squares (Welling et al. 2008, section 3.2; Roweis 1997).

Factor analysis, x = W h + noise with Sigma = lambda I and h ~ N(0, I), with a point posterior has the objective 3.11.
Multiplied by lambda, the prior and the constants vanish in the limit lambda -> 0:

    O' = -1/2 sum_n |x_n - W h_n|^2                                                                  (3.12)

Setting the derivatives to 0 gives, with data cases as columns of X and H,

    (X - W H) H' = 0,   W <- X H' (H H')^-1                                                          (3.13)
    W' (X - W H) = 0,   H <- (W' W)^-1 W' X                                                          (3.14)

The source prints (W W')^-1 in 3.14; that is a D x D matrix of rank K, and the shapes do not fit. Each step is a
least-squares problem, solved by SVD, so a rank below K is no special case. X is centred first. At the maximum, W spans
the K leading principal directions, and `components_` rotates W and H to them. O' is in the data's squared units: lambda
nats.
"""

from typing import Any, Self

import numpy as np

from heldout.models.vem import Family, PointVEM, real_matrix
from heldout.typing import Floats


class PCA(PointVEM[Floats, Floats, Floats]):
    """PCA by alternating least squares; settings as in `PointVEM`, the tolerance in units of the objective.

    Attributes (after `fit`):
        parameters_: (D, K) W;  latent_: (N, K) H.
        components_: (K, D) orthonormal principal directions, most variance first, the largest entry positive.
        coordinates_: (N, K) the data's coordinates on them: W H = coordinates_ @ components_.
        mean_: (D,) the data's mean, which was subtracted.

    Examples:
        >>> model = PCA(1, random_state=0).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
        >>> model.components_.round(3)
        array([[0.707, 0.707]])
        >>> model.coordinates_.round(3).ravel()
        array([-2.121, -0.707,  0.707,  2.121])
    """

    family = Family(
        "PCA", "continuous", r"h \in \mathbb{R}^K", r"\mathcal{N}(x; Wh, \lambda I),\ \lambda \to 0", "3.10--3.14"
    )

    def check(self, X: Any) -> Floats:
        """Return X centred, as a dense (N, D) array."""
        dense = real_matrix(X, self.family.name)
        return np.asarray(dense - dense.mean(axis=0))

    def start(self, data: Floats, random: np.random.Generator) -> Floats:
        """Return a normal random W, (D, K)."""
        return random.standard_normal((data.shape[1], self.n_components))

    def ve_step(self, data: Floats, parameters: Floats, latent: Floats | None = None) -> Floats:  # noqa: ARG002
        """Return H by 3.14."""
        return least_squares(parameters, data.T).T

    def vm_step(self, data: Floats, latent: Floats, parameters: Floats) -> Floats:  # noqa: ARG002
        """Return W by 3.13."""
        return least_squares(latent, data).T

    def objective(self, data: Floats, latent: Floats, parameters: Floats) -> float:
        """Return equation 3.12, in the data's squared units."""
        return -0.5 * float(np.sum((data - latent @ parameters.T) ** 2))

    def fit(self, X: Any, y: None = None) -> Self:
        """Run the iterations; see `PointVEM.fit`."""
        super().fit(X, y)
        self.mean_ = real_matrix(X, self.family.name).mean(axis=0)
        basis, rest = np.linalg.qr(self.parameters_)
        left, scales, right = np.linalg.svd(self.latent_ @ rest.T, full_matrices=False)
        components = np.asarray(right @ basis.T, dtype=float)
        signs = np.sign(components[np.arange(len(components)), np.abs(components).argmax(axis=1)])
        self.components_ = np.asarray(components * signs[:, None], dtype=float)
        self.coordinates_ = np.asarray(left * scales * signs, dtype=float)
        return self


def least_squares(A: Floats, B: Floats, cutoff: float = 0.0) -> Floats:
    """Return the shortest Z that minimises |A Z - B|, by the singular value decomposition of A.

    Directions with a singular value below `cutoff` times the largest, or below rounding, are ignored.
    """
    left, values, right = np.linalg.svd(A, full_matrices=False)
    kept = values > values.max(initial=0.0) * max(cutoff, max(A.shape) * np.finfo(float).eps)
    return np.asarray(right[kept].T @ ((left[:, kept].T @ B) / values[kept, None]))
