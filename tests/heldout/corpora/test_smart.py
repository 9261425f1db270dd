import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_archives import CRANFIELD

from heldout.corpora.smart import read_records
from heldout.errors import InputError


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_only_words_are_read_and_a_field_that_is_opened_again_goes_on(line_end: str) -> None:
    records = read_records(CRANFIELD.replace("\n", line_end).encode(), "cran")
    assert records == [
        ("1", "flows over wings, the flow .\nboundary layers"),
        ("2", ""),
        ("3", "wings heated .\nlayers flowing"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cran: no record"),
        (".W\ntext\n", "cran: line 1: field .W stands before"),
        ("text\n.I 1\n", "cran: line 1: text outside"),
        (".I 1\ntext\n", "cran: line 2: text outside"),
        (".I 1\n.W\nx\n.I 1\n.W\ny\n", "cran: line 4: record 1 is there a second time"),
    ],
)
def test_malformed(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_records(content.encode(), "cran")


lines = st.sampled_from([".I 1", ".I 2", ".W", ".T", "text", "", ".I x", ".Z", "a\x85b", ".W "])


@given(st.lists(lines) | st.binary().map(lambda b: [b.decode("latin-1")]))
def test_garbage_raises_nothing_but_input_errors(content: list[str]) -> None:
    try:
        records = read_records("\n".join(content).encode("latin-1"), "garbage")
    except InputError:
        return
    numbers = [number for number, _ in records]
    assert numbers == list(dict.fromkeys(numbers))
