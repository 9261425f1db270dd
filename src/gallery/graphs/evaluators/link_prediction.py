"""Predictions of hidden cells of a relation: log loss and the area under the curve."""

import numpy as np
from scipy.stats import rankdata

from heldout.corpora.relations.relation import Bools
from heldout.errors import InputError
from heldout.typing import Floats


def log_loss(values: Bools, probabilities: Floats) -> float:
    """Return the mean of -log p(value), nats per cell, of (n,) cells, given the probabilities of a 1.

    Examples:
        >>> round(log_loss(np.array([True, False]), np.array([0.5, 0.5])), 4)
        0.6931
    """
    return float(-np.log(np.where(values, probabilities, 1.0 - probabilities)).mean())


def area_under_curve(values: Bools, probabilities: Floats) -> float:
    """Return the chance that a cell of 1 has a higher probability than a cell of 0, ties halved, of (n,) cells.

    Raises:
        InputError: where all cells are equal.

    Examples:
        >>> area_under_curve(np.array([True, False, False]), np.array([0.5, 0.5, 0.1]))
        0.75
    """
    ones = int(values.sum())
    zeros = len(values) - ones
    if not ones or not zeros:
        raise InputError(f"area under the curve: {ones} cells of 1 and {zeros} of 0; there must be some of each")
    return float((rankdata(probabilities)[values].sum() - ones * (ones + 1) / 2.0) / (ones * zeros))
