"""The checks at the end of every reader of a library's model.

A library keeps topics as weights: counts plus a prior, the parameters of a Dirichlet, the rows of a factor. Divided by
its sum a row of weights lambda_k is a distribution over words,

    phi[k, w] = lambda[k, w] / sum_v lambda[k, v],

which for the parameters of a Dirichlet is its mean. Files that hold probabilities already hold rounded ones: a row
whose sum misses 1 by no more than `BINARY_TOLERANCE` (arrays; float32 is enough) or `TEXT_TOLERANCE` (decimal text) is
divided by its sum; one that misses by more was something else than p(w | z), and is refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.limits import check_size
from heldout.topics import AnyTopics, LogisticNormalTopics, Topics
from heldout.typing import Floats

BINARY_TOLERANCE = 1e-4
TEXT_TOLERANCE = 1e-3
INSTALL = "install {}: pip install 'heldout[peers]'"


@contextmanager
def installed(where: Path | str, libraries: str) -> Iterator[None]:
    """Raise InputError in place of ImportError, with the packages to install for a file."""
    try:
        yield
    except ImportError as error:
        raise InputError(f"{where}: {INSTALL.format(libraries)} ({error!s:.200})") from error


def is_pickle(first: bytes) -> bool:
    """Return whether a file with these first bytes is a pickle of protocol 2 or later."""
    return first[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def numbers(values: Any, what: str, where: str) -> Floats:
    """Return `values` as a float64 array; an InputError with `what` and `where` for anything but real numbers."""
    if np.ma.is_masked(values):
        raise InputError(f"{where}: {what} has a mask; fill the masked numbers (.filled(0.0))")
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"numbers expected, not {array.dtype}")
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # the last of a tensor with a gradient
        raise InputError(f"{where}: {what} is not an array of numbers ({error!s:.200})") from error


def distributions(rows: Floats, where: str, tolerance: float | None, what: str = "phi") -> Floats:
    """Return phi, (K, V) float64, every row of `rows` divided by its sum.

    The tolerance is the most by which the sum of a row, (V,), may miss 1; None for weights, whose sums may be anything
    positive. `where` is the file or class, and `what` the library's name of the rows, for the message.

    Raises:
        InputError: names the row with a negative or undefined entry, with no weight at all, or whose sum is not 1.
    """
    if rows.ndim != 2:
        raise InputError(f"{where}: {what} must be a matrix of topics by words, but its shape is {rows.shape}")
    check_size(rows.shape[0], rows.shape[1], where)
    good = np.all((rows >= 0.0) & np.isfinite(rows), axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{where}: row {row} of {what} has a negative, infinite or undefined (NaN) entry; a topic has none: refit"
        )
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=1)
    row = int(np.argmin(sums))
    if sums[row] <= 0.0:
        raise InputError(
            f"{where}: row {row} of {what} is all zeros, a topic without words; leave it out or fit fewer topics"
        )
    row = int(np.argmax(sums))
    if not np.isfinite(sums[row]):
        raise InputError(f"{where}: row {row} of {what} has an infinite sum; scale it")
    if tolerance is not None:
        if np.all(np.abs(rows.sum(axis=0) - 1.0) <= tolerance) and np.any(np.abs(sums - 1.0) > tolerance):
            raise InputError(
                f"{where}: the columns of {what}, of shape {rows.shape}, sum to 1 and the rows do not; transpose it:"
                " rows are topics, columns words"
            )
        row = int(np.argmax(np.abs(sums - 1.0)))
        if abs(sums[row] - 1.0) > tolerance:
            raise InputError(
                f"{where}: row {row} of {what} sums to {sums[row]:.6g}, not to 1; rows are topics: divide by the sum"
            )
    return np.ascontiguousarray(rows / sums[:, None])


def prior(alpha: Any, topics: int, where: str) -> Floats:
    """Return the Dirichlet parameters of theta, (K,) float64, positive, finite; one number stands for K equal ones."""
    values = np.atleast_1d(numbers(alpha, "alpha", where))
    if values.ndim != 1 or len(values) not in (1, topics):
        raise InputError(
            f"{where}: alpha has shape {values.shape}, but there are {topics} topics; give one number, or one per topic"
        )
    good = (values > 0.0) & np.isfinite(values)
    if not good.all():
        raise InputError(
            f"{where}: alpha of topic {int(np.argmin(good))} is {values[np.argmin(good)]:g};"
            " a Dirichlet parameter is positive and finite"
        )
    return np.full(topics, values[0]) if len(values) == 1 else values


def in_order(vocabulary: Any) -> tuple[Any, ...]:
    """Return a vocabulary's words in the model's order.

    Args:
        vocabulary: the words in that order; or a dictionary of words and their columns, as a vectorizer's
            `vocabulary_`, or of columns and their words, as gensim's; or a fitted vectorizer.

    Raises:
        InputError: for words without an order, or columns that are not 0, 1, ... each once.

    Examples:
        >>> in_order({"wing": 1, "flow": 0}), in_order({0: "flow", 1: "wing"})
        (('flow', 'wing'), ('flow', 'wing'))
    """
    if hasattr(vocabulary, "get_feature_names_out"):
        return tuple(vocabulary.get_feature_names_out())
    if isinstance(vocabulary, Mapping):
        pairs = list(vocabulary.items())
        if any(isinstance(key, str) for key, _ in pairs):
            pairs = [(column, word) for word, column in pairs]
        columns = dict(pairs)
        if set(columns) != set(range(len(pairs))):
            raise InputError(
                f"the vocabulary's columns are not 0 to {len(pairs) - 1}, each once; give the words in their order"
            )
        return tuple(columns[column] for column in range(len(columns)))
    if isinstance(vocabulary, str | bytes | Set) or not isinstance(vocabulary, Iterable):
        kind = type(vocabulary).__name__
        raise InputError(f"a vocabulary that is a {kind}; give the words in the model's order, or a vectorizer's own")
    return tuple(vocabulary)


def vocabulary_of(
    own: Iterable[object] | None, given: Sequence[str] | None, words: int, where: str
) -> tuple[tuple[str, ...], bool]:
    """Return the model's V `words` and whether anyone named them.

    `own` are the words that the model itself names, `given` the words of the user (see `in_order`), or None; where
    there are both they have to be the same. `where` is for the message.

    Raises:
        InputError: when there are not V words, when one is no text or is there twice, or when the two differ.
    """
    named = None
    for source, names in (("the vocabulary", given), ("the model's own vocabulary", own)):
        if names is None:
            continue
        listed = in_order(names)
        if len(listed) != words:
            raise InputError(
                f"{where}: {source} has {len(listed)} words, but the topics have {words};"
                " give the words that the model was fitted on, in its order"
            )
        seen: set[object] = set()
        for place, word in enumerate(listed):
            if not isinstance(word, str):
                raise InputError(f"{where}: {source}: word {place} is {word!r:.40}, not text")
            if word in seen:
                raise InputError(f"{where}: {source}: {word!r:.40} is there a second time (place {place})")
            seen.add(word)
        texts = tuple(str(word) for word in listed)
        if named is not None and texts != named:
            place = next(i for i, pair in enumerate(zip(named, texts, strict=True)) if pair[0] != pair[1])
            raise InputError(
                f"{where}: the model says that word {place} is {texts[place]!r:.40}, the vocabulary given says"
                f" {named[place]!r:.40}; leave the vocabulary out, the model names its own words"
            )
        named = texts
    if named is None:
        return tuple(str(place) for place in range(words)), False
    return named, True


def assemble(
    *,
    library: str,
    version: str,
    form: str,
    where: str,
    weights: Any,
    what: str,
    tolerance: float | None = None,
    prior_of_theta: Sequence[Any],
    own_words: Iterable[object] | None = None,
    vocabulary: Sequence[str] | None,
    native: Any = None,
    **provenance: Any,
) -> Fitted:
    """Check the content that a reader has read, and return the `Fitted` of it.

    `library`, `version` and `form` (of `heldout.libraries.read.FORMS`, or "object") are for the provenance, which says
    the further keywords too; `where` is the file or class, for messages. The (K, V) `weights`, `what` and `tolerance`
    are as in `distributions`; `prior_of_theta` has alpha, as in `prior`, or mu and Sigma, as in
    `heldout.topics.LogisticNormalTopics.of`; `own_words` and `vocabulary` as in `vocabulary_of`; `native` as in
    `Fitted`.

    Raises:
        InputError: from any of the checks.
    """
    phi = distributions(numbers(weights, what, where), where, tolerance, what)
    named, known = vocabulary_of(own_words, vocabulary, phi.shape[1], where)
    source = {"library": library, "version": version, "format": form, **provenance}
    if len(prior_of_theta) == 1:
        topics: AnyTopics = Topics(phi, prior(prior_of_theta[0], len(phi), where), named, source)
    else:
        mean, covariance = (
            numbers(part, name, where) for part, name in zip(prior_of_theta, ("mu", "Sigma"), strict=True)
        )
        topics = LogisticNormalTopics.of(phi, mean, covariance, named, source)
    return Fitted(topics, library, native, known)
