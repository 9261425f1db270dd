"""Does the guard know documents like the model's own from others?

Run as `python benchmarks/guard.py --raw FOLDER --models FOLDER`, FOLDER holding the downloaded archives; the fitted
models are kept in the other. It needs the extra `benchmarks`, and writes guard.md.

Ten models of five libraries are fitted to a part of each corpus. Random samples of its other documents are right. Wrong
ones are the same with their columns permuted, in reverse order, shifted by one, or half of them permuted, and documents
of another corpus by index. The words are in alphabetical order, as vectorisers give them. The bound on the likeness
(`heldout.auditing.matching`) was chosen on the corpora in `CHOSEN_ON`, and moved once, after the others' rates, which
are reported apart, were seen.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from heldout.auditing.matching import DOCUMENTS, FEWEST, LEAST, TOKENS, likeness
from heldout.corpora.corpus import Corpus
from heldout.corpora.prepare import prepare
from heldout.corpora.split import train_test_split
from heldout.libraries.read import fitted
from heldout.models.lda import LDA
from heldout.models.plsa import PLSA
from heldout.papers.likelihood.experiments.packages import fit_peer, fit_scikit_learn, with_own_words
from heldout.seeds import generator
from heldout.typing import Floats, Ints

HERE = Path(__file__).parent
CHOSEN_ON, HELD_OUT = ("cranfield", "nips", "ap"), ("medline", "reuters")
SIZES = (3, 10, 20, 50, 100, 400)  # documents of a sample
SAMPLES = 12  # of each size and kind, right ones; a third of each kind of wrong ones
MOST = 2000  # documents to train on
BY_FREQUENCY = ", words by frequency"  # which the guard cannot know: not counted among the wrong ones


class Case(NamedTuple):
    """A corpus: V words in alphabetical order, counts (D, V) of held-out documents, and phi (K, V) by model."""

    words: list[str]
    counts: sp.csr_matrix
    topics: dict[str, Floats]


def models(training: Corpus) -> dict[str, Callable[[], Any]]:
    """Return what fits each model to documents over their own words."""
    counts, words = training.counts(), training.vocabulary

    def online(topics: int) -> Any:
        from sklearn.decomposition import LatentDirichletAllocation

        return LatentDirichletAllocation(topics, learning_method="online", max_iter=5, random_state=0).fit(counts)

    def factors() -> Any:
        from sklearn.decomposition import NMF

        options = {"init": "random", "solver": "mu", "beta_loss": "kullback-leibler", "max_iter": 200}
        return NMF(20, random_state=0, **options).fit(counts)

    def correlated() -> Any:
        import tomotopy

        model = tomotopy.CTModel(k=10, seed=0)
        for d in np.flatnonzero(training.lengths).tolist():
            model.add_doc([words[v] for v in training.document(d)])
        model.train(200, workers=1)
        return fitted(model)

    def enstop() -> Any:
        from enstop.plsa import plsa_fit

        weights = np.ones(training.n_documents, np.float32)
        _, phi = plsa_fit(sp.csr_matrix(counts), 20, weights, random_state=np.random.RandomState(0))
        return fitted((np.asarray(phi, np.float64) / phi.sum(axis=1, keepdims=True, dtype=np.float64), 1.0), words)

    return {
        "scikit-learn LDA 20": lambda: fitted(fit_scikit_learn(training, 20, 0, 20), words),
        "scikit-learn LDA 100, online": lambda: fitted(online(100), words),
        "scikit-learn NMF 20": lambda: fitted(factors(), words),
        "gensim LDA 20": lambda: fit_peer("gensim", training, 20, 0, 10),
        "gensim LDA 100": lambda: fit_peer("gensim", training, 100, 0, 5),
        "tomotopy LDA 20": lambda: fit_peer("tomotopy", training, 20, 0, 300),
        "tomotopy CTM 10": correlated,
        "heldout PLSA 20": lambda: fitted(PLSA(20, iterations=50, random_state=0).fit(counts), words),
        "heldout LDA 50": lambda: fitted(LDA(50, sweeps=200, random_state=0).fit(counts), words),
        "enstop PLSA 20": enstop,
    }


def case_of(name: str, raw: Path, folder: Path) -> Case:
    """Return a corpus with its models, fitted where the folder does not have them."""
    corpus = prepare(name, raw, HERE.parent / "data" / "corpora.csv")
    D = corpus.n_documents
    rest, test = train_test_split(corpus, 50 if D <= 200 else min(500, D // 3), 0)
    training = with_own_words(rest.subset(np.arange(min(rest.n_documents, MOST))))
    words = sorted(training.vocabulary)
    path, known = folder / f"{name}.npz", dict[str, Floats]()
    if path.exists():
        with np.load(path) as file:
            known = {model: file[model] for model in file.files}
    for model, make in models(training).items():
        if model not in known:
            topics = make().topics
            known[model] = over(words, topics.phi, topics.vocabulary).astype(np.float32)
            np.savez(path, **known)  # type: ignore[arg-type]
    counts = sp.csr_matrix(over(words, test.counts().toarray(), test.vocabulary))
    return Case(words, counts, {model: known[model].astype(np.float64) for model in models(training)})


def over(words: list[str], rows: Floats, vocabulary: tuple[str, ...]) -> Floats:
    """Return rows (R, V') over other words in these words' order (R, V); 0 for words that they lack."""
    frame = pd.DataFrame(rows, columns=list(vocabulary)).reindex(columns=words, fill_value=0.0)
    return np.ascontiguousarray(frame.to_numpy())


def wrong(counts: Ints, other: Ints, order: Ints, rng: np.random.Generator) -> Iterator[tuple[str, Ints]]:
    """Yield documents' counts (V,) in wrong orders, and another corpus's (V',) by index.

    `order` (V,) sorts the words by frequency, the most frequent first.
    """
    V = len(counts)
    yield "permuted", rng.permutation(counts)
    yield "reversed", counts[::-1]
    yield "shifted by one", np.roll(counts, 1)
    half, mixed = rng.permutation(V)[: V // 2], np.arange(V)
    mixed[half] = rng.permutation(half)
    yield "half permuted", counts[mixed]
    other = np.concatenate([other, np.zeros(max(0, V - len(other)), other.dtype)])
    yield "another corpus, by index", other[:V]
    shifted, sorted_other = np.empty_like(counts), np.empty_like(counts)
    shifted[order], sorted_other[order] = np.roll(counts[order], 1), np.sort(other)[::-1][:V]
    yield f"shifted by one{BY_FREQUENCY}", shifted
    yield f"another corpus, by index{BY_FREQUENCY}", sorted_other


def measure(cases: dict[str, Case]) -> pd.DataFrame:
    """Return the likeness of every sample: corpus, model, kind, documents, tokens, likeness."""
    rows = []
    for name, case in cases.items():
        order = np.argsort(-np.asarray(case.counts.sum(axis=0)).ravel(), kind="stable")
        others = [cases[other].counts for other in cases if other != name]
        for size in SIZES:
            if size > case.counts.shape[0]:
                continue
            rng = generator("guard-benchmark", corpus=name, documents=size)
            for i in range(SAMPLES):
                counts, other = (sampled(of, size, rng) for of in (case.counts, others[i % len(others)]))
                kinds = [("right", counts), *(wrong(counts, other, order, rng) if i % 3 == 0 else ())]
                for model, phi in case.topics.items():
                    for kind, words in kinds:
                        if words.sum():
                            rows.append((name, model, kind, size, int(words.sum()), likeness(phi, words)))
    return pd.DataFrame(rows, columns=["corpus", "model", "kind", "documents", "tokens", "likeness"])


def sampled(counts: sp.csr_matrix, size: int, rng: np.random.Generator) -> Ints:
    """Return the counts (V,) of so many documents, drawn without replacement; of all where there are fewer."""
    chosen = rng.permutation(counts.shape[0])[:size]
    return np.asarray(counts[chosen].sum(axis=0)).ravel().astype(np.int64)


def markdown(found: pd.DataFrame) -> str:
    """Return the tables."""
    found["enough"] = (found.tokens >= TOKENS) | ((found.documents >= DOCUMENTS) & (found.tokens >= FEWEST))
    found["corpora"] = np.where(found.corpus.isin(CHOSEN_ON), "chosen on", "held out")
    found["taken"] = found.likeness >= np.where(found.enough, LEAST, 0.0)
    lines = [
        "# Does the guard know documents like the model's own from others?",
        "",
        "Written by `python benchmarks/guard.py` (do not edit), which says what is measured. Ten models of five"
        f" libraries on each corpus; the bound, a likeness of {LEAST}, was chosen on {', '.join(CHOSEN_ON)}, and"
        f" moved from 0.18 once, after the rates on {', '.join(HELD_OUT)} were seen, too. From {DOCUMENTS} documents of"
        f" {FEWEST:,} tokens, or {TOKENS:,} tokens,"
        " others are refused; below that a likeness under 0 is a warning. Where words stand in order of frequency, a"
        " shift and another corpus in that order are often taken, as their counts fall as the model's do; the rates"
        " below the table are without them.",
        "",
        "| corpora | documents | samples | taken | lowest likeness | highest |",
        "|---|---|---:|---:|---:|---:|",
    ]
    kinds = found.kind.drop_duplicates().tolist()
    for (enough, corpora), rows in found.groupby(["enough", "corpora"], sort=True):
        for kind in kinds:
            of = rows[rows.kind == kind]
            few = "" if enough else ", too few to refuse"
            lines.append(
                f"| {corpora} | {kind}{few} | {len(of):,} | {of.taken.mean():.2%} | {of.likeness.min():.2f} |"
                f" {of.likeness.max():.2f} |"
            )
    enough = found[found.enough & ~found.kind.str.endswith(BY_FREQUENCY)]
    for corpora, rows in enough.groupby("corpora", sort=True):
        right = rows.kind == "right"
        lines += [
            "",
            f"Of samples that are enough to refuse, {corpora}: {1.0 - rows[right].taken.mean():.2%} of the right ones"
            f" are refused, and {rows[~right].taken.mean():.2%} of the wrong ones taken.",
        ]
    lines += ["", "By corpus, of samples that are enough to refuse:", ""]
    lines += ["| corpus | lowest likeness of right ones | highest of wrong ones |", "|---|---:|---:|"]
    for corpus, rows in enough.groupby("corpus", sort=False):
        right = rows.kind == "right"
        lines.append(f"| {corpus} | {rows[right].likeness.min():.2f} | {rows[~right].likeness.max():.2f} |")
    lines += [
        "",
        "By model:",
        "",
        "| model | lowest likeness of right ones | highest of wrong ones |",
        "|---|---:|---:|",
    ]
    for model, rows in enough.groupby("model", sort=False):
        right = rows.kind == "right"
        lines.append(f"| {model} | {rows[right].likeness.min():.2f} | {rows[~right].likeness.max():.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fit what the folder lacks, measure, and write guard.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, required=True, help="the folder of the downloaded archives")
    parser.add_argument("--models", type=Path, required=True, help="the folder to keep the fitted models in")
    options = parser.parse_args()
    options.models.mkdir(exist_ok=True)
    cases = {name: case_of(name, options.raw, options.models) for name in (*CHOSEN_ON, *HELD_OUT)}
    found = measure(cases)
    found.to_csv(options.models / "guard.csv", index=False)
    (HERE / "guard.md").write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
