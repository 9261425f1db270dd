"""The figures from made-up scores and measurements: what every curve is, and what a figure says of its data."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import made_measurements as made
import made_peers as peers
import numpy as np
import pandas as pd
import pytest
from made_measurements import CONSTANT, TOPICS, gap, measured, optimism_inputs, truth
from made_peers import peers_inputs
from small_study import with_effects
from splits import on_two_splits, with_groups
from tables_of import measurements_table

from artifact.papers.likelihood import figures, question_figures
from artifact.papers.likelihood.results import annealed_less_quadrature
from artifact.typesetting import style
from heldout.evaluators import FULL, LAPLACE, NML

approx: Any = pytest.approx  # which compares with whatever it stands in

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def data(drawn: Any) -> tuple[list[float], list[float]]:
    """Return the coordinates of a line, or of the marks of one with intervals."""
    x, y = (drawn[0] if isinstance(drawn, tuple) else drawn).get_data()
    return [*map(float, x)], [*map(float, y)]


def line(axis: Any, label: str) -> tuple[list[float], list[float]]:
    (only,) = (drawn for drawn in axis.get_lines() if drawn.get_label() == label)
    return data(only)


def texts(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.texts]


def test_folding_in_is_drawn_beside_the_likelihood() -> None:
    given = optimism_inputs()
    for axis in figures.optimism(given).axes:
        for label, power in (("likelihood, the model's prior", 0.0), ("full folding-in", -0.1)):
            expected = [math.exp(-truth(k)) * k**power for k in TOPICS]
            assert line(axis, label) == ([*TOPICS], approx(expected))
        assert texts(axis) == ["", f"{TIMES}{100**0.1:.1f}"]
    by_length, by_constant = figures.optimism_by(given).axes
    most = gap(FULL, 100)
    assert line(by_length, "Cranfield, 100 topics") == ([10, 40], approx([most, most / 4]))
    constants = ([1e-7, CONSTANT, 1e-3], approx([8 * most, most, 4 * most]))
    assert line(by_constant, "Medline, 100 topics") == constants
    message = figures.message(given)
    labels = ["the likelihood", "half folding-in", "full folding-in", f"{TIMES}{100**0.1:.1f}"]
    assert [texts(axis)[:4] for axis in message.axes[1:]] == [labels]  # without scores of drawn documents two panels


def test_repairs_are_drawn_less_the_truth_by_topics_length_and_constant() -> None:
    given = optimism_inputs()
    axes = figures.repair(given).axes
    for label, name in (("Laplace, softmax basis", LAPLACE), ("NML penalty", NML)):
        assert line(axes[0], label) == ([*TOPICS], approx([gap(name, k) for k in TOPICS], abs=1e-12))
        drawn = [data(d) for d in axes[5].get_lines() if d.get_color() == style.EVALUATOR_COLOURS[name]]
        heights = approx([g * gap(name, 100) for g in (8.0, 1.0, 4.0)])
        assert drawn == [([1e-7, CONSTANT, 1e-3], heights)]
    assert ([10, 40], approx([-0.05, -0.0125])) in [data(d) for d in axes[2].get_lines()]
    plain = given.scores["smoothing"].isin([0.0, CONSTANT])
    one = given.scores[plain | (given.scores["corpus"] == "cranfield")]
    axes = figures.repair(replace(given, scores=one)).axes
    assert [figures.NO_FURTHER_CONSTANTS in texts(axis) for axis in axes] == [False] * 5 + [True]
    assert axes[5].get_xlim() == axes[4].get_xlim()
    assert len(figures.repair(replace(given, scores=given.scores[plain])).axes) == 4  # and no row is empty


def test_a_panel_per_model_and_number_of_topics_holds_both_bounds_of_the_first_corpus_and_seed() -> None:
    others = made.bidirectional("nips", factor=2.0) + made.bidirectional("cranfield", seed=1, factor=3.0)
    figure = figures.bidirectional(measured(others + made.bidirectional("cranfield")))
    titles = [f"{model}, {K} topics" for model in ("PLSA-HOF", "LDA") for K in (4, 100)]
    assert [axis.get_title() for axis in figure.axes] == titles
    for axis, K in zip(figure.axes, (4, 100, 4, 100), strict=True):
        bounds = {str(drawn.get_label()): data(drawn) for drawn in axis.containers}
        for label, sign in (("upper bound", 1.0), ("lower bound", -1.0)):
            heights = approx([sign * K, sign * K / 10.0, sign * K / 100.0])
            assert bounds[label] == ([*made.TEMPERATURES], heights)
        assert f"gap at 1,000:\n{2.0 * K / 100.0:.2f} ± 0.05" in texts(axis)
        assert ("exact" in [str(drawn.get_label()) for drawn in axis.get_lines()]) == (K == 4)
    crossed = [replace(m, value=-m.value) if m.quantity == "gap" else m for m in made.bidirectional()]
    assert f"gap at 1,000:\n{style.MINUS}0.08 ± 0.05" in texts(figures.bidirectional(measured(crossed)).axes[0])


def test_components_curves_are_the_scores_and_quadrature_marks_where_it_exists() -> None:
    given = made.components_inputs(*made.epca_marginal())
    axes = figures.epca_marginal(given).axes
    assert line(axes[0], "full folding-in")[1] == approx([500.0, 250.0, 100.0])
    assert line(axes[0], "marginal likelihood, annealed")[1] == approx([700.0, 350.0, 140.0])
    assert line(axes[0], "marginal likelihood, by quadrature")[1] == approx([701.0, 350.5])
    labels = [str(text.get_text()) for text in axes[-1].get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["1 component, 6 documents", "2 components, 6 documents", "if the errors are right"]
    z = annealed_less_quadrature(given).groupby("topics")["z"].agg(["min", "max"])  # in annealing's own standard errors
    assert z.to_numpy().tolist() == [approx([2.0, 2.0]), approx([4.0, 4.0])]
    assert len(figures.epca_marginal(made.components_inputs(*made.epca_marginal(grid=(5, 20)))).axes) == 1


def test_what_no_probability_has_is_red_and_stands_above_the_rest() -> None:
    (axis,) = figures.is_a_probability(measured(made.is_a_probability())).axes
    marks = [line for line in axis.get_lines() if line.get_marker() == "o"][::-1]
    names = [label.get_text() for label in axis.get_yticklabels()][::-1]
    assert names[:2] == ["harmonic mean", "full folding-in, maximum"]
    assert len(names) == len(marks) == 8  # the library has no row
    assert [mark.get_color() for mark in marks] == [style.FLATTERING] * 4 + [style.CHARGING] * 4
    assert data(marks[0])[0] == [900.0] * 2
    assert np.isfinite([data(mark)[0] for mark in marks]).all()


def test_reported_and_true_perplexity_of_every_library_are_drawn() -> None:
    for axis in figures.peers(peers_inputs()).axes:
        for library in peers.LIBRARIES:
            for name, value in (("reported", peers.reported), ("truth", peers.truth)):
                expected = [math.exp(-value(library, k)) for k in peers.TOPICS]
                assert line(axis, f"{library}, {name}") == ([*peers.TOPICS], approx(expected))
        assert texts(axis) == [f"{TIMES}{math.exp(0.3 + 0.02 * 160):,.0f}"]
    infinite = peers.with_reported(lambda m, k: -800.0 if k == 160 else peers.reported(m, k))
    assert line(figures.peers(peers_inputs(change=infinite)).axes[0], "gensim, reported")[0] == [5, 20]


def test_the_example_is_a_likelihood_over_its_average() -> None:
    theta, ratio = figures.example_likelihood()
    assert np.trapezoid(ratio, theta) == approx(1.0, abs=1e-3)
    of_words = np.outer(theta, figures.EXAMPLE_TOPICS[0]) + np.outer(1.0 - theta, figures.EXAMPLE_TOPICS[1])
    slow = np.prod(of_words**figures.EXAMPLE_COUNTS, axis=1)
    assert np.allclose(ratio / ratio[0], slow / slow[0])
    assert 0 < int(ratio.argmax()) < len(theta) - 1  # the peak is inside, where it can be seen


def test_the_gap_is_drawn_by_topics_with_white_marks_where_no_other_estimate_validates_it() -> None:
    given = optimism_inputs()
    known = measurements_table(m for m in made.validation() if m.topics == 20)
    axes = question_figures.gap(replace(given, measurements=pd.concat([given.measurements, known]))).axes
    for axis, white in zip(axes, ([[100], [20, 100]], [[20, 100]] * 2), strict=False):  # LDA's own prior: none
        assert [data(bars)[1] for bars in axis.containers] == [approx([gap(FULL, k) for k in TOPICS])] * 2
        marks = [data(drawn)[0] for drawn in axis.get_lines() if drawn.get_markerfacecolor() == style.WHITE]
        assert marks == [approx(places, rel=0.02) for places in white]  # corpora are a little apart


def test_shares_choices_and_models_are_drawn_from_their_effects_where_there_are_any() -> None:
    given = with_effects(with_groups(on_two_splits(optimism_inputs(synthetic=True))))
    share = question_figures.prior(given).axes
    left = [1.0 - 1.0 / math.log(k) for k in TOPICS]  # 0.1 nats of 0.1 log K
    assert [data(bars)[1] for bars in share[0].containers] == [approx(left, abs=1e-3)] * 2
    assert {"Cranfield", "Medline"} <= {*texts(share[0])}
    assert [len(axis.containers) for axis in question_figures.other_priors(given).axes] == [2, 0, 0]  # one was run
    costly = {"choice-full": tuple(replace(effect, estimate=0.3) for effect in given.effects["choice-full"])}
    panels = question_figures.choice(replace(given, effects={**given.effects, **costly})).axes
    assert all(style.SYNTHETIC_MARK in texts(axis) for axis in panels)
    assert {"Cranfield", "Medline"} <= {*texts(panels[0])}
    rows = [data(bars) for bars in panels[0].containers]
    assert [round(y) for _, (y,) in rows] == [0, 0, 1, 1, 2, 2]  # three scores, of two corpora
    assert [rows[place][0][0] for place in (0, 1, 2)] == approx([0.3, 0.3, 0.0])  # the likelihood itself loses nothing
    models = question_figures.models(given).axes
    assert [data(bars)[1] for bars in models[0].containers] == [approx([0.0] * 3, abs=0.05)] * 2
    assert len(models[1].containers) == 3 * 2
    for figure in (question_figures.gap, question_figures.prior, question_figures.choice, question_figures.models):
        (axis,) = figure(replace(given, effects={})).axes
        assert "not run in this study" in texts(axis)
