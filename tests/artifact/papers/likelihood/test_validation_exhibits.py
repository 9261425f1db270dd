"""What is read off the reference's validation: cells, claims, the table, the figure."""

from dataclasses import replace

import pytest
from artifact.papers.likelihood.claims import between_bounds, reference_holds
from artifact.verdicts.verdicts import CONTRADICTED, SUPPORTED
from made_measurements import measured, validation

from artifact.papers.likelihood import figures, tables
from artifact.papers.likelihood.macros import macros
from artifact.papers.likelihood.validation import cells, documents
from artifact.results.measurements import Measurement
from heldout.errors import InputError

CORPORA = ["cranfield"]


def test_a_cell_is_per_token_and_counts_where_both_errors_are_small() -> None:
    found = cells(measured(validation(off=0.001)))
    assert len(found) == 8 * 4
    of_filter = found[found["other"] == "filter"]
    assert of_filter["gain"].to_numpy() == pytest.approx(0.001)
    assert of_filter["stated"].to_numpy() == pytest.approx(0.005)
    assert found["validated"].all()
    worse = measured(validation(stated=2.1))
    assert not cells(worse)["validated"].any()
    assert documents(worse).empty
    assert len(documents(measured(validation()))) == 8 * 2 * 4


def test_a_filter_whose_weights_vary_too_much_is_a_bound_and_validates_nothing() -> None:
    place = ("cranfield", "lda", "validation-flat", 20, 0.0, "none", 0, "filter-own-error", "document")
    rows = [*validation(), Measurement(*place, 0, 0.42, 0.0), Measurement(*place, 1, 0.43, 0.0)]
    found = cells(measured(rows))
    assert found[~found["validated"]][["model", "prior", "topics", "other"]].to_numpy().tolist() == [
        ["lda", "flat", 20, "filter"]
    ]
    assert cells(measured(rows[:-1]))["validated"].all()  # sqrt((e - 1) / 10) = 0.4145, with its bias 0.4233
    assert len(documents(measured(rows))) == (2 * 8 - 1) * 4


def test_a_reference_within_its_errors_holds_and_one_that_is_off_does_not() -> None:
    effects = reference_holds(measured(validation()), CORPORA)
    assert {effect.part for effect in effects} == {
        *("the reference, longer", "the reference, longer, r.m.s. z", "particle filter", "particle filter, r.m.s. z")
    }
    assert {effect.verdict for effect in effects} == {SUPPORTED}
    off = reference_holds(measured(validation(off=0.003)), CORPORA)
    assert [effect.verdict for effect in off if "z" not in effect.part] == [CONTRADICTED] * 2
    spread = [replace(row, standard_error=row.standard_error / 3) for row in validation()]  # z of 3
    assert [effect.verdict for effect in reference_holds(measured(spread), CORPORA) if "z" in effect.part] == [
        CONTRADICTED
    ] * 2


def test_bounds_that_leave_little_room_hold_the_reference() -> None:
    assert {effect.verdict for effect in between_bounds(measured(validation()), CORPORA)} == {SUPPORTED}
    crossed = [
        replace(row, value=-10 * row.value) if row.quantity == "upper-bound-difference" else row for row in validation()
    ]
    found = {effect.part: effect.verdict for effect in between_bounds(measured(crossed), CORPORA)}
    assert found == {"above the lower bound": SUPPORTED, "below the upper bound": CONTRADICTED}


def test_the_table_has_a_row_per_corpus_and_estimate() -> None:
    rows = [row for row in tables.validated(measured(validation(off=0.0005))).splitlines() if "Cranfield" in row]
    assert len(rows) == 4
    assert r"& 8 & 8 & \ensuremath{+0.0005} & \ensuremath{+0.0005} & 0.91 & 0 of 32 & 0 of 32\\" in rows[0]
    without = [row for row in tables.validated(measured(validation(stated=2.1))).splitlines() if "Cranfield" in row]
    assert "& 8 & 0 & -- & -- & -- & -- & --" in without[0].replace(r"\multicolumn{1}{c}{--}", "--")


def test_the_text_counts_what_is_far_off_on_either_side() -> None:
    moved = iter((-5.0, -4.5, 4.5))
    rows = [
        replace(row, value=next(moved, 0.0) * row.standard_error)
        if (row.axis, row.quantity) == ("document", "longer-difference")
        else row
        for row in validation()
    ]
    numbers = macros(measured(rows))
    assert [numbers[f"Validation{name}"] for name in ("Far", "Below", "Above", "Held")] == ["4", "2", "1", "32"]


def test_the_figure_has_a_panel_per_corpus_with_all_cells() -> None:
    figure = figures.validated(measured([*validation(), *validation("nips")]))
    assert [axis.get_title() for axis in figure.axes] == ["Cranfield", "NIPS"]
    for axis in figure.axes:
        assert len(axis.containers) == 8 * 2  # bars of both estimates


def test_without_measurements_they_say_what_to_do() -> None:
    for function in (tables.validated, figures.validated):
        with pytest.raises(InputError, match="measure its validation"):
            function(measured([]))
