"""What an optimiser of EPCA's objective reaches in a given CPU time, and the same for folding-in; prints Markdown.

Run on prepared corpora: `python benchmarks/epca_optimisers.py cranfield.npz nips.npz`. Single thread. All optimisers
start from the same random W and H and call the same objective; a step that needs no gradient pays for one.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

from heldout.typing import Floats

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import contextlib
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.optimize

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.models import epca
from heldout.models.epca import EPCA, Objective, ascend, fold_in_counts
from heldout.seeds import generator

Start = tuple[Floats, Floats]

SECONDS = {20: 3.0, 100: 8.0}  # K: CPU time that every optimiser gets
SHARES = (0.25, 0.5, 1.0)  # of that time, at which the table looks
HELD_OUT = 0.3  # of the documents, folded in
FOLD_IN_TOLERANCE = 1e-4  # nats per token
ADAM_RATE = 0.05


class OutOfTimeError(Exception):
    """The CPU time is used up."""


class Clock(Objective):
    """The objective, which keeps the best value at every time and ends the optimiser when the time is over."""

    def __init__(self, counts: Any, penalty: float, limit: float) -> None:
        super().__init__(counts, penalty)
        self.limit = limit
        self.record: list[tuple[float, float]] = []
        self.start = time.process_time()

    def __call__(self, W: Floats, H: Floats) -> tuple[float, Floats, Floats]:
        """Evaluate and record, or raise OutOfTimeError."""
        result = super().__call__(W, H)
        now = time.process_time() - self.start
        if now > self.limit:
            raise OutOfTimeError
        best = self.record[-1][1] if self.record else -math.inf
        self.record.append((now, max(best, result[0]) if math.isfinite(result[0]) else best))
        return result

    def best(self, share: float) -> float:
        """Return the best objective by a share of the time, nats per token."""
        known = [value for now, value in self.record if now <= share * self.limit]
        return known[-1] / float(self.lengths.sum()) if known else -math.inf


def ours(objective: Clock, W: Floats, H: Floats) -> None:
    """Joint L-BFGS with the Fisher preconditioner."""
    ascend(objective, W, H, iterations=10**6, tolerance=0.0)


def minimise(objective: Clock, W: Floats, H: Floats, parts: list[str], iterations: int) -> Start:
    """Run scipy's L-BFGS over W, H or both."""
    n_words = len(W)
    for part in parts:
        rows = {"both": slice(None), "W": slice(0, n_words), "H": slice(n_words, None)}[part]
        x = np.concatenate([W, H])

        def minus(flat: Floats, x: Floats = x, rows: slice = rows) -> tuple[float, Floats]:
            x[rows] = flat.reshape(x[rows].shape)
            value, gradient, _ = objective(x[:n_words], x[n_words:])
            return -value, -gradient[rows].ravel()

        found = scipy.optimize.minimize(
            minus,
            x[rows].ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0},
        )
        x[rows] = found.x.reshape(x[rows].shape)
        W, H = x[:n_words], x[n_words:]
    return W, H


def joint_lbfgs(objective: Clock, W: Floats, H: Floats) -> None:
    """Joint L-BFGS."""
    minimise(objective, W, H, ["both"], 10**6)


def alternating_lbfgs(objective: Clock, W: Floats, H: Floats) -> None:
    """L-BFGS over H and over W in turn, five iterations each."""
    while True:
        W, H = minimise(objective, W, H, ["H", "W"], 5)


def alternating_gradient(objective: Clock, W: Floats, H: Floats) -> None:
    """Gradient steps for W and H in turn (section 3.5), each with a line search."""
    n_words = len(W)
    x = np.concatenate([W, H])
    value, gradient, _ = objective(W, H)
    lengths = [1e-3, 1e-3]
    while True:
        for part, rows in enumerate((slice(0, n_words), slice(n_words, None))):
            squares = float(np.vdot(gradient[rows], gradient[rows]))
            while True:
                new = x.copy()
                new[rows] += lengths[part] * gradient[rows]
                new_value, new_gradient, _ = objective(new[:n_words], new[n_words:])
                if new_value >= value + 1e-4 * lengths[part] * squares:
                    break
                lengths[part] *= 0.5
            x, value, gradient = new, new_value, new_gradient
            lengths[part] *= 2.0


def alternating_bound(objective: Clock, W: Floats, H: Floats) -> None:
    """Steps to the maximum of a quadratic lower bound, for H and W in turn.

    The softmax's covariance is at most (I - 11'/V) / 2 (Boehning 1992), so a document's Hessian is at most
    n_d W'(I - 11'/V) W / 2 and a word's row of W has at most sum_d n_d h_d h_d' / 2: closed form, never downwards.
    """
    identity = np.eye(W.shape[1])
    while True:
        _, gradient, _ = objective(W, H)
        centred = W - W.mean(axis=0)
        values, axes = np.linalg.eigh(0.5 * centred.T @ centred)
        curvature = objective.lengths[:, None] * np.maximum(values, 1e-12) + objective.penalty
        H = H + ((gradient[len(W) :] @ axes) / np.maximum(curvature, 1e-12)) @ axes.T
        _, gradient, _ = objective(W, H)
        bound = 0.5 * (H * objective.lengths[:, None]).T @ H + (objective.penalty + 1e-9) * identity
        W = W + np.linalg.solve(bound, gradient[: len(W)].T).T


