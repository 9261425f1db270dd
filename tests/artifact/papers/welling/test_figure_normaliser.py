"""The figure of sections 4.2 and 4.3, from made-up measurements."""

import math
from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from small_study import inputs

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures import normaliser
from artifact.papers.welling.results import learned_normalisers
from artifact.results.measurements import COLUMNS, Measurement
from artifact.typesetting import style
from heldout.errors import InputError
from heldout.evaluators.normaliser import log_multinomial_nml

LENGTHS = (1, 5, 10)


def rows(corpus: str = "cranfield") -> list[Measurement]:
    return [
        Measurement(corpus, "plsa-hof", "main", k, 0.0, "none", seed, quantity, "length", length, value, 0.01)
        for k in (2, 3)
        for seed in (0, 1)
        for length in LENGTHS
        for quantity, value in (
            ("log-normaliser", k * math.log(1.0 + length) * (1.0 + 0.1 * seed)),
            ("log-normaliser-effective-samples", 99.0),
        )
    ]


def given(measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    table = pd.DataFrame([astuple(m) for m in measurements], columns=list(COLUMNS))
    return replace(inputs(synthetic=synthetic), measurements=table)


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def errorbars(figure: Figure) -> dict[str, ErrorbarContainer]:
    containers = figure.axes[0].containers
    return {str(bars.get_label()): bars for bars in containers if isinstance(bars, ErrorbarContainer)}


def test_identity_topics_start_at_the_toy_example_and_follow_the_nml_constant() -> None:
    figure = normaliser.log_normaliser(given(rows()))
    lines = [(line, np.asarray(line.get_xdata())) for line in figure.axes[0].get_lines()]
    curves = [line for line, x in lines if line.get_linewidth() == 1.0 and len(x) > 1]
    assert len(curves) == 3  # the corpora of the study, of 40 words each
    for curve in curves:
        x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
        assert (x[0], y[0]) == (1, pytest.approx(math.log(40.0), rel=1e-12))
        np.testing.assert_allclose(y, [log_multinomial_nml(40, int(n)) / n for n in x], rtol=1e-12)


def test_each_corpus_is_marked_at_its_own_mean_length() -> None:
    figure = normaliser.log_normaliser(given(rows()))
    marks = [
        line for line in figure.axes[0].get_lines() if str(line.get_label()).split(",")[0] in ("Cranfield", "NIPS")
    ]
    assert len(marks) == 2
    for mark in marks:
        assert list(np.asarray(mark.get_xdata())) == [10]
        value = log_multinomial_nml(40, 10) / 10
        assert float(np.asarray(mark.get_ydata())[0]) == pytest.approx(value, rel=1e-12)
        assert f"{value:.2f} at $n$ = 10" in str(mark.get_label())


def test_learned_models_are_means_over_seeds_per_token_with_bars_around_all_of_them() -> None:
    models = errorbars(normaliser.log_normaliser(given(rows())))
    assert [label.split(":")[0] for label in models] == ["3 topics", "2 topics"]
    for (label, bars), k in zip(models.items(), (3, 2), strict=True):
        line, _, (segments,) = bars.lines
        expected = [k * math.log(1.0 + n) * 1.05 / n for n in LENGTHS]
        np.testing.assert_allclose(np.asarray(line.get_ydata()), expected, rtol=1e-12)
        assert label.endswith(f"{expected[-1]:.3f} at $n$ = 10")
        for n, segment in zip(LENGTHS, segments.get_segments(), strict=True):
            ends = [(k * math.log(1.0 + n) * factor + error) / n for factor, error in ((1.0, -0.02), (1.1, 0.02))]
            np.testing.assert_allclose(segment[:, 1], ends, rtol=1e-9)


def test_limits_of_the_learned_models_are_the_nml_constant_of_as_many_words_as_topics() -> None:
    figure = normaliser.log_normaliser(given(rows()))
    dotted = [line for line in figure.axes[0].get_lines() if line.get_linewidth() == 0.7]
    for line, k in zip(dotted, (3, 2), strict=True):
        x = np.asarray(line.get_xdata())
        assert x[-1] == max(LENGTHS)
        np.testing.assert_allclose(
            np.asarray(line.get_ydata()), [log_multinomial_nml(k, int(n)) / n for n in x], rtol=1e-12
        )


def test_takes_the_first_of_the_studys_corpora_that_was_measured() -> None:
    other = [replace(m, value=99.0) for m in rows("nips")]
    np.testing.assert_array_equal(
        learned_normalisers(given(other + rows()))["value"], learned_normalisers(given(rows()))["value"]
    )
    for without in (
        replace(inputs(), measurements=None),
        given(rows("elsewhere")),
        given([replace(m, model="lda") for m in rows()]),
    ):
        with pytest.raises(InputError, match="no log Z"):
            normaliser.log_normaliser(without)
