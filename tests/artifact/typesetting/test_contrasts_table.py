"""Tables of contrasts show every contrast's effects and where they lie."""

from dataclasses import replace

import pytest
from small_study import inputs

from artifact.contrasts.effect import NATS, Effect
from artifact.contrasts.estimates import effects
from artifact.papers import PAPERS
from artifact.typesetting import contrasts_table, latex


def test_tables_show_every_contrast_that_was_run() -> None:
    given = inputs()
    known = contrasts_table.contrasts_of(given)
    printed = contrasts_table.render(given)
    assert all((latex.wording(one.says) in printed) == bool(given.effects[one.name]) for one in known)
    parts = [{effect.part for effect in contrasts_table.at_most_topics(given.effects[one.name])} for one in known]
    assert contrasts_table.markdown(known, given).count("\n") == sum(len(one) or 1 for one in parts) + 2


def test_the_scorecard_has_the_statements_of_the_sources() -> None:
    given = inputs()
    text = contrasts_table.scorecard(given)
    for paper in PAPERS:
        own = [one for one in paper.part("contrasts") if one.source and given.effects[one.name]]
        assert (rf"\emph{{{paper.source}}}" in text) == bool(own)
    assert r"\emph" not in contrasts_table.scorecard(replace(given, effects={}))


@pytest.mark.parametrize("empty", [("scores",), ("measurements",), ("scores", "measurements")], ids="-".join)
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
