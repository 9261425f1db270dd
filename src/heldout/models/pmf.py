r"""Probabilistic matrix factorisation (Murphy 2012, section 27.6.2): point estimates, and exact EM over users.

    R_ij | u_i, v_j ~ N(u_i' v_j + mu + f_i + g_j, sigma^2)                                        (27.93)
    u_i ~ N(0, Sigma_u),  f_i ~ N(0, s_f^2),  v_j ~ N(0, I),  g_j ~ N(0, 1),   Sigma_u diagonal    (27.90)

mu is the mean of the training ratings. A user's offset is one more coordinate of u_i, whose loading is 1: so written,
w_i = (u_i, f_i) and a_j = (v_j, 1). Both estimators maximise over V, g and sigma^2.

*Point* (27.91, 27.92): over u_i and f_i too, by alternating least squares. The joint density log p(R, w, V, g) is that
of 27.92 with lambda_U = sigma^2 / Sigma_u and lambda_V = sigma^2; it never falls. With variances inf, lambda is 0, and
without gaps V and U are a singular value decomposition.

*Exact*: the posterior of w_i is Gaussian,

    C_i = (Sigma_w^-1 + sum_j a_j a_j' / sigma^2)^-1,   m_i = C_i sum_j a_j (R_ij - mu - g_j) / sigma^2,

so EM integrates users out. The M step regresses on E w w' = m m' + C; log p(R | V, g, sigma^2) + log p(V, g) never
falls. The prior may be learned, Sigma_wk = mean of E w_ik^2. Of point estimates that raises the joint density without
bound, since a coordinate may shrink to nothing: w_ik -> 0 at Sigma_wk -> 0.

The ratings may be taken as y = sqrt(6 - R), 6 being one above the scale. Densities are of R: |dy / dR| = 1 / (2 y).
"""

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats

NAME = "probabilistic matrix factorisation"
SMALLEST = 1e-10  # least sigma^2; a smaller one would fit rounding errors


class Factors(NamedTuple):
    """The parameters that users share.

    Attributes:
        mean: mu.
        offsets: g, (M,).
        loadings: a_j, (M, P): v_j, and a 1 where users have offsets.
        variances: the diagonal of Sigma_w, (P,); inf for no prior.
        noise: sigma^2.
        square_root: whether all this is of sqrt(6 - R).
    """

    mean: float
    offsets: Floats
    loadings: Floats
    variances: Floats
    noise: float
    square_root: bool = False

    def transformed(self, ratings: Ratings) -> tuple[Floats, Floats]:
        """Return the transformed ratings that are modelled, (n,), and the log Jacobian of each, (n,) nats."""
        values = ratings.value.astype(float)
        if not self.square_root:
            return values, np.zeros(len(values))
        roots = np.sqrt(ratings.scale[1] + 1.0 - values)
        return roots, -np.log(2.0 * roots)

    def residuals(self, ratings: Ratings) -> Floats:
        """Return R - mu - g of the transformed ratings, (n,)."""
        return np.asarray(self.transformed(ratings)[0] - self.mean - self.offsets[ratings.item])

    def predicted(self, users: Floats, ratings: Ratings) -> Floats:
        """Return the mean of each transformed rating, (n,), at users' vectors (N, P)."""
        interaction = np.einsum("np,np->n", users[ratings.user], self.loadings[ratings.item])
        return np.asarray(self.mean + self.offsets[ratings.item] + interaction)

    def ratings_of(self, predicted: Floats, scale: tuple[int, int]) -> Floats:
        """Return predictions as ratings, within the scale."""
        ends = (float(scale[0]), float(scale[1]))
        back = ends[1] + 1.0 - np.maximum(predicted, 0.0) ** 2 if self.square_root else predicted
        return np.asarray(np.clip(back, *ends))


class Posteriors(NamedTuple):
    """Gaussian posteriors of users' vectors and the likelihoods of their ratings.

    Attributes:
        means: m_i, (N, P).
        covariances: C_i, (N, P, P).
        log_marginal: log N(y_i | mu + g, sigma^2 I + A_i Sigma_w A_i') + log Jacobian, (N,) nats; 0 without ratings.
    """

    means: Floats
    covariances: Floats
    log_marginal: Floats


