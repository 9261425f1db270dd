"""Training speed beside other packages, single thread, in one run; writes the README.md next to it.

Run with the extra `benchmarks` installed: `python benchmarks/speed.py`. Every package works on the same synthetic
corpora, in the same process, one measurement of each in turn, several rounds over.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import contextlib
import gc
import multiprocessing
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Shape, draw
from heldout.errors import InputError
from heldout.files import replacing
from heldout.models.lda import MANY, in_turn, sampler_of
from heldout.models.plsa import PLSA
from heldout.seeds import generator

README = Path(__file__).with_name("README.md")
SHAPES = {  # Welling et al. (2008), Table 1; the training documents are used
    "Cranfield": Shape(train_documents=979, test_documents=419, vocabulary=3763, mean_length=84.3),
    "NIPS": Shape(train_documents=150, test_documents=50, vocabulary=10780, mean_length=1381.1),
}
PLSA_TOPICS = (10, 50, 200, 800)
LDA_TOPICS = (10, 50, 200, 800)
EM_ITERATIONS = 20  # per measurement
SWEEP_SECONDS = 0.5  # per measurement, about
WARM_UP_SWEEPS = 30
# pip takes no hashes in constraints
INSTALL = (
    r"`grep '^[^ ]' requirements.lock | tr -d '\\' > pins.txt && python -m pip install -e '.[benchmarks]' -c pins.txt`"
)
BETA = 0.1
AVX2 = "avx2"  # the instructions that heldout is held to

Measure = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """One package on one task: the measurements of all rounds."""

    model: str
    shape: str
    topics: int
    package: str
    values: list[float]

    @property
    def median(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.values)


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU time that `work` takes in all threads: what else runs on the machine is not counted."""
    start = time.process_time()
    work()
    return time.process_time() - start


def em(fit: Callable[[int], Any]) -> Measure:
    """Return a measurement of fit(iterations) in ms per iteration; what every fit pays once cancels."""
    fit(2)  # compilation and caches

    def measure() -> float:
        short, long = seconds(lambda: fit(1)), seconds(lambda: fit(1 + EM_ITERATIONS))
        return (long - short) * 1000.0 / EM_ITERATIONS

    return measure


def plsa_measures(corpus: Corpus, topics: int) -> dict[str, Measure]:
    """Return the measurements of PLSA, ms per EM iteration."""
    import scipy.sparse as sp
    from enstop.plsa import plsa_fit
    from sklearn.decomposition import NMF

    counts = corpus.counts()
    matrix = sp.csr_matrix(counts)

    weights = np.ones(corpus.n_documents, dtype=np.float32)

    def enstop(iterations: int) -> Any:
        return plsa_fit(
            matrix,
            topics,
            weights,
            init="random",
            n_iter=iterations,
            n_iter_per_test=10**6,
            tolerance=0.0,
            random_state=0,
        )

    def scikit_learn(iterations: int) -> Any:
        model = NMF(
            topics,
            init="random",
            solver="mu",
            beta_loss="kullback-leibler",
            tol=0.0,
            max_iter=iterations,
            random_state=0,
        )
        return model.fit(matrix)

    return {
        "heldout": em(lambda iterations: PLSA(topics, iterations=iterations, random_state=0).fit(counts)),
        "enstop": em(enstop),
        "scikit-learn": em(scikit_learn),
    }


def sweeps(run: Callable[[int], Any], tokens: int) -> Measure:
    """Return a measurement of run(sweeps) in millions of tokens per second, after the chain has warmed up."""
    run(WARM_UP_SWEEPS)
    count = max(1, round(SWEEP_SECONDS * 5 / seconds(lambda: run(5))))
    return lambda: tokens * count / seconds(lambda: run(count)) / 1e6


