r"""Which estimator, and how many samples, reach a wanted error at this number of topics and document length.

What is known of the estimators' errors and costs is measured (`heldout.papers.likelihood.experiments.precision`, `benchmarks/estimators.py`) on
a grid of K and L for a few priors. Between its points the root mean square error e and the seconds t of an estimator
are taken as bilinear in the logarithms,

    log e(K, L; S) = sum of the four corners' log e(S), weighted by log K and log L,

and at a corner, between the numbers of samples S that were measured, as linear in log S. Beyond the most samples that
were measured, the error of a consistent estimator goes on falling with the slope of the last two, but no faster than
S^(-1/2), up to ten times as many samples; that of one that is not consistent is not followed. Shorter documents and
fewer topics than any measured take the errors of the grid's edge. Beyond the largest, errors grow by the last
interval's power of K or L, but by the power 1/2 at least and 1 at most.

On the safe side. To an error its own standard error is added; no error is taken to be less than what is known of the
reference that it was measured against; it never rises with the samples (the largest at so many or more counts); and
where no measured prior is the asked one, the larger error of the two around it counts, or the largest of all. A bias b
is taken as large as (b^2 + its standard error^2)^(1/2), and no error is less than the bias.

The wanted error is that of a document, or of the mean over D documents: independent errors average, a bias does not, so

    e of the mean = ((e^2 - b^2) / D + b^2)^(1/2).

Documents of many lengths: the root of the mean of the squares, the mean of the biases.

All of this is of topics drawn from a Dirichlet distribution and of documents drawn from them. Held-out documents are no
such draws: words come in bursts, and a posterior is sharper than that of any draw. On test documents of Cranfield under
topics that scikit-learn fitted (K = 4, exact values), annealed importance sampling and the left-to-right samplers with
resampling erred up to about twice as much as is expected here, mean-field importance sampling and iterated
pseudo-counts up to ten times, Chib's estimator up to a hundred times, and no standard error tells. What works because a
drawn document's weights are near the prior's mean, an approximation without samples or draws from the prior, was off by
more than ten times as much at K = 20 and 100. So `HELD` come first, whatever the others cost.
"""

import csv
import gzip
import json
import math
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS

REFERENCE = Path(__file__).parents[3] / "data/reference"
CALIBRATION = REFERENCE / "paper/measurements.csv.gz"
TIMINGS = REFERENCE / "precision_timings.csv"
EXACT = "exact-marginal"
FAR = 4.0  # times the grid's largest K or length: beyond it nothing is said
MORE = 10  # times the most samples that were measured: as far as an error is followed
SAME_PRIOR = 1.1  # largest factor between two priors' parameters that are taken for one
NEAR = 1.05  # factor by which K or a length may exceed the grid before that is called extrapolation
BINS = 24  # of lengths
HELD = ("annealed-importance", "left-to-right", "left-to-right-sequential")  # on real documents, see above
HONEST = 2.0  # times the error that an estimator states: more than that is no error to report
PERPLEXITY_ERROR = 1.0  # percent per token, of a document: what is wanted where nothing is said
LEAST = 1e-12  # nats: an error of 0 has no logarithm

Per = Literal["document", "corpus"]
Corner = tuple[int, int]  # K and L of a point of the grid
Points = Sequence[tuple[int, float]]  # samples and a positive quantity


class Run(NamedTuple):
    """What was measured with one number of samples.

    Attributes:
        samples: S, 0 for a deterministic estimator.
        error: root mean square error and its standard error, nats per document, on the safe side.
        bias: estimate less log p, nats per document; its size is on the safe side.
        ratio: the true error over the stated one; NaN where none is stated.
    """

    samples: int
    error: float
    bias: float
    ratio: float


@dataclass(frozen=True)
class Table:
    """What was measured.

    Attributes:
        errors: by prior, K, L and estimator, the runs in order of samples.
        milliseconds: by the same, (samples, milliseconds per document) in order.
    """

    errors: dict[str, dict[Corner, dict[str, tuple[Run, ...]]]]
    milliseconds: dict[str, dict[Corner, dict[str, tuple[tuple[int, float], ...]]]]


