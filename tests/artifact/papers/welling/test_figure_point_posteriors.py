"""The figure of point posteriors is a function of the measurements."""

from dataclasses import astuple, replace

import pandas as pd
import pytest
from small_study import inputs

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures.point_posteriors import bounds_and_collapse
from artifact.papers.welling.results import gap
from artifact.results.measurements import COLUMNS, Measurement
from heldout.errors import InputError


def measured(corpus: str = "cranfield", seed: int = 0) -> pd.DataFrame:
    rows = []

    def add(model: str, variant: str, quantity: str, values: list[float]) -> None:
        # (backwards: the figure may not rely on the table's order)
        for i, value in reversed(list(enumerate(values))):
            rows.append(Measurement(corpus, model, variant, 3, 0.0, "none", seed, quantity, "iteration", i, value))

    for model, scale in (("hmm", 1000.0), ("k-means", 10.0), ("gaussian-mixture", 1.0)):
        add(model, "point-posterior", "objective", [-5.0 * scale, -4.0 * scale, -3.5 * scale])
        add(model, "point-posterior", "log-likelihood", [-3.0 * scale, -2.5 * scale, -2.25 * scale])
    add("ica", "unit-columns", "latent-norm", [9.0, 8.0, 8.0, 8.0])
    add("ica", "free-columns", "latent-norm", [9.0, 3.0, 1.0, 0.3])
    return pd.DataFrame([astuple(row) for row in rows], columns=list(COLUMNS))


def with_measurements(table: pd.DataFrame | None) -> Inputs:
    return replace(inputs(), measurements=table)


def test_lines_are_the_measured_courses() -> None:
    figure = bounds_and_collapse(with_measurements(measured()))
    bound, gaps, collapse = figure.axes
    lines = [[list(map(float, line.get_ydata())) for line in axis.get_lines()] for axis in (bound, gaps, collapse)]  # type: ignore[arg-type]
    assert lines[0] == [[-3.0, -2.5, -2.25], [-5.0, -4.0, -3.5]]
    assert lines[1] == [[2000.0, 1500.0, 1250.0], [20.0, 15.0, 12.5], [2.0, 1.5, 1.25]]
    assert lines[2] == [[9.0, 8.0, 8.0, 8.0], [9.0, 3.0, 1.0, 0.3]]
    assert all("nats" in axis.get_ylabel() for axis in (bound, gaps))
    assert "iteration" in collapse.get_xlabel()


def test_the_gap_is_likelihood_minus_objective() -> None:
    gaps = gap(with_measurements(measured()), "cranfield", "k-means", 0)
    assert gaps.to_dict() == {0: 20.0, 1: 15.0, 2: 12.5}


def test_a_synthetic_corpus_says_so() -> None:
    marked = with_measurements(measured())
    corpora = marked.corpora.assign(synthetic=True)
    texts = [
        text.get_text() for axis in bounds_and_collapse(replace(marked, corpora=corpora)).axes for text in axis.texts
    ]
    assert texts.count("SYNTHETIC DATA") == 3
    assert not any("SYNTHETIC" in text.get_text() for axis in bounds_and_collapse(marked).axes for text in axis.texts)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no measurements"):
        bounds_and_collapse(with_measurements(None))
    with pytest.raises(InputError, match="no log-likelihood of hmm, point-posterior, on cranfield"):
        bounds_and_collapse(with_measurements(measured(seed=1)))
    table = measured()
    short = table[~((table["model"] == "k-means") & (table["quantity"] == "objective") & (table["at"] == 2))]
    with pytest.raises(InputError, match="k-means on cranfield: objective and log-likelihood"):
        bounds_and_collapse(with_measurements(short))
