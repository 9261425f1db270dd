r"""The dynamic topic model by a variational Kalman filter (Blei and Lafferty 2006; Murphy 2012, 27.57 to 27.60).

    beta_1k ~ N(0, v0 I),    beta_tk | beta_t-1,k ~ N(beta_t-1,k, sigma^2 I_V),    b_tk = softmax(beta_tk),   (27.57)
    pi_i ~ Dir(alpha 1_K),   q_il ~ Cat(pi_i),   y_il | q_il = k ~ Cat(b_tk)  for document i of time t.  (27.58 - 27.60)

27.57 calls the logits b; see `heldout.papers.murphy.misprints`. The posterior is q(beta) prod_i q(pi_i) prod_l q(q_il),
and with variational observations, of the precision lambda and the weighted mean h,

    q(beta_kv) ∝ p(beta_1kv, .., beta_Tkv) prod_t exp(h_tkv beta_tkv - lambda_tkv beta_tkv^2 / 2),

whose means m and variances V a Kalman filter and smoother give for every topic and word, with the normaliser Z_kv, the
product over times of

    E exp(h beta - lambda beta^2 / 2) = (1 + lambda P)^(-1/2) exp[(2 a h + P h^2 - a^2 lambda) / (2 (1 + lambda P))]

under the predicted N(a, P). Jensen's inequality bounds a word's expected logarithm from below,

    E log b_tkv >= e_tkv = m_tkv - log sum_w exp(m_tkw + V_tkw / 2),

which is the bound with Blei and Lafferty's zeta_t at its best. With L_i that of LDA's mean field with e for log b, and
q(pi_i) = Dir(gamma_i),

    L_i = sum_v n_iv log sum_k exp(E log pi_ik + e_tkv) - KL(Dir(gamma_i) || Dir(alpha 1_K)),
    log p(y) >= sum_i L_i - sum_kv KL_kv,   KL_kv = sum_t [h m - lambda (m^2 + V) / 2]_tkv - log Z_kv.

Documents' step: gamma_i = alpha + sum_v n_iv r_ivk, r the shares in L_i's sum over k. Topics' step, with the expected
counts n_tkv = sum_i n_iv r_ivk and n_tk their sum over words: where the bound is stationary in m and V

    lambda_tkv = n_tk p_tkv,   h_tkv = lambda_tkv m_tkv + n_tkv - n_tk p_tkv,   p_tkv = exp(m_tkv + V_tkv / 2 - log sum)

(Opper and Archambeau 2009), so h and lambda move to the right sides: a step along the natural gradient, halved until
the bound rises. Blei and Lafferty take one lambda for all and find h by conjugate gradients. sigma^2 goes to the
mean of E (beta_tkv - beta_t-1,kv)^2 and stays there where the bound has not fallen. With sigma^2 = 0 nothing moves: LDA
whose topics have a logistic-normal prior. Adding a constant to beta_tk changes no word's probability.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

from heldout.errors import InputError
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

HALVINGS = 12  # of a step of the topics
DOCUMENT_ITERATIONS = 10  # of a documents' step


def softmax(logits: Floats) -> Floats:
    """Return exp(logits) / sum exp(logits), over the last axis."""
    b = np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))
    result: Floats = b / b.sum(axis=-1, keepdims=True)
    return result


class Chain(NamedTuple):
    """Moments of q(beta): means and variances (T, ...), log Z (...), and the (T - 1, ...) E (beta_t - beta_t-1)^2."""

    mean: Floats
    variance: Floats
    log_normaliser: Floats
    steps: Floats


def smooth(h: Floats, precision: Floats, start: tuple[Floats | float, Floats | float], sigma2: float) -> Chain:
    """Return the moments of Gaussian random walks given observations h and lambda, (T, ...), by filter and smoother.

    `start` are the mean and the variance at the first time, `sigma2` the variance of a step; walks are independent.
    """
    T = len(h)
    means, variances, predicted = np.empty_like(h), np.empty_like(h), np.empty_like(h)
    mean, variance = start
    log_normaliser = np.zeros(h.shape[1:])
    for t in range(T):
        predicted[t] = variance
        weight = 1.0 + precision[t] * variance
        log_normaliser += (2.0 * mean * h[t] + variance * h[t] ** 2 - mean**2 * precision[t]) / (2.0 * weight)
        log_normaliser -= 0.5 * np.log(weight)
        means[t], variances[t] = (mean + variance * h[t]) / weight, variance / weight
        mean, variance = means[t], variances[t] + sigma2
    steps = np.empty((T - 1, *h.shape[1:]))
    for t in range(T - 2, -1, -1):
        gain = variances[t] / predicted[t + 1]
        variance = variances[t] + gain**2 * (variances[t + 1] - predicted[t + 1])
        mean = means[t] + gain * (means[t + 1] - means[t])
        steps[t] = (means[t + 1] - mean) ** 2 + variances[t + 1] + variance - 2.0 * gain * variances[t + 1]
        means[t], variances[t] = mean, variance
    return Chain(means, variances, log_normaliser, steps)


class Observed(NamedTuple):
    """Variational observations h and lambda, (T, ..., V), and the moments that they give."""

    h: Floats
    precision: Floats
    chain: Chain

    @property
    def expected_log(self) -> Floats:
        """e, (T, ..., V)."""
        mean = self.chain.mean
        result: Floats = mean - logsumexp(mean + self.chain.variance / 2.0, axis=-1, keepdims=True)
        return result

    @property
    def divergence(self) -> Floats:
        """KL of the topics, (...), nats."""
        m, V = self.chain.mean, self.chain.variance
        observed = (self.h * m - self.precision * (m**2 + V) / 2.0).sum(axis=0)
        result: Floats = (observed - self.chain.log_normaliser).sum(axis=-1)
        return result


@dataclass(frozen=True)
class Walk:
    """The prior of beta: mean and variance at the first time, which broadcast to (..., V), and sigma^2."""

    mean: Floats | float
    variance: Floats | float
    sigma2: float = 0.0

    def observed(self, h: Floats, precision: Floats) -> Observed:
        """Return observations with the moments that they give."""
        return Observed(h, precision, smooth(h, precision, (self.mean, self.variance), self.sigma2))

    def ascend(self, counts: Floats, state: Observed, iterations: int) -> Observed:
        """Return observations after so many topics' steps at the expected counts (T, ..., V)."""
        totals = counts.sum(axis=-1, keepdims=True)

        def objective(of: Observed) -> Floats:
            return np.asarray((counts * of.expected_log).sum(axis=(0, -1)) - of.divergence)

        value = objective(state)
        for _ in range(iterations):
            mean = state.chain.mean
            logits = mean + state.chain.variance / 2.0
            share = totals * softmax(logits)
            to_h, to_precision = share * mean + counts - share, share
            size = np.ones(value.shape)
            for _ in range(HALVINGS):
                rho = size[..., None]
                proposed = self.observed(
                    state.h + rho * (to_h - state.h), state.precision + rho * (to_precision - state.precision)
                )
                raised = objective(proposed)
                worse = raised < value
                if not worse.any():
                    break
                size[worse] *= 0.5
            else:
                rho = np.where(worse, 0.0, size)[..., None]
                proposed = self.observed(
                    state.h + rho * (to_h - state.h), state.precision + rho * (to_precision - state.precision)
                )
                raised = objective(proposed)
            state, value = proposed, raised
        return state


