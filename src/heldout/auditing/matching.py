"""Matching of a model and documents: both over the same words."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.stream import DocumentStream, open_documents
from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.libraries.checks import in_order
from heldout.libraries.pipeline import unwrap
from heldout.topics import AnyTopics
from heldout.typing import Ints

LEAST_SEEN, MOST_EXCESS, FEWEST_TOKENS = 0.6, 1.0, 1000  # share of the expectation; nats per token; to judge by


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


def opened(
    model: Any, documents: Any, vocabulary: Sequence[str] | None, seed: int
) -> tuple[Fitted, str, DocumentStream]:
    """Return a model of any supported kind, its name, and documents of any form, both over the model's words.

    Args:
        model: see `heldout.audit`.
        documents: see `heldout.audit`; a pipeline makes counts of texts, or of a matrix, as it does for its model.
        vocabulary: the model's words, for a model that does not name them.
        seed: determines the order of a bag's tokens.

    Raises:
        InputError: for bad input; names the file, line or document.
    """
    fitted, name = as_fitted(model, vocabulary)
    if isinstance(documents, DocumentStream):
        stream = documents
    else:
        inside = unwrap(model)
        counts = inside.counts(documents)
        stream = open_documents(counts)
        if counts is not documents and fitted.words_known and stream.words is None:
            words = fitted.topics.vocabulary
            stream = replace(stream, words=words, n_words=len(words))
    fitted, stream = over_same_words(fitted, replace(stream, seed=seed))
    return fitted, name, stream


def over_same_words(fitted: Fitted, stream: DocumentStream) -> tuple[Fitted, DocumentStream]:
    """Return model and documents over the model's words, matched by name, or by index if the model names none.

    A model that names no words takes the documents' names.

    Raises:
        InputError: when words can be matched neither way.
    """
    from heldout.libraries.read import library_of

    if fitted.words_known:
        if library_of(fitted).own_numbers and stream.words is None and not stream.texts:
            raise InputError(
                f"{stream.name}: these documents number their words and do not name them, and {fitted.library} gives"
                " words numbers of its own; name the documents' words: in Python by a table whose"
                " columns are words, pandas.DataFrame(X.toarray(), columns=words), or by lists of words; for the"
                " command in a file, one per line (--documents-vocabulary)"
            )
        return fitted, stream.over(fitted.topics.vocabulary)
    stream = stream.placed(len(fitted.topics.vocabulary))
    if stream.vocabulary is not None:
        fitted = replace(fitted, topics=replace(fitted.topics, vocabulary=stream.vocabulary))
    return fitted, stream


def unlike(topics: AnyTopics, words: Ints) -> str:
    """Describe how documents differ from the model's own corpus, if they differ too much to be from it.

    Under the model a token is w with p(w) = sum_k E[theta_k] phi[k, w]. In N tokens the words that occur are expected
    to have the total probability sum_w p(w) (1 - (1 - p(w))^N), and a token costs the entropy of p. Documents of the
    model's corpus are only burstier than N draws. Documents of another corpus, and words matched by index in the wrong
    order, lack frequent words of the model or repeat rare ones.

    Args:
        topics: phi and the prior.
        words: (V,) how often each word occurs.

    Returns:
        A clause that describes the difference; empty if there is no such difference, or too few tokens to tell.
    """
    N = int(words.sum())
    if N < FEWEST_TOKENS:
        return ""
    p = topics.mean_weights @ topics.phi
    possible = p > 0.0
    seen = float(p[words > 0].sum())
    expected = float(-(p[possible] * np.expm1(N * np.log1p(-np.minimum(p[possible], 0.5)))).sum())
    if seen < LEAST_SEEN * expected:
        return f"the words that occur have {seen:.0%} of its probability, where {expected:.0%} is to be expected"
    both = possible & (words > 0)
    excess = float(-(words[both] / N * np.log(p[both])).sum() + (p[possible] * np.log(p[possible])).sum())
    if excess > MOST_EXCESS:
        return f"their tokens are {math.exp(excess):.0f} times rarer under it than is to be expected"
    return ""


def model_digest(fitted: Fitted) -> str:
    """Return the SHA-256 of phi, the prior and the words, hexadecimal."""
    topics = fitted.topics
    digest = hashlib.sha256(f"{topics.phi.shape}".encode())
    for array in (topics.phi, *topics.parameters.values()):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).data)
    digest.update("\0".join(topics.vocabulary).encode(errors="surrogatepass"))
    return digest.hexdigest()
