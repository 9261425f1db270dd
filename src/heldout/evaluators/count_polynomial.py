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

(GaP gives counts: p(n) is p(w) over prod_v n_v!. Correlated topics, 27.55: `heldout.evaluators.logistic_normal`.)

a_C alone spans thousands of nats. So the kernel of `heldout.evaluators.exact_marginal` carries the coefficients with
the moments D(C) of a Dirichlet that is near the prior, its tokens' weights being x_lk t_k with tilts t_k > 0:

    p(w) = p_D(w) sum_C r(C) R(C),      r(C) = a_C t^C D(C) / p_D(w),      R(C) = M(C) / (t^C D(C)).

r is a distribution over count vectors. The tilts make R equal in its last two steps along each axis: whatever grows
exponentially with C_k is in the kernel. What the kernel flushes to 0, bounded in its docstring, is weighted by at most
max R / E_r[R], and a document for which this exceeds `LARGEST_RATIO` is refused.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from heldout.errors import InputError
from heldout.evaluators.exact_marginal import LARGEST_LAYER, LONGEST_IN_ORDER, forward
from heldout.seeds import generator
from heldout.typing import Floats, Ints

LARGEST_RATIO = 60.0  # nats


@dataclass(frozen=True, eq=False)
class DirichletMoments:
    """Moments of a Dirichlet of parameters alpha, (K,), all positive."""

    alpha: Floats

    def __post_init__(self) -> None:
        _check_positive("Dirichlet", alpha=self.alpha)

    def log_moment(self, counts: Floats) -> Floats:
        """Return log M(C), (N,) nats, of (N, K) count vectors."""
        total = self.alpha.sum()
        each = gammaln(self.alpha + counts) - gammaln(self.alpha)
        moments: Floats = each.sum(axis=1) + gammaln(total) - gammaln(total + counts.sum(axis=1))
        return moments


@dataclass(frozen=True, eq=False)
class GammaPoissonMoments:
    """Moments of independent gammas, times exp(-sum_k s_k z_k), equations 27.15 to 27.17.

    alpha, beta and rho, (K,), are shapes, rates and probabilities of z_k = 0 besides (0 is GaP, more the conditional
    GaP); the totals s_k, (K,), are sums of the columns of b.

    Raises:
        InputError: for a shape, rate or total that is not positive, or a probability outside [0, 1).
    """

    alpha: Floats
    beta: Floats
    totals: Floats
    rho: Floats

    def __post_init__(self) -> None:
        _check_positive("gamma-Poisson", alpha=self.alpha, beta=self.beta, totals=self.totals)
        if self.rho.shape != self.alpha.shape or not np.all((self.rho >= 0.0) & (self.rho < 1.0)):
            raise InputError("gamma-Poisson moments: every rho must be at least 0 and below 1")

    def log_moment(self, counts: Floats) -> Floats:
        """Return log M(C), (N,) nats, of (N, K) count vectors."""
        slab = (
            self.alpha * np.log(self.beta)
            - (self.alpha + counts) * np.log(self.beta + self.totals)
            + gammaln(self.alpha + counts)
            - gammaln(self.alpha)
        )
        with np.errstate(divide="ignore"):
            spike = np.where(counts == 0.0, np.log(self.rho), -np.inf)
        moments: Floats = np.logaddexp(spike, slab + np.log1p(-self.rho)).sum(axis=1)
        return moments


Moments = DirichletMoments | GammaPoissonMoments


def count_vectors(length: int, components: int) -> Floats:
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


def log_marginal(weights: Floats, moments: Moments) -> float:
    """Return log sum_C a_C M(C) of one document, nats; -inf where it is 0.

    `weights`, (L, K), are x_lk >= 0 of every token and component, `moments` the moments of the prior.

    Raises:
        InputError: for weights that are negative, undefined or not K to a token; for more count vectors than
            `LARGEST_LAYER`; for a prior that is too far from that Dirichlet for the kernel's range (see the module).

    Examples:
        >>> uniform = DirichletMoments(np.ones(2))
        >>> print(f"{np.exp(log_marginal(np.array([[1.0, 0.0], [1.0, 0.0]]), uniform)):.4f}")  # E[theta_1^2]
        0.3333
    """
    alpha = np.ascontiguousarray(moments.alpha, dtype=float)  # of a Dirichlet near the prior
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