def _sums(places: Ints, values: Floats, size: int) -> Floats:
    """Return the sums of values at equal places 0 .. size - 1."""
    return np.asarray(np.bincount(places.ravel(), weights=values.ravel(), minlength=size), dtype=np.float64)


class Pairs(NamedTuple):
    """The (P,) pairs of document and distinct word: their places, the document's time, and how often the word is."""

    documents: Ints
    words: Ints
    times: Ints
    counts: Floats

    @classmethod
    def of(cls, counts: sp.csr_array, times: Ints) -> "Pairs":
        """Return the pairs of (D, V) counts, each document of its time, (D,)."""
        documents = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)).astype(np.int64)
        return cls(documents, counts.indices.astype(np.int64), times[documents], counts.data)

    def step(self, expected_log: Floats, gamma: Floats, alpha: float, iterations: int) -> tuple[Floats, Floats, Floats]:
        """Return gamma (D, K), L (D,) and the shares n r (P, K) after so many updates, at e (T, K, V)."""
        e = expected_log[self.times, :, self.words]
        highest = e.max(axis=1, keepdims=True)
        b, D, K = np.exp(e - highest), *gamma.shape
        cells = self.documents[:, None] * K + np.arange(K)
        shares = np.empty_like(b)
        for iteration in range(iterations + 1):
            expected = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
            shares = np.exp(expected)[self.documents] * b
            total = shares.sum(axis=1)
            shares *= (self.counts / total)[:, None]
            if iteration < iterations:
                gamma = alpha + _sums(cells, shares, D * K).reshape(D, K)
        of_tokens = self.counts * (np.log(total) + highest[:, 0])
        value = _sums(self.documents, of_tokens, D)
        value += ((alpha - gamma) * expected + gammaln(gamma) - gammaln(alpha)).sum(axis=1)
        value += gammaln(K * alpha) - gammaln(gamma.sum(axis=1))
        return gamma, value, shares

    def expected_counts(self, shares: Floats, shape: tuple[int, ...]) -> Floats:
        """Return n, of the shape (T, K, V)."""
        T, K, V = shape
        cells = (self.times[:, None] * K + np.arange(K)) * V + self.words[:, None]
        return _sums(cells, shares, T * K * V).reshape(shape)


