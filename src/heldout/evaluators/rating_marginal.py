r"""Likelihoods of the ratings of new users under Gaussian factors, and folding in (Murphy 2012, section 27.6.2).

A new user's vector is integrated out, and so is the offset f_i in it:

    p(r_i) = N(r_i | mu + g, sigma^2 I + A_i Sigma_w A_i').

*Full folding-in* is log p(r_i | m_i), m_i the mean and the mode of the posterior given all of r_i. It exceeds the
likelihood by log p(m_i | r_i) - log p(m_i), the density of the posterior at its mode over that of the prior:

    (log det(I + Sigma_w A_i' A_i / sigma^2) + m_i' Sigma_w^-1 m_i) / 2 >= 0.

*Half folding-in* scores each half of the ratings at the posterior mean given the other.

*Binned*: a rating is the bin of half a unit to either side, those at the ends of the scale are open, and

    P(r_i) = E prod_j [Phi((r_ij + 1/2 - w' a_j - mu - g_j) / sigma) - Phi((r_ij - 1/2 - ..) / sigma)]

sums to one over all ratings, like the likelihood of a model of categories. It is an integral over P dimensions, by
importance sampling from two Gaussians at the mode of its integrand, which is log-concave. One has the curvature there.
Where the mode lies at the edge of a bin, which is steep on one side and flat on the other, that is too narrow: of the
other Gaussian no bin curves more than a uniform density of its width does, 12 / width^2, an open one not at all. If all
are open it has the prior's covariance, and weights are bounded, for a concave log-likelihood lies below its tangent.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from heldout.corpora.relations.ratings import Ratings
from heldout.evaluators.evaluation import Evaluation, check_samples, corrected, log_mean
from heldout.models.pmf import Factors, posteriors
from heldout.typing import Floats, Ints

WIDER = 1.05  # standard deviations of the proposal over those at the mode
NEWTON = 20  # most Newton steps to the mode
CLOSE = 1e-6  # nats by which the mode may be missed
SMALLEST_STEP = 1e-9


def rating_marginal(ratings: Ratings, factors: Factors) -> Evaluation:
    """Return the exact log density of each user's ratings, (N,) nats.

    Examples:
        >>> one = Ratings(("a",), ("x", "y"), np.array([0, 0]), np.array([0, 1]), np.array([4, 2]))
        >>> factors = Factors(3.0, np.zeros(2), np.array([[1.0], [-1.0]]), np.ones(1), 1.0)
        >>> rating_marginal(one, factors).log_likelihood.round(6)  # covariance [[2, -1], [-1, 2]]
        array([-2.720517])
    """
    return Evaluation.deterministic(posteriors(ratings, factors).log_marginal, ratings.numbers)


def full_folding_in(ratings: Ratings, factors: Factors) -> Evaluation:
    """Return log p(r_i | m_i), (N,) nats, at the mode given the same ratings."""
    values = conditional(ratings, factors, posteriors(ratings, factors).means)
    return Evaluation.deterministic(ratings.by_user(values), ratings.numbers)


class Halves(NamedTuple):
    """The likelihood of each half of users' ratings given the other.

    Attributes:
        folded_in: log p(r | m) at the mean given the other half.
        integrated: log p(r_A | r_B) + log p(r_B | r_A), exact.
        predictions: (n,) means of the ratings as predicted, in the order of the ratings.
    """

    folded_in: Evaluation
    integrated: Evaluation
    predictions: Floats


def half_folding_in(ratings: Ratings, factors: Factors, halves: tuple[Ints, Ints]) -> Halves:
    """Return the likelihoods and predictions of each half of every user's ratings (`divided`) given the other half."""
    folded, exact = np.zeros(len(ratings.users)), np.zeros(len(ratings.users))
    predictions, whole = np.zeros(len(ratings)), posteriors(ratings, factors).log_marginal
    for own, other in (halves, halves[::-1]):
        scored, given = ratings.take(own), posteriors(ratings.take(other), factors)
        folded += scored.by_user(conditional(scored, factors, given.means))
        exact += whole - given.log_marginal
        predictions[own] = factors.ratings_of(factors.predicted(given.means, scored), ratings.scale)
    first, second = (Evaluation.deterministic(values, ratings.numbers) for values in (folded, exact))
    return Halves(first, second, predictions)


def divided(ratings: Ratings, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the positions of two random halves of every user's ratings; of an odd number the second has one more."""
    order = np.lexsort((random.random(len(ratings)), ratings.user))
    starts = np.repeat(np.cumsum(ratings.numbers) - ratings.numbers, ratings.numbers)
    first = np.arange(len(ratings)) - starts < np.repeat(ratings.numbers // 2, ratings.numbers)
    return np.sort(order[first]), np.sort(order[~first])


def conditional(ratings: Ratings, factors: Factors, users: Floats) -> Floats:
    """Return the log density of each rating at its user's vector, (n,) nats."""
    values, jacobian = factors.transformed(ratings)
    squares = (values - factors.predicted(users, ratings)) ** 2 / factors.noise
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * factors.noise) + squares) + jacobian)


def root_mean_square_error(ratings: Ratings, predictions: Floats) -> float:
    """Return the error of predicted ratings (n,), 27.84.

    Examples:
        >>> one = Ratings(("a",), ("x", "y"), np.array([0, 0]), np.array([0, 1]), np.array([4, 2]))
        >>> root_mean_square_error(one, np.array([3.0, 3.0]))
        1.0
    """
    return float(np.sqrt(((ratings.value - predictions) ** 2).mean()))


