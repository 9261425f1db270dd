r"""Multinomial regression LDA, a mixture of experts (Law et al. 2010; Murphy 2012, equations 27.68 to 27.70).

A document's weights are a function of its inputs x_i, (D,):

    pi_i = softmax(W x_i),     y_il ~ sum_k pi_ik b_k,     W is (K, D),                              (27.68, 27.69)

so that its tokens are independent: log p(y_i | x_i) = sum_l log sum_k pi_ik b_k[y_il] (27.70). Nothing is folded in
that could be fitted to the tokens; that score is the likelihood.

EM. With r_ivk ∝ pi_ik b_vk and m_ik = sum_v n_iv r_ivk, b_vk ∝ gamma + sum_i n_iv r_ivk, and W is moved by L-BFGS
towards the maximum of

    sum_ik m_ik log softmax(W x_i)_k - (penalty / 2) ||W||^2,

as far as `regression_iterations` go. The objective, log-likelihood + gamma sum_vk log b_vk - (penalty / 2) ||W||^2,
never falls.

In two steps, as Law et al. suggest: LDA of the tokens alone, by collapsed Gibbs sampling, then the same regression of
its weights pi_i on x_i, each document weighted by its length.

With as many topics as words and b = I each word is predicted from the inputs alone: multinomial regression.

A network with one hidden layer of K linear units and a softmax output, p(y_il | x_i) = softmax(U V x_i + u_0), adds
logits where this adds probabilities; `SoftmaxNetwork` is that, at the maximum of its likelihood with Gaussian priors.
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from gallery.priors.models.dmr import checked_covariates
from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.lda import LDA
from heldout.typing import Floats

TINY = 1e-300


def regression(targets: Floats, x: Floats, penalty: float, start: Floats, iterations: int) -> Floats:
    """Return W, (K, D), of multinomial regression of (N, K) targets, not negative, on (N, D) inputs, by L-BFGS."""
    totals = targets.sum(axis=1, keepdims=True)

    def loss(w: Floats) -> tuple[float, Floats]:
        W = w.reshape(start.shape)
        log_pi = log_softmax(x @ W.T, axis=1)
        value = float((targets * log_pi).sum()) - 0.5 * penalty * float((W**2).sum())
        gradient = (targets - totals * np.exp(log_pi)).T @ x - penalty * W
        return -value, -gradient.ravel()

    optimum = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    W: Floats = optimum.x.reshape(start.shape)
    return W


@estimator
class _OnInputs(Estimator):
    """Base class of models of tokens given inputs: a penalty on the inputs' weights, and the likelihood."""

    penalty: float = 1.0

    def probabilities(self, x: Floats) -> Floats:
        """Return p(y | x_i), (N, V), of (N, D) inputs."""
        raise NotImplementedError

    def log_likelihood(self, X: sp.sparray | NDArray[Any], x: Floats) -> Floats:
        """Return log p(y_i | x_i), (N,) nats, of (N, V) counts given (N, D) inputs (27.70)."""
        counts = checked_counts(X, "tokens given inputs", empty=True).toarray()
        inputs = checked_covariates(x, len(counts), "tokens given inputs")
        result: Floats = (counts * np.log(np.maximum(self.probabilities(inputs), TINY))).sum(axis=1)
        return result

    def _checked(self, X: sp.sparray | NDArray[Any], x: Floats, **positive: float) -> tuple[Floats, Floats]:
        name = type(self).__name__
        counts = checked_counts(X, name).toarray()
        if self.n_components < 1 or not all(0.0 < value < np.inf for value in (self.penalty, *positive.values())):
            raise InputError(
                f"{name}: {self.n_components} components, penalty {self.penalty}, {positive}; all must be positive"
            )
        return counts, checked_covariates(x, len(counts), name)


