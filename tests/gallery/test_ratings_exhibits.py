"""Experiments on ratings, and what is made of them."""

import functools
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import pytest
from estimated import means
from matplotlib import pyplot as plt
from small_study import corpora_table
from tables_of import measurements_table, notes_table, scores_table

from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from artifact.results.arrays import Arrays
from artifact.results.recorder import Results
from artifact.study.job import Job
from artifact.study.study import NOTHING
from artifact.typesetting import latex, style
from gallery.member import LIKELIHOOD, USUAL
from gallery.ratings import exhibits as figures_ratings
from gallery.ratings import exhibits as macros_ratings
from gallery.ratings import exhibits as tables_ratings
from gallery.ratings import science as results_ratings
from gallery.ratings.experiments import rating_curves, ratings
from gallery.ratings.science import FACTORISATION
from gallery.ratings.spec import RatingCurves, Ratings
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.evaluators import COMPLETION, FULL, HALF

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


@functools.cache
def run(seed: int) -> tuple[Results, Results]:
    """Return what both experiments give."""
    of_users = Job(corpus(), variant="ratings", test_documents=8, seed=seed)
    return ratings.experiment(of_users, SETTINGS), rating_curves.experiment(
        replace(of_users, variant="rating-curves"), CURVES
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return run(0)[0]


@functools.cache
def made() -> Inputs:
    """Return the inputs of a study of two seeds; mixture and profile are those of co-clustering by another name."""
    parts = [part for seed in (0, 1) for part in run(seed)]
    scores = [score for part in parts for score in part.scores]
    own = [s for s in scores if s.model == ratings.COCLUSTERING and s.evaluator == ratings.RATING_LIKELIHOOD]
    for name in (results_ratings.MIXTURE, results_ratings.PROFILE):
        scores += [replace(s, model=name, variant="records", evaluator=e) for s in own for e in (LIKELIHOOD, USUAL)]
    measures = {
        name: {"corpora": ["drawn"], "seeds": [0, 1], "settings": asdict(settings)}
        for name, settings in (("ratings", SETTINGS), ("rating-curves", CURVES))
    }
    asked = {
        **NOTHING,
        "study": "gallery",
        "document": "gallery",
        "corpora": {"drawn": {"test_documents": 8}},
        "measures": measures,
    }
    return Inputs(
        scores_table(scores),
        corpora_table(asked, synthetic=False),
        asked,
        measurements_table(row for part in parts for row in part.measurements),
        notes_table(note for part in parts for note in part.notes),
        Arrays.recorded({place: values for part in parts for place, values in part.arrays.items()}),
    )


def test_every_contrast_has_effects_of_both_seeds() -> None:
    for contrast in FACTORISATION:
        found = effects(contrast, made())
        assert found, contrast.name
        assert {effect.replicates for effect in found} == {2}
        assert all(np.isfinite(effect.estimate) for effect in found)


def test_effects_are_differences_of_scores() -> None:
    values = {
        (s.model, s.topics, s.seed): s.log_likelihood / s.tokens
        for seed in (0, 1)
        for s in run(seed)[0].scores
        if s.evaluator == LIKELIHOOD
    }
    gains = {
        f"K = {K}": np.mean([values[ratings.PMF_EM, K, seed] - values[ratings.PMF_POINT, K, seed] for seed in (0, 1)])
        for K in (2, 3)
    }
    assert means("pmf-points", made()) == pytest.approx(gains)
    errors = []
    for seed in (0, 1):
        last = {m.model: m.value for m in run(seed)[1].measurements if (m.axis, m.at) == ("pass", 3)}
        errors.append(last["svd"] - last["pmf1"])
    assert means("priors-error", made())["PMF1"] == pytest.approx(np.mean(errors))


def test_the_pass_is_chosen_by_other_seeds() -> None:
    """Each of two seeds takes the other's best pass, so that its own last one may well be better."""
    errors = {
        seed: {m.at: m.value for m in run(seed)[1].measurements if (m.model, m.axis) == ("svd", "pass")}
        for seed in (0, 1)
    }
    best = {seed: min(zip(own.values(), own, strict=True))[1] for seed, own in errors.items()}
    chosen = results_ratings.chosen_pass(made())
    assert dict(zip(chosen["seed"], chosen["at"], strict=True)) == {0: best[1], 1: best[0]}
    differences = [errors[seed][3] - errors[seed][best[1 - seed]] for seed in (0, 1)]
    assert means("descent-overfits", made())[""] == pytest.approx(np.mean(differences))
    shown = macros_ratings.rating_macros(made())["RatingBestPass"]
    assert shown.count("*") == len({*best.values()} & {1, 3})
    measurements = made().measurements
    assert measurements is not None
    one = replace(made(), measurements=measurements[measurements["seed"] == 0])
    assert results_ratings.chosen_pass(one).empty


def test_the_contrast_of_overfitting_can_be_negative() -> None:
    """Errors that fall with every pass but one, which the other seed chooses."""
    measurements = made().measurements
    assert measurements is not None
    table = measurements[(measurements["model"] == "svd") & (measurements["axis"] == "pass")].copy()
    table["value"] = [
        {(0, 1): 0.5, (1, 2): 0.5}.get((seed, at), 1.0 - 0.1 * at) for seed, at in table[["seed", "at"]].to_numpy()
    ]
    assert means("descent-overfits", replace(made(), measurements=table))[""] < 0.0


def test_tables_have_every_model_and_their_numbers() -> None:
    table, folding = tables_ratings.models(made()), tables_ratings.folding_in(made())
    assert all(label in table for label in results_ratings.LABELS.values())
    assert folding.count("exact EM") == folding.count("points") == 2
    rows = results_ratings.foldings(made())
    assert min(row.optimism for row in rows) > 0.0
    assert latex.signed(rows[0].optimism, 3) in folding
    assert set(macros_ratings.rating_macros(made())) == set(macros_ratings.rating_macros(nothing()))


def nothing() -> Inputs:
    """Return the inputs of a study without these experiments."""
    asked = {**made().study, "measures": {}}
    return replace(made(), scores=made().scores.iloc[:0], measurements=None, notes=None, arrays=Arrays(), study=asked)


@pytest.mark.parametrize("of", [made, nothing])
def test_figures_are_drawn(of: Callable[[], Inputs]) -> None:
    with style.applied():
        figures = (figures_ratings.figure_27_27, figures_ratings.figure_27_28, figures_ratings.figure_27_29)
        of_blocks, of_films, of_errors = (figure(of()) for figure in figures)
    drawn = of is made
    assert bool(of_blocks.axes[0].collections) == drawn
    assert (
        len(of_films.axes[0].texts)
        == len(results_ratings.films(of()))
        == (len(results_ratings.films(made())) if drawn else 0)
    )
    assert len(of_errors.axes[0].lines) == 3
    assert np.asarray(of_errors.axes[2].lines[1].get_ydata()).tolist() == [0.9046, 0.9025, 0.9009]
    plt.close("all")


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
    recorded = Arrays.recorded(found.arrays)
    means, users, films = (recorded.first(name=name) for name in ("block", "users", "films"))
    assert means.shape == (len(users), len(films))
    assert (users.sum(), films.sum()) == (30, 12)
    assert recorded.first(name=rating_curves.FACTORS).shape == (len(titles), 2)
