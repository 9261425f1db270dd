"""The first reading of the documents: their lengths, and the cost of their exact likelihood."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import Block
from heldout.auditing.cost import exact_updates
from heldout.corpora.stream import DocumentStream
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import AnyTopics

PILOT = 4  # documents
PILOT_TOKENS = 200  # of each, at most


class Survey(NamedTuple):
    """The results of a first reading of the documents.

    Attributes:
        lengths: (D,) tokens in the vocabulary.
        left_out: (D,) tokens outside it.
        updates: the cost of all documents' exact likelihood; inf beyond the limit, or if a document needs too much
            memory.
        pilot: the first documents with tokens, shortened.
        words: (V,) how often each word of the model occurs.
    """

    lengths: NDArray[np.int64]
    left_out: NDArray[np.int64]
    updates: float
    pilot: Block
    words: NDArray[np.int64]


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
    for batch in stream:
        lengths.append(batch.lengths)
        left_out.append(batch.left_out)
        words += np.bincount(batch.tokens, minlength=V)
        for d in np.flatnonzero(batch.lengths) if updates < math.inf or len(pilot) < PILOT else ():
            tokens = batch.document(int(d))
            if len(pilot) < PILOT:
                pilot.append(tokens[:PILOT_TOKENS].copy())
            updates += exact_updates(tokens, topics) if updates < math.inf else 0.0
            updates = updates if updates <= limit else math.inf
    read = Survey(np.concatenate(lengths), np.concatenate(left_out), updates, Block.of(0, pilot), words)
    D = len(read.lengths)
    if not D:
        raise InputError(f"{stream.name}: no document in it")
    if not read.lengths.any() and not read.left_out.any():
        raise InputError(f"{stream.name}: {D} documents, all empty; give documents that have words")
    if not read.lengths.any():
        raise InputError(
            f"{stream.name}: none of the {int(read.left_out.sum())} tokens is a word of the model; take the documents'"
            " own model, its preprocessing, or its vocabulary"
        )
    return read
