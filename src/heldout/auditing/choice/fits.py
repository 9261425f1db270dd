"""A fit of a choice: a model of so many topics, fitted to all folds but one with one seed, and scored on that one.

Fits depend on nothing but their own arguments, so that they run in any order and any process, and a folder keeps each
of them.
"""

import hashlib
import inspect
import io
import json
import math
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from heldout.auditing.audit.excess import folding_in_excess
from heldout.auditing.blocks import BIAS, BLOCK, COLUMNS, ERROR, LIKELIHOOD, Work, batches, evaluate, local
from heldout.auditing.estimator import check_estimator
from heldout.auditing.formats import amount
from heldout.auditing.matching import opened
from heldout.auditing.options import ScoreOptions
from heldout.auditing.scorer import unknown_tokens
from heldout.auditing.store import keeping
from heldout.auditing.survey import subject_of
from heldout.errors import InputError, InputWarning, printable
from heldout.evaluators import FULL
from heldout.evaluators.priors import prior_of
from heldout.files import replacing
from heldout.libraries.coherence import coherence, exclusivity
from heldout.typing import Floats, Ints

SUFFIX = ".fit.npz"
LONGEST_CAUSE = 300  # characters of a failed fit's error


class Fit(NamedTuple):
    """A fit of a choice: its number of topics, its fold and its seed's number, from 0."""

    topics: int
    fold: int
    restart: int

    def named(self, restarts: int) -> str:
        """Return its name, the seed where there are several."""
        seed = f", seed {self.restart + 1}" if restarts > 1 else ""
        return f"{amount(self.topics, 'topic')}, fold {self.fold + 1}{seed}"


class Scored(NamedTuple):
    """A fitted model and the held-out documents' values under it.

    Attributes:
        columns: (C, n) log-likelihoods, their errors and biases, and full folding-in, nats.
        tokens, absent: (n,) tokens in the model's vocabulary and outside it.
        phi: (K, V) float32, its words sorted; empty where fits are not several.
        facts: JSON-compatible: "library", "prior", "stand_in", "exclusivity", "coherence", "note",
            "most_excess" of folding in and "tokens", "reported", "warnings".
    """

    columns: Floats
    tokens: Ints
    absent: Ints
    phi: NDArray[np.float32]
    facts: dict[str, Any]

    def lengths(self, unknown: float | None) -> Ints:
        """Return the tokens that count, (n,): with a probability for words that the model lacks, all."""
        return self.tokens if unknown is None else self.tokens + self.absent


class Settings(NamedTuple):
    """The settings that all fits of a choice share.

    Attributes:
        fit: returns a model of K topics, fitted to documents with a seed.
        options, work: the estimator of the likelihood.
        coherent: whether coherence is measured.
        coherence_documents: its documents; None for those that the model was fitted to.
        topics_kept: whether phi is returned.
    """

    fit: Callable[[int, Any, int], Any]
    options: ScoreOptions
    work: Work
    coherent: bool
    coherence_documents: Any
    topics_kept: bool


def fitted_and_scored(settings: Settings, K: int, seed: int, train: Any, held_out: Any) -> Scored | str:
    """Return the values of held-out documents under a model of K topics, or why there are none, one line."""
    try:
        with _one_thread(), _warned() as said:
            scored = _scored(settings, settings.fit(K, train, seed), train, held_out)
    except Exception as error:  # of any library: the other fits go on
        cause = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return printable(" ".join(cause.split()))[:LONGEST_CAUSE]
    scored.facts["warnings"] = said
    return scored


def _scored(settings: Settings, model: Any, train: Any, held_out: Any) -> Scored:
    _, options, work, coherent, coherence_documents, topics_kept = settings
    subject = subject_of(model, held_out, options.vocabulary, options, refuse=False)  # folds of one corpus
    topics, read = subject.topics, subject.read
    check_estimator(work.estimator, topics)
    blocks = batches(subject.documents, BLOCK)
    parts = [evaluate(*local(topics, block, first), first, work) for first, block in blocks]
    column = dict(zip(COLUMNS, np.concatenate(parts).T, strict=True))
    most = folding_in_excess(topics.parameters, read.lengths, column)
    facts: dict[str, Any] = {
        "library": subject.fitted.library,
        "prior": prior_of(topics).name,
        "stand_in": str(topics.provenance.get("prior", "")),
        "exclusivity": float(exclusivity(topics.phi).mean()),
        "coherence": math.nan,
        "note": "",
        "most_excess": math.nan if most is None else most.largest,
        "tokens": int(read.lengths.sum()),
    }
    if coherent:
        try:
            documents = train if coherence_documents is None else coherence_documents
            _, _, corpus, _ = opened(model, documents, options.vocabulary, options.random_state)
            facts["coherence"] = coherence([topics], [corpus]).values[0]
        except InputError as error:
            facts["note"] = str(error)
    try:
        number = vars(subject.reported(ask=True)) | {"terms": []}
    except InputError as error:
        number = {"function": "", "terms": [], "note": str(error)}
    values = np.array([column[LIKELIHOOD], *np.nan_to_num([column[ERROR], column[BIAS]]), column[FULL]])
    phi = topics.phi[:, np.argsort(topics.vocabulary)] if topics_kept else np.zeros((0, 0))
    absent = unknown_tokens(model, held_out, read)
    return Scored(values, read.lengths, absent, phi.astype(np.float32), facts | {"reported": number})


