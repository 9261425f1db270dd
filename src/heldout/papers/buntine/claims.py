"""The claims of Buntine (2009), section 4.1, on the errors of estimators held to exact values.

They are tested on the pairs of a model and a document of `heldout.papers.buntine.experiments.calibration`. His estimates are compared in
their logarithms, in which an unbiased estimate is too low by about half its variance; what is said of bias is tested on
that scale, as he does, and lemma 1, which is about the estimate itself, on its own.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.buntine.exhibits.calibration_table import GAMMAS, Cell, cells
from heldout.papers.buntine.experiments.calibration import RATIO, variant
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.verdicts import ALWAYS, Claim, Finding, counted

if TYPE_CHECKING:
    import pandas as pd

HARMONIC, FIRST, SECOND, PARTICLES, SEQUENTIAL = METHODS
CUTOFF = 2.58  # the source's t for a p-value above 0.995, two-sided 0.01
COMPARABLE = 2.5  # factor between two root mean squared errors; the source's own figures differ by up to as much
BAD = 10.0  # the harmonic mean's mean error against the sequential sampler's, at least
LEVEL = 0.01  # of a false alarm over all gammas together

Found = dict[tuple[float, str], Cell]


def _cells(inputs: Inputs) -> Found:
    """Return what was measured; nothing where calibration was not."""
    try:
        return cells(inputs)
    except InputError:
        return {}


def _gammas(found: Found) -> list[float]:
    """Return the gammas at which all five methods were measured."""
    return [gamma for gamma in GAMMAS if all((gamma, method) in found for method in METHODS)]


def _corrected(comparisons: int) -> float:
    """Return the cutoff, in standard errors, that keeps `LEVEL` over so many two-sided comparisons (Bonferroni)."""
    return NormalDist().inv_cdf(1.0 - LEVEL / (2.0 * max(1, comparisons)))


def _at(gammas: Sequence[float], texts: Sequence[str]) -> str:
    return "; ".join(f"gamma {gamma:g}: {text}" for gamma, text in zip(gammas, texts, strict=True))


def sequential_most_precise(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the methods, gamma by gamma, whose errors spread more than the sequential sampler's."""
    found = _cells(inputs)
    gammas = _gammas(found)
    others = [method for method in METHODS if method != SEQUENTIAL]
    agree = [found[g, method].deviation > found[g, SEQUENTIAL].deviation for g in gammas for method in others]
    texts = [
        f"{found[g, SEQUENTIAL].deviation:.4f} against {min(found[g, m].deviation for m in others):.4f}" for g in gammas
    ]
    return counted(agree, f"s.d. of LRS against the least of the others, bits per token: {_at(gammas, texts)}", [])


