"""Buntine's results read back: published figures against one another, marks, and scores of known numbers of topics."""

import math
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from drawn_corpora import GRIDS, SIZES, drawn, nats
from made_measurements import EXACT, SAMPLES, Changes, calibration, convergence_to_exact
from small_study import inputs, without

from heldout.evaluators import CHIB, HARMONIC, MEAN_FIELD_BOUND, PARTICLES, SEQUENTIAL
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS
from heldout.models import LDA
from heldout.papers.buntine import results
from heldout.papers.buntine.experiments.convergence_to_exact import METHODS
from heldout.papers.buntine.results import (
    GAMMAS,
    LABELS,
    PUBLISHED,
    Errors,
    differing,
    fits,
    more_samples,
    p_value,
    selections,
    z_of_deviations,
    z_of_means,
)


def measured(changes: Changes | None = None) -> Inputs:
    rows = [astuple(row) for row in calibration(GAMMAS, changes)]
    return replace(inputs(), measurements=pd.DataFrame(rows, columns=list(COLUMNS)))


def test_the_published_rows_that_do_not_fit_together() -> None:
    misfits = {
        (gamma, LABELS[name])
        for gamma, rows in PUBLISHED.items()
        for name, printed in zip(METHODS, rows, strict=True)
        if not fits(*printed)
    }
    assert misfits == {(0.2, "MFI (2nd order)"), (0.5, "LRS"), (1.0, "LR")}


def test_a_printed_t_fits_up_to_rounding_and_no_further() -> None:
    assert fits("0.10", "0.50", "2.00")
    assert fits("0.10", "0.50", "2.12")  # 0.105 / 0.0495
    assert not fits("0.10", "0.50", "2.14")
    assert not fits("0.10", "0.50", "-2.00")


def test_equal_figures_bear_no_mark() -> None:
    errors = results.calibration(measured())
    assert differing(errors) == {}
    for (gamma, name), own in errors.items():
        if name in METHODS:
            mean, deviation = map(float, PUBLISHED[gamma][METHODS.index(name)][:2])
            assert own.mean == pytest.approx(mean)
            assert own.deviation == pytest.approx(deviation)
            assert own.bias_error * math.sqrt(own.bias_pairs) == pytest.approx(deviation)


def test_a_figure_that_differs_is_marked_and_no_other() -> None:
    changed = measured({(0.5, PARTICLES): (0.0128 + 0.05, 0.0429), (3.0, HARMONIC): (-0.044, 0.2)})
    assert set(differing(results.calibration(changed))) == {(0.5, PARTICLES, "mean"), (3.0, HARMONIC, "s.d.")}


@pytest.mark.parametrize("heavy", [False, True])
def test_both_tests_are_about_as_often_beyond_their_limit_as_they_say(heavy: bool) -> None:
    # with Student's t on 9 degrees of freedom (excess kurtosis 1.2) as well; 4,000 tables: 5 % is 200 +- 14
    rng = np.random.default_rng(1)
    draws = rng.standard_t(9, (4000, 200)) if heavy else rng.standard_normal((4000, 200))
    means = deviations = 0
    for row in draws:
        ours, theirs = row[:100], row[100:]
        own = Errors(ours, 0.0, 1.0, 1000)
        means += p_value(z_of_means(own, float(theirs.mean()), float(theirs.std(ddof=1)))) < 0.05
        deviations += p_value(z_of_deviations(own, float(theirs.std(ddof=1)))) < 0.05
    assert 140 < means < 261  # 4.4 standard errors: 1e-5
    assert 100 < deviations < 300  # the kurtosis is estimated: between 2.5 % and 7.5 %


