"""Splits: held-out documents, the half of each that is shown, and tokens that train, validate and test."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.seeds import generator

Tokens = NDArray[np.int32]


def train_test_split(corpus: Corpus, test_documents: int, seed: int) -> tuple[Corpus, Corpus]:
    """Divide a corpus at random into training and test documents, each in the corpus's own order.

    The draw is named by (corpus, seed) alone, so every model sees the same split.

    Raises:
        InputError: when either side would be empty.

    Examples:
        >>> corpus = Corpus.from_documents("tiny", [(f"d{d}", ["wing", "flow"]) for d in range(5)])
        >>> training, test = train_test_split(corpus, test_documents=2, seed=0)
        >>> training.n_documents, test.n_documents
        (3, 2)
        >>> sorted(training.documents + test.documents)
        ['d0', 'd1', 'd2', 'd3', 'd4']
    """
    if not 0 < test_documents < corpus.n_documents:
        raise InputError(
            f"corpus {corpus.name}: {test_documents} test documents cannot be held out of {corpus.n_documents};"
            " leave at least one document on each side"
        )
    order = generator("train-test-split", corpus=corpus.name, seed=seed).permutation(corpus.n_documents)
    return corpus.subset(np.sort(order[test_documents:])), corpus.subset(np.sort(order[:test_documents]))


def half_split(test: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Divide every document's tokens at random into an observed half and a scored half.

    A document of L tokens shows floor(L / 2) of them and is scored on the others; both halves keep the
    tokens' order. The draw is named by (corpus, document, seed), so it is the same for every model and
    does not depend on which other documents are held out.

    Examples:
        >>> test = Corpus.from_documents("tiny", [("a", ["wing", "flow", "wing", "heat", "lift"])])
        >>> observed, scored = half_split(test, seed=0)
        >>> observed.n_tokens, scored.n_tokens
        (2, 3)
    """
    observed, scored = [], []
    for d, name in enumerate(test.documents):
        stream = test.document(d)
        order = generator("half-split", corpus=test.name, document=name, seed=seed).permutation(len(stream))
        half = len(stream) // 2
        observed.append(stream[np.sort(order[:half])])
        scored.append(stream[np.sort(order[half:])])
    return test.with_streams(observed, test.documents), test.with_streams(scored, test.documents)


class TokenSplit(NamedTuple):
    """Every document's tokens in three parts, over the words that have a training token somewhere (`token_split`).

    Attributes:
        training, validation, test: the same documents, in the same order; the vocabulary is `training`'s.
        validation_left_out, test_left_out: tokens of the two parts whose word has no training token.
    """

    training: Corpus
    validation: Corpus
    test: Corpus
    validation_left_out: int
    test_left_out: int


def token_split(corpus: Corpus, shares: tuple[float, ...], seed: int) -> TokenSplit:
    """Divide every document's tokens at random into a training, a validation and a test part.

    Of a document's L tokens, shares[0] L train (rounded to the nearest whole number, halves up, and at least one). Of
    the others, shares[2] L test, rounded in the same way, or all if there are fewer; the rest validates. A document
    that is too short for three parts therefore goes without validation tokens first. The parts keep the tokens' order.
    The draw is named by (corpus, document, seed), so it is the same for every model and does not depend on the other
    documents. Words without any training token leave the vocabulary, so that no model has to give them a probability;
    their tokens are counted.

    Raises:
        InputError: on shares that are not positive or do not sum to 1, or where a part would have no token at all.

    Examples:
        >>> corpus = Corpus.from_documents("tiny", [("a", ["wing"] * 10), ("b", ["wing"] * 20)])
        >>> split = token_split(corpus, shares=(0.7, 0.1, 0.2), seed=0)
        >>> split.training.lengths, split.validation.lengths, split.test.lengths
        (array([ 7, 14]), array([1, 2]), array([2, 4]))
    """
    if not (min(shares) > 0.0 and abs(sum(shares) - 1.0) < 1e-9):
        raise InputError(f"corpus {corpus.name}: the shares of tokens {shares} must be positive and sum to 1")
    parts: tuple[list[Tokens], list[Tokens], list[Tokens]] = ([], [], [])
    for d, name in enumerate(corpus.documents):
        stream = corpus.document(d)
        order = generator("token-split", corpus=corpus.name, document=name, seed=seed).permutation(len(stream))
        training = min(len(stream), max(1, int(shares[0] * len(stream) + 0.5)))
        validation = max(training, len(stream) - int(shares[2] * len(stream) + 0.5))  # where the test part begins
        for part, chosen in zip(parts, np.split(order, [training, validation]), strict=True):
            part.append(stream[np.sort(chosen)])
    seen = np.zeros(corpus.n_words, dtype=bool)
    seen[np.concatenate(parts[0])] = True
    index = (np.cumsum(seen) - 1).astype(np.int32)
    vocabulary = tuple(word for word, kept in zip(corpus.vocabulary, seen, strict=True) if kept)
    corpora, left_out = [], []
    for part, what in zip(parts, ("training", "validation", "test"), strict=True):
        kept = [index[stream[seen[stream]]] for stream in part]
        if not any(map(len, kept)):
            raise InputError(f"corpus {corpus.name}: no token is left for the {what} part; its documents are too short")
        corpora.append(corpus.with_streams(kept, corpus.documents, vocabulary))
        left_out.append(sum(map(len, part)) - corpora[-1].n_tokens)
    return TokenSplit(corpora[0], corpora[1], corpora[2], left_out[1], left_out[2])
