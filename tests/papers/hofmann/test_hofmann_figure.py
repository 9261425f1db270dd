"""Hofmann's figures, table and macros from made-up rows, and what the interpretations say of them."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_hofmann import FEW, KEPT, PATHS, RANK, TOKENS, TOPICS, as_claimed, hofmann_inputs
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from small_study import inputs, without

from heldout.errors import InputError
from heldout.papers.hofmann.exhibits import hofmann
from heldout.papers.hofmann.exhibits.hofmann import (
    COUNTS,
    EARLY,
    HEATED,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    UNIGRAMS,
    VALIDATED,
    Model,
)
from heldout.papers.hofmann.interpretations import ROWS
from heldout.typesetting import latex, style

CORPORA = ("medline", "cranfield")
BARE = inputs(without("tempering", "latent-semantic-analysis"))
HALF, SEQUENTIAL = "half-folding-in", "left-to-right-sequential"


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def perplexities(model: Model, evaluator: str = SPECIFIC, grid: tuple[int, ...] = TOPICS) -> list[float]:
    return [math.exp(-as_claimed(model, evaluator, k)) for k in grid]


def heights_of(line: Line2D) -> list[float]:
    return [float(y) for y in np.asarray(line.get_ydata())]


def lines(figure: Figure, panel: int) -> list[Line2D]:
    """Return a panel's lines of more than two points: no baselines, stars or ranks."""
    return [line for line in figure.axes[panel].get_lines() if len(np.asarray(line.get_xdata())) > 2]


def labelled(figure: Figure, panel: int, label: str) -> tuple[list[float], list[float]]:
    (line,) = (line for line in lines(figure, panel) if line.get_label() == label)
    return list(np.asarray(line.get_xdata())), list(np.asarray(line.get_ydata()))


def test_the_upper_panels_are_figure_5a() -> None:
    figure = hofmann.figure_5a(hofmann_inputs(CORPORA))
    assert [axis.get_title() for axis in figure.axes] == ["Medline", "Cranfield", "", ""]
    for panel in (0, 1):
        for model in (EARLY, HEATED):
            x, y = labelled(figure, panel, hofmann.NAMES[model])
            assert x == list(TOPICS)
            assert y == pytest.approx(perplexities(model))
        for reading in READINGS:
            x, y = labelled(figure, panel, hofmann.NAMES[reading])
            assert x == [2, 8, 32, RANK]
            assert y == pytest.approx(perplexities(reading, grid=(2, 8, 32, RANK)))
        stars = [line for line in figure.axes[panel].get_lines() if line.get_marker() == "*"]
        assert [float(np.asarray(star.get_xdata())[0]) for star in stars] == [64.0, 64.0]
        heights = [float(np.asarray(star.get_ydata())[0]) for star in stars]
        assert heights == pytest.approx([perplexities(model)[-1] for model in (EARLY, HEATED)])
        levels = {round(y[0]) for y in map(heights_of, figure.axes[panel].get_lines()) if len(y) == 2 and y[0] == y[1]}
        assert levels == {round(perplexities(model, grid=(0,))[0]) for model in (*UNIGRAMS, COUNTS)}
        assert any(list(np.asarray(line.get_xdata())) == [RANK, RANK] for line in figure.axes[panel].get_lines())


def test_a_models_look_is_that_of_the_other_figures_and_hofmanns() -> None:
    figure = hofmann.figure_5a(hofmann_inputs(CORPORA))
    looks = {str(line.get_label()): line for line in lines(figure, 0)}
    for model in (EARLY, HEATED, READINGS[0]):
        assert to_hex(str(looks[hofmann.NAMES[model]].get_color())) == style.COLOURS[model[0]].lower()
    assert looks[hofmann.NAMES[HEATED]].get_linestyle() == "-"
    assert looks[hofmann.NAMES[EARLY]].get_linestyle() != "-"


def test_the_lower_panels_are_the_other_scores() -> None:
    figure = hofmann.figure_5a(hofmann_inputs(CORPORA))
    for panel in (2, 3):
        for label, suffix, evaluator in (
            ("Hofmann's", "", SPECIFIC),
            ("posterior predictive", "", PREDICTIVE),
            ("predictive, chosen prior", VALIDATED, PREDICTIVE),
            ("half folding-in", "", HALF),
            ("truth, Dirichlet(1)", "", SEQUENTIAL),
            ("truth, chosen prior", VALIDATED, SEQUENTIAL),
        ):
            x, y = labelled(figure, panel, label)
            assert x == list(TOPICS)
            assert y == pytest.approx(perplexities((HEATED[0], HEATED[1] + suffix), evaluator))
        dotted = [list(np.asarray(line.get_ydata())) for line in lines(figure, panel) if line.get_linestyle() != "-"]
        expected = [
            perplexities((EARLY[0], EARLY[1] + suffix), evaluator)
            for suffix, evaluator in (("", HALF), ("", SEQUENTIAL), (VALIDATED, SEQUENTIAL))
        ]
        assert np.allclose(dotted, expected)


