"""The figure of EPCA's folding-in against its truth, from made-up scores."""

import math
from collections.abc import Iterator
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import inputs

from dlvm.errors import InputError
from dlvm.exhibits import Inputs, epca_marginal, style
from dlvm.measurements import COLUMNS as MEASURED
from dlvm.measurements import Measurement
from dlvm.scores import COLUMNS, Score

PERPLEXITIES = {"marginal-annealed": 700.0, "full-folding-in": 500.0, "half-folding-in": 600.0}


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def made_up(corpus: str = "medline", grid: tuple[int, ...] = (1, 2, 5)) -> tuple[list[Score], list[Measurement]]:
    scores, measurements = [], []
    for K in grid:
        place = (corpus, "epca", "epca-marginal", K, 0.0, "none")
        found = PERPLEXITIES | ({"marginal-quadrature": 701.0} if K <= 2 else {})
        for seed in (0, 1):
            for evaluator, p in found.items():
                samples = 10 if evaluator == "marginal-annealed" else 0
                nats = -100.0 * math.log(p / K)
                scores.append(Score(*place, evaluator, samples, seed, 3, 100, 0, 0, nats, p / K, 0.0))
            for d in range(3):
                document = (*place, seed)
                measurements.append(Measurement(*document, "marginal-annealed", "document", d, -50.0 + 0.2 * K, 0.1))
                if K <= 2:
                    measurements.append(Measurement(*document, "marginal-quadrature", "document", d, -50.0, 0.0))
    return scores, measurements


def given(scores: list[Score], measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    base = inputs(synthetic=synthetic)
    return replace(
        base,
        scores=pd.concat(
            [base.scores, pd.DataFrame([astuple(s) for s in scores], columns=list(COLUMNS))], ignore_index=True
        ),
        measurements=pd.DataFrame([astuple(m) for m in measurements], columns=list(MEASURED)),
    )


def test_curves_are_the_scores_and_quadrature_marks_where_it_exists() -> None:
    corpus, found = epca_marginal.perplexities(given(*made_up()))
    assert corpus == "medline"
    assert set(found) == {*PERPLEXITIES, "marginal-quadrature"}
    for evaluator, p in PERPLEXITIES.items():
        assert found[evaluator] == pytest.approx({K: p / K for K in (1, 2, 5)})
    figure = epca_marginal.draw(given(*made_up()))
    lines = {str(line.get_label()): line for line in figure.axes[0].get_lines()}
    assert set(lines) == {
        "half folding-in",
        "marginal likelihood, annealed",
        "full folding-in",
        "the same by quadrature",
    }
    np.testing.assert_allclose(np.asarray(lines["full folding-in"].get_ydata()), [500.0, 250.0, 100.0])
    np.testing.assert_allclose(np.asarray(lines["the same by quadrature"].get_ydata()), [701.0, 350.5])


def test_errors_are_in_annealings_own_standard_errors() -> None:
    z = epca_marginal.standardised(given(*made_up()), "medline")
    assert list(z) == [1, 2]
    np.testing.assert_allclose(z[1], [2.0] * 6, rtol=1e-9)
    np.testing.assert_allclose(z[2], [4.0] * 6, rtol=1e-9)
    right = epca_marginal.draw(given(*made_up())).axes[-1]
    labels = [str(handle.get_text()) for handle in right.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["1 component, 6 documents", "2 components, 6 documents", "if the errors are right"]


def test_the_density_is_students_at_the_chains_degrees_of_freedom() -> None:
    from scipy.stats import t

    assert epca_marginal._freedom(given(*made_up()), "medline") == 9
    x = np.linspace(-5.0, 5.0, 11)
    np.testing.assert_allclose(epca_marginal._student(x, 9), t.pdf(x, 9), rtol=1e-12)


def test_without_quadrature_there_is_one_panel_and_without_scores_none() -> None:
    scores, measurements = made_up(grid=(5, 20))
    assert len(epca_marginal.draw(given(scores, measurements)).axes) == 1
    with pytest.raises(InputError, match="no marginal likelihood of components among the scores"):
        epca_marginal.draw(given([], measurements))


def test_the_first_corpus_of_the_study_is_drawn() -> None:
    (first, rows), (second, more) = made_up("nips"), made_up("cranfield")
    assert epca_marginal.perplexities(given(first + second, rows + more))[0] == "cranfield"


def test_synthetic_data_say_so_and_the_figure_is_the_same_every_time(tmp_path: Path) -> None:
    for synthetic in (True, False):
        figure = epca_marginal.draw(given(*made_up(), synthetic=synthetic))
        assert (style.SYNTHETIC_MARK in [text.get_text() for text in figure.axes[0].texts]) == synthetic
    first, second = tmp_path / "first.pdf", tmp_path / "second.pdf"
    for path in (first, second):
        style.save(epca_marginal.draw(given(*made_up())), path)
    assert first.read_bytes() == second.read_bytes()
