"""How time and memory grow with documents, their length, topics and words, for training and the audit, single thread.

Run as `python benchmarks/growth.py`; it writes growth.md and growth.png next to it. An axis is measured at points over
two decades, and a law a + b x^p is fitted to them; the point at four times the largest is held out, and the law
predicts it. Every point has a process of its own, so that its memory is known.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import ctypes
import gc
import itertools
import multiprocessing
import platform
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares
from speed import BETA, commit, cpu, seconds

import heldout
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.files import replacing
from heldout.models.lda import sampler_of
from heldout.models.plsa import PLSA
from heldout.seeds import generator
from heldout.typing import Floats

POINTS = 7  # fitted points of an axis, over two decades
HELD_OUT = 4.0  # the held-out point, over the largest that is fitted
WITHIN = 0.25  # error that a prediction may have, as a share of what is measured
SWEEPS = 240  # of the reference, per document of an audit: the fewest that it takes
LARGEST_POWER = 3.0
SCALES = (10**6, 10**9)  # documents of the table on paper


class Size(NamedTuple):
    """A task's size: documents D, tokens of each L, topics K and words V."""

    documents: int = 1000
    length: int = 100
    topics: int = 20
    vocabulary: int = 5000


class Point(NamedTuple):
    """Seconds (CPU time) of a unit, and the highest memory beyond the process's before it, MB."""

    seconds: float
    memory: float


class Law(NamedTuple):
    """The law a + b x^p."""

    constant: float
    factor: float
    power: float

    def at(self, x: float) -> float:
        """Return its value at x."""
        return float(self.constant + self.factor * x**self.power)


AXES: dict[str, dict[str, float]] = {  # the least value of each axis, by task
    "LDA": {"documents": 300, "length": 10, "topics": 5, "vocabulary": 500},
    "PLSA": {"documents": 300, "length": 10, "topics": 5, "vocabulary": 500},
    "audit": {"documents": 48, "length": 10, "topics": 5, "vocabulary": 500},
}
DOCUMENTS = {"LDA": 1000, "PLSA": 1000, "audit": 64}  # where documents are not the axis


def corpus_of(size: Size) -> Corpus:
    """Draw a corpus of documents of one length: every one from three of the model's topics, words from Zipf's law."""
    random = generator("growth", **size._asdict())
    ranks = 1.0 / np.arange(1.0, size.vocabulary + 1.0)
    sums = np.cumsum(ranks / ranks.sum())
    n = size.documents * size.length
    rank = np.minimum(np.searchsorted(sums, random.random(n, dtype=np.float32)), size.vocabulary - 1)
    of_document = random.integers(0, size.topics, (size.documents, 3))
    topic = np.repeat(of_document, size.length, axis=0)[np.arange(n), random.integers(0, 3, n)]
    tokens = ((rank * 7919 + topic * 104729) % size.vocabulary).astype(np.int32)  # each topic has an order of its own
    offsets = np.arange(size.documents + 1, dtype=np.int64) * size.length
    names = tuple(map(str, range(size.vocabulary)))
    return Corpus("growth", names, tokens, offsets, tuple(map(str, range(size.documents))))


def topics_of(size: Size) -> Floats:
    """Return phi, (K, V), of the topics of `corpus_of`."""
    ranks = 1.0 / np.arange(1.0, size.vocabulary + 1.0)
    phi = np.full((size.topics, size.vocabulary), 1e-9)
    for k in range(size.topics):
        np.add.at(phi[k], (np.arange(size.vocabulary) * 7919 + k * 104729) % size.vocabulary, ranks)
    phi /= phi.sum(axis=1, keepdims=True)
    return phi


def _lda(corpus: Corpus, size: Size, _: Path) -> Callable[[int], Any]:
    """Return sweeps of one chain, with their random numbers."""
    sampler = sampler_of(corpus.tokens, corpus.offsets, corpus.n_words, size.topics)
    random = generator("growth", topics=size.topics)

    def run(units: int) -> None:
        for _ in range(units):
            uniforms = random.random((1, corpus.n_tokens), dtype=np.float32)
            sampler.sweep([np.full(size.topics, 50.0 / size.topics)], [BETA], uniforms)

    run(10)
    return run


