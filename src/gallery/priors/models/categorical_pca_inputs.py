r"""Categorical PCA with inputs at the maximum of its likelihood, by quadrature (Murphy 2012, 27.73 and 27.74).

    z_i = V u_i + e,     e ~ N(0, I),     y_il ~ Cat(softmax(W z_i + b)).

With the nodes e_j and weights w_j of the Gauss-Hermite rule the likelihood is that of a mixture, and L-BFGS maximises

    sum_i log sum_j w_j exp[ x_i' eta_ij - n_i lse(eta_ij) ] - (penalty / 2) ||W||^2 - (input_penalty / 2) ||V||^2,

eta_ij = W (V u_i + e_j) + b. A bag of tokens only, and few components: the nodes grow as their power. The variational
EM of `gallery.tokens.models.categorical_pca` shrinks W, and with it what e changes. With e = 0 it is a network with one
hidden layer (`gallery.priors.models.mr_lda.SoftmaxNetwork`), which has the same parameters and priors.

Many tokens make a posterior narrower than the distance of the nodes, whose sum then overstates the integral: while a
rule of twice as many nodes moves it at the maximum by more than `SETTLED` nats per token, L-BFGS goes on with that one.
"""

import itertools
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from gallery.tokens.models.categorical_pca import START, CategoricalPCA
from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.typing import Floats

NODES = {1: (16, 32, 64, 128), 2: (10, 20, 40)}  # nodes per axis, by K; the last only checks the one before
SETTLED = 1e-4  # nats per token


@estimator
class CategoricalPCAInputsByQuadrature(CategoricalPCA):
    """Categorical PCA with inputs, of one or two components, at the maximum of its penalised likelihood.

    L-BFGS ends after `iterations`; `objective_` is (1,), nats, by the rule that the fit uses. All else is as of
    `CategoricalPCA`.
    """

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None, *, inputs: Floats | None = None) -> Self:  # noqa: ARG002
        """Fit to (N, C) counts X given (N, D) inputs.

        Raises:
            InputError: for bad counts, inputs that are missing or do not fit, a setting out of range, or documents with
                so many tokens that no rule settles.
        """
        K = self.n_components
        x = self._check(X)
        if K not in NODES or self.blocks is not None or inputs is None:
            raise InputError("categorical PCA with inputs by quadrature: give 1 or 2 components, one block, and inputs")
        self._check_inputs(inputs, len(x))
        self.sizes_ = (x.shape[1],)
        (N, C), D, n = x.shape, inputs.shape[1], x.sum(axis=1)
        ends = (K * D, K * D + C * K)

        def parts(w: Floats) -> tuple[Floats, Floats, Floats]:
            V, W, b = np.split(w, ends)
            return V.reshape(K, D), W.reshape(C, K), b

        def loss(w: Floats, e: Floats, log_w: Floats) -> tuple[float, Floats]:
            V, W, b = parts(w)
            centre = inputs @ V.T
            logits, turned = centre @ W.T + b, e @ W.T
            joint, lse = np.empty((N, len(e))), np.empty((N, len(e)))
            for j, shift in enumerate(turned):
                eta = logits + shift
                lse[:, j] = logsumexp(eta, axis=1)
                joint[:, j] = (x * eta).sum(axis=1) - n * lse[:, j] + log_w[j]
            value = logsumexp(joint, axis=1)
            r = np.exp(joint - value[:, None])
            grad_logits, grad_W = np.zeros_like(logits), np.zeros_like(W)
            for j, shift in enumerate(turned):
                residual = r[:, [j]] * (x - n[:, None] * np.exp(logits + shift - lse[:, [j]]))
                grad_logits += residual
                grad_W += residual.sum(axis=0)[:, None] * e[j]
            grad_W += grad_logits.T @ centre - self.penalty * W
            grad_V = (grad_logits @ W).T @ inputs - self.input_penalty * V
            total = float(value.sum()) - 0.5 * self.penalty * float((W**2).sum())
            total -= 0.5 * self.input_penalty * float((V**2).sum())
            return -total, -np.concatenate([grad_V.ravel(), grad_W.ravel(), grad_logits.sum(axis=0)])

        random, shares = np.random.default_rng(self.random_state), x.sum(axis=0) + 1.0
        start = np.concatenate([START * random.standard_normal(K * D + C * K), np.log(shares / shares.sum())])
        options = {"maxiter": self.iterations}
        for rule, finer in itertools.pairwise(_rule(K, nodes) for nodes in NODES[K]):
            optimum = minimize(loss, start, args=rule, jac=True, method="L-BFGS-B", options=options)
            start = optimum.x
            if abs(loss(start, *finer)[0] - optimum.fun) <= SETTLED * n.sum():
                self.input_weights_, self.weights_, self.bias_ = parts(start)
                self.objective_ = np.array([-optimum.fun])
                return self
        raise InputError(
            f"categorical PCA with inputs by quadrature: {NODES[K][-2]} nodes per axis do not settle on documents of"
            f" {n.mean():.0f} tokens; take shorter ones, or variational EM"
        )


def _rule(K: int, nodes: int) -> tuple[Floats, Floats]:
    """Return the nodes of the Gauss-Hermite rule, (J, K), and the logarithms of their weights, (J,)."""
    axis, weight = np.polynomial.hermite_e.hermegauss(nodes)
    e = np.stack(np.meshgrid(*[axis] * K, indexing="ij"), axis=-1).reshape(-1, K)
    log_w = np.log(np.stack(np.meshgrid(*[weight] * K, indexing="ij"), axis=-1)).sum(axis=-1).ravel()
    return e, log_w - logsumexp(log_w)
