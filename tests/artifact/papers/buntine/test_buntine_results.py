"""Buntine's results read back: published figures against one another, marks, and scores of known numbers of topics."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from drawn_corpora import GRIDS, SIZES, drawn, nats
from made_measurements import EXACT, SAMPLES, Changes, calibration, convergence_to_exact, errors_by_samples, measured
from small_study import inputs, without

from artifact.papers.buntine import results
from artifact.papers.buntine.experiments.convergence_to_exact import METHODS
from artifact.papers.buntine.experiments.model_selection import with_many
from artifact.papers.buntine.results import (
    GAMMAS,
    PUBLISHED,
    Errors,
    biases,
    deviation_ratio,
    halves,
    many_samples,
    mean_difference,
    scored,
    voted,
)
from artifact.results.reading import select
from heldout.evaluators import MEAN_FIELD_BOUND, PARTICLES, SEQUENTIAL


def errors(changes: Changes | None = None) -> results.Calibration:
    return results.calibration(measured(calibration(GAMMAS, changes)))


def test_errors_are_read_by_gamma_and_method() -> None:
    for (gamma, name), own in errors().items():
        if name in METHODS:
            mean, deviation = map(float, PUBLISHED[gamma][METHODS.index(name)][:2])
            assert own.mean == pytest.approx(mean)
            assert own.deviation == pytest.approx(deviation)
            assert own.bias_error * math.sqrt(own.bias_pairs) == pytest.approx(deviation)


@pytest.mark.parametrize("heavy", [False, True])
def test_both_tests_are_about_as_often_beyond_their_limit_as_they_say(
    heavy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with Student's t on 9 degrees of freedom (excess kurtosis 1.2) as well; 4,000 tables: 5 % is 200 +- 14
    rng = np.random.default_rng(1)
    draws = rng.standard_t(9, (4000, 200)) if heavy else rng.standard_normal((4000, 200))
    means = deviations = 0
    for row in draws:
        own, theirs = Errors(row[:100], 0.0, 1.0, 1000), row[100:]
        figures = float(theirs.mean()), float(theirs.std(ddof=1))
        monkeypatch.setattr(results, "published", lambda *_, found=figures: found)
        for number, compare in enumerate((mean_difference, deviation_ratio)):
            effect, error = compare(own, 1.0, PARTICLES)
            beyond = abs(effect / error) > 1.96
            means, deviations = means + beyond * (number == 0), deviations + beyond * (number == 1)
    assert 140 < means < 261  # 4.4 standard errors: 1e-5
    assert 100 < deviations < 300  # the kurtosis is estimated: between 2.5 % and 7.5 %


@pytest.mark.parametrize("topics", [4, 5])
def test_code_lengths_and_their_errors(topics: int) -> None:
    (pair,) = [pair for pair in results.convergence(measured(convergence_to_exact())) if pair.topics == topics]
    tokens, exact = EXACT[topics]
    bits = tokens * math.log(2.0)
    assert pair.tokens == tokens
    assert pair.exact == pytest.approx(-exact / bits)
    assert tuple(pair.estimates) == METHODS
    off = 0.4 / np.sqrt(SAMPLES)
    np.testing.assert_allclose(pair.estimates[SEQUENTIAL]["0"], -(exact + off) / bits)
    # the second run is off twice as far
    np.testing.assert_allclose(pair.rms(SEQUENTIAL), np.sqrt((off**2 + 4.0 * off**2) / 2.0) / bits)


def test_nothing_is_read_where_nothing_was_measured() -> None:
    for given in (inputs(without("calibration", "convergence-to-exact")), replace(inputs(), measurements=None)):
        assert results.calibration(given) == {}
        assert results.convergence(given) == []
        assert many_samples(replace(given, measurements=None)) == 0


def test_scores_are_read_by_corpus_evaluator_and_size() -> None:
    read = scored(drawn(seeds=(0, 2)))
    assert list(dict.fromkeys(read["corpus"])) == ["s10", "s10s", "s40"]
    by_size = select(read, corpus="s40", evaluator=PARTICLES).set_index(["size", "topics", "seed"])
    assert set(by_size.index) == {*product(SIZES, GRIDS["s40"], (0, 2)), (0, 40, 0), (0, 40, 2)}
    assert by_size["value"][400, 60, 2] == pytest.approx(nats("s40", PARTICLES, 60, 400, 2))
    assert by_size["error"][400, 60, 2] == pytest.approx(1e-4)
    assert by_size["perplexity"][400, 60, 2] == pytest.approx(math.exp(-nats("s40", PARTICLES, 60, 400, 2)))
    truth = select(read, corpus="s40", evaluator=MEAN_FIELD_BOUND, size=0)
    assert truth["perplexity"].tolist() == pytest.approx([math.exp(5.92)] * 2)
    assert scored(inputs(without("model-selection"))).empty


def test_sizes_up_to_half_of_the_most_documents() -> None:
    before, after = halves(scored(drawn()))
    assert (set(before["size"]), set(after["size"])) == ({SIZES[-2]}, {SIZES[-1]})
    assert halves(after)[0].empty


def test_seeds_vote_and_the_smallest_wins_a_draw() -> None:
    rows = select(scored(drawn(corpora=("s10",), seeds=(0, 1))), size=100, evaluator=SEQUENTIAL)
    assert voted(rows) == 10
    rows.loc[(rows["seed"] == 1) & (rows["topics"] == 5), "value"] += 1.0
    assert voted(rows) == 5
    assert voted(rows[:0]) is None


def test_biases_are_read_by_model() -> None:
    read = biases(drawn(seeds=(0, 2), gap=0.2), PARTICLES)
    assert len(read) == 3 * 2 * (3 * len(SIZES) + 1)  # corpora, seeds; models, and the truth
    own = read.set_index(["corpus", "size", "topics", "seed"]).xs(("s40", 400, 60, 2))
    assert own["value"] == pytest.approx(nats("s40", PARTICLES, 60, 400, 2) - nats("s40", SEQUENTIAL, 60, 400, 2))
    assert own["error"] == 1e-4
    true = read[read["size"] == 0]
    assert set(zip(true["corpus"], true["topics"], strict=True)) == {("s10", 10), ("s10s", 10), ("s40", 40)}


def test_the_spread_of_the_reference_is_taken_off_errors() -> None:
    table = results.errors_by_samples(measured(errors_by_samples()))
    assert table.groupby("corpus").size().to_dict() == {"drawn": 4, "s10": 4}
    np.testing.assert_allclose(table["rms"], 5.0 / table["samples"] ** 0.5)
    np.testing.assert_allclose(table["log_error"] ** 2, 0.75 / table["documents"])
    assert results.errors_by_samples(inputs(without("mean-ratio"))).empty


def test_many_samples_are_found_whatever_their_number() -> None:
    given = drawn(gap=0.2)
    assert many_samples(given) == 200
    np.testing.assert_allclose(biases(given, with_many(200))["value"], 0.2)