def binned_marginal(ratings: Ratings, factors: Factors, samples: int, random: np.random.Generator) -> Evaluation:
    """Return the log-likelihood of each user's ratings as bins, (N,) nats, by importance sampling.

    Raises:
        InputError: for fewer than two samples.
    """
    check_samples("binned ratings", samples, 2)
    user_posteriors, P = posteriors(ratings, factors), factors.loadings.shape[1]
    scores, errors = np.zeros(len(ratings.users)), np.zeros(len(ratings.users))
    edges = bins(ratings, factors)
    starts = np.cumsum(ratings.numbers) - ratings.numbers
    order = np.argsort(ratings.user, kind="stable")
    for i in np.flatnonzero(ratings.numbers):
        own = order[starts[i] : starts[i] + ratings.numbers[i]]
        loadings = factors.loadings[ratings.item[own]]
        mode, precisions = _mode(user_posteriors.means[i], loadings, edges[:, own], factors)
        roots = np.linalg.cholesky(np.linalg.inv(precisions)) * WIDER
        normal = random.standard_normal((samples, P))
        normal[::2] @= roots[0].T
        normal[1::2] @= roots[1].T
        vectors = mode + normal
        means = loadings @ vectors.T  # (n_i, samples)
        log_probabilities = log_bins(means, edges[:, own], factors.noise).sum(axis=0)
        prior = -0.5 * (vectors**2 / factors.variances + np.log(factors.variances)).sum(axis=1)
        proposal = np.logaddexp(*(_log_normal(normal, root) for root in roots)) - np.log(2.0)
        value, error = log_mean((log_probabilities + prior - proposal)[None, :])
        scores[i], errors[i] = value[0], error[0]
    return corrected(Evaluation(scores, ratings.numbers, errors))


def rating_bins(ratings: Ratings) -> Floats:
    """Return the lower and upper end of each rating's bin, (2, n)."""
    low, high = ratings.scale
    lower = np.where(ratings.value == low, -np.inf, ratings.value - 0.5)
    return np.asarray(np.stack([lower, np.where(ratings.value == high, np.inf, ratings.value + 0.5)]))


def bins(ratings: Ratings, factors: Factors) -> Floats:
    """Return the lower and upper end of each rating's bin, transformed, less mu and g, (2, n)."""
    lower, upper = rating_bins(ratings)
    if factors.square_root:  # the transform falls
        roots = np.sqrt(np.maximum(ratings.scale[1] + 1.0 - upper, 0.0))
        lower, upper = np.where(np.isinf(upper), -np.inf, roots), np.sqrt(ratings.scale[1] + 1.0 - lower)
    return np.asarray(np.stack([lower, upper]) - factors.mean - factors.offsets[ratings.item])


def log_bins(means: Floats, edges: Floats, noise: float) -> Floats:
    """Return log P(lower < x < upper) of x ~ N(mean, sigma^2), (n, S) nats, for means (n, S) and edges (2, n)."""
    low, high = ((edge[:, None] - means) / np.sqrt(noise) for edge in edges)
    right = low + high > 0.0  # mirrored to the left tail, where log Phi keeps its digits
    low, high = np.where(right, -high, low), np.where(right, -low, high)
    upper = log_ndtr(high)
    return np.asarray(upper + np.log1p(-np.exp(log_ndtr(low) - upper)))


def _log_normal(x: Floats, root: Floats) -> Floats:
    """Return log N(x | 0, root root'), less its constant, of (S, P) points."""
    scaled = np.linalg.solve(root, x.T)
    return np.asarray(-0.5 * (scaled**2).sum(axis=0) - np.log(np.diag(root)).sum())


def _mode(start: Floats, loadings: Floats, edges: Floats, factors: Factors) -> tuple[Floats, Floats]:
    """Return the mode of a user's vector given bins, (P,), by Newton's method, and two precisions there, (2, P, P)."""
    prior = np.diag(1.0 / factors.variances)
    vector, deviation = start, np.sqrt(factors.noise)

    def objective(point: Floats) -> float:
        return float(log_bins((loadings @ point)[:, None], edges, factors.noise).sum() - 0.5 * point @ prior @ point)

    value = objective(vector)
    curvature = np.zeros(len(loadings))
    for _ in range(NEWTON):
        low, high = (edges - loadings @ vector) / deviation
        log_probabilities = log_bins((loadings @ vector)[:, None], edges, factors.noise)[:, 0]
        densities = [np.exp(-0.5 * end**2 - 0.5 * np.log(2.0 * np.pi) - log_probabilities) for end in (low, high)]
        slope = (densities[0] - densities[1]) / deviation
        ends = [
            np.where(np.isinf(end), 0.0, end) * density for end, density in zip((low, high), densities, strict=True)
        ]
        curvature = slope**2 + (ends[1] - ends[0]) / factors.noise
        precision = (loadings * curvature[:, None]).T @ loadings + prior
        step = np.linalg.solve(precision, loadings.T @ slope - prior @ vector)
        while (gained := objective(vector + step) - value) < 0.0 and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2.0
        if gained < 0.0:
            break
        vector, value = vector + step, value + gained
        if gained < CLOSE:
            break
    largest = 12.0 / (edges[1] - edges[0]) ** 2
    both = np.stack([curvature, np.minimum(curvature, largest)])
    return vector, (loadings * both[:, :, None]).transpose(0, 2, 1) @ loadings + prior
