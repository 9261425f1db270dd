"""A corpus: documents as streams of word indices over one vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.files import Saved
from heldout.typing import Ints


def provenance(
    words: str,
    settings: Mapping[str, Any],
    *,
    sources: Sequence[Mapping[str, str]] = (),
    left_out: Sequence[str] = (),
    synthetic: bool = False,
    ordered: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """Return a corpus's provenance, JSON-compatible; `words` is the rule that made its words, for tables."""
    return {
        "sources": [dict(source) for source in sources],
        "rule": {"words": words, "settings": dict(settings)},
        "records_left_out": list(left_out),
        "synthetic": synthetic,
        "ordered": ordered,
        **more,
    }


def offsets_of(lengths: Sequence[int] | NDArray[np.integer]) -> Ints:
    """Return the first token of documents of (D,) lengths, one after the other, and the last one's end: (D + 1,)."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class Corpus(Saved):
    """Documents over one vocabulary, token order kept.

    Attributes:
        name: the corpus's name, in tables and scores.
        vocabulary: the V words; a token is an index into it.
        tokens: (N,) int32, the word indices of all documents, one document after the other.
        offsets: (D + 1,) int64; document d is `tokens[offsets[d]:offsets[d + 1]]`.
        documents: the D documents' names (a record number, a file name).
        provenance: the sources and their preprocessing; JSON-compatible. `synthetic` (bool) and
            `ordered` (bool, False where the source held counts only) are always there.

    Raises:
        InputError: on indices outside the vocabulary, offsets that do not fit, or repeated words.

    Examples:
        >>> corpus = Corpus.from_documents("tiny", [("a", ["wing", "flow", "wing"]), ("b", ["heat"])])
        >>> corpus.vocabulary
        ('flow', 'heat', 'wing')
        >>> corpus.document(0)
        array([2, 0, 2], dtype=int32)
        >>> corpus.counts().toarray()
        array([[1., 0., 2.],
               [0., 1., 0.]])
        >>> documents, left_out = corpus.over(("wing", "heat"))
        >>> documents.lengths, left_out
        (array([2, 1]), 1)
    """

    _saved = ("corpus", "make it again (`heldout import` makes one of your own)", False)

    name: str
    vocabulary: tuple[str, ...]
    tokens: NDArray[np.int32]
    offsets: Ints
    documents: tuple[str, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.documents) + 1 or self.offsets[0] != 0:
            raise InputError(f"corpus {self.name}: {len(self.documents)} documents need as many offsets and one more")
        if self.offsets[-1] != len(self.tokens) or np.any(np.diff(self.offsets) < 0):
            raise InputError(f"corpus {self.name}: the offsets do not divide its {len(self.tokens)} tokens")
        if len(self.tokens) and not 0 <= self.tokens.min() <= self.tokens.max() < len(self.vocabulary):
            raise InputError(f"corpus {self.name}: a token lies outside the vocabulary of {len(self.vocabulary)}")
        if len(set(self.vocabulary)) != len(self.vocabulary):
            raise InputError(f"corpus {self.name}: a word stands in the vocabulary twice")
        self.provenance.setdefault("synthetic", False)
        self.provenance.setdefault("ordered", True)

    @classmethod
    def from_documents(
        cls, name: str, documents: Sequence[tuple[str, Sequence[str]]], provenance: dict[str, Any] | None = None
    ) -> Self:
        """Return the corpus of documents, each a name and the words in order; the vocabulary is sorted."""
        vocabulary = tuple(sorted({word for _, words in documents for word in words}))
        index = {word: i for i, word in enumerate(vocabulary)}
        return cls(
            name=name,
            vocabulary=vocabulary,
            tokens=np.array([index[word] for _, words in documents for word in words], dtype=np.int32),
            offsets=offsets_of([len(words) for _, words in documents]),
            documents=tuple(document for document, _ in documents),
            provenance=dict(provenance or {}),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return len(self.documents)

    @property
    def n_words(self) -> int:
        """Size of the vocabulary, V."""
        return len(self.vocabulary)

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents, N."""
        return len(self.tokens)

    @property
    def lengths(self) -> Ints:
        """Tokens per document, (D,)."""
        return np.diff(self.offsets)

    @property
    def synthetic(self) -> bool:
        """Whether the documents were drawn from a model."""
        return bool(self.provenance["synthetic"])

    def document(self, index: int) -> NDArray[np.int32]:
        """Return document `index` as its (L,) word indices in order."""
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]

    def counts(self) -> sp.csr_array:
        """Return n(d, w), the (D, V) float64 sparse matrix of counts, column indices sorted."""
        rows = np.repeat(np.arange(self.n_documents, dtype=np.int64), self.lengths)
        ones = np.ones(self.n_tokens)
        matrix = sp.coo_array((ones, (rows, self.tokens)), shape=(self.n_documents, self.n_words)).tocsr()
        matrix.sum_duplicates()
        return matrix

    def subset(self, indices: Sequence[int] | NDArray[np.integer]) -> "Corpus":
        """Return the documents at `indices`, in that order, over the same vocabulary."""
        streams = [self.document(int(i)) for i in indices]
        return self.with_streams(streams, tuple(self.documents[int(i)] for i in indices))

    def with_streams(
        self,
        streams: Sequence[NDArray[np.int32]],
        documents: tuple[str, ...],
        vocabulary: tuple[str, ...] | None = None,
    ) -> "Corpus":
        """Return a corpus of other documents, over this one's vocabulary or the given one."""
        return replace(
            self,
            vocabulary=self.vocabulary if vocabulary is None else vocabulary,
            tokens=np.concatenate([np.zeros(0, np.int32), *streams]).astype(np.int32),
            offsets=offsets_of([len(stream) for stream in streams]),
            documents=documents,
            provenance=dict(self.provenance),
        )

    def over(self, vocabulary: tuple[str, ...]) -> tuple["Corpus", int]:
        """Return the documents over another vocabulary, and the number of tokens that it lacks."""
        if self.vocabulary == vocabulary:
            return self, 0
        index = {word: i for i, word in enumerate(vocabulary)}
        new = np.array([index.get(word, -1) for word in self.vocabulary], dtype=np.int32)
        streams = [new[self.document(d)] for d in range(self.n_documents)]
        kept = self.with_streams([stream[stream >= 0] for stream in streams], self.documents, vocabulary)
        return kept, self.n_tokens - kept.n_tokens
