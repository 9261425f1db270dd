"""The NIPS papers: their texts by volume, and their running text with its function words."""

import pytest

from heldout.corpora import nips
from heldout.corpora.nips import read_texts, read_tokens


def test_papers_come_in_the_order_of_volumes_and_pages() -> None:
    members = {
        "nipstxt/nips01/0003.txt": b"third \xe9",
        "nipstxt/nips00/0010.txt": b"second",
        "nipstxt/nips00/0002.txt": b"first",
    }
    assert read_texts(members) == [("nips00/0002", "first"), ("nips00/0010", "second"), ("nips01/0003", "third é")]


def test_the_running_text_has_an_asterisk_for_words_beyond_the_most_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nips, "LARGEST", 6)
    texts = {
        "0001": b"Two neu- \r\nral nets\xb2 (1987), the\n\nnets.",
        "0002": b"The neural nets - and\nthe rest, x_1. ",
    }
    corpus = read_tokens("nips-running", {f"nipstxt/nips03/{paper}.txt": text for paper, text in texts.items()})
    assert corpus.documents == ("nips03/0001", "nips03/0002")
    first, second = ([corpus.vocabulary[word] for word in corpus.document(d)] for d in (0, 1))
    # in both papers are the, nets, neural, the comma and the full stop; of all others ( is the first in order
    assert first == ["*", "neural", "nets", "(", "*", ",", "the", "nets", "."]
    assert second == ["the", "neural", "nets", "*", "the", "*", ",", "*", "."]
