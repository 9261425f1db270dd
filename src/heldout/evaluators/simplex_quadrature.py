r"""The exact likelihood as a finite sum over points of the simplex, fast for documents with repeated tokens.

The likelihood of a document given theta is a polynomial of degree L in theta, with one factor per distinct word w of
count n_w:

    p(w | alpha, phi) = ∫ prod_w (sum_k theta_k phi[k, w])^n_w Dir(theta | alpha) dtheta.

Stick-breaking: theta_k = s_k prod_{j<k} (1 - s_j) for k < K, and theta_K = prod_{j<K} (1 - s_j). Under the prior
s_k ~ Beta(alpha_k, alpha_{k+1} + .. + alpha_K), independently, and the integrand is a polynomial of degree at most L in
each s_k. Gauss's rule of n points is exact up to degree 2n - 1, so n = floor(L/2) + 1 points per stick, n^(K-1) in all,
give p exactly (up to rounding); every term is positive, so nothing cancels. At each point a word is evaluated once,
however often it occurs: with Q_m the product over the words of count m or more, the integrand is prod_m Q_m. That makes
n^(K-1) (U + largest count) operations for U distinct words; the polynomial over count vectors takes K C(L + K - 1, K).
On abstracts, at K = 3 and 4, quadrature takes a tenth of the polynomial's time or less, because the inner loop over
points needs no memory and vectorises.

The rule. For Beta(a, b) on [0, 1], with c = a + b, the orthonormal polynomials satisfy the recurrence

    s p_i = r_i p_{i-1} + d_i p_i + r_{i+1} p_{i+1},
    d_0 = a / c,     2 d_i = 1 + (a - b)(c - 2) / ((2i - 2 + c)(2i + c)),     r_1^2 = a b / (c^2 (1 + c)),
    r_i^2 = i (i + a - 1)(i + b - 1)(i + c - 2) / ((2i + c - 2)^2 (2i + c - 1)(2i + c - 3))      for i > 1.

Its points are the eigenvalues of the tridiagonal matrix of d and r (Golub and Welsch, 1969), its weights Christoffel's
1 / sum_{i<n} p_i(s)^2: a sum of positive terms, so that even weights of 1e-100 are accurate.
"""

import functools

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaln

from heldout.typing import Floats

FEWEST_TOPICS = 3  # fewest topics; with 2 the polynomial is as fast
LEAST_COST = 2 * 10**5  # the polynomial's updates from which points are worth computing
LARGEST_LOSS = 600.0  # nats: values that underflow are below e^-708
SMALLEST_ALPHA = 1e-5
STEP = 4  # divisor of the number of points per stick


@functools.lru_cache(maxsize=1024)
def beta_rule(points: int, a: float, b: float) -> tuple[Floats, Floats]:
    """Return (n,) points in (0, 1) and (n,) weights of Gauss's rule for Beta(a, b); the weights sum to 1."""
    c, i = a + b, np.arange(1.0, points)
    diagonal = np.empty(points)
    diagonal[0] = a / c
    diagonal[1:] = (1.0 + (a - b) * (c - 2.0) / ((2.0 * i - 2.0 + c) * (2.0 * i + c))) / 2.0
    off_diagonal = np.empty(points - 1)
    off_diagonal[:1] = a * b / (c * c * (1.0 + c))
    i = i[1:]
    denominators = (2.0 * i + c - 2.0) ** 2 * (2.0 * i + c - 1.0) * (2.0 * i + c - 3.0)
    off_diagonal[1:] = i * (i + a - 1.0) * (i + b - 1.0) * (i + c - 2.0) / denominators
    off_diagonal = np.sqrt(off_diagonal)
    s = eigh_tridiagonal(diagonal, off_diagonal, eigvals_only=True)
    previous, current, total = np.zeros(points), np.ones(points), np.ones(points)
    with np.errstate(over="ignore", invalid="ignore"):  # a weight below 1e-308 is 0
        for j in range(points - 1):
            following = (s - diagonal[j]) * current - (off_diagonal[j - 1] if j else 0.0) * previous
            previous, current = current, following / off_diagonal[j]
            total += current * current
    weights = np.where(np.isfinite(total), 1.0 / total, 0.0)
    return s, weights / weights.sum()