@estimator
class MRLDA(_OnInputs):
    """Multinomial regression LDA.

    Args:
        n_components: K.
        penalty: precision of a Gaussian prior of W.
        gamma: added to the expected counts of b; in two steps the Dirichlet parameter of b.
        alpha: in two steps, the Dirichlet parameter of LDA's weights.
        two_steps: whether LDA is fitted first.
        sweeps: of its Gibbs sampling.
        iterations: of EM, at most.
        regression_iterations: of L-BFGS, in an iteration of EM and, thirtyfold, in two steps.
        tolerance: stop after an iteration that raises the objective by less than this many nats per token.
        random_state: generator of the random start, or of the chain.

    Attributes (after `fit`):
        components_: (K, V), b; weights_: (K, D), W.
        objective_: nats, after each iteration of EM; none in two steps.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> x = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
        >>> model = MRLDA(2, random_state=0).fit(counts, x)
        >>> bool(np.all(np.diff(model.objective_) > -1e-9))
        True
    """

    gamma: float = 0.1
    alpha: float = 0.1
    two_steps: bool = False
    sweeps: int = 200
    iterations: int = 100
    regression_iterations: int = 3
    tolerance: float = 1e-5

    def fit(self, X: sp.sparray | NDArray[Any], y: Floats) -> Self:
        """Fit (N, V) counts X given (N, D) inputs y; raises InputError for bad ones, or a setting out of range."""
        counts, x = self._checked(X, y, gamma=self.gamma, alpha=self.alpha)
        K, random = self.n_components, np.random.default_rng(self.random_state)
        self.weights_, tokens = np.zeros((K, x.shape[1])), float(counts.sum())
        if self.two_steps:
            lda = LDA(K, alpha=self.alpha, beta=self.gamma, sweeps=self.sweeps, random_state=random).fit(counts)
            pi = lda.document_topics_ * counts.sum(axis=1, keepdims=True)
            self.weights_ = regression(pi, x, self.penalty, self.weights_, 30 * self.regression_iterations)
            self.components_, self.objective_ = lda.components_, np.zeros(0)
            return self
        self.components_ = random.dirichlet(np.ones(counts.shape[1]), size=K)
        history: list[float] = []
        for _ in range(self.iterations):
            pi = self.weights(x)
            ratio = counts / np.maximum(pi @ self.components_, TINY)
            m, word_counts = pi * (ratio @ self.components_.T), self.components_ * (pi.T @ ratio)
            self.components_ = (word_counts + self.gamma) / (word_counts + self.gamma).sum(axis=1, keepdims=True)
            self.weights_ = regression(m, x, self.penalty, self.weights_, self.regression_iterations)
            history.append(self._objective(counts, x))
            if len(history) > 1 and history[-1] - history[-2] < self.tolerance * tokens:
                break
        self.objective_ = np.array(history)
        return self

    def weights(self, x: Floats) -> Floats:
        """Return pi_i, (N, K), of (N, D) inputs (27.68)."""
        return np.asarray(np.exp(log_softmax(x @ self.weights_.T, axis=1)))

    def probabilities(self, x: Floats) -> Floats:
        """Return p(y | x_i), (N, V), of (N, D) inputs."""
        return np.asarray(self.weights(x) @ self.components_)

    def _objective(self, counts: Floats, x: Floats) -> float:
        prior = self.gamma * np.log(self.components_).sum() - 0.5 * self.penalty * (self.weights_**2).sum()
        return float((counts * np.log(np.maximum(self.probabilities(x), TINY))).sum() + prior)


@estimator
class MultinomialRegression(_OnInputs):
    """Every token predicted from the inputs alone, softmax(W x_i): as many topics as words, b = I.

    Arguments and attributes are as in `MRLDA`, without topics.

    Examples:
        >>> counts, x = np.array([[3, 1], [1, 3]]), np.array([[1.0, 0.0], [1.0, 1.0]])
        >>> MultinomialRegression(penalty=1e-6).fit(counts, x).probabilities(x).round(2)
        array([[0.75, 0.25],
               [0.25, 0.75]])
    """

    iterations: int = 500

    def fit(self, X: sp.sparray | NDArray[Any], y: Floats) -> Self:
        """Fit (N, V) counts X given (N, D) inputs y; raises InputError for bad ones, or a setting out of range."""
        counts, x = self._checked(X, y)
        start = np.zeros((counts.shape[1], x.shape[1]))
        self.weights_ = regression(counts, x, self.penalty, start, self.iterations)
        return self

    def probabilities(self, x: Floats) -> Floats:
        """Return p(y | x_i), (N, V), of (N, D) inputs."""
        return np.asarray(np.exp(log_softmax(x @ self.weights_.T, axis=1)))


@estimator
class SoftmaxNetwork(_OnInputs):
    """A network with K linear hidden units, softmax(U V x_i + u_0), by L-BFGS.

    Args:
        n_components: K.
        penalty: precision of the Gaussian prior of V.
        output_penalty: of U.
        iterations: of L-BFGS, at most.
        random_state: generator of the random start.

    Attributes (after `fit`):
        input_weights_: (K, D), V; weights_: (C, K), U; bias_: (C,), u_0.
        objective_: log-likelihood less penalties, nats.
    """

    output_penalty: float = 1.0
    iterations: int = 500

    def fit(self, X: sp.sparray | NDArray[Any], y: Floats) -> Self:
        """Fit (N, C) counts X given (N, D) inputs y; raises InputError for bad ones, or a setting out of range."""
        counts, x = self._checked(X, y, output_penalty=self.output_penalty)
        C, D, K = counts.shape[1], x.shape[1], self.n_components
        random, totals = np.random.default_rng(self.random_state), counts.sum(axis=1, keepdims=True)
        ends = (K * D, K * D + C * K)

        def parts(w: Floats) -> tuple[Floats, Floats, Floats]:
            V, U, bias = np.split(w, ends)
            return V.reshape(K, D), U.reshape(C, K), bias

        def loss(w: Floats) -> tuple[float, Floats]:
            V, U, bias = parts(w)
            hidden = x @ V.T
            log_p = log_softmax(hidden @ U.T + bias, axis=1)
            value = float((counts * log_p).sum())
            value -= 0.5 * self.penalty * float((V**2).sum()) + 0.5 * self.output_penalty * float((U**2).sum())
            grad_logits = counts - totals * np.exp(log_p)
            grad_V = (grad_logits @ U).T @ x - self.penalty * V
            grad_U = grad_logits.T @ hidden - self.output_penalty * U
            return -value, -np.concatenate([grad_V.ravel(), grad_U.ravel(), grad_logits.sum(axis=0)])

        shares = counts.sum(axis=0) + 1.0
        start = np.concatenate([0.1 * random.standard_normal(K * D + C * K), np.log(shares / shares.sum())])
        optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": self.iterations})
        self.input_weights_, self.weights_, self.bias_ = parts(optimum.x)
        self.objective_ = -float(optimum.fun)
        return self

    def probabilities(self, x: Floats) -> Floats:
        """Return p(y | x_i), (N, C), of (N, D) inputs."""
        return np.asarray(np.exp(log_softmax(x @ self.input_weights_.T @ self.weights_.T + self.bias_, axis=1)))
