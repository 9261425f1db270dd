"""Means over seeds as text, each with its standard error."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heldout.effects import per_token
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.typesetting import latex
from heldout.verdicts import NOT_RUN

if TYPE_CHECKING:
    import pandas as pd


def gaps(scores: "pd.DataFrame", score: str = USUAL, likelihood: str = LIKELIHOOD) -> list[float]:
    """Return a score less the likelihood of one model at one K, nats per token, by seed."""
    rows = per_token(scores)
    by_seed = [rows[rows["evaluator"] == name].set_index("seed")["value"] for name in (score, likelihood)]
    return [float(gap) for gap in (by_seed[0] - by_seed[1]).dropna().sort_index()]


def signed(values: Sequence[float], digits: int) -> str:
    r"""Return the mean of values with its sign and standard error; "not run" where there are none.

    Examples:
        >>> print(signed([0.1, 0.3], 2))
        \ensuremath{+0.20} \ensuremath{\pm} 0.10
    """
    return latex.signed(float(np.mean(values)), digits) + _error(values, digits) if len(values) else NOT_RUN


def decimal(values: Sequence[float], digits: int) -> str:
    """Return the mean of values without a sign, as `signed` does."""
    return latex.decimal(float(np.mean(values)), digits) + _error(values, digits) if len(values) else NOT_RUN


def perplexity(values: Sequence[float]) -> str:
    """Return the geometric mean of perplexities, of log-likelihoods in nats per token, with its standard error."""
    if not len(values):
        return NOT_RUN
    mean = math.exp(-float(np.mean(values)))
    return latex.perplexity(mean) + _error([mean * value for value in values], 0 if mean >= 100.0 else 1)


def _error(values: Sequence[float], digits: int) -> str:
    """Return the standard error of a mean, rounded up to its last digit; nothing of a single value."""
    if len(values) < 2:
        return ""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    least = 10.0**-digits
    return rf" \ensuremath{{\pm}} {latex.decimal(max(error, least), digits)}"