def posterior_counts(weights: Floats, alpha: Floats) -> tuple[float, Floats, Floats]:
    """Return log p(w), nats, and the posterior of the counts of a document's topics under LDA.

    p(C | w) = a_C M(C) / p(w) stands in the last layer: whatever reads the counts alone, as a label of supervised
    LDA does, has its expectation from it.

    Args:
        weights: (L, K) b[k, w_l] of every token and topic.
        alpha: (K,) the Dirichlet's parameters.

    Returns:
        log p(w); (N, K) count vectors; (N,) their probabilities, which sum to 1; NaN where p(w) is 0.

    Raises:
        InputError: for parameters or weights that are not as `log_marginal` takes them, or a document with too many
            count vectors.

    Examples:
        >>> value, counts, p = posterior_counts(np.array([[1.0, 0.0], [0.5, 0.5]]), np.ones(2))
        >>> print(counts[p > 0].tolist(), p[p > 0].round(3), round(np.exp(value), 3))
        [[1.0, 1.0], [2.0, 0.0]] [0.333 0.667] 0.25
    """
    _check_positive("Dirichlet", alpha=alpha)
    L, K = len(weights), len(alpha)
    if weights.ndim != 2 or weights.shape[1] != K or not np.all((weights >= 0.0) & np.isfinite(weights)):
        raise InputError(f"count polynomial: weights of shape {weights.shape}; give {K} finite numbers >= 0 to a token")
    size = math.comb(L + K - 1, K - 1)
    if size > LARGEST_LAYER:
        raise InputError(f"count polynomial: {size:.1e} count vectors of {L} tokens, the limit is {LARGEST_LAYER:.1e}")
    order = np.arange(L, dtype=np.int32)
    if L > LONGEST_IN_ORDER:
        generator("exact-marginal", tokens=L).shuffle(order)
    value, layer = np.empty(1), np.empty(size)
    arrays = (np.array([0, L], dtype=np.int64), np.ascontiguousarray(weights), np.ascontiguousarray(alpha, dtype=float))
    forward(order, *arrays, np.ones(1, dtype=np.bool_), value, np.empty((0, K)), layer)
    probabilities = layer / layer.sum() if value[0] > -math.inf else np.full(size, math.nan)
    return float(value[0]), count_vectors(L, K), probabilities


def gap_marginal(counts: Floats, b: Floats, alpha: Floats, beta: Floats, rho: Floats) -> Floats:
    """Return log p(n), (D,) nats, of count vectors under GaP (27.15, 27.16) or, with a spike, conditional GaP (27.17).

    `b`, (V, K), are the rates, n_v ~ Poisson(sum_k b[v, k] z_k), of (D, V) counts; alpha, beta and rho are as in
    `GammaPoissonMoments`.

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
    result: Floats = values - gammaln(counts + 1.0).sum(axis=1)
    return result


def rating_profile_marginal(responses: Ints, tables: Floats, alpha: Floats) -> Floats:
    """Return log p(y), (N,) nats, of vectors of responses under the user rating profile (27.14); gaps are left out.

    The responses are (N, R), -1 where there is none; the tables (R, K, M), p(y_r = m | z_r = k), rows that sum to 1.
    Errors are as of `log_marginal`, and for other responses.
    """
    R, _, M = tables.shape
    if responses.ndim != 2 or responses.shape[1] != R or not np.all((responses >= -1) & (responses < M)):
        raise InputError(f"user rating profile: give {R} responses from -1 (a gap) to {M - 1} to a row")
    moments = DirichletMoments(alpha)
    given = (np.flatnonzero(row >= 0) for row in responses)
    return np.array([log_marginal(tables[r, :, row[r]], moments) for row, r in zip(responses, given, strict=True)])


def _check_positive(prior: str, **parameters: Floats) -> None:
    for name, values in parameters.items():
        if values.ndim != 1 or len(values) != len(next(iter(parameters.values()))):
            raise InputError(f"{prior} moments: {name} has the shape {values.shape}; give one number to a component")
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise InputError(f"{prior} moments: every {name} must be positive and finite")
