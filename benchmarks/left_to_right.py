"""Cost of the left-to-right estimators: beside a plain loop over topics, and beside MALLET's estimator; single thread.

Run as `python benchmarks/left_to_right.py [--mallet FOLDER]`; it prints Markdown. FOLDER is an unpacked MALLET 2 with
its `dist` (the sdist of the package tethne 0.8 holds MALLET 2.0.7 under `tethne/bin`); a Java of 11 or later runs it.
All work on the same 100 simulated documents of Cranfield's shape and the same topics, in turn, several rounds over.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

from heldout.typing import Ints

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numba as nb
import numpy as np
from speed import SHAPES, cpu, seconds

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.estimate import estimate
from heldout.evaluators.random_stream import starts, uniform
from heldout.seeds import generator
from heldout.topics import Topics

TOPICS = (10, 50, 100, 200, 400, 800)
MALLET_TOPICS = 50
DOCUMENTS, LENGTH, TRAINING = 100, 84, 979
SAMPLES = 100
BETA = 0.01
ORDERED = 3.0  # LRS against MALLET with resampling, both with 100 samples
ALPHA_SUMS = {"5 (few topics in a document)": lambda _: 5.0, "K (a flat prior)": float}

DRIVER = """
import cc.mallet.topics.MarginalProbEstimator;
import cc.mallet.types.*;
import java.lang.management.ManagementFactory;
import java.util.*;
import java.io.*;

