"""A small study with made-up scores, for the tests of the exhibits."""

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from dlvm.exhibits import Inputs
from dlvm.scores import COLUMNS

FULL, HALF = "full-folding-in", "half-folding-in"
MAIN, SECOND, GIBBS = "smoothed-after-training", "smoothed-in-m-step", "collapsed-gibbs"

STUDY: dict[str, Any] = {
    "study": "small",
    "seeds": [0, 1],
    "corpora": {name: {"test_documents": 4} for name in ("cranfield", "medline", "nips")},
    "table_1_also": ["cranfield-unstemmed"],
    "topics": [2, 5, 10],
    "beyond_vocabulary": {"corpus": "cranfield", "topics": [50], "seeds": [0]},
    "smoothing": [1e-10, 1e-4, 1e-1],
    "smoothing_in_m_step": {"seeds": [0]},
    "models": {
        "plsa-hof": {
            "variant": MAIN,
            "smoothed": True,
            "train": {"iterations": 30, "tolerance": 0.0},
            "fold_in": {"iterations": 20, "tolerance": 1e-4},
        },
        "lda": {
            "variant": GIBBS,
            "train": {"alpha_sum": 50.0, "beta": 0.1, "sweeps": 9, "chains": 2},
            "fold_in": {"sweeps": 8},
        },
    },
    "alternatives": {
        "corpus": "cranfield",
        "corpora": ["cranfield-unstemmed"],
        "topics": [5],
        "seeds": [0, 1],
        "variants": {
            "plsa-hof": {"iterations-60": {"train": {"iterations": 60}}},
            "lda": {"beta-0.01": {"train": {"beta": 0.01}}},
        },
    },
}

Row = tuple[Any, ...]


def row(
    corpus: str,
    model: str,
    variant: str,
    topics: int,
    smoothing: float,
    chain: str,
    evaluator: str,
    seed: int,
    p: float,
) -> Row:
    """Return one score of perplexity p."""
    tokens = 100
    log_likelihood = -tokens * math.log(p)
    key = (corpus, model, variant, topics, smoothing, chain, evaluator, 0, seed)
    return (*key, 4, tokens, 0, 0, log_likelihood, p, 0.0)


def made_up(topics: int, smoothing: float, evaluator: str, seed: int) -> float:
    """Return a perplexity: full falls with topics; half turns up under the smallest constant only."""
    base = 1000.0 * (1.0 + 0.02 * seed) * (1.0 + smoothing)
    if evaluator == FULL:
        return base * math.pow(topics, -0.3)
    return base * math.pow(topics, 0.2 if smoothing < 1e-9 and topics > 5 else -0.1)


def score_rows(study: dict[str, Any], p: Callable[[int, float, str, int], float] = made_up) -> list[Row]:
    """Return the scores that a study asks for."""
    rows = []
    alternatives, beyond = study["alternatives"], study["beyond_vocabulary"]
    cells: list[tuple[str, str, list[int], list[int], str, float]] = [
        (beyond["corpus"], MAIN, beyond["topics"], beyond["seeds"], "plsa-hof", 1.0)
    ]
    for corpus in study["corpora"]:
        cells.append((corpus, MAIN, study["topics"], study["seeds"], "plsa-hof", 1.0))
        cells.append((corpus, SECOND, study["topics"], study["smoothing_in_m_step"]["seeds"], "plsa-hof", 1.1))
        cells.append((corpus, GIBBS, study["topics"], study["seeds"], "lda", 0.5))
    grid = (alternatives["topics"], alternatives["seeds"])
    for corpus in alternatives["corpora"]:
        cells.append((corpus, MAIN, *grid, "plsa-hof", 1.5))
    for model, variants in alternatives["variants"].items():
        for name in variants:
            cells.append(
                (alternatives["corpus"], f"alternative-{name}", *grid, model, 0.9 if model == "plsa-hof" else 1.0)
            )
    for corpus, variant, all_topics, seeds, model, factor in cells:
        for topics in all_topics:
            for seed in seeds:
                for evaluator in (FULL, HALF):
                    if model == "lda":
                        value = factor * p(topics, 1e-4, evaluator, seed)
                        chains: Iterable[tuple[str, float]] = (("all", value), ("0", value * 1.03), ("1", value * 1.05))
                        rows += [row(corpus, model, variant, topics, 0.0, c, evaluator, seed, v) for c, v in chains]
                    else:
                        for constant in study["smoothing"]:
                            value = factor * p(topics, constant, evaluator, seed)
                            rows.append(row(corpus, model, variant, topics, constant, "none", evaluator, seed, value))
    return rows


def corpora_table(study: dict[str, Any], *, synthetic: bool) -> pd.DataFrame:
    """Return a corpora table for a study."""
    rows = [
        {
            "corpus": corpus,
            "synthetic": str(synthetic).lower(),
            "train_documents": 9,
            "test_documents": 4,
            "vocabulary": 40,
            "tokens": 130,
            "mean_length": 10.0,
            "published_train_documents": 9,
            "published_test_documents": 4,
            "published_vocabulary": 50,
            "published_mean_length": 8.0,
            "source_sha256": "",
            "rule": "[a-z] in lower case; length >= 3",
        }
        for corpus in [*study["corpora"], *study["table_1_also"]]
    ]
    return pd.DataFrame(rows)


def small_study(**changes: Any) -> dict[str, Any]:
    """Return a fresh copy of the study with some of its parts replaced."""
    return {**copy.deepcopy(STUDY), **changes}


def inputs(
    study: dict[str, Any] | None = None,
    *,
    synthetic: bool = False,
    p: Callable[[int, float, str, int], float] = made_up,
    timings: pd.DataFrame | None = None,
) -> Inputs:
    """Return the inputs of a study with made-up scores."""
    study = study or small_study()
    return Inputs(
        scores=pd.DataFrame(score_rows(study, p), columns=list(COLUMNS)),
        corpora=corpora_table(study, synthetic=synthetic),
        study=study,
        timings=timings,
        commit="0123456789abcdef",
        date="2001-02-03",
        versions={"dlvm": "1.2.3", "python": "3.11"},
    )
