"""Folding-in against the truth and its repairs: figures, tables and claims from made-up scores."""

import math
from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from made_measurements import CONSTANT, ERROR, TOKENS, TOPICS, Gap, gap, truth
from made_measurements import optimism as made_up
from matplotlib.figure import Figure
from small_study import inputs, small_study, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS as MEASURED
from heldout.papers.likelihood.claims import TRUTH
from heldout.papers.likelihood.exhibits import optimism, repair
from heldout.scores import COLUMNS
from heldout.typesetting import style


def made(*, gaps: Gap = gap, synthetic: bool = False, least: int = 5) -> Inputs:
    """Return the small study with the scores and measurements of optimism alone."""
    study = small_study()
    scores, rows = made_up(study["measures"]["optimism"]["corpora"], gaps)
    study["measures"]["optimism"]["settings"]["least_samples"] = least
    return replace(
        inputs(study, synthetic=synthetic),
        scores=pd.DataFrame([astuple(s) for s in scores], columns=list(COLUMNS)),
        measurements=pd.DataFrame([astuple(m) for m in rows], columns=list(MEASURED)),
    )


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def line(figure: Figure, panel: int, label: str) -> tuple[list[float], list[float]]:
    found = [line for line in figure.axes[panel].get_lines() if line.get_label() == label]
    assert len(found) == 1
    return list(np.asarray(found[0].get_xdata())), list(np.asarray(found[0].get_ydata()))


def test_truth_is_exact_where_it_can_be_and_sampled_with_its_error_elsewhere() -> None:
    points = optimism.curve(made(), "cranfield", "plsa-hof", "truth")
    assert [p.topics for p in points] == list(TOPICS)
    assert [p.value for p in points] == pytest.approx([truth(k) for k in TOPICS], rel=1e-12)
    assert [p.error for p in points] == pytest.approx([0.0, ERROR, ERROR], rel=1e-12)


def test_seeds_are_averaged_and_other_constants_left_aside() -> None:
    one = made()
    second = one.scores.assign(seed=1, log_likelihood=one.scores["log_likelihood"] - 2.0)
    both = replace(one, scores=pd.concat([one.scores, second]))
    points = optimism.curve(both, "cranfield", "plsa-hof", "truth")
    assert [p.value for p in points] == pytest.approx([truth(k) - 1.0 / TOKENS for k in TOPICS], rel=1e-12)
    assert points[1].error == pytest.approx(ERROR / math.sqrt(2.0), rel=1e-12)


def test_central_figure_shows_perplexities_of_both_models() -> None:
    figure = optimism.draw(made())
    assert len(figure.axes) == 4
    for panel in range(4):
        x, y = line(figure, panel, "truth, the model's prior")
        assert x == list(TOPICS)
        assert y == pytest.approx([math.exp(-truth(k)) for k in TOPICS], rel=1e-12)
        _, y = line(figure, panel, "full folding-in")
        assert y == pytest.approx([math.exp(-truth(k)) * k**-0.1 for k in TOPICS], rel=1e-12)
        _, y = line(figure, panel, "truth, fitted prior")
        assert y == pytest.approx([math.exp(-truth(k) - 0.1) for k in TOPICS], rel=1e-12)
        texts = [text.get_text() for text in figure.axes[panel].texts]
        assert texts == [rf"$\times$ {100**0.1:.1f}"]


def test_second_figure_is_full_less_truth_by_length_and_by_constant() -> None:
    figure = optimism.draw_by_length_and_constant(made())
    x, y = line(figure, 0, "Cranfield, 100 topics")
    assert x == [10, 40]
    assert y == pytest.approx([gap("full-folding-in", 100), gap("full-folding-in", 100) / 4])
    x, y = line(figure, 1, "Medline, 100 topics")
    assert x == [1e-7, CONSTANT, 1e-3]
    assert y == pytest.approx([g * gap("full-folding-in", 100) for g in (8.0, 1.0, 4.0)])


def test_repairs_are_drawn_less_the_truth() -> None:
    figure = repair.draw(made())
    for label, name in (("Laplace, softmax basis", "laplace-softmax"), ("NML penalty", "nml-penalised")):
        x, y = line(figure, 0, label)
        assert x == list(TOPICS)
        assert y == pytest.approx([gap(name, k) for k in TOPICS], abs=1e-12)
    below = [np.asarray(line.get_ydata()) for line in figure.axes[2].get_lines()]
    assert any(np.allclose(y, [-0.05, -0.0125]) for y in below if len(y) == 2)
    lowest = figure.axes[5].get_lines()
    for name in ("full-folding-in", "laplace-softmax", "nml-penalised"):
        (drawn,) = (drawn for drawn in lowest if drawn.get_color() == style.EVALUATOR_COLOURS[name])
        assert list(np.asarray(drawn.get_xdata())) == [1e-7, CONSTANT, 1e-3]
        assert list(np.asarray(drawn.get_ydata())) == pytest.approx([g * gap(name, 100) for g in (8.0, 1.0, 4.0)])
    assert figure.axes[5].get_xlabel() == "constant, 100 topics"


def test_a_corpus_of_one_constant_says_so() -> None:
    given = made()
    one = (given.scores["corpus"] == "medline") & ~given.scores["smoothing"].isin([0.0, CONSTANT])
    figure = repair.draw(replace(given, scores=given.scores[~one]))
    noted = [repair.ONE_CONSTANT in [text.get_text() for text in axis.texts] for axis in figure.axes]
    assert noted == [False] * 5 + [True]
    (drawn,) = (drawn for drawn in figure.axes[5].get_lines() if drawn.get_marker() == "o")
    assert list(np.asarray(drawn.get_xdata())) == [CONSTANT]
    assert figure.axes[5].get_xlim() == figure.axes[4].get_xlim()


