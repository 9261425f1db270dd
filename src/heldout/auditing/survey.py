"""The first reading of the documents: their lengths, whether they are like the model's own, what exact values cost."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import Block, local
from heldout.auditing.co_occurrence import Sample
from heldout.auditing.matching import check_like, model_digest, opened
from heldout.auditing.options import Options
from heldout.corpora.corpus import Corpus
from heldout.corpora.stream import DocumentStream
from heldout.errors import InputError
from heldout.evaluators.priors import prior_of
from heldout.libraries import Fitted, Reported
from heldout.libraries.priors import with_own_priors
from heldout.libraries.reported import reported
from heldout.topics import AnyTopics
from heldout.typing import Ints

PILOT = 4  # documents
PILOT_TOKENS = 200  # the most tokens of a document in a pilot


class Survey(NamedTuple):
    """The results of a first reading of the documents.

    Attributes:
        lengths: (D,) tokens in the vocabulary.
        left_out: (D,) tokens outside it.
        updates: the cost of all documents' exact likelihood; inf beyond the limit, or if a document needs too much
            memory.
        pilot: the first documents with tokens, shortened.
        pilot_places: their places in the stream.
        words: (V,) how often each word of the model occurs.
        sample: first documents with tokens, to see which words occur together.
    """

    lengths: Ints
    left_out: Ints
    updates: float
    pilot: Block
    pilot_places: Ints
    words: Ints
    sample: Sample


def survey(stream: DocumentStream, topics: AnyTopics, limit: float) -> Survey:
    """Read the documents once.

    Args:
        stream: D documents over the model's words.
        topics: phi and the prior.
        limit: updates; counting the cost of the exact likelihood stops beyond it.

    Raises:
        InputError: when there is no token to score.
    """
    V = topics.phi.shape[1]
    lengths, left_out = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    updates, words = 0.0, np.zeros(V, np.int64)
    pilot: list[NDArray[np.int32]] = []
    pilot_places: list[int] = []
    sample = Sample()
    known, prior = topics.n_priors, prior_of(topics)
    for batch in stream:
        lengths.append(batch.lengths)
        left_out.append(batch.left_out)
        if known is not None and batch.first + batch.n_documents > known:
            raise InputError(
                f"{stream.name}: more documents than the {known:,} of which labels or metadata are given; give one"
                " entry to each document, in their order"
            )
        words += np.bincount(batch.tokens, minlength=V)
        for d in np.flatnonzero(batch.lengths) if updates < math.inf or not sample.full else ():
            tokens = batch.document(int(d))
            sample.add(batch.first + int(d), tokens)
            if len(pilot) < PILOT:
                pilot.append(tokens[:PILOT_TOKENS].copy())
                pilot_places.append(batch.first + int(d))
            if updates < math.inf:
                updates += prior.document_cost(topics.of_documents(np.array([batch.first + d])), tokens)
            updates = updates if updates <= limit else math.inf
    at = np.array(pilot_places, np.int64)
    read = Survey(np.concatenate(lengths), np.concatenate(left_out), updates, Block.of(0, pilot), at, words, sample)
    D = len(read.lengths)
    if not D:
        raise InputError(f"{stream.name}: no document in it")
    if known is not None and known != D:
        raise InputError(
            f"{stream.name}: {D:,} documents, but labels or metadata of {known:,}; give one entry to each"
            " document, in their order"
        )
    if not read.lengths.any() and not read.left_out.any():
        raise InputError(f"{stream.name}: {D} documents, all empty; give documents that have words")
    if not read.lengths.any():
        raise InputError(
            f"{stream.name}: none of the {int(read.left_out.sum())} tokens is a word of the model; take the documents'"
            " own model, its preprocessing, or its vocabulary"
        )
    return read


class Subject(NamedTuple):
    """A model, and documents over its words that have been read once.

    Attributes:
        fitted: the model, smoothed where that is asked for.
        own: the model as its library has it.
        name: the model's.
        stream, read: the documents, and what the first reading found.
    """

    fitted: Fitted
    own: Fitted
    name: str
    stream: DocumentStream
    read: Survey

    @property
    def topics(self) -> AnyTopics:
        """Phi and the prior, smoothed where that is asked for."""
        return self.fitted.topics

    @property
    def pilot(self) -> tuple[AnyTopics, Corpus]:
        """The pilot's documents, and the topics over their words."""
        topics = self.topics
        return local(topics.phi_by_word, topics.of_documents(self.read.pilot_places), self.read.pilot)

    def key(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return what the documents' values depend on, JSON-compatible, with these settings."""
        return {"model": model_digest(self.fitted), "documents": self.stream.digest, "settings": settings}

    def reported(self, *, ask: bool) -> Reported:
        """Return the library's own number of the documents, or a note that it was not asked."""
        return reported(self.own, self.stream) if ask else Reported("", note="the library was not asked")


def subject_of(
    model: Any, documents: Any, vocabulary: Sequence[str] | None, options: Options, name: str = ""
) -> Subject:
    """Open a model and documents, and read the documents once.

    Args:
        model: see `heldout.audit`.
        documents: see `heldout.audit`.
        vocabulary: the model's words, for a model that does not name them.
        options: the seed, the limit, smoothing, and whether documents of another corpus are meant.
        name: the model's, where it is given one.

    Raises:
        InputError: for bad input, or documents that are unlike the model's own.
    """
    own, its_name, stream = opened(model, documents, vocabulary, options.random_state)
    own = with_own_priors(own, its_name, options.labels, options.metadata)
    fitted = replace(own, topics=own.topics.smoothed(options.smoothing)) if options.smoothing else own
    read = survey(stream, fitted.topics, options.limit)
    name = name or its_name
    if not options.other_corpus:
        documents = int(np.count_nonzero(read.lengths))
        check_like(own.topics, read.words, documents, read.sample, f"{name}: {stream.name}")
    return Subject(fitted, own, name, stream, read)
