r"""The exact likelihood under any prior of the latent weights, as a sum over count vectors.

Let token l have the weight x_lk under component k, and let z be the document's latent vector. Then

    p(w) = E_prior[ g(z) prod_l sum_k z_k x_lk ] = sum_C a_C M(C),         M(C) = E_prior[ g(z) prod_k z_k^{C_k} ],

with a_C the coefficient of prod_k z_k^{C_k} in the product. The prior enters by its moments alone (Murphy 2012, the
priors of sections 27.2 to 27.4):

    LDA, mPCA (27.12, 27.13)    x = b[k, w_l]         Gamma(A)/Gamma(A + L) prod_k Gamma(alpha_k + C_k) / Gamma(alpha_k)
    user rating profile (27.14) x = b^(r)[k, y_r]     the same: the weights of a token are not those of a vocabulary
    GaP (27.15, 27.16)          x = b[w_l, k]         prod_k G_k(C_k),  g(z) = exp(-sum_k s_k z_k), s_k = sum_v b[v, k],
                                                      G_k(C) = beta_k^alpha_k Gamma(alpha_k + C) /
                                                               (Gamma(alpha_k) (beta_k + s_k)^(alpha_k + C))
    conditional GaP (27.17)     x = b[w_l, k]         prod_k rho_k [C_k = 0] + (1 - rho_k) G_k(C_k)
    correlated topics (27.55)   x = b[k, w_l]         E prod_k softmax(z)_k^{C_k},  z ~ N(mu, Sigma)

(GaP gives counts: p(n) is p(w) over prod_v n_v!.)

a_C alone spans thousands of nats. So the kernel of `heldout.evaluators.exact_marginal` carries the coefficients with
the moments D(C) of a Dirichlet that is near the prior, its tokens' weights being x_lk t_k with tilts t_k > 0:

    p(w) = p_D(w) sum_C r(C) R(C),      r(C) = a_C t^C D(C) / p_D(w),      R(C) = M(C) / (t^C D(C)).

r is a distribution over count vectors. The tilts make R equal in its last two steps along each axis: whatever grows
exponentially with C_k is in the kernel. What the kernel flushes to 0, bounded in its docstring, is weighted by at most
max R / E_r[R], and a document for which this exceeds `LARGEST_RATIO` is refused.

The logistic normal's moments come from Gauss-Hermite quadrature in K - 1 dimensions (the differences to the last
component), centred and scaled at the integrand's mode for each C.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, in_vocabulary
from heldout.evaluators.exact_marginal import LARGEST_LAYER, LONGEST_IN_ORDER, forward
from heldout.seeds import generator
from heldout.topics import Topics

LARGEST_RATIO = 60.0  # nats
ORDERS = {2: (24, 48, 96, 192), 3: (12, 24, 48)}  # nodes per axis, by K
SETTLED = 1e-8  # nats between two orders
NEWTON_STEPS = 200
ENTRIES = 2**21  # of an array of the quadrature

Float = NDArray[np.float64]


class Moments(Protocol):
    """The moments of a prior of K weights."""

    @property
    def dirichlet(self) -> Float:
        """The parameters of a Dirichlet near the prior, (K,)."""
        ...

    def log_moment(self, counts: Float) -> Float:
        """Return log M(C), (N,) nats, of (N, K) count vectors; -inf where it is 0."""
        ...


@dataclass(frozen=True, eq=False)
class DirichletMoments:
    """Moments of a Dirichlet of parameters alpha, (K,).

    Raises:
        InputError: for a parameter that is not positive.
    """

    alpha: Float

    def __post_init__(self) -> None:
        _check_positive("Dirichlet", alpha=self.alpha)

    @property
    def dirichlet(self) -> Float:
        """The (K,) alpha."""
        return self.alpha

    def log_moment(self, counts: Float) -> Float:
        """Return log M(C), (N,) nats, of (N, K) count vectors."""
        total = self.alpha.sum()
        each = gammaln(self.alpha + counts) - gammaln(self.alpha)
        moments: Float = each.sum(axis=1) + gammaln(total) - gammaln(total + counts.sum(axis=1))
        return moments


@dataclass(frozen=True, eq=False)
class GammaPoissonMoments:
    """Moments of independent gammas, times exp(-sum_k s_k z_k), equations 27.15 to 27.17.

    Attributes:
        alpha, beta: (K,) shapes and rates.
        totals: (K,) s_k, the sums of the columns of b.
        rho: (K,) the probability of z_k = 0 besides; 0 is GaP, more is the conditional GaP.

    Raises:
        InputError: for a shape, rate or total that is not positive, or a probability outside [0, 1).
    """

    alpha: Float
    beta: Float
    totals: Float
    rho: Float

    def __post_init__(self) -> None:
        _check_positive("gamma-Poisson", alpha=self.alpha, beta=self.beta, totals=self.totals)
        if self.rho.shape != self.alpha.shape or not np.all((self.rho >= 0.0) & (self.rho < 1.0)):
            raise InputError("gamma-Poisson moments: every rho must be at least 0 and below 1")

    @property
    def dirichlet(self) -> Float:
        """The (K,) alpha."""
        return self.alpha

    def log_moment(self, counts: Float) -> Float:
        """Return log M(C), (N,) nats, of (N, K) count vectors."""
        slab = (
            self.alpha * np.log(self.beta)
            - (self.alpha + counts) * np.log(self.beta + self.totals)
            + gammaln(self.alpha + counts)
            - gammaln(self.alpha)
        )
        with np.errstate(divide="ignore"):
            spike = np.where(counts == 0.0, np.log(self.rho), -np.inf)
        moments: Float = np.logaddexp(spike, slab + np.log1p(-self.rho)).sum(axis=1)
        return moments


@dataclass(frozen=True, eq=False)
class LogisticNormalMoments:
    """Moments of softmax(z), z ~ N(mean, covariance), equations 27.51 and 27.52, for K = 2 or 3.

    Attributes:
        mean: (K,).
        covariance: (K, K), positive definite.
        order: nodes of the rule per axis; `logistic_normal_marginal` raises it until the result settles.

    Raises:
        InputError: for another K, or a covariance that is not symmetric and positive definite.
    """

    mean: Float
    covariance: Float
    order: int = 48

    def __post_init__(self) -> None:
        K = len(self.mean)
        if K not in ORDERS:
            raise InputError(f"logistic normal: {K} components; the quadrature takes {' or '.join(map(str, ORDERS))}")
        if self.covariance.shape != (K, K) or not np.allclose(self.covariance, self.covariance.T):
            raise InputError(f"logistic normal: the covariance must be a symmetric {K} x {K} matrix")
        if not np.all(np.linalg.eigvalsh(self.covariance) > 0.0):
            raise InputError("logistic normal: the covariance is not positive definite")

    @property
    def dirichlet(self) -> Float:
        """The (K,) parameters of the uniform distribution."""
        return np.ones(len(self.mean))

    def log_moment(self, counts: Float) -> Float:
        """Return log M(C), (N,) nats, of (N, K) count vectors."""
        K = len(self.mean)
        to_last = np.hstack([np.eye(K - 1), -np.ones((K - 1, 1))])
        precision: Float = np.asarray(np.linalg.inv(to_last @ self.covariance @ to_last.T), dtype=np.float64)
        centre = to_last @ self.mean
        modes, curvatures = _modes(counts, centre, precision)
        scale = np.linalg.inv(np.linalg.cholesky(curvatures)).transpose(0, 2, 1)  # z = mode + scale u
        nodes, weights = np.polynomial.hermite.hermgauss(self.order)
        u = math.sqrt(2.0) * np.stack(np.meshgrid(*[nodes] * (K - 1)), axis=-1).reshape(-1, K - 1)
        log_weights = np.log(np.stack(np.meshgrid(*[weights] * (K - 1)), axis=-1)).sum(axis=-1).ravel()
        log_weights += 0.5 * (u**2).sum(axis=1) - 0.5 * (K - 1) * math.log(math.pi)
        volume = 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * np.linalg.slogdet(curvatures)[1]
        moments = np.empty(len(counts))
        size = max(1, ENTRIES // (len(u) * K))
        for start in range(0, len(counts), size):
            rows = slice(start, start + size)
            z = modes[rows, None, :] + u @ scale[rows].transpose(0, 2, 1)
            terms = log_weights + _log_integrand(z, counts[rows, None, :], centre, precision)
            moments[rows] = logsumexp(terms, axis=1) + volume[rows]
        return moments


def _log_integrand(z: Float, counts: Float, centre: Float, precision: Float) -> Float:
    """Return sum_k C_k log softmax(z, 0)_k - (z - centre)' precision (z - centre) / 2 over the last axis, nats."""
    deviation = z - centre
    normaliser = np.logaddexp.reduce(np.concatenate([z, np.zeros((*z.shape[:-1], 1))], axis=-1), axis=-1)
    log_prior = -0.5 * ((deviation @ precision) * deviation).sum(axis=-1)
    value: Float = (counts[..., :-1] * z).sum(axis=-1) - counts.sum(axis=-1) * normaliser + log_prior
    return value


