r"""The correlated topic model by variational EM (Blei and Lafferty 2007; Murphy 2012, equations 27.50 to 27.55).

    z_i ~ N(mu, Sigma),     pi_i = softmax(z_i),     q_il ~ Cat(pi_i),     y_il ~ Cat(b_q_il),       (27.51 to 27.54)

z of K numbers. With q(z_i) = N(lambda_i, diag nu_i^2), the best q(q_il) given it, which is proportional to
exp(lambda_ik) b_vk, and the tangent of log at zeta_i, log sum_k e^z_k <= sum_k e^z_k / zeta + log zeta - 1, whose best
zeta_i is sum_k exp(lambda_ik + nu_ik^2 / 2), the likelihood of document i of L_i tokens is bounded from below by

    L_i = -1/2 (lambda - mu)' P (lambda - mu) - 1/2 sum_k P_kk nu_k^2 + 1/2 log |P| + 1/2 sum_k log nu_k^2 + K / 2
          + sum_v n_v log sum_k e^lambda_k b_vk - L_i log sum_k e^(lambda_k + nu_k^2 / 2),        P = Sigma^-1.

A pass over the tokens takes r and with it the expected counts m and n,

    m_k = sum_v n_v r_vk,      n_vk = sum_i n_iv r_ivk,      r_vk = e^lambda_k b_vk / sum_j e^lambda_j b_vj.

VE step: the r fixed, m' lambda takes the place of the tokens' sum in L_i, which touches it from below. lambda goes a
Newton step along the gradient -P (lambda - mu) + m - L_i t, with the curvature P + L_i (diag t - t t') and t =
softmax(lambda + nu^2 / 2); nu, at the zeta before, goes two of Newton's steps for

    nu_k^2 (P_kk + L_i e^(lambda_k + nu_k^2 / 2) / zeta) = 1,

which is convex in nu_k^2. Both are halved until the bound rises. One step a pass is enough, for the next pass goes on
from it. VM step:

    mu = mean lambda_i,   Sigma = mean [(lambda_i - mu)(lambda_i - mu)' + diag nu_i^2],   b_vk ∝ gamma + n_vk.

The objective, sum_i L_i + gamma sum_vk log b_vk, never falls.

Adding a constant to all of z_i changes no pi_i: mu and Sigma are known up to that, and the likelihood takes differences
(`heldout.topics.LogisticNormalTopics.of`). Of the precision, edges between topics are the partial correlations
-P_jk / sqrt(P_jj P_kk); small ones are pruned (section 27.4.1).

A random effects mixture of experts, z_i = W_i x_i with Gaussian W_i, has z_i ~ N(M x_i, Sigma x_i' S x_i) where the
rows of W_i have the covariance Sigma, the columns S: with x_i = 1 it is this model.
"""

from dataclasses import field
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp

from gallery.priors.models.ctm_kernel import ascend, topics_step
from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.token_shares import Tokens, padded, row_counts, token_shares
from heldout.topics import LogisticNormalTopics
from heldout.typing import Floats

START_VARIANCE = 1.0  # variance of z at the start
FEWEST_SHARE = 1e-3  # share of documents that gain from a step; below it inference ends
STEPS = 100  # largest number of inference steps
GAIN = 1e-3  # nats; smaller rises of a document's bound are no gain


class Posterior(NamedTuple):
    """Means lambda and variances nu^2 of z, (D, K), and the (D,) bound of every document, nats."""

    mean: Floats
    variance: Floats
    bound: Floats


class _State(NamedTuple):
    """Posteriors of D documents: lambda, nu^2 and t, (D, K), log zeta, (D,), and exp(lambda) / its highest, padded."""

    mean: Floats
    variance: Floats
    shares: Floats
    log_sums: Floats
    theta: Floats

    @classmethod
    def empty(cls, D: int, K: int) -> Self:
        """Return a state of arrays that are still to be written."""
        return cls(np.empty((D, K)), np.empty((D, K)), np.empty((D, K)), np.empty(D), np.zeros((D, padded(K))))

    @classmethod
    def start(cls, mean: Floats, variance: Floats, D: int) -> Self:
        """Return the state of D documents that all have the same (K,) lambda and nu^2."""
        logits, theta = mean + variance / 2.0, np.zeros(padded(len(mean)))
        log_sum = logsumexp(logits)
        theta[: len(mean)] = np.exp(mean - mean.max())
        shares = np.exp(logits - log_sum)
        rows = np.tile(mean, (D, 1)), np.tile(variance, (D, 1)), np.tile(shares, (D, 1))
        return cls(*rows, np.full(D, log_sum), np.tile(theta, (D, 1)))


