"""The figure of section 4.1, from made-up measurements."""

from collections.abc import Iterator
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Annotation
from small_study import inputs

from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.figures.bounds import ESTIMATES, documents
from artifact.papers.welling.results import bounds_corpus, differences
from artifact.results.measurements import COLUMNS, Measurement
from artifact.typesetting import style
from heldout.errors import InputError

LENGTHS = (10, 40, 80)


def rows(
    corpus: str = "medline", topics: tuple[int, ...] = (2, 3), seeds: tuple[int, ...] = (0, 1)
) -> list[Measurement]:
    """Return documents whose estimates lie gap nats per token from the exact value."""
    measurements = []
    gaps = {
        ("plsa-hof", "full-folding-in"): 0.02,
        ("plsa-hof", "mean-field-bound"): -0.01,
        ("plsa-hof", "full-folding-in-joint"): 0.5,
        ("lda", "full-folding-in"): 0.01,
        ("lda", "mean-field-bound"): -0.0001,
        ("mixture-of-multinomials", "point-bound"): 0.0,
        ("hmm", "point-bound"): -0.2,
    }
    for k in topics:
        for seed in seeds:
            for d, length in enumerate(LENGTHS):
                for model in dict.fromkeys(model for model, _ in gaps):
                    chain = "0" if model == "lda" else "none"
                    exact = -6.0 * length - d - k
                    place = (corpus, model, "bounds", k, 1e-5, chain, seed)
                    measurements.append(Measurement(*place, "exact-marginal", "document", d, exact))
                    if model == "plsa-hof":
                        measurements.append(Measurement(*place, "tokens", "document", d, float(length)))
                    for (of, quantity), gap in gaps.items():
                        if of == model:
                            value = exact + k * gap * length
                            measurements.append(Measurement(*place, quantity, "document", d, value))
    measurements.append(Measurement(corpus, "plsa-hof", "main", 3, 1e-5, "none", 0, "log-normaliser", "length", 0, 9.0))
    return measurements


def given(measurements: list[Measurement], *, synthetic: bool = False) -> Inputs:
    table = pd.DataFrame([astuple(m) for m in measurements], columns=list(COLUMNS))
    return replace(inputs(synthetic=synthetic), measurements=table)


def measured(of: Inputs) -> dict[tuple[str, str, int], list[float]]:
    gaps = differences(of, "medline", [(model, quantity) for model, quantity, *_ in ESTIMATES])
    by_curve = gaps.groupby(["model", "quantity", "topics"])["gain"]
    return {(str(model), str(quantity), int(str(k))): own.tolist() for (model, quantity, k), own in by_curve}


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with style.applied():
        yield


def test_differences_are_nats_per_token_of_every_document_and_seed() -> None:
    gaps = measured(given(rows()))
    assert {(model, quantity) for model, quantity, _ in gaps} == {(m, q) for m, q, _ in ESTIMATES}
    np.testing.assert_allclose(gaps["plsa-hof", "full-folding-in", 3], [0.06] * 6, rtol=1e-9)
    np.testing.assert_allclose(gaps["hmm", "point-bound", 2], [-0.4] * 6, rtol=1e-9)


def test_other_chains_corpora_and_axes_do_not_enter() -> None:
    other = [replace(m, chain="1", value=m.value + 99.0) for m in rows() if m.model == "lda"]
    other += [replace(m, corpus="nips", value=m.value / 2.0) for m in rows()]
    alone, among = (measured(given(m)) for m in (rows(), rows() + other))
    assert set(alone) == set(among)
    for key, values in alone.items():
        np.testing.assert_array_equal(values, among[key])


def test_the_first_measured_corpus_of_the_study_is_drawn() -> None:
    other = [replace(m, variant="optimism") for m in rows("cranfield")]
    assert bounds_corpus(given(rows("nips") + rows("medline") + other)) == "medline"
    for without in (replace(inputs(), measurements=None), given([m for m in rows() if m.quantity != "exact-marginal"])):
        with pytest.raises(InputError, match="no exact marginals"):
            bounds_corpus(without)


def test_refuses_a_second_value_a_missing_one_and_an_impossible_document() -> None:
    twice = replace(rows()[0], smoothing=0.1)
    with pytest.raises(
        InputError, match=r"medline, plsa-hof, 2 topics: exact-marginal of a document is reported twice"
    ):
        measured(given([*rows(), twice]))
    for quantity in ("exact-marginal", "tokens"):
        lacking = [m for m in rows() if not (m.quantity == quantity and m.model == "plsa-hof" and m.at == 1)]
        with pytest.raises(InputError, match="lack their exact marginal or their number of tokens"):
            measured(given(lacking))
    impossible = [replace(m, value=-np.inf) if m.at == 2 and m.quantity != "tokens" else m for m in rows()]
    with pytest.raises(InputError, match="probability 0"):
        measured(given(impossible))


def test_every_document_is_a_dot_on_its_side_of_zero_in_its_panel() -> None:
    figure = documents(given(rows()))
    assert [axis.get_title() for axis in figure.axes] == ["2 topics", "3 topics"]
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [label for _, _, label in ESTIMATES]
    for axis, k in zip(figure.axes, (2, 3), strict=True):
        dots = [line for line in axis.get_lines() if line.get_marker() == "."]
        assert len(dots) == len(labels)
        for i, (line, gap) in enumerate(zip(dots, (0.02, 0.01, -0.01, -0.0001, 0.0, -0.2), strict=True)):
            np.testing.assert_allclose(np.asarray(line.get_xdata()), [k * gap] * 6, rtol=1e-9, atol=1e-12)
            assert np.all(np.abs(np.asarray(line.get_ydata()) - i) < 0.5)
            low, high = axis.get_xlim()
            assert low < k * gap < high
        for text in axis.texts:
            if isinstance(text, Annotation) and "0" in text.get_text():  # a median stands on the other side of zero
                assert (text.xy[0] < 0.5) == ("+" in text.get_text())
        texts = {text.get_text() for text in axis.texts}
        assert {"optimistic", "pessimistic"} <= texts
        assert {f"{0.02 * k:+.3f}", f"{style.MINUS}{0.2 * k:.3f}", "0.000"} <= texts


def test_models_that_were_not_measured_have_no_row() -> None:
    figure = documents(given([m for m in rows() if m.model == "plsa-hof"]))
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [
        "PLSA, full folding-in",
        "PLSA, mean-field bound",
    ]
    with pytest.raises(InputError, match="neither PLSA nor LDA"):
        documents(given([m for m in rows() if m.model == "hmm" or m.quantity == "tokens"]))