public class LeftToRight {
    public static void main(String[] arguments) throws Exception {
        Scanner in = new Scanner(new BufferedReader(new FileReader(arguments[0]))).useLocale(Locale.ROOT);
        int particles = in.nextInt(), rounds = in.nextInt(), K = in.nextInt(), V = in.nextInt();
        double alphaSum = in.nextDouble(), beta = in.nextDouble();
        int bits = Integer.bitCount(Integer.bitCount(K) == 1 ? K - 1 : Integer.highestOneBit(K) * 2 - 1);
        int[][] typeTopicCounts = new int[V][];
        int[] tokensPerTopic = new int[K];
        for (int w = 0; w < V; w++) {
            typeTopicCounts[w] = new int[in.nextInt()];
            for (int i = 0; i < typeTopicCounts[w].length; i++) {
                int k = in.nextInt(), n = in.nextInt();
                typeTopicCounts[w][i] = (n << bits) + k;
                tokensPerTopic[k] += n;
            }
            Arrays.sort(typeTopicCounts[w]);
            for (int i = 0, j = typeTopicCounts[w].length - 1; i < j; i++, j--) {
                int kept = typeTopicCounts[w][i];
                typeTopicCounts[w][i] = typeTopicCounts[w][j];
                typeTopicCounts[w][j] = kept;
            }
        }
        Alphabet alphabet = new Alphabet();
        for (int w = 0; w < V; w++) alphabet.lookupIndex("w" + w);
        InstanceList documents = new InstanceList(alphabet, null);
        for (int n = in.nextInt(); n > 0; n--) {
            int[] tokens = new int[in.nextInt()];
            for (int l = 0; l < tokens.length; l++) tokens[l] = in.nextInt();
            documents.add(new Instance(new FeatureSequence(alphabet, tokens), null, "d" + n, null));
        }
        double[] alpha = new double[K];
        Arrays.fill(alpha, alphaSum / K);
        MarginalProbEstimator estimator =
            new MarginalProbEstimator(K, alpha, alphaSum, beta, typeTopicCounts, tokensPerTopic);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        estimator.evaluateLeftToRight(documents, particles, true, nowhere); // compiled by now
        for (int round = 0; round < rounds; round++) {
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            double value = estimator.evaluateLeftToRight(documents, particles, true, nowhere);
            long time = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
            System.out.println(time / 1e9 + " " + value);
        }
    }
}
"""


class Task(NamedTuple):
    """Topics, as counts and smoothed, and documents drawn from them."""

    topics: Topics
    counts: Ints
    documents: Corpus


def task(n_topics: int, alpha_sum: float) -> Task:
    """Draw topics, training documents that give their counts n(k, w), and the documents to be estimated."""
    random = generator("left-to-right-benchmark", topics=n_topics, alpha_sum=alpha_sum)
    V, training_tokens = SHAPES["Cranfield"].vocabulary, round(SHAPES["Cranfield"].mean_length)
    alpha = np.full(n_topics, alpha_sum / n_topics)
    cumulative = np.cumsum(random.dirichlet(np.full(V, 0.05), size=n_topics), axis=1)
    counts = np.zeros((n_topics, V), dtype=np.int64)
    streams = []
    for d in range(TRAINING + DOCUMENTS):
        length = training_tokens if d < TRAINING else LENGTH
        z = random.choice(n_topics, size=length, p=random.dirichlet(alpha))
        w = np.array([np.searchsorted(cumulative[k], random.random() * cumulative[k, -1], side="right") for k in z])
        if d < TRAINING:
            np.add.at(counts, (z, w), 1)
        else:
            streams.append(w)
    phi = (counts + BETA) / (counts.sum(axis=1, keepdims=True) + BETA * V)
    vocabulary = tuple(f"w{i}" for i in range(V))
    documents = Corpus(
        "cranfield-like",
        vocabulary,
        np.concatenate(streams).astype(np.int32),
        np.arange(DOCUMENTS + 1, dtype=np.int64) * LENGTH,
        tuple(f"d{i}" for i in range(DOCUMENTS)),
    )
    return Task(Topics(phi, alpha, vocabulary), counts, documents)


@nb.njit
def plain(words, phi, alpha, particles, sweeps, state, out):  # type: ignore[no-untyped-def]
    """Write the records of the left-to-right samplers to out, every topic summed for every draw."""
    L, K = words.shape[0], alpha.shape[0]
    z, weight, cumulative = np.empty(L, np.int64), np.empty(K), np.empty(K)
    for particle in range(particles):
        weight[:] = alpha
        for last in range(L):
            for sweep in range(sweeps):
                for position in range(last + 1):
                    if position < last:
                        weight[z[position]] -= 1.0
                    total = 0.0
                    for k in range(K):
                        total += weight[k] * phi[words[position], k]
                        cumulative[k] = total
                    if position == last:
                        out[particle * sweeps + sweep, last] = total / (alpha.sum() + last)
                        if sweep + 1 < sweeps:
                            break
                    x, k = uniform(state) * total, 0
                    while cumulative[k] <= x:
                        k += 1
                    weight[k] += 1.0
                    z[position] = k


def run_plain(work: Task, samples: int) -> float:
    """Return the LRS estimate of all documents, in nats, by the plain loop."""
    states, value = starts(np.random.default_rng(1), work.documents.n_documents), 0.0
    for d in range(work.documents.n_documents):
        distinct, words = np.unique(work.documents.document(d), return_inverse=True)
        records = np.empty((samples, len(words)))
        plain(words, work.topics.phi_by_word[distinct], work.topics.alpha, 1, samples, states[d], records)
        value += float(np.log(records.mean(axis=0)).sum())
    return value


def run(name: str, work: Task, samples: int) -> float:
    """Return an estimator's value of all documents, in nats."""
    return float(estimate(name, work.topics, work.documents, samples, np.random.default_rng(1)).log_likelihood.sum())