def posteriors(ratings: Ratings, factors: Factors) -> Posteriors:
    """Return the posterior of every user given the ratings, by the Woodbury identity in O(P^3) a user.

    Without a prior (variances of inf) the marginal lacks it, and every user needs P ratings or more.
    """
    finite = np.isfinite(factors.variances)
    residuals, loadings = factors.residuals(ratings), factors.loadings
    grams = _sums(ratings.mask(), loadings[:, :, None] * loadings[:, None, :])
    precisions = grams / factors.noise + np.diag(1.0 / factors.variances)
    linear = ratings.mask(residuals) @ loadings / factors.noise
    covariances = np.linalg.inv(precisions)
    means = np.einsum("npq,nq->np", covariances, linear)
    squares = ratings.by_user(residuals**2) / factors.noise
    jacobian = ratings.by_user(factors.transformed(ratings)[1])
    volume = np.linalg.slogdet(precisions)[1] + np.log(factors.variances[finite]).sum()
    fit = squares - np.einsum("np,np->n", linear, means)
    log_marginal = -0.5 * (ratings.numbers * math.log(2.0 * math.pi * factors.noise) + volume + fit) + jacobian
    return Posteriors(means, np.asarray(covariances, dtype=float), np.asarray(log_marginal))


@estimator
class PMF(Estimator):
    """Probabilistic matrix factorisation of `Ratings`, by alternating least squares or by exact EM over users.

    Args:
        n_components: K; 0 for offsets alone.
        posterior: of users' vectors, "point" or "exact".
        biases: whether there are the offsets f and g; without, mu is the prediction at u'v = 0.
        learned: whether the diagonal of Sigma_w is learned, from all ones.
        variance: the prior variance of u, v, f and g; inf for none, with point estimates.
        square_root: whether sqrt(6 - R) is modelled.
        noise: sigma^2; None for the estimate.
        iterations: rounds of least squares or EM, at most.
        tolerance: the least gain of the objective of a round, nats per rating.

    Attributes (after `fit`):
        factors_: a `Factors`.
        users_: the training users' vectors, or means of them, (N, P).
        objective_: log p(R, w, V, g) of points; log p(R | V, g) + log p(V, g) of EM; nats, at each round's start, and
            at the end.

    Examples:
        >>> who, what = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
        >>> ratings = Ratings(("a", "b", "c"), ("x", "y", "z"), who, what, np.array([5, 4, 1, 4, 4, 1, 1, 2, 5]))
        >>> model = PMF(1, posterior="exact", random_state=0).fit(ratings)
        >>> model.factors_.ratings_of(model.factors_.predicted(model.users_, ratings), ratings.scale).round()
        array([5., 4., 1., 4., 4., 1., 1., 2., 5.])
    """

    posterior: Literal["point", "exact"] = "point"
    biases: bool = True
    learned: bool = False
    variance: float = 1.0
    square_root: bool = False
    noise: float | None = None
    iterations: int = 50
    tolerance: float = 1e-5

    def fit(self, X: Ratings, y: None = None) -> Self:  # noqa: ARG002
        """Run the rounds on ratings X; raises InputError for settings out of range, or no ratings."""
        for _ in self.rounds(X):
            pass
        return self

    def rounds(self, X: Ratings) -> Iterator[Self]:
        """Yield the model, with its attributes so far, before each round and at the end; raises as `fit` does."""
        self._check(X)
        factors, exact, objective = self._start(X), self.posterior == "exact", list[float]()
        while True:
            user_posteriors = posteriors(X, factors)
            users = user_posteriors.means
            value = user_posteriors.log_marginal.sum() if exact else self._log_joint(X, factors, users)
            objective.append(float(value + self._log_prior(factors)))
            self.factors_, self.users_, self.objective_ = factors, users, np.array(objective)
            yield self
            gain = objective[-1] - objective[-2] if len(objective) > 1 else math.inf
            if gain < self.tolerance * len(X) or len(objective) > self.iterations:
                return
            covariances = user_posteriors.covariances if exact else np.zeros_like(user_posteriors.covariances)
            factors = self._m_step(X, factors, users, covariances)

    def _check(self, ratings: Ratings) -> None:
        if self.n_components < 1 - self.biases or self.posterior not in ("point", "exact") or self.iterations < 1:
            raise InputError(f'{NAME}: take one factor or more, one round or more, and a "point" or "exact" posterior')
        if not self.variance > 0.0 or (self.posterior == "exact" and math.isinf(self.variance)):
            raise InputError(f"{NAME}: a prior variance must be above 0, and of exact posteriors finite")
        if self.noise is not None and not self.noise > 0.0:
            raise InputError(f"{NAME}: the noise's variance must be above 0")
        if len(ratings) == 0:
            raise InputError(f"{NAME}: no ratings")
        fewest = min(ratings.numbers.min(), np.bincount(ratings.item, minlength=len(ratings.items)).min())
        if math.isinf(self.variance) and fewest < self.n_components + self.biases:
            raise InputError(f"{NAME}: without a prior every user and item needs as many ratings as factors")

    def _start(self, ratings: Ratings) -> Factors:
        """Return random loadings, from which both point estimates and EM start."""
        random, M = np.random.default_rng(self.random_state), len(ratings.items)
        loadings = random.normal(0.0, 0.3, (M, self.n_components))
        columns = (loadings, np.ones((M, 1))) if self.biases else (loadings,)
        P = self.n_components + self.biases
        start = Factors(0.0, np.zeros(M), np.hstack(columns), np.full(P, self.variance), 1.0, self.square_root)
        values = start.transformed(ratings)[0]
        noise = float(values.var()) if self.noise is None else self.noise
        return start._replace(mean=float(values.mean()), noise=max(noise, SMALLEST))

    def _m_step(self, ratings: Ratings, factors: Factors, means: Floats, covariances: Floats) -> Factors:
        """Return V and g, then sigma^2, then Sigma_w, each at the maximum of the expected log joint density."""
        K, M = self.n_components, len(ratings.items)
        targets = factors.transformed(ratings)[0] - factors.mean
        mask, moments = ratings.mask().T.tocsr(), means[:, :, None] * means[:, None, :] + covariances  # E w w'
        squares, products = _sums(mask, moments), ratings.mask(targets).T @ means
        sums, totals = mask @ means, np.bincount(ratings.item, targets, M)
        left, right = squares, products
        if self.biases:  # regress R - mu - f on (u, 1)
            left = squares.copy()
            left[:, K, :K] = left[:, :K, K] = sums[:, :K]
            left[:, K, K] = np.bincount(ratings.item, minlength=M)
            right = np.column_stack([products[:, :K] - squares[:, :K, K], totals - sums[:, K]])
        left = left + np.eye(left.shape[1]) * (factors.noise / self.variance)
        solved = np.linalg.solve(left, right[:, :, None])[:, :, 0]
        loadings = np.column_stack([solved[:, :K], factors.loadings[:, K:]])
        offsets = solved[:, K] if self.biases else factors.offsets
        noise, variances = factors.noise, factors.variances
        if self.noise is None:
            crossed = (loadings * (products - offsets[:, None] * sums)).sum()
            expected = np.einsum("jpq,jp,jq->", squares, loadings, loadings, optimize=True)
            square = ((targets - offsets[ratings.item]) ** 2).sum() - 2.0 * crossed + expected
            noise = max(float(square) / len(ratings), SMALLEST)
        if self.learned:
            variances = np.maximum(np.einsum("npp->np", moments).mean(axis=0), SMALLEST)
        return Factors(factors.mean, offsets, loadings, variances, noise, self.square_root)

    def _log_prior(self, factors: Factors) -> float:
        """Return log p(V, g), nats; 0 without a prior."""
        if math.isinf(self.variance):
            return 0.0
        free = [factors.loadings[:, : self.n_components].ravel(), *([factors.offsets] if self.biases else [])]
        return sum(_log_normal(values, self.variance) for values in free)

    @staticmethod
    def _log_joint(ratings: Ratings, factors: Factors, users: Floats) -> float:
        """Return log p(R, w | V, g), nats; log p(R | w, V, g) without a prior."""
        values, jacobian = factors.transformed(ratings)
        fit = _log_normal(values - factors.predicted(users, ratings), factors.noise) + float(jacobian.sum())
        if np.isinf(factors.variances).any():
            return fit
        return fit + sum(_log_normal(users[:, p], variance) for p, variance in enumerate(factors.variances))


def _log_normal(values: Floats, variance: float) -> float:
    return -0.5 * float(len(values) * math.log(2.0 * math.pi * variance) + (values**2).sum() / variance)


def _sums(mask: sp.csr_array, matrices: Floats) -> Floats:
    """Return sums of symmetric matrices, (rows, P, P) of (columns, P, P), over the columns that each row has."""
    P = matrices.shape[1]
    upper = np.triu_indices(P)
    sums: Floats = np.empty((mask.shape[0], P, P))
    sums[:, upper[0], upper[1]] = sums[:, upper[1], upper[0]] = mask @ matrices[:, upper[0], upper[1]]
    return sums
