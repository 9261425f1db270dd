"""How precise likelihoods under a logistic-normal prior are, and their cost: `python benchmarks/logistic_normal.py`.

Writes the measurements that `heldout recommend --prior logistic-normal` reads, in the columns of
`heldout.auditing.precision_table`, and goes on where the file ends. All of it takes some ten minutes.

Documents are drawn from models whose topics are drawn from a Dirichlet distribution, with mu = 0 and Sigma = s^2 I; the
prior is named after s ("normal-1"). The truth is by quadrature at two and three topics, and beyond the same annealing
with `--work` times the most sweeps. Errors are conservative, as those of Dirichlet priors are: increased by their own
standard error, and no smaller than the truth's error or the bias.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from heldout.auditing.precision_table import LOGISTIC_NORMAL, Run, Table, as_csv, parse
from heldout.corpora.corpus import Corpus
from heldout.evaluators import EXACT, REFERENCE
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.logistic_normal import (
    LARGEST,
    LogisticNormalTopics,
    logistic_normal_exact,
    logistic_normal_reference,
    simulate,
)
from heldout.files import replacing
from heldout.seeds import generator

SPREADS = (1.0, 3.0)  # s; of a correlated topic model of abstracts most are 3 to 4
TOPICS = {3: 48, 10: 48, 30: 24, 100: 12}  # K, and how many documents
LENGTHS = (10, 50, 150, 500)
SAMPLES = (240, 2400)
WORDS, GAMMA = 2000, 0.1  # of the topics
TINY = 1e-9  # nats^2: all sweeps are spent


def model_of(K: int, spread: float) -> LogisticNormalTopics:
    """Return topics that are drawn, under the prior of this spread."""
    rng = generator("logistic-normal-topics", topics=K, spread=spread)
    phi = rng.dirichlet(np.full(WORDS, GAMMA), size=K)
    words = tuple(f"w{v}" for v in range(WORDS))
    return LogisticNormalTopics(phi / phi.sum(axis=1, keepdims=True), np.zeros(K - 1), spread**2 * np.eye(K - 1), words)


def timed(evaluate: Callable[[], Evaluation], documents: int) -> tuple[Evaluation, float]:
    """Return an evaluation and its milliseconds of one core per document."""
    begin = time.process_time()
    found = evaluate()
    return found, 1000.0 * (time.process_time() - begin) / documents


def measured(K: int, length: int, spread: float, work: int) -> Iterator[tuple[str, Run, float]]:
    """Yield the estimators of one cell, what they were off by, and their milliseconds per document."""
    model, axes = model_of(K, spread), {"topics": K, "tokens": length, "spread": spread}
    D = TOPICS[K]
    documents, _ = simulate(model, np.full(D, length), generator("logistic-normal-documents", **axes))

    def annealed(samples: int, name: str, **options: Any) -> Callable[[], Evaluation]:
        rng = generator(f"logistic-normal-{name}", samples=samples, **axes)
        return lambda: logistic_normal_reference(model, documents, samples, rng, **options)

    logistic_normal_reference(model, _first(documents), SAMPLES[0], generator("logistic-normal-warm-up"))
    if K <= LARGEST:
        truth, milliseconds = timed(lambda: logistic_normal_exact(model, documents), D)
        yield EXACT, Run(0, 0.0, 0.0, math.nan), milliseconds
    else:
        truth = annealed(work * max(SAMPLES), "truth", variance=TINY)()
    known = math.sqrt(float((truth.standard_error**2).mean())) if K > LARGEST else 0.0
    highest, runs = 0.0, []
    for samples in sorted(SAMPLES, reverse=True):
        found, milliseconds = timed(annealed(samples, "run"), D)
        d = found.log_likelihood - truth.log_likelihood
        error, bias = math.sqrt(float((d**2).mean())), float(d.mean())
        largest = math.hypot(bias, float(d.std(ddof=1)) / math.sqrt(D))
        highest = max(highest, error * (1.0 + 1.0 / math.sqrt(2.0 * D)), largest, known)
        stated = math.sqrt(float((found.standard_error**2 + found.bias**2).mean())) if found.bias is not None else 0.0
        runs.append((REFERENCE, Run(samples, highest, math.copysign(largest, bias), error / stated), milliseconds))
    yield from reversed(runs)


def _first(documents: Corpus) -> Corpus:
    return documents.subset(np.arange(1))


def main() -> None:
    """Measure the cells that the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=int, default=8, help="the truth's sweeps over the most measured (default: 8)")
    work = parser.parse_args().work
    table = parse(LOGISTIC_NORMAL.read_text(encoding="utf-8")) if LOGISTIC_NORMAL.is_file() else Table({}, {})
    for spread in SPREADS:
        prior = f"normal-{spread:g}"
        errors, times = table.errors.setdefault(prior, {}), table.milliseconds.setdefault(prior, {})
        for K in TOPICS:
            for length in LENGTHS:
                if (K, length) in errors:
                    continue
                rows = list(measured(K, length, spread, work))
                names = dict.fromkeys(name for name, _, _ in rows)
                errors[K, length] = {name: tuple(run for of, run, _ in rows if of == name) for name in names}
                times[K, length] = {
                    name: tuple((run.samples, ms) for of, run, ms in rows if of == name) for name in names
                }
                with replacing(LOGISTIC_NORMAL) as temporary:
                    temporary.write_text(as_csv(table), encoding="utf-8")
                print(prior, K, length, errors[K, length], times[K, length], flush=True)


if __name__ == "__main__":
    main()
