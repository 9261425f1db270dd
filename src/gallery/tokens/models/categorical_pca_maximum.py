r"""Categorical PCA at the maximum of its likelihood, or of its joint probability with a latent point for every case.

The bounds of `gallery.tokens.models.categorical_pca` have a curvature that, in a softmax over many words, is far above
p (1 - p): EM with them shrinks W, to 0 on documents, and takes short steps. Here neither has a bound, and L-BFGS
maximises.

EM with an exact E step (Murphy 2012, 27.10), of one or two components. With nodes z_j of weights w_j on a grid of N(0,
I) the likelihood is that of a mixture, and its gradient that of EM's expected log-likelihood, r_ij = p(z_j | x_i):

    sum_i log sum_j w_j p(x_i | z_j) - (penalty / 2) ||W||^2,
    in the logits at a node: sum_i r_ij x_i - (sum_i r_ij n_i) softmax(W z_j + b).

Many tokens make a posterior narrower than the grid's spacing: a fit whose sum a grid of half the spacing moves by more
than `SETTLED_PER_TOKEN`, a tenth of what the gallery acts on, is refused.

Degenerate EM, of any number of components, over W, b and m:

    sum_i [log p(x_i | m_i) - ||m_i||^2 / 2] - (penalty / 2) ||W||^2.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.typing import Floats

REACH = 4.5  # end of the grid in standard deviations of the prior; a share of 7e-6 of the prior lies beyond
SPACINGS = {1: 0.1, 2: 0.3}  # the grid's spacing, by K
CHECKED = 100  # cases that the grid is checked on, evenly spaced
SETTLED_PER_TOKEN = 1e-3  # nats
NEWTON_STEPS, HALVINGS = 100, 40
SETTLED = 1e-9  # nats; a mode is found when a Newton step would gain less


class _AtMaximum(CategoricalPCA):
    def _started(self, X: sp.sparray | NDArray[Any]) -> tuple[sp.csr_array | Floats, Floats]:
        """Initialise as `CategoricalPCA` does; return the counts and their sums over blocks."""
        start = CategoricalPCA(
            self.n_components, blocks=self.blocks, penalty=self.penalty, iterations=0, random_state=self.random_state
        ).fit(X)
        self.sizes_, self.weights_, self.bias_ = start.sizes_, start.weights_, start.bias_
        return self.counts_and_sums(X)

    def _maximise(self, gain: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
        """Return the parameters at the maximum of a function with its gradient."""

        def loss(parameters: Floats) -> tuple[float, Floats]:
            value, gradient = gain(parameters)
            return -value, -gradient

        options = {"maxiter": self.iterations, "ftol": self.tolerance}
        optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
        self.objective_ = np.array([-optimum.fun])
        result: Floats = optimum.x
        return result


@estimator
class CategoricalPCAByQuadrature(_AtMaximum):
    """Categorical PCA of one or two components at the maximum of its penalised likelihood.

    L-BFGS ends after `iterations`, or at a relative change of the objective of `tolerance`; `objective_` is (1,), nats,
    by the rule that the fit uses. All else is as of `CategoricalPCA`.
    """

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # type: ignore[override]  # noqa: ARG002
        """Fit to (N, C) counts X; raises InputError for bad counts, too many tokens, or a setting out of range."""
        K = self.n_components
        if K not in SPACINGS:
            raise InputError(f"categorical PCA by quadrature: {K} components; the rule takes 1 or 2")
        x, sums = self._started(X)
        z, log_w = _grid(K, SPACINGS[K])

        def gain(parameters: Floats) -> tuple[float, Floats]:
            W, b = parameters.reshape(-1, K + 1)[:, :K], parameters.reshape(-1, K + 1)[:, K]
            eta = z @ W.T + b
            lse = self._lse(eta)
            joint = x @ eta.T - sums @ lse.T + log_w
            value = logsumexp(joint, axis=1)
            r = np.exp(joint - value[:, None])
            node_gradients = (x.T @ r).T - self._spread(r.T @ sums) * np.exp(eta - self._spread(lse))
            gradient = np.column_stack([node_gradients.T @ z - self.penalty * W, node_gradients.sum(axis=0)])
            return float(value.sum()) - 0.5 * self.penalty * float((W**2).sum()), gradient.ravel()

        W = self._maximise(gain, np.column_stack([self.weights_, self.bias_]).ravel()).reshape(-1, K + 1)
        self.weights_, self.bias_ = np.ascontiguousarray(W[:, :K]), W[:, K].copy()
        few = np.unique(np.linspace(0, len(sums) - 1, CHECKED).astype(int))
        coarse, fine = (self._by_rule(x[few], sums[few], SPACINGS[K] / parts) for parts in (1, 2))
        off = abs(fine - coarse) / sums[few].sum()
        if off > SETTLED_PER_TOKEN:
            raise InputError(
                f"categorical PCA by quadrature: its grid is off by {off:.2g} nats per token on documents this long;"
                " take one component, or shorter documents"
            )
        return self

    def _by_rule(self, x: sp.csr_array | Floats, sums: Floats, spacing: float) -> float:
        """Return sum_i log p(x_i), nats, by the grid of a spacing."""
        z, log_w = _grid(self.n_components, spacing)
        return float(logsumexp(self.log_joint(x, sums, z) + log_w, axis=1).sum())


def _grid(K: int, spacing: float) -> tuple[Floats, Floats]:
    """Return the nodes of a grid of N(0, I), (J, K), and the logarithms of their weights, (J,)."""
    axis = np.arange(-REACH, REACH + spacing / 2.0, spacing)
    z = np.stack(np.meshgrid(*[axis] * K, indexing="ij"), axis=-1).reshape(-1, K)
    log_w = -0.5 * (z**2).sum(axis=1)
    return z, log_w - logsumexp(log_w)


@estimator
class CategoricalPCAOfPoints(_AtMaximum):
    """Categorical PCA at the maximum of the penalised joint probability, with a latent vector for every case.

    Arguments and attributes are as in `CategoricalPCAByQuadrature`, for any K.
    """

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # type: ignore[override]  # noqa: ARG002
        """Fit to (N, C) counts X; raises InputError for bad counts or a setting out of range."""
        x, sums = self._started(X)
        (C, K), N = self.weights_.shape, len(sums)
        each, ends = self._spread(sums), (C * K, C * K + C)

        def parts(parameters: Floats) -> tuple[Floats, Floats, Floats]:
            W, b, m = np.split(parameters, ends)
            return W.reshape(C, K), b, m.reshape(N, K)

        def gain(parameters: Floats) -> tuple[float, Floats]:
            W, b, m = parts(parameters)
            eta = m @ W.T + b
            lse = self._lse(eta)
            projected = x @ np.column_stack([W, b])
            value = float((projected[:, :K] * m).sum() + projected[:, K].sum() - (sums * lse).sum())
            value -= 0.5 * float((m**2).sum()) + 0.5 * self.penalty * float((W**2).sum())
            expected = np.exp(eta - self._spread(lse), out=eta)
            expected *= each
            grad_W = x.T @ m - expected.T @ m - self.penalty * W
            grad_b = np.asarray(x.sum(axis=0)) - expected.sum(axis=0)
            return value, np.concatenate([grad_W.ravel(), grad_b, (projected[:, :K] - expected @ W - m).ravel()])

        start = np.concatenate([self.weights_.ravel(), self.bias_, np.zeros(N * K)])
        self.weights_, self.bias_, _ = parts(self._maximise(gain, start))
        return self

    def modes(self, X: sp.sparray | NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the latent vectors m of (N, C) counts by Newton's method, (N, K), and log p(x_i | m_i), (N,) nats."""
        x, sums = self.counts_and_sums(X)
        W, b, K = self.weights_, self.bias_, self.n_components
        projected, each = x @ np.column_stack([W, b]), self._spread(sums)
        products = (W[:, :, None] * W[:, None, :]).reshape(len(W), K * K)

        def log_likelihood(z: Floats, eta: Floats) -> Floats:
            terms: Floats = (projected[:, :K] * z).sum(axis=1) + projected[:, K] - (sums * self._lse(eta)).sum(axis=1)
            return terms

        z = np.zeros((len(sums), K))
        eta = z @ W.T + b
        value = log_likelihood(z, eta)
        for _ in range(NEWTON_STEPS):
            p = self._softmax(eta)
            gradient = projected[:, :K] - (each * p) @ W - z
            means = np.stack([self._sums(p * W[:, k]) for k in range(K)], axis=-1)  # (N, R, K)
            curvature = np.eye(K) + ((each * p) @ products).reshape(-1, K, K)
            curvature -= np.einsum("nr,nrk,nrl->nkl", sums, means, means, optimize=True)
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            if not ((gradient * step).sum(axis=1) > SETTLED).any():
                break
            old_value = value - 0.5 * (z**2).sum(axis=1)
            for _ in range(HALVINGS):
                eta = (z + step) @ W.T + b
                raised = log_likelihood(z + step, eta)
                worse = raised - 0.5 * ((z + step) ** 2).sum(axis=1) < old_value
                if not worse.any():
                    break
                step[worse] *= 0.5
            z, value = z + step, raised
        return z, value
