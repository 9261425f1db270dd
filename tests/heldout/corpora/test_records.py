"""Records of categorical variables: their formats, and their form as a corpus."""

import io
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy.io import savemat

from heldout.corpora.corpus import Corpus
from heldout.corpora.records import read_votes, read_word_presence, responses_of
from heldout.corpora.relations.ratings import read_corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError

LINE = "democrat," + ",".join("ny?n" * 4)


def test_votes_keep_their_gaps() -> None:
    corpus = read_votes("votes", {"house.data": f"{LINE}\nrepublican,{','.join('?' * 16)}\n".encode()})
    assert responses_of(corpus).tolist() == [[0, 1, -1, 0] * 4, [-1] * 16]
    assert corpus.lengths.tolist() == [12, 0]
    assert corpus.documents == ("1-democrat", "2-republican")
    assert corpus.vocabulary[:2] == ("handicapped-infants=n", "handicapped-infants=y")


def test_the_presence_of_words_has_a_response_to_every_word() -> None:
    file = io.BytesIO()
    words = np.array(["aids", "space"], dtype=object)
    savemat(file, {"documents": np.array([[1, 0, 1], [0, 0, 1]], dtype=np.uint8), "wordlist": words})
    corpus = read_word_presence("news-words", {"w.mat": file.getvalue()})
    assert responses_of(corpus).tolist() == [[1, 0], [0, 0], [1, 1]]
    assert corpus.vocabulary == ("aids=absent", "aids=present", "space=absent", "space=present")


def test_ratings_are_users_by_films_and_splits_keep_them() -> None:
    text = b"7\t2\t5\t881\n3\t2\t1\t881\n3\t9\t3\t882\n"
    corpus = read_corpus("movielens", {"u.data": text})
    assert responses_of(corpus).tolist() == [[0, 2], [4, -1]]
    training, test = train_test_split(corpus, 1, seed=0)
    parts = {part.documents[0]: responses_of(part).tolist()[0] for part in (training, test)}
    assert parts == {"3": [0, 2], "7": [4, -1]}


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_votes, b"democrat,y,n\n", "line 1: expected a party and 16 of"),
        (read_votes, LINE.replace("?", "x").encode(), "line 1: expected a party"),
        (read_word_presence, b"MATLAB", "expected a MATLAB file"),
    ],
)
def test_damaged_files_are_refused(
    read: Callable[[str, Mapping[str, bytes]], Corpus], content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read("records", {"file": content})


def test_documents_are_no_records() -> None:
    with pytest.raises(InputError, match=r"corpus tiny: .*not records"):
        responses_of(Corpus.from_documents("tiny", [("a", ["wing"])]))