def _plsa(corpus: Corpus, size: Size, _: Path) -> Callable[[int], Any]:
    """Return EM iterations of a fit from a random start."""
    counts = corpus.counts()
    return lambda units: PLSA(size.topics, iterations=units, random_state=0).fit(counts)


def _audit(corpus: Corpus, size: Size, folder: Path) -> Callable[[int], Any]:
    """Return audits of a file of LDA-C's form by the reference, nothing kept; a unit is an audit."""
    path = folder / "documents.ldac"
    with path.open("w", encoding="ascii") as file:
        for d in range(corpus.n_documents):
            words, counts = np.unique(corpus.document(d), return_counts=True)
            file.write(f"{len(words)} {' '.join(f'{w}:{n}' for w, n in zip(words, counts, strict=True))}\n")
    model = (topics_of(size), np.full(size.topics, 50.0 / size.topics))
    options: dict[str, Any] = {"estimator": "reference", "samples": SWEEPS, "probability": False, "other_corpus": True}

    def run(units: int) -> None:
        for _ in range(units):
            heldout.audit(model, path, vocabulary=corpus.vocabulary, progress=False, **options)

    return run


TASKS: dict[str, tuple[str, Callable[[Corpus, Size, Path], Callable[[int], Any]]]] = {
    "LDA": ("Gibbs sweep", _lda),
    "PLSA": ("EM iteration", _plsa),
    "audit": (f"{SWEEPS} sweeps of the reference per document", _audit),
}


def _measured(task: str, size: Size, folder: str, connection: Any) -> None:
    """Measure one point, in a process of its own, and send it: what every call pays once cancels, but for an audit."""
    corpus = corpus_of(size)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that is free again is not counted as the process's before
    before = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the highest memory counts from here
    run = TASKS[task][1](corpus, size, Path(folder))
    if task == "audit":
        took = seconds(lambda: run(1))
    else:
        once = seconds(lambda: run(1))
        units = max(2, min(20, round(0.3 / max(once, 1e-9))))
        took = (seconds(lambda: run(1 + units)) - seconds(lambda: run(1))) / units
    status = Path("/proc/self/status").read_text(encoding="ascii").split()
    highest = int(status[status.index("VmHWM:") + 1]) * 1024
    connection.send(Point(took, max(highest - before, 0) / 1e6))


def measure(task: str, size: Size, rounds: int) -> Point:
    """Return the medians of a point over rounds, each in a process of its own."""
    context = multiprocessing.get_context("fork")  # what is compiled and imported here is so there
    points = []
    for _ in range(rounds):
        ours, theirs = context.Pipe()
        with tempfile.TemporaryDirectory() as folder:
            process = context.Process(target=_measured, args=(task, size, folder, theirs))
            process.start()
            theirs.close()
            try:
                points.append(ours.recv())
            except EOFError as error:
                raise InputError(f"{task}: {size} ended too early, perhaps for want of memory") from error
            process.join()
    return Point(*(statistics.median(values) for values in zip(*points, strict=True)))


def axis_values(least: float) -> list[int]:
    """Return the points of an axis, ascending, the held-out one last."""
    fitted = [round(least * 100.0 ** (i / (POINTS - 1))) for i in range(POINTS)]
    return [*fitted, round(HELD_OUT * fitted[-1])]


def fit(x: Sequence[float], y: Sequence[float]) -> Law:
    """Fit a + b x^p, with a, b >= 0 and p in [0, 3], by least squares of log y.

    Raises:
        InputError: with fewer than four points, or values that are not positive.
    """
    if len(x) < 4 or min(*x, *y) <= 0.0:
        raise InputError(f"{len(x)} points; a law of three parameters needs four or more, all positive")
    logs, scaled, top = np.log(y), np.asarray(x) / max(x), float(max(y))

    def residuals(parameters: Floats) -> Floats:
        a, b, power = parameters
        return np.asarray(np.log(a + b * scaled**power + 1e-12 * top) - logs)

    starts = itertools.product((1e-3, 0.3), (0.5, 1.0, 1.5))
    bounds = ([0.0, 0.0, 0.0], [2.0 * top, 4.0 * top, LARGEST_POWER])
    fits = [
        least_squares(residuals, (share * top, top, p), bounds=bounds, x_scale=(top, top, 1.0)) for share, p in starts
    ]
    a, b, power = min(fits, key=lambda found: found.cost).x
    return Law(float(a), float(b / max(x) ** power), float(power))