@dataclass(frozen=True, eq=False)
class DynamicState:
    """What a dynamic topic model says of a time's topics before its documents: beta_kv ~ N(mean_kv, variance_kv).

    Attributes:
        mean, variance: (K, V), the variance positive.
        alpha: of the documents' weights.
        vocabulary: the V words.

    Raises:
        InputError: for shapes that do not fit, or numbers out of their range.
    """

    mean: Floats
    variance: Floats
    alpha: float
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.mean.ndim != 2 or self.mean.shape != self.variance.shape or self.mean.shape[1] != len(self.vocabulary):
            raise InputError(
                f"dynamic topics: means {self.mean.shape}, variances {self.variance.shape} and {len(self.vocabulary)}"
                " words; give means and variances of topics by words"
            )
        if not (np.isfinite(self.mean).all() and np.isfinite(self.variance).all() and (self.variance > 0.0).all()):
            raise InputError("dynamic topics: a mean is not finite, or a variance not positive")
        if not 0.0 < self.alpha < np.inf:
            raise InputError(f"dynamic topics: alpha {self.alpha}; it must be positive")

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.mean)

    def at_mean(self) -> Topics:
        """Return the topics of the mean, softmax(mean)."""
        return Topics(softmax(self.mean), np.full(len(self.mean), self.alpha), self.vocabulary)


