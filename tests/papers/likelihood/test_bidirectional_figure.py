"""The figure of the bounds from both sides, from made-up measurements."""

from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from made_measurements import TEMPERATURES
from made_measurements import bidirectional as rows
from small_study import inputs, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS, Measurement
from heldout.papers.likelihood.exhibits import bidirectional
from heldout.typesetting import style


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def given(measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    table = pd.DataFrame([astuple(m) for m in measurements], columns=list(COLUMNS))
    return replace(inputs(synthetic=synthetic), measurements=table)


def test_a_panel_per_model_and_number_of_topics_holds_both_bounds() -> None:
    figure = bidirectional.draw(given(rows()))
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["PLSA-HOF, 4 topics", "PLSA-HOF, 100 topics", "LDA, 4 topics", "LDA, 100 topics"]
    for axis, K in zip(figure.axes, (4, 100, 4, 100), strict=True):
        bounds = {str(c.get_label()): c for c in axis.containers}
        for label, sign in (("upper bound", 1.0), ("lower bound", -1.0)):
            line = bounds[label][0]
            np.testing.assert_allclose(np.asarray(line.get_xdata(), dtype=float), TEMPERATURES)
            np.testing.assert_allclose(
                np.asarray(line.get_ydata(), dtype=float), [sign * K, sign * K / 10.0, sign * K / 100.0]
            )
        assert f"gap at 1,000:\n{2.0 * K / 100.0:.2f} ± 0.05" in [text.get_text() for text in axis.texts]
        assert ("exact" in [str(line.get_label()) for line in axis.get_lines()]) == (K == 4)
        assert [label.get_text() for label in axis.get_xticklabels()] == ["10", "", "1,000"]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert sorted(labels) == ["exact", "left-to-right sequential, 50 samples", "lower bound", "upper bound"]


def test_a_negative_gap_has_a_minus() -> None:
    crossed = [replace(m, value=-m.value) if m.quantity == "gap" else m for m in rows()]
    texts = [text.get_text() for text in bidirectional.draw(given(crossed)).axes[0].texts]
    assert f"gap at 1,000:\n{bidirectional.MINUS}0.08 ± 0.05" in texts


def test_the_first_corpus_and_seed_are_drawn() -> None:
    corpus, found = bidirectional.measured(
        given(rows("nips") + rows("cranfield", seed=1, factor=3.0) + rows("cranfield"))
    )
    assert corpus == "cranfield"
    assert list(found) == [("plsa-hof", 4), ("plsa-hof", 100), ("lda", 4), ("lda", 100)]
    assert {seed for cell in found.values() for seed in cell["seed"]} == {0}


def test_refuses_what_was_not_measured() -> None:
    for unmeasured in (inputs(without("bidirectional")), replace(inputs(), measurements=None)):
        with pytest.raises(InputError, match="no bounds on simulated documents"):
            bidirectional.draw(unmeasured)


def test_synthetic_data_say_so() -> None:
    for synthetic in (True, False):
        figure = bidirectional.draw(given(rows(), synthetic=synthetic))
        said = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert said == [synthetic] * 4