def sequential_unbiased(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the gammas at which the sequential sampler's mean error is below the cutoff."""
    found = _cells(inputs)
    gammas = _gammas(found)
    values = [found[g, SEQUENTIAL] for g in gammas]
    texts = [
        f"{cell.t:.1f} over {len(cell.errors):,} pairs ({cell.bias / cell.bias_error:.1f} over {cell.bias_pairs:,})"
        for cell in values
    ]
    return counted((abs(cell.t) < CUTOFF for cell in values), f"t of LRS: {_at(gammas, texts)}", [])


def others_biased(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the other methods whose mean error is above the cutoff, corrected for the gammas, at one of them."""
    found = _cells(inputs)
    gammas = _gammas(found)
    others = [method for method in METHODS if method != SEQUENTIAL] if gammas else []
    largest = [max((abs(found[g, method].t) for g in gammas), default=math.nan) for method in others]
    more = [max(abs(found[g, m].bias / found[g, m].bias_error) for g in gammas) for m in others]
    texts = [
        f"{method} {t:.1f} ({all_pairs:.1f} over all pairs)"
        for method, t, all_pairs in zip(others, largest, more, strict=True)
    ]
    cutoff = _corrected(len(gammas))
    return counted((t > cutoff for t in largest), f"largest t (cutoff {cutoff:.2f}): {', '.join(texts)}", [])


def mean_field_comparable(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Compare root mean squared errors of mean-field importance sampling and the particle sampler."""
    found = _cells(inputs)
    gammas = _gammas(found)
    ratios = [_rms(found[g, method]) / _rms(found[g, PARTICLES]) for g in gammas for method in (FIRST, SECOND)]
    texts = [f"{ratios[2 * i]:.2f} and {ratios[2 * i + 1]:.2f}" for i in range(len(gammas))]
    agree = (1.0 / COMPARABLE <= ratio <= COMPARABLE for ratio in ratios)
    return counted(agree, f"r.m.s. error of MFI, first and second order, over that of LR: {_at(gammas, texts)}", [])


def _rms(cell: Cell) -> float:
    return float(np.sqrt(np.mean(cell.errors**2)))


def harmonic_mean_biased(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the gammas at which the harmonic mean is too high, significantly and by far more than LRS is off."""
    found = _cells(inputs)
    gammas = _gammas(found)
    agree = []
    for g in gammas:
        harmonic, sequential = found[g, HARMONIC], found[g, SEQUENTIAL]
        far = abs(harmonic.bias) > BAD * max(abs(sequential.bias), sequential.bias_error)
        agree.append(harmonic.t < -CUTOFF and far)
    texts = [f"HM {-found[g, HARMONIC].bias:+.4f}, LRS {-found[g, SEQUENTIAL].bias:+.4f}" for g in gammas]
    return counted(agree, f"mean estimate less exact, bits per token: {_at(gammas, texts)}", [])


def lemma_1(inputs: Inputs, corpora: Sequence[str]) -> Finding:  # noqa: ARG001
    """Count the gammas at which the mean of LRS's estimate over the exact probability is 1 within its error."""
    if inputs.measurements is None:
        return Finding(0, 0, "", 0)
    table = inputs.measurements[inputs.measurements["quantity"] == RATIO + SEQUENTIAL]
    first = table[table["seed"] == table["seed"].min()]
    rows = [(gamma, first[first["variant"] == variant(gamma)]) for gamma in GAMMAS]
    known = [(gamma, *_value(of_gamma)) for gamma, of_gamma in rows if not of_gamma.empty]
    cutoff = _corrected(len(known))
    texts = [f"{value:.3f} +- {error:.3f}" for _, value, error in known]
    agree = [abs(value - 1.0) <= cutoff * error for _, value, error in known]
    return counted(agree, f"mean ratio: {_at([gamma for gamma, *_ in known], texts)}", [], **ALWAYS)


def _value(rows: "pd.DataFrame") -> tuple[float, float]:
    return float(rows["value"].iloc[0]), float(rows["standard_error"].iloc[0])


_PAIRS = f"the drawn pairs of a model and a document at gamma {', '.join(f'{gamma:g}' for gamma in GAMMAS)}"

CLAIMS = (
    Claim(
        "lrs-most-precise",
        "Buntine, section 4.1",
        "Whatever the topics, the errors of LRS spread less than those of any other method.",
        f"{_PAIRS}, every other method: the standard deviation of its errors exceeds that of LRS",
        sequential_most_precise,
    ),
    Claim(
        "lrs-unbiased",
        "Buntine, section 4.1",
        "No significant bias of LRS is seen.",
        f"{_PAIRS}: Student's t of its mean error is below {CUTOFF:g}, over the pairs that are reported one by one",
        sequential_unbiased,
    ),
    Claim(
        "others-biased",
        "Buntine, section 4.1",
        "Each of the other methods shows a significant bias for some topics.",
        f"every method but LRS: Student's t of its mean error exceeds at some gamma what chance exceeds at any with"
        f" probability {LEVEL:g} (normal, Bonferroni)",
        others_biased,
    ),
    Claim(
        "mfi-comparable-to-lr",
        "Buntine, section 4.1",
        "Mean-field importance sampling, of first and second order, errs about as much as the particles of LR.",
        f"{_PAIRS}, both orders: root mean squared errors within a factor {COMPARABLE:g} of LR's",
        mean_field_comparable,
    ),
    Claim(
        "harmonic-mean-biased",
        "Buntine, sections 1 and 4.1",
        "The harmonic mean is far too high.",
        f"{_PAIRS}: it is too high, by t above {CUTOFF:g} and by {BAD:g} times the mean error of LRS or that one's"
        " standard error, the larger",
        harmonic_mean_biased,
    ),
    Claim(
        "lrs-lemma-1",
        "Buntine, lemma 1",
        "With enough samples the expectation of LRS's estimate is the probability itself.",
        f"{_PAIRS}: the mean of estimate / exact is 1 within its error (all gammas together at level {LEVEL:g})",
        lemma_1,
    ),
)

from heldout.papers.buntine.claims_realistic import REALISTIC  # noqa: E402

CLAIMS = (*CLAIMS, *REALISTIC)
