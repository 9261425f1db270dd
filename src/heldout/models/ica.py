r"""Independent component analysis with a Laplace prior (Welling et al. 2008, section 3.2; Olshausen and Field 1997).

    p(x | h) = N(x; W h, lambda I),   p(h) = prod_j exp(-|h_j|) / 2
    O = sum_n [-|x_n - W h_n|^2 / (2 lambda) - |h_n|_1 - D/2 log(2 pi lambda) - K log 2]     (3.11 with an L1 norm)

Collapse. W -> W T, H -> T^-1 H does not change W H. With T = t I the prior's term is |h|_1 / t, so O rises with t and
has no maximum. Its supremum is

    sup O = -min_{rank K} |X - W H|^2 / (2 lambda) - N D/2 log(2 pi lambda) - N K log 2,

PCA's objective 3.12 without centring, approached as H -> 0. The entropy that the point posterior drops would prevent
this: q(h) would shrink with h, at a cost of K log t nats per data case. Unit columns of W prevent it here.

VE step: O is concave in H, and with L = |W|^2 / lambda (spectral norm) the proximal gradient step

    h <- soft(h + W'(x - W h) / (lambda L), 1 / L),   soft(a, b) = sign(a) max(|a| - b, 0)

cannot lower O, because L bounds the curvature, so no backtracking is needed. VM step with unit columns, one column
after the other: with R the residual without column j, -|R - w h_j'|^2 has its maximum exactly at w = R h_j / |R h_j|.
Without the constraint the step is least squares by the shortest change of W, which does not change W in directions that
H hardly has (there W would become huge for a gain within rounding). No step lowers O.
"""

import math
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.models.pca import least_squares
from heldout.models.vem import Family, PointVEM, real_matrix
from heldout.typing import Floats

SMALLEST_EXTENT = 1e-6  # share of H's largest singular value; W does not change in the directions of smaller ones


@estimator
class ICA(PointVEM[Floats, Floats, Floats]):
    """ICA with a Laplace prior and Gaussian noise.

    Other arguments and attributes are as of `PointVEM`; `parameters_` is W, (D, K), `latent_` is H, (N, K).

    Args:
        noise: lambda, the noise's variance, in the data's squared units.
        unit_columns: whether |w_j| = 1 is kept; otherwise H collapses to 0.
        inner_steps: proximal gradient steps of each VE step.

    Examples:
        >>> model = ICA(1, random_state=0).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
        >>> (model.latent_ @ model.parameters_.T).round(2)  # near the data: the prior pulls H towards 0
        array([[0.  , 0.  ],
               [0.93, 0.93],
               [1.93, 1.93],
               [2.93, 2.93]])
    """

    family = Family(
        "ICA", "continuous", r"h \in \mathbb{R}^K,\ \mathrm{Laplace}", r"\mathcal{N}(x; Wh, \lambda I)", "3.11"
    )

    noise: float = 0.1
    unit_columns: bool = True
    inner_steps: int = 20

    def check(self, X: Any) -> Floats:
        """Return X as a dense (N, D) array."""
        if not 0.0 < self.noise < math.inf or self.inner_steps < 1:
            raise InputError(
                f"ICA: a noise variance of {self.noise} and {self.inner_steps} inner steps;"
                " the first must be positive and the second at least 1"
            )
        return real_matrix(X, self.family.name)

    def start(self, data: Floats, random: np.random.Generator) -> Floats:
        """Return random unit columns, (D, K)."""
        W = random.standard_normal((data.shape[1], self.n_components))
        return np.asarray(W / np.linalg.norm(W, axis=0))

    def ve_step(self, data: Floats, parameters: Floats, latent: Floats | None = None) -> Floats:
        """Return H after `inner_steps` proximal gradient steps from `latent`, or from 0."""
        W = parameters
        H = np.zeros((len(data), W.shape[1])) if latent is None else latent
        gram, projected = W.T @ W, data @ W
        curvature = float(np.linalg.eigvalsh(gram)[-1]) * (1.0 + 1e-12)
        if curvature <= 0.0:  # W = 0 explains nothing: the prior decides
            return np.zeros_like(H)
        for _ in range(self.inner_steps):
            moved = H + (projected - H @ gram) / curvature
            H = np.sign(moved) * np.maximum(np.abs(moved) - self.noise / curvature, 0.0)
        return H

    def vm_step(self, data: Floats, latent: Floats, parameters: Floats) -> Floats:
        """Return W that raises the objective; a column whose h_j is 0 everywhere keeps its value."""
        W = parameters.copy()
        residual = data - latent @ W.T
        if not self.unit_columns:
            return np.asarray(W + least_squares(latent, residual, cutoff=SMALLEST_EXTENT).T)
        for j in np.flatnonzero(np.any(latent != 0.0, axis=0)):
            residual += np.outer(latent[:, j], W[:, j])
            direction = residual.T @ latent[:, j]
            length = np.linalg.norm(direction)
            if length > 0.0:
                W[:, j] = direction / length
            residual -= np.outer(latent[:, j], W[:, j])
        return W

    def objective(self, data: Floats, latent: Floats, parameters: Floats) -> float:
        """Return equation 3.11 with an L1 norm, all constants included, in nats."""
        squares = float(np.sum((data - latent @ parameters.T) ** 2))
        return float(-0.5 * squares / self.noise - np.abs(latent).sum() + self._constant(data))

    def supremum(self, X: Any) -> float:
        """Return the supremum of the objective over H and W without unit columns, in nats (see the module)."""
        data = self.check(X)
        values = np.linalg.svd(data, compute_uv=False)
        return -0.5 * float(np.sum(values[self.n_components :] ** 2)) / self.noise + self._constant(data)

    def _constant(self, data: Floats) -> float:
        N, D = data.shape
        return -float(N * (0.5 * D * math.log(2.0 * math.pi * self.noise) + self.n_components * math.log(2.0)))
