"""Experiments on ratings, and what is made of them."""

import numpy as np
import pytest

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.evaluators import COMPLETION, FULL, HALF
from heldout.job import Job
from heldout.papers.murphy.experiments import rating_curves, ratings
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.settings_ratings import RatingCurves, Ratings
from heldout.recorder import Results

SETTINGS = Ratings(
    topics=(2,), factors=(2, 3), iterations=5, restarts=1, epochs=2, batch=10, rate=0.1, decay=1e-3, samples=20
)
CURVES = RatingCurves(topics=2, factors=(2,), clusters=2, share=0.2, passes=3, rate=0.01, shown=2)


def corpus() -> Corpus:
    """Return ratings of 12 films by 30 users, with titles and genres."""
    random = np.random.default_rng(0)
    values = np.clip(np.round(2.0 + random.normal(size=(30, 2)) @ random.normal(size=(2, 12))), 0, 4).astype(np.int64)
    values[random.random(values.shape) < 0.3] = -1
    films = tuple(f"film-{number}" for number in range(12))
    drawn = from_responses("drawn", values, films, tuple("12345"), tuple(map(str, range(30))))
    drawn.provenance.update(titles=[f"Title {n}" for n in range(12)], genres=[["Drama"], ["War", "Drama"]] * 6)
    return drawn


@pytest.fixture(scope="module")
def results() -> Results:
    return ratings.experiment(Job(corpus(), variant="ratings", test_documents=8), SETTINGS)


def test_every_model_is_scored_on_the_same_users(results: Results) -> None:
    scored = {(score.model, score.topics, score.evaluator) for score in results.scores}
    gaussian = {LIKELIHOOD, FULL, HALF, COMPLETION}
    for model in (ratings.PMF_POINT, ratings.PMF_EM):
        assert {e for m, K, e in scored if (m, K) == (model, 3)} == gaussian
        assert {e for m, K, e in scored if (m, K) == (model, 2)} == {*gaussian, ratings.RATING_LIKELIHOOD}
    assert {e for m, _, e in scored if m == ratings.CD} == {USUAL, ratings.RATING_LIKELIHOOD}
    assert {e for m, _, e in scored if m == ratings.COCLUSTERING} == {LIKELIHOOD, USUAL, ratings.RATING_LIKELIHOOD}
    assert {m for m, _, e in scored if e == ratings.RATING_LIKELIHOOD} >= {
        ratings.COMBINED,
        ratings.OFFSETS,
        ratings.ROOT,
    }
    assert len({score.tokens for score in results.scores}) == 1


def test_two_models_combined_have_the_mean_of_their_probabilities(results: Results) -> None:
    values = {
        s.model: s.log_likelihood for s in results.scores if s.evaluator == ratings.RATING_LIKELIHOOD and s.topics == 2
    }
    one, other, both = values[ratings.CD], values[ratings.PMF_POINT], values[ratings.COMBINED]
    assert max(one, other) - 8 * np.log(2.0) <= both
    errors = {m.model: m.value for m in results.measurements if m.quantity == ratings.RMSE and m.topics == 2}
    assert errors[ratings.COMBINED] < max(errors[ratings.CD], errors[ratings.PMF_POINT])


def test_curves_have_a_point_for_every_pass_and_titles() -> None:
    found = rating_curves.experiment(Job(corpus(), variant="rating-curves"), CURVES)
    at = {(m.model, m.at) for m in found.measurements if m.axis == rating_curves.PASS}
    assert {place for model, place in at if model == rating_curves.PMF1} == {1, 2, 3}
    assert {place for model, place in at if model == rating_curves.EM_LEARNED} == {0, 1, 2, 3}
    parameters = {m.model: m.at for m in found.measurements if m.axis == rating_curves.PARAMETERS}
    assert parameters[rating_curves.POINT] == 42 * 3
    assert parameters[rating_curves.POINT_PLAIN] == 42 * 2
    titles = [note for note in found.notes if note.quantity == rating_curves.TITLE]
    assert {note.text for note in titles} <= {f"Title {n}" for n in range(12)}
    assert {note.text for note in found.notes if note.quantity == rating_curves.GENRE} <= {"Drama", "War"}
    sizes = [m.value for m in found.measurements if m.quantity == rating_curves.FILMS]
    assert sum(sizes) == 12
