r"""Dirichlet multinomial regression (Mimno and McCallum 2008; Murphy 2012, equations 27.71 and 27.72).

LDA whose prior of a document's weights depends on its covariates x_i, (D,), a constant 1 among them:

    alpha_i = exp(W x_i),     pi_i ~ Dir(alpha_i),     W is (K, D).                                  (27.71, 27.72)

Stochastic EM: collapsed Gibbs sweeps (`gallery.priors.models.lda_own_priors`), and in between L-BFGS on W, given the
counts c_ik of the last sample, with A_i = sum_k alpha_ik and the Gaussian prior w_kd ~ N(0, sigma_d^2), under which

    l(W) = sum_i [ logG(A_i) - logG(A_i + L_i) + sum_k logG(alpha_ik + c_ik) - logG(alpha_ik) ]
           - sum_kd w_kd^2 / (2 sigma_d^2),
    dl/dw_kd = sum_i x_id alpha_ik [ psi(A_i) - psi(A_i + L_i) + psi(alpha_ik + c_ik) - psi(alpha_ik) ]
               - w_kd / sigma_d^2

has its maximum (logG is log Gamma, psi its derivative). The chapter names no prior of W; this is that of Mimno and
McCallum, of which the first covariate, the constant, has a wider one. With the constant alone DMR is LDA with an
asymmetric alpha = exp(w).
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import digamma

from gallery.priors.models.lda_own_priors import AllTopics, log_assignments
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats

BURN_IN = 4  # W is re-estimated after the first 1 / BURN_IN of the sweeps
LARGEST = 30.0  # bound on |log alpha|


@estimator
class DMR(Estimator):
    """Dirichlet multinomial regression by stochastic EM.

    Args:
        n_components: K.
        alpha: exp of the constant's weight at the start, one number.
        gamma: the Dirichlet parameter of b, one number.
        sigma, sigma_constant: standard deviations of the weights' prior, and of the first covariate's.
        sweeps: Gibbs sweeps.
        optimise_every: sweeps between two maximisations over W, after the first quarter of the sweeps; the last comes
            after the last sweep. 0 keeps W.
        iterations: of L-BFGS, at most.
        random_state: the chain's generator, or its seed.

    Attributes (after `fit`):
        components_: (K, V), E[b | q, y] of the last sample.
        weights_: (K, D), W.
        log_joint_: log p(y, q | W), nats, of the last sample.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> x = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])  # a constant, and a covariate
        >>> model = DMR(2, sweeps=50, optimise_every=10, random_state=0).fit(counts, x)
        >>> (model.priors(x)[0] > model.priors(x)[3]).tolist() in ([True, False], [False, True])
        True
    """

    alpha: float = 0.1
    gamma: float = 0.1
    sigma: float = 1.0
    sigma_constant: float = 10.0
    sweeps: int = 200
    optimise_every: int = 20
    iterations: int = 30

    def fit(self, X: sp.sparray | NDArray[Any], y: Floats) -> Self:
        """Run the chain on (N, V) counts X and (N, D) covariates y, whose first column is 1.

        Raises:
            InputError: for bad counts, covariates that do not fit, or a setting out of range.
        """
        self._check()
        x = checked_covariates(y, X.shape[0], "DMR")
        if not np.all(x[:, 0] == 1.0):
            raise InputError("DMR: the first covariate must be the constant 1 of every document")
        self.weights_ = np.zeros((self.n_components, x.shape[1]))
        self.weights_[:, 0] = np.log(self.alpha)
        chain = AllTopics(X, self.priors(x), self.gamma, "DMR")
        random, burn_in = np.random.default_rng(self.random_state), self.sweeps // BURN_IN
        for sweep in range(1, self.sweeps + 1):
            chain.sweep(random)
            due = self.optimise_every and sweep > burn_in and (sweep - burn_in) % self.optimise_every == 0
            if due or (self.optimise_every and sweep == self.sweeps):
                self.weights_ = self.best_weights(chain.in_document, x)
                chain.alphas = self.priors(x)
        self.components_, self.log_joint_ = chain.components, chain.log_joint()
        return self

    def priors(self, x: Floats) -> Floats:
        """Return alpha_i = exp(W x_i), (N, K), of (N, D) covariates (27.71)."""
        return np.exp(np.clip(x @ self.weights_.T, -LARGEST, LARGEST))

    def best_weights(self, in_document: Floats, x: Floats) -> Floats:
        """Return W, (K, D), at the maximum of l given the counts c_ik, (N, K), from `weights_`; see the module."""
        precision = np.full(x.shape[1], 1.0 / self.sigma**2)
        precision[0] = 1.0 / self.sigma_constant**2
        shape, rows = self.weights_.shape, in_document.sum(axis=1)

        def loss(w: Floats) -> tuple[float, Floats]:
            W = w.reshape(shape)
            logits = x @ W.T
            alphas = np.exp(np.clip(logits, -LARGEST, LARGEST))
            total = alphas.sum(axis=1)
            total_terms = digamma(total) - digamma(total + rows)
            slope = alphas * (total_terms[:, None] + digamma(alphas + in_document) - digamma(alphas))
            slope[np.abs(logits) > LARGEST] = 0.0
            value = log_assignments(in_document, alphas).sum() - 0.5 * float((precision * W**2).sum())
            return -value, -(slope.T @ x - precision * W).ravel()

        optimum = minimize(
            loss, self.weights_.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": self.iterations}
        )
        best: Floats = optimum.x.reshape(shape)
        return best

    def _check(self) -> None:
        positive = (self.alpha, self.gamma, self.sigma, self.sigma_constant)
        least = min(self.n_components, self.sweeps, self.iterations)
        if least < 1 or self.optimise_every < 0 or not all(0.0 < value < np.inf for value in positive):
            raise InputError(
                f"DMR: {self.n_components} topics, {self.sweeps} sweeps, W every {self.optimise_every},"
                f" {self.iterations} iterations, alpha, gamma and sigmas {positive}; these must be at least 1, 1, 0, 1,"
                " positive and finite"
            )


def checked_covariates(x: Floats, documents: int, model: str) -> Floats:
    """Return (N, D) covariates as float64; raises InputError for another shape, or for values that are not finite."""
    checked = np.ascontiguousarray(x, dtype=np.float64)
    if checked.ndim != 2 or len(checked) != documents or checked.shape[1] == 0:
        raise InputError(f"{model}: covariates of shape {checked.shape}; give a row to each of {documents} documents")
    if not np.isfinite(checked).all():
        raise InputError(f"{model}: a covariate is undefined or infinite")
    return checked