def lda_measures(corpus: Corpus, topics: int) -> dict[str, Measure]:
    """Return the measurements of LDA, millions of tokens per second."""
    alpha = 50.0 / topics

    def ours(chains: int) -> Measure:
        sampler = sampler_of(corpus.tokens, corpus.offsets, corpus.n_words, topics, chains)
        random = generator("speed", topics=topics)

        def run(count: int) -> None:
            for _ in range(count):
                uniforms = random.random((chains, corpus.n_tokens), dtype=np.float32)
                sampler.sweep([np.full(topics, alpha)] * chains, [BETA] * chains, uniforms)

        return sweeps(run, chains * corpus.n_tokens)

    several = {f"heldout, {chains} chains": ours(chains)} if (chains := in_turn(topics)) > 1 else {}
    held = {f"tomotopy, {AVX2} alone": apart(AVX2, corpus, topics)} if _tomotopy_isa() != AVX2 else {}
    return {"heldout": ours(1), "tomotopy": tomotopy_sweeps(corpus, topics), **held, **several}


def tomotopy_sweeps(corpus: Corpus, topics: int) -> Measure:
    """Return the measurement of tomotopy's LDA, millions of tokens per second."""
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=50.0 / topics, eta=BETA, seed=1)
    model.burn_in = 0
    model.optim_interval = 0
    for d in range(corpus.n_documents):
        model.add_doc([corpus.vocabulary[w] for w in corpus.document(d)])
    return sweeps(lambda count: model.train(count, workers=1, parallel=tomotopy.ParallelScheme.NONE), corpus.n_tokens)


def _serve(connection: Any, isa: str, corpus: Corpus, topics: int) -> None:
    """Measure when asked, until the other end closes; tomotopy chooses its instructions when it is imported."""
    os.environ["TOMOTOPY_ISA"] = isa
    measure = tomotopy_sweeps(corpus, topics)
    with contextlib.suppress(EOFError):
        while connection.recv():
            connection.send(measure())