Measured = dict[tuple[str, str], tuple[list[int], list[Point]]]


def measure_all(tasks: Sequence[str], rounds: int) -> Measured:
    """Return the points of every axis of every task."""
    measured: Measured = {}
    for task in tasks:
        with tempfile.TemporaryDirectory() as folder:  # what is compiled and imported here is inherited
            TASKS[task][1](corpus_of(Size(documents=20)), Size(documents=20), Path(folder))(2)
        for axis, least in AXES[task].items():
            values = axis_values(least)
            points = []
            for value in values:
                size = Size(documents=DOCUMENTS[task])._replace(**{axis: value})
                points.append(measure(task, size, rounds if value < values[-1] else 1))
                print(f"{task} {axis} {value}: {points[-1].seconds:.4g} s, {points[-1].memory:.1f} MB", file=sys.stderr)
            measured[task, axis] = values, points
    return measured


def laws(values: Sequence[int], points: Sequence[Point]) -> tuple[Law, Law]:
    """Return the laws of seconds and of memory without the last point; no memory counts as 0.1 MB."""
    fitted = values[:-1]
    time = fit(fitted, [point.seconds for point in points[:-1]])
    return time, fit(fitted, [max(point.memory, 0.1) for point in points[:-1]])


def markdown(measured: Measured, rounds: int) -> str:
    """Return the table of laws, and what 10^6 and 10^9 documents would take."""
    lines = [
        "# How cost grows",
        "",
        f"Written by `python benchmarks/growth.py` at commit {commit()}; CPU: {cpu()}, single thread,"
        f" Python {platform.python_version()}; other work ran on the machine. A row is an axis:"
        f" {POINTS} points over two decades, the median of {rounds} rounds each, and the law a + b x^p fitted to them"
        " by least squares of logarithms. The held-out point is at four times the largest; `off` is the prediction over"
        " what was measured, less one. Memory is the highest of a process beyond what it held with its corpus loaded."
        f" Where they are not the axis, a task has {Size().length} tokens per document, K = {Size().topics},"
        f" V = {Size().vocabulary:,} and {', '.join(f'{n:,} documents ({task})' for task, n in DOCUMENTS.items())}.",
        "",
        "![Measured points, laws and held-out points](growth.png)",
        "",
        "| task | unit | axis | from | to | seconds: first | last | power | held out at | seconds | off | within 25 %"
        " | MB: last | power | held out | off | within 25 % |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|---|",
    ]
    for (task, axis), (values, points) in measured.items():
        cells = []
        for law, of in zip(laws(values, points), ("seconds", "memory"), strict=True):
            held, off = getattr(points[-1], of), law.at(values[-1]) / max(getattr(points[-1], of), 1e-9) - 1.0
            before = [f"{points[0].seconds:.3g}", f"{points[-2].seconds:.3g}"] if of == "seconds" else []
            before = before or [f"{points[-2].memory:.3g}"]
            at = [f"{values[-1]:,}"] if of == "seconds" else []
            kept = "yes" if abs(off) <= WITHIN else "no"
            cells += [*before, f"{law.power:.2f}", *at, f"{held:.3g}", f"{100.0 * off:+.0f} %", kept]
        lines.append(f"| {task} | {TASKS[task][0]} | {axis} | {values[0]:,} | {values[-2]:,} | {' | '.join(cells)} |")
    lines += ["", *_on_paper(measured)]
    return "\n".join(lines) + "\n"


