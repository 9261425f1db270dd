r"""The correlated topic model by variational EM (Blei and Lafferty 2007; Murphy 2012, equations 27.50 to 27.55).

    z_i ~ N(mu, Sigma),     pi_i = softmax(z_i),     q_il ~ Cat(pi_i),     y_il ~ Cat(b_q_il),       (27.51 to 27.54)

z of K numbers. With q(z_i) = N(lambda_i, diag nu_i^2), the best q(q_il) given it, which is proportional to
exp(lambda_ik) b_vk, and the tangent of log at zeta_i, log sum_k e^z_k <= sum_k e^z_k / zeta + log zeta - 1, whose best
zeta_i is sum_k exp(lambda_ik + nu_ik^2 / 2), the likelihood of document i of L_i tokens is bounded from below by

    L_i = -1/2 (lambda - mu)' P (lambda - mu) - 1/2 sum_k P_kk nu_k^2 + 1/2 log |P| + 1/2 sum_k log nu_k^2 + K / 2
          + sum_v n_v log sum_k e^lambda_k b_vk - L_i log sum_k e^(lambda_k + nu_k^2 / 2),        P = Sigma^-1.

VE step, for all documents at once. lambda: Newton steps, halved until the bound rises, with the curvature
P + L_i (diag t - t t'), t = softmax(lambda + nu^2 / 2), of the concave part, and the gradient

    -P (lambda - mu) + m - L_i t,      m_k = sum_v n_v r_vk,      r_vk = e^lambda_k b_vk / sum_j e^lambda_j b_vj.

nu: at a fixed zeta it solves nu_k^2 (P_kk + L_i e^(lambda_k + nu_k^2 / 2) / zeta) = 1, a convex function of nu_k^2, by
Newton's method. VM step:

    mu = mean lambda_i,   Sigma = mean [(lambda_i - mu)(lambda_i - mu)' + diag nu_i^2],
    b_vk ∝ gamma + sum_i n_iv r_ivk.

The objective, sum_i L_i + gamma sum_vk log b_vk, never falls.

Adding a constant to all of z_i changes no pi_i: mu and Sigma are known up to that, and the likelihood takes differences
(`heldout.topics.LogisticNormalTopics.of`). Of the precision, edges between topics are the partial correlations
-P_jk / sqrt(P_jj P_kk); small ones are pruned (section 27.4.1).

A random effects mixture of experts, z_i = W_i x_i with Gaussian W_i, has z_i ~ N(M x_i, Sigma x_i' S x_i) where the
rows of W_i have the covariance Sigma, the columns S: with x_i = 1 it is this model.
"""

from dataclasses import field
from typing import Any, NamedTuple, Self

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.topics import LogisticNormalTopics
from heldout.typing import Floats, Ints

HALVINGS, NU_STEPS = 20, 12
START_VARIANCE = 1.0  # of z, at the start
FEWEST_SHARE = 1e-3  # of documents that gain from a Newton step, below which an E step ends
GAIN = 1e-3  # nats that a document gains


@nb.njit("void(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1],"
         " float64[:, ::1])", cache=True)  # fmt: skip
def _shares(starts, words, counts, theta, b, value, of_topics, of_words):  # type: ignore[no-untyped-def]
    """Write sum_v n_v log sum_k theta_k b_vk to value, (D,), m to of_topics, (D, K); add n r to of_words, (V, K)."""
    K = theta.shape[1]
    shares = np.empty(K)
    for d in range(theta.shape[0]):
        value[d] = 0.0
        of_topics[d] = 0.0
        for i in range(starts[d], starts[d + 1]):
            row, total = b[words[i]], 0.0
            for k in range(K):
                shares[k] = theta[d, k] * row[k]
                total += shares[k]
            value[d] += counts[i] * np.log(total)
            weight = counts[i] / total
            for k in range(K):
                of_topics[d, k] += weight * shares[k]
            if of_words.shape[0] > 0:
                for k in range(K):
                    of_words[words[i], k] += weight * shares[k]


class Posterior(NamedTuple):
    """Means lambda and variances nu^2 of z, (D, K), and the (D,) bound of every document, nats."""

    mean: Floats
    variance: Floats
    bound: Floats


class _Counts(NamedTuple):
    """Sparse (D, V) counts as the kernel takes them, and the lengths, (D,)."""

    starts: Ints
    words: Ints
    counts: Floats
    lengths: Floats

    @classmethod
    def of(cls, X: sp.sparray | NDArray[Any]) -> "_Counts":
        counts = checked_counts(X, "CTM", empty=True)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        return cls(counts.indptr.astype(np.int64), counts.indices.astype(np.int64), counts.data, lengths)


