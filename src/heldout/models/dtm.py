r"""The dynamic topic model by a variational Kalman filter (Blei and Lafferty 2006; Murphy 2012, 27.57 to 27.60).

    beta_1k ~ N(0, v0 I),    beta_tk | beta_t-1,k ~ N(beta_t-1,k, sigma^2 I_V),    b_tk = softmax(beta_tk),   (27.57)
    pi_i ~ Dir(alpha 1_K),   q_il ~ Cat(pi_i),   y_il | q_il = k ~ Cat(b_tk)  for document i of time t.  (27.58 - 27.60)

27.57 calls the logits b. The posterior is q(beta) prod_i q(pi_i) prod_l q(q_il), and with variational observations, of
the precision lambda and the weighted mean h,

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
the bound rises; a topic's next step is not much longer. Blei and Lafferty take one lambda for all and find h by
conjugate gradients. sigma^2 goes with the step to the mean of E (beta_tkv - beta_t-1,kv)^2, and stays there where the
bound has not fallen. Every iteration goes on from the last one's gamma, h and lambda: a few updates of gamma and one
step of the topics, each of which raises the bound. With sigma^2 = 0 nothing moves: LDA whose topics have a
logistic-normal prior. Adding a constant to beta_tk changes no word's probability.

The start. All topics of a word flat, h = lambda = 0, is a place that topics from elsewhere take tens of iterations to
leave; so h and lambda start from their right sides at a topic of all times' expected counts and one of every word.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logsumexp

from heldout.errors import InputError
from heldout.models.dtm_kernel import propose, topic_rows
from heldout.models.estimator import Estimator, checked_counts, estimator
from heldout.models.token_shares import Documents, rows_of
from heldout.topics import Topics
from heldout.typing import Floats, Ints

HALVINGS, GROWTH = 12, 1.1  # most halvings of a step that lowers the bound; growth of its size after one that does not
ROUNDING = 1e-12  # share of a topic's bound by which a step may lower it
FIRST_ITERATIONS = 10  # iterations of the documents' step before the first topics' step
SMALLEST = 2e-22  # least probability of a word at the start


def softmax(logits: Floats) -> Floats:
    """Return exp(logits) / sum exp(logits), over the last axis."""
    b = np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))
    result: Floats = b / b.sum(axis=-1, keepdims=True)
    return result


class Observed(NamedTuple):
    """Variational observations h and lambda of topics and the moments that they give; arrays as in `rows_of`.

    Attributes:
        h, precision: (N, T, V, K'), of N sequences of T times.
        mean, variance: m and V.
        shares: p, exp(m + V / 2) over its sum.
        log_sums: (N, T, K'), the logarithm of that sum.
        divergence: (N, K'), KL of the topics, nats.
        step: the mean of E (beta_t - beta_t-1)^2; 0 for one time.
        size: (N, K'), of the topics' next step.
    """

    h: Floats
    precision: Floats
    mean: Floats
    variance: Floats
    shares: Floats
    log_sums: Floats
    divergence: Floats
    step: float
    size: Floats

    def topic_rows(self, row_starts: Ints) -> Floats:
        """Return exp(e), (N T V, K'), of rows with tokens, by the `row_starts` of `Tokens`; others are 0."""
        width = self.mean.shape[-1]
        out = np.zeros((self.mean.size // width, width))
        topic_rows(self.mean.reshape(out.shape), self.log_sums.reshape(-1, width), row_starts, out)
        return out


@dataclass(frozen=True)
class Walk:
    """The prior of beta: mean and variance at the first time, (V, K'), which all sequences share, K and sigma^2."""

    mean: Floats
    variance: Floats
    topics: int
    sigma2: float = 0.0

    @classmethod
    def of(cls, mean: Floats, variance: Floats, sigma2: float = 0.0) -> Self:
        """Return the prior of (K, V) means and variances."""
        rows = rows_of(variance)
        rows[:, len(variance) :] = 1.0  # of no topic, and positive as all variances
        return cls(rows_of(mean), rows, len(mean), sigma2)

    def observed(self, h: Floats, precision: Floats) -> Observed:
        """Return observations (N, T, V, K') with the moments that they give."""
        nothing = np.zeros_like(h)
        return self._from(nothing, h, precision, nothing, nothing, 0.0)

    def start(self, counts: Floats) -> Observed:
        """Return h and lambda, each by its own equation at topics of all times' counts, (N, T, V, K'), plus one."""
        pooled = np.broadcast_to(counts.sum(axis=1, keepdims=True) + 1.0, counts.shape)
        mean, nothing = np.log(pooled), np.zeros_like(counts)
        mean -= mean.mean(axis=2, keepdims=True)
        return self._from(counts, nothing, nothing, mean, pooled / pooled.sum(axis=2, keepdims=True), 1.0)

    def _from(self, counts: Floats, h: Floats, precision: Floats, mean: Floats, p: Floats, size: float) -> Observed:
        (N, T, _, width), none = counts.shape, np.empty(0)
        sizes = np.full((N, width), size)
        given = Observed(h, precision, mean, none, p, np.zeros((N, T, width)), np.zeros((N, width)), 0.0, sizes)
        return self.proposed(counts, given)[0]._replace(size=np.ones((N, width)))

    def ascend(self, counts: Floats, state: Observed, iterations: int) -> Observed:
        """Return the observations after `iterations` topics' steps at the expected counts (N, T, V, K')."""
        for _ in range(iterations):
            for _ in range(HALVINGS):
                proposed, worse, _ = self.proposed(counts, state)
                if not worse.any():
                    break
                state = state._replace(size=np.where(worse, state.size / 2.0, state.size))
            else:
                proposed, _, _ = self.proposed(counts, state._replace(size=np.where(worse, 0.0, state.size)))
            state = proposed._replace(size=np.minimum(GROWTH * state.size, 1.0))
        return state

    def proposed(self, counts: Floats, state: Observed) -> tuple[Observed, NDArray[np.bool_], float]:
        """Return the state after a step, whether it lowers topics' parts of the bound, (N, K'), and its gain."""
        N, T, V, width = counts.shape
        h, precision, mean, variance, p = (np.empty_like(counts) for _ in range(5))
        log_sums, values, totals = np.empty((N, T, width)), np.empty((3, N, width)), counts.sum(axis=2)
        steps = propose(
            counts, totals, state.size, self.mean, self.variance, self.sigma2, state.h, state.precision, state.mean,
            state.shares, state.log_sums, h, precision, mean, variance, p, log_sums, values, self.topics,
        )  # fmt: skip
        with np.errstate(invalid="ignore"):  # no tokens times the infinite sum of a step that is too long
            old_value = values[0] - (totals * state.log_sums).sum(axis=1) - state.divergence
            gain = values[1] - (totals * log_sums).sum(axis=1) - values[2] - old_value
        worse = ~(gain >= -ROUNDING * np.abs(old_value))
        step = steps / (N * (T - 1) * V * self.topics) if T > 1 else 0.0
        return (
            Observed(h, precision, mean, variance, p, log_sums, values[2], step, state.size),
            worse,
            float(gain.sum()),
        )


@dataclass(frozen=True, eq=False)
class DynamicState:
    """Prior of one time's topics given the documents before it: beta_kv ~ N(mean_kv, variance_kv).

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
        """Number of topics, K."""
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
        document_iterations: passes over the tokens of one documents' step.
        topic_iterations: natural gradient steps of one topics' step.
        tolerance: stop after an iteration that raises the bound by less than this many nats per token.
        random_state: generator of the random start.

    Attributes (after `fit`):
        mean_, variance_: (T, K, V), m and V.
        sigma2_: float.
        bound_: nats, after every iteration.
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
    iterations: int = 200
    document_iterations: int = 3
    topic_iterations: int = 1
    tolerance: float = 1e-5

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
        steps = self.iterations, self.document_iterations, self.topic_iterations
        if K < 1 or min(steps) < 1:
            raise InputError(f"DTM: {K} topics, {steps} iterations; take 1 or more")
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
        D, T, tokens = X.shape[0], int(times.max()) + 1, counts.data.sum()
        random = np.random.default_rng(self.random_state)
        start = random.gamma(1.0, 1.0, (K, V)) + 1.0 if components is None else components
        b = np.tile(rows_of(np.maximum(start / start.sum(axis=1, keepdims=True), SMALLEST)), (T, 1))
        documents = Documents(counts, times, self.alpha, np.full((D, K), self.alpha + tokens / D / K))
        documents.step(b, FIRST_ITERATIONS)
        walk = Walk.of(np.zeros((K, V)), np.full((K, V), self.start_variance), self.sigma2)
        state, history = walk.start(documents.expected_counts(b).reshape(1, T, V, -1)), []
        for _ in range(self.iterations):
            n = documents.expected_counts(b).reshape(state.h.shape)
            walk, state = self._topics_step(walk, n, state)
            b = state.topic_rows(documents.tokens.row_starts)
            documents.advance()
            document_bounds = documents.step(b, self.document_iterations - 1)
            history.append(float(document_bounds.sum() - state.divergence.sum()))
            if len(history) > 1 and history[-1] - history[-2] < self.tolerance * tokens:
                break
        self.mean_, self.variance_ = (np.ascontiguousarray(x[0, :, :, :K].swapaxes(1, 2)) for x in state[2:4])
        self.sigma2_, self.bound_, gamma = walk.sigma2, np.array(history), documents.gamma
        self.document_topics_ = gamma / gamma.sum(axis=1, keepdims=True)
        return self

    def _topics_step(self, walk: Walk, n: Floats, state: Observed) -> tuple[Walk, Observed]:
        """Return the walk and its state after a topics' step; sigma^2 moves too where the bound rises with it."""
        iterations = self.topic_iterations
        if not (self.fixed or walk.sigma2 == 0.0 or n.shape[1] == 1):
            other = replace(walk, sigma2=state.step)
            proposed, worse, gain = other.proposed(n, state)
            size = np.where(worse, state.size / 2.0, np.minimum(GROWTH * state.size, 1.0))
            if gain >= 0.0:
                walk, state, iterations = other, proposed, iterations - 1
            state = state._replace(size=size)
        return walk, walk.ascend(n, state, iterations)

    def next_state(self, vocabulary: tuple[str, ...]) -> DynamicState:
        """Return the prior of the topics at the time after the last."""
        return DynamicState(self.mean_[-1], self.variance_[-1] + self.sigma2_, self.alpha, vocabulary)
