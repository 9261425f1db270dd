"""The likelihood of restricted Boltzmann machines of ratings, exactly: a sum over 2^K states of the hidden units.

log p(r_i) = sum_j b_j r_j + sum_k log(1 + exp(c_k + sum_j W_j r_j k)) - log Z_i, and given h all visible units are
independent:

    Z_i = sum_h exp(c'h) prod_{j rated by i} sum_s exp(b_js + W_js' h).
"""

import numpy as np
from scipy.special import logsumexp, softmax

from gallery.ratings.models.rbm_ratings import NAME, Machine, indicators
from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.typing import Floats

MOST = 14  # largest number of hidden units of an exact Z
STATES = 1024  # hidden units' states that are taken together


def rbm_ratings_marginal(ratings: Ratings, machine: Machine) -> Evaluation:
    """Return the exact log-likelihood of each user's ratings given the rated items, (N,) nats.

    Raises:
        InputError: for more than `MOST` hidden units.

    Examples:
        >>> one = Ratings(("a",), ("x",), np.array([0]), np.array([0]), np.array([4]))
        >>> machine = Machine(np.zeros(1), np.zeros((1, 5)), np.zeros((1, 5, 1)))
        >>> np.exp(rbm_ratings_marginal(one, machine).log_likelihood).round(3)
        array([0.2])
    """
    linear = indicators(ratings) @ machine.visible.ravel()
    free = linear + np.logaddexp(0.0, machine.inputs(ratings)).sum(axis=1)
    return Evaluation.deterministic(np.asarray(free - log_partition(ratings, machine)), ratings.numbers)


def rbm_part_marginal(part: Ratings, rest: Ratings, machine: Machine) -> Evaluation:
    """Return exact log p of a part of users' ratings, (N,) nats, with the rest summed out of the machine of both.

    The machine of the part alone gives it another probability: units that are dropped are not summed over. Raises as
    `rbm_ratings_marginal` does.
    """
    both = log_partition(part, machine, rest)
    linear = indicators(part) @ machine.visible.ravel()
    return Evaluation.deterministic(np.asarray(linear + log_partition(rest, machine, given=part) - both), part.numbers)


def log_partition(
    ratings: Ratings, machine: Machine, more: Ratings | None = None, given: Ratings | None = None
) -> Floats:
    """Return log Z_i of every user, (N,) nats, over the items of `ratings` and `more`, with the units `given` fixed.

    Raises as `rbm_ratings_marginal` does.
    """
    K = len(machine.hidden)
    if K > MOST:
        raise InputError(f"{NAME}: {K} hidden units; the exact likelihood takes at most {MOST}")
    mask, parts = ratings.mask(), list[Floats]()
    if more is not None:
        mask = mask + more.mask()
    inputs = machine.hidden[None, :] if given is None else machine.inputs(given)
    for first in range(0, 2**K, STATES):
        numbers = np.arange(first, min(first + STATES, 2**K))
        h = (numbers[:, None] >> np.arange(K) & 1).astype(float)
        item_terms = logsumexp(machine.visible[:, :, None] + machine.weights @ h.T, axis=1)  # (M, states)
        parts.append(np.asarray(logsumexp(mask @ item_terms + inputs @ h.T, axis=1)))
    return np.asarray(logsumexp(np.stack(parts), axis=0))


def rbm_pseudo_likelihood(ratings: Ratings, machine: Machine) -> Evaluation:
    """Return sum_j log p(r_ij | all other r_i), (N,) nats, the usual score."""
    own = ratings.value - ratings.scale[0]
    others = machine.inputs(ratings)[ratings.user] - machine.weights[ratings.item, own]
    log_chances = np.log(_conditional(others, ratings, machine))[np.arange(len(own)), own]
    return Evaluation.deterministic(ratings.by_user(log_chances), ratings.numbers)


def rbm_predictive(given: Ratings, wanted: Ratings, machine: Machine) -> Floats:
    """Return p(r_ij = s | the given ratings of user i), (n, S), of each rating `wanted`, one unit at a time."""
    return _conditional(machine.inputs(given)[wanted.user], wanted, machine)


def _conditional(inputs: Floats, ratings: Ratings, machine: Machine) -> Floats:
    """Return the probability of each value, (n, S), given the hidden units' inputs (n, K) without the rating."""
    units = np.logaddexp(0.0, inputs[:, None, :] + machine.weights[ratings.item]).sum(axis=2)
    return np.asarray(softmax(machine.visible[ratings.item] + units, axis=1))
