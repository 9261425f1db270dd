"""Training speed of LDA's extensions beside tomotopy's, single thread, in one run; writes extensions.md.

Run with the extra `benchmarks` installed: `python benchmarks/extensions.py`. As in speed.py both work on the same
synthetic corpus, in the same process, one measurement of each in turn, several rounds over.
"""

import argparse
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from speed import SHAPES, commit, cpu, seconds

from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import draw
from heldout.files import replacing
from heldout.models.ctm import CTM
from heldout.models.dmr import DMR
from heldout.models.dtm import DTM
from heldout.models.labelled_lda import LabelledLDA
from heldout.models.slda import SLDA
from heldout.seeds import generator

OUTPUT = Path(__file__).with_suffix(".md")
TOPICS = 20
LABELS, TIMES = 20, 5
SHORT, LONG = 3, 23  # sweeps or iterations of two fits, whose difference counts

Fit = Callable[[int], Any]  # a training of so many sweeps or iterations


def labelled(corpus: Corpus) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return (D, labels) indicators: two labels to a document."""
    random = generator("benchmark-labels")
    labels = np.zeros((corpus.n_documents, LABELS))
    for row in labels:
        row[random.choice(LABELS, 2, replace=False)] = 1.0
    return labels


def ours(corpus: Corpus) -> dict[str, Fit]:
    """Return the trainings of our models."""
    counts, labels = corpus.counts(), labelled(corpus)
    constant = np.column_stack([np.ones(len(labels)), labels])
    times, response = np.arange(corpus.n_documents) % TIMES, np.arange(corpus.n_documents) % 2
    return {
        "CT": lambda n: CTM(TOPICS, iterations=n, random_state=0).fit(counts),
        "DT": lambda n: DTM(TOPICS, iterations=n, tolerance=-np.inf, random_state=0).fit(counts, times=times),
        "SLDA": lambda n: SLDA(TOPICS, rounds=1, sweeps=n, random_state=0).fit(corpus, response),
        "DMR": lambda n: DMR(TOPICS, sweeps=n, optimise_every=0, random_state=0).fit(counts, constant),
        "LLDA": lambda n: LabelledLDA(1, sweeps=n, random_state=0).fit(counts, labels),
        "PLDA": lambda n: LabelledLDA(2, common=4, sweeps=n, random_state=0).fit(counts, labels),
    }


def theirs(corpus: Corpus) -> dict[str, Fit]:
    """Return the trainings of tomotopy's."""
    import tomotopy

    labels = labelled(corpus)
    names = [[f"label-{n}" for n in np.flatnonzero(row)] for row in labels]
    models: dict[str, Callable[[], Any]] = {
        "CT": lambda: tomotopy.CTModel(k=TOPICS, seed=1),
        "DT": lambda: tomotopy.DTModel(k=TOPICS, t=TIMES, seed=1),
        "SLDA": lambda: tomotopy.SLDAModel(k=TOPICS, vars="b", seed=1),
        "DMR": lambda: tomotopy.DMRModel(k=TOPICS, seed=1),
        "LLDA": lambda: tomotopy.LLDAModel(seed=1),
        "PLDA": lambda: tomotopy.PLDAModel(latent_topics=4, topics_per_label=2, seed=1),
    }
    asked: dict[str, Callable[[int], dict[str, Any]]] = {
        "DT": lambda d: {"timepoint": d % TIMES},
        "SLDA": lambda d: {"y": [float(d % 2)]},
        "DMR": lambda d: {"multi_metadata": names[d]},
        "LLDA": lambda d: {"labels": names[d]},
        "PLDA": lambda d: {"labels": names[d]},
    }

    def fit(kind: str, n: int) -> Any:
        model = models[kind]()
        for d in range(corpus.n_documents):
            words = [corpus.vocabulary[w] for w in corpus.document(d)]
            model.add_doc(words, **asked.get(kind, lambda _: {})(d))
        if hasattr(model, "optim_interval"):
            model.optim_interval = 0
        model.train(n, workers=1, parallel=tomotopy.ParallelScheme.NONE)
        return model

    return {kind: lambda n, kind=kind: fit(kind, n) for kind in models}  # type: ignore[misc]


def per_token(fit: Fit, tokens: int) -> float:
    """Return microseconds of processor time per token and sweep: what every fit pays once cancels."""
    short, long = seconds(lambda: fit(SHORT)), seconds(lambda: fit(LONG))
    return (long - short) * 1e6 / (LONG - SHORT) / tokens


def measure_all(corpus: Corpus, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return our and tomotopy's microseconds per token and sweep by model, of every round."""
    both, found = (ours(corpus), theirs(corpus)), {}
    for kind in both[0]:
        for fits in both:
            fits[kind](2)  # compilation and caches
        found[kind] = [
            (per_token(both[0][kind], corpus.n_tokens), per_token(both[1][kind], corpus.n_tokens))
            for _ in range(rounds)
        ]
        print(kind, *found[kind], file=sys.stderr, flush=True)
    return found


def report(found: dict[str, list[tuple[float, float]]], corpus: Corpus, rounds: int) -> str:
    """Return the text of extensions.md."""
    import tomotopy

    lines = [
        "# Training speed of LDA's extensions beside tomotopy",
        "",
        "Written by `python benchmarks/extensions.py` (do not edit).",
        "",
        f"* Measured at commit {commit()}. CPU: {cpu()}; single thread; tomotopy {tomotopy.__version__}"
        f" ({tomotopy.isa}).",
        f"* A synthetic corpus of Cranfield's shape: {corpus.n_documents} documents, {corpus.n_tokens} tokens; K ="
        f" {TOPICS}; {LABELS} labels, two to a document; {TIMES} times.",
        f"* Processor time of {LONG} less that of {SHORT} sweeps, over {rounds} rounds; priors are not re-estimated.",
        "* CT and DT are another algorithm here: an iteration of variational EM, beside a sweep of theirs.",
        "",
        "| model | heldout, µs per token and sweep | tomotopy | heldout is faster by: median | min to max |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind, rows in found.items():
        own, other = (statistics.median(column) for column in zip(*rows, strict=True))
        ratios = [b / a for a, b in rows]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        lines.append(f"| {kind} | {own:.3f} | {other:.3f} | {statistics.median(ratios):.2f} | {spread} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Measure, and write extensions.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each package (default: 5)")
    options = parser.parse_args()
    shape = SHAPES["Cranfield"]
    whole, _ = draw("cranfield-like", shape)
    corpus = whole.subset(range(shape.train_documents))
    text = report(measure_all(corpus, options.rounds), corpus, options.rounds)
    with replacing(OUTPUT) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