def _modes(counts: Float, centre: Float, precision: Float) -> tuple[Float, Float]:
    """Return the modes, (N, K - 1), of the integrands of (N, K) count vectors, and the (N, K - 1, K - 1) curvatures.

    Newton's method; steps of length 1 at most, over which the curvature of log softmax hardly changes.
    """
    lengths = counts.sum(axis=1, keepdims=True)
    z = np.tile(centre, (len(counts), 1))
    for _ in range(NEWTON_STEPS):
        logits = np.hstack([z, np.zeros((len(z), 1))])
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p = (p / p.sum(axis=1, keepdims=True))[:, :-1]
        gradient = counts[:, :-1] - lengths * p - (z - centre) @ precision
        spread = np.eye(p.shape[1]) * p[:, None, :] - p[:, :, None] * p[:, None, :]
        curvature = precision + lengths[:, :, None] * spread
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        z += step / np.maximum(length, 1.0)
        if len(z) == 0 or length.max() < 1e-8:
            break
    return z, curvature


def count_vectors(length: int, components: int) -> Float:
    """Return all (N, K) vectors of counts with this sum, in the order of the kernel's layers.

    Examples:
        >>> count_vectors(2, 2)
        array([[0., 2.],
               [1., 1.],
               [2., 0.]])
    """
    if components == 1:
        return np.array([[float(length)]])
    if components == 2:
        first = np.arange(length + 1.0)
        return np.column_stack([first, length - first])
    blocks = (count_vectors(rest, components - 1) for rest in range(length + 1))
    return np.vstack([np.column_stack([block, np.full(len(block), length - block[0].sum())]) for block in blocks])


