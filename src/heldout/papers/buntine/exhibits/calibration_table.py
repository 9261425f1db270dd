r"""Table 1 of Buntine (2009): the error of estimators against the exact value, the published figures beside ours.

Errors are in bits per token, (-log2 estimate) - (-log2 exact) over L. The source prints no unit; in this one its
figures and ours agree, and its Figure 1 has that axis.

What differs by more than sampling error allows. Means of n independent errors with standard deviations s and s' differ
by more where

    z = (mean - mean') / sqrt(s^2 / n + s'^2 / n')

is large. For standard deviations, Var(s^2) = sigma^4 (2 / (n - 1) + kappa / n) with the excess kurtosis kappa of the
errors, which is estimated from ours (where it is negative 0 is taken); so by the delta method

    z = log(s^2 / s'^2) / sqrt(2 / (n - 1) + 2 / (n' - 1) + kappa / n + kappa / n').

Both are held to a normal distribution at `LEVEL` over all cells together (Bonferroni).

The published figures are held to one another too: t is the mean over s / sqrt(n), up to what rounding does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.inputs import Inputs
from heldout.papers.buntine.experiments.calibration import ERROR, MEAN, TOKENS, estimators, variant
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.typesetting import latex

if TYPE_CHECKING:
    import pandas as pd

GAMMAS = (0.2, 0.5, 1.0, 3.0)
LABELS = dict(zip(METHODS, ("HM", "MFI (1st order)", "MFI (2nd order)", "LR", "LRS"), strict=True))
PAIRS = 100  # of the source
LEVEL = 0.05  # of any false mark in the whole table

# Buntine (2009), Table 1: mean, standard deviation and Student's t as printed, methods in the order of `METHODS`
PUBLISHED: dict[float, tuple[tuple[str, str, str], ...]] = {
    0.2: (
        ("-0.3357", "0.2345", "-14.3"),
        ("0.0018", "0.0114", "1.58"),
        ("0.0016", "0.0204", "0.815"),
        ("0.0032", "0.0256", "1.26"),
        ("0.00072", "0.0156", "0.46"),
    ),
    0.5: (
        ("-0.210", "0.120", "-17.5"),
        ("0.00131", "0.0347", "0.377"),
        ("0.00624", "0.0244", "2.55"),
        ("0.0128", "0.0429", "2.98"),
        ("0.00002", "0.0233", "-0.0079"),
    ),
    1.0: (
        ("-0.109", "0.0878", "-12.4"),
        ("0.0181", "0.0668", "2.70"),
        ("0.0261", "0.0380", "6.87"),
        ("0.000796", "0.0502", "1.58"),
        ("0.00457", "0.0317", "1.44"),
    ),
    3.0: (
        ("-0.0440", "0.0819", "-5.37"),
        ("0.0694", "0.0797", "8.71"),
        ("0.0553", "0.0646", "8.55"),
        ("0.00926", "0.0417", "2.22"),
        ("0.00510", "0.0259", "1.97"),
    ),
}
# section 4.1: milliseconds per document of 14 tokens at 4 topics with 200 samples, on a 2.16 GHz Intel Core Duo
PUBLISHED_MILLISECONDS = {
    **dict(zip(METHODS, (0.7, 0.7, 0.7, 4.3, 4.3), strict=True)),
    "exact-marginal": 346_000.0,
}

DIFFERS, MISFIT = r"$^{\dagger}$", r"$^{\ddagger}$"


@dataclass(frozen=True)
class Cell:
    """One estimator's errors at one gamma, bits per token.

    Attributes:
        errors: (n,) error per pair.
        bias, bias_error: mean over the larger set of pairs, and its standard error.
        bias_pairs: how many these are.
    """

    errors: NDArray[np.float64]
    bias: float
    bias_error: float
    bias_pairs: int

    @property
    def mean(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def deviation(self) -> float:
        """The standard deviation of the errors."""
        return float(self.errors.std(ddof=1))

    @property
    def t(self) -> float:
        """Student's t for a mean of 0."""
        return self.mean / (self.deviation / math.sqrt(len(self.errors)))

    @property
    def kurtosis(self) -> float:
        """The excess kurtosis of the errors, 0 at least."""
        centred = self.errors - self.errors.mean()
        return max(0.0, float((centred**4).mean() / (centred**2).mean() ** 2) - 3.0)


def cells(inputs: Inputs) -> dict[tuple[float, str], Cell]:
    """Return every (gamma, estimator) that was measured, of the first seed that was.

    Raises:
        InputError: when calibration was not measured at any gamma of the source.
    """
    table = inputs.measurements
    found: dict[tuple[float, str], Cell] = {}
    if table is not None:
        for gamma in GAMMAS:
            found.update(_of_gamma(table[table["variant"] == variant(gamma)], gamma))
    if not found:
        raise InputError(f"table-calibration: no gamma of {GAMMAS} was measured; measure calibration first")
    return found


