"""Matching of a model and documents: both over the same words."""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import bdtrc

from heldout.auditing.co_occurrence import co_occurrence, flat_topics
from heldout.auditing.formats import amount
from heldout.auditing.word_order import word_order
from heldout.corpora.corpus import Corpus
from heldout.corpora.documents import (
    COLUMNS,
    NUMBERS,
    TEXTS,
    digest_of,
    each_once,
    in_random_order,
    read_documents,
    unmatched,
    with_words,
)
from heldout.errors import InputError, InputWarning
from heldout.libraries import Fitted
from heldout.libraries.checks import in_order
from heldout.libraries.pipeline import unwrap
from heldout.topics import AnyTopics
from heldout.typing import Ints

TELLING = 100  # words: of fewer, a random order is often near the right one
LEAST_SCORE = 2.5  # standard deviations from a random order; 1 in 160 random orders is beyond
TELLING_SCORE, TELLING_CO_OCCURRENCE = 12.0, 25.0  # expected scores from which a low one tells
DOUBTFUL = 8.0  # expected score of co-occurrence from which a low one is a warning
RARE_SHARE, CHANCE = 0.05, 1e-3  # largest share of rare words among the frequent ones; chance of more, by Binomial


def as_fitted(model: Any, vocabulary: Sequence[str] | None) -> tuple[Fitted, str]:
    """Return a model of any supported kind as `Fitted`, and its name.

    Args:
        model: see `heldout.audit`.
        vocabulary: the model's words, for a model that does not name them.

    Raises:
        InputError: when the model cannot be read, or its words are not those of the vocabulary.
    """
    from heldout.libraries import read

    if not isinstance(model, str | Path | Fitted):
        return read.fitted(model, vocabulary), type(model).__name__
    if isinstance(model, Fitted):
        fitted, name = model, type(model.native).__name__ if model.native is not None else model.library
    else:
        fitted, name = read.read_model(Path(model)), Path(model).name
    if vocabulary is not None:
        vocabulary = in_order(vocabulary)
        words = fitted.topics.vocabulary
        if fitted.words_known and tuple(vocabulary) != words:
            raise InputError("the model names its words, and the vocabulary has others; leave the vocabulary out")
        if len(vocabulary) != len(words):
            raise InputError(f"{len(vocabulary)} words, but the model has {len(words)}; give its own")
        fitted = replace(fitted, topics=replace(fitted.topics, vocabulary=tuple(vocabulary)), words_known=True)
    return fitted, name


def opened(model: Any, documents: Any, vocabulary: Sequence[str] | None, seed: int) -> tuple[Fitted, str, Corpus, Ints]:
    """Return a model of any supported kind, its name, documents of any form over its words, and the tokens left out.

    Args:
        model: see `heldout.audit`.
        documents: see `heldout.audit`; a pipeline makes counts of texts, or of a matrix, as it does for its model.
        vocabulary: the model's words, for a model that does not name them.
        seed: determines the order of a bag's tokens.

    Returns:
        The model, its name, the D documents, whose provenance has a "digest" of what was read, and of each how many
        tokens are no word of the model, (D,).

    Raises:
        InputError: for bad input; names the file, line or document.
    """
    fitted, name = as_fitted(model, vocabulary)
    counts = unwrap(model).counts(documents)
    read = read_documents(counts)
    if counts is documents and getattr(vocabulary, "binary", False):
        read = each_once(read)
    if counts is not documents and fitted.words_known and read.provenance.get("words") == COLUMNS:
        read = with_words(read, fitted.topics.vocabulary)
    fitted, matched = over_same_words(fitted, read)
    known = unmatched(read, fitted.topics.vocabulary)
    matched = replace(matched, provenance=read.provenance | {"digest": digest_of(read)} | known)
    return fitted, name, in_random_order(matched, seed), read.lengths - matched.lengths