def apart(isa: str, corpus: Corpus, topics: int) -> Measure:
    """Return the measurement of tomotopy held to a set of instructions, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    context.Process(target=_serve, args=(there, isa, corpus, topics), daemon=True).start()
    there.close()

    def measure() -> float:
        here.send(True)
        return float(here.recv())

    return measure


def measure_all(rounds: int) -> list[Row]:
    """Run every measurement `rounds` times, the packages in turn, their order reversed every other round."""
    rows = []
    corpora = {}
    for name, shape in SHAPES.items():
        whole, _ = draw(f"{name.lower()}-like", shape)
        corpora[name] = whole.subset(range(shape.train_documents))
    tasks = [("PLSA", K, plsa_measures) for K in PLSA_TOPICS] + [("LDA", K, lda_measures) for K in LDA_TOPICS]
    for model, topics, measures_of in tasks:
        for name, corpus in corpora.items():
            measures = measures_of(corpus, topics)
            values: dict[str, list[float]] = {package: [] for package in measures}
            gc.collect()
            for turn in range(rounds):
                for package in list(measures)[:: 1 if turn % 2 == 0 else -1]:
                    values[package].append(measures[package]())
            for package in measures:
                rows.append(Row(model, name, topics, package, values[package]))
                print(f"{model} {name} K={topics} {package}: {rows[-1].median:.2f}", file=sys.stderr, flush=True)
    return rows


def cpu() -> str:
    """Return the CPU's model name."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def commit() -> str:
    """Return the checkout's commit and its date; "unknown" outside a checkout."""
    command = ["git", "-C", str(README.parent), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def table(rows: list[Row], model: str) -> list[str]:
    """Return the Markdown table of one model."""
    unit = "ms per EM iteration" if model == "PLSA" else "million tokens per second"
    lines = [
        f"| corpus shape | topics | package | {unit}: median | min to max | heldout is faster by |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for row in rows:
        if row.model != model:
            continue
        ours = next(
            r for r in rows if (r.model, r.shape, r.topics, r.package) == (model, row.shape, row.topics, "heldout")
        )
        digits = 2
        ratio = ""
        if row is not ours:
            factors = [a / b if model == "PLSA" else b / a for a, b in zip(row.values, ours.values, strict=True)]
            ratio = f"{statistics.median(factors):.2f} ({min(factors):.2f} to {max(factors):.2f})"
        spread = f"{min(row.values):.{digits}f} to {max(row.values):.{digits}f}"
        lines.append(f"| {row.shape} | {row.topics} | {row.package} | {row.median:.{digits}f} | {spread} | {ratio} |")
    return lines


def readme(rows: list[Row], rounds: int) -> str:
    """Return the text of README.md."""
    versions = ", ".join(
        f"{package} {version(package)}"
        for package in ("heldout", "enstop", "scikit-learn", "tomotopy", "numba", "numpy", "scipy")
    )
    shapes = "; ".join(
        f"{name} {shape.train_documents} documents, {shape.vocabulary} words, {shape.mean_length:g} tokens per document"
        for name, shape in SHAPES.items()
    )
    lines = [
        "# Training speed beside other packages",
        "",
        "Written by `python benchmarks/speed.py` (do not edit). The packages come with the extra `benchmarks`:",
        f"{INSTALL} in an environment of one's own.",
        "",
        f"* Measured at commit {commit()}; the kernels may have changed since.",
        f"* CPU: {cpu()}; single thread; Python {platform.python_version()}; {versions}.",
        f"* Corpora: synthetic, drawn from an LDA by `heldout.corpora.synthetic`, in the shapes {shapes} (on average).",
        f"* One process, {rounds} rounds, the packages in turn within a round; compiled and warmed up before the"
        " first. Times are CPU times of the process, all its threads together."
        " Other work may run on the machine. The ratio is formed within each round.",
        "* Columns: `median` and `min to max` are over rounds; `heldout is faster by` is the median and range of the"
        " row's cost over heldout's one chain in the same round, above 1 where heldout is faster.",
        "",
        "## PLSA",
        "",
        *table(rows, "PLSA"),
        "",
        "Time of an EM iteration: a fit of"
        f" {1 + EM_ITERATIONS} iterations less a fit of one, divided by {EM_ITERATIONS}, so that what a fit pays once"
        " (checks, start, allocation) cancels.",
        "",
        "* heldout: `PLSA(K, iterations=n).fit(counts)`, float64; an iteration includes the log-likelihood.",
        "* enstop: `enstop.plsa.plsa_fit(counts, K, ones, init='random', n_iter=n, n_iter_per_test=10**6,"
        " tolerance=0.0)`, which its class calls (the class itself asks for `numpy.float`, which current NumPy has no"
        " more); float32; an iteration is the E and the M step; the likelihood is evaluated before and after the first"
        " iteration only, and cancels.",
        "* scikit-learn: `NMF(K, init='random', solver='mu', beta_loss='kullback-leibler', tol=0.0, max_iter=n)"
        ".fit(counts)`, float64; the same optimisation in another parametrisation; without the divergence.",
        "",
        "## LDA by collapsed Gibbs sampling",
        "",
        *table(rows, "LDA"),
        "",
        f"Tokens sampled per second after {WARM_UP_SWEEPS} sweeps of warm-up; alpha = 50 / K, beta = {BETA:g}.",
        "",
        "* heldout: the sweeps of `LDA.fit` with their random numbers, without the log-likelihood that `fit` records"
        f" every few sweeps; exact counts; up to K = {MANY} float32 weights of all topics, above the sparse kernel."
        " A fit of several chains lets some take turns: tokens of all of them per second, beside one chain's.",
        "* tomotopy: `LDAModel(k=K, alpha=50/K, eta=beta)`, `burn_in` and `optim_interval` 0, so `train(n, workers=1,"
        " parallel=ParallelScheme.NONE)` does not optimise hyperparameters; float32 weights"
        f" (instruction set: {_tomotopy_isa()}, as it chooses, and {AVX2} alone in a process of its own).",
        "",
    ]
    return "\n".join(lines)


def _tomotopy_isa() -> str:
    import tomotopy

    return str(tomotopy.isa)


def main() -> int:
    """Measure, and write README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each package (default: 7)")
    parser.add_argument("--output", type=Path, default=README, help="where the table goes (default: README.md here)")
    options = parser.parse_args()
    try:
        if options.rounds < 1:
            raise InputError(f"--rounds {options.rounds}: must be at least 1")
        for package in ("enstop", "scikit-learn", "tomotopy"):
            try:
                version(package)
            except PackageNotFoundError:
                raise InputError(f"{package} is not installed; install the extra `benchmarks`") from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # theirs: iteration limits that are meant, deprecations
            text = readme(measure_all(options.rounds), options.rounds)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    with replacing(options.output) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