@pytest.mark.parametrize("topics", [4, 5])
def test_code_lengths_and_their_errors(topics: int) -> None:
    rows = [astuple(row) for row in convergence_to_exact((4, 5))]
    given = replace(inputs(), measurements=pd.DataFrame(rows, columns=list(COLUMNS)))
    (pair,) = [pair for pair in results.convergence(given) if pair.topics == topics]
    tokens, exact = EXACT[topics]
    bits = tokens * math.log(2.0)
    assert (pair.tokens, pair.exact) == (tokens, pytest.approx(-exact / bits))
    assert tuple(pair.estimates) == METHODS
    off = 0.4 / np.sqrt(SAMPLES)
    np.testing.assert_allclose(pair.estimates[SEQUENTIAL]["0"], -(exact + off) / bits)
    # the second run is off twice as far
    np.testing.assert_allclose(pair.rms(SEQUENTIAL), np.sqrt((off**2 + 4.0 * off**2) / 2.0) / bits)


def test_nothing_is_read_where_nothing_was_measured() -> None:
    for given in (inputs(without("calibration", "convergence-to-exact")), replace(inputs(), measurements=None)):
        assert results.calibration(given) == {}
        assert results.convergence(given) == []
    assert more_samples(replace(inputs(), measurements=None)) is None


def test_scores_are_read_by_corpus_evaluator_and_size() -> None:
    read = selections(drawn(seeds=(0, 2)))
    assert list(read) == ["s10", "s10s", "s40"]
    s40 = read["s40"]
    assert (s40.true_topics, s40.sizes, s40.topics, s40.seeds) == (40, SIZES, GRIDS["s40"], (0, 2))
    scored = s40.scored(PARTICLES, 400)[60, 2]
    assert scored.log_likelihood == pytest.approx(nats("s40", PARTICLES, 60, 400, 2))
    assert scored.standard_error == pytest.approx(1e-4)
    expected = np.mean([math.exp(-nats("s40", PARTICLES, 60, 400, seed)) for seed in (0, 2)])
    assert s40.perplexity(PARTICLES, 400, 60) == pytest.approx(expected)
    assert s40.true_perplexity(MEAN_FIELD_BOUND) == pytest.approx(math.exp(5.92))
    assert math.isnan(s40.perplexity(CHIB, 400, 60))
    assert math.isnan(s40.true_perplexity(CHIB))
    assert s40.selected(SEQUENTIAL, 400, 2) == 40
    assert s40.selected(CHIB, 400, 2) is None
    assert selections(inputs(without("model-selection"))) == {}


@pytest.mark.parametrize(
    ("function", "corpora"), [(realistic_curves.figure_3, ("s10", "s10s")), (realistic_curves.figure_4, ("s40",))]
)
def test_a_row_per_corpus_a_panel_per_estimator_a_line_per_k(
    function: Callable[[Inputs], Figure], corpora: tuple[str, ...]
) -> None:
    figure = made(function, drawn())
    assert len(figure.axes) == 3 * len(corpora)
    for i, axis in enumerate(figure.axes):
        corpus, evaluator = corpora[i // 3], ESTIMATORS[i % 3]
        *lines, truth = axis.lines
        assert len(lines) == 3
        for line, topics in zip(lines, GRIDS[corpus], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), SIZES)
            expected = [math.exp(-nats(corpus, evaluator, topics, size, 0)) for size in SIZES]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), expected)
        widths = [line.get_linewidth() for line in lines]
        assert widths.index(max(widths)) == 1  # the true K
        assert len({str(line.get_color()) for line in lines}) == 3
        expected_truth = math.exp(5.9 + (0.001 if evaluator == "left-to-right" else 0.0))
        np.testing.assert_allclose(np.asarray(truth.get_ydata()), expected_truth)
    legends = [axis.get_legend() for axis in figure.axes]
    texts = [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]
    assert texts == [f"$K = {k}$" + (" (true)" if i == 1 else "") for i, k in enumerate(GRIDS[corpora[0]])] + [
        "true model"
    ]


