"""The figure of EPCA's folding-in against its truth, from made-up scores."""

from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from made_measurements import PERPLEXITIES
from made_measurements import epca_marginal as made_up
from small_study import inputs, without

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.measurements import COLUMNS as MEASURED
from heldout.measurements import Measurement
from heldout.papers.likelihood.exhibits import epca_marginal
from heldout.scores import COLUMNS, Score
from heldout.typesetting import style


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def given(scores: list[Score], measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    base = inputs(without("epca-marginal"), synthetic=synthetic)
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


def test_synthetic_data_say_so() -> None:
    for synthetic in (True, False):
        figure = epca_marginal.draw(given(*made_up(), synthetic=synthetic))
        said = [style.SYNTHETIC_MARK in [text.get_text() for text in axis.texts] for axis in figure.axes]
        assert said == [synthetic] * 2
