"""A model and documents: their lengths, whether they are like the model's own, and the cost of exact values."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from heldout.auditing.blocks import batches
from heldout.auditing.matching import check_like, model_digest, opened
from heldout.auditing.options import Options
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.priors import prior_of
from heldout.libraries import Fitted, Reported
from heldout.libraries.priors import with_own_priors
from heldout.libraries.reported import reported
from heldout.topics import AnyTopics
from heldout.typing import Ints


class Survey(NamedTuple):
    """The sizes of documents, and the cost of their exact likelihood.

    Attributes:
        lengths: (D,) tokens in the vocabulary.
        left_out: (D,) tokens outside it.
        updates: the cost of all documents' exact likelihood; inf beyond the limit, or if a document needs too much
            memory.
        words: (V,) how often each word of the model occurs.
    """

    lengths: Ints
    left_out: Ints
    updates: float
    words: Ints


def survey(documents: Corpus, left_out: Ints, topics: AnyTopics, limit: float) -> Survey:
    """Return the sizes of documents, and the cost of their exact likelihood.

    Args:
        documents: D documents over the model's words.
        left_out: (D,) tokens outside them.
        topics: phi and the prior.
        limit: updates; counting the cost of the exact likelihood stops beyond it.

    Raises:
        InputError: when there is no token to score, or priors of the documents' own are of others.
    """
    D, known, name = documents.n_documents, topics.n_priors, documents.name
    if not D:
        raise InputError(f"{name}: no document in it")
    if known is not None and known != D:
        raise InputError(
            f"{name}: {D:,} documents, but priors (by labels, metadata or means) of {known:,}; give one to each,"
            " in the documents' order"
        )
    if not documents.n_tokens and not left_out.any():
        raise InputError(f"{name}: {D} documents, all empty; give documents that have words")
    if not documents.n_tokens:
        raise InputError(
            f"{name}: none of the {int(left_out.sum())} tokens is a word of the model; take the documents' own model,"
            " its preprocessing, or its vocabulary"
        )
    updates, prior = 0.0, prior_of(topics)
    for d in np.flatnonzero(documents.lengths):
        updates += prior.document_cost(topics.of_documents(np.array([d])), documents.document(int(d)))
        if not updates <= limit:
            updates = math.inf
            break
    words = np.bincount(documents.tokens, minlength=topics.phi.shape[1])
    return Survey(documents.lengths, left_out, updates, words)


class Subject(NamedTuple):
    """A model, and documents over its words.

    Attributes:
        fitted: the model, smoothed where that is asked for.
        own: the model as its library has it.
        name: the model's.
        documents, read: the documents, and their sizes.
    """

    fitted: Fitted
    own: Fitted
    name: str
    documents: Corpus
    read: Survey

    @property
    def topics(self) -> AnyTopics:
        """Phi and the prior, smoothed where that is asked for."""
        return self.fitted.topics

    def key(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the model, documents and settings that the documents' values depend on, JSON-compatible."""
        documents = self.documents.provenance["digest"]
        return {"model": model_digest(self.fitted), "documents": documents, "settings": settings}

    def reported(self, *, ask: bool) -> Reported:
        """Return the library's own number of the documents, or a note that it was not asked."""
        if not ask:
            return Reported("", note="the library was not asked")
        return reported(self.own, [batch for _, batch in batches(self.documents)])


def subject_of(
    model: Any,
    documents: Any,
    vocabulary: Sequence[str] | None,
    options: Options,
    name: str = "",
    *,
    refuse: bool = True,
) -> Subject:
    """Return a model and documents over its words.

    Args:
        model: see `heldout.audit`.
        documents: see `heldout.audit`.
        vocabulary: the model's words, for a model that does not name them.
        options: the seed, the limit, smoothing, and whether documents of another corpus are meant.
        name: the model's, where it is given one.
        refuse: whether to refuse documents that are unlike the model's own; or warn, as in folds of one corpus.

    Raises:
        InputError: for bad input, or documents that are unlike the model's own.
    """
    own, its_name, matched, left_out = opened(model, documents, vocabulary, options.random_state)
    own = with_own_priors(own, its_name, options.labels, options.metadata)
    fitted = replace(own, topics=own.topics.smoothed(options.smoothing)) if options.smoothing else own
    read = survey(matched, left_out, fitted.topics, options.limit)
    name = name or its_name
    if not options.other_corpus:
        check_like(own.topics, matched, f"{name}: {matched.name}", refuse=refuse)
    return Subject(fitted, own, name, matched, read)
