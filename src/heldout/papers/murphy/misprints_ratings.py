"""Misprints of section 27.6.2; see `heldout.papers.murphy.misprints`."""

import math

import numpy as np
from scipy.stats import norm

from heldout.papers.murphy.misprint import Errors, Misprint


def _objective() -> Errors:
    """Compare differences of 27.92 between two points with those of -log p(R, U, V), of two ratings by one user."""
    ratings, noise, variance = np.array([4.0, 2.0]), 0.8, 2.0
    decay = noise / variance
    printed, exact = [], []
    for u, v in ((1.0, np.array([1.0, 0.5])), (0.7, np.array([2.0, 1.5]))):
        printed.append(((ratings - u * v) ** 2).sum() + decay * (u**2 + (v**2).sum()))
        log_density = norm.logpdf(ratings, u * v, math.sqrt(noise)).sum()
        exact.append(-log_density - norm.logpdf([u, *v], 0.0, math.sqrt(variance)).sum())
    of_printed, of_exact = printed[1] - printed[0], exact[1] - exact[0]
    return float(abs(of_printed - of_exact)), float(abs(of_printed / (2.0 * noise) - of_exact))


RATINGS = (
    Misprint(
        "27.92",
        r"$J = \sum_{ij} \mathbb{I}(O_{ij} = 1)(\cdot)^2 + \dots$",
        r"$2 \sigma^2 J$; the minimum is the same",
        r"it is $-\log p(R, U, V)$ but for a constant",
        _objective,
    ),
    Misprint(
        "27.6.2",
        r"ratings from $\{0, 1, 2, 3, 4, 5\}$",
        r"$\{1, 2, 3, 4, 5\}$",
        "names the stars of Netflix and MovieLens",
    ),
)