def adam(objective: Clock, W: Floats, H: Floats) -> None:
    """Adam (Kingma and Ba 2015) over W and H together, its usual decay rates, a constant step size."""
    x = np.concatenate([W, H])
    first, second = np.zeros_like(x), np.zeros_like(x)
    step = 0
    while True:
        step += 1
        _, gradient, _ = objective(x[: len(W)], x[len(W) :])
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        x = x + ADAM_RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)


OPTIMISERS: dict[str, Callable[[Clock, Floats, Floats], None]] = {
    "joint L-BFGS, Fisher preconditioner (`fit`)": ours,
    "joint L-BFGS (scipy)": joint_lbfgs,
    "alternating L-BFGS (scipy), 5 iterations each": alternating_lbfgs,
    "alternating gradient with line search (the paper)": alternating_gradient,
    "alternating quadratic bound, closed form": alternating_bound,
    f"Adam, step {ADAM_RATE:g}": adam,
}


def training(corpus: Corpus, topics: int, penalty: float) -> list[str]:
    """Return the table's rows of one corpus, K and penalty."""
    counts = corpus.counts()
    limit = SECONDS[topics]
    random = generator("epca-optimisers", corpus=corpus.name, topics=topics)
    deviation = math.sqrt(epca.START_LOGITS) / topics**0.25
    W = deviation * random.standard_normal((corpus.n_words, topics))
    H = deviation * random.standard_normal((corpus.n_documents, topics))
    rows = []
    for name, optimiser in OPTIMISERS.items():
        clock = Clock(counts, penalty, limit)
        with contextlib.suppress(OutOfTimeError):
            optimiser(clock, W.copy(), H.copy())
        reached = " | ".join(f"{clock.best(share):.4f}" for share in SHARES)
        rows.append(f"| {corpus.name} | {topics} | {penalty:g} | {name} | {len(clock.record)} | {reached} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def folding_in(training: Corpus, test: Corpus, topics: int, penalty: float) -> list[str]:
    """Return the rows of one corpus, K and penalty: L-BFGS alone, Newton alone, and the first before the second."""
    random = generator("epca-optimisers", corpus=training.name, topics=topics)
    model = EPCA(topics, penalty=penalty, random_state=random).fit(training.counts())
    components = model.components(training.vocabulary)
    rows = []
    usual = epca.NEWTON
    for name, newton in (("L-BFGS", 10**6), ("Newton", 0), (f"L-BFGS, Newton after {usual}", usual)):
        epca.NEWTON = newton
        start = time.process_time()
        _, gap = fold_in_counts(
            components,
            test.counts(),
            penalty=max(penalty, 0.01),
            iterations=300,
            tolerance=FOLD_IN_TOLERANCE,
        )
        seconds = time.process_time() - start
        met = int(np.sum(gap <= FOLD_IN_TOLERANCE * test.lengths))
        rows.append(
            f"| {training.name} | {topics} | {max(penalty, 0.01):g} | {name} | {seconds:.2f} | {met} of {len(gap)} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    epca.NEWTON = usual
    return rows


def main() -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path, help="prepared corpora (.npz)")
    parser.add_argument("--penalties", nargs="+", type=float, default=[1.0, 0.0], help="default: 1 and 0")
    options = parser.parse_args()
    try:
        corpora = [Corpus.load(path) for path in options.corpora]
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    splits = [train_test_split(corpus, round(HELD_OUT * corpus.n_documents), 0) for corpus in corpora]
    settings = [(split, topics, penalty) for split in splits for topics in SECONDS for penalty in options.penalties]
    times = ", ".join(f"{seconds:g} s at K = {topics}" for topics, seconds in SECONDS.items())
    shares = " | ".join(f"after {share:.0%}" for share in SHARES)
    print("# Which optimiser suits EPCA\n")
    names = " ".join(path.name for path in options.corpora)
    print(f"Written by `python benchmarks/epca_optimisers.py {names}` on prepared corpora; CPU times, single thread.\n")
    print(f"Objective reached, nats per token (higher is better), in shares of the CPU time: {times}.\n")
    print(f"| corpus | topics | penalty | optimiser | evaluations | {shares} |")
    print("|---|---:|---:|---|---:|" + "---:|" * len(SHARES))
    print("\n".join(row for (train, _), topics, penalty in settings for row in training(train, topics, penalty)))
    print(f"\nFolding-in of the held-out documents to {FOLD_IN_TOLERANCE:g} nats per token.\n")
    print("| corpus | topics | penalty or ridge | optimiser | CPU seconds | documents that met the tolerance |")
    print("|---|---:|---:|---|---:|---:|")
    print("\n".join(row for split, topics, penalty in settings for row in folding_in(*split, topics, penalty)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