def _of_gamma(table: "pd.DataFrame", gamma: float) -> dict[tuple[float, str], Cell]:
    table = table[(table["quantity"] != TOKENS) | (table["axis"] == "pairs")]
    tokens = table[table["quantity"] == TOKENS].sort_values("seed")
    if tokens.empty:
        return {}
    table = table[table["seed"] == tokens["seed"].iloc[0]]
    unit = float(tokens["value"].iloc[0]) * math.log(2.0)
    rows: dict[str, list[tuple[int, float, float]]] = {}
    columns = (table[column] for column in ("quantity", "at", "value", "standard_error"))
    for quantity, at, value, error in zip(*columns, strict=True):
        rows.setdefault(quantity, []).append((int(at), float(value), float(error)))
    found = {}
    for name in estimators():
        errors = np.array([value for _, value, _ in sorted(rows[ERROR + name])])
        ((pairs, value, error),) = rows[MEAN + name]
        found[gamma, name] = Cell(errors / unit, value / unit, error / unit, pairs)
    return found


def z_of_means(cell: Cell, mean: float, deviation: float, pairs: int = PAIRS) -> float:
    """Return the difference of a cell's mean from a published one in standard errors."""
    return (cell.mean - mean) / math.sqrt(cell.deviation**2 / len(cell.errors) + deviation**2 / pairs)


def z_of_deviations(cell: Cell, deviation: float, pairs: int = PAIRS) -> float:
    """Return the difference of a cell's log variance from a published one in standard errors."""
    n = len(cell.errors)
    variance = 2.0 / (n - 1) + 2.0 / (pairs - 1) + cell.kurtosis * (1.0 / n + 1.0 / pairs)
    return 2.0 * math.log(cell.deviation / deviation) / math.sqrt(variance)


def p_value(z: float) -> float:
    """Return the two-sided normal probability of more than z."""
    return 2.0 * NormalDist().cdf(-abs(z))


def fits(mean: str, deviation: str, t: str, pairs: int = PAIRS) -> bool:
    """Say whether a printed t can be the printed mean over its standard error, whatever rounding did to the three."""
    possible = [m / s * math.sqrt(pairs) for m, s in product(_rounded(mean), _rounded(deviation))]
    low, high = _rounded(t)
    return min(possible) <= high and max(possible) >= low


def _rounded(text: str) -> tuple[float, float]:
    """Return the least and the greatest number that is printed so."""
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    return float(text) - half, float(text) + half


def differing(found: dict[tuple[float, str], Cell]) -> dict[tuple[float, str, str], float]:
    """Return the p-values of the cells ("mean" or "s.d.") that differ from the published ones at `LEVEL` over all."""
    values = {}
    for (gamma, name), cell in found.items():
        if name in METHODS:
            mean, deviation, _ = map(float, PUBLISHED[gamma][METHODS.index(name)])
            values[gamma, name, "mean"] = p_value(z_of_means(cell, mean, deviation))
            values[gamma, name, "s.d."] = p_value(z_of_deviations(cell, deviation))
    return {key: p for key, p in values.items() if p < LEVEL / len(values)}


_HEAD = r"""\begin{tabular}{@{}l@{\quad}rrr@{\quad}rrr@{\quad}r@{}}
\toprule
& \multicolumn{3}{c}{Buntine (2009)} & \multicolumn{3}{c}{ours, as many pairs} & ours, %s pairs\\
\cmidrule(r){2-4}\cmidrule(r){5-7}\cmidrule{8-8}
method & mean & s.d. & $t$ & mean & s.d. & $t$ & mean $\pm$ s.e.\\
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"
_COLUMNS = 8


def render(inputs: Inputs) -> str:
    """Return Table 1, published and ours, with its notes below; errors in bits per token."""
    found = cells(inputs)
    marks = differing(found)
    (more, *_) = {cell.bias_pairs for cell in found.values()}
    body = ""
    for gamma in GAMMAS:
        body += rf"\midrule\multicolumn{{{_COLUMNS}}}{{@{{}}l}}{{$\gamma = {gamma:g}$}}\\" + "\n"
        for name, printed in zip(METHODS, PUBLISHED[gamma], strict=True):
            cell = found.get((gamma, name))
            theirs = [_signed(value) for value in printed]
            theirs[2] += "" if fits(*printed) else MISFIT
            row = [LABELS[name], *theirs, *(_ours(cell, gamma, name, marks) if cell else [latex.DASH] * 4)]
            body += " & ".join(row) + "\\\\\n"
    head = _HEAD % latex.integer(more)
    return head + latex.synthetic_mark(inputs, columns=_COLUMNS) + body + _FOOT + _notes(found, marks)


def _ours(cell: Cell, gamma: float, name: str, marks: dict[tuple[float, str, str], float]) -> list[str]:
    return [
        _number(cell.mean) + (DIFFERS if (gamma, name, "mean") in marks else ""),
        _number(cell.deviation) + (DIFFERS if (gamma, name, "s.d.") in marks else ""),
        _signed(f"{cell.t:.1f}"),
        rf"{_number(cell.bias)} $\pm$ {_number(cell.bias_error)}",
    ]


def _notes(found: dict[tuple[float, str], Cell], marks: dict[tuple[float, str, str], float]) -> str:
    """Return the marks' meaning, with the figures of every marked cell."""
    compared = 2 * sum(name in METHODS for _, name in found)
    each = "; ".join(
        rf"$\gamma = {gamma:g}$, {LABELS[name]}: {what}, $p = {_exponent(p)}$"
        for (gamma, name, what), p in sorted(marks.items())
    )
    misfits = []
    for gamma, rows in PUBLISHED.items():
        for name, printed in zip(METHODS, rows, strict=True):
            if not fits(*printed):
                mean, deviation, t = map(float, printed)
                error = deviation / math.sqrt(PAIRS)
                asked = _signed(np.format_float_positional(_leading(t * error), trim="-"))
                misfits.append(
                    rf"{_signed(f'{mean / error:.3g}')} ($\gamma = {gamma:g}$, {LABELS[name]}; the printed $t$ asks for"
                    rf" a mean of {asked})"
                )
    return (
        "\n\\par\\smallskip\n\\footnotesize "
        rf"{DIFFERS} Differs from the published figure by more than sampling error allows: {len(marks)} of the"
        rf" {compared} means and standard deviations at a level of {LEVEL:g} over all of them (Bonferroni)"
        rf"{': ' + each if each else ''}. {MISFIT} Not the printed mean over its standard error, which would be"
        rf" {latex.listed(misfits)}; all other rows of the source fit within rounding."
        "\n"
    )


