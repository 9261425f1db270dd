"""Matching of a model and documents: both over the same words."""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heldout.auditing.co_occurrence import (
    LEAST_CO_OCCURRENCE,
    co_occurrence,
    draws,
    flat_topics,
    least_co_occurrence,
)
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
from heldout.seeds import generator
from heldout.topics import AnyTopics
from heldout.typing import Floats, Ints

EM_STEPS, TINY = 30, 1e-9
LEAST_LIKENESS = 0.22  # likeness of documents like the model's own: see benchmarks/guard.py
DOCUMENTS, FEWEST, TOKENS = 20, 1_000, 3_000  # documents with 1,000 tokens, or tokens, from which others are refused
FEW_TOKENS = 20_000  # tokens that may say little of many words: half the likeness of the model's draws is enough then
TELLING = 100  # words: of fewer, a random order is often near the right one


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


def mixed(phi: Floats, words: Ints) -> Floats:
    """Return the weights of topics, (K,), whose mixture fits words' counts best, by EM from equal weights.

    Args:
        phi: (K, V) p(w | z).
        words: (V,) how often each word occurs; some do.
    """
    used = words > 0
    p, shares, weights = phi[:, used], words[used] / words.sum(), np.full(len(phi), 1.0 / len(phi))
    for _ in range(EM_STEPS):
        weights *= p @ np.divide(shares, weights @ p, out=np.zeros_like(shares), where=weights @ p > 0.0)
    return np.asarray(weights / weights.sum())


def likeness(phi: Floats, words: Ints) -> float:
    """Return how well topics explain words' frequencies, about 1 at most and below 0 by chance.

    Weights w of the topics, and of a uniform one beside them, are fitted to the words' counts c by EM. Their score per
    token, s = sum_v c_v log p(v) / N, stands between r, that of the same words in a random order, and the most that
    any weights of any topics can reach, h = sum_v c_v log(c_v / N) / N. The likeness is

        (s - r) / (h - r)  -  the weight of the nearly uniform topics.

    Words of an order that is not the model's are explained no better than in a random order, and best by uniform
    topics. A prior's mean would say less: topics that no document uses have their share in it.

    Args:
        phi: (K, V) p(w | z).
        words: (V,) how often each word occurs; some do.
    """
    V = phi.shape[1]
    flat = np.zeros(len(phi) + 1, bool)
    flat[[*flat_topics(phi), -1]] = True

    def fitted(counts: Ints) -> tuple[float, float]:
        used = counts > 0
        p = np.vstack([phi[:, used], np.full(used.sum(), 1.0 / V)])
        weights = mixed(p, counts[used])
        return float(counts[used] @ np.log(weights @ p)) / float(counts.sum()), float(weights[flat].sum())

    score, uniform = fitted(words)
    by_chance, _ = fitted(generator("audit-likeness").permutation(words))
    shares = words[words > 0] / words.sum()
    most = float(shares @ np.log(shares))
    return (score - by_chance) / max(most - by_chance, TINY) - uniform


def least_likeness(topics: AnyTopics, documents: int, tokens: int, places: Ints) -> float:
    """Return the likeness of documents like the model's own, at least: `LEAST_LIKENESS`, or half of its draws' if less.

    More than `FEW_TOKENS` tokens are held to `LEAST_LIKENESS`.

    Args:
        topics: phi and the prior, from which as many documents of the mean length are drawn.
        documents: how many have a token.
        tokens: how many they have.
        places: of some of the documents, in whose turn they are drawn.
    """
    if tokens > FEW_TOKENS or not len(places):
        return LEAST_LIKENESS
    drawn = draws(topics, np.full(documents, max(1, tokens // documents)), np.resize(places, documents))
    return min(LEAST_LIKENESS, likeness(topics.phi, np.bincount(drawn.tokens, minlength=topics.phi.shape[1])) / 2.0)


def is_enough(documents: int, tokens: int) -> bool:
    """Return whether documents and their tokens are enough to refuse them."""
    return tokens >= TOKENS or (documents >= DOCUMENTS and tokens >= FEWEST)


def check_like(topics: AnyTopics, words: Ints, documents: int, sample: Corpus, places: Ints, what: str) -> None:
    """Check that documents are like the model's own: how often words occur, and which occur together.

    Warns where there are too few to refuse them and their likeness or co-occurrence is below 0; of a model of `TELLING`
    words, or fewer, says nothing.

    Args:
        topics: phi and the prior.
        words: (V,) how often each word occurs.
        documents: how many have a token.
        sample: some of the documents (`heldout.auditing.co_occurrence.sample_of`).
        places: theirs among all documents.
        what: the model and the documents, before "are not".

    Raises:
        InputError: where they are not, and there are `DOCUMENTS` of them with `FEWEST` tokens, or `TOKENS` tokens; for
            their co-occurrence, as many in the sample.
    """
    if len(words) <= TELLING:
        return
    tokens = int(words.sum())
    value, enough = likeness(topics.phi, words), is_enough(documents, tokens)
    bound = LEAST_LIKENESS if enough else 0.0
    if value < bound:
        bound = least_likeness(topics, documents, tokens, places)
    if value < bound:
        flat = len(flat_topics(topics.phi))
        unused = f", {flat} of whose {topics.n_topics} topics are nearly uniform" if flat else ""
        number = (
            f"their likeness is {value:.2f}, where its own have"
            f" {bound if enough else LEAST_LIKENESS:.2g} or more{unused}"
        )
        _say_unlike(number, what, documents, tokens, enough)
        return
    if len(places) < 2:
        return  # whose words occur together there are none to be told from
    value, enough = co_occurrence(topics.phi, sample).share, is_enough(len(places), sample.n_tokens)
    if value >= (LEAST_CO_OCCURRENCE if enough else 0.0):
        return
    bound = least_co_occurrence(topics, sample, places)
    if value < (bound if enough else min(bound, 0.0)):
        number = f"{value:.2f}, where its own have {bound:.2g} or more"
        number = f"the co-occurrence of their words, whether they stand together as its topics have them, is {number}"
        _say_unlike(number, what, documents, tokens, enough)


def _say_unlike(number: str, what: str, documents: int, tokens: int, enough: bool) -> None:
    """Refuse documents that are not like the model's own, or warn where there are too few to tell."""
    if enough:
        raise InputError(
            f"{what} are not documents like the model's own: {number} (benchmarks/guard.md); give the model's own"
            " vocabulary or documents of its corpus, or say --other-corpus (other_corpus=True) where they are meant to"
            " be of another"
        )
    warnings.warn(
        f"{what} may not be documents like the model's own: {number}, but {documents} documents of {tokens:,} tokens"
        " are too few to tell",
        InputWarning,
        stacklevel=3,
    )


def model_digest(fitted: Fitted) -> str:
    """Return the SHA-256 of phi, the prior and the words, hexadecimal."""
    topics = fitted.topics
    digest = hashlib.sha256(f"{topics.phi.shape}".encode())
    for array in (topics.phi, *topics.parameters.values()):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).data)
    digest.update("\0".join(topics.vocabulary).encode(errors="surrogatepass"))
    return digest.hexdigest()