def mallet(folder: Path, work: Task, rounds: int) -> list[tuple[float, float]]:
    """Return CPU seconds and value in nats of each round of MALLET's estimator with resampling."""
    jars = [folder / "dist" / name for name in ("mallet.jar", "mallet-deps.jar")]
    if not all(jar.is_file() for jar in jars):
        raise InputError(f"{folder} has no dist/mallet.jar and dist/mallet-deps.jar; name an unpacked MALLET 2")
    counts, K = work.counts, work.topics.n_topics
    lines = [f"{SAMPLES} {rounds} {K} {counts.shape[1]} {float(work.topics.alpha.sum())} {BETA}"]
    for w in range(counts.shape[1]):
        kept = np.flatnonzero(counts[:, w])
        lines.append(" ".join([str(len(kept)), *(f"{k} {counts[k, w]}" for k in kept)]))
    lines.append(str(work.documents.n_documents))
    for d in range(work.documents.n_documents):
        tokens = work.documents.document(d)
        lines.append(" ".join([str(len(tokens)), *map(str, tokens)]))
    with tempfile.TemporaryDirectory() as name:
        driver, task_file = Path(name) / "LeftToRight.java", Path(name) / "task.txt"
        driver.write_text(DRIVER, encoding="utf-8")
        task_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["java", "-cp", os.pathsep.join(map(str, jars)), str(driver), str(task_file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"java failed: {done.stderr.strip().splitlines()[0]}")
    return [(float(a), float(b)) for a, b in (line.split() for line in done.stdout.splitlines())]


def timed(work: Task, rounds: int, samples: int) -> dict[str, list[float]]:
    """Return CPU seconds per round of the package's estimators and of the plain loop."""
    runs = {
        "heldout, LRS": lambda: run("left-to-right-sequential", work, samples),
        "heldout, left-to-right": lambda: run("left-to-right", work, samples),
        "plain loop, LRS": lambda: run_plain(work, samples),
    }
    first = work.documents.subset([0])
    run("left-to-right", work._replace(documents=first), 1)
    run_plain(work._replace(documents=first), 1)  # compiled
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, call in runs.items():
            found[name].append(seconds(call))
    return found


def main() -> int:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (default: 3)")
    parser.add_argument("--topics", type=int, nargs="+", default=list(TOPICS), help="numbers of topics")
    parser.add_argument("--mallet", type=Path, help="an unpacked MALLET 2; without it, its table is left out")
    options = parser.parse_args()
    try:
        print("\n".join(report(sorted(set(options.topics)), options.rounds, options.mallet)))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def report(topics: list[int], rounds: int, folder: Path | None) -> list[str]:
    """Return the page's lines."""
    draws = DOCUMENTS * LENGTH * (LENGTH - 1) / 2
    lines = [
        "# What a left-to-right estimate costs",
        "",
        f"Written by `python benchmarks/left_to_right.py`; CPU: {cpu()}, single thread, Python"
        f" {platform.python_version()}. {DOCUMENTS} simulated documents of {LENGTH} tokens over"
        f" {SHAPES['Cranfield'].vocabulary} words; topics are the counts of {TRAINING} simulated documents, smoothed"
        f" with {BETA}. CPU times, medians of {rounds} rounds.",
        "",
        "## Nanoseconds per resampled token",
        "",
        f"Everything that an estimate does, divided by its R L (L - 1) / 2 draws, at R = {SAMPLES // 5}; the plain loop"
        " is the same algorithm with every topic summed for every draw, compiled alike.",
        "",
        f"| sum of alpha | | {' | '.join(f'K = {k}' for k in topics)} |",
        f"|---|---|{'---:|' * len(topics)}",
    ]
    for label, total in ALPHA_SUMS.items():
        columns = [timed(task(k, total(k)), rounds, SAMPLES // 5) for k in topics]
        for name in columns[0]:
            cells = [f"{statistics.median(c[name]) / (SAMPLES // 5 * draws) * 1e9:.0f}" for c in columns]
            lines.append(f"| {label} | {name} | {' | '.join(cells)} |")
        print(label, file=sys.stderr, flush=True)
    if folder is None:
        return lines
    work = task(MALLET_TOPICS, 5.0)
    theirs = mallet(folder, work, rounds)
    ours = timed(work, rounds, SAMPLES)
    lines += [
        "",
        "## Beside MALLET",
        "",
        f"`MarginalProbEstimator.evaluateLeftToRight` with resampling, {SAMPLES} particles, K = {MALLET_TOPICS}, the"
        " same topics, documents and run; its second call onwards, by the clock of its thread. Left-to-right of this"
        " package is the same estimator; the sequential one takes as many draws.",
        "",
        "| | CPU seconds | MALLET's seconds over it | nats per token |",
        "|---|---:|---:|---:|",
    ]
    reference = statistics.median(t for t, _ in theirs)
    tokens = DOCUMENTS * LENGTH
    values = {
        "heldout, LRS": run("left-to-right-sequential", work, SAMPLES),
        "heldout, left-to-right": run("left-to-right", work, SAMPLES),
        "plain loop, LRS": run_plain(work, SAMPLES),
    }
    lines.append(f"| MALLET | {reference:.2f} | 1 | {statistics.mean(v for _, v in theirs) / tokens:.4f} |")
    for name, times in ours.items():
        median = statistics.median(times)
        lines.append(f"| {name} | {median:.2f} | {reference / median:.2f} | {values[name] / tokens:.4f} |")
    ratio = reference / statistics.median(ours["heldout, LRS"])
    lines += ["", f"Asked of LRS: {ORDERED:g} times as fast as MALLET; measured {ratio:.1f}."]
    return lines


if __name__ == "__main__":
    sys.exit(main())
