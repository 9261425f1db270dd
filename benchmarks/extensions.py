"""Training speed of LDA's extensions beside tomotopy's, single thread, in one run; writes extensions.md.

Run with the extra `benchmarks` installed: `python benchmarks/extensions.py`. As in speed.py both work on the same
synthetic corpus, in the same process, one measurement of each in turn, several rounds over.
"""

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from speed import SHAPES, commit, cpu, seconds

from gallery.extensions.models.slda import SLDA
from gallery.priors.models.ctm import CTM
from gallery.priors.models.dmr import DMR
from gallery.priors.models.labelled_lda import LabelledLDA
from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import draw
from heldout.evaluators.reference import reference
from heldout.files import replacing
from heldout.libraries.tomotopy import from_object, train_correlated, train_dynamic
from heldout.models.dtm import DTM, softmax
from heldout.seeds import generator
from heldout.topics import AnyTopics, Topics

OUTPUT = Path(__file__).with_suffix(".md")
TOPICS = 20
LABELS, TIMES = 20, 5
SHORT, LONG = 3, 63  # sweeps or iterations of two fits, whose difference counts
ITERATIONS = {"CT": ((3, 10, 30, 100), (10, 30, 100)), "DT": ((3, 10, 30, 100), (10, 30, 100))}  # ours and theirs
NEAR = 0.01  # nats per token of a package's own best value
SCORED, SAMPLES = 50, 400  # held-out documents, and sweeps of the reference
GAMMA = 0.1

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


def trained(corpus: Corpus) -> dict[str, tuple[Callable[[int], AnyTopics], Callable[[int], AnyTopics]]]:
    """Return our trainings and tomotopy's of CT and DT, which give topics with their prior; of DT the last time's."""
    counts, words, times = corpus.counts(), corpus.vocabulary, np.arange(corpus.n_documents) % TIMES
    documents = [[words[w] for w in corpus.document(d)] for d in range(corpus.n_documents)]
    # words without a token are unknown to tomotopy, and are in no training's document
    seen = tuple(words[v] for v in np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel()))

    def correlated(n: int) -> AnyTopics:
        return CTM(TOPICS, gamma=GAMMA, iterations=n, tolerance=-np.inf, random_state=0).fit(counts).topics(words)

    def dynamic(n: int) -> AnyTopics:
        model = DTM(TOPICS, iterations=n, tolerance=-np.inf, random_state=0).fit(counts, times=times)
        return Topics(softmax(model.mean_[-1]), np.full(TOPICS, model.alpha), words)

    def their_correlated(n: int) -> AnyTopics:
        model = train_correlated(documents, TOPICS, gamma=GAMMA, sweeps=n, seed=1)
        topics: AnyTopics = from_object(model, None, None, "tomotopy").topics
        return topics

    def their_dynamic(n: int) -> AnyTopics:
        return train_dynamic(documents, times, seen, TOPICS, sweeps=n, seed=1)

    return {"CT": (correlated, their_correlated), "DT": (dynamic, their_dynamic)}


class Reached(NamedTuple):
    """Fits of rising length of one package: their iterations, seconds and held-out nats per token."""

    iterations: tuple[int, ...]
    seconds: list[float]
    values: list[float]

    def near(self) -> float:
        """Return the seconds after which every fit is near the best one's value, or above."""
        at = len(self.values) - 1
        while at > 0 and self.values[at - 1] >= max(self.values) - NEAR:
            at -= 1
        return self.seconds[at]

    def at(self, seconds: float) -> float:
        """Return the value of the longest fit that takes no longer, or of the shortest."""
        places = [i for i, own in enumerate(self.seconds) if own <= seconds] or [0]
        return self.values[places[-1]]