@estimator
class DTM(Estimator):
    """The dynamic topic model by a variational Kalman filter.

    Args:
        n_components: K.
        alpha: Dirichlet parameter of a document's weights.
        start_variance: v0.
        sigma2: the variance of a step of the random walk, at the start.
        fixed: whether sigma^2 stays there.
        iterations: documents' and topics' steps, at most.
        topic_iterations: natural gradient steps of one topics' step.
        tolerance: stop after an iteration that raises the bound by less than this many nats per token.
        random_state: generator of the random start.

    Attributes (after `fit`):
        mean_, variance_: (T, K, V), m and V.
        sigma2_: float.
        bound_: nats, after every iteration's topics' step.
        document_topics_: (D, K), the mean of q(pi_i).

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [0, 0, 4, 1], [5, 1, 0, 0], [0, 0, 1, 4]])
        >>> model = DTM(2, alpha=0.5, random_state=0).fit(counts, times=np.array([0, 0, 1, 1]))
        >>> bool(np.all(np.diff(model.bound_) > -1e-8))
        True
    """

    n_components: int = field(default=10, kw_only=False)
    alpha: float = 0.1
    start_variance: float = 10.0
    sigma2: float = 0.01
    fixed: bool = False
    iterations: int = 50
    topic_iterations: int = 3
    tolerance: float = 1e-4

    def fit(
        self,
        X: sp.sparray | NDArray[Any],
        y: None = None,  # noqa: ARG002
        *,
        times: Ints,
        components: Floats | None = None,
    ) -> Self:
        """Fit (D, V) counts X of documents of the (D,) times 0 .. T - 1, from (K, V) topics or from random ones.

        Raises:
            InputError: for bad counts, times or topics that do not fit, or a setting out of range.
        """
        K, V = self.n_components, X.shape[1]
        if K < 1 or min(self.iterations, self.topic_iterations) < 1:
            raise InputError(f"DTM: {K} topics, {self.iterations} and {self.topic_iterations} steps; take 1 or more")
        if not (self.sigma2 >= 0.0 and min(self.alpha, self.start_variance) > 0.0):
            raise InputError(
                f"DTM: sigma^2 {self.sigma2}, alpha {self.alpha}, v0 {self.start_variance}; the first must not be"
                " negative, the others positive"
            )
        if times.shape != (X.shape[0],) or len(times) == 0 or times.min() < 0:
            raise InputError(f"DTM: times of shape {times.shape} for {X.shape[0]} documents; give each one, from 0 on")
        if components is not None and components.shape != (K, V):
            raise InputError(f"DTM: topics of shape {components.shape} for {K} topics and {V} words")
        counts = checked_counts(X, "DTM")
        pairs, T, tokens = Pairs.of(counts, times), int(times.max()) + 1, counts.data.sum()
        random = np.random.default_rng(self.random_state)
        b = random.gamma(1.0, 1.0, (K, V)) + 1.0 if components is None else components
        with np.errstate(divide="ignore"):
            expected_log = np.tile(np.log(b / b.sum(axis=1, keepdims=True)).clip(-50.0), (T, 1, 1))
        gamma = np.full((X.shape[0], K), self.alpha + tokens / X.shape[0] / K)
        gamma, _, shares = pairs.step(expected_log, gamma, self.alpha, DOCUMENT_ITERATIONS)
        walk, nothing = Walk(0.0, self.start_variance, self.sigma2), np.zeros((T, K, V))
        state, history = walk.observed(nothing, nothing), []
        for _ in range(self.iterations):
            n = pairs.expected_counts(shares, (T, K, V))
            state = walk.ascend(n, state, self.topic_iterations)
            walk, state = self._stepped(walk, n, state)
            gamma, of_documents, shares = pairs.step(state.expected_log, gamma, self.alpha, DOCUMENT_ITERATIONS)
            history.append(float(of_documents.sum() - state.divergence.sum()))
            if len(history) > 1 and history[-1] - history[-2] < self.tolerance * tokens:
                break
        self.mean_, self.variance_, self.sigma2_ = state.chain.mean, state.chain.variance, walk.sigma2
        self.bound_, self.document_topics_ = np.array(history), gamma / gamma.sum(axis=1, keepdims=True)
        return self

    def _stepped(self, walk: Walk, n: Floats, state: Observed) -> tuple[Walk, Observed]:
        """Return the walk with the variance of the expected steps, and its state, where they raise the bound."""
        if self.fixed or walk.sigma2 == 0.0 or len(n) < 2:
            return walk, state
        other = Walk(walk.mean, walk.variance, float(state.chain.steps.mean()))
        again = other.ascend(n, other.observed(state.h, state.precision), 1)
        before, after = ((n * one.expected_log).sum() - one.divergence.sum() for one in (state, again))
        return (other, again) if after >= before else (walk, state)

    def next_state(self, vocabulary: tuple[str, ...]) -> DynamicState:
        """Return what the model says of the topics at the time after the last."""
        return DynamicState(self.mean_[-1], self.variance_[-1] + self.sigma2_, self.alpha, vocabulary)
