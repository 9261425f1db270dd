"""The excess of documents that topics draw, beside forms of it that follow from the topics alone.

Run as `python benchmarks/excess.py`; it writes `benchmarks/excess.md`. Topics are drawn from Dir(gamma) over the words
and mixed with a share omega of one distribution that is common to all; documents are drawn from them. Their excess is
folding in's maximum less the likelihood: exact where that takes at most `LIMIT` updates, elsewhere the reference. With
`--corpus FILE` of `heldout.corpora` topics are trained on it, and there is a second table, of its test documents too.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from artifact.papers.likelihood.experiments.law import DRAWN, Cell, drawn
from artifact.study.job import NO_CORPUS
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.excess import disjoint_excess
from heldout.evaluators.expected_excess import expected_excess, overlap_excess, topic_association, topic_information
from heldout.evaluators.folding_in import full_folding_in, maximum
from heldout.evaluators.folding_in_bound import folding_in_bound
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference
from heldout.models import lda, plsa
from heldout.models.plsa import fold_in_counts
from heldout.models.settings import LDATraining, PLSATraining
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

SIZES = ((3, 20), (3, 100), (3, 400), (10, 30), (10, 100), (10, 400), (40, 50), (40, 200))  # topics, tokens
ALPHAS = (1.0, 0.1, 5.0)
DIALS = ((0.02, 0.0), (0.2, 0.0), (1.0, 0.0), (0.05, 0.5), (0.05, 0.8))  # gamma, omega
DOCUMENTS, SAMPLES, LIMIT = 60, 1000, 2e9


def half_log(topics: Topics, n: int) -> float:
    """Return 1/2 sum_i log(1 + mu_i x), with the x that makes it the law where all mu_i are 1."""
    joint = (topics.alpha / topics.alpha.sum())[:, None] * topics.phi
    root = joint / np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    mu = np.linalg.eigvalsh(root @ root.T)[:-1]
    law = expected_excess(np.array([n]), topics.alpha)[0]
    return float(0.5 * np.log1p(mu * math.expm1(2.0 * law / len(mu))).sum())


def measured(topics: Topics, documents: Corpus, rng: np.random.Generator) -> tuple[Floats, float, Floats]:
    """Return documents' excess, (D,), the standard error of its mean, and e(n theta), (D,), all in nats."""
    theta: Floats = fold_in_counts(topics, documents.counts(), iterations=20_000, tolerance=1e-7, extrapolated=True)
    full = full_folding_in([topics], documents, lambda *_: theta).log_likelihood
    truth = exact_within(topics, documents, LIMIT) or reference(topics, documents, SAMPLES, rng)
    excess = full - truth.log_likelihood
    bound = disjoint_excess(documents.lengths[:, None] * theta, topics.alpha)
    assert np.all(excess <= bound + 5.0 * truth.standard_error + 1e-6)
    return excess, math.hypot(excess.std(ddof=1) / math.sqrt(DOCUMENTS), truth.total_error() / DOCUMENTS), bound


def row(K: int, n: int, alpha: float, gamma: float, omega: float) -> list[float]:
    """Return a line of the first table."""
    cell = Cell(NO_CORPUS.name, n, K, DRAWN, alpha, DOCUMENTS, 0, gamma, omega)
    topics = drawn(cell, generator("excess-topics", topics=K, tokens=n, alpha=alpha, gamma=gamma, omega=omega))
    rng = generator("excess-documents", topics=K, tokens=n, alpha=alpha, gamma=gamma, omega=omega)
    documents, _ = simulate(topics, np.full(DOCUMENTS, n, dtype=np.int64), rng)
    association, _, mean, error, law, by_association, by_information, bound = compared(topics, documents, rng)
    gap = -mean_field_bound(topics, documents, tolerance=1e-6).log_likelihood.mean()
    gap += full_folding_in([topics], documents, maximum).log_likelihood.mean()
    rest = [by_association, half_log(topics, n) / mean, by_information, bound, gap / mean]
    return [K, n, alpha, gamma, omega, association, association * n / K, mean, error, law, *rest]


RATIOS = ("L(n)", "L(V^2n)", "half-log", "L(In)")
COLUMNS = ("K", "n", "alpha", "gamma", "omega", "V^2", "V^2n/K", "excess", "error", *RATIOS, "bound", "mean-field")
CORPUS_COLUMNS = (
    *("topics", "K", "documents", "V^2", "I", "excess", "error"),
    *("L(n)", "L(V^2n)", "L(In)", "bound", "mean-field", "its time"),
)
TRAINED = (("plsa", 5), ("plsa", 20), ("plsa", 100), ("plsa", 400), ("lda", 20), ("lda", 100), ("lda", 400))


