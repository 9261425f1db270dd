"""Means over seeds as text, each with its standard error."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heldout.effects import per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.points import Point
from heldout.typesetting import latex
from heldout.verdicts import NOT_RUN

if TYPE_CHECKING:
    import pandas as pd

LARGE = 100.0  # perplexities without decimals
MOST = 5  # decimals of an error
LEAST_ERROR = 1e-4  # nats per token: a smaller one is rounded up to it


def gaps(scores: "pd.DataFrame", score: str = USUAL, likelihood: str = LIKELIHOOD) -> list[float]:
    """Return a score less the likelihood of one model at one K, nats per token, by seed."""
    rows = per_token(scores)
    by_seed = [rows[rows["evaluator"] == name].set_index("seed")["value"] for name in (score, likelihood)]
    return [float(gap) for gap in (by_seed[0] - by_seed[1]).dropna().sort_index()]


def signed(values: Sequence[float], digits: int) -> str:
    r"""Return the mean of values with its sign and standard error; "not run" where there are none.

    Args:
        values: one for each seed.
        digits: decimals; of a smaller error as many more as show it.

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
    if error < 10.0**-MOST:
        return "", digits
    digits = max(digits, -math.floor(math.log10(error)))
    return rf"~\ensuremath{{\pm}}~{latex.decimal(error, digits)}", digits