def test_every_tick_is_labelled_with_its_own_number() -> None:
    figure = hofmann.figure_5a(hofmann_inputs(CORPORA))
    for axis in figure.axes:
        ticks = list(axis.get_xticks())
        labels = axis.xaxis.get_major_formatter().format_ticks(ticks)
        assert [(round(at), label) for at, label in zip(ticks, labels, strict=True)] == [(2, "2"), (64, "64")]


def test_a_line_stands_on_the_seeds_with_all_dimensions_and_its_band_on_all() -> None:
    given = hofmann_inputs(CORPORA, by_seed=0.1)
    found = hofmann.curve(given, "medline", HEATED)
    for mean, k in zip(found, TOPICS, strict=True):
        value = as_claimed(HEATED, SPECIFIC, k)
        high = value + (0.1 if k in FEW else 0.0)
        assert mean.topics == k
        assert [mean.value, mean.low, mean.high] == pytest.approx([value, value, high])
    (unigram,) = hofmann.curve(given, "medline", UNIGRAMS[0])
    assert unigram.value == pytest.approx(-math.log(3000.0))


def test_the_exact_value_comes_before_the_sampled_one() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return as_claimed(model, evaluator, k) + (0.5 if evaluator == "exact-marginal" else 0.0)

    points = hofmann.cells(hofmann_inputs(CORPORA, value), "medline", HEATED, "truth")
    for (k, _), point in points.items():
        exact = k == min(TOPICS)
        assert point.value == pytest.approx(as_claimed(HEATED, SEQUENTIAL, k) + (0.5 if exact else 0.0))
        assert point.samples == (0 if exact else 20)


def test_a_folded_in_point_that_gives_a_word_nothing_is_not_drawn() -> None:
    def value(model: Model, evaluator: str, k: int) -> float:
        return -math.inf if (model, evaluator, k) == (HEATED, HALF, 8) else as_claimed(model, evaluator, k)

    figure = hofmann.figure_5a(hofmann_inputs(CORPORA, value))
    assert labelled(figure, 2, "half folding-in")[0] == [2, 32, 64]
    assert r"\ensuremath{\infty}" in hofmann.render(hofmann_inputs(CORPORA, value))


def test_the_path_shows_both_strategies_with_beta_below() -> None:
    figure = hofmann.figure_path(hofmann_inputs(CORPORA))
    assert [axis.get_title() for axis in figure.axes[:2]] == [f"Medline, K = {KEPT}", f"Cranfield, K = {KEPT}"]
    for panel in (0, 1):
        for model, path in PATHS.items():
            x, y = labelled(figure, panel, hofmann.NAMES[model])
            assert x == list(range(1, len(path) + 1))
            assert y == [perplexity for _, perplexity in path]
        betas = [list(np.asarray(line.get_ydata())) for line in lines(figure, panel + 2)]
        assert sorted(betas) == sorted([beta for beta, _ in path] for path in PATHS.values())
        stars = {float(np.asarray(s.get_ydata())[0]) for s in figure.axes[panel].get_lines() if s.get_marker() == "*"}
        assert stars == {600.0, 620.0, 800.0}


def test_the_table_has_every_model_and_evaluation() -> None:
    rows = [line.split(" & ") for line in hofmann.render(hofmann_inputs(CORPORA)).splitlines() if "&" in line][2:]
    names = [row[1] for row in rows]
    assert {row[0] for row in rows} == {"Medline", "Cranfield"}
    for model, count in ((UNIGRAMS[0], 1), (COUNTS, 1), (READINGS[0], 2), (READINGS[1], 1), (EARLY, 2), (HEATED, 2)):
        assert names.count(hofmann.NAMES[model]) == count * len(CORPORA)  # 8 and the most; further readings: the most
    last = next(row for row in rows if row[1] == hofmann.NAMES[HEATED] and row[2] == "64")
    chosen = (HEATED[0], HEATED[1] + VALIDATED)
    cells = [(HEATED, SPECIFIC), (HEATED, PREDICTIVE), (chosen, PREDICTIVE), (HEATED, HALF), (HEATED, SEQUENTIAL)]
    expected = [
        latex.perplexity(math.exp(-as_claimed(model, name, 64))) for model, name in (*cells, (chosen, SEQUENTIAL))
    ]
    assert [cell.removesuffix("\\\\") for cell in last[3:]] == expected


