"""Figures 3, 4 and 5 of Buntine (2009) show the scores that they should."""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from drawn_corpora import GRIDS, SIZES, drawn, nats
from heldout.papers.buntine.exhibits import model_selection, realistic_curves
from heldout.papers.buntine.exhibits.realistic_curves import ESTIMATORS, selections
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from small_study import inputs, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.typesetting import style


def made(function: Callable[[Inputs], Figure], given: Inputs) -> Figure:
    with style.applied():
        figure = function(given)
        figure.draw_without_rendering()
    return figure


def test_scores_are_read_by_corpus_evaluator_and_size() -> None:
    found = selections(drawn(seeds=(0, 2)))
    assert list(found) == ["s10", "s10s", "s40"]
    s40 = found["s40"]
    assert (s40.true_topics, s40.sizes, s40.topics, s40.seeds) == (40, SIZES, GRIDS["s40"], (0, 2))
    scored = s40.models["left-to-right", 400][60, 2]
    assert scored.log_likelihood == pytest.approx(nats("s40", "left-to-right", 60, 400, 2))
    assert scored.standard_error == pytest.approx(1e-4)
    expected = np.mean([math.exp(-nats("s40", "left-to-right", 60, 400, seed)) for seed in (0, 2)])
    assert s40.perplexity("left-to-right", 400, 60) == pytest.approx(expected)
    assert s40.true_perplexity("mean-field-bound") == pytest.approx(math.exp(5.92))
    assert math.isnan(s40.perplexity("chib", 400, 60))
    assert math.isnan(s40.true_perplexity("chib"))
    assert s40.selected("left-to-right-sequential", 400, 2) == 40
    assert s40.selected("chib", 400, 2) is None
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
    first = (scores["seed"] == 1) & (scores["topics"] == 5) & (scores["model"] == "lda")
    scores.loc[first, "log_likelihood"] += 1e6
    given = Inputs(scores=pd.DataFrame(scores), corpora=given.corpora, study=given.study)
    selection = selections(given)["s10"]
    assert model_selection.chosen(selection, ESTIMATORS[0], 100) == 5
    assert model_selection.chosen(selection, "chib", 100) is None