@estimator
class CTM(Estimator):
    """The correlated topic model by variational EM.

    Args:
        n_components: K, 2 or more.
        gamma: added to the expected counts of b.
        iterations: passes over the tokens, each of a VE and a VM step, at most.
        tolerance: stop after an iteration that raises the objective by less than this many nats per token.
        fixed: whether the topics stay as they start, and only mu and Sigma are fitted.
        random_state: generator of the random start.

    Attributes (after `fit`):
        components_: (K, V), b.
        mean_: (K,), mu; covariance_: (K, K), Sigma.
        posterior_: a `Posterior`, of the training documents.
        objective_: nats, at the start and after every iteration.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = CTM(2, random_state=0).fit(counts)
        >>> bool(np.all(np.diff(model.objective_) > -1e-8))
        True
    """

    n_components: int = field(default=10, kw_only=False)
    gamma: float = 0.1
    iterations: int = 200
    tolerance: float = 1e-5
    fixed: bool = False

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None, *, components: Floats | None = None) -> Self:  # noqa: ARG002
        """Fit to (D, V) counts X, starting from the topics `components`, (K, V), or from random ones.

        Raises:
            InputError: for bad counts, topics that do not fit, or a setting out of range.
        """
        K, V = self.n_components, X.shape[1]
        if K < 2 or self.iterations < 1 or not 0.0 < self.gamma < np.inf:
            raise InputError(
                f"CTM: {K} topics, {self.iterations} iterations, gamma {self.gamma}; these must be at least 2, 1, and"
                " positive"
            )
        if self.fixed and components is None:
            raise InputError("CTM: fixed topics have to be given, as components")
        if components is not None and components.shape != (K, V):
            raise InputError(f"CTM: topics of shape {components.shape} for {K} topics and {V} words")
        x, random = self._tokens(X), np.random.default_rng(self.random_state)
        if not x.lengths.any():
            raise InputError("CTM: the documents hold no tokens")
        start = random.gamma(1.0, 1.0, (K, V)) + 1.0 if components is None else components
        b = self._rows(start / start.sum(axis=1, keepdims=True))
        log_prior = 0.0 if self.fixed else self.gamma * float(np.log(b[:, :K]).sum())
        self.mean_, self.covariance_ = np.zeros(K), START_VARIANCE * np.eye(K)
        state, history = _State.start(self.mean_, np.diag(self.covariance_), len(x.lengths)), []
        counts = np.zeros_like(b)
        for iteration in range(self.iterations + 1):
            bound, ratios, following = self._step(x, b, state)
            history.append(float(bound.sum()) + log_prior)
            gained = history[-1] - history[-2] if iteration else np.inf
            if iteration == self.iterations or gained < self.tolerance * x.lengths.sum():
                break
            if not self.fixed:
                row_counts(x.row_starts, x.documents, x.places, ratios, state.theta, b, counts)
                b, counts = counts, b
                log_prior = self.gamma * topics_step(b, K, self.gamma)
            state = following
            self.mean_ = state.mean.mean(axis=0)
            centred = state.mean - self.mean_
            self.covariance_ = (centred.T @ centred + np.diag(state.variance.sum(axis=0))) / len(centred)
        self.components_ = np.ascontiguousarray(b[:, :K].T)
        self.posterior_, self.objective_ = Posterior(state.mean, state.variance, bound), np.array(history)
        return self

    def infer(self, X: sp.sparray | NDArray[Any]) -> Posterior:
        """Return the posterior of the (D, V) counts X after at most `STEPS`, from the prior's mean."""
        x = self._tokens(X)
        if X.shape[1] != self.components_.shape[1]:
            raise InputError(f"CTM: {X.shape[1]} words, but the topics have {self.components_.shape[1]}")
        b, previous = self._rows(self.components_), np.full(len(x.lengths), -np.inf)
        state = _State.start(self.mean_, np.diag(self.covariance_), len(previous))
        for _ in range(STEPS + 1):
            bound, _, following = self._step(x, b, state)
            result = Posterior(state.mean, state.variance, bound)
            if (bound - previous > GAIN).mean() < FEWEST_SHARE:
                break
            state, previous = following, bound
        return result

    def topics(self, vocabulary: tuple[str, ...]) -> LogisticNormalTopics:
        """Return b with its prior, as the evaluators take them."""
        return LogisticNormalTopics.of(self.components_, self.mean_, self.covariance_, vocabulary)

    def partial_correlations(self) -> Floats:
        """Return -P_jk / sqrt(P_jj P_kk) of z, (K, K), 1 on the diagonal."""
        P = np.linalg.inv(self.covariance_)
        scale = np.sqrt(np.diag(P))
        partial: Floats = -P / np.outer(scale, scale)
        np.fill_diagonal(partial, 1.0)
        return partial

    def _tokens(self, X: sp.sparray | NDArray[Any]) -> Tokens:
        return Tokens.of(checked_counts(X, "CTM", empty=True))

    def _rows(self, components: Floats) -> Floats:
        """Return topics as the kernels take them, (V, K) and padded."""
        b = np.zeros((components.shape[1], padded(len(components))))
        b[:, : len(components)] = components.T
        return b

    def _step(self, x: Tokens, b: Floats, state: _State) -> tuple[Floats, Floats, _State]:
        """Return the bounds (D,), the ratios of `token_shares` and the state after a VE step."""
        P = np.linalg.inv(self.covariance_)
        P = (P + P.T) / 2.0
        value, ratios, m = np.empty(len(x.lengths)), np.empty(len(x.rows)), np.empty_like(state.theta)
        token_shares(x.starts, x.rows, x.counts, state.theta, b, value, m, ratios)
        following = _State.empty(*state.mean.shape)
        ascend(P, self.mean_, m, x.lengths, *state[:4], *following, value)
        value += 0.5 * float(np.linalg.slogdet(P)[1]) + self.n_components / 2.0
        return value, ratios, following
