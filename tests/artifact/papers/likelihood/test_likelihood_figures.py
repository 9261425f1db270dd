"""The figures from made-up scores and measurements: what every curve is, and what a figure says of its data."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from made_measurements import (
    CONSTANT,
    TEMPERATURES,
    TOPICS,
    bidirectional,
    components_inputs,
    epca_marginal,
    gap,
    is_a_probability,
    measured,
    optimism_inputs,
    precision,
    truth,
)
from made_peers import LIBRARIES, peers_inputs, reported, with_reported
from made_peers import TOPICS as PEERS_TOPICS
from made_peers import truth as peers_truth
from matplotlib.figure import Figure
from small_study import inputs, without

from artifact.papers.likelihood import figures
from artifact.papers.likelihood.experiments.optimism import NML
from artifact.papers.likelihood.results import PANEL, cheapest, precisions
from artifact.typesetting import style
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, FULL, LAPLACE


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def line(figure: Figure, panel: int, label: str) -> tuple[list[float], list[float]]:
    (only,) = (line for line in figure.axes[panel].get_lines() if line.get_label() == label)
    return list(np.asarray(only.get_xdata())), list(np.asarray(only.get_ydata()))


def marked(figure: Figure) -> list[bool]:
    """Return by panel whether it says that its data are synthetic."""
    return [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]


@pytest.mark.parametrize("synthetic", [True, False])
def test_synthetic_data_say_so(synthetic: bool) -> None:
    given = optimism_inputs(synthetic=synthetic)
    for figure, panels in (
        (figures.optimism(given), 4),
        (figures.optimism_by(given), 2),
        (figures.repair(given), 6),
        (figures.bidirectional(measured(bidirectional(), synthetic=synthetic)), 4),
        (figures.epca_marginal(components_inputs(*epca_marginal(), synthetic=synthetic)), 2),
        (figures.precision(measured(precision(), synthetic=synthetic)), 4),
        (figures.is_a_probability(measured(is_a_probability(), synthetic=synthetic)), 1),
        (figures.peers(peers_inputs(synthetic=synthetic)), 2),
    ):
        assert marked(figure) == [synthetic] * panels


def test_optimism_shows_perplexities_of_both_models() -> None:
    figure = figures.optimism(optimism_inputs())
    assert len(figure.axes) == 4
    for panel in range(4):
        x, y = line(figure, panel, "likelihood, the model's prior")
        assert x == list(TOPICS)
        assert y == pytest.approx([math.exp(-truth(k)) for k in TOPICS], rel=1e-12)
        _, y = line(figure, panel, "full folding-in")
        assert y == pytest.approx([math.exp(-truth(k)) * k**-0.1 for k in TOPICS], rel=1e-12)
        _, y = line(figure, panel, "likelihood, fitted prior")
        assert y == pytest.approx([math.exp(-truth(k) - 0.1) for k in TOPICS], rel=1e-12)
        span, factor = figure.axes[panel].texts
        assert (span.get_text(), factor.get_text()) == ("", f"\N{MULTIPLICATION SIGN}{100**0.1:.1f}")


def test_optimism_is_full_less_truth_by_length_and_by_constant() -> None:
    figure = figures.optimism_by(optimism_inputs())
    x, y = line(figure, 0, "Cranfield, 100 topics")
    assert x == [10, 40]
    assert y == pytest.approx([gap(FULL, 100), gap(FULL, 100) / 4])
    x, y = line(figure, 1, "Medline, 100 topics")
    assert x == [1e-7, CONSTANT, 1e-3]
    assert y == pytest.approx([g * gap(FULL, 100) for g in (8.0, 1.0, 4.0)])


def test_repairs_are_drawn_less_the_truth() -> None:
    figure = figures.repair(optimism_inputs())
    for label, name in (("Laplace, softmax basis", LAPLACE), ("NML penalty", NML)):
        x, y = line(figure, 0, label)
        assert x == list(TOPICS)
        assert y == pytest.approx([gap(name, k) for k in TOPICS], abs=1e-12)
    below = [np.asarray(line.get_ydata()) for line in figure.axes[2].get_lines()]
    assert any(np.allclose(y, [-0.05, -0.0125]) for y in below if len(y) == 2)
    lowest = figure.axes[5].get_lines()
    for name in (FULL, LAPLACE, NML):
        (drawn,) = (drawn for drawn in lowest if drawn.get_color() == style.EVALUATOR_COLOURS[name])
        assert list(np.asarray(drawn.get_xdata())) == [1e-7, CONSTANT, 1e-3]
        assert list(np.asarray(drawn.get_ydata())) == pytest.approx([g * gap(name, 100) for g in (8.0, 1.0, 4.0)])
    assert figure.axes[5].get_xlabel() == "constant, 100 topics"


def test_a_corpus_of_one_constant_says_so() -> None:
    given = optimism_inputs()
    one = (given.scores["corpus"] == "medline") & ~given.scores["smoothing"].isin([0.0, CONSTANT])
    figure = figures.repair(replace(given, scores=given.scores[~one]))
    noted = [figures.NO_FURTHER_CONSTANTS in [text.get_text() for text in axis.texts] for axis in figure.axes]
    assert noted == [False] * 5 + [True]
    (drawn,) = (drawn for drawn in figure.axes[5].get_lines() if drawn.get_marker() == "o")
    assert list(np.asarray(drawn.get_xdata())) == [CONSTANT]
    assert figure.axes[5].get_xlim() == figure.axes[4].get_xlim()
    plain = given.scores["smoothing"].isin([0.0, CONSTANT])
    assert len(figures.repair(replace(given, scores=given.scores[plain])).axes) == 4  # and no row is empty


def test_without_optimism_it_says_what_to_do() -> None:
    given = optimism_inputs()
    bare = replace(given, study={**given.study, "measures": {}})
    for unmeasured in (replace(given, scores=given.scores.iloc[:0]), bare):
        for function in (figures.optimism, figures.optimism_by, figures.repair):
            with pytest.raises(InputError, match="measure the optimism"):
                function(unmeasured)
    with pytest.raises(InputError, match="no lengths"):
        figures.repair(replace(given, measurements=None))


def test_a_panel_per_model_and_number_of_topics_holds_both_bounds() -> None:
    figure = figures.bidirectional(measured(bidirectional()))
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["PLSA-HOF, 4 topics", "PLSA-HOF, 100 topics", "LDA, 4 topics", "LDA, 100 topics"]
    for axis, K in zip(figure.axes, (4, 100, 4, 100), strict=True):
        bounds = {str(c.get_label()): c for c in axis.containers}
        for label, sign in (("upper bound", 1.0), ("lower bound", -1.0)):
            drawn = bounds[label][0]
            np.testing.assert_allclose(np.asarray(drawn.get_xdata(), dtype=float), TEMPERATURES)
            heights = [sign * K, sign * K / 10.0, sign * K / 100.0]
            np.testing.assert_allclose(np.asarray(drawn.get_ydata(), dtype=float), heights)
        assert f"gap at 1,000:\n{2.0 * K / 100.0:.2f} ± 0.05" in [text.get_text() for text in axis.texts]
        assert ("exact" in [str(line.get_label()) for line in axis.get_lines()]) == (K == 4)
        assert [label.get_text() for label in axis.get_xticklabels()] == ["10", "", "1,000"]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert sorted(labels) == ["exact", "left-to-right sequential, 50 samples", "lower bound", "upper bound"]


def test_a_negative_gap_has_a_minus() -> None:
    crossed = [replace(m, value=-m.value) if m.quantity == "gap" else m for m in bidirectional()]
    texts = [text.get_text() for text in figures.bidirectional(measured(crossed)).axes[0].texts]
    assert f"gap at 1,000:\n{style.MINUS}0.08 ± 0.05" in texts


def test_bounds_that_were_not_measured_are_refused() -> None:
    for unmeasured in (inputs(without("bidirectional")), replace(inputs(), measurements=None)):
        with pytest.raises(InputError, match="no bounds on simulated documents"):
            figures.bidirectional(unmeasured)


def test_components_curves_are_the_scores_and_quadrature_marks_where_it_exists() -> None:
    figure = figures.epca_marginal(components_inputs(*epca_marginal()))
    labels = [str(drawn.get_label()) for drawn in figure.axes[0].get_lines()]
    assert sorted(labels) == [
        "full folding-in",
        "half folding-in",
        "marginal likelihood, annealed",
        "marginal likelihood, by quadrature",
    ]
    np.testing.assert_allclose(line(figure, 0, "full folding-in")[1], [500.0, 250.0, 100.0])
    np.testing.assert_allclose(line(figure, 0, "marginal likelihood, by quadrature")[1], [701.0, 350.5])
    labels = [str(text.get_text()) for text in figure.axes[-1].get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["1 component, 6 documents", "2 components, 6 documents", "if the errors are right"]


def test_without_quadrature_there_is_one_panel_and_without_scores_none() -> None:
    scores, measurements = epca_marginal(grid=(5, 20))
    assert len(figures.epca_marginal(components_inputs(scores, measurements)).axes) == 1
    with pytest.raises(InputError, match="no marginal likelihood of components among the scores"):
        figures.epca_marginal(components_inputs([], measurements))


def test_the_star_is_at_the_cheapest_estimator() -> None:
    given = measured(precision())
    panels = precisions(given).groupby(PANEL, sort=False)
    for axis, (_, panel) in zip(figures.precision(given).axes, panels, strict=True):
        (star,) = [line for line in axis.get_lines() if line.get_marker() == "*"]
        (best,) = cheapest(panel).to_dict("records")
        np.testing.assert_allclose(np.asarray(star.get_xdata(), dtype=float), [best["terms"]])
        assert axis.get_title().partition(",\n")[0].splitlines()[-1] == ESTIMATORS[best["estimator"]].label
    for axis in figures.precision(measured(precision(known=2.0))).axes:
        assert not [line for line in axis.get_lines() if line.get_marker() == "*"]


def test_one_size_and_prior_make_one_panel() -> None:
    one = [m for m in precision() if m.topics == 4 and m.variant == "alpha-0.1-tokens-10"]
    assert len(figures.precision(measured(one)).axes) == 1


def test_what_no_probability_has_lies_right_of_the_line_and_above_the_rest() -> None:
    given = measured(is_a_probability())
    axis = figures.is_a_probability(given).axes[0]
    labels = [label.get_text() for label in axis.get_yticklabels()][::-1]
    assert labels[:2] == ["harmonic mean", "full folding-in, maximum"]
    assert labels[-2:] == ["tomotopy infer", "mean-field bound"]
    bold = [label.get_fontweight() == "bold" for label in axis.get_yticklabels()][::-1]
    assert bold == [True] * 4 + [False] * 5
    marks = [np.asarray(mark.get_xdata())[0] for mark in axis.get_lines() if mark.get_marker() not in (None, "None")]
    assert sorted(marks)[-4:] == [700.0, 700.0, 900.0, 900.0]
    assert np.isfinite(marks).all()
    with pytest.raises(InputError, match="measure it"):
        figures.is_a_probability(replace(given, measurements=None))


def test_precision_that_was_not_measured_is_refused() -> None:
    for unmeasured in (measured([]), replace(inputs(), measurements=None)):
        with pytest.raises(InputError, match="no precision was measured"):
            figures.precision(unmeasured)


def test_reported_and_true_perplexity_of_every_library_are_drawn() -> None:
    figure = figures.peers(peers_inputs())
    assert [axis.get_title() for axis in figure.axes] == ["Cranfield", "Medline"]
    for panel in range(2):
        for library in LIBRARIES:
            for name, value in (("reported", reported), ("truth", peers_truth)):
                x, y = line(figure, panel, f"{library}, {name}")
                assert x == list(PEERS_TOPICS)
                assert y == pytest.approx([math.exp(-value(library, k)) for k in PEERS_TOPICS], rel=1e-12)
        (label,) = figure.axes[panel].texts
        assert label.get_text() == f"\N{MULTIPLICATION SIGN}{math.exp(0.3 + 0.02 * 160):,.0f}"
    colours = {entry.get_color() for entry in figure.axes[0].get_lines()}
    assert len(colours) == len(LIBRARIES)


def test_an_infinite_report_is_not_drawn() -> None:
    given = peers_inputs(change=with_reported(lambda m, k: -800.0 if k == 160 else reported(m, k)))
    figure = figures.peers(given)
    assert line(figure, 0, "gensim, reported")[0] == [5, 20]
    assert line(figure, 0, "gensim, truth")[0] == list(PEERS_TOPICS)


def test_a_study_without_libraries_has_an_empty_figure() -> None:
    assert all(not axis.get_lines() for axis in figures.peers(inputs(without("peers"))).axes)


def test_the_example_is_a_likelihood_over_its_average() -> None:
    theta, ratio = figures.example_likelihood()
    assert np.trapezoid(ratio, theta) == pytest.approx(1.0, abs=1e-3)
    first, second = figures.EXAMPLE_TOPICS
    words = [word for word, count in enumerate(figures.EXAMPLE_COUNTS) for _ in range(count)]
    slow = [math.prod(at * first[w] + (1.0 - at) * second[w] for w in words) for at in theta]
    assert np.allclose(ratio / ratio[0], np.array(slow) / slow[0])
    assert ratio.max() > 2.0
    assert 0 < int(ratio.argmax()) < len(theta) - 1  # the peak is inside, where it can be seen


def test_the_message_labels_its_lines_and_leaves_out_what_was_not_held() -> None:
    drawn = figures.message(optimism_inputs())
    labels = [text.get_text() for text in drawn.axes[1].texts]
    assert {"the likelihood", "half folding-in", "full folding-in"} <= set(labels)
    assert any(label.startswith("\N{MULTIPLICATION SIGN}") for label in labels)
    assert len(drawn.axes) == 2
