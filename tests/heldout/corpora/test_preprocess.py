from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.corpora.preprocess import Rule, apply, lancaster, read_stop_list, tokeniser
from heldout.errors import InputError

STOP = frozenset({"the", "of"})
texts = st.lists(st.text(alphabet="abTof the1-é\n", min_size=1, max_size=40), min_size=2, max_size=8)


def obvious(rule: Rule, documents: list[str], stop_words: frozenset[str]) -> list[list[str]]:
    """Apply a rule without a stemmer, character by character and word by word."""
    letters = "abcdefghijklmnopqrstuvwxyz" + ("0123456789" if "0-9" in rule.token else "")
    result = []
    for document in documents:
        spaced = "".join(c if c in letters else " " for c in document.lower())
        words = [w for w in spaced.split() if len(w) >= rule.minimum_length or w in rule.keep]
        result.append([w for w in words if not (rule.stop_words and w in stop_words)])
    count = Counter(w for words in result for w in words)
    spread = {w: sum(w in words for words in result) for w in count}
    frequent = [w for w in count if count[w] >= rule.minimum_count and spread[w] >= rule.minimum_documents]
    result = [[w for w in words if w in frequent] for words in result]
    if rule.largest_vocabulary:
        left = {
            w: (-sum(w in words for words in result), -sum(words.count(w) for words in result), w) for w in frequent
        }
        widest = sorted(left, key=lambda w: left[w])[: rule.largest_vocabulary]
        result = [[w for w in words if w in widest] for words in result]
    return result[: rule.first_documents] if rule.first_documents else result


@given(
    texts,
    st.builds(
        Rule,
        token=st.sampled_from(["[a-z0-9]", "[a-z]"]),
        minimum_length=st.integers(1, 3),
        keep=st.sampled_from([(), ("ab", "a")]),
        stop_words=st.booleans(),
        minimum_count=st.integers(1, 3),
        minimum_documents=st.integers(1, 2),
        largest_vocabulary=st.sampled_from([0, 1, 3]),
        first_documents=st.sampled_from([0, 2]),
        refuse_empty=st.booleans(),
    ),
)
def test_rule_agrees_with_an_obvious_twin(documents: list[str], rule: Rule) -> None:
    expected = obvious(rule, documents, STOP)
    named = [(f"d{i}", text) for i, text in enumerate(documents)]
    if sum(map(bool, expected)) >= 2 and (all(expected) or not rule.refuse_empty):
        assert apply(rule, named, STOP, "some") == [(f"d{i}", words) for i, words in enumerate(expected)]
    elif not rule.refuse_empty:
        with pytest.raises(InputError, match=r"corpus some: [01] "):
            apply(rule, named, STOP, "some")
    else:
        empty = next(i for i, words in enumerate(expected) if not words)
        with pytest.raises(InputError, match=f"corpus some: document d{empty}: "):
            apply(rule, named, STOP, "some")


def test_stems_are_stemmed_until_nothing_changes() -> None:
    stem = lancaster()
    words = ["maximum", "presumably", "generalizations", "aerodynamics", "flowing", "multiplying", "owed"]
    stems = [stem(word) for word in words]
    assert [stem(word) for word in stems] == stems
    assert stems[4] == stem("flows") == "flow"
    documents = apply(Rule("[a-z]", stemmer="lancaster"), [("a", "Flows of flowing"), ("b", "x flow")], STOP, "some")
    assert documents == [("a", ["flow", "flow"]), ("b", ["x", "flow"])]


def test_unknown_stemmer() -> None:
    with pytest.raises(InputError, match=r"stemmer porter: .*lancaster"):
        Rule("[a-z]", stemmer="porter")


def test_rule_in_words() -> None:
    assert Rule("[a-z]", 3, keep=("ai",), minimum_documents=6, first_documents=2).words() == (
        "runs of [a-z] in lower case; length >= 3 and ai; not in the stop list; documents >= 6; first 2 documents"
    )
    assert Rule("[a-z]", largest_vocabulary=9).words().endswith("; the 9 words of most documents")


def test_stop_list() -> None:
    assert read_stop_list(b"The\na's\r\n\n", "list") == {"the", "a's"}
    with pytest.raises(InputError, match=r"list: .*UTF-8"):
        read_stop_list(b"\xff", "list")
    with pytest.raises(InputError, match=r"list: .*stop word"):
        read_stop_list(b"\n \n", "list")


def test_a_word_that_would_widen_every_array_of_words_is_refused() -> None:
    words_of = tokeniser(Rule("[a-z]", minimum_length=1), frozenset())
    assert words_of("a" * 10_000 + " b") == ["a" * 10_000, "b"]
    with pytest.raises(InputError, match="20,000,000 letters"):
        words_of("a" * 20_000_000)
