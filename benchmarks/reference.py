"""The reference estimator's error for its time, single thread: by topics and the length of documents.

Run as `python benchmarks/reference.py`; it writes reference.md next to it. Documents are drawn from a model that LDA
fitted to simulated documents; their truth is the reference with fifty times the sweeps.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import math
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from speed import SHAPES, commit, cpu, seconds

from heldout.corpora.synthetic import draw
from heldout.errors import InputError
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.reference import reference
from heldout.files import replacing
from heldout.models.lda import LDA
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

TOPICS, LENGTHS = (20, 100, 800), (50, 150, 1400)
DOCUMENTS, SEEDS, SWEEPS = 6, 10, 1000
MORE = 50  # the truth's sweeps, over those that are judged
SPENT = 1e-12  # variance of a log weight, nats^2, that no document reaches: all sweeps are spent
WITHIN = 1.5  # factor that a stated error may be off
ALPHA_SUM, TRAINING_SWEEPS = 5.0, 50


class Cell(NamedTuple):
    """One number of topics and length: r.m.s. errors in nats per token, and CPU seconds per document."""

    topics: int
    length: int
    error: float
    stated: float
    seconds: float


def topics_of(K: int) -> Topics:
    """Return topics that LDA finds in simulated documents of Cranfield's shape."""
    corpus, _ = draw("cranfield-like", SHAPES["Cranfield"])
    model = LDA(K, sweeps=TRAINING_SWEEPS, alpha=ALPHA_SUM / K, random_state=0).fit(corpus.counts())
    return model.topics(corpus.vocabulary)


def cell(topics: Topics, length: int, seeds: int, sweeps: int, more: int = MORE) -> Cell:
    """Measure the reference on documents of one length."""
    axes = {"topics": topics.n_topics, "length": length}
    documents, _ = simulate(topics, np.full(DOCUMENTS, length), generator("reference benchmark", **axes))

    def run(samples: int, seed: int) -> Evaluation:
        random = generator("reference benchmark", **axes, seed=seed)
        return reference(topics, documents, samples, random, variance=SPENT)

    truth = run(more * sweeps, seeds).log_likelihood
    estimates: list[Evaluation] = []
    took = seconds(lambda: estimates.extend(run(sweeps, seed) for seed in range(seeds)))
    off = np.array([estimate.log_likelihood for estimate in estimates]) - truth
    stated = np.array([estimate.standard_error for estimate in estimates])

    def per_token(errors: Floats) -> float:
        return math.sqrt(float(np.mean(np.square(errors)))) / length

    return Cell(topics.n_topics, length, per_token(off), per_token(stated), took / seeds / DOCUMENTS)


def markdown(cells: Sequence[Cell], seeds: int, sweeps: int) -> str:
    """Return the table."""
    lines = [
        "# What the reference's error costs",
        "",
        f"Written by `python benchmarks/reference.py` at commit {commit()}; CPU: {cpu()}, single thread, Python"
        f" {platform.python_version()}; other work ran on the machine. {DOCUMENTS} simulated documents of each length,"
        f" {sweeps:,} sweeps per document over all its chains, {seeds} seeds; the truth is the reference with {MORE}"
        " times the sweeps. Errors are root mean squares over documents and seeds, nats per token. As the error falls"
        " with the root of the time, `at one second` is the error times the root of the CPU seconds per document.",
        "",
        "| K | tokens | seconds per document | error | stated error | stated over measured | within"
        f" {WITHIN:g} | error at one second |",
        "|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    for c in cells:
        ratio = c.stated / c.error
        kept = "yes" if 1.0 / WITHIN <= ratio <= WITHIN else "no"
        lines.append(
            f"| {c.topics} | {c.length:,} | {c.seconds:.3g} | {c.error:.2e} | {c.stated:.2e} | {ratio:.2f} | {kept} |"
            f" {c.error * math.sqrt(c.seconds):.2e} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="measure so many estimates (default: 10)")
    parser.add_argument("--sweeps", type=int, default=SWEEPS, help="take so many sweeps per document (default: 1000)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".md"), help="write the table here")
    options = parser.parse_args()
    cells: list[Cell] = []
    try:
        for K in TOPICS:
            topics = topics_of(K)
            for length in LENGTHS:
                cells.append(cell(topics, length, options.seeds, options.sweeps))
                print(*cells[-1], file=sys.stderr, flush=True)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    with replacing(options.output) as temporary:
        temporary.write_text(markdown(cells, options.seeds, options.sweeps), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
