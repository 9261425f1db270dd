"""The family's courses on a small corpus: what lies below what, and at which iterations."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from made_jobs import run

from artifact.papers.welling.experiments.point_posteriors import experiment, root_frequencies
from artifact.papers.welling.settings import PointPosteriors
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.models.ica import ICA
from heldout.models.nmf import NMF
from heldout.seeds import generator

SETTINGS: dict[str, Any] = {
    "seed": 2,
    "test_documents": 10,
    "components": 3,
    "coordinates": 4,
    "floor": 1e-2,
    "noise": 0.1,
    "iterations": 12,
    "ica_iterations": 40,
}


def tiny_corpus(documents: int = 60, words: int = 20) -> Corpus:
    random = np.random.default_rng(5)
    phi = random.dirichlet(np.full(words, 0.3), 4)
    streams = [random.choice(words, size=15, p=phi[d % 4]) for d in range(documents)]
    offsets = 15 * np.arange(documents + 1, dtype=np.int64)
    tokens = np.concatenate(streams).astype(np.int32)
    names = tuple(f"d{d}" for d in range(documents))
    return Corpus("tiny", tuple(f"w{w}" for w in range(words)), tokens, offsets, names)


@pytest.fixture(scope="module")
def courses() -> dict[tuple[str, str, str], list[float]]:
    found: dict[tuple[str, str, str], dict[int, float]] = defaultdict(dict)
    scores, rows = run(experiment, PointPosteriors, tiny_corpus(), **SETTINGS)
    assert scores == []
    for row in rows:
        assert (row.corpus, row.axis, row.chain, row.seed, row.smoothing) == ("tiny", "iteration", "none", 2, 0.0)
        assert row.topics == (4 if row.model == "pca" else 3)
        found[row.model, row.variant, row.quantity][row.at] = row.value
    assert sum(map(len, found.values())) == len(rows)  # nothing twice
    for course in found.values():
        assert sorted(course) == list(range(len(course)))
    return {key: [course[i] for i in range(len(course))] for key, course in found.items()}


def test_every_model_is_there(courses: dict[tuple[str, str, str], list[float]]) -> None:
    discrete = [
        (m, "point-posterior", q)
        for m in ("gaussian-mixture", "k-means", "hmm")
        for q in ("objective", "log-likelihood")
    ]
    exact = [(m, "exact-em", "log-likelihood") for m in ("gaussian-mixture", "hmm")]
    ica = [("ica", v, q) for v in ("unit-columns", "free-columns") for q in ("objective", "latent-norm")]
    others = [(m, "point-posterior", "objective") for m in ("pca", "nmf")]
    assert set(courses) == {*discrete, *exact, *ica, *others, ("ica", "free-columns", "supremum")}


def test_no_objective_falls_and_discrete_ones_stay_below_the_likelihood(
    courses: dict[tuple[str, str, str], list[float]],
) -> None:
    for (model, variant, quantity), values in courses.items():
        if quantity == "objective" or variant == "exact-em":
            assert np.all(np.diff(values) >= -1e-9 * np.abs(values[:-1])), (model, variant)
    for model in ("gaussian-mixture", "k-means", "hmm"):
        objective = np.array(courses[model, "point-posterior", "objective"])
        assert np.all(objective < np.array(courses[model, "point-posterior", "log-likelihood"]))
    for model in ("gaussian-mixture", "hmm"):  # both trainings start from the same parameters
        point, exact = courses[model, "point-posterior", "log-likelihood"], courses[model, "exact-em", "log-likelihood"]
        assert point[0] == exact[0]


def test_ica_collapses_without_unit_columns_only(courses: dict[tuple[str, str, str], list[float]]) -> None:
    free, unit = (courses["ica", variant, "latent-norm"] for variant in ("free-columns", "unit-columns"))
    assert free[-1] < 0.5 * free[0] < unit[-1]
    (supremum,) = courses["ica", "free-columns", "supremum"]
    assert courses["ica", "unit-columns", "objective"][-1] < courses["ica", "free-columns", "objective"][-1] < supremum


def test_values_are_those_of_the_models(courses: dict[tuple[str, str, str], list[float]]) -> None:
    training, _ = train_test_split(tiny_corpus(), 10, 2)
    random = generator("point-posteriors", corpus="tiny", model="nmf", seed=2)
    nmf = NMF(3, iterations=12, random_state=random).fit(training.counts())
    np.testing.assert_array_equal(courses["nmf", "point-posterior", "objective"], nmf.objective_)
    # PCA and then ICA on whitened coordinates: the supremum is that of four coordinates of variance 1
    points = root_frequencies(training)
    np.testing.assert_allclose(np.sum(points**2, axis=1), 1.0, rtol=1e-12)
    axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[0][:, :4]
    whitened = axes * np.sqrt(len(axes))
    assert courses["ica", "free-columns", "supremum"][0] == pytest.approx(
        ICA(3, noise=0.1).supremum(whitened), rel=1e-2
    )


def test_what_is_refused() -> None:
    corpus = tiny_corpus()
    with pytest.raises(InputError, match="fewer than 30 dimensions"):
        run(experiment, PointPosteriors, corpus, **{**SETTINGS, "coordinates": 30})
    streams = [corpus.document(d) for d in range(60)]
    streams[7] = streams[7][:0]
    with pytest.raises(InputError, match="document d7 is empty"):
        run(
            experiment,
            PointPosteriors,
            corpus.with_streams(streams, corpus.documents),
            **{**SETTINGS, "test_documents": 1},
        )