@dataclass(frozen=True)
class Option:
    """An estimator with as many samples as reach the wanted error, or as come nearest to it.

    Attributes:
        estimator: its name in `ESTIMATORS`.
        samples: per document; 0 for a deterministic one.
        standard_error: the error that is expected of it, nats per document, bias included.
        bias: of it, nats per document, the size with the sign of what was measured; 0 where exact.
        seconds: for all documents, on the given cores.
        reached: True where the wanted error is.
        stated_ratio: the true error over the standard error that the estimator states; NaN where it states none.
        extrapolated: True where K, a length or the samples are beyond what was measured.
        reason: one sentence.
    """

    estimator: str
    samples: int
    standard_error: float
    bias: float
    seconds: float
    reached: bool
    stated_ratio: float
    extrapolated: bool
    reason: str


@dataclass(frozen=True)
class Recommendation(Option):
    """The cheapest option that reaches the wanted error and `adapts`, another that does, or the one nearest to it.

    Attributes:
        wanted: nats per document.
        alternatives: the others, those that reach it first, the cheapest first.
    """

    wanted: float = math.nan
    alternatives: tuple[Option, ...] = field(default=())


# --- reading --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def read_table(calibration: Path = CALIBRATION, timings: Path = TIMINGS) -> Table:
    """Read what was measured.

    Args:
        calibration: measurements (CSV, or gzipped) with the rows of `heldout.papers.likelihood.experiments.precision`.
        timings: the CSV that `benchmarks/estimators.py --grid` writes.

    Raises:
        InputError: when a file is missing or not what it should be.
    """
    errors: dict[str, Any] = {}
    found: dict[tuple[str, int, int], dict[str, dict[int, tuple[float, float]]]] = {}
    for row in _rows(calibration, "--calibration", "measurements.csv.gz of a study that measured precision"):
        prior, separator, tokens = row["variant"].rpartition("-tokens-")
        if separator and row["corpus"] == "none" and row["axis"] == "samples":
            cell = found.setdefault((prior, int(row["topics"]), int(tokens)), {})
            cell.setdefault(row["quantity"], {}).setdefault(
                int(row["at"]), (float(row["value"]), float(row["standard_error"]))
            )  # of the first seed
    for (prior, topics, length), cell in found.items():
        known = math.hypot(*(v for name, at in cell.items() if name.startswith("reference-") for v, _ in at.values()))
        at = errors.setdefault(prior, {}).setdefault((topics, length), {})
        for name in ESTIMATORS:
            runs = cell.get(f"rms-error-{name}", {})
            if runs:
                at[name] = _runs(name, cell, sorted(runs), known)
    if not errors:
        raise InputError(f"{calibration}: has no measurement of precision; give --calibration of a study that has one")
    milliseconds: dict[str, dict[Corner, dict[str, tuple[tuple[int, float], ...]]]] = {}
    for row in _rows(timings, "--timings", "the file that benchmarks/estimators.py --grid writes"):
        corner: Corner = int(row["topics"]), int(row["tokens"])
        timed = milliseconds.setdefault(row["prior"], {}).setdefault(corner, {}).get(row["estimator"], ())
        least = timed[-1][1] if timed else 0.0  # more samples take no less time; the file has them in order
        milliseconds[row["prior"]][corner][row["estimator"]] = (
            *timed,
            (int(row["samples"]), max(least, float(row["milliseconds"]))),
        )
    return Table(errors, milliseconds)


def _runs(name: str, cell: dict[str, dict[int, tuple[float, float]]], samples: list[int], known: float) -> Any:
    runs: list[Run] = []
    highest = largest = 0.0
    for count in reversed(samples):
        error, its_error = cell[f"rms-error-{name}"][count]
        bias, bias_error = cell[f"bias-{name}"][count]
        stated, _ = cell.get(f"stated-error-{name}", {}).get(count, (0.0, 0.0))
        largest = max(largest, known, math.hypot(bias, bias_error), LEAST)
        highest = max(highest, error + its_error, largest)
        runs.append(Run(count, highest, math.copysign(largest, bias), error / stated if stated > 0.0 else math.nan))
    return tuple(reversed(runs))