def log_marginal(weights: Float, moments: Moments) -> float:
    """Return log sum_C a_C M(C) of one document, nats; -inf where it is 0.

    Args:
        weights: (L, K), x_lk >= 0 of every token and component.
        moments: of the prior of the K weights.

    Raises:
        InputError: for weights that are negative, undefined or not K to a token; for more count vectors than
            `LARGEST_LAYER`; for a prior that is too far from that Dirichlet for the kernel's range (see the module).

    Examples:
        >>> uniform = DirichletMoments(np.ones(2))
        >>> print(f"{np.exp(log_marginal(np.array([[1.0, 0.0], [1.0, 0.0]]), uniform)):.4f}")  # E[theta_1^2]
        0.3333
    """
    alpha = np.ascontiguousarray(moments.dirichlet, dtype=float)
    K = len(alpha)
    if weights.ndim != 2 or weights.shape[1] != K or not np.all((weights >= 0.0) & np.isfinite(weights)):
        raise InputError(f"count polynomial: weights of shape {weights.shape}; give {K} finite numbers >= 0 to a token")
    L = len(weights)
    size = math.comb(L + K - 1, K - 1)
    if size > LARGEST_LAYER:
        raise InputError(
            f"count polynomial: a document of {L} tokens at {K} components has {size:.1e} count vectors, the limit is"
            f" {LARGEST_LAYER:.1e}; take shorter documents or fewer components"
        )
    highest = weights.max(axis=1, initial=0.0)
    if not np.all(highest > 0.0):
        return -math.inf
    dirichlet = DirichletMoments(alpha)
    log_tilts = np.zeros(K)
    if L > 0:
        corners = np.vstack([np.eye(K) * L, np.eye(K) * (L - 1)])
        steps = moments.log_moment(corners) - dirichlet.log_moment(corners)
        log_tilts = steps[:K] - steps[K:]
    centre = log_tilts.max()
    tilted = weights / highest[:, None] * np.exp(log_tilts - centre)
    order = np.arange(L, dtype=np.int32)
    if L > LONGEST_IN_ORDER:
        generator("exact-marginal", tokens=L).shuffle(order)
    value, layer = np.empty(1), np.empty(size)
    offsets, wanted = np.array([0, L], dtype=np.int64), np.ones(1, dtype=np.bool_)
    forward(order, offsets, np.ascontiguousarray(tilted), alpha, wanted, value, np.empty((0, K)), layer)
    if value[0] == -math.inf:
        return -math.inf
    counts = count_vectors(L, K)
    log_ratios = moments.log_moment(counts) - dirichlet.log_moment(counts) - counts @ log_tilts
    top = float(log_ratios.max())
    mean = float(layer @ np.exp(log_ratios - top)) / float(layer.sum())
    if not mean > math.exp(-LARGEST_RATIO):
        raise InputError(
            f"count polynomial: the prior of this document of {L} tokens is too far from Dirichlet({alpha.round(3)});"
            " its likelihood is outside the range of the kernel"
        )
    return float(value[0]) + float(np.log(highest).sum()) + L * float(centre) + top + math.log(mean)


