"""The experiments on graphs and relations in tiny form: their settings and data."""

from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.relations.relation import Relation, Relations, graph

_PRIOR = {"alpha": 1.0, "eta": 1.0}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "partitions": ("monks", {"topics": [1, 2, 3], **_PRIOR}),
    "blocks": (
        "monks",
        {
            "topics": [1, 2, 3, 4],
            "chains": 60,
            "temperatures": 30,
            "starts": 3,
            "iterations": 30,
            "sweeps": 10,
            **_PRIOR,
        },
    ),
    "block-graphs": (
        "none",
        {"nodes": 4, "inside": 0.95, "outside": 0.02, "gamma": 1.0, "eta": 1.0, "starts": 3, "sweeps": 30},
    ),
    "links": (
        "kinship",
        {
            "topics": [2],
            "gamma": 1.0,
            "start_clusters": 3,
            "hidden": 0.2,
            "sweeps": 20,
            "samples": 5,
            **_PRIOR,
        },
    ),
    "node-features": (
        "nations",
        {"topics": [1, 2], "alpha": 1.0, "components": 2, "precision": 1.0, "samples": 100, "hidden": 0.3},
    ),
    "concepts": (
        "nations",
        {
            "gamma": 1.0,
            "etas": [1.0, 0.5],
            "starts": 2,
            "start_clusters": 3,
            "sweeps": 20,
            "samples": 5,
            "chains": 30,
            "temperatures": 30,
        },
    ),
    "memberships": (
        "monks",
        {
            "topics": 3,
            "alpha": 0.1,
            "eta": 1.0,
            "rhos": [0.0, 0.3],
            "starts": 2,
            "sweeps": 40,
            "chains": 4,
            "temperatures": 20,
        },
    ),
}
TEST_DOCUMENTS = {"monks": 0, "kinship": 0, "nations": 0}
MONKS = 9


def _blocks(random: np.random.Generator, groups: np.ndarray, terms: int) -> np.ndarray:
    shape = (len(groups), len(groups), terms)
    chances = np.where(groups[:, None] == groups, 0.9, 0.1)[..., None]
    values: np.ndarray = random.random(shape) < chances
    return values


def corpora() -> dict[str, Corpus]:
    """Return tiny monks of three groups, kinship of two terms, and nations with interactions and features."""
    random = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 3)
    likes = _blocks(random, groups, 1)[..., 0]
    np.fill_diagonal(likes, val=False)
    labels = tuple("abc"[group] for group in groups)
    monks = Relations(
        "monks",
        {"monks": tuple(f"monk {i}" for i in range(MONKS))},
        (graph("likes", "monks", likes),),
        {"group": labels},
    )
    terms = _blocks(random, np.repeat([0, 1], 4), 2)
    kinship = Relations(
        "kinship",
        {"people": tuple(map(str, range(8))), "terms": ("1", "2")},
        (Relation("term", ("people", "people", "terms"), terms, np.ones(terms.shape, dtype=bool)),),
    )
    blocs = np.repeat([0, 1], 3)
    interacts, mask = _blocks(random, blocs, 4), np.ones((6, 6, 4), dtype=bool)
    mask[np.arange(6), np.arange(6)] = False
    has = random.random((6, 5)) < np.where(blocs[:, None] == 0, 0.9, 0.1)
    nations = Relations(
        "nations",
        {
            "countries": tuple("abcdef"),
            "interactions": ("aid", "trade", "war", "tourism"),
            "features": tuple("pqrst"),
        },
        (
            Relation("interacts", ("countries", "countries", "interactions"), interacts & mask, mask),
            Relation("has", ("countries", "features"), has, np.ones(has.shape, dtype=bool)),
        ),
    )
    return {one.name: one.corpus() for one in (monks, kinship, nations)}
