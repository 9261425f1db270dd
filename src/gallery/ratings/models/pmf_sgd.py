r"""Probabilistic matrix factorisation by stochastic gradient descent (Murphy 2012, 27.88, 27.89 and 27.92).

A pass takes every rating once, in random order. With e_ij the error of the prediction,

    u_i <- u_i + eta (e_ij v_j - lambda_U u_i),        v_j <- v_j + eta (e_ij u_i - lambda_V v_j),

both from the old values, and the offsets f_i and g_j alike with a loading of 1. A step at every rating weights
||u_i||^2 in 27.92 by the ratings that user i has given, as scikit-surprise's SVD and the source's own code do;
divided by their number, the decay is of 27.92 as printed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numba as nb
import numpy as np

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.models.pmf import NAME, Factors
from heldout.typing import Floats


class Decays(NamedTuple):
    """Decays lambda_U and lambda_V; `printed` ones divide by the numbers of ratings, as in 27.92."""

    users: float
    items: float
    printed: bool = False


class Point(NamedTuple):
    """Factors with the noise sigma^2 of the training data, and the training users' vectors, (N, P)."""

    factors: Factors
    users: Floats


@nb.njit(
    "void(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], int64, float64, float64[::1],"
    " float64[::1])",
    cache=True,
)
def _descend(user, item, target, U, V, free, rate, decay_u, decay_v):  # type: ignore[no-untyped-def]
    """Step along the gradient of each rating; columns of U and V from `free` on are a loading of 1 of the other's."""
    P = U.shape[1]
    for n in range(len(target)):
        i, j = user[n], item[n]
        error = target[n]
        for p in range(P):
            error -= U[i, p] * V[j, p]
        for p in range(free):
            u, v = U[i, p], V[j, p]
            U[i, p] += rate * (error * v - decay_u[i] * u)
            V[j, p] += rate * (error * u - decay_v[j] * v)
        if free < P:
            U[i, free] += rate * (error - decay_u[i] * U[i, free])
            V[j, free + 1] += rate * (error - decay_v[j] * V[j, free + 1])


@nb.njit("float64(int64[:], int64[:], float64[:], float64[:, ::1], float64[:, ::1])", cache=True)
def _mean_square(user, item, target, U, V):  # type: ignore[no-untyped-def]
    """Return the mean squared error, of inner products in four partial sums, which a processor adds at once."""
    P, total = U.shape[1], 0.0
    whole = P - P % 4
    for n in range(len(target)):
        i, j = user[n], item[n]
        a = b = c = d = 0.0
        for p in range(0, whole, 4):
            a += U[i, p] * V[j, p]
            b += U[i, p + 1] * V[j, p + 1]
            c += U[i, p + 2] * V[j, p + 2]
            d += U[i, p + 3] * V[j, p + 3]
        for p in range(whole, P):
            a += U[i, p] * V[j, p]
        total += (target[n] - ((a + b) + (c + d))) ** 2
    return total / len(target)


def passes(
    ratings: Ratings,
    K: int,
    decays: Decays,
    random: np.random.Generator,
    *,
    rate: float = 0.01,
    biases: bool = True,
    start: float = 0.1,
) -> Iterator[Point]:
    """Yield the point after each pass, from normal factors with the deviation `start` and offsets of 0.

    Raises:
        InputError: for no ratings, a rate that is not above 0 or negative decays.
    """
    if len(ratings) == 0 or K < 1 or not rate > 0.0 or min(decays[:2]) < 0.0:
        raise InputError(f"{NAME}: descent needs ratings, one factor or more, a rate above 0 and decays of 0 or more")
    N, M = len(ratings.users), len(ratings.items)
    U, V = random.normal(0.0, start, (N, K)), random.normal(0.0, start, (M, K))
    if biases:
        U = np.column_stack([U, np.zeros(N), np.ones(N)])
        V = np.column_stack([V, np.ones(M), np.zeros(M)])
    U, V = np.ascontiguousarray(U), np.ascontiguousarray(V)
    rated = np.bincount(ratings.item, minlength=M)
    user_decays = decays.users / (np.maximum(ratings.numbers, 1) if decays.printed else np.ones(N))
    item_decays = decays.items / (np.maximum(rated, 1) if decays.printed else np.ones(M))
    mean = float(ratings.value.mean())
    targets = ratings.value - mean
    while True:
        order = random.permutation(len(ratings))
        _descend(ratings.user[order], ratings.item[order], targets[order], U, V, K, rate, user_decays, item_decays)
        own, noise = K + biases, _mean_square(ratings.user, ratings.item, targets, U, V)
        factors = Factors(mean, V[:, K + 1].copy() if biases else np.zeros(M), V[:, :own].copy(), np.ones(own), noise)
        yield Point(factors, U[:, :own].copy())