def logistic_normal_marginal(topics: Topics, documents: Corpus, mean: Float, covariance: Float) -> Evaluation:
    """Return log p(w) of every document where its weights are softmax(z), z ~ N(mean, covariance) (27.51 to 27.55).

    Args:
        topics: phi; alpha is not used.
        documents: D documents; words outside the topics' vocabulary are left out and counted.
        mean: (K,), K = 2 or 3.
        covariance: (K, K).

    Returns:
        log-likelihoods in nats of the token sequences; two orders of the quadrature agree to `SETTLED` nats.

    Raises:
        InputError: as `log_marginal` and `LogisticNormalMoments` do, or for a document that does not settle.
    """
    documents, left_out = in_vocabulary(documents, topics)
    LogisticNormalMoments(mean, covariance)
    values = np.zeros(documents.n_documents)
    for d, name in enumerate(documents.documents):
        weights = topics.phi_by_word[documents.document(d)]
        previous = math.nan
        for order in ORDERS[len(mean)]:
            values[d] = log_marginal(weights, LogisticNormalMoments(mean, covariance, order))
            if values[d] == previous or abs(values[d] - previous) < SETTLED:
                break
            previous = values[d]
        else:
            raise InputError(f"logistic normal: document {name} has not settled at {order} nodes per axis")
    return Evaluation.deterministic(values, documents.lengths, left_out)


def gap_marginal(counts: NDArray[np.float64], b: Float, alpha: Float, beta: Float, rho: Float) -> Float:
    """Return log p(n), (D,) nats, of count vectors under GaP (27.15, 27.16) or, with a spike, conditional GaP (27.17).

    Args:
        counts: (D, V) whole numbers.
        b: (V, K) rates, n_v ~ Poisson(sum_k b[v, k] z_k).
        alpha: (K,) shapes of the gammas.
        beta: (K,) rates of the gammas.
        rho: (K,) probabilities of the spikes; 0 for GaP.

    Raises:
        InputError: for counts that are not whole numbers >= 0 of V words, or as `log_marginal` does.

    Examples:
        >>> one = np.ones(1)  # one component: a negative binomial
        >>> print(np.exp(gap_marginal(np.array([[2.0]]), np.ones((1, 1)), one, one, 0.0 * one)))
        [0.125]
    """
    if counts.ndim != 2 or counts.shape[1] != len(b) or not np.all((counts >= 0) & (counts == np.floor(counts))):
        raise InputError(f"GaP: counts of shape {counts.shape}; give whole numbers >= 0 of {len(b)} words")
    moments = GammaPoissonMoments(alpha, beta, b.sum(axis=0), rho)
    tokens = (np.repeat(np.arange(len(b)), row.astype(np.int64)) for row in counts)
    values = np.array([log_marginal(b[document], moments) for document in tokens])
    result: Float = values - gammaln(counts + 1.0).sum(axis=1)
    return result


def rating_profile_marginal(responses: NDArray[np.int64], tables: Float, alpha: Float) -> Float:
    """Return log p(y), (N,) nats, of vectors of responses under the user rating profile (27.14); gaps are left out.

    Args:
        responses: (N, R), -1 where there is none.
        tables: (R, K, M), p(y_r = m | z_r = k); every row sums to 1.
        alpha: (K,).

    Raises:
        InputError: for a response outside -1 .. M - 1, or as `log_marginal` does.
    """
    R, _, M = tables.shape
    if responses.ndim != 2 or responses.shape[1] != R or not np.all((responses >= -1) & (responses < M)):
        raise InputError(f"user rating profile: give {R} responses from -1 (a gap) to {M - 1} to a row")
    moments = DirichletMoments(alpha)
    given = (np.flatnonzero(row >= 0) for row in responses)
    return np.array([log_marginal(tables[r, :, row[r]], moments) for row, r in zip(responses, given, strict=True)])


def _check_positive(prior: str, **parameters: Float) -> None:
    for name, values in parameters.items():
        if values.ndim != 1 or len(values) != len(next(iter(parameters.values()))):
            raise InputError(f"{prior} moments: {name} has the shape {values.shape}; give one number to a component")
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise InputError(f"{prior} moments: every {name} must be positive and finite")