def _rows(path: Path, option: str, what: str) -> Iterator[dict[str, str]]:
    columns = ("variant", "quantity") if option == "--calibration" else ("prior", "estimator", "milliseconds")
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
            header = next(csv.reader([next(stream, "")]))
            if not set(columns) <= set(header):
                raise InputError(f"{path}: lacks the columns {', '.join(columns)}; give {option} {what}")
            # a table of measurements is long, and few of its rows are wanted
            lines = (line for line in stream if option != "--calibration" or "-tokens-" in line)
            yield from csv.DictReader(lines, header)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give {option} {what}") from error
    except (OSError, EOFError, UnicodeDecodeError, ValueError, KeyError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({error}); give {option} {what}") from error


# --- between the points ---------------------------------------------------------------------------------------------


def _between(grid: Sequence[int], at: float) -> list[tuple[int, float]]:
    """Return the grid's points around a number and their weights by logarithm; beyond the grid its last point."""
    if at <= grid[0]:
        return [(grid[0], 1.0)]
    if at >= grid[-1]:
        return [(grid[-1], 1.0)]
    i = bisect_left(grid, at)
    share = math.log(at / grid[i - 1]) / math.log(grid[i] / grid[i - 1])
    return [(grid[i], 1.0)] if share == 1.0 else [(grid[i - 1], 1.0 - share), (grid[i], share)]


def _follow(points: Points, samples: int, steepest: float) -> float:
    """Return the logarithm of a quantity at S samples, linear in log S; beyond the last point with its last slope.

    Args:
        points: what was measured, samples ascending.
        samples: S.
        steepest: the slope beyond the last point lies between 0 and it; from a single point on it is it, if positive.
    """
    if samples <= points[0][0]:
        return math.log(points[0][1])
    if len(points) == 1:
        (s0, v0) = points[0]
        return math.log(v0) + (max(0.0, steepest) * math.log(samples / s0) if s0 else 0.0)
    i = min(bisect_left([s for s, _ in points], samples), len(points) - 1)
    (s0, v0), (s1, v1) = points[i - 1], points[i]
    slope = math.log(v1 / v0) / math.log(s1 / s0)
    if samples <= s1:
        return math.log(v0) + slope * math.log(samples / s0)
    slope = min(max(slope, min(steepest, 0.0)), max(steepest, 0.0))
    return math.log(v1) + slope * math.log(samples / s1)


class _Estimator:
    """One estimator at one K under one prior: errors and seconds by length and samples."""

    def __init__(self, name: str, table: Table, prior: str, topics: int) -> None:
        self.name, self.topics = name, topics
        cells, times = table.errors[prior], table.milliseconds.get(prior, {})
        self.runs: dict[Corner, tuple[Run, ...]] = {c: found.get(name, ()) for c, found in cells.items()}
        self.times: dict[Corner, tuple[tuple[int, float], ...]] = {c: times.get(c, {}).get(name, ()) for c in cells}
        self.grids = sorted({k for k, _ in cells}), sorted({n for _, n in cells})
        self.errors: dict[Corner, Points] = {c: [(r.samples, r.error) for r in of] for c, of in self.runs.items()}
        self.biases: dict[Corner, Points] = {c: [(r.samples, abs(r.bias)) for r in of] for c, of in self.runs.items()}

    def corners(self, length: float) -> list[tuple[Corner, float]]:
        """Return the grid's points around K and L and their weights."""
        of_topics, of_lengths = _between(self.grids[0], self.topics), _between(self.grids[1], length)
        return [((k, n), a * b) for k, a in of_topics for n, b in of_lengths]

    def most(self, length: float) -> tuple[int, int]:
        """Return the most samples measured around here, and up to how many errors are followed; -1 without any."""
        runs = [self.runs.get(corner, ()) for corner, _ in self.corners(length)]
        if not all(runs) or not all(self.times.get(corner, ()) for corner, _ in self.corners(length)):
            return -1, -1
        followed = ESTIMATORS[self.name].behaviour == "consistent"
        return min(of[-1].samples for of in runs), min(
            of[-1].samples * (MORE if followed and len(of) > 1 else 1) for of in runs
        )

    def beyond(self, points: dict[Corner, Points], length: float, low: float, high: float) -> float:
        """Return the logarithm of the factor beyond the grid: the last interval's power of K and L, within limits."""
        factor = 0.0
        last = self.grids[0][-1], self.grids[1][-1]
        inside, _ = max(self.corners(length), key=lambda found: found[1])
        for axis, at in ((0, float(self.topics)), (1, float(length))):
            if at <= last[axis]:
                continue
            slope = high
            if len(self.grids[axis]) > 1:
                before = (self.grids[0][-2], inside[1]) if axis == 0 else (inside[0], self.grids[1][-2])
                samples = min(points[before][-1][0], points[inside][-1][0]) if points.get(before) else 0
                if points.get(before):
                    rise = _follow(points[inside], samples, 0.0) - _follow(points[before], samples, 0.0)
                    slope = min(max(rise / math.log(last[axis] / self.grids[axis][-2]), low), high)
            factor += slope * math.log(at / last[axis])
        return factor

    def error(self, length: float, samples: int) -> tuple[float, float]:
        """Return root mean square error and bias, nats per document."""
        log_error = log_bias = self.beyond(self.errors, length, 0.5, 1.0)
        corners = self.corners(length)
        for corner, weight in corners:
            log_error += weight * _follow(self.errors[corner], samples, -0.5)
            log_bias += weight * _follow(self.biases[corner], samples, -0.5)
        nearest, _ = max(corners, key=lambda found: found[1])
        bias = math.exp(log_bias)
        return max(bias, math.exp(log_error)), math.copysign(bias, self.runs[nearest][-1].bias)

    def ratio(self, length: float, samples: int) -> float:
        """Return the true error over the stated one where it was measured nearest to here."""
        nearest, _ = max(self.corners(length), key=lambda found: found[1])
        stated = [run for run in self.runs[nearest] if not math.isnan(run.ratio)]
        if not stated:
            return math.nan
        return min(stated, key=lambda run: abs(math.log(max(1, run.samples) / max(1, samples)))).ratio

    def seconds(self, length: float, samples: int) -> float:
        """Return the seconds of one document."""
        log_time = sum(weight * _follow(self.times[corner], samples, 1.0) for corner, weight in self.corners(length))
        return math.exp(log_time + self.beyond(dict(self.times), length, 0.0, 2.0)) / 1000.0


# --- choosing -------------------------------------------------------------------------------------------------------


def recommend(
    topics: int,
    length: int | Sequence[int],
    standard_error: float,
    *,
    documents: int = 1,
    per: Per = "document",
    cores: int = 1,
    alpha: float | None = None,
    consistent: bool = False,
    table: Table | None = None,
) -> Recommendation:
    """Return the cheapest estimator, with as many samples as it needs, that reaches a wanted error.

    Those that `adapts` come first, then those that reach it on documents like the drawn ones, then the others.

    Args:
        topics: K.
        length: tokens of a document, or of every document; those of 0 tokens are left out.
        standard_error: the wanted error, nats per document: the root mean square one, bias included.
        documents: how many documents there are, where `length` is one number.
        per: "document", where every document's error counts, or "corpus", where that of the documents' mean does.
        cores: over which the documents are divided.
        alpha: the mean of the prior's K parameters; None where it is not known.
        consistent: True for those estimators alone that have no bias left at many samples and state a standard error;
            first come then those whose true error is at most `HONEST` times the stated one.
        table: what was measured; None for the reference results.

    Raises:
        InputError: when a number is not positive, K or the mean length is far beyond what was measured, or as
            `read_table` does.
    """
    every = [length] * documents if isinstance(length, int) else [int(n) for n in length if n > 0]
    if not every or min(every) < 1 or min(topics, cores) < 1:
        raise InputError("recommend: topics, length, documents and cores must be 1 or more")
    if not (0.0 < standard_error < math.inf) or (alpha is not None and not 0.0 < alpha < math.inf):
        raise InputError("recommend: the wanted error, and alpha where it is given, must be positive numbers")
    table = read_table() if table is None else table
    chosen, outside = _priors(table, topics, alpha)
    grid = {corner for prior in chosen for corner in table.errors[prior]}
    last = max(k for k, _ in grid), max(n for _, n in grid)
    mean = sum(every) / len(every)
    for what, at, most in (("topics", topics, last[0]), ("tokens per document", mean, last[1])):
        if at > FAR * most:
            raise InputError(
                f"recommend: {at:,.0f} {what} are far beyond the {most:,} that were measured; measure precision there,"
                " or name the estimator and its samples"
            )
    groups = _groups(every)
    beyond = outside or topics > NEAR * last[0] or max(n for n, _ in groups) > NEAR * last[1]
    options = []
    seconds = exact_seconds(topics, every) / cores
    if seconds < math.inf:
        reason = f"there is no error in it, and it takes {duration(seconds)}"
        options.append(Option(EXACT, 0, 0.0, 0.0, seconds, True, math.nan, False, reason))
    for name, known in ESTIMATORS.items():
        if name != EXACT and (not consistent or known.behaviour == "consistent"):
            under = [_Estimator(name, table, prior, topics) for prior in chosen]
            options += _option(under, groups, standard_error, per, cores, 2 if consistent else 1, beyond)
    if not options:
        raise InputError("recommend: no estimator was measured and timed here; give --calibration and --timings")
    options.sort(
        key=lambda o: (
            not o.reached,
            o.reached and not adapts(o.estimator),
            consistent and o.stated_ratio > HONEST,  # NaN, of the exact value, is not
            o.seconds if o.reached else o.standard_error,
        )
    )
    best, *rest = options
    return Recommendation(**_fields(best), wanted=standard_error, alternatives=tuple(rest))


def choose(
    topics: int,
    lengths: Sequence[int],
    standard_error: float | None = None,
    *,
    cores: int = 1,
    alpha: float | None = None,
    table: Table | None = None,
) -> Recommendation:
    """Return the estimator of an audit's truth: a consistent one that states its standard error, or the exact value.

    One whose true error was measured to be more than `HONEST` times the stated one is the last choice.

    Args:
        topics: K.
        lengths: tokens of every document.
        standard_error: wanted of a document, nats, root mean square; None for `PERPLEXITY_ERROR` per token at the
            documents' mean length.
        cores: over which the documents are divided.
        alpha: the mean of the prior's K parameters; None where it is not known.
        table: what was measured; None for the reference results.

    Raises:
        InputError: as `recommend` does.
    """
    some = [int(n) for n in lengths if n > 0]
    if standard_error is None:
        standard_error = nats(PERPLEXITY_ERROR, sum(some) / max(1, len(some)))
    return recommend(topics, some, standard_error, cores=cores, alpha=alpha, consistent=True, table=table)


def adapts(estimator: str) -> bool:
    """Say whether an estimator is exact, or kept on real documents to about what is expected of drawn ones."""
    return estimator == EXACT or estimator in HELD


def nats(percent: float, length: float) -> float:
    """Return the error of a document, nats, that is an error of its perplexity per token in percent."""
    return math.log1p(percent / 100.0) * length


def _fields(option: Option) -> dict[str, Any]:
    return {name: getattr(option, name) for name in Option.__dataclass_fields__}


def parameter(prior: str, topics: int) -> float:
    """Return the parameter at K topics of a prior, by its name as `heldout.papers.likelihood.experiments.precision` gives it."""
    name, _, value = prior.rpartition("-")
    return float(value) / topics if name == "alpha-sum" else float(value)


def _priors(table: Table, topics: int, alpha: float | None) -> tuple[list[str], bool]:
    """Return the priors that an answer stands on, and whether the asked one is outside what was measured."""
    of = {prior: parameter(prior, topics) for prior in table.errors}
    if alpha is None:
        return list(of), False
    same = [prior for prior, value in of.items() if abs(math.log(alpha / value)) <= math.log(SAME_PRIOR)]
    if same:
        return same, False
    below = max((value for value in of.values() if value < alpha), default=0.0)
    above = min((value for value in of.values() if value > alpha), default=0.0)
    if not below or not above:
        return list(of), True
    return [prior for prior, value in of.items() if value in (below, above)], False


def _groups(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return lengths, rounded up to `BINS` different ones at most, and how many documents have each."""
    counted: dict[int, int] = {}
    for length in lengths:
        counted[length] = counted.get(length, 0) + 1
    if len(counted) > BINS:
        low, high = min(counted), max(counted)
        finer, counted = counted, {}
        for length, number in finer.items():
            step = math.ceil(round(BINS * math.log(length / low) / math.log(high / low), 9))
            upper = math.ceil(low * (high / low) ** (step / BINS))
            counted[upper] = counted.get(upper, 0) + number
    return sorted(counted.items())


def _option(
    at: Sequence[_Estimator],
    groups: Sequence[tuple[int, int]],
    wanted: float,
    per: Per,
    cores: int,
    least: int,
    beyond: bool,
) -> list[Option]:
    """Return one estimator's option: none where it was not measured around here."""
    measured, follow = map(min, zip(*(e.most(n) for e in at for n, _ in groups), strict=True))
    if measured < 0:
        return []
    total = sum(number for _, number in groups)

    def errors(samples: int) -> tuple[float, float]:
        """Return the error that is wanted small, and the mean bias, of the prior for which it is largest."""
        worst = (-1.0, 0.0)
        for estimator in at:
            squares = bias = 0.0
            for length, number in groups:
                one, its_bias = estimator.error(length, samples)
                squares += number * one * one / total
                bias += number * its_bias / total
            if per == "corpus":
                squares = max(0.0, squares - bias * bias) / total + bias * bias
            worst = max(worst, (math.sqrt(squares), bias))
        return worst

    name = at[0].name
    samples, reached = (0, errors(0)[0] <= wanted) if follow == 0 else (max(least, measured), False)
    if follow > 0 and errors(max(least, follow))[0] <= wanted:
        low, high = least - 1, max(least, follow)  # too few, enough
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if errors(middle)[0] <= wanted else (middle, high)
        samples, reached = high, True
    error, bias = errors(samples)
    seconds = max(sum(number * e.seconds(length, samples) for length, number in groups) for e in at) / cores
    typical = sorted(groups, key=lambda group: group[1])[-1][0]
    ratio = max((e.ratio(typical, samples) for e in at), key=lambda value: -math.inf if math.isnan(value) else value)
    if reached:
        reason = f"an error of {error:.2g} nats in {duration(seconds)}"
    elif abs(bias) > wanted:
        reason = f"a bias of {bias:+.2g} nats, more than is wanted"
    else:
        reason = f"an error of {error:.2g} nats with the {samples:,} samples that were measured, more than is wanted"
    extrapolated = beyond or samples > max(least, measured)
    return [Option(name, samples, error, bias, seconds, reached, ratio, extrapolated, reason)]


def duration(seconds: float) -> str:
    """Return a time in two digits of a unit that suits it."""
    units = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit = next((unit for unit, size in units.items() if seconds >= size), "µs")
    value = seconds / units[unit]
    return f"{value:.2g} {unit}" if value < 99.5 else f"{value:,.0f} {unit}"


def exact_seconds(topics: int, lengths: Sequence[int]) -> float:
    """Return about how long exact values of documents of these lengths take on one core; inf where they are refused.

    Args:
        topics: K.
        lengths: tokens of every document; no word occurs twice in a document, the dearest case.
    """
    import numpy as np

    from heldout.evaluators import exact_marginal as exact
    from heldout.evaluators import simplex_quadrature as quadrature

    if exact.cost(lengths, topics) > exact.LARGEST_COST:
        return math.inf
    total = 0.0
    for length, number in sorted(Counter(lengths).items()):
        polynomial = exact.cost([length], topics)
        if topics >= quadrature.FEWEST_TOPICS and polynomial >= quadrature.LEAST_COST:
            points = quadrature.quadrature_cost(np.arange(length, dtype=np.int32), topics)
            if points <= exact.CHEAPER * polynomial:
                total += number * points / (exact.CHEAPER * exact.UPDATES_PER_SECOND)
                continue
        if math.comb(length + topics - 1, topics - 1) > exact.LARGEST_LAYER:
            return math.inf
        total += number * polynomial / exact.UPDATES_PER_SECOND
    return total


# --- the verb -------------------------------------------------------------------------------------------------------


def run_recommend(
    topics: int,
    *,
    length: int | None = None,
    corpus: Path | None = None,
    standard_error: float | None = None,
    perplexity_error: float | None = None,
    documents: int = 1,
    per: Per = "document",
    cores: int = 1,
    alpha: float | None = None,
    consistent: bool = False,
    calibration: Path | None = None,
    timings: Path | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
) -> None:
    """Print which estimator to use: a table, the recommended one first, or JSON.

    Args:
        topics: K.
        length: tokens of every document.
        corpus: or a file of documents, in any form that `heldout.corpora.stream` opens.
        standard_error: wanted, nats per document.
        perplexity_error: or percent of the perplexity per token; `PERPLEXITY_ERROR` where neither is given.
        documents: how many documents of `length` tokens.
        per: "document" or "corpus", as in `recommend`.
        cores: over which the documents are divided.
        alpha: the mean of the prior's K parameters.
        consistent: True for those estimators alone that have no bias left at many samples.
        calibration: measurements; None for the reference results.
        timings: milliseconds of the estimators; None for the reference results.
        as_json: True for JSON.
        out: where to; None for standard output.

    Raises:
        InputError: for both or neither of length and corpus, both errors, or as `recommend` and the readers do.
    """
    if (length is None) == (corpus is None):
        raise InputError("recommend: give --length or a corpus, one of them")
    if standard_error is not None and perplexity_error is not None:
        raise InputError("recommend: give --standard-error or --perplexity-error, one of them")
    lengths = [length] * documents if length is not None else _lengths(corpus)
    if not lengths:
        raise InputError(f"{corpus}: has no token" if corpus else "recommend: --documents must be 1 or more")
    mean = sum(lengths) / len(lengths)
    if standard_error is None:
        percent = PERPLEXITY_ERROR if perplexity_error is None else perplexity_error
        if not 0.0 < percent < math.inf:
            raise InputError(f"recommend: an error of {percent} percent; give --perplexity-error a positive number")
        standard_error = nats(percent, mean)
    table = read_table(calibration or CALIBRATION, timings or TIMINGS)
    found = recommend(
        topics, lengths, standard_error, per=per, cores=cores, alpha=alpha, consistent=consistent, table=table
    )
    out = sys.stdout if out is None else out
    if as_json:
        print(json.dumps(as_dict(found), indent=2), file=out)
    else:
        _show(found, topics, mean, len(lengths), per, cores, out)


def as_dict(option: Option) -> dict[str, Any]:
    """Return an option, or a recommendation with its alternatives, as JSON has it; a NaN is None."""
    values: dict[str, Any] = {
        name: None if isinstance(value, float) and math.isnan(value) else value for name, value in vars(option).items()
    }
    if isinstance(option, Recommendation):
        values["alternatives"] = [as_dict(other) for other in option.alternatives]
    return values


def _lengths(corpus: Path | None) -> list[int]:
    from heldout.corpora.stream import open_documents

    return [int(n) for batch in open_documents(corpus) for n in batch.lengths if n > 0]


def _show(found: Recommendation, topics: int, mean: float, documents: int, per: Per, cores: int, out: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console(file=out)
    of = "of each document" if per == "document" else "of the documents' mean"
    number = f"{documents:,} documents of {mean:,.0f} tokens" if documents > 1 else f"a document of {mean:,.0f} tokens"
    console.print(
        f"{number} at {topics:,} topics; wanted is an error of at most {found.wanted:.3g} nats {of}"
        f" ({100.0 * math.expm1(found.wanted / mean):.2g} % of the perplexity per token)."
    )
    if not found.reached:
        console.print("[bold]No estimator is known to reach it.[/bold] The nearest comes first.")
    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    shown.add_column("estimator", no_wrap=True)
    for title in ("samples", "error", "bias", "error/stated", "time"):
        shown.add_column(title, justify="right", no_wrap=True)
    options = (found, *found.alternatives)
    for i, option in enumerate(options):
        kind, before = (_kind(o) if o else "" for o in (option, options[i - 1] if i else None))
        if kind != before:
            shown.add_row(kind, style="italic")
        shown.add_row(
            ESTIMATORS[option.estimator].label,
            f"{option.samples:,}" if option.samples else "",
            _short(option.standard_error),
            _short(option.bias, signed=True),
            "" if math.isnan(option.stated_ratio) else f"{option.stated_ratio:.1f}",
            duration(option.seconds) + ("*" if option.extrapolated else " "),
            style="bold" if i == 0 else None if option.reached else "dim",
        )
    console.print(shown)
    console.print(
        f"Error and bias in nats {of}, as measured on documents drawn from models; time for all documents on"
        f" {cores} core{'s' if cores > 1 else ''}. error/stated: beside the standard error that an estimator states."
    )
    if any(option.extrapolated for option in options):
        console.print("* beyond what was measured: extrapolated.")


def _kind(option: Option) -> str:
    if not option.reached:
        return "not enough, or too biased:"
    return "" if adapts(option.estimator) else "on documents like the drawn:"


def _short(value: float, *, signed: bool = False) -> str:
    if value == 0.0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:{'+' if signed else ''},.{min(digits, 6)}f}"