def _on_paper(measured: Measured) -> list[str]:
    """Return the table of what the documents' laws say of more documents than were measured."""
    lines = [
        "## A million documents, and a thousand million",
        "",
        f"By the laws on documents, at {Size().length} tokens each, K = {Size().topics} and V = {Size().vocabulary:,}:"
        " one core's hours for 1,000 sweeps of one chain, 100 iterations of EM, or one audit; and the memory of a"
        " process that holds all of it, beside 4 bytes per token of the corpus.",
        "",
        "| task | documents | core hours | memory, GB | corpus, GB |",
        "|---|---:|---:|---:|---:|",
    ]
    for task, units in (("LDA", 1000), ("PLSA", 100), ("audit", 1)):
        if (task, "documents") in measured:
            time, memory = laws(*measured[task, "documents"])
            for D in SCALES:
                corpus = 0.0 if task == "audit" else 4e-9 * D * Size().length
                row = (units * time.at(D) / 3600.0, memory.at(D) / 1e3, corpus)
                lines.append(f"| {task} | {D:,} | {' | '.join(f'{value:,.3g}' for value in row)} |")
    return [*lines, "", *ON_PAPER.splitlines()]


ON_PAPER = """\
Where a prediction is off, the work changes beyond what was fitted: LDA has another kernel above 256 topics, whose cost
hardly depends on K; PLSA's rows of 2,000 topics no longer stay in caches; and of longer documents or more words, cells
with a count rise less than tokens and words do. An audit's memory shows documents from some thousands on: between the
last two points it grows by 0.6 kB per document, so that a million take about 0.6 GB, where the law says less.

A million documents fit one machine: training holds the corpus and a topic of every token, and the audit its documents
and 7 numbers of 8 bytes and a length for each.

A thousand million documents need nodes, and changes:

* The audit is parallel over documents, and their random numbers do not depend on how they are divided (`BLOCK` in
  `auditing/blocks.py`). Divided into 1,000 files, each of 1,000 jobs of a Slurm array (profiles/slurm) takes what a
  million documents take here. To change: a verb that adds up stores of parts (`auditing/store.py`), sums of values in
  place of their columns, and intervals from those sums. A random sample of a million documents gives the mean of all
  to a thousandth of one document's standard deviation: mostly that is the answer, not more nodes.
* EM adds counts of words by topics, K V numbers, over parts of the documents: one sum over nodes per iteration, of
  8 K V bytes, exact but for the order of addition. To change: `PLSA.fit` takes all counts at once.
* Collapsed Gibbs sampling draws each token given all others, so parts of the documents that sample at once are another
  algorithm (approximate distributed LDA). `OnlineLDAVB` takes documents in batches already, and holds one at a time.
"""


def picture(measured: Measured, path: Path) -> None:
    """Draw seconds and memory against each axis, with their laws; held-out points are open."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(axis for _, axis in measured))
    figure, axes = plt.subplots(2, len(names), figsize=(3.2 * len(names), 5.6), squeeze=False, layout="constrained")
    tasks = list(dict.fromkeys(task for task, _ in measured))
    for (task, name), (values, points) in measured.items():
        line = np.geomspace(values[0], values[-1], 60)
        for row, (law, of) in enumerate(zip(laws(values, points), ("seconds", "memory"), strict=True)):
            axis, colour = axes[row][names.index(name)], f"C{tasks.index(task)}"
            y = [max(getattr(point, of), 0.1 if of == "memory" else 0.0) for point in points]
            axis.loglog(line, [law.at(x) for x in line], color=colour, linewidth=1.0)
            axis.loglog(values[:-1], y[:-1], "o", color=colour, markersize=4, label=f"{task}: {TASKS[task][0]}")
            axis.loglog(values[-1:], y[-1:], "o", color=colour, markersize=5, fillstyle="none")
            axis.set_xlabel(name)
    axes[0][0].set_ylabel("seconds (CPU)")
    axes[1][0].set_ylabel("memory, MB")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(tasks), fontsize=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
    plt.close(figure)


def main() -> int:
    """Measure, and write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="measure each fitted point so often (default: 3)")
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS), help="measure these alone")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".md"), help="write the table here")
    options = parser.parse_args()
    try:
        if options.rounds < 1:
            raise InputError(f"--rounds {options.rounds}: must be at least 1")
        measured = measure_all(options.tasks, options.rounds)
        text = markdown(measured, options.rounds)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    picture(measured, options.output.with_suffix(".png"))
    with replacing(options.output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
