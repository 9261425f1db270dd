"""Means over seeds as text, each with its standard error."""

import math
from collections.abc import Sequence

import numpy as np

from artifact.contrasts.effect import NOT_RUN
from artifact.results.reading import Point
from artifact.typesetting import latex

LARGE = 100.0  # least perplexity without decimals
MOST = 5  # largest number of an error's decimals
LEAST_ERROR = 1e-4  # nats per token; smaller errors are rounded up to it


def signed(values: Sequence[float], digits: int) -> str:
    r"""Return the mean of values with its sign and standard error; "not run" where there are none.

    Args:
        values: one for each seed.
        digits: number of decimals; more where a smaller error needs them.

    Examples:
        >>> print(signed([0.1, 0.3], 2))
        \ensuremath{+0.20}~\ensuremath{\pm}~0.10
    """
    if not len(values):
        return NOT_RUN
    error, digits = _error(values, digits)
    return latex.signed(float(np.mean(values)), digits) + error


def scored(point: Point | None, digits: int = 3) -> str:
    """Return a score, nats per token, with its Monte Carlo error where it has one; a dash for none."""
    if point is None:
        return latex.DASH
    error = rf" \ensuremath{{\pm}} {max(point.error, LEAST_ERROR):.4f}" if point.error else ""
    return latex.signed(point.value, digits) + error


def decimal(values: Sequence[float], digits: int) -> str:
    """Return the mean of values without a sign, as `signed` does."""
    if not len(values):
        return NOT_RUN
    error, digits = _error(values, digits)
    return latex.decimal(float(np.mean(values)), digits) + error


def span(values: Sequence[float]) -> str:
    """Return the least and the largest of whole numbers as "2 to 4"; one number where they are equal."""
    return " to ".join(dict.fromkeys(map(latex.integer, (min(values), max(values))))) if len(values) else NOT_RUN


def perplexity(values: Sequence[float]) -> str:
    """Return the geometric mean of perplexities, of log-likelihoods in nats per token, with its standard error."""
    if not len(values):
        return NOT_RUN
    mean = math.exp(-float(np.mean(values)))
    error, digits = _error([mean * value for value in values], 0 if mean >= LARGE else 1)
    return latex.decimal(mean, digits) + error


def _error(values: Sequence[float], digits: int) -> tuple[str, int]:
    """Return the standard error of a mean, none of a single value or of equal ones, and the decimals that show it."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    if not error >= 10.0**-MOST:
        return "", digits
    digits = max(digits, -math.floor(math.log10(error)))
    return rf"~\ensuremath{{\pm}}~{latex.decimal(error, digits)}", digits
