"""Documents in batches over a model's words, never all of them in memory: what an audit reads.

Each iteration over a stream reads its source anew. Where the documents and the model both name their words, words are
matched by name, and tokens of words that the model lacks are counted and left out. Otherwise word i of the documents is
word i of the model, and both must have the same number of words. Empty documents stay.

A bag of words has no order, but some estimators depend on one (linear time; left to right, with few samples), and to
them a sorted document is an unlikely sequence, because all its repeated words stand together. So a bag's tokens come in
a random order, drawn for every document by itself and named by (the document's place in the stream, seed).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus, offsets_of
from heldout.errors import InputError
from heldout.seeds import generator
from heldout.typing import Ints

LARGEST_DOCUMENT = 10**7  # tokens; a count beyond it is a damaged one
LARGEST_BATCH = 2 * 10**6  # tokens, after which a batch is closed
MOST_DOCUMENTS = 2 * 10**7
MOST_WORDS = 4 * 10**6
MOST_EMPTY = 10**5  # documents without a word, beside ten for each other one


class Document(NamedTuple):
    """A document as its source gives it.

    Attributes:
        name: a record number, a row, a file name.
        words: indices into the documents' own vocabulary, or the words themselves.
        counts: how often each word occurs; None where `words` are the tokens in their order.
    """

    name: str
    words: Ints | Sequence[str]
    counts: Ints | None


@dataclass(frozen=True, eq=False)
class Batch(Corpus):
    """Consecutive documents of a stream, as a corpus.

    Attributes:
        left_out: (D,) how many tokens of each document the vocabulary lacks.
        first: the first document's place in the stream, from 0.
    """

    left_out: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    first: int = 0


@dataclass(frozen=True, eq=False)
class DocumentStream:
    """Documents that can be iterated over, again and again, in batches.

    Attributes:
        name: the file's name, or a word for what the documents are.
        read: yields all documents.
        source_digest: returns the SHA-256 of the source, hexadecimal.
        words: the documents' own vocabulary; None where they have none.
        n_words: the size of that vocabulary, where it is known.
        texts: True where documents give their words themselves.
        n_documents: how many documents there are, where that is known before they are read.
        vocabulary: the words that batches are over; None before `over` or `placed` is called.
        batch: the largest number of documents in a batch.
        seed: determines the order of a bag's tokens.
    """

    name: str
    read: Callable[[], Iterator[Document]]
    source_digest: Callable[[], str]
    words: tuple[str, ...] | None = None
    n_words: int | None = None
    texts: bool = False
    n_documents: int | None = None
    vocabulary: tuple[str, ...] | None = None
    batch: int = 500
    seed: int = 0

    @property
    def digest(self) -> str:
        """The SHA-256 of the source and of the documents' own vocabulary, hexadecimal; reads the source once."""
        digest = hashlib.sha256(self.source_digest().encode())
        for word in self.words or ():
            digest.update(f"{word}\0".encode(errors="surrogatepass"))
        return digest.hexdigest()

    def over(self, vocabulary: tuple[str, ...]) -> "DocumentStream":
        """Return the stream over a model's words.

        Raises:
            InputError: where the documents name no words and have another number of them.
        """
        if self.words is None and self.n_words not in (None, len(vocabulary)):
            raise InputError(
                f"{self.name}: {self.n_words} words that are not named, but the model has {len(vocabulary)};"
                " give the documents' vocabulary, one word per line (--documents-vocabulary)"
            )
        return replace(self, vocabulary=vocabulary)

    def placed(self, n_words: int) -> "DocumentStream":
        """Return the stream over its own words, for a model of `n_words` words that does not name them.

        Raises:
            InputError: where the documents have another number of words, or only their words say which they are.
        """
        if self.texts:
            raise InputError(
                f"{self.name}: texts, but the model names no words; give its vocabulary (vocabulary=, --vocabulary)"
            )
        known = self.n_words if self.words is None else len(self.words)
        if known not in (None, n_words):
            raise InputError(
                f"{self.name}: {known} words, but the model has {n_words} and does not name them;"
                " give the model's vocabulary (vocabulary=, --vocabulary) or the corpus that it was trained on"
            )
        return replace(self, vocabulary=self.words or tuple(map(str, range(n_words))))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches; an InputError names file, line or document of what cannot be read."""
        vocabulary = self.words if self.vocabulary is None else self.vocabulary
        if vocabulary is None:
            if self.n_words is None or self.n_words > MOST_WORDS:
                count = "no vocabulary" if self.n_words is None else f"{self.n_words} words and no vocabulary"
                raise InputError(f"{self.name}: the documents have {count}; give one")
            vocabulary = tuple(map(str, range(self.n_words)))
        place = None if self.words in (None, vocabulary) else _places(self.words or (), vocabulary)
        index = {word: w for w, word in enumerate(vocabulary)} if self.texts else {}
        pending: list[tuple[str, NDArray[np.int32], int]] = []
        tokens = first = empty = 0
        for d, document in enumerate(self.read()):
            if d >= MOST_DOCUMENTS:
                raise InputError(f"{self.name}: more than {MOST_DOCUMENTS} documents; divide them")
            empty += not len(document.words)
            if empty > MOST_EMPTY + 10 * (d + 1 - empty):
                raise InputError(f"{self.name}: {empty} of the first {d + 1} documents are empty; leave them out")
            stream, left_out = self._stream(d, document, place, index, len(vocabulary))
            pending.append((document.name, stream, left_out))
            tokens += len(stream)
            if len(pending) == self.batch or tokens >= LARGEST_BATCH:
                yield self._batch(pending, vocabulary, first)
                pending, tokens, first = [], 0, d + 1
        if pending:
            yield self._batch(pending, vocabulary, first)

    def _stream(
        self, d: int, document: Document, place: Ints | None, index: dict[str, int], size: int
    ) -> tuple[NDArray[np.int32], int]:
        """Return a document's tokens over the vocabulary and how many it lacks."""
        words, counts = document.words, document.counts
        if not len(words):
            return np.zeros(0, np.int32), 0
        if not isinstance(words, np.ndarray):
            places = np.fromiter((index.get(word, -1) for word in words), np.int64, len(words))
        else:
            known = size if place is None else len(place)
            if int(words.max()) >= known:
                way_out = "the documents' vocabulary" if place is None else "the vocabulary of these documents, whole"
                raise InputError(
                    f"{self.name}: document {document.name}: word {int(words.max())} (counted from 0), but there are"
                    f" {known}; give {way_out} (--documents-vocabulary)"
                )
            places = words if place is None else place[words]
        # a sum of integers of 64 bits may wrap, their largest one may not
        total = len(places) if counts is None else max(int(counts.sum()), int(counts.max()))
        if total > LARGEST_DOCUMENT:
            raise InputError(
                f"{self.name}: document {document.name}: {total} tokens, more than {LARGEST_DOCUMENT};"
                " its counts are damaged, or it must be divided"
            )
        kept = places >= 0
        if counts is None:
            stream = places[kept].astype(np.int32)
        else:
            order = np.argsort(places[kept], kind="stable")  # however the source lists a bag, it is the same bag
            stream = np.repeat(places[kept][order], counts[kept][order]).astype(np.int32)
            generator("token-order", document=d, seed=self.seed).shuffle(stream)
        return stream, total - len(stream)

    def _batch(
        self, documents: list[tuple[str, NDArray[np.int32], int]], vocabulary: tuple[str, ...], first: int
    ) -> Batch:
        return Batch(
            name=self.name,
            vocabulary=vocabulary,
            tokens=np.concatenate([stream for _, stream, _ in documents]),
            offsets=offsets_of([len(stream) for _, stream, _ in documents]),
            documents=tuple(name for name, _, _ in documents),
            left_out=np.array([left_out for _, _, left_out in documents], dtype=np.int64),
            first=first,
        )


def _places(own: tuple[str, ...], vocabulary: tuple[str, ...]) -> Ints:
    index = {word: w for w, word in enumerate(vocabulary)}
    return np.array([index.get(word, -1) for word in own], dtype=np.int64)
