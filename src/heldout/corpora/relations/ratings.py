"""Ratings of items by users, and MovieLens's three files: u.data, u.item and u.user."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import INTEGER, integer
from heldout.corpora.records import from_responses, responses_of
from heldout.errors import InputError
from heldout.typing import Floats, Ints

STARS = ("1", "2", "3", "4", "5")
SCALE = (1, len(STARS))
GENRES = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings, each by one user of one item.

    Attributes:
        users, items: the N and M names.
        user, item: (n,) user and item of each rating, as indices of the names.
        value: (n,) whole numbers within the scale.
        scale: the lowest and the highest rating there can be.
        time: (n,) seconds since 1970; zeros where no times are known.

    Raises:
        InputError: for a rating outside the scale, a second one of the same pair, or an index without a name.

    Examples:
        >>> ratings = Ratings(("ann", "bob"), ("film",), np.array([0, 1]), np.array([0, 0]), np.array([5, 3]))
        >>> ratings.mask().toarray()
        array([[1.],
               [1.]])
    """

    users: tuple[str, ...]
    items: tuple[str, ...]
    user: Ints
    item: Ints
    value: Ints
    scale: tuple[int, int] = SCALE
    time: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not len(self.user) == len(self.item) == len(self.value) or len(self.time) not in (0, len(self.user)):
            raise InputError("ratings: users, items, values and times must be of one number")
        if len(self.time) == 0:
            object.__setattr__(self, "time", np.zeros(len(self.user), np.int64))
        for what, index, names in (("user", self.user, self.users), ("item", self.item, self.items)):
            if len(index) and not (index.min() >= 0 and index.max() < len(names)):
                raise InputError(f"ratings: {what} {index.max()} has no name; there are {len(names)}")
        low, high = self.scale
        bad = np.flatnonzero((self.value < low) | (self.value > high))
        if len(bad):
            raise InputError(f"ratings: {self._named(bad[0])} is {self.value[bad[0]]}, outside {low} to {high}")
        cells = self.user * len(self.items) + self.item
        order = np.argsort(cells, kind="stable")
        twice = order[1:][np.diff(cells[order]) == 0]
        if len(twice):
            raise InputError(f"ratings: {self._named(twice[0])} is there twice; keep one")

    def _named(self, place: int) -> str:
        return f"the rating of item {self.items[self.item[place]]} by user {self.users[self.user[place]]}"

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Return the ratings of a corpus of records (`heldout.corpora.records`), without times; variables are items.

        Raises:
            InputError: for a corpus of documents.
        """
        responses = responses_of(corpus)
        user, item = np.nonzero(responses >= 0)
        M = corpus.n_words // responses.shape[1]
        items = tuple(word.rpartition("=")[0] for word in corpus.vocabulary[::M])
        return cls(corpus.documents, items, user, item, responses[user, item] + 1, (1, M))

    @classmethod
    def of_counts(cls, corpus: Corpus) -> Self:
        """Return the counts of words in documents, at most 5, in the form of ratings."""
        counts = corpus.counts().tocoo()
        value = np.minimum(counts.data, SCALE[1]).astype(np.int64)
        user, item = (np.asarray(axis, dtype=np.int64) for axis in counts.coords)
        return cls(corpus.documents, corpus.vocabulary, user, item, value)

    def __len__(self) -> int:
        """Return the number of ratings, n."""
        return len(self.value)

    @property
    def numbers(self) -> Ints:
        """Number of ratings of each user, (N,)."""
        return np.bincount(self.user, minlength=len(self.users))

    def take(self, chosen: Ints) -> "Ratings":
        """Return the ratings at `chosen` of the n positions, with the same users and items."""
        user, item, value, time = (array[chosen] for array in (self.user, self.item, self.value, self.time))
        return Ratings(self.users, self.items, user, item, value, self.scale, time)

    def mask(self, weights: Floats | None = None) -> sp.csr_array:
        """Return the (N, M) matrix with a weight (n,), or 1, at every rating; a weight of 0 is stored."""
        data = np.ones(len(self)) if weights is None else weights
        shape = (len(self.users), len(self.items))
        return sp.csr_array(sp.coo_array((data, (self.user, self.item)), shape=shape))

    def by_user(self, values: Floats) -> Floats:
        """Return the sum over each user's ratings, (N,), of values (n,)."""
        return np.asarray(np.bincount(self.user, values, len(self.users)), dtype=float)

    def responses(self) -> Ints:
        """Return the (N, M) ratings from 0, -1 for a gap, as models of records take them."""
        grid = np.full((len(self.users), len(self.items)), -1, dtype=np.int64)
        grid[self.user, self.item] = self.value - self.scale[0]
        return grid