def over_same_words(fitted: Fitted, documents: Corpus) -> tuple[Fitted, Corpus]:
    """Return model and documents over the model's words, matched by name, or by number where either names none.

    A model that names no words takes the documents' names.

    Raises:
        InputError: when words can be matched neither way.
    """
    from heldout.libraries.read import library_of

    words, known = fitted.topics.vocabulary, documents.provenance.get("words")
    numbered = known in (COLUMNS, NUMBERS)
    if fitted.words_known and library_of(fitted).own_numbers and numbered:
        raise InputError(
            f"{documents.name}: these documents number their words and do not name them, and {fitted.library} gives"
            " words numbers of its own; name the documents' words: in Python by a table whose"
            " columns are words, pandas.DataFrame(X.toarray(), columns=words), or by lists of words; for the"
            " command in a file, one per line (--documents-vocabulary)"
        )
    if fitted.words_known:
        return fitted, with_words(documents, words) if numbered else documents.over(words)[0]
    if known == TEXTS:
        raise InputError(
            f"{documents.name}: texts, but the model names no words; give its vocabulary (vocabulary=, --vocabulary)"
        )
    if documents.n_words > len(words) or (documents.n_words < len(words) and known != NUMBERS):
        raise InputError(
            f"{documents.name}: {documents.n_words} words, but the model has {len(words)} and does not name them;"
            " give the model's vocabulary (vocabulary=, --vocabulary) or the corpus that it was trained on"
        )
    if numbered:
        documents = replace(documents, vocabulary=tuple(map(str, range(len(words)))))
    return replace(fitted, topics=replace(fitted.topics, vocabulary=documents.vocabulary)), documents


def check_like(topics: AnyTopics, documents: Corpus, what: str, *, refuse: bool = True) -> None:
    """Check that documents are like the model's own: their words' order, and which of them occur together.

    Documents are unlike where their words fit no better than in a random order, where frequent ones are rare in the
    model (`heldout.auditing.word_order`), or where these do not occur together as the topics have them
    (`heldout.auditing.co_occurrence`). A model of `TELLING` words, or fewer, passes: of few words a random order is
    often near the right one.

    Args:
        topics: phi and the prior.
        documents: documents over the model's words.
        what: the model and the documents, for the message.
        refuse: whether to refuse them; or warn.

    Raises:
        InputError: where they are unlike, and their sizes tell; where these do not, a warning says it.
    """
    if documents.n_words <= TELLING or np.count_nonzero(np.bincount(documents.tokens)) < 2:
        return
    order, tells = word_order(topics.phi, documents), True
    if order.rare and bdtrc(order.rare - 1, len(order.frequent), RARE_SHARE) < CHANCE:
        fault = f"of their {len(order.frequent)} most frequent words {order.rare} are rare in the model"
    elif order.score < LEAST_SCORE:
        tells = order.expected >= TELLING_SCORE
        if not tells and order.score > 0.0:
            return
        fault = (
            f"their words stand {order.score:.1f} standard deviations from a random order, where"
            f" {order.expected:.0f} are expected"
        )
    else:
        score = co_occurrence(topics, documents, order.frequent)
        if score >= LEAST_SCORE:
            return
        expected = co_occurrence(topics, documents, order.frequent, drawn=True)
        if expected < DOUBTFUL:
            return
        tells = expected >= TELLING_CO_OCCURRENCE
        fault = (
            "their frequent words do not occur together as the topics have them: they do by"
            f" {score:.1f} standard deviations, its own by {expected:.0f}"
        )
    if flat := len(flat_topics(topics.phi)):
        fault += f"; {flat} of the model's {topics.n_topics} topics are nearly uniform"
    D, tokens = int(np.count_nonzero(documents.lengths)), documents.n_tokens
    if tells and refuse:
        raise InputError(
            f"{what}: these are not documents like the model's own: {fault}; give the model's own vocabulary or"
            " documents of its corpus, or say --other-corpus (other_corpus=True) where they are meant to be of another"
        )
    few = "" if tells else f", but {amount(D, 'document')} of {amount(tokens, 'token')} are too few to tell"
    warnings.warn(f"{what}: these may not be documents like the model's own: {fault}{few}", InputWarning, stacklevel=3)


def model_digest(fitted: Fitted) -> str:
    """Return the SHA-256 of phi, the prior and the words, hexadecimal."""
    topics = fitted.topics
    digest = hashlib.sha256(f"{topics.phi.shape}".encode())
    for array in (topics.phi, *topics.parameters.values()):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).data)
    digest.update("\0".join(topics.vocabulary).encode(errors="surrogatepass"))
    return digest.hexdigest()
