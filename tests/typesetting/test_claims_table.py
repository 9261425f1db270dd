"""Tables of claims show every verdict."""

from small_study import inputs

from heldout.typesetting import claims_table


def test_tables_show_every_claim() -> None:
    given = inputs()
    text, markdown = claims_table.render(given), claims_table.markdown(given.verdicts)
    assert text.count(r"\textbf{") == len(given.verdicts)
    assert markdown.count("\n") == len(given.verdicts) + 2