@nb.njit(cache=True, nogil=True)  # as `heldout.evaluators.exact_marginal.forward`
def _sum_over_points(counts, phi, sticks, rest, weights, mean):  # type: ignore[no-untyped-def]
    """Return sum p(w | theta) over the points and add theta times it to `mean`; topics are counted from 0.

    Words are ordered by falling count. The inner loop runs over the last stick, where a word's probability is base +
    left s + right (1 - s).
    """
    words, K = phi.shape
    M, n = sticks.shape
    places, theta = np.zeros(M, np.int64), np.empty(M)
    base, left, right = np.empty(words), np.empty(words), np.empty(words)
    product, value = np.empty(n), np.empty(n)
    s, u, inner = sticks[M - 1], rest[M - 1], weights[M - 1]
    total = 0.0
    while True:
        remaining, weight = 1.0, 1.0
        base[:] = 0.0
        for k in range(M - 1):
            theta[k] = remaining * sticks[k, places[k]]
            for j in range(words):
                base[j] += theta[k] * phi[j, k]
            remaining *= rest[k, places[k]]
            weight *= weights[k, places[k]]
        for j in range(words):
            left[j], right[j] = remaining * phi[j, K - 2], remaining * phi[j, K - 1]
        product[:] = 1.0
        value[:] = 1.0
        j = 0
        for count in range(counts[0], 0, -1):
            while j + 1 < words and counts[j + 1] >= count:
                b0, l0, r0 = base[j], left[j], right[j]
                b1, l1, r1 = base[j + 1], left[j + 1], right[j + 1]
                for i in range(n):
                    product[i] *= (b0 + l0 * s[i] + r0 * u[i]) * (b1 + l1 * s[i] + r1 * u[i])
                j += 2
            if j < words and counts[j] >= count:
                b0, l0, r0 = base[j], left[j], right[j]
                for i in range(n):
                    product[i] *= b0 + l0 * s[i] + r0 * u[i]
                j += 1
            for i in range(n):
                value[i] *= product[i]
        first, second = 0.0, 0.0
        for i in range(n):
            term = value[i] * inner[i]
            first += term * s[i]
            second += term * u[i]
        here = weight * (first + second)
        total += here
        for k in range(M - 1):
            mean[k] += here * theta[k]
        mean[K - 2] += weight * remaining * first
        mean[K - 1] += weight * remaining * second
        k = M - 2
        while k >= 0 and places[k] == n - 1:
            places[k] = 0
            k -= 1
        if k < 0:
            return total
        places[k] += 1


def _points(length: int) -> int:
    return -(-(length // 2 + 1) // STEP) * STEP


def quadrature_cost(tokens: NDArray[np.int32], topics: int) -> int:
    """Return a document's operations, n^(K-1) (U + largest count), with n points per stick and U distinct words."""
    _, counts = np.unique(tokens, return_counts=True)
    return int(_points(len(tokens)) ** (topics - 1)) * int(len(counts) + counts.max(initial=0))


def is_safe(tokens: NDArray[np.int32], phi_by_word: Floats, alpha: Floats) -> bool:
    """Return whether quadrature gives a document's likelihood with all its digits.

    The points have an absolute precision of about 1e-16, too little for points next to 0 and 1 if alpha is tiny: at
    1e-6 the result moved by 5e-9 nats, so it is not safe below `SMALLEST_ALPHA`.

    With every word's probabilities divided by their maximum, p is at least the probability of the words' likeliest
    topics under Polya's urn. Where that is above e^-600, underflow at single points is negligible.
    """
    words, counts = np.unique(tokens, return_counts=True)
    phi = phi_by_word[words]
    likeliest = np.bincount(phi.argmax(axis=1), weights=counts, minlength=len(alpha)).astype(np.float64)
    possible = bool(phi.max(axis=1, initial=0.0).min(initial=1.0) > 0.0)
    log_p = gammaln(alpha.sum()) - gammaln(alpha.sum() + likeliest.sum())
    log_p += (gammaln(alpha + likeliest) - gammaln(alpha)).sum()
    return possible and bool(alpha.min() >= SMALLEST_ALPHA and log_p >= -LARGEST_LOSS)


def by_quadrature(tokens: NDArray[np.int32], phi_by_word: Floats, alpha: Floats) -> tuple[float, Floats]:
    """Return log p(w | alpha, phi), nats, and E[theta | w], (K,), K > 1, of a document, (L,), that `is_safe`."""
    words, counts = np.unique(tokens, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    counts, phi = counts[order].astype(np.int64), phi_by_word[words[order]]
    highest = phi.max(axis=1)
    points = _points(len(tokens))
    remaining_alpha = np.cumsum(alpha[::-1])[::-1]
    rules = [beta_rule(points, float(alpha[k]), float(remaining_alpha[k + 1])) for k in range(len(alpha) - 1)]
    sticks, weights = np.array([s for s, _ in rules]), np.array([w for _, w in rules])
    mean = np.zeros(len(alpha))
    p = _sum_over_points(counts, phi / highest[:, None], sticks, 1.0 - sticks, weights, mean)
    return float(np.log(p) + counts @ np.log(highest)), mean / p
