"""The cost of exact likelihoods (`heldout.evaluators.exact_marginal`), without computing them."""

import math

import numpy as np
from numpy.typing import NDArray

from heldout.evaluators.exact_marginal import CHEAPER, LARGEST_LAYER, cost
from heldout.evaluators.logistic_normal import AnyTopics
from heldout.evaluators.logistic_normal import exact_cost as quadrature_of_normal
from heldout.evaluators.simplex_quadrature import FEWEST_TOPICS, LEAST_COST, is_safe, quadrature_cost
from heldout.topics import Topics


def exact_updates(tokens: NDArray[np.int32], topics: AnyTopics) -> float:
    """Return how many updates a document's exact likelihood takes; inf if it needs too much memory, or is not known.

    Args:
        tokens: (L,) words of the document.
        topics: phi and the prior.
    """
    K = topics.n_topics
    if not isinstance(topics, Topics):
        return quadrature_of_normal(len(np.unique(tokens)), K)
    if too_large(len(tokens), K):
        return math.inf
    updates, by_quadrature = _updates(tokens, K)
    if by_quadrature and not is_safe(tokens, topics.phi_by_word, topics.alpha):
        return float(cost([len(tokens)], K))
    return updates


def too_large(length: int, topics: int) -> bool:
    """Return whether the count vectors of a document of L tokens at K topics take too much memory."""
    return math.comb(length + topics - 1, topics - 1) > LARGEST_LAYER


def _updates(tokens: NDArray[np.int32], topics: int) -> tuple[float, bool]:
    """Return a document's updates, and whether quadrature is the cheaper method."""
    polynomial = cost([len(tokens)], topics)
    if topics >= FEWEST_TOPICS and polynomial >= LEAST_COST:
        points = quadrature_cost(tokens, topics)
        if points <= CHEAPER * polynomial:
            return points / CHEAPER, True
    return float(polynomial), False


def duration(seconds: float) -> str:
    """Return a time with two digits in a suitable unit.

    Examples:
        >>> duration(90.0), duration(0.0123)
        ('1.5 min', '12 ms')
    """
    units = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit = next((unit for unit, size in units.items() if seconds >= size), "µs")
    value = seconds / units[unit]
    return f"{value:.2g} {unit}" if value < 99.5 else f"{value:,.0f} {unit}"
