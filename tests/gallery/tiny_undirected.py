"""The experiments on undirected models in tiny form: their settings and data."""

from dataclasses import replace
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.corpora.synthetic import Law, Shape, draw

_TRAINING: dict[str, Any] = {"batch": 10}
BOLTZMANN: dict[str, Any] = {
    **_TRAINING,
    "epochs": 8,
    "chains": 10,
    "hidden": 2,
    "more_hidden": 3,
    "steps": 2,
    "rounds": 2,
    "learning_rate": 0.2,
    "annealed_chains": 20,
    "temperatures": 20,
    "iterations": 5,
    "smoothing": 1e-3,
}
SOFTMAX: dict[str, Any] = {
    **_TRAINING,
    "words": {"newsgroups": 20},
    "training_documents": {"newsgroups": 40},
    "documents": 8,
    "hidden": 4,
    "exact_hidden": 3,
    "topics": [4, 5],
    "alpha": 0.5,
    "gamma": 0.1,
    "sweeps": 10,
    "optimise_every": 5,
    "samples": 240,
    "validation": 0.2,
    "learning_rate": 0.5,
    "epochs": 2,
    "doublings": 3,
    "steps": 1,
    "annealed_chains": 40,
    "temperatures": 40,
    "queries": 10,
    "searched": 20,
}
UNITS: dict[str, Any] = {
    "hidden": [1, 2],
    "coordinates": 3,
    "scales": [1.0, 2.0],
    "penalty": 0.1,
}
SETTINGS = {
    "boltzmann": ("news-words", BOLTZMANN),
    "replicated-softmax": ("newsgroups", SOFTMAX),
    "undirected-units": ("votes", UNITS),
}
TEST_DOCUMENTS = {"news-words": 12, "newsgroups": 8}


def words() -> Corpus:
    """Return 60 records of 6 words, of two kinds."""
    random = np.random.default_rng(0)
    kind = np.repeat(random.integers(2, size=(60, 2)), 3, axis=1)
    present = np.where(random.random((60, 6)) < 0.85, kind, 1 - kind)
    return from_responses("news-words", present, tuple("abcdef"), ("absent", "present"), tuple(map(str, range(60))))


def newsgroups() -> Corpus:
    """Return 60 documents in two groups, by date."""
    shape = Shape(train_documents=40, test_documents=20, vocabulary=25, mean_length=20.0)
    drawn = draw("newsgroups", shape, law=Law(topics=2))[0]
    names = tuple(f"group-{d % 2}/{'train' if d < 40 else 'test'}-{d}" for d in range(drawn.n_documents))
    return replace(drawn, documents=names)


def corpora() -> dict[str, Corpus]:
    """Return the data that no other experiment has, by name."""
    return {"news-words": words(), "newsgroups": newsgroups()}
