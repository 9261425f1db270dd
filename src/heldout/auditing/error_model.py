"""An estimator's expected error, bias and time between and beyond the measured grid points.

Between the grid points, the logarithms of an estimator's root mean square error e and of its seconds t are bilinear in
the logarithms of K and of the document's length L,

    log e(K, L; S) = sum of the four corners' log e(S), weighted by log K and log L,

and at a corner, between the measured numbers of samples S, linear in log S. Beyond the most samples measured, the error
of a consistent estimator is extrapolated with the slope of the last two points, but no steeper than S^(-1/2), to at
most `MORE` times as many samples; that of other estimators is not extrapolated. Below the grid's smallest L or K the
errors of its edge hold. Above the largest, errors grow with the last interval's power of K or L, limited to between 1/2
and 1.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from heldout.auditing.precision_table import Corner, Table
from heldout.evaluators import ESTIMATORS

MORE = 100  # errors are extrapolated to this many times the most samples measured

Points = Sequence[tuple[int, float]]  # samples and a positive quantity


def weights(grid: Sequence[int], at: float) -> list[tuple[int, float]]:
    """Return the grid points around a number and their logarithmic weights; outside the grid, its edge."""
    if at <= grid[0]:
        return [(grid[0], 1.0)]
    if at >= grid[-1]:
        return [(grid[-1], 1.0)]
    i = bisect_left(grid, at)
    share = math.log(at / grid[i - 1]) / math.log(grid[i] / grid[i - 1])
    return [(grid[i], 1.0)] if share == 1.0 else [(grid[i - 1], 1.0 - share), (grid[i], share)]


def log_at(points: Points, samples: int, steepest: float) -> float:
    """Return the logarithm of a quantity at S samples, linear in log S; beyond the last point, with the last slope.

    Args:
        points: measurements, samples ascending.
        samples: S.
        steepest: beyond the last point the slope is limited to between 0 and this; after a single point it is this, if
            positive.
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


class ErrorModel:
    """One estimator's expected error and time at one K under one prior, by document length and samples.

    Args:
        name: the estimator, one of `heldout.evaluators.ESTIMATORS`.
        table: the measurements.
        prior: the prior's name in the table.
        topics: K.
    """

    def __init__(self, name: str, table: Table, prior: str, topics: int) -> None:
        self.name, self.topics = name, topics
        errors, times = table.errors[prior], table.milliseconds.get(prior, {})
        self.grids = sorted({k for k, _ in errors}), sorted({n for _, n in errors})
        self.runs = {corner: by_name.get(name, ()) for corner, by_name in errors.items()}
        self.times = {corner: times.get(corner, {}).get(name, ()) for corner in errors}
        self.errors = {corner: [(run.samples, run.error) for run in runs] for corner, runs in self.runs.items()}
        self.biases = {corner: [(run.samples, abs(run.bias)) for run in runs] for corner, runs in self.runs.items()}

    def corners(self, length: float) -> list[tuple[Corner, float]]:
        """Return the grid points around K and L, and their weights."""
        of_topics, of_lengths = weights(self.grids[0], self.topics), weights(self.grids[1], length)
        return [((k, n), a * b) for k, a in of_topics for n, b in of_lengths]

    def nearest(self, length: float) -> Corner:
        """Return the grid point with the largest weight."""
        return max(self.corners(length), key=lambda corner: corner[1])[0]

    def most_samples(self, length: float) -> tuple[int, int]:
        """Return the most samples measured around L, and the most for extrapolated errors; -1 without measurements."""
        around = [corner for corner, _ in self.corners(length)]
        if not all(self.runs.get(corner) and self.times.get(corner) for corner in around):
            return -1, -1
        consistent = ESTIMATORS[self.name].behaviour == "consistent"
        last = [(self.runs[corner][-1].samples, consistent and len(self.runs[corner]) > 1) for corner in around]
        return min(samples for samples, _ in last), min(samples * (MORE if more else 1) for samples, more in last)

    def log_growth(self, points: Mapping[Corner, Points], length: float, low: float, high: float) -> float:
        """Return the log factor for K and L beyond the grid: the last interval's power, between `low` and `high`."""
        growth = 0.0
        last = self.grids[0][-1], self.grids[1][-1]
        inside = self.nearest(length)
        for axis, at in ((0, float(self.topics)), (1, float(length))):
            if at <= last[axis]:
                continue
            power = high
            if len(self.grids[axis]) > 1:
                before = (self.grids[0][-2], inside[1]) if axis == 0 else (inside[0], self.grids[1][-2])
                if points.get(before):
                    samples = min(points[before][-1][0], points[inside][-1][0])
                    rise = log_at(points[inside], samples, 0.0) - log_at(points[before], samples, 0.0)
                    power = min(max(rise / math.log(last[axis] / self.grids[axis][-2]), low), high)
            growth += power * math.log(at / last[axis])
        return growth

    def error(self, length: float, samples: int) -> tuple[float, float]:
        """Return the root mean square error and the bias on documents drawn from a model, nats per document.

        On other documents the bias may have the other sign.
        """
        log_error = log_bias = self.log_growth(self.errors, length, 0.5, 1.0)
        for corner, weight in self.corners(length):
            log_error += weight * log_at(self.errors[corner], samples, -0.5)
            log_bias += weight * log_at(self.biases[corner], samples, -0.5)
        bias = math.exp(log_bias)
        return max(bias, math.exp(log_error)), math.copysign(bias, self.runs[self.nearest(length)][-1].bias)

    def ratio(self, length: float, samples: int) -> float:
        """Return the true over the stated error at the nearest point and samples; NaN if the estimator states none."""
        stated = [run for run in self.runs[self.nearest(length)] if not math.isnan(run.ratio)]
        if not stated:
            return math.nan
        return min(stated, key=lambda run: abs(math.log(max(1, run.samples) / max(1, samples)))).ratio

    def seconds(self, length: float, samples: int) -> float:
        """Return the seconds that one document takes."""
        log_time = sum(weight * log_at(self.times[corner], samples, 1.0) for corner, weight in self.corners(length))
        return math.exp(log_time + self.log_growth(self.times, length, 0.0, 2.0)) / 1000.0