def reach(corpus: Corpus, test: Corpus) -> dict[str, tuple[Reached, Reached]]:
    """Return what held-out likelihood we and tomotopy reach in what time."""
    found: dict[str, tuple[Reached, Reached]] = {}
    seen = tuple(corpus.vocabulary[v] for v in np.unique(corpus.tokens))
    test = test.over(seen)[0]
    for kind, fits in trained(corpus).items():
        both = []
        for package, fit, steps in zip(("heldout", "tomotopy"), fits, ITERATIONS[kind], strict=True):
            own = Reached(steps, [], [])
            for n in steps:
                start = time.process_time()
                topics = fit(n)
                own.seconds.append(time.process_time() - start)
                random = generator("benchmark-score", model=kind, package=package, sweeps=n)
                score = reference(topics, test, SAMPLES, random)
                own.values.append(float(score.log_likelihood.sum() / score.tokens.sum()))
                print(kind, package, n, own.seconds[-1], own.values[-1], file=sys.stderr, flush=True)
            both.append(own)
        found[kind] = both[0], both[1]
    return found


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


def unigram_of(corpus: Corpus, test: Corpus) -> float:
    """Return the held-out nats per token of the training words' frequencies, smoothed as topics are."""
    counts = np.bincount(corpus.tokens, minlength=corpus.n_words)
    b = (counts + GAMMA) / (counts + GAMMA).sum()
    tokens = test.tokens[counts[test.tokens] > 0]
    return float(np.log(b[tokens]).mean())


def of_quality(reached: dict[str, tuple[Reached, Reached]], unigram: float, test: Corpus) -> list[str]:
    """Return the lines of the second table."""
    lines = [
        "",
        f"What the time buys, on {test.n_documents} held-out documents, nats per token: our likelihood of both",
        "packages' topics under their own fitted priors (of DT the last time's topics, plugged in), after fits of",
        f"rising length. Near is within {NEAR:g} of the package's own best. Words' frequencies have {unigram:.3f}:",
        "in documents as short as these our CT, from a random start, keeps to them.",
        "",
        "| model | package | iterations or sweeps: nats per token | best | seconds until near | in heldout's seconds |",
        "|---|---|---|---:|---:|---:|",
    ]
    for (kind, both), place in itertools.product(reached.items(), (0, 1)):
        own, limit = both[place], both[0].near()
        path = ", ".join(f"{n}: {value:.3f}" for n, value in zip(own.iterations, own.values, strict=True))
        lines.append(
            f"| {kind} | {('heldout', 'tomotopy')[place]} | {path} | {max(own.values):.3f} | {own.near():.2f} |"
            f" {own.at(limit):.3f} |"
        )
    return lines


def report(
    found: dict[str, list[tuple[float, float]]],
    reached: dict[str, tuple[Reached, Reached]],
    corpus: Corpus,
    test: Corpus,
    rounds: int,
) -> str:
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
        "* CT and DT are another algorithm here: an iteration of variational EM, beside a sweep of theirs. One of CT"
        " passes over the tokens once, one of DT"
        f" {DTM().document_iterations} times, and then takes a step of all topics' filters.",
        "",
        "| model | heldout, µs per token and sweep | tomotopy | heldout is faster by: median | min to max |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind, rows in found.items():
        own, other = (statistics.median(column) for column in zip(*rows, strict=True))
        ratios = [b / a for a, b in rows]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        lines.append(f"| {kind} | {own:.3f} | {other:.3f} | {statistics.median(ratios):.2f} | {spread} |")
    return "\n".join([*lines, *of_quality(reached, unigram_of(corpus, test), test), ""])


def main() -> int:
    """Measure, and write extensions.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each package (default: 5)")
    options = parser.parse_args()
    shape = SHAPES["Cranfield"]
    whole, _ = draw("cranfield-like", shape)
    corpus = whole.subset(range(shape.train_documents))
    test = whole.subset(range(shape.train_documents, shape.train_documents + SCORED))
    text = report(measure_all(corpus, options.rounds), reach(corpus, test), corpus, test, options.rounds)
    with replacing(OUTPUT) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
