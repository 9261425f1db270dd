"""Tables of contrasts show every contrast's effects and where they lie."""

import math
from dataclasses import replace
from importlib import import_module

import pytest
from small_study import inputs

from artifact.contrasts.effect import NATS, Effect, chosen
from artifact.contrasts.estimates import effects
from artifact.papers import PAPERS
from artifact.typesetting import contrasts_table, latex, scorecard


def test_tables_show_every_contrast_that_was_run() -> None:
    given = inputs()
    known = contrasts_table.contrasts_of(given)
    printed = contrasts_table.render(given)
    assert all((latex.wording(one.says) in printed) == bool(given.effects[one.name]) for one in known)
    parts = [{effect.part for effect in contrasts_table.at_most_topics(given.effects[one.name])} for one in known]
    assert contrasts_table.markdown(known, given).count("\n") == sum(len(one) or 1 for one in parts) + 2


def test_every_statement_of_a_source_is_on_the_scorecard_with_the_finding_of_its_effects() -> None:
    given = inputs()
    text = scorecard.render(given)
    for paper in PAPERS:
        statements = getattr(import_module(f"{paper.module}.tables"), "STATEMENTS", ())
        assert {one.contrast for one in statements} == {one.name for one in paper.part("contrasts") if one.source}
        for one in statements:
            assert (latex.wording(one.says) in text) == any(chosen(given.effects, one.contrast, w) for w in one.where)
    assert r"\emph" not in scorecard.render(replace(given, effects={}))
    gain = Effect("full-half", "cranfield", "", 0, 1.0, 0.1, 9.0, NATS, margin=0.01, replicates=3)
    some = (gain, replace(gain, corpus="nips", estimate=-0.5))
    assert "-0.50 to 1.00 & 2 corpora & 1 of 2 & " in plain(
        scorecard.render(replace(given, effects={"full-half": some}))
    )
    assert "1.00 &  & yes & " in plain(scorecard.render(replace(given, effects={"full-half": some[:1]})))
    assert scorecard.span([replace(gain, estimate=math.log(50.0), factor=True, unit="times")]) == "50 times"


def plain(text: str) -> str:
    return text.replace(r"\ensuremath{-}", "-")


@pytest.mark.parametrize("empty", [("scores",), ("scores", "measurements")], ids="-".join)
def test_a_study_without_rows_has_no_effects(empty: tuple[str, ...]) -> None:
    given = inputs()
    given = replace(given, **{name: getattr(given, name).iloc[:0] for name in empty})
    known = {one.name: effects(one, given) for one in contrasts_table.contrasts_of(given)}
    assert any(known.values()) == (len(empty) == 1)


def test_of_effects_by_topics_the_ends_are_shown() -> None:
    one = Effect("gap", "cranfield", "K = 2", 2, 0.0121, 0.001, 2.0, NATS, margin=0.01, replicates=3)
    rows = [one, replace(one, part="K = 4", topics=4), replace(one, part="K = 8", topics=8)]
    rows += [replace(row, corpus="nips") for row in rows[:1]]
    assert contrasts_table.ends(rows) == [rows[0], rows[2], rows[3]]
    assert contrasts_table.at_most_topics(rows) == [rows[2], rows[3]]
    assert contrasts_table.ends([replace(one, part="half", topics=0)])