def test_perplexity_against_topics_on_the_cut_vocabulary() -> None:
    figure = made(realistic_curves.figure_5, drawn())
    assert [axis.get_title() for axis in figure.axes] == [f"{size:,} documents" for size in SIZES]
    for axis, size in zip(figure.axes, SIZES, strict=True):
        mark, *lines = axis.lines
        np.testing.assert_array_equal(np.asarray(mark.get_xdata()), [1, 1])  # the second of the numbers of topics
        assert [text.get_text() for text in axis.get_xticklabels()] == [str(k) for k in GRIDS["s10s"]]
        for line, evaluator in zip(lines, ESTIMATORS, strict=True):
            expected = [math.exp(-nats("s10s", evaluator, k, size, 0)) for k in GRIDS["s10s"]]
            np.testing.assert_allclose(np.asarray(line.get_ydata()), expected)


def test_selected_numbers_and_errors_of_the_true_model() -> None:
    figure = made(model_selection.draw, drawn())
    cells, errors = figure.axes
    evaluators = [text.get_text() for text in cells.get_yticklabels()]
    assert evaluators[0] == "left-to-right sequential"
    assert evaluators[-2:] == ["full folding-in", "half folding-in"]
    shown: dict[int, list[str]] = {}
    for text in cells.texts[:]:
        if text.get_text().isdigit():
            shown.setdefault(round(text.get_position()[1]), []).append(text.get_text())
    assert shown[0] == ["10"] * 6 + ["40"] * 3
    full = shown[evaluators.index("full folding-in")]
    for corpus, own in zip(("s10", "s10s", "s40"), (full[:3], full[3:6], full[6:]), strict=True):
        best = [max(GRIDS[corpus], key=lambda k: nats(corpus, "full-folding-in", k, size, 0)) for size in SIZES]
        assert own == [str(k) for k in best]
    right = [patch for patch in cells.patches if same_color(patch.get_facecolor(), model_selection.RIGHT)]
    assert len(right) == sum(text.get_color() == "white" for text in cells.texts) >= 9
    points = np.concatenate([np.asarray(container[0].get_xdata()) for container in errors.containers])
    assert len(points) == 3 * (len(evaluators) - 1)  # without the one of another target
    assert points.min() == pytest.approx(-0.02)
    assert "(another target)" in [text.get_text() for text in errors.texts]


@pytest.mark.parametrize("synthetic", [True, False])
def test_models_of_made_up_documents_say_so(synthetic: bool) -> None:
    given = drawn(synthetic=synthetic)
    for function, marks in ((realistic_curves.figure_4, 3), (realistic_curves.figure_5, 3), (model_selection.draw, 2)):
        texts = [text.get_text() for axis in made(function, given).axes for text in axis.texts]
        assert texts.count(style.SYNTHETIC_MARK) == (marks if synthetic else 0)


def test_without_scores_there_is_no_figure() -> None:
    for function in (realistic_curves.figure_3, realistic_curves.figure_5, model_selection.draw):
        with pytest.raises(InputError, match="measure model-selection first"):
            function(inputs(without("model-selection")))
    with pytest.raises(InputError, match="figure-realistic-40"):
        realistic_curves.figure_4(drawn(corpora=("s10",)))


def test_seeds_vote_and_the_smallest_wins_a_draw() -> None:
    given = drawn(corpora=("s10",), seeds=(0, 1))
    scores = given.scores.copy()
    first = (scores["seed"] == 1) & (scores["topics"] == 5) & (scores["model"] == LDA)
    scores.loc[first, "log_likelihood"] += 1e6
    selection = selections(replace(given, scores=scores))["s10"]
    assert selection.voted(SEQUENTIAL, 100) == 5
    assert selection.voted(CHIB, 100) is None


def test_many_samples_stand_beside_few_on_the_same_documents() -> None:
    documents = more_samples(drawn(gap=0.2, seeds=(0, 4)))
    assert documents is not None
    assert len(documents) == 3 * 2 * 3  # corpora, seeds, documents
    assert set(documents["samples"]) == {200}
    np.testing.assert_allclose(documents["gap"], 0.2)
    np.testing.assert_allclose(documents["variance"], 2 * 0.1**2)
