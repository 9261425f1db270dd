r"""Non-negative matrix factorisation with the Poisson objective (Welling et al. 2008, section 3.3; Lee and Seung 1999).

    p(x | h) = prod_i r_i^{x_i} exp(-r_i) / x_i!,   r_i = sum_j W_ij h_j                             (3.15)
    O = sum_{i,n} (x_in log r_in - r_in - log x_in!)                                                 (3.16)

with W, H >= 0 and sum_i W_ij = 1. For any Q_in over j, Jensen's inequality gives
log r_in >= sum_j Q_in(j) log(W_ij h_jn) + S(Q_in), with equality at Q_in(j) = W_ij h_jn / r_in (3.17). In the bound

    B = sum_{i,n} x_in [sum_j Q_in(j) log(W_ij h_jn) + S(Q_in)] - sum_{j,n} h_jn sum_i W_ij - constant

the derivative with respect to h_jn is sum_i x_in Q_in(j) / h_jn - sum_i W_ij. The last sum is 1, hence

    h_jn <- sum_i x_in Q_in(j) = h_jn sum_i W_ij x_in / r_in                                         (3.19)

(without the constraint this would be divided by sum_i W_ij). For W the linear term is constant under the constraint,
and a Lagrange multiplier gives

    W_ij ∝ sum_n x_in Q_in(j) = W_ij sum_n h_jn x_in / r_in,   normalised over i.                    (3.18)

Each step makes the bound tight and then maximises it, so O never falls. After a VE step the rates of a data case sum to
its total. Only positive x_in enter: O(nnz K) work and memory. As the source says, 3.16 also makes sense for
real x >= 0, with log x! = log Gamma(x + 1).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from heldout.models.estimator import checked_counts
from heldout.models.sparse_products import products, ratios
from heldout.models.vem import Family, PointVEM, shares
from heldout.topics import Topics
from heldout.typing import Floats


class NMF(PointVEM[sp.csr_array, Floats, Floats]):
    """NMF by Lee and Seung's updates on an (N, V) matrix, sparse or dense; settings as in `PointVEM`.

    Attributes (after `fit`):
        parameters_: (V, K) W, columns sum to 1; a component that explains nothing keeps its column.
        latent_: (N, K) H.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> NMF(2, random_state=0).fit(counts).latent_.round(2)
        array([[5., 0.],
               [5., 0.],
               [0., 5.],
               [0., 5.]])
    """

    family = Family(
        "NMF", "continuous", r"h \in \mathbb{R}_{\geq 0}^K", r"\prod_i \mathrm{Poisson}(x_i; [Wh]_i)", "3.15--3.19"
    )

    def check(self, X: Any) -> sp.csr_array:
        """Return X as a sparse array without stored zeros."""
        return checked_counts(X, self.family.name)

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return W's columns as topics; an NMF has no prior of weights, and Dirichlet(1), PLSA's, stands in."""
        return Topics(self.parameters_.T, np.ones(self.n_components), vocabulary)

    def start(self, data: sp.csr_array, random: np.random.Generator) -> Floats:
        """Return W with random columns that sum to 1, (V, K)."""
        W = random.random((data.shape[1], self.n_components)) + 0.1  # no word starts near probability 0
        return np.asarray(W / W.sum(axis=0))

    def ve_step(self, data: sp.csr_array, parameters: Floats, latent: Floats | None = None) -> Floats:
        """Return H after one update 3.19, from `latent` or, at first, from equal shares of each data case's total."""
        if latent is None:
            K = parameters.shape[1]
            latent = np.repeat(data.sum(axis=1)[:, None] / K, K, axis=1)
        return np.asarray(latent * (ratios(data, latent, parameters) @ parameters))

    def vm_step(self, data: sp.csr_array, latent: Floats, parameters: Floats) -> Floats:
        """Return W after one update 3.18."""
        return shares(parameters * (ratios(data, latent, parameters).T @ latent), parameters, axis=0)

    def objective(self, data: sp.csr_array, latent: Floats, parameters: Floats) -> float:
        """Return equation 3.16 in nats; -inf where a positive entry has rate 0."""
        with np.errstate(divide="ignore"):
            logs = float(np.sum(data.data * np.log(products(data, latent, parameters))))
        return logs - float(latent.sum(axis=0) @ parameters.sum(axis=0)) - float(np.sum(gammaln(data.data + 1.0)))