def table(columns: Sequence[str], rows: Sequence[Sequence[str | float]]) -> list[str]:
    """Return the lines of a table of texts and numbers."""
    cells = [[one if isinstance(one, str) else f"{one:.3g}" for one in line] for line in rows]
    return [f"| {' | '.join(line)} |" for line in (columns, ["---:"] * len(columns), *cells)]


def summary(rows: Sequence[Sequence[float]]) -> Iterator[list[str | float]]:
    """Yield the geometric mean of the ratios, and the least and largest, of cells from so many telling tokens on."""
    found = np.array(rows)
    for least in (0.0, 0.25, 0.5, 1.0, 2.0):
        for alpha in ALPHAS:
            ratio = found[(found[:, 6] >= least) & (found[:, 2] == alpha), 9:13]
            texts = [f"{np.exp(np.log(r).mean()):.2f} ({r.min():.2f} to {r.max():.2f})" for r in ratio.T]
            yield [least, alpha, float(len(ratio)), *texts]


def corpus_rows(path: Path) -> Iterator[list[str | float]]:
    """Yield the lines of trained topics under a flat prior, on test documents and on as many as long that they draw."""
    corpus = Corpus.load(path)
    training, test = train_test_split(corpus, corpus.n_documents * 3 // 10, seed=0)
    test = test.subset(np.arange(DOCUMENTS))
    for name, K in TRAINED:
        if name == "plsa":
            (trained,) = plsa.train(training, PLSATraining(iterations=200, tolerance=1e-5), topics=K, seed=0)
            trained = trained.smoothed(1e-5)
        else:
            settings = LDATraining(alpha_sum=50.0, beta=0.01, sweeps=200, chains=1, optimise_every=0)
            (trained,) = lda.train(training, settings, topics=K, seed=0)
        topics = Topics(trained.phi, np.ones(K), trained.vocabulary)
        rng = generator("excess-corpus", model=name, topics=K)
        for kind, documents in (("test", test), ("drawn", simulate(topics, test.lengths, rng)[0])):
            row = compared(topics, documents, rng)
            yield [name, float(K), kind, *row, *mean_field(topics, documents, row[2])]


def mean_field(topics: Topics, documents: Corpus, excess: float) -> tuple[float, float]:
    """Return the mean-field bound's gap over the mean excess, and its time over that of folding in's own."""
    times, values = [], []
    for evaluate in (folding_in_bound, mean_field_bound):
        evaluate(topics, documents.subset(np.arange(2)))  # compiled
        start = time.process_time()
        values.append(evaluate(topics, documents).log_likelihood.mean())
        times.append(time.process_time() - start)
    full = full_folding_in([topics], documents, maximum).log_likelihood.mean()
    return (full - values[1]) / excess, times[1] / times[0]


def compared(topics: Topics, documents: Corpus, rng: np.random.Generator) -> list[float]:
    """Return V^2, the share of information, the mean excess, its error, and the ratios of four forms to it."""
    excess, error, bound = measured(topics, documents, rng)
    n, association, information = documents.lengths, topic_association(topics), topic_information(topics)
    forms = [expected_excess(n, topics.alpha), overlap_excess(topics, n)]
    forms += [overlap_excess(topics, n, share=information), bound]
    return [association, information, excess.mean(), error, *(values.mean() / excess.mean() for values in forms)]


def main() -> None:
    """Measure all cells and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="file of a corpus, for the second table")
    corpus = parser.parse_args().corpus
    rows = [row(K, n, alpha, *dial) for K, n in SIZES for alpha in ALPHAS for dial in DIALS]
    text = [
        "# The excess of documents that topics draw, against what the topics say of it",
        "",
        f"Written by `python benchmarks/excess.py`. Means over {DOCUMENTS} documents, nats, with their standard errors;"
        " from L(n) on, the column's value over the excess. L(n) is the law of topics that share no word, L(V^2n) its"
        " mean over Binomial(n, V^2) tokens, L(In) the same with 1 - H(z | w) / H(z) for V^2, half-log 1/2 sum log(1 +"
        " mu_i x). The bound is e(n theta), and mean-field folding in less the mean-field bound; its time is over that"
        " of folding in and its own bound together.",
        "",
        "The geometric mean of the ratios, and the least and largest, over cells where V^2n/K is at least:",
        "",
        *table(["from", "alpha", "cells", *RATIOS], list(summary(rows))),
        "",
        *table(COLUMNS, rows),
    ]
    if corpus:
        text += ["", f"The same on {corpus.stem}, under a flat prior, of topics that were trained on it:", ""]
        text += table(CORPUS_COLUMNS, list(corpus_rows(corpus)))
    Path(__file__).with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
