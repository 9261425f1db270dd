"""Topic models of other libraries: their readers, and the number that each library itself reports.

One file per library, which ends with its `Library`; `heldout.libraries.read.LIBRARIES` lists them. A reader takes what
the library saved (or the fitted object itself) and gives a `Fitted`: the topics that every evaluator can score, and the
library's own object where there is one, so that its own function can be called on the same documents.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.topics import AnyTopics, Topics, require_dirichlet
from heldout.typing import Floats

THESE, TRAINING, WEIGHTED = "these documents", "the training documents", "weighted tokens"
"""What a library's number is about."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that another library fitted.

    Attributes:
        topics: phi (K, V), the prior of theta, vocabulary, and provenance with "library", "version" (both str) and
            "format".
            Where the library keeps a distribution over topics, phi is its mean; provenance["phi"] says which.
        library: the name of one of `heldout.libraries.read.LIBRARIES`.
        native: the library's own fitted object, or the numbers from which its own number is computed; None where there
            is none.
        given: keywords that `native` takes with each document that is scored, for instance its labels, for a model with
            priors of the documents' own (`heldout.libraries.priors`).
        words_known: False where the model names no words (their places in the documents' vocabulary are taken).
    """

    topics: AnyTopics
    library: str
    native: Any = None
    words_known: bool = True
    given: tuple[dict[str, Any], ...] = ()

    @property
    def dirichlet(self) -> Topics:
        """The topics of a model with a Dirichlet prior; raises InputError for another prior."""
        return require_dirichlet(self.topics, self.library)


@dataclass(frozen=True)
class Term:
    """A part of the number that a library reports: its meaning, in a few words, and its sum, nats.

    The terms add up to the log-likelihood (or bound) that the library divides by tokens. The term that makes the
    reported perplexity grow with the number of topics `grows`; it may say nothing `of_documents`.
    """

    name: str
    nats: float
    grows: bool = False
    of_documents: bool = True


@dataclass(frozen=True)
class Reported:
    """The number that a library prints for a model and documents.

    Attributes:
        function: the function that prints it, as users call it ("LatentDirichletAllocation.perplexity").
        value: the number, as printed.
        unit: its unit, in words ("perplexity per token", "bits per token", "nats").
        perplexity: per token of the same documents, as printed; NaN where it says nothing of them.
        nats_per_token: the number in nats per token; NaN where perplexity is.
        about: `THESE`, `TRAINING` or, of a number that is of no word's probability, `WEIGHTED`.
        computes: its meaning, in one sentence.
        terms: its parts, where they can be had; a term that grows with the number of topics says so.
        note: why it cannot be had, where value is NaN, or cannot be taken apart or compared; empty otherwise.
        base: base of the printed perplexity, whose exponent is minus the nats per token; e but for gensim.
    """

    function: str
    value: float = math.nan
    unit: str = ""
    perplexity: float = math.nan
    nats_per_token: float = math.nan
    about: str = ""
    computes: str = ""
    terms: tuple[Term, ...] = ()
    note: str = ""
    base: float = math.e

    @property
    def log_perplexity(self) -> float:
        """The logarithm of the printed perplexity, nats per token; finite where the perplexity overflows."""
        return -self.nats_per_token * math.log(self.base)


@dataclass(frozen=True)
class Form:
    """A form of a model's file.

    Attributes:
        name: its name on the command line (`--model-format`).
        read: returns the model in a file; takes the file and the model's V words, None where the user gives none.
        begins: whether a file that begins with these (at most 64, unpacked) bytes is of this form, whatever its name.
        suffixes: endings of names, in small letters, that tell this form where the first bytes do not.
        member: a file in a zip file that tells this form where neither does.
        folder: a file that a folder of this form holds; empty where a folder is no model.
        instead: remedy in place of unpickling, for a form that is a pickle; empty for any other.
    """

    name: str
    read: Callable[[Path, Sequence[str] | None], Fitted]
    begins: Callable[[Path, bytes], bool] = lambda _path, _first: False
    suffixes: tuple[str, ...] = ()
    member: str = ""
    folder: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Library:
    """A library: the models of it that are read, and the number that it reports.

    Attributes:
        name: its name, as in `Fitted.library`.
        reported: returns its own number for a model and batches of documents, which may be gone through again.
        forms: the forms of its files.
        models: the objects that `from_object` takes, in words; empty where there are none.
        recognises: whether an object is one of them, without importing the library.
        from_object: returns the `Fitted` of one of these objects. It takes the object; the model's V words in its
            order, None where the user gives none; the file or class, for messages, None for the class; and the form,
            for the provenance, "object" without a file. It raises InputError for a model that is not trained, or whose
            parameters are no topics.
        own_priors: returns the documents' Dirichlet parameters, (D, K), and what `Fitted.given` has, of a model whose
            documents have priors of their own; takes the model, its name, and the labels and the metadata, of each
            document or None. It raises InputError for labels or metadata that the model does not know, or lacks.
        own_numbers: True where it numbers words by frequency or first appearance, unlike any corpus.
    """

    name: str
    reported: Callable[[Fitted, Iterable[Corpus]], Reported]
    forms: tuple[Form, ...] = ()
    models: str = ""
    recognises: Callable[[object], bool] = lambda _model: False
    from_object: Callable[[Any, Sequence[str] | None, str | None, str], Fitted] | None = None
    own_priors: Callable[[Fitted, str, Any, Any], tuple[Floats, tuple[dict[str, Any], ...]]] | None = None
    own_numbers: bool = False
