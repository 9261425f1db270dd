"""What every model that a study can name has to do; a new one is tested by its line in MODELS."""

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_fits import fold_with, train_with

from heldout.corpora.corpus import Corpus
from heldout.models import MODELS
from heldout.topics import load_topics

TRAIN: dict[str, dict[str, Any]] = {
    "plsa-hof": {"iterations": 20, "tolerance": 0.0},
    "plsa-vem": {"iterations": 20, "tolerance": 0.0, "ve_iterations": 1},
    "plsa-tem": {"iterations": 20, "tolerance": 0.0, "beta": 0.8},
    "epca": {"penalty": 1.0, "iterations": 20, "tolerance": 0.0},
    "lda": {"alpha_sum": 1.0, "beta": 0.1, "sweeps": 8, "chains": 2},
}
FOLD_IN: dict[str, dict[str, Any]] = {
    "plsa-hof": {"iterations": 100, "tolerance": 1e-6},
    "plsa-vem": {"iterations": 100, "tolerance": 1e-6},
    "plsa-tem": {"iterations": 100, "tolerance": 1e-6},
    "epca": {"iterations": 100, "tolerance": 1e-6, "ridge": 0.01},
    "lda": {"sweeps": 10},
}
SAMPLED = {"lda"}
V = 15


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    random = np.random.default_rng(0)
    documents = [(f"d{d}", [f"w{w}" for w in random.zipf(1.5, 30) % (V - 3)]) for d in range(10)]
    return Corpus.from_documents("tiny", [*documents, ("all", [f"w{w}" for w in range(V)])])


def train(model: str, corpus: Corpus, topics: int = 3, seed: int = 0, **changes: Any) -> list[Any]:
    module = importlib.import_module(MODELS[model])
    trained: list[Any] = train_with(module, corpus, topics=topics, seed=seed, **{**TRAIN[model], **changes})
    return trained


def fold_in(model: str, topics: Any, documents: Corpus, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    folded: np.ndarray[Any, np.dtype[np.float64]] = fold_with(
        importlib.import_module(MODELS[model]), topics, documents, seed=seed, **FOLD_IN[model]
    )
    return folded


def history(topics: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return what training maximised, per iteration; a sampled model's log joint probability, per record."""
    provenance = topics.provenance
    return np.array(provenance["objective"] if "objective" in provenance else provenance["log_likelihood"])


def whole(topics: Any, theta: Any) -> Any:
    """Return p(w | d), (D, V)."""
    rows = np.repeat(np.arange(len(theta), dtype=np.int64), V)
    words = np.tile(np.arange(V, dtype=np.int32), len(theta))
    return topics.probabilities(np.ascontiguousarray(theta), rows, words).reshape(len(theta), V)


def test_the_settings_here_are_those_of_every_model() -> None:
    assert set(TRAIN) == set(FOLD_IN) == set(MODELS)


@pytest.mark.parametrize("model", MODELS)
def test_training_gives_valid_topics_that_say_where_they_come_from(model: str, corpus: Corpus, tmp_path: Path) -> None:
    trained = train(model, corpus)
    assert len(trained) == (2 if model in SAMPLED else 1)
    for topics in trained:
        assert topics.n_topics == 3
        assert topics.vocabulary == corpus.vocabulary
        assert topics.provenance["model"] == model
        assert (topics.provenance["corpus"], topics.provenance["seed"]) == ("tiny", 0)
        assert ("chain" in topics.provenance) == (model in SAMPLED)
        assert np.all(np.isfinite(history(topics)))
        topics.save(tmp_path / "a.npz")
        load_topics(tmp_path / "a.npz").save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_the_seed_and_nothing_else_decides(model: str, corpus: Corpus, tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(model, corpus, seed=seed)[0].save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("model", MODELS)
def test_every_document_gets_a_distribution_over_the_vocabulary(model: str, corpus: Corpus) -> None:
    topics = train(model, corpus)[0]
    theta = fold_in(model, topics, corpus)
    assert theta.shape == (corpus.n_documents, 3)
    for some in (topics, topics.smoothed(1e-3)):
        probabilities = whole(some, theta)
        assert np.all(probabilities >= 0.0)
        assert probabilities.sum(axis=1) == pytest.approx(np.ones(corpus.n_documents), abs=1e-12)
    assert whole(topics.smoothed(1e-3), theta).min() >= 1e-3 / (1.0 + V * 1e-3) * (1.0 - 1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_document_and_unseen_words_are_no_trouble(model: str, corpus: Corpus) -> None:
    known = corpus.subset(range(10))
    unseen = set(range(V)) - set(known.counts().indices.tolist())
    assert unseen  # the last document alone holds every word
    topics = train(model, known)[0]
    streams = [np.zeros(0, np.int32), np.array(sorted(unseen), np.int32), corpus.document(0)]
    theta = fold_in(model, topics, corpus.with_streams(streams, ("empty", "unseen", "d0")))
    assert np.all(np.isfinite(theta))
    assert np.all(np.isfinite(whole(topics.smoothed(1e-6), theta)))


@pytest.mark.parametrize("model", [model for model in MODELS if model not in SAMPLED])
def test_a_document_is_folded_in_by_itself(model: str, corpus: Corpus) -> None:
    topics = train(model, corpus)[0]
    together = fold_in(model, topics, corpus)
    for d in (0, 7, corpus.n_documents - 1):
        alone = fold_in(model, topics, corpus.subset([d]))
        assert whole(topics, alone)[0] == pytest.approx(whole(topics, together)[d], rel=1e-2, abs=1e-4)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("topics", [1, V + 5])
def test_one_topic_and_more_topics_than_words(model: str, topics: int, corpus: Corpus) -> None:
    trained = train(model, corpus, topics=topics)[0]
    theta = fold_in(model, trained, corpus)
    assert theta.shape == (corpus.n_documents, topics)
    assert np.all(np.isfinite(whole(trained, theta)))


@pytest.mark.parametrize("model", [model for model in MODELS if model not in SAMPLED])
def test_training_never_loses_what_it_maximises(model: str, corpus: Corpus) -> None:
    values = history(train(model, corpus)[0])
    assert len(values) > 5
    assert np.all(np.diff(values) >= -1e-9 * np.abs(values[:-1]))


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_is_annotated_as_a_number(model: str) -> None:
    module = importlib.import_module(MODELS[model])
    for function in (module.train, module.fold_in):
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind is parameter.KEYWORD_ONLY:
                assert parameter.annotation in (int, float), name
