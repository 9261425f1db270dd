"""Time per document of every estimator and of the exact value, at the size of Table 1 of Buntine (2009).

Run as `python benchmarks/estimators.py --output FILE.csv`; it writes that file and prints
Markdown. The documents are those of `artifact.papers.buntine.experiments.calibration`, all in one call; an estimator is
timed once per round, the estimators in turn.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import platform
import statistics
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from speed import cpu, seconds

from artifact.papers.buntine.experiments.calibration import draw_pair, side_by_side
from artifact.papers.buntine.results import METHODS
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT
from heldout.evaluators.estimate import estimate
from heldout.files import write_rows
from heldout.seeds import generator

TOPICS, WORDS, TOKENS, GAMMA, ALPHA, SAMPLES = 4, 1000, 14, 0.5, 0.1, 200
# Buntine (2009, section 4.1): documents of this size with as many samples, on a 2.16 GHz Intel Core Duo
PUBLISHED_MILLISECONDS = {**dict(zip(METHODS, (0.7, 0.7, 0.7, 4.3, 4.3), strict=True)), EXACT: 346_000.0}
COLUMNS = ("estimator", "samples", "milliseconds", "least", "greatest")

Row = tuple[str, int, int, str, int, float]
Row = tuple[str, int, float, float, float]


def measure(documents: int, rounds: int) -> list[Row]:
    """Return, per estimator, its samples and the median, least and greatest milliseconds (CPU) per document."""
    sizes = {"topics": TOPICS, "words": WORDS, "tokens": TOKENS}
    pairs = [
        draw_pair(generator("estimator-timings", pair=i), **sizes, gamma=GAMMA, alpha=ALPHA) for i in range(documents)
    ]
    topics, corpus, _ = side_by_side(pairs, ALPHA)
    samples = {name: 0 if known.deterministic else max(SAMPLES, known.fewest) for name, known in ESTIMATORS.items()}
    found: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    warm = corpus.subset([0])
    for name in ESTIMATORS:  # compilation and caches
        estimate(name, topics, warm, samples[name], generator("estimator-timings"))
    for _ in range(rounds):
        for name, values in found.items():
            run = partial(estimate, name, topics, corpus, samples[name], generator("estimator-timings"))
            values.append(1000.0 * seconds(run) / documents)
    return [
        (name, samples[name], statistics.median(values), min(values), max(values)) for name, values in found.items()
    ]


def markdown(rows: Sequence[Row], documents: int, rounds: int) -> str:
    """Return the table."""
    lines = [
        "# What an estimate of a document's likelihood costs",
        "",
        f"Written by `python benchmarks/estimators.py`; CPU: {cpu()}, single thread, Python"
        f" {platform.python_version()}. Milliseconds (CPU time) per document of {TOKENS} tokens at {TOPICS} topics,"
        f" {SAMPLES} samples; {documents} documents in one call, {rounds} rounds. The published times (Buntine, 2009,"
        " section 4.1) are of a 2.16 GHz Intel Core Duo.",
        "",
        "| estimator | samples | ms: median | least to greatest | published, 2009 |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, samples, median, least, greatest in rows:
        published = f"{PUBLISHED_MILLISECONDS[name]:,g}" if name in PUBLISHED_MILLISECONDS else ""
        times = f"{median:.3g} | {least:.3g} to {greatest:.3g} | {published}"
        lines.append(f"| {ESTIMATORS[name].label} | {samples or ''} | {times} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, write the table of timings where asked, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200, help="in one call (default: 200)")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each estimator (default: 5)")
    parser.add_argument("--output", type=Path, help="a CSV of the timings, for the table of the paper")
    options = parser.parse_args()
    try:
        if options.documents < 1 or options.rounds < 1:
            raise InputError("--documents and --rounds: each number must be at least 1")
        rows = measure(options.documents, options.rounds)
        if options.output is not None:
            write_rows(options.output, COLUMNS, [(*row[:2], *(f"{value:.4g}" for value in row[2:])) for row in rows])
        print(markdown(rows, options.documents, options.rounds), end="")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