def render_others(inputs: Inputs) -> str:
    """Return the errors of the estimators beyond the source: mean over the larger set of pairs, and s.d. of a pair."""
    found = cells(inputs)
    columns = "rr" * len(GAMMAS)
    head = [rf"\begin{{tabular}}{{@{{}}l{columns}@{{}}}}", r"\toprule"]
    head.append("".join(rf" & \multicolumn{{2}}{{c}}{{$\gamma = {gamma:g}$}}" for gamma in GAMMAS) + r"\\")
    head.append("".join(rf"\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(GAMMAS))))
    head.append("estimator" + " & mean & s.d." * len(GAMMAS) + r"\\")
    head.append("\\midrule\n")
    body = ""
    for name in (*METHODS, *(other for other in estimators() if other not in METHODS)):
        row = [LABELS.get(name, latex.escape(ESTIMATORS[name].label))]
        for gamma in GAMMAS:
            cell = found.get((gamma, name))
            row += [_number(cell.bias), _number(cell.bias_error * math.sqrt(cell.bias_pairs))] if cell else ["--"] * 2
        body += " & ".join(row) + "\\\\\n" + ("\\midrule\n" if name == METHODS[-1] else "")
    mark = latex.synthetic_mark(inputs, columns=1 + 2 * len(GAMMAS))
    return "\n".join(head) + mark + body + _FOOT


def render_timings(inputs: Inputs) -> str:
    """Return milliseconds per document, the published ones of 2009 beside ours.

    Args:
        inputs: its `benchmarks`, which benchmarks/estimators.py writes; dashes where there are none.
    """
    ours: dict[str, float] = {}
    benchmarks = inputs.benchmarks
    if benchmarks is not None:
        ours = dict(zip(benchmarks["estimator"], benchmarks["milliseconds"].astype(float), strict=True))
    names: Sequence[str] = [*METHODS, "exact-marginal"]
    names = [*names, *(name for name in ESTIMATORS if name in ours and name not in names)]
    body = ""
    for name in names:
        published = PUBLISHED_MILLISECONDS.get(name, math.nan)
        here = ours.get(name, math.nan)
        ratio = (
            latex.DASH if latex.missing(published / here) else rf"{latex.integer(_leading(published / here))}\,$\times$"
        )
        label = LABELS.get(name, latex.escape(ESTIMATORS[name].label))
        body += f"{label} & {_milliseconds(published)} & {_milliseconds(here)} & {ratio}\\\\\n"
    head = "\\begin{tabular}{@{}lrrr@{}}\n\\toprule\nmethod & 2009, ms & ours, ms & faster by\\\\\n\\midrule\n"
    return head + latex.synthetic_mark(inputs, columns=4) + body + _FOOT


def _milliseconds(value: float) -> str:
    if latex.missing(value):
        return latex.DASH
    return latex.integer(value) if value >= 100.0 else f"{value:.2g}"


def _leading(value: float) -> float:
    """Return a number rounded to two leading digits."""
    return float(f"{value:.2g}")


def _signed(text: str) -> str:
    return text.replace("-", r"$-$")


def _number(value: float) -> str:
    """Return bits per token to five decimals where they are few, else four."""
    return _signed(f"{value:.5f}" if abs(value) < 0.01 else f"{value:.4f}")


def _exponent(p: float) -> str:
    factor, exponent = f"{p:.0e}".split("e")
    return f"{float(p):.2g}" if p >= 1e-3 else rf"{factor}\cdot 10^{{{int(exponent)}}}"
