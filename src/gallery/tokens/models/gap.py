r"""GaP, the gamma-Poisson model, and its spike, by Gibbs sampling (Murphy 2012, section 27.2.4; Canny 2004).

    n_iv ~ Poi(sum_k b_vk z_ik)                                                                    (27.16)
    z_ik ~ Ga(alpha_k, beta_k), beta_k a rate                                                      (27.15)
    z_ik = 0 with probability rho_k, as above otherwise: the conditional GaP                       (27.17)
    b_.k ~ Dir(gamma): columns sum to 1, so that z_ik is the expected number of tokens of component k in document i.

Augmentation. n_iv = sum_k c_ivk with independent c_ivk ~ Poi(b_vk z_ik). Given the counts c the parts separate:

    c_iv | z, b   = Mu(n_iv, ∝ b_vk z_ik)
    b_.k | c      = Dir(gamma + c_vk),                                     c_vk = sum_i c_ivk
    z_ik | c      = Ga(alpha_k + c_ik, beta_k + 1) where c_ik = sum_v c_ivk > 0;
    z_ik | c      = 0 with probability rho / (rho + (1 - rho) (beta / (beta + 1))^alpha) where c_ik = 0, else as above

(index k left out in the last line, whose bracket is the gamma's probability of no token).

Given their sum the Poissons are multinomial, so GaP with equal beta_k is, given L, the multinomial PCA of 27.12 with
Dir(alpha), times a negative binomial length (Buntine and Jakulin 2006); `heldout.evaluators.count_polynomial` has the
exact likelihood. `fold_in` repeats the degenerate E step

    z_k <- (alpha_k + z_k sum_v b_vk n_v / r_v) / (beta_k + 1),     r = B z,

which raises log p(n, log z | b); at alpha = beta = 0 it is Lee and Seung's update, the one of `heldout.models.nmf`.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gallery.tokens.models.lda_gibbs import GibbsChain
from heldout.errors import InputError
from heldout.models.estimator import checked_counts, estimator
from heldout.models.sparse_products import ratios
from heldout.typing import Floats


def draw_z(in_document: Floats, alpha: Floats, beta: Floats, rho: Floats, random: np.random.Generator) -> Floats:
    """Draw z, (D, K), given c_ik, (D, K), and the (K,) shapes, rates and probabilities of the spike; see the module."""
    z = random.standard_gamma(alpha + in_document) / (beta + 1.0)
    spike = rho / (rho + (1.0 - rho) * (beta / (beta + 1.0)) ** alpha)
    z[(in_document == 0.0) & (random.random(z.shape) < spike)] = 0.0
    return z


def fold_in(
    X: sp.sparray | NDArray[Any],
    b: Floats,
    alpha: Floats,
    beta: Floats,
    *,
    iterations: int = 100,
) -> Floats:
    """Return z, (D, K), after repetitions of the degenerate E step; see the module.

    X are (D, V) counts, not negative, b (K, V) with rows that sum to 1, alpha and beta (K,) shapes and rates, both 0
    for NMF. The start is equal shares of each document's tokens, and at least the prior's.
    """
    counts = checked_counts(X, "GaP", empty=True)
    shares = np.repeat(np.asarray(counts.sum(axis=1))[:, None] / len(b), len(b), axis=1)
    z = (alpha + shares) / (beta + 1.0)
    for _ in range(iterations):
        z = (alpha + z * (ratios(counts, z, b.T) @ b.T)) / (beta + 1.0)
    return np.asarray(z)


@estimator
class GaP(GibbsChain):
    """GaP, or with a spike the conditional GaP, by Gibbs sampling; other arguments and attributes as in `GibbsChain`.

    Args:
        alpha: shape of the gammas, one number.
        beta: rate of the gammas; None is K alpha (1 - rho) over the documents' mean length, whose expectation is then
            the model's.
        rho: probability of the spike, in [0, 1).

    Attributes (after `fit`):
        alpha_, beta_, rho_: (K,) each, as `heldout.evaluators.count_polynomial.gap_marginal` takes them.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = GaP(2, alpha=0.5, sweeps=50, random_state=0).fit(counts)
        >>> model.beta_  # expects 5 tokens to a document
        array([0.2, 0.2])
    """

    name = "GaP"

    alpha: float = 0.5
    beta: float | None = None
    rho: float = 0.0

    def prepare(self, counts: sp.csr_array) -> None:
        """Set alpha_, beta_ and rho_; raises InputError for a setting out of range."""
        K = self.n_components
        beta = K * self.alpha * (1.0 - self.rho) * counts.shape[0] / counts.sum() if self.beta is None else self.beta
        positive = all(0.0 < value < np.inf for value in (self.alpha, beta, self.gamma))
        if not (positive and K >= 1 and self.sweeps >= 1 and 0.0 <= self.rho < 1.0):
            raise InputError(
                f"GaP: {K} components, {self.sweeps} sweeps, alpha {self.alpha}, beta {self.beta}, gamma {self.gamma},"
                f" rho {self.rho}; these must be at least 1, positive and finite, and in [0, 1)"
            )
        self.alpha_, self.beta_, self.rho_ = np.full(K, self.alpha), np.full(K, float(beta)), np.full(K, self.rho)

    def draw_weights(self, in_document: Floats, random: np.random.Generator) -> Floats:
        """Draw z, (D, K)."""
        return draw_z(in_document, self.alpha_, self.beta_, self.rho_, random)
