import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora.reuters import read_stories, read_texts
from heldout.errors import InputError

FILE = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" OLDID="5544" NEWID="7">
<TITLE>A TITLE</TITLE><DATELINE> ROME - </DATELINE><BODY>Profit &amp; loss of &lt;XON>
caf\xe9s, Reuter said.&#127;
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS NEWID="8">
<TEXT TYPE="BRIEF">&#2;
<TITLE>NO BODY</TITLE></TEXT>
</REUTERS>
<REUTERS NEWID="9"><BODY>Reuter
said so.&#22;
REUTER...^M
&#3;</BODY></REUTERS>
"""


def test_bodies_are_read_without_entities_and_signature() -> None:
    assert read_stories(FILE.encode("latin-1"), "f") == [
        ("7", "Profit & loss of <XON>\ncaf\xe9s, Reuter said. "),
        ("9", "Reuter\nsaid so. "),
    ]


def test_members_are_read_in_name_order_and_share_no_number() -> None:
    one, two = (f'<REUTERS NEWID="{number}"><BODY>x</BODY></REUTERS>' for number in (1, 2))
    assert [n for n, _ in read_texts({"b": one.encode(), "a": two.encode()})] == ["2", "1"]
    with pytest.raises(InputError, match="NEWID"):
        read_texts({"b": one.encode(), "a": one.encode()})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "f: 0 whole stories"),
        ("plain text", "f: 0 whole stories"),
        ('<REUTERS NEWID="1"></REUTERS><REUTERS NEWID="2"><BODY>cut', "f: 1 whole stories"),
        ("<REUTERS></REUTERS>", "f: story 1: a NEWID that is missing"),
        (
            '<REUTERS NEWID="1"></REUTERS><REUTERS NEWID="1"></REUTERS>',
            "f: story 2: a NEWID that is missing or was used",
        ),
        ('<REUTERS NEWID="1"><BODY>x</REUTERS>', "f: story 1: expected at most one BODY, whole"),
        ('<REUTERS NEWID="1"><BODY>x</BODY><BODY>y</BODY></REUTERS>', "f: story 1: expected at most one BODY"),
    ],
)
def test_malformed(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_stories(content.encode(), "f")


pieces = st.sampled_from(
    ['<REUTERS NEWID="1">', '<REUTERS NEWID="2">', "</REUTERS>", "<BODY>", "</BODY>", "&#3;", "&x", "a"]
)


@given(st.lists(pieces, max_size=12))
def test_garbage_raises_nothing_but_input_errors(content: list[str]) -> None:
    try:
        stories = read_stories("".join(content).encode("latin-1"), "garbage")
    except InputError:
        return
    numbers = [number for number, _ in stories]
    assert numbers == list(dict.fromkeys(numbers))
    assert not any("&#3;" in text for _, text in stories)
