"""Ratings, and the files of MovieLens."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.corpora.records import from_responses
from heldout.corpora.relations.ratings import GENRES, Ratings, read_films, read_ratings
from heldout.errors import InputError

FILM = b"1|Toy Story (1995)|01-Jan-1995||http://x|" + b"|".join([b"0"] * 3 + [b"1"] * 2 + [b"0"] * 14)


def test_ratings_keep_their_times_and_names() -> None:
    ratings = read_ratings("u.data", b"7\t2\t5\t881\n3\t2\t1\t880\n3\t9\t3\t882\n")
    assert (ratings.users, ratings.items) == (("3", "7"), ("2", "9"))
    assert ratings.responses().tolist() == [[0, 2], [4, -1]]
    assert ratings.time.tolist() == [881, 880, 882]
    assert ratings.take(np.array([0])).numbers.tolist() == [0, 1]


def test_ratings_of_records_are_the_same() -> None:
    responses = np.array([[0, -1, 4], [2, 1, -1]])
    ratings = Ratings.of(from_responses("r", responses, ("x", "y", "z"), tuple("12345"), ("a", "b")))
    assert ratings.items == ("x", "y", "z")
    assert ratings.scale == (1, 5)
    assert ratings.responses().tolist() == responses.tolist()
    assert ratings.mask(np.zeros(4)).nnz == 4  # a weight of 0 is kept


def test_films_are_read() -> None:
    assert read_films("u.item", FILM)["1"] == ("Toy Story (1995)", (GENRES[3], GENRES[4]))


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_ratings, b"", "u: no ratings"),
        (read_ratings, b"1\t2\t3\n", "line 1: expected user, film, stars and time"),
        (read_ratings, b"1\t2\t0\t4\n", "line 1: the stars must be between 1 and 5, found 0"),
        (read_ratings, b"1\t2\t3\t4\n1\t2\t4\t5\n", "line 2: user 1 has rated film 2 already"),
        (read_films, b"1|Toy Story\n", "line 1: expected number, title"),
        (read_films, FILM + b"\n" + FILM, "line 2: film 1 is there already"),
    ],
)
def test_damaged_files_are_refused(read: Callable[[str, bytes], Any], content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read("u", content)


@pytest.mark.parametrize(
    ("item", "value", "message"),
    [
        ([0, 1], [5, 6], "rating of item y by user a is 6, outside 1 to 5"),
        ([1, 1], [5, 4], "rating of item y by user a is there twice"),
        ([0, 2], [5, 4], "item 2 has no name"),
        ([0], [5, 4], "must be of one number"),
    ],
)
def test_what_is_no_rating_is_refused(item: list[int], value: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ratings(("a",), ("x", "y"), np.zeros(2, np.int64), np.array(item), np.array(value))


def test_movielens_has_what_was_published() -> None:
    mirror = os.environ.get("HELDOUT_MIRROR")
    if not mirror or not Path(mirror, "u.item").exists():
        pytest.skip("MovieLens may not be redistributed: set HELDOUT_MIRROR to a folder that holds u.data and u.item")
    content = {name: Path(mirror, name).read_bytes() for name in ("u.data", "u.item")}
    ratings = read_ratings("u.data", content["u.data"])
    assert (len(ratings), len(ratings.users), len(ratings.items)) == (100_000, 943, 1682)
    assert np.bincount(ratings.value).tolist() == [0, 6110, 11370, 27145, 34174, 21201]
    assert set(read_films("u.item", content["u.item"])) == set(ratings.items)
