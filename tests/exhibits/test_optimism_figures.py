"""Folding-in against the truth and its repairs: figures, tables and claims from made-up scores."""

import math
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from small_study import inputs, small_study

from dlvm.claims.truth import TRUTH
from dlvm.errors import InputError
from dlvm.exhibits import Inputs, optimism, repair, style
from dlvm.measurements import COLUMNS as MEASURED
from dlvm.measurements import Measurement
from dlvm.scores import COLUMNS, Score, perplexity

TOKENS = 100
TOPICS = (3, 20, 100)
ERROR = 1e-3  # of the truth by sampling, nats per token
CONSTANT = 1e-5

Gap = Callable[[str, int], float]


def truth(topics: int) -> float:
    """Best at 20 topics."""
    return -6.0 - 0.2 * abs(math.log(topics / 20.0))


def gap(evaluator: str, topics: int) -> float:
    """Return estimate less truth, nats per token."""
    return {
        "full-folding-in": 0.1 * math.log(topics),
        "half-folding-in": 0.01,
        "plug-in-posterior-mean": 0.02 * math.log(topics),
        "mean-field-bound": -0.03 * math.log(topics),
        "laplace-softmax": 0.002,
        "laplace-density": -0.004 * topics,
        "laplace-one-step": -0.01,
        "nml-penalised": -0.05,
    }.get(evaluator, 0.0)


def score(place: tuple[str, str, str], topics: int, smoothing: float, evaluator: str, value: float) -> Score:
    sampled = evaluator == "left-to-right-sequential"
    chain, error = "0" if place[1] == "lda" else "none", ERROR * TOKENS if sampled else 0.0
    total = value * TOKENS
    key = (*place, topics, smoothing, chain, evaluator, 20 if sampled else 0, 0)
    return Score(*key, 4, TOKENS, 0, 0, total, perplexity(total, TOKENS), error)


def made(*, gaps: Gap = gap, synthetic: bool = False, corpora: tuple[str, ...] = ("cranfield", "medline")) -> Inputs:
    """Return a study whose truth is exact at 3 topics and sampled above, with a fitted prior 0.1 nats better."""
    evaluators: tuple[str, ...] = ("full-folding-in", "half-folding-in", "plug-in-posterior-mean", "mean-field-bound")
    evaluators += ("laplace-softmax", "laplace-density", "laplace-one-step", "nml-penalised")
    scores, rows = [], []
    for corpus in corpora:
        for model, constant in (("plsa-hof", CONSTANT), ("lda", 0.0)):
            for k in TOPICS:
                names = ("left-to-right-sequential", *(("exact-marginal",) if k == 3 else ()), *evaluators)
                for variant, better in (("optimism", 0.0), ("optimism-fitted-prior", 0.1)):
                    for name in names if not better else (*names[:-8], "laplace-softmax"):
                        value = truth(k) + better + gaps(name, k)
                        value -= 0.3 if name == "left-to-right-sequential" and k == 3 else 0.0  # exact goes first
                        scores.append(score((corpus, model, variant), k, constant, name, value))
                if model == "plsa-hof" and k in (3, 100):
                    for other in (1e-7, 1e-3):
                        for name in ("left-to-right-sequential", "full-folding-in"):
                            value = truth(k) + gaps(name, k) * (1.0 - math.log10(other))
                            scores.append(score((corpus, model, "optimism"), k, other, name, value))
                for name in names:
                    for length in (10, 40):
                        place = (corpus, model, "optimism", k, constant, "0" if model == "lda" else "none", 0)
                        value = truth(k) + gaps(name, k) * 10.0 / length
                        rows.append(Measurement(*place, name, "length", length, value))
    study = small_study()
    study["measures"]["optimism"] = {
        "corpora": list(corpora),
        "models": ["plsa-hof", "lda"],
        "topics": list(TOPICS),
        "seeds": [0],
        "settings": {"smoothing": CONSTANT, "constants_topics": [3, 100]},
    }
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


def test_tables_have_a_row_per_corpus_model_and_number_of_topics() -> None:
    text = optimism.render(made())
    rows = [row for row in text.splitlines() if row.startswith(("Cranfield", "Medline"))]
    assert len(rows) == 2 * 2 * 2  # of 3, 100 and 400 topics
    assert text.count("*") == 2 * 4  # both truths at 3 topics are exact
    assert rows[0].endswith(rf"& +{gap('full-folding-in', 3):.3f}\\")
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
        "full-above-truth": "holds",
        "plug-in-above-truth": "holds",
        "gap-grows-with-topics": "holds",
        "full-prefers-more-topics": "fails",  # 0.1 log K does not outweigh 0.2 log(K / 20)
        "half-ranks-as-truth": "holds",
        "full-ranks-as-truth": "holds",
        "laplace-repairs": "holds",
        "nml-repairs": "fails",
    }


def test_claims_fail_where_they_are_made_to_fail() -> None:
    def other(evaluator: str, topics: int) -> float:
        turned = {
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
    assert found["full-prefers-more-topics"] == found["nml-repairs"] == "holds"
    assert found["half-ranks-as-truth"] == "fails"


def test_claims_are_not_run_without_the_measurement() -> None:
    assert set(verdicts(inputs()).values()) == {"not run"}