def test_macros_are_the_numbers_of_the_figure_and_the_same_for_every_study() -> None:
    found, bare = hofmann.macros(hofmann_inputs(CORPORA)), hofmann.macros(BARE)
    assert found.keys() == bare.keys()
    assert (found["IfHofmann"], bare["IfHofmann"], found["ForEachHofmann"]) == ("#1", "", "#1{Two}#1{One}")
    assert bare["CorpusTwoHofmannTemLowest"] == "not run"
    assert found["CorpusThreeHofmannTemLowest"] == "not run"
    assert found["HofmannTrainShare"] == r"70\,\%"
    best = math.exp(-as_claimed(HEATED, SPECIFIC, 64))
    assert found["CorpusTwoHofmannTemLowest"] == found["CorpusTwoHofmannTemLast"] == latex.perplexity(best)
    assert found["CorpusTwoHofmannTemLowestTopics"] == "64"
    assert found["CorpusTwoHofmannUnigramFactor"] == f"{3000.0 / best:.2f}"
    assert found["CorpusTwoHofmannCountsFactor"] == f"{1500.0 / best:.2f}"
    assert found["CorpusTwoHofmannAnyLsaFactor"] == f"{2200.0 / RANK**0.05 / best:.2f}"
    assert (found["CorpusTwoHofmannRank"], found["CorpusTwoHofmannLeftOut"]) == (str(RANK), "3")
    assert found["CorpusTwoHofmannTokens"] == latex.integer(TOKENS)
    for name, value in found.items():
        assert latex.macro(name, value).startswith(r"\newcommand")


def test_without_rows_it_says_what_to_measure() -> None:
    for function in (hofmann.figure_5a, hofmann.figure_path, hofmann.render):
        with pytest.raises(InputError, match="measure tempering"):
            function(BARE)
    with pytest.raises(InputError, match="path_topics"):
        hofmann.figure_path(replace(hofmann_inputs(CORPORA), measurements=None))


@pytest.mark.parametrize("synthetic", [True, False])
def test_synthetic_data_say_so(synthetic: bool) -> None:
    given = hofmann_inputs(CORPORA, synthetic=synthetic)
    for figure in (hofmann.figure_5a(given), hofmann.figure_path(given)):
        marked = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert all(m == synthetic for m in marked)
    assert (style.SYNTHETIC_MARK in hofmann.render(given)) == synthetic


def test_interpretations_state_settings_and_effects() -> None:
    given = hofmann_inputs(CORPORA)
    found = {row.question: (row.choice(given), " ".join(row.effect(given))) for row in ROWS}

    def row(part: str) -> tuple[str, str]:
        (only,) = (both for question, both in found.items() if part in question)
        return only

    assert r"70\,\% train, 10\,\% stop and choose, 20\,\% are scored" in row("held out")[0]
    assert row("only test tokens")[1] == r"Medline: 0.3\,\% (0.3\,\% to 0.3\,\%) of test tokens Cranfield:" + (
        r" 0.3\,\% (0.3\,\% to 0.3\,\%) of test tokens"
    )
    choice, effect = row("inverse annealing, of which")
    assert r"\(\eta\) is 0.9;" in choice
    assert "a share of 0.001;" in choice
    assert "after 5 values" in choice
    assert "Medline, PLSA, TEM: beta 0.81 (0.81 to 0.81)" in effect
    assert r"from 0.5 up to 1, divided by 0.97;" in row("faster than")[0]
    assert "PLSA, annealed: iterations 600" in row("faster than")[1]
    change = latex.signed_percent(math.exp(0.02) - 1.0)
    assert f"Medline, LSA, shifted: {change}" in row("LSA as a distribution")[1]
    assert "0.01 to 0.1 added" in row("the unigram")[0]
    assert rf"unigram: {latex.signed_percent(math.exp(0.01) - 1.0)}" in row("the unigram")[1]
    choice, effect = row("which have none")
    assert "its sum from 1 to 50" in choice
    assert f"Medline, PLSA, TEM, truth: {latex.signed_percent(math.exp(-0.05) - 1.0)}" in effect
    assert "PLSA, TEM: prior-sum 10 (10 to 20)" in effect
    assert "40 states" in row("how the posterior predictive")[0]


def test_interpretations_state_what_other_schedules_change() -> None:
    given = hofmann_inputs(CORPORA)
    own = given.scores[(given.scores["variant"] == HEATED[1]) & (given.scores["evaluator"] == SPECIFIC)]
    worse = own.assign(variant="inverse-annealing-patience-1", log_likelihood=own["log_likelihood"] - 0.2 * TOKENS)
    given = replace(given, scores=pd.concat([given.scores, worse], ignore_index=True))
    (row,) = (row for row in ROWS if "inverse annealing, of which" in row.question)
    change = latex.signed_percent(math.exp(0.2) - 1.0)
    assert f"Medline, patience 1: {change} ({change} to {change})" in row.effect(given)
    assert not any("validated" in line for line in row.effect(given))


def test_interpretations_without_rows_are_not_measured() -> None:
    given = replace(hofmann_inputs(CORPORA), measurements=None, scores=BARE.scores)
    assert all(row.effect(given) == [] for row in ROWS)
    assert all("not set" not in row.choice(given) for row in ROWS)
