import io
import re
from dataclasses import replace

import pytest
from made_audit import HOSTILE, made_audit
from rich.cells import cell_len
from rich.console import Console

from heldout.auditing import formats
from heldout.auditing.audit import wording
from heldout.auditing.audit.report import Audit

AUDIT = made_audit(60)


def printed(audit: Audit, width: int = 80, encoding: str = "utf-8", *, colour: bool = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict", write_through=True)
    console = Console(
        file=stream,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        legacy_windows=False,
    )
    console.print(audit)
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [40, 59, 60, 75, 76, 80, 132])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_no_line_is_too_long_and_no_number_is_cut(width: int, encoding: str) -> None:
    lines = printed(AUDIT, width, encoding).splitlines()
    assert max(map(cell_len, lines)) <= width
    for label, perplexity, ratio, *_ in wording.numbers(AUDIT).rows:
        start = label.split()[0].split("-")[0]
        row = re.compile(rf"{start}.*[ |]{re.escape(perplexity)}[ |].*[ |]{re.escape(ratio)}([ |]|$)")
        assert any(row.match(line) for line in lines), label
    for document in AUDIT.most_different:
        gap = document.nats_per_token["full-folding-in"] - document.nats_per_token["likelihood"]
        assert any(re.search(rf"[ |]\+{gap:.2f}[ |]+(.*[ |])?", line) for line in lines)


def test_eighty_columns_hold_every_column_on_one_line() -> None:
    lines = printed(AUDIT).splitlines()
    for label, *cells in wording.numbers(AUDIT).rows:
        assert any(line.startswith(label) and all(cell in line for cell in cells[:-1]) for line in lines), label


def test_the_verdict_stands_first() -> None:
    few = replace(AUDIT, left_out=10)
    assert printed(few, 200).splitlines()[0].rstrip() == wording.headline(few)
    first, second = printed(AUDIT, 200).splitlines()[:2]
    assert (first.rstrip(), second) == (wording.left_out(AUDIT), printed(few, 200).splitlines()[0])


def test_ascii_says_the_same_numbers() -> None:
    unicode, ascii_only = printed(AUDIT), printed(AUDIT, encoding="ascii")
    assert "±" in unicode
    assert "+/-" in ascii_only
    numbers = r"\d[\d,]*(?:\.\d+)?"
    of_table = [
        re.search(r"(?s)Perplexity per token *\n.*?The likelihood is by", text) for text in (unicode, ascii_only)
    ]
    assert of_table[0] is not None
    assert of_table[1] is not None
    assert re.findall(numbers, of_table[0][0]) == re.findall(numbers, of_table[1][0])


@pytest.mark.parametrize("colour", [False, True])
def test_names_and_words_reach_the_terminal_as_text_only(colour: bool) -> None:
    text = printed(AUDIT, 400, colour=colour)
    if colour:
        assert "\x1b[1m" in text
        text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "\x1b" not in text
    assert all(character.isprintable() or character == "\n" for character in text)
    for name in HOSTILE:
        assert formats.shorten(formats.clean(name), 80) in text


def test_what_is_not_known_is_left_out() -> None:
    text = printed(made_audit(60, most_different=(), reason=""))
    assert "differ most" not in text
    assert "The topics" in text
    assert "The likelihood is by" not in text
    assert "The terms of" in text


def test_a_report_is_a_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Jupyter rich shows a console's text and writes none, unless it is told otherwise."""
    text = str(AUDIT)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(AUDIT) == text
    assert AUDIT._repr_html_().count("<pre>") == 1
