"""Topic models of any library, from a file or as the object itself."""

import gzip
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import joblib

from heldout.corpora.counts import read_bytes, read_vocabulary, unmarked
from heldout.errors import InputError
from heldout.libraries import Fitted, Form, Library, arrays, gensim, lda_c, mallet, scikit_learn, tomotopy
from heldout.libraries.checks import in_order, installed, is_pickle
from heldout.libraries.pipeline import unwrap
from heldout.limits import memory_for, one_line, open_zip, require_file

LIBRARIES: tuple[Library, ...] = (
    scikit_learn.LIBRARY,
    gensim.LIBRARY,
    tomotopy.LIBRARY,
    mallet.LIBRARY,
    lda_c.LIBRARY,
    arrays.LIBRARY,
)


def library_of(fitted: Fitted) -> Library:
    """Return the library that fitted a model."""
    return {library.name: library for library in LIBRARIES}[fitted.library]


def read_pickle(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a file of `joblib.dump` or `pickle.dump`. This unpickles: only for files that the user trusts.

    Raises:
        InputError: when the file is missing, truncated or damaged, holds no topic model, or one of a missing library.
    """
    with one_line(path), memory_for(path.stat().st_size), installed(path, "scikit-learn and skops"):
        model = joblib.load(path)
    return convert(model, vocabulary, str(path), "pickle")


PICKLE = Form(
    "pickle",
    read_pickle,
    begins=lambda _path, first: is_pickle(first),
    suffixes=(".joblib", ".pkl", ".pickle"),
    instead="save a scikit-learn model with skops.io.dump",
)

RECIPES = {  # parts to give of models that are not read themselves, by their classes
    "gensim.models.hdpmodel.HdpModel": "(phi, alpha) of alpha, phi = model.hdp_to_lda(), and vocabulary=model.id2word",
    "gensim.models.ldaseqmodel.LdaSeqModel": "(phi, model.alphas) of a time's topics (docs/libraries.md)",
    "lda.lda.LDA": "(model.topic_word_, model.alpha), and the vocabulary",
}

FORMS = {form.name: form for form in (*(form for library in LIBRARIES for form in library.forms), PICKLE)}
"""The forms of a model's file, by name."""


def first_bytes(path: Path) -> bytes:
    """Return the first 64 bytes of a file, unpacked where it is gzipped; an InputError where it cannot be read."""
    require_file(path)
    try:
        with path.open("rb") as file:
            first = file.read(64)
        if first[:2] == b"\x1f\x8b":
            with suppress(OSError, EOFError, zlib.error), gzip.open(path) as unpacked:
                return unmarked(unpacked.read(64))
        return unmarked(first)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def guess(path: Path) -> str:
    """Return the form of a model's file from its first bytes, else from its name or its content."""
    if path.is_dir():
        folders = {form.folder: form.name for form in FORMS.values() if form.folder}
        for file, name in folders.items():
            if (path / file).exists():
                return name
        raise InputError(f"{path}: a folder without {' or '.join(folders)}; give the model's file")
    first = first_bytes(path)
    if not first:
        raise InputError(f"{path}: empty; save the model again")
    for form in FORMS.values():
        if form.begins(path, first):
            return form.name
    for form in FORMS.values():
        if path.suffix.lower() in form.suffixes:
            return form.name
    if first[:4] == b"PK\x03\x04":
        with open_zip(path, "zip") as archive:
            for form in FORMS.values():
                if form.member in archive.namelist():
                    return form.name
    if re.match(rb"[0-9]+\t[^\t\n]+\t", first):
        raise InputError(f"{path}: words or weights of topics, as MALLET prints them; give what --output-state wrote")
    raise InputError(
        f"{path}: neither its name nor its first bytes tell what it is; name its form (--model-format, in Python"
        f" heldout.libraries.read.read_model(path, form=...)): {', '.join(FORMS)}"
    )


def read_model(
    path: Path, *, form: str | None = None, vocabulary: Path | None = None, trust_pickle: bool = False
) -> Fitted:
    """Read a model that another library saved.

    Args:
        path: the file (for LDA-C either file, or their folder).
        form: the name of one of `FORMS`; guessed from the first bytes and the name when None.
        vocabulary: a file of the V words, one per line, in the model's order, for a model that names none.
        trust_pickle: unpickle, where the form is one that only unpickling reads: that runs any code in the file.

    Raises:
        InputError: one line with the fault, its place and a remedy; a pickle is refused before a byte of it is
            unpickled.
    """
    if form is not None and form not in FORMS:
        raise InputError(f"{form}: no such form of a model; one of {', '.join(FORMS)}")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    require_file(path)
    chosen = FORMS[guess(path) if form is None else form]
    if form is not None and chosen.instead and path.is_file() and not is_pickle(first_bytes(path)):
        raise InputError(f"{path}: no pickle, as files of the form {form} are; leave the form out (--model-format)")
    if chosen.instead and not trust_pickle:
        raise InputError(
            f"{path}: a pickle, which runs any code that it names when it is read; give --trust-pickle if it is yours"
            f" (in Python the object that you load from it), or {chosen.instead}"
        )
    words = None if vocabulary is None else read_vocabulary(vocabulary, read_bytes(vocabulary))
    return chosen.read(path, words)


def convert(model: object, vocabulary: Sequence[str] | None, where: str | None, form: str) -> Fitted:
    """Return the `Fitted` of an object; the arguments are as in `from_object` of `heldout.libraries.Library`.

    Raises:
        InputError: when it is none of the models that can be read, or its parameters are no topics.
    """
    for library in LIBRARIES:
        if library.from_object is not None and library.recognises(model):
            return library.from_object(model, vocabulary, where, form)
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    if kind in RECIPES:
        raise InputError(f"{where or 'model'}: of a {kind} give {RECIPES[kind]}")
    kinds = [library.models for library in LIBRARIES if library.models]
    raise InputError(f"{where or 'model'}: a {kind}; give {', '.join(kinds)}, or a Pipeline that ends in one")


def fitted(model: object, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Return the `Fitted` of a fitted model in Python.

    It is a model that one of `LIBRARIES` takes (`Library.models`), or a `Pipeline` or a search that ends in it; the V
    words are given where it names none (see `heldout.libraries.checks.in_order`).

    Raises:
        InputError: when it is none of these, is not fitted, or its parameters are no topics.

    Examples:
        >>> model = fitted(([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], [0.1, 0.2]), ["ape", "bear", "cat"])
        >>> model.library, model.topics.n_topics
        ('arrays', 2)
    """
    unwrapped = unwrap(model)
    words = unwrapped.words
    if words is not None and vocabulary is not None and in_order(vocabulary) != words:
        raise InputError(
            "the pipeline's vectorizer names the model's words, and the vocabulary has others; leave it out"
        )
    return convert(unwrapped.model, vocabulary if words is None else words, None, "object")
