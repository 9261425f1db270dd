"""A small study with made-up scores, for the tests of the exhibits."""

import copy
import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, replace
from typing import Any

import drawn_corpora
import made_hofmann
import made_measurements as made
import made_peers
import pandas as pd

from artifact.contrasts.contrast import Contrast
from artifact.contrasts.effect import Effect
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.papers import PAPERS
from artifact.results.measurements import COLUMNS as MEASURED
from artifact.results.scores import COLUMNS
from heldout.evaluators import FULL, HALF

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
    "realistic": {
        "source": "reuters",
        "documents": 2000,
        "mean_length": 60.0,
        "test_documents": 10,
        "corpora": ["s10", "s10s", "s40"],
    },
    "models": {
        "plsa-hof": {
            "variant": MAIN,
            "smoothed": True,
            "train": {"iterations": 30, "tolerance": 0.0},
            "fold_in": {"iterations": 20, "tolerance": 1e-4},
        },
        "plsa-vem": {
            "variant": MAIN,
            "smoothed": True,
            "train": {"iterations": 30, "tolerance": 0.0, "ve_iterations": 1},
            "fold_in": {"iterations": 20, "tolerance": 1e-4},
        },
        "plsa-tem": {
            "variant": "tempered",
            "sweep": {"setting": "beta", "values": [0.5, 1.0]},
            "smoothing": [1e-4],
            "seeds": [0],
            "train": {"iterations": 30, "tolerance": 0.0},
            "fold_in": {"iterations": 20, "tolerance": 1e-4},
        },
        "epca": {
            "variant": "penalised",
            "smoothed": True,
            "also": {"unpenalised": {"train": {"penalty": 0.0}}},
            "topics": [2, 5],
            "train": {"penalty": 1.0, "iterations": 10},
            "fold_in": {"iterations": 10},
        },
        "lda": {
            "variant": GIBBS,
            "also": {"sparse-prior": {"train": {"alpha_sum": 5.0}}, "fitted-prior": {"train": {"optimise_every": 10}}},
            "train": {"alpha_sum": 50.0, "beta": 0.1, "sweeps": 9, "chains": 2},
            "fold_in": {"sweeps": 8},
        },
    },
    "measures": {
        "point-posteriors": {"corpora": ["cranfield"], "seeds": [0]},
        "discrete-latents": {"corpora": ["cranfield"], "seeds": [0]},
        "bounds": {"corpora": ["cranfield"], "models": ["plsa-hof", "lda"], "topics": [2, 3], "seeds": [0]},
        "normalisers": {"corpora": ["cranfield"], "models": ["plsa-hof"], "topics": [2, 3], "seeds": [0]},
        "normaliser-limits": {"corpora": ["cranfield", "medline", "nips"], "seeds": [0]},
        "convergence": {
            "corpora": ["cranfield", "medline", "nips"],
            "models": ["lda"],
            "topics": [2, 10],
            "seeds": [0],
        },
        "calibration": {"corpora": ["none"], "seeds": [0]},
        "convergence-to-exact": {"corpora": ["none"], "seeds": [0]},
        "mean-ratio": {"corpora": ["s10", "none"], "topics": {"s10": [10], "none": [4]}, "seeds": [0]},
        "optimism": {
            "corpora": ["cranfield", "medline"],
            "models": ["plsa-hof", "lda"],
            "topics": list(made.TOPICS),
            "seeds": [0],
            "settings": {"smoothing": made.CONSTANT, "constants_topics": [3, 100], "limit": 1e8},
        },
        "reference": {"corpora": ["cranfield", "medline"], "seeds": [0]},
        "bidirectional": {"corpora": ["cranfield"], "models": ["plsa-hof", "lda"], "topics": [4, 100], "seeds": [0]},
        "epca-marginal": {"corpora": ["cranfield"], "models": ["epca"], "topics": [1, 2, 5], "seeds": [0, 1]},
        "model-selection": {
            "corpora": ["s10", "s10s", "s40"],
            "topics": {corpus: list(topics) for corpus, topics in drawn_corpora.GRIDS.items()},
            "seeds": [0],
            "train": {"chains": 2},
            "settings": {"training_documents": list(drawn_corpora.SIZES)},
        },
        "latent-semantic-analysis": {
            "corpora": ["medline", "cranfield"],
            "seeds": [0, 1],
            "settings": {"constants": [0.01, 0.1]},
        },
        "tempering": {
            "corpora": ["medline", "cranfield"],
            "topics": list(made_hofmann.TOPICS),
            "seeds": [0, 1],
            "settings": made_hofmann.SETTINGS,
        },
        "precision": {"corpora": ["none"], "topics": [4, 20, 100, 400], "seeds": [0]},
        "is-a-probability": {"corpora": ["s10", "none"], "topics": {"s10": [10], "none": [4]}, "seeds": [0]},
        "peers": {
            "corpora": ["cranfield", "medline", "nips"],
            "models": list(made_peers.LIBRARIES),
            "topics": list(made_peers.TOPICS),
            "seeds": [0],
            "settings": {**made_peers.SETTINGS},
        },
    },
    "alternatives": {
        "corpus": "cranfield",
        "corpora": ["cranfield-unstemmed"],
        "topics": [5],
        "seeds": [0, 1],
        "variants": {
            "plsa-hof": {"iterations-60": {"train": {"iterations": 60}}},
            "lda": {
                "beta-0.01": {"train": {"beta": 0.01}},
                "sweeps-90": {"corpus": "nips", "seeds": [0], "train": {"sweeps": 90}},
            },
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
    """Return the scores of a study's models, and those of the limits of the normaliser."""
    rows = []
    alternatives, beyond = study["alternatives"], study["beyond_vocabulary"]
    cells: list[tuple[str, str, list[int], list[int], str, float]] = [
        (beyond["corpus"], MAIN, beyond["topics"], beyond["seeds"], "plsa-hof", 1.0)
    ]
    for corpus in study["corpora"]:
        cells.append((corpus, MAIN, study["topics"], study["seeds"], "plsa-hof", 1.0))
        cells.append((corpus, SECOND, study["topics"], study["smoothing_in_m_step"]["seeds"], "plsa-hof", 1.1))
        for variant, factor in ((GIBBS, 0.5), ("sparse-prior", 0.4), ("fitted-prior", 2.0)):
            cells.append((corpus, variant, study["topics"], study["seeds"], "lda", factor))
        cells.append((corpus, MAIN, study["topics"], study["seeds"], "plsa-vem", 1.01))
        cells.append((corpus, "beta-0.50", study["topics"], [0], "plsa-tem", 1.2))
        cells.append((corpus, "beta-1.00", study["topics"], [0], "plsa-tem", 1.0))
        cells.append((corpus, "penalised", study["models"]["epca"]["topics"], study["seeds"], "epca", 1.3))
        cells.append((corpus, "unpenalised", study["models"]["epca"]["topics"], study["seeds"], "epca", 1.4))
        for evaluator, value in ((FULL, 40.0), ("normalised-folding-in", 4e4), ("exact-marginal", 5e4)):
            words = ("word-topics", "normaliser-limits", 40)
            rows.append(row(corpus, *words, 0.0, "none", evaluator, 0, value))
    grid = (alternatives["topics"], alternatives["seeds"])
    for corpus in alternatives["corpora"]:
        cells.append((corpus, MAIN, *grid, "plsa-hof", 1.5))
    for model, variants in alternatives["variants"].items():
        for name, asked in variants.items():
            on = (asked.get("corpus", alternatives["corpus"]), f"alternative-{name}", alternatives["topics"])
            seeds = asked.get("seeds", alternatives["seeds"])
            cells.append((*on, seeds, model, 0.9 if model == "plsa-hof" else 1.0))
    for corpus, variant, all_topics, seeds, model, factor in cells:
        for topics in all_topics:
            for seed in seeds:
                for evaluator in (FULL, HALF):
                    if model == "lda":
                        value = factor * p(topics, 1e-4, evaluator, seed)
                        chains: Iterable[tuple[str, float]] = (("all", value), ("0", value * 1.03), ("1", value * 1.05))
                        rows += [row(corpus, model, variant, topics, 0.0, c, evaluator, seed, v) for c, v in chains]
                    else:
                        for constant in study["models"][model].get("smoothing", study["smoothing"]):
                            value = factor * p(topics, constant, evaluator, seed)
                            rows.append(row(corpus, model, variant, topics, constant, "none", evaluator, seed, value))
    return rows


def measurement_rows(study: dict[str, Any], shift: float = 0.0) -> list[Row]:
    """Return measurements that bear out every claim of Welling et al.

    `shift` (nats) moves every estimate against the exact value.
    """
    measures = study["measures"]

    def one(kind: str, model: str, topics: int, quantity: str, axis: str, at: int, value: float, **o: Any) -> Row:
        corpus, chain = o.get("corpus", measures[kind]["corpora"][0]), o.get("chain", "none")
        variant = o.get("variant", kind)
        return (corpus, model, variant, topics, 0.0, chain, 0, quantity, axis, at, value, o.get("error", 0.0))

    rows = []
    for topics in measures["bounds"]["topics"]:
        for document in range(4):
            exact = -100.0 - document
            for model in ("plsa-hof", "lda"):
                gaps = {"exact-marginal": 0.0, "mean-field-bound": -2.0 + shift, "full-folding-in": topics - shift}
                for quantity, gap in gaps.items():
                    rows.append(one("bounds", model, topics, quantity, "document", document, exact + gap))
            rows.append(one("bounds", "plsa-hof", topics, "tokens", "document", document, 10.0))
            for model in ("mixture-of-multinomials", "hmm"):
                for quantity, gap in (("exact-marginal", 0.0), ("point-bound", -1.0 + shift)):
                    rows.append(one("discrete-latents", model, topics, quantity, "document", document, exact + gap))
        for length in (1, 10):
            value = topics * 0.1 * length - shift
            rows.append(one("normalisers", "plsa-hof", topics, "log-normaliser", "length", length, value, error=1e-3))
    for at in range(3):
        point: dict[str, Any] = {"variant": "point-posterior"}
        for model in ("gaussian-mixture", "hmm", "k-means"):
            rows.append(one("point-posteriors", model, 2, "objective", "iteration", at, -50.0 + at + shift, **point))
            rows.append(one("point-posteriors", model, 2, "log-likelihood", "iteration", at, -49.0 + at, **point))
            if model != "k-means":
                rows.append(
                    one("point-posteriors", model, 2, "log-likelihood", "iteration", at, -48.0 + at, variant="exact-em")
                )
        for variant, norm in (("unit-columns", 0.5), ("free-columns", 1e-3)):
            value = norm**at if shift == 0.0 else 1.0
            rows.append(one("point-posteriors", "ica", 2, "latent-norm", "iteration", at, value, variant=variant))
            rows.append(one("point-posteriors", "ica", 2, "objective", "iteration", at, -9.0 + at, variant=variant))
    rows.append(one("point-posteriors", "ica", 2, "supremum", "iteration", 0, 0.0, variant="free-columns"))
    for corpus in study["corpora"]:
        for topics in study["topics"]:
            value = 10.0 * topics
            rows.append(one("normaliser-limits", "word-topics", topics, "log-nml", "tokens", 100, value, corpus=corpus))
        for topics in measures["convergence"]["topics"]:
            rows.append(one("convergence", "lda", topics, "r-hat", "chains", 2, 1.01, corpus=corpus, chain="all"))
            rows.append(one("convergence", "lda", topics, "drift", "chains", 2, 0.5, corpus=corpus, chain="all"))
            for chain in ("0", "1"):
                for at in (0, 5, 9):
                    value = -1000.0 + 10.0 * at + int(chain)
                    rows.append(
                        one("convergence", "lda", topics, "log-joint", "sweep", at, value, corpus=corpus, chain=chain)
                    )
    return rows


def truth_rows(study: dict[str, Any]) -> tuple[list[Row], list[Row]]:
    """Return the scores and measurements of the truth, of the kinds that a study asks for."""
    return _truth_rows(tuple((kind, tuple(asked["corpora"])) for kind, asked in study["measures"].items()))


@functools.cache
def _truth_rows(kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[list[Row], list[Row]]:
    asked = dict(kinds)
    scores: list[Any] = []
    rows: list[Any] = []
    if "calibration" in asked:
        rows += made.calibration(pairs=8)
    if "mean-ratio" in asked:
        rows += made.errors_by_samples()
    if "convergence-to-exact" in asked:
        rows += made.convergence_to_exact()
    if "reference" in asked:
        rows += made.reference(asked["reference"])
    if "bidirectional" in asked:
        rows += made.bidirectional(asked["bidirectional"][0])
    if "precision" in asked:
        rows += made.precision()
    if "is-a-probability" in asked:
        rows += made.is_a_probability()
    for both in (
        made.optimism(asked["optimism"]) if "optimism" in asked else ([], []),
        made.epca_marginal(asked["epca-marginal"][0]) if "epca-marginal" in asked else ([], []),
        made_hofmann.rows(asked["tempering"]) if "tempering" in asked else ([], []),
        made_peers.peers(asked["peers"]) if "peers" in asked else ([], []),
    ):
        scores += both[0]
        rows += both[1]
    drawn = drawn_corpora.rows(asked.get("model-selection", ()))
    return [*(astuple(score)[:-1] for score in scores), *drawn[0]], [*map(astuple, rows), *drawn[1]]


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


def without(*kinds: str) -> dict[str, Any]:
    """Return the study without some kinds of measurements."""
    measures = {kind: asked for kind, asked in STUDY["measures"].items() if kind not in kinds}
    return small_study(measures=copy.deepcopy(measures))


def inputs(
    study: dict[str, Any] | None = None,
    *,
    synthetic: bool = False,
    p: Callable[[int, float, str, int], float] = made_up,
    timings: pd.DataFrame | None = None,
    shift: float = 0.0,
) -> Inputs:
    """Return the inputs of a study with made-up scores, and the effects that follow from them."""
    study = study or small_study()
    scores, measurements = truth_rows(study)
    given = Inputs(
        scores=pd.DataFrame(score_rows(study, p) + scores, columns=list(COLUMNS)),
        corpora=corpora_table(study, synthetic=synthetic),
        study=study,
        measurements=pd.DataFrame(measurement_rows(study, shift) + measurements, columns=list(MEASURED)),
        notes=made_peers.versions(*(study["measures"].get("peers", {}).get(key, ()) for key in ("corpora", "models"))),
        timings=timings,
        commit="0123456789abcdef",
        date="2001-02-03",
        versions={"heldout": "1.2.3", "python": "3.11"},
        papers=PAPERS,
    )
    made_of = (json.dumps(study), p, shift)  # what effects depend on, but for timings
    if made_of not in _EFFECTS:
        _EFFECTS[made_of] = _Lazy(given)
    return replace(given, effects=_EFFECTS[made_of])


def with_effects(given: Inputs) -> Inputs:
    """Return inputs with the effects that follow from their own tables."""
    return replace(given, effects=_Lazy(given))


class _Lazy(Mapping[str, tuple[Effect, ...]]):
    """The effects of some inputs, each contrast's estimated when it is looked at: most exhibits show few or none."""

    def __init__(self, given: Inputs) -> None:
        # a test may go on to change its tables
        tables = {
            name: table.copy() for name in ("scores", "measurements") if (table := getattr(given, name)) is not None
        }
        self.given = replace(given, **tables)
        self.known: dict[str, tuple[Effect, ...]] = {}

    def __len__(self) -> int:
        return len(_contrasts())

    def __iter__(self) -> Iterator[str]:
        return iter(_contrasts())

    def __getitem__(self, name: str) -> tuple[Effect, ...]:
        contrast = _contrasts()[name]
        if name not in self.known:
            try:
                self.known[name] = tuple(effects(contrast, self.given))
            except KeyError as error:  # which `get` would take for a contrast that was not run
                raise AssertionError(f"{name} failed") from error
        return self.known[name]


@functools.cache
def _contrasts() -> dict[str, Contrast]:
    return {contrast.name: contrast for paper in PAPERS for contrast in paper.part("contrasts")}


_EFFECTS: dict[tuple[object, ...], _Lazy] = {}