@estimator
class CTM(Estimator):
    """The correlated topic model by variational EM.

    Args:
        n_components: K, 2 or more.
        gamma: added to the expected counts of b.
        iterations: VE and VM steps, at most.
        tolerance: stop after an iteration that raises the objective by less than this many nats per token.
        ve_iterations: Newton steps of a VE step, at most.
        fixed: whether the topics stay as they start, and only mu and Sigma are fitted.
        random_state: generator of the random start.

    Attributes (after `fit`):
        components_: (K, V), b.
        mean_: (K,), mu; covariance_: (K, K), Sigma.
        posterior_: a `Posterior`, of the training documents.
        objective_: nats, of each iteration's VE step.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = CTM(2, random_state=0).fit(counts)
        >>> bool(np.all(np.diff(model.objective_) > -1e-8))
        True
    """

    n_components: int = field(default=10, kw_only=False)
    gamma: float = 0.1
    iterations: int = 50
    tolerance: float = 1e-4
    ve_iterations: int = 5
    fixed: bool = False

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None, *, components: Floats | None = None) -> Self:  # noqa: ARG002
        """Fit (D, V) counts X from the topics `components`, (K, V), or from random ones.

        Raises:
            InputError: for bad counts, topics that do not fit, or a setting out of range.
        """
        K, V = self.n_components, X.shape[1]
        if K < 2 or min(self.iterations, self.ve_iterations) < 1 or not 0.0 < self.gamma < np.inf:
            raise InputError(
                f"CTM: {K} topics, {self.iterations} and {self.ve_iterations} iterations, gamma {self.gamma}; these"
                " must be at least 2, 1, 1, and positive"
            )
        if self.fixed and components is None:
            raise InputError("CTM: fixed topics have to be given, as components")
        if components is not None and components.shape != (K, V):
            raise InputError(f"CTM: topics of shape {components.shape} for {K} topics and {V} words")
        x, random = _Counts.of(X), np.random.default_rng(self.random_state)
        if not x.lengths.any():
            raise InputError("CTM: the documents hold no tokens")
        b = random.gamma(1.0, 1.0, (K, V)) + 1.0 if components is None else components
        self.components_ = b / b.sum(axis=1, keepdims=True)
        self.mean_, self.covariance_ = np.zeros(K), START_VARIANCE * np.eye(K)
        state, history = self._start(len(x.lengths)), []
        for _ in range(self.iterations):
            state = self._ve_step(x, state)
            history.append(self._objective(state))
            if len(history) > 1 and history[-1] - history[-2] < self.tolerance * x.lengths.sum():
                break
            self._vm_step(x, state)
        self.posterior_, self.objective_ = state, np.array(history)
        return self

    def infer(self, X: sp.sparray | NDArray[Any], iterations: int = 100) -> Posterior:
        """Return the posterior of the (D, V) counts X after at most so many Newton steps, from the prior's mean."""
        x = _Counts.of(X)
        if X.shape[1] != self.components_.shape[1]:
            raise InputError(f"CTM: {X.shape[1]} words, but the topics have {self.components_.shape[1]}")
        return self._ve_step(x, self._start(len(x.lengths)), iterations)

    def topics(self, vocabulary: tuple[str, ...], provenance: dict[str, Any] | None = None) -> LogisticNormalTopics:
        """Return b with its prior, as the evaluators take them."""
        return LogisticNormalTopics.of(self.components_, self.mean_, self.covariance_, vocabulary, provenance)

    def partial_correlations(self) -> Floats:
        """Return -P_jk / sqrt(P_jj P_kk) of z, (K, K), 1 on the diagonal."""
        P = np.linalg.inv(self.covariance_)
        scale = np.sqrt(np.diag(P))
        partial: Floats = -P / np.outer(scale, scale)
        np.fill_diagonal(partial, 1.0)
        return partial

    def _start(self, documents: int) -> Posterior:
        K = self.n_components
        variance = np.tile(np.diag(self.covariance_), (documents, 1))
        return Posterior(
            np.tile(self.mean_, (documents, 1)), variance.reshape(documents, K), np.full(documents, -np.inf)
        )

    def _ve_step(self, x: _Counts, state: Posterior, iterations: int = 0) -> Posterior:
        """Return the state after `iterations`, or `ve_iterations`, steps of lambda and nu."""
        P = np.linalg.inv(self.covariance_)
        P = (P + P.T) / 2.0
        half_log_det = 0.5 * float(np.linalg.slogdet(P)[1])
        b, lengths, K = np.ascontiguousarray(self.components_.T), x.lengths, self.n_components
        diagonal, none = np.diag(P), np.empty((0, K))

        def bound(mean: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
            """Return the bounds (D,), m and t (D, K)."""
            highest = mean.max(axis=1, keepdims=True)
            value, m = np.empty(len(mean)), np.empty_like(mean)
            _shares(x.starts, x.words, x.counts, np.exp(mean - highest), b, value, m, none)
            logits = mean - highest + variance / 2.0
            top = logits.max(axis=1, keepdims=True)
            t = np.exp(logits - top)
            total = t.sum(axis=1, keepdims=True)
            t /= total
            value -= lengths * (np.log(total) + top)[:, 0]
            centred = mean - self.mean_
            value -= 0.5 * (np.einsum("dk,dk->d", centred @ P, centred) + variance @ diagonal)
            value += half_log_det + 0.5 * np.log(variance).sum(axis=1) + K / 2.0
            return value, m, t

        mean, variance = state.mean, state.variance
        value, m, t = bound(mean, variance)
        for _ in range(iterations or self.ve_iterations):
            before = value
            gradient = (self.mean_ - mean) @ P + m - lengths[:, None] * t
            curvature = P - lengths[:, None, None] * t[:, :, None] * t[:, None, :]
            curvature[:, range(K), range(K)] += lengths[:, None] * t
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
            for _ in range(HALVINGS):
                value, m, t = bound(mean + step, variance)
                worse = value < before
                if not worse.any():
                    break
                step[worse] *= 0.5
            else:
                step[worse] = 0.0
                value, m, t = bound(mean + step, variance)
            mean = mean + step
            # e^(lambda + nu^2 / 2) / zeta at the best zeta is t: at a fixed zeta it grows with nu^2
            slope = lengths[:, None] * t * np.exp(-variance / 2.0)
            solved = variance.copy()
            for _ in range(NU_STEPS):
                grown = slope * np.exp(np.minimum(solved / 2.0, 300.0))
                residual = solved * (diagonal + grown) - 1.0
                solved -= residual / (diagonal + grown * (1.0 + solved / 2.0))
            raised, m_new, t_new = bound(mean, solved)
            better = raised >= value
            variance = np.where(better[:, None], solved, variance)
            value = np.where(better, raised, value)
            m, t = np.where(better[:, None], m_new, m), np.where(better[:, None], t_new, t)
            if (value - before > GAIN).mean() < FEWEST_SHARE:
                break
        return Posterior(mean, variance, value)

    def _vm_step(self, x: _Counts, state: Posterior) -> None:
        """Set mu, Sigma and, unless they are fixed, b to the maximum of the objective, the posterior fixed."""
        self.mean_ = state.mean.mean(axis=0)
        centred = state.mean - self.mean_
        self.covariance_ = (centred.T @ centred + np.diag(state.variance.sum(axis=0))) / len(centred)
        if self.fixed:
            return
        b = np.ascontiguousarray(self.components_.T)
        counts, m, value = np.zeros_like(b), np.empty_like(state.mean), np.empty(len(state.mean))
        theta = np.exp(state.mean - state.mean.max(axis=1, keepdims=True))
        _shares(x.starts, x.words, x.counts, theta, b, value, m, counts)
        counts += self.gamma
        self.components_ = np.ascontiguousarray((counts / counts.sum(axis=0)).T)

    def _objective(self, state: Posterior) -> float:
        prior = 0.0 if self.fixed else self.gamma * float(np.log(self.components_).sum())
        return float(state.bound.sum()) + prior


def random_effects(
    topics: Floats, M: Floats, rows: Floats, columns: Floats, x: Floats, vocabulary: tuple[str, ...]
) -> LogisticNormalTopics:
    """Return the topics and the prior, in a random effects mixture of experts, of a document with covariates x, (D,).

    W_i is Gaussian with the mean M, (K, D), and the covariances of its `rows`, (K, K), and `columns`, (D, D), so that
    z_i = W_i x has the mean M x and the covariance rows * x' columns x.

    Examples:
        >>> topics = random_effects(np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1), np.ones(1), ("ape", "bear"))
        >>> topics.covariance  # of z_1 - z_2, as in the correlated topic model
        array([[2.]])
    """
    return LogisticNormalTopics.of(topics, M @ x, rows * float(x @ columns @ x), vocabulary)
