"""Printed effects, computed again from the committed scores by code that imports nothing of this project.

The scores and their groups of documents are read with pandas; a pairing, the jackknife over groups, Satterthwaite's
degrees of freedom and Student's interval are written out here. Forty effects and more of `effects.csv` are to agree in
the estimate and in both ends of the interval.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

REFERENCE = Path(__file__).parents[2] / "data/reference/paper"
G = 20  # groups of documents
PACKAGES_HELD_OUT = 1 / 3  # share of documents, at most
KEY = ["corpus", "model", "variant", "topics", "smoothing", "chain", "evaluator", "samples", "seed"]
TRUTHS = ("exact-marginal", "reference", "left-to-right-sequential")  # the first that was run is the likelihood
MAIN, FITTED, MIXTURE = "optimism", "optimism-fitted-prior", "optimism-mixture-prior"
Values = tuple[float, float, np.ndarray]  # a value, nats per token, its error, and it without each group
Sides = dict[object, tuple[Values, ...]]


@lru_cache(maxsize=1)
def table() -> pd.DataFrame:
    """Read scores beside the nats and tokens of every group."""
    scores = pd.read_csv(REFERENCE / "scores.csv", dtype={"chain": str})
    groups = pd.read_csv(REFERENCE / "groups.csv.gz", dtype={"chain": str})
    return scores.merge(groups, on=KEY, how="left", validate="one_to_one")


@lru_cache(maxsize=1)
def by_place() -> pd.DataFrame:
    """Return the first row of every corpus, model, variant, number of topics, split and evaluator."""
    rows, place = table(), ["corpus", "model", "variant", "topics", "seed", "evaluator"]
    smoothed = (rows["model"] == "plsa-hof") & rows["variant"].str.startswith("optimism")
    return rows[~smoothed | (rows["smoothing"] == 1e-5)].drop_duplicates(place).set_index(place).sort_index()


def row_of(corpus: str, model: str, variant: str, topics: int, seed: int, evaluator: str) -> "pd.Series[float]":
    """Return the row of one score; of "truth" that of the first that was run."""
    rows: Any = by_place()
    names = TRUTHS if evaluator == "truth" else (evaluator,)
    places = ((corpus, model, variant, topics, seed, name) for name in names)
    row: pd.Series[float] = rows.loc[next(place for place in places if place in rows.index)]
    return row


@lru_cache(maxsize=1)
def printed() -> pd.DataFrame:
    """Read the committed effects."""
    return pd.read_csv(REFERENCE / "effects.csv", keep_default_na=False, na_values=["nan"])


def one(corpus: str, model: str, variant: str, topics: int, seed: int, evaluator: str) -> Values:
    """Return one score."""
    row = row_of(corpus, model, variant, topics, seed, evaluator)
    nats = np.array([row[f"log_likelihood_{g}"] for g in range(G)], float)
    tokens = np.array([row[f"tokens_{g}"] for g in range(G)], float)
    error = 0.0 if math.isnan(row["standard_error"]) else row["standard_error"] / row["tokens"]
    whole = row["log_likelihood"] / row["tokens"]
    without = (row["log_likelihood"] - nats) / (row["tokens"] - tokens)
    return float(whole), float(error), without


def interval(values: np.ndarray, errors: np.ndarray, without: np.ndarray) -> tuple[float, float, float]:
    """Return the mean over splits and the ends of its interval: splits, documents that they share, the evaluator."""
    S = len(values)
    mean, e = float(values.mean()), float(errors.mean())
    if np.isnan(without).any():  # a package's number is of all documents: Nadeau and Bengio (2003)
        total = float(values.var(ddof=1)) * (1 / S + PACKAGES_HELD_OUT / (1 - PACKAGES_HELD_OUT))
        freedom = (total + e**2) ** 2 / (total**2 / (S - 1))
        reach = float(student.ppf(0.975, freedom)) * math.sqrt(total + e**2)
        return mean, mean - reach, mean + reach
    influence = (without - without.mean(axis=1, keepdims=True)) * math.sqrt((G - 1) / G)
    C = influence @ influence.T
    v = float(np.diag(C).mean())
    c = min(max(float((C.sum() - np.trace(C)) / (S * (S - 1))), 0.0), v)
    own = max(float(values.var(ddof=1)), v - c) / S
    total = own + c + e**2
    freedom = total**2 / (own**2 / (S - 1) + c**2 / (G - 1)) if own + c else math.inf
    reach = float(student.ppf(0.975, freedom)) * math.sqrt(total) if total else 0.0
    return mean, mean - reach, mean + reach


def seeds(corpus: str, variant: str) -> list[int]:
    """Return the splits of a corpus that were scored under a variant."""
    rows = table()
    return sorted(set(rows.loc[(rows["corpus"] == corpus) & (rows["variant"] == variant), "seed"]))


def difference(pairs: list[tuple[Values, Values]]) -> tuple[float, float, float]:
    """Return the interval of one side less the other, split by split."""
    return interval(
        np.array([a[0] - b[0] for a, b in pairs]),
        np.array([math.hypot(a[1], b[1]) for a, b in pairs]),
        np.array([a[2] - b[2] for a, b in pairs]),
    )


def ratio(pairs: list[tuple[Values, Values]]) -> tuple[float, float, float]:
    """Return the interval of one side over the other, split by split."""
    values = np.array([a[0] / b[0] for a, b in pairs])
    errors = np.array([math.hypot(a[1] / b[0], y * b[1] / b[0]) for (a, b), y in zip(pairs, values, strict=True)])
    return interval(values, errors, np.array([a[2] / b[2] for a, b in pairs]))


def less(a: Values, b: Values) -> Values:
    """Return one score less another."""
    return a[0] - b[0], math.hypot(a[1], b[1]), a[2] - b[2]


def folded_in(corpus: str, model: str, topics: int, evaluator: str, prior: str) -> tuple[float, float, float]:
    """Return a score less the likelihood under a prior."""
    own = "choice" if corpus == "newsgroups" else MAIN
    prior = prior.replace(MAIN, own)
    pairs = [
        (one(corpus, model, own, topics, seed, evaluator), one(corpus, model, prior, topics, seed, "truth"))
        for seed in seeds(corpus, own)
    ]
    return difference(pairs)


def share(corpus: str, topics: int, prior: str) -> tuple[float, float, float]:
    """Return the gap under a prior over that under the flat one."""
    pairs = []
    for seed in seeds(corpus, MAIN):
        full = one(corpus, "plsa-hof", MAIN, topics, seed, "full-folding-in")
        gaps = (less(full, one(corpus, "plsa-hof", under, topics, seed, "truth")) for under in (prior, MAIN))
        pairs.append(tuple(gaps))
    return ratio(pairs)  # type: ignore[arg-type]


def lda_beside_plsa(corpus: str, topics: int) -> tuple[float, float, float]:
    """Return LDA's likelihood less PLSA's, each under its fitted prior."""
    variant = "choice-fitted-prior" if corpus == "newsgroups" else FITTED
    return difference(
        [
            tuple(one(corpus, model, variant, topics, seed, "truth") for model in ("lda", "plsa-hof"))  # type: ignore[misc]
            for seed in seeds(corpus, variant)
        ]
    )


def package(corpus: str, name: str, topics: int) -> tuple[float, float, float]:
    """Return a package's number less the likelihood of its model."""
    return difference(
        [
            tuple(one(corpus, name, "packages", topics, seed, e) for e in ("reported", "truth"))  # type: ignore[misc]
            for seed in seeds(corpus, "packages")
        ]
    )