@contextmanager
def _warned() -> Iterator[list[str]]:
    """Yield the list that warnings of input are added to, for the choice to give them once; others pass."""
    said: list[str] = []
    show = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)

        def taken(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, InputWarning):
                said.append(str(message))
            else:
                show(message, category, *where, **more)

        warnings.showwarning = taken
        yield said


def _one_thread() -> Any:
    """Return a context in which a matrix product, whose last digits depend on its threads, has one."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # of scikit-learn
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


def file_of(folder: Path | None, shared: list[str], K: int, seed: int, train: Ints) -> Path | None:
    """Return the file of a fit, by digests of all that its values depend on; None without a folder.

    Args:
        folder: the store.
        shared: digests of model, documents and settings, the same for all fits.
        K: its number of topics.
        seed: its own.
        train: places of the documents that it is fitted to.
    """
    if folder is None:
        return None
    text = json.dumps([*shared, K, seed, _digest(train)])
    return folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}{SUFFIX}"


def save(path: Path, scored: Scored) -> None:
    """Write a fit's values, whole or not at all."""
    arrays = scored._asdict() | {"facts": np.array(json.dumps(scored.facts))}
    with keeping(path.parent), replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load(path: Path) -> Scored | None:
    """Return a fit's values; None without a file, or where it cannot be read."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            *values, facts = (arrays[name] for name in Scored._fields)
            columns, tokens, absent, phi = values
            return Scored(columns, tokens, absent, phi, json.loads(str(facts)))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _digest(value: Any) -> str:
    if hasattr(value, "tocsr"):  # whose flags change when it is used
        matrix = value.tocsr().copy()
        matrix.sum_duplicates()
        value = [matrix.shape, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data]
    return str(joblib.hash(value))


def digest(name: str, value: Any) -> str:
    """Return a digest of a model that is to be fitted, or of documents.

    Of a function it knows the code and the plain values that it reaches, here or in functions that it calls by name.

    Raises:
        InputError: for an object that cannot be pickled.
    """
    try:
        return _digest(_parts(value, set()) if name == "model" and not hasattr(value, "get_params") else value)
    except Exception as error:
        said = f"{name}: cannot be told from others in the store ({type(error).__name__}: {error!s:.100})"
        raise InputError(f"{said}; define its functions by name in a file, or leave the store out") from error


def _parts(value: Any, seen: set[int]) -> Any:
    """Return the code and values behind a function."""
    if isinstance(value, partial):
        return ["partial", _parts(value.func, seen), [_parts(part, seen) for part in value.args], value.keywords]
    if inspect.ismethod(value):
        return ["method", vars(value.__self__), _parts(value.__func__, seen)]
    if not inspect.isfunction(value):
        if callable(value) and not inspect.isclass(value) and hasattr(value, "__dict__"):
            return ["object", type(value).__qualname__, vars(value), _parts(type(value).__call__, seen)]
        return value
    if id(value) in seen:
        return value.__qualname__
    seen.add(id(value))
    codes, names, constants = [value.__code__], list[str](), list[Any]()
    for code in codes:  # which grows by the functions within
        names.extend(code.co_names)
        constants.append([code.co_code, [each for each in code.co_consts if not inspect.iscode(each)]])
        codes.extend(each for each in code.co_consts if inspect.iscode(each))
    reached = {name: value.__globals__[name] for name in sorted(set(names) & set(value.__globals__))}
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    given = [*(value.__defaults__ or ()), *sorted((value.__kwdefaults__ or {}).items()), *cells]
    plain = {
        name: _parts(each, seen)
        for name, each in reached.items()
        if inspect.isfunction(each) or isinstance(each, int | float | str | bytes | tuple | None)
    }
    return [value.__qualname__, constants, sorted(set(names)), [_parts(each, seen) for each in given], plain]
