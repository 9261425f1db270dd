"""Training cost against the number of topics, single thread: seconds per iteration or sweep, and fitted exponents.

Run as `python benchmarks/cost.py`; it prints Markdown. The models work on the synthetic corpora of `speed.py`, in one
process, one measurement of each in turn, several rounds over.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import gc
import math
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from speed import BETA, SHAPES, WARM_UP_SWEEPS, cpu, seconds

from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import draw
from heldout.errors import InputError
from heldout.models.epca import EPCA
from heldout.models.lda import sampler_of
from heldout.models.plsa import PLSA
from heldout.seeds import generator

TOPICS = (10, 20, 50, 100, 200, 400, 800)
MANY = 100  # from here on the work that every iteration has, however few the topics, counts little
MEASURED_SECONDS = 1.0  # per measurement, about
MOST_UNITS = 40  # iterations or sweeps of a measurement
ENOUGH_POINTS = 3  # that a line with a standard error needs

Measure = Callable[[], float]


class Fit(NamedTuple):
    """The power law seconds = c K^exponent."""

    exponent: float
    standard_error: float


def exponent(topics: Sequence[int], cost: Sequence[float]) -> Fit:
    """Fit log cost = log c + exponent log K by least squares.

    Args:
        topics: K of each point, 3 points or more.
        cost: seconds, positive.

    Returns:
        The slope, and its standard error from the residuals (n - 2 degrees of freedom).

    Raises:
        InputError: with fewer points.
    """
    if len(topics) < ENOUGH_POINTS:
        raise InputError(f"{len(topics)} numbers of topics; a slope with an error needs {ENOUGH_POINTS} or more")
    x, y = np.log(topics), np.log(cost)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    residuals = y - y.mean() - slope * x
    return Fit(slope, math.sqrt(float(residuals @ residuals) / (len(x) - 2) / float(x @ x)))


def per_unit(run: Callable[[int], Any]) -> Measure:
    """Return a measurement of run(units) in seconds per unit; what every run pays once cancels."""
    run(2)  # compilation and caches
    once = seconds(lambda: run(3)) - seconds(lambda: run(1))
    units = min(MOST_UNITS, max(2, round(2 * MEASURED_SECONDS / max(once, 1e-9))))
    return lambda: (seconds(lambda: run(1 + units)) - seconds(lambda: run(1))) / units


def plsa_iteration(corpus: Corpus, topics: int) -> Measure:
    """Return a measurement of one EM iteration of PLSA-HOF."""
    counts = corpus.counts()
    return per_unit(lambda units: PLSA(topics, iterations=units, random_state=0).fit(counts))


def epca_iteration(corpus: Corpus, topics: int) -> Measure:
    """Return a measurement of one iteration of EPCA's optimiser."""
    counts = corpus.counts()
    return per_unit(lambda units: EPCA(topics, iterations=units, tolerance=0.0, random_state=0).fit(counts))


def lda_sweep(corpus: Corpus, topics: int) -> Measure:
    """Return a measurement of one Gibbs sweep of LDA, random numbers included, after the chain has warmed up."""
    sampler = sampler_of(corpus.tokens, corpus.offsets, corpus.n_words, topics)
    random = generator("speed", topics=topics)

    def run(units: int) -> None:
        for _ in range(units):
            uniforms = random.random((1, corpus.n_tokens), dtype=np.float32)
            sampler.sweep([np.full(topics, 50.0 / topics)], [BETA], uniforms)

    run(WARM_UP_SWEEPS)
    return per_unit(run)


MODELS: dict[str, tuple[str, Callable[[Corpus, int], Measure]]] = {
    "PLSA-HOF": ("EM iteration", plsa_iteration),
    "EPCA": ("L-BFGS iteration", epca_iteration),
    "LDA": ("Gibbs sweep", lda_sweep),
}


def measure_all(topics: Sequence[int], rounds: int) -> dict[tuple[str, str], list[list[float]]]:
    """Return, per (model, shape), the seconds per unit of each round at each number of topics."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for shape_name, shape in SHAPES.items():
        whole, _ = draw(f"{shape_name.lower()}-like", shape)
        corpus = whole.subset(range(shape.train_documents))
        for k in topics:
            measures = {model: measure_of(corpus, k) for model, (_, measure_of) in MODELS.items()}
            gc.collect()
            values: dict[str, list[float]] = {model: [] for model in MODELS}
            for _ in range(rounds):
                for model, measure in measures.items():
                    values[model].append(measure())
            for model in MODELS:
                found.setdefault((model, shape_name), []).append(values[model])
                milliseconds = 1000.0 * statistics.median(values[model])
                print(f"{model} {shape_name} K={k}: {milliseconds:.2f} ms", file=sys.stderr, flush=True)
    return found


def markdown(found: dict[tuple[str, str], list[list[float]]], topics: Sequence[int], rounds: int) -> str:
    """Return the tables of medians and of exponents."""

    def fitted(rows: list[list[float]], kept: list[int]) -> str:
        if len(kept) < ENOUGH_POINTS:
            return "-"
        fit = exponent([topics[i] for i in kept], [statistics.median(rows[i]) for i in kept])
        return f"{fit.exponent:.2f} ± {fit.standard_error:.2f}"

    everywhere, many = list(range(len(topics))), [i for i, k in enumerate(topics) if k >= MANY]
    heads = " | ".join(f"K = {k}" for k in topics)
    lines = [
        "# What a training iteration costs as topics grow",
        "",
        f"Written by `python benchmarks/cost.py`; CPU: {cpu()}, single thread, Python {platform.python_version()}."
        f" Milliseconds (CPU time) per unit, the median of {rounds} rounds; and the exponent of cost against topics by"
        " least squares of log seconds on log K (± its standard error), over all K and over"
        f" K >= {MANY}.",
        "",
        f"| model | unit | corpus shape | {heads} | exponent | exponent, K >= {MANY} |",
        f"|---|---|---|{'---:|' * (len(topics) + 2)}",
    ]
    for (model, shape), rows in sorted(found.items(), key=lambda item: list(MODELS).index(item[0][0])):
        medians = " | ".join(f"{1000.0 * statistics.median(row):.2f}" for row in rows)
        unit = MODELS[model][0]
        lines.append(f"| {model} | {unit} | {shape} | {medians} | {fitted(rows, everywhere)} | {fitted(rows, many)} |")
    lines += [
        "",
        "EPCA optimises min(K, D, V) axes, for no product of W and H has a higher rank: beyond as many topics as"
        " training documents its cost stands still.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each model (default: 5)")
    parser.add_argument("--topics", type=int, nargs="+", default=list(TOPICS), help="numbers of topics")
    options = parser.parse_args()
    try:
        if options.rounds < 1 or min(options.topics) < 1:
            raise InputError("--rounds and --topics: each number must be at least 1")
        topics = sorted(set(options.topics))
        print(markdown(measure_all(topics, options.rounds), topics, options.rounds), end="")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