def choice(corpus: str, chooser: str, judge: str) -> tuple[float, float, float]:
    """Return PLSA's likelihood at its own choice of K less that at a score's, each choice made on the other half."""
    grid = sorted(set(table().loc[(table()["corpus"] == corpus) & (table()["variant"] == judge), "topics"]))
    grid = [k for k in grid if k <= 800]
    values, errors, without = [], [], []
    for seed in seeds(corpus, judge):
        truth = [rows_of(corpus, judge, k, seed, "truth") for k in grid]
        score = [rows_of(corpus, MAIN, k, seed, chooser) for k in grid]
        losses = [half_losses(truth, score, None)] + [half_losses(truth, score, g) for g in range(G)]
        values.append(np.mean([loss for loss, _, _ in losses[0]]))
        pairs = [0.0 if a == b else math.hypot(truth[a][2], truth[b][2]) for _, a, b in losses[0]]
        errors.append(np.mean(pairs))
        without.append([np.mean([loss for loss, _, _ in kept]) for kept in losses[1:]])
    return interval(np.array(values), np.array(errors), np.array(without))


def rows_of(corpus: str, variant: str, topics: int, seed: int, evaluator: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Return nats and tokens of groups, and the error per token, of one of PLSA's scores."""
    row = row_of(corpus, "plsa-hof", variant, topics, seed, evaluator)
    error = 0.0 if math.isnan(row["standard_error"]) else row["standard_error"] / row["tokens"]
    nats, tokens = (np.array([row[f"{name}_{g}"] for g in range(G)]) for name in ("log_likelihood", "tokens"))
    return nats, tokens, error


def half_losses(truth: list, score: list, left_out: int | None) -> list[tuple[float, int, int]]:  # type: ignore[type-arg]
    """Return of either half as the one that chooses: the loss on the other, the likelihood's place and the score's."""
    kept = np.arange(G) != (-1 if left_out is None else left_out)
    found = []
    for parity in (0, 1):
        choosing, judging = kept & (np.arange(G) % 2 == parity), kept & (np.arange(G) % 2 != parity)
        of = [
            [nats[part].sum() / tokens[part].sum() for nats, tokens, _ in table_of]
            for table_of, part in ((truth, choosing), (score, choosing), (truth, judging))
        ]
        own, other = int(np.argmax(of[0])), int(np.argmax(of[1]))
        found.append((of[2][own] - of[2][other], own, other))
    return found


SHORT = ("cranfield", "medline", "nips")
CASES: list[tuple[str, str, str, Callable[[], tuple[float, float, float]]]] = [
    *(
        (f"gap-{end}", corpus, f"K = {k}", lambda c=corpus, m=model, k=k: folded_in(c, m, k, "full-folding-in", MAIN))
        for end, model in (("plsa", "plsa-hof"), ("lda", "lda"))
        for corpus in (*SHORT, "newsgroups")
        for k in (20, 400)
    ),
    *(
        (
            "gap-plsa-fitted",
            corpus,
            "K = 800",
            lambda c=corpus: folded_in(c, "plsa-hof", 800, "full-folding-in", FITTED),
        )
        for corpus in SHORT
    ),
    *(
        (
            f"plug-in-{end}",
            corpus,
            "K = 800",
            lambda c=corpus, m=model: folded_in(c, m, 800, "plug-in-posterior-mean", MAIN),
        )
        for end, model in (("plsa", "plsa-hof"), ("lda", "lda"))
        for corpus in SHORT
    ),
    *(
        ("share-fitted", corpus, f"K = {k}", lambda c=corpus, k=k: share(c, k, FITTED))
        for corpus in SHORT
        for k in (100, 800)
    ),
    *(("share-mixture", corpus, "K = 800", lambda c=corpus: share(c, 800, MIXTURE)) for corpus in SHORT),
    *(
        ("lda-plsa", corpus, f"K = {k}", lambda c=corpus, k=k: lda_beside_plsa(c, k))
        for corpus in SHORT
        for k in (20, 800)
    ),
    *(
        ("package-number", corpus, f"{name}, K = 100", lambda c=corpus, n=name: package(c, n, 100))
        for corpus in ("reuters", "ap")
        for name in ("bigartm", "scikit-learn", "tomotopy")
    ),
    *(
        ("choice-full", corpus, f"PLSA, {prior} prior", lambda c=corpus, j=judge: choice(c, "full-folding-in", j))
        for corpus in SHORT
        for prior, judge in (("model's", MAIN), ("fitted", FITTED))
    ),
]


def test_forty_effects_and_more_are_computed_again() -> None:
    assert len(CASES) >= 40


@pytest.mark.parametrize(("contrast", "corpus", "part", "compute"), CASES, ids=[" ".join(case[:3]) for case in CASES])
def test_an_effect_is_that_of_the_scores(
    contrast: str, corpus: str, part: str, compute: Callable[[], tuple[float, float, float]]
) -> None:
    effects = printed()
    (row,) = effects[
        (effects["contrast"] == contrast) & (effects["corpus"] == corpus) & (effects["part"] == part)
    ].to_dict("records")
    assert compute() == pytest.approx((row["estimate"], row["low"], row["high"]), rel=1e-9, abs=1e-12)