def test_tables_have_a_row_per_corpus_model_and_number_of_topics() -> None:
    text = optimism.render(made())
    rows = [row for row in text.splitlines() if row.startswith(("Cranfield", "Medline"))]
    assert len(rows) == 2 * 2 * 2  # of 3, 100 and 400 topics
    assert text.count("*") == 2 * 4  # both truths at 3 topics are exact
    assert rows[0].endswith(rf"& +{gap('full-folding-in', 3):.3f}\\")
    below = optimism.render(made(gaps=lambda name, topics: -0.01 * topics if name == "full-folding-in" else 0.0))
    assert r"& \ensuremath{-}0.030\\" in below
    rows = [row for row in repair.render(made()).splitlines() if row.startswith(("Cranfield", "Medline"))]
    assert len(rows) == 2 * 2 * 2 * 2  # two priors
    assert rows[0].count("&") == 8
    assert "+0.0020" in rows[0]
    assert "-0.0500" in rows[0]


def test_without_a_measurement_it_says_what_to_do() -> None:
    without = made()
    without = replace(without, scores=without.scores.iloc[:0])
    for function in (optimism.draw, optimism.render, repair.draw, repair.render):
        with pytest.raises(InputError, match="measure the optimism"):
            function(without)
    without = replace(made(), measurements=None)
    with pytest.raises(InputError, match="no lengths"):
        repair.draw(without)


@pytest.mark.parametrize("synthetic", [True, False])
def test_synthetic_data_say_so(synthetic: bool) -> None:
    given = made(synthetic=synthetic)
    for figure in (optimism.draw(given), optimism.draw_by_length_and_constant(given), repair.draw(given)):
        marked = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert all(m == synthetic for m in marked)
    assert (style.SYNTHETIC_MARK in optimism.render(given)) == synthetic
    assert (style.SYNTHETIC_MARK in repair.render(given)) == synthetic


def verdicts(given: Inputs) -> dict[str, str]:
    return {claim.name: claim.check(given, given.settings.corpora).verdict for claim in TRUTH}


def test_claims_hold_where_they_are_made_to_hold() -> None:
    assert verdicts(made()) == {
        "sequential-meets-exact": "fails",  # 0.3 nats below
        "full-above-truth": "holds",
        "plug-in-above-truth": "holds",
        "gap-grows-with-topics": "holds",
        "full-prefers-more-topics": "fails",  # 0.1 log K does not outweigh 0.2 log(K / 20)
        "half-ranks-as-truth": "holds",
        "full-ranks-as-truth": "holds",
        "epca-full-above-truth": "not run",
        "laplace-repairs": "holds",
        "nml-repairs": "fails",
    }


def test_claims_fail_where_they_are_made_to_fail() -> None:
    def other(evaluator: str, topics: int) -> float:
        turned = {
            "left-to-right-sequential": 0.3 if topics == 3 else 0.0,
            "full-folding-in": -0.3 * math.log(topics) if topics < 100 else 2.0,
            "half-folding-in": 2.0 * abs(math.log(topics / 20.0)),
            "plug-in-posterior-mean": -0.01,
            "laplace-softmax": 0.02,
            "nml-penalised": 0.002,
        }
        return turned.get(evaluator, gap(evaluator, topics))

    found = verdicts(made(gaps=other))
    assert found["full-above-truth"] == found["plug-in-above-truth"] == found["laplace-repairs"] == "fails"
    assert found["gap-grows-with-topics"] == "fails"  # one step of two
    assert found["full-prefers-more-topics"] == found["nml-repairs"] == found["sequential-meets-exact"] == "holds"
    assert found["half-ranks-as-truth"] == "fails"


def test_repairs_are_judged_only_where_the_truth_has_sweeps_enough() -> None:
    laplace = next(claim for claim in TRUTH if claim.name == "laplace-repairs")
    for least, cells in ((5, 12), (20, 4)):  # at 3 topics the truth is exact
        given = made(least=least)
        assert laplace.check(given, given.settings.corpora).comparisons == cells


def test_the_worst_models_are_named() -> None:
    def other(evaluator: str, topics: int) -> float:
        return {3: 0.001, 20: -0.03, 100: 0.02}[topics] if evaluator == "laplace-softmax" else gap(evaluator, topics)

    laplace = next(claim for claim in TRUTH if claim.name == "laplace-repairs")
    effect = laplace.check(made(gaps=other), ["cranfield"]).effect
    assert effect == (
        "median 0.0200 nats per token, worst -0.0300 (cranfield plsa-hof K=20), -0.0300 (cranfield lda K=20),"
        " +0.0200 (cranfield plsa-hof K=100)"
    )


def test_one_document_of_epca_below_the_truth_is_enough() -> None:
    claim = next(claim for claim in TRUTH if claim.name == "epca-full-above-truth")
    given = inputs()
    assert claim.check(given, given.settings.corpora).verdict == "holds"
    table = given.measurements
    assert table is not None
    folded = table.index[(table["variant"] == "epca-marginal") & (table["quantity"] == "full-folding-in")]
    table.loc[folded[0], "value"] = -51.0
    found = claim.check(given, given.settings.corpora)
    assert (found.verdict, found.comparisons - found.agreeing, found.seeds) == ("mixed", 1, 2)


def test_claims_are_not_run_without_the_measurement() -> None:
    assert set(verdicts(inputs(without("optimism", "epca-marginal"))).values()) == {"not run"}
