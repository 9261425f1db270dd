"""The priors of documents, for models that have one per document: from labels or metadata, given or from a file."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.counts import read_bytes, text_of
from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.libraries.read import library_of
from heldout.topics import OwnPriors


def entries(given: Any, what: str) -> list[Any] | None:
    """Return labels or metadata of documents, an entry for each; None where none are given.

    Args:
        given: a sequence, or a text file with a document's on each line: parts between tabs or, of labels where no
            line has a tab, between spaces.
        what: "labels" or "metadata".

    Raises:
        InputError: for anything but a sequence of them, or a file that cannot be read.
    """
    if given is None:
        return None
    if isinstance(given, Path):
        text = text_of(given, read_bytes(given))
        lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []
        if what == "metadata":
            return [line.split("\t") for line in lines]
        return (
            [line.strip().split("\t") if line.strip() else [] for line in lines]
            if "\t" in text
            else [line.split() for line in lines]
        )
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, str | bytes | Mapping | Set) or not isinstance(given, Sequence):
        raise InputError(
            f"{what}: a {type(given).__name__}; give a list with the {what} of each document, in their order"
        )
    return list(given)


def with_own_priors(fitted: Fitted, name: str, labels: Any, metadata: Any) -> Fitted:
    """Return the model with the priors of documents with these labels or metadata; other models unchanged.

    Raises:
        InputError: where they are missing, or the model does not know one.
    """
    topics = fitted.topics
    if topics.n_priors is None:
        return fitted
    own_priors = library_of(fitted).own_priors
    if own_priors is None:
        return fitted
    alphas, given = own_priors(fitted, name, entries(labels, "labels"), entries(metadata, "metadata"))
    with_priors = OwnPriors(topics.phi, np.ascontiguousarray(alphas), topics.vocabulary, topics.provenance)
    return replace(fitted, topics=with_priors, given=given)


def check_used(models: Sequence[Fitted], labels: Any, metadata: Any) -> None:
    """Refuse labels or metadata that no model uses.

    Raises:
        InputError: names them.
    """
    used = {key for model in models for given in model.given[:1] for key in given}
    for what, values in (("labels", labels), ("metadata", metadata)):
        if values is not None and what not in used:
            raise InputError(f"{what}: given, but no model has priors by them; leave them out")