def read_ratings(file: str, content: bytes) -> Ratings:
    """Return the ratings of MovieLens's u.data: a line is user, film, 1 to 5 stars and a time, between tabs.

    Raises:
        InputError: names the line that is something else, or rates a film a second time.
    """
    rows, seen = [], set[tuple[int, ...]]()
    for where, columns in _lines(file, content, "\t"):
        if len(columns) != 4 or not all(INTEGER.fullmatch(column) for column in columns):
            raise InputError(f"{where}: expected user, film, stars and time, found {' '.join(columns)[:40]!r}")
        limits = (("the user", 1, 10**6), ("the film", 1, 10**6), ("the stars", *SCALE), ("the time", 0, 10**12))
        row = [integer(text, name, where, low, high) for text, (name, low, high) in zip(columns, limits, strict=True)]
        if tuple(row[:2]) in seen:
            raise InputError(f"{where}: user {row[0]} has rated film {row[1]} already")
        seen.add(tuple(row[:2]))
        rows.append(row)
    if not rows:
        raise InputError(f"{file}: no ratings")
    user, item, value, time = np.array(rows, dtype=np.int64).T
    users, user = np.unique(user, return_inverse=True)
    items, item = np.unique(item, return_inverse=True)
    return Ratings(tuple(map(str, users)), tuple(map(str, items)), user, item, value, SCALE, time)


def read_corpus(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return MovieLens as records (`heldout.corpora.records`): users are records, films variables, gaps as they are.

    Of u.data, and of u.item where it is among the members: its titles and genres, in the order of the films, stand in
    the provenance.

    Raises:
        InputError: as `read_ratings` and `read_films` do, and for a rated film that u.item lacks.
    """
    (file, content), *other_files = members.items()
    ratings = read_ratings(file, content)
    names = tuple(f"film-{film}" for film in ratings.items)
    corpus = from_responses(name, ratings.responses(), names, STARS, ratings.users)
    for other, lines in other_files:
        films = read_films(other, lines)
        lacking = [film for film in ratings.items if film not in films]
        if lacking:
            raise InputError(f"{other}: no film {lacking[0]}, which {file} rates")
        kept_films = [films[film] for film in ratings.items]
        corpus.provenance.update(titles=[f.title for f in kept_films], genres=[list(f.genres) for f in kept_films])
    return corpus


class Film(NamedTuple):
    """A line of u.item: a film's title, with its year, and its genres."""

    title: str
    genres: tuple[str, ...]


def read_films(file: str, content: bytes) -> dict[str, Film]:
    """Return the films of MovieLens's u.item by number.

    Raises:
        InputError: names the line that is something else, or of a film that was there before.
    """
    films: dict[str, Film] = {}
    for where, columns in _lines(file, content, "|"):
        flags = columns[-len(GENRES) :]
        if len(columns) != 5 + len(GENRES) or not set(flags) <= {"0", "1"}:
            raise InputError(f"{where}: expected number, title, two dates, address and {len(GENRES)} genres")
        if columns[0] in films:
            raise InputError(f"{where}: film {columns[0]} is there already")
        films[columns[0]] = Film(columns[1], tuple(g for g, flag in zip(GENRES, flags, strict=True) if flag == "1"))
    return films


def _lines(file: str, content: bytes, separator: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the place of every line, and its columns; the files are latin-1."""
    for number, line in enumerate(content.decode("latin-1").splitlines(), start=1):
        yield f"{file}: line {number}", line.split(separator)
