"""The options of `heldout audit`, `heldout rank` and `heldout choose`, for the command line and for Python.

Each is said once: its name, type and default by a field of a class, its meaning in the class's docstring. From these
classes the functions take their keywords (`takes`), and the commands their arguments (`add_arguments`), as other
commands do from the signature and docstring of a function. Nothing here imports numpy, so that the help is quick.
"""

import argparse
import functools
import inspect
import json
import math
import operator
import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Concatenate, NamedTuple, ParamSpec, TypeVar, get_args, get_origin

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, REFERENCE

LIMIT = 1e11  # updates; about two minutes of one core
MOST_SAMPLES = 10**7  # largest number of samples per document
LEAST_ERROR = 1e-6  # nats; less is lost in the rounding of a sum of logarithms
AUTO = "auto"
MEASURES = {"npmi": "NPMI", "c_v": "C_v"}  # measures of coherence, and their labels
LIKELIHOODS = [name for name, known in ESTIMATORS.items() if known.behaviour != "other"]
HOOKS = ("announce", "progress")  # options of Python alone
# options of other names
FLAGS = {"random_state": "--seed", "n_jobs": "--cores --jobs", "reported": "--no-library", "baseline": "--since"}
# types of arguments, each before the wider ones: the placeholder in the help, and the noun in an error
KINDS: dict[Any, tuple[str, str]] = {
    dict: ("JSON", "a dictionary"),
    bool: ("", "True or False"),
    int: ("N", "a whole number"),
    float: ("X", "a number"),
    Path: ("FILE", "a folder or a file"),
    str: ("NAME", "a name"),
}
PLACEHOLDERS = {
    **{"models": "MODEL", "documents": "CORPUS", "coherence_documents": "CORPUS", "sources": "SOURCE"},
    **{"json": "FILE", "format": "FORM", "model_format": "FORM", "store": "FOLDER", "data": "FOLDER", "raw": "FOLDER"},
    **{"limit": "UPDATES", "standard_error": "NATS", "topics": "K,K,..."},
}

Output = Annotated[Path, "written"]
OptionalOutput = Annotated[Path | None, "written"]
P = ParamSpec("P")
Chosen = TypeVar("Chosen")
Result = TypeVar("Result")


class Argument(NamedTuple):
    """A parameter of a function, or of a class's constructor.

    Attributes:
        name, default: its own; `inspect.Parameter.empty` where there is no default.
        keyword: whether it is given by name.
        kind: the type of its value or values, one of `KINDS`; None for another.
        number: how many values it has, as argparse says it; None for one that is no sequence.
        written: whether it is an `Output`.
    """

    name: str
    default: Any
    keyword: bool
    kind: Any
    number: int | str | None
    written: bool


def arguments(function: Callable[..., Any]) -> Iterator[Argument]:
    """Yield the parameters of a function or class; the fields of a dataclass stand in its place."""
    for part in inspect.signature(function).parameters.values():
        annotation, default = _plain(part.annotation), part.default
        if is_dataclass(annotation):
            yield from arguments(annotation)  # type: ignore[arg-type]
            continue
        origin, parts = get_origin(annotation), get_args(annotation)
        kind = next((kind for kind in KINDS if kind in (annotation, origin, *parts)), None)
        number: int | str | None = None
        if isinstance(origin, type) and issubclass(origin, Sequence):
            exact = origin is tuple and ... not in parts
            number = len(parts) if exact else "+" if default is part.empty else "*"
        keyword, written = part.kind is part.KEYWORD_ONLY, annotation is not part.annotation
        yield Argument(part.name, default, keyword, kind, number, written)


def _plain(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def meanings(function: Callable[..., Any]) -> dict[str, str]:
    """Return the meanings of the parameters of a function, or of the fields of a class and its bases, by name."""
    found: dict[str, str] = {}
    for one in reversed(inspect.getmro(function)) if inspect.isclass(function) else [function]:
        text = inspect.cleandoc(one.__doc__ or "").partition("Attributes:" if inspect.isclass(one) else "Args:")[2]
        entries = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", text.partition("\n\n")[0], flags=re.MULTILINE)
        found |= {name: " ".join(meaning.rstrip(".").split()) for name, meaning in entries}
    return found


def add_arguments(parser: argparse.ArgumentParser, function: Callable[..., Any], leave_out: Sequence[str] = ()) -> None:
    """Add the parameters of a function or class to a parser, as options where they are given by name.

    The parser omits arguments that were not typed, and names in its default `written` the files that are written.
    """
    parser.argument_default = argparse.SUPPRESS
    helps, added = meanings(function), [one for one in arguments(function) if one.name not in leave_out]
    for name, default, keyword, kind, number, _ in added:
        needed, meaning = default is inspect.Parameter.empty, helps.get(name, "")
        flag = FLAGS.get(name, f"--{'no-' * (default is True)}{name.replace('_', '-')}")
        given: dict[str, Any]
        if kind is bool:
            given = {"action": "store_false" if default else "store_true"}
            meaning, shown = f"{'do not ' * default}{meaning}", "no"
        else:
            kind = kind or (Path if default is None else type(default))
            placeholder = PLACEHOLDERS.get(name, KINDS[kind][0] if keyword else name.upper())
            given = {"type": json_object if kind is dict else kind, "metavar": placeholder}
            shown = f"{default:g}" if isinstance(default, float) else f"{default}"
            shown = "none" if default in (None, (), "", {}) else shown
            number = number or (None if keyword or needed else "?")
            given |= {} if number is None else {"nargs": number}
        if not needed and "(default:" not in meaning:
            meaning = f"{meaning} (default: {shown})"
        if keyword:
            parser.add_argument(*flag.split(), dest=name, required=needed, help=meaning, **given)
        else:
            # of a position that is left out argparse would parse the mark of an omitted option
            parser.add_argument(name, help=meaning, **given, **({} if needed else {"default": default}))
    parser.set_defaults(written=[argument.name for argument in added if argument.written])


def json_object(text: str) -> dict[str, Any]:
    """Return the object of a JSON text; raises ValueError for other text."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError
    return value


def valid(name: str, value: Any, kind: Any) -> Any:
    """Return a value as one of a kind: any whole number as an int, any path as a Path.

    Raises:
        InputError: when it is of another kind.
    """
    try:
        if kind is int:
            return operator.index(value)
        if (kind is float and isinstance(value, str)) or (kind is str and not isinstance(value, str)):
            raise TypeError
        return kind(value)
    except TypeError as error:
        raise InputError(f"{name}: {value!r:.40} is a {type(value).__name__}; give {KINDS[kind][1]}") from error


def drawn(random_state: Any) -> Any:
    """Return the seed that a RandomState or a Generator of numpy draws; anything else as it is."""
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    return random_state if draw is None else int(draw(2**31 - 1))


def takes(
    options: Callable[P, Chosen],
) -> Callable[[Callable[[Any, Any, Chosen], Result]], Callable[Concatenate[Any, Any, P], Result]]:
    """Make a function of a model, documents and `options` take the options by name, as its signature then shows."""
    names = [argument.name for argument in arguments(options)]
    made: Callable[..., Chosen] = options

    def decorate(function: Callable[..., Result]) -> Callable[Concatenate[Any, Any, P], Result]:
        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Result:
            chosen = {name: keywords.pop(name) for name in names if name in keywords}
            return function(*args, **keywords, options=made(**chosen))

        signature = inspect.signature(function)
        parts = [part for part in signature.parameters.values() if part.name != "options"]
        for part in inspect.signature(options).parameters.values():
            parts.append(part.replace(annotation=_plain(part.annotation)))
        call.__signature__ = signature.replace(parameters=parts)  # type: ignore[attr-defined]
        return call

    return decorate


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of an audit and of a ranking.

    The functions `announce` and `progress` are of Python alone; see `heldout.audit`.

    Attributes:
        vocabulary: read the model's words in this file, one per line, where the model does not name them.
        estimator: estimate the likelihood by one of LIKELIHOODS, or auto: exactly where the cost is at most the limit,
            elsewhere by reference.
        samples: draw this many samples per document by a named estimator, or sweep at most so often by reference, 240
            or more (default: 20; of reference as many as some ten seconds allow, in a ranking at least 1000).
        limit: allow this many updates, of which 1e9 take about a second, for the exact likelihoods of all documents.
        smoothing: add this to every p(w | z), for a model that gives words of the documents probability 0; the
            library's own number is without.
        random_state: derive every random draw from this number.
        n_jobs: run this many processes, -1 for all cores.
        store: keep finished work in this folder, from which the same call goes on (default: the user's cache; in Python
            nowhere).
        other_corpus: accept documents that are unlike the corpus that the model was fitted to.
        labels: give every document its labels, one document's per line, between tabs (between spaces where there is no
            tab); an empty line is a document without, which has all topics, as in tomotopy.
        metadata: give every document its metadata, one document's per line, then any multi_metadata, between tabs.
        reported: ask the library for its own number.

    Raises:
        InputError: for an invalid option or combination.
    """

    estimators: ClassVar = [AUTO, *LIKELIHOODS]

    vocabulary: Any = None
    estimator: str = AUTO
    samples: int | None = None
    limit: float = LIMIT
    smoothing: float = 0.0
    random_state: Any = 0
    n_jobs: int | None = 1
    store: Annotated[str | Path | None, "written"] = None
    other_corpus: bool = False
    labels: Any = None
    metadata: Any = None
    reported: bool = True
    announce: Callable[[Any], None] | None = None
    progress: Callable[[int, float], None] | bool | None = None

    def __post_init__(self) -> None:
        changes: dict[str, Any] = {"random_state": valid("random_state", drawn(self.random_state), int)}
        changes["n_jobs"] = 1 if self.n_jobs is None else self.n_jobs
        for name, default, _, kind, number, _ in arguments(type(self)):
            value = changes.get(name, getattr(self, name))
            if not (kind is None or number or name in HOOKS or (value is None and default is None)):
                changes[name] = valid(name, value, kind)
        if changes["n_jobs"] == -1:
            changes["n_jobs"] = os.cpu_count() or 1
        for name, value in changes.items():
            object.__setattr__(self, name, value)
        if self.cores < 1:
            raise InputError(f"{self.cores} processes (n_jobs, --cores); take 1 or more, or -1 for all cores")
        if not self.limit >= 0.0:
            raise InputError(f"a limit of {self.limit} updates; it must be 0 or more")
        if not 0.0 <= self.smoothing <= 1.0:
            raise InputError(f"a smoothing constant of {self.smoothing}; it must be 0 to 1, such as 1e-6")
        self._check_estimator()

    def _check_estimator(self) -> None:
        name, samples = self.estimator, self.samples
        if name not in self.estimators:
            other = f"{name}: estimates another quantity than the documents' likelihood"
            reason = other if name in ESTIMATORS else f"there is no estimator {name}"
            raise InputError(f"{reason}; there are {', '.join(self.estimators)}")
        known = ESTIMATORS[REFERENCE if name == AUTO else name]
        if samples is not None and known.deterministic:
            raise InputError(f"{name}: draws no samples; leave their number out")
        if samples is not None and not known.fewest <= samples <= MOST_SAMPLES:
            raise InputError(f"{name}: {samples} samples; draw {known.fewest} or more, {MOST_SAMPLES} at most")

    @property
    def cores(self) -> int:
        """The number of processes."""
        return 1 if self.n_jobs is None else self.n_jobs

    @property
    def folder(self) -> Path | None:
        """The folder of finished work; None without one."""
        return None if self.store is None else Path(self.store)


Options.__doc__ = f"{Options.__doc__}".replace("LIKELIHOODS", ", ".join(LIKELIHOODS))


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(Options):
    """Options of `heldout.log_likelihood` and of `heldout.choose`: one estimator of all models."""

    estimators: ClassVar = LIKELIHOODS

    estimator: str = REFERENCE
    limit: float = 0.0


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Options):
    """Options of `heldout.audit`, beside `Options`.

    Attributes:
        standard_error: choose the sweeps for this standard error of a document's log-likelihood, nats (root mean
            square), under auto (default: as some ten seconds give).
        probability: test which numbers could be probabilities.
    """

    standard_error: float | None = None
    probability: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        error = self.standard_error
        if error is not None and not LEAST_ERROR <= error < math.inf:
            raise InputError(f"a standard error of {error} nats; it must be above 0, {LEAST_ERROR:g} or more")
        if error is not None and self.estimator != AUTO:
            raise InputError(
                f"a standard error is reached by choosing the estimator; leave {self.estimator} out, or the error"
            )


@dataclass(frozen=True, kw_only=True)
class RankOptions(Options):
    """Options of `heldout.rank`, beside `Options`.

    Attributes:
        coherence: measure the topics' coherence.
        coherence_documents: measure coherence in these documents (default: the held-out ones).
        coherence_measure: measure coherence by npmi, over documents, or by c_v, over windows of texts in their order,
            as tomotopy computes it.
    """

    coherence: bool = True
    coherence_documents: Any = None
    coherence_measure: str = "npmi"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coherence_measure not in MEASURES:
            raise InputError(f"there is no coherence {self.coherence_measure}; there are {', '.join(MEASURES)}")


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Files that a command reads documents from, and writes.

    Attributes:
        typed: the arguments as they were typed, for the page.
        format: name the form of the documents: scipy, mm, uci, ldac, csv, parquet, text or heldout (default: guessed).
        documents_vocabulary: read the documents' words, one per line, where they are numbers.
        html: write a page with figures.
        json: write JSON; - writes it to standard output, in place of the report.
    """

    typed: Sequence[str] = ()
    format: str | None = None
    documents_vocabulary: Path | None = None
    html: OptionalOutput = None
    json: Annotated[str | None, "written"] = None

    @property
    def json_file(self) -> Path | None:
        """The JSON's file; None for standard output or no JSON."""
        return None if self.json in (None, "-") else Path(str(self.json))

    @property
    def line(self) -> str:
        """The command as typed in a shell; empty if none was."""
        return shlex.join(["heldout", *self.typed]) if self.typed else ""


@dataclass(frozen=True)
class Files(Outputs):
    """Files that an audit or a ranking reads and writes.

    Attributes:
        models: the models' files.
        documents: score the held-out documents in this file, or in this folder of texts, whose .txt files are cut into
            runs of letters and digits in lower case.
        model_format: name the form of the models' files: skops, gensim, tomotopy, mallet, lda-c, npz, csv or pickle
            (default: guessed).
        stem: stem the words of texts, as in Cranfield and Medline.
        trust_pickle: unpickle a model, which may run any code that it holds.
    """

    models: Sequence[Path]
    documents: Path
    _: KW_ONLY
    model_format: str | None = None
    stem: bool = False
    trust_pickle: bool = False

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the keyword arguments of `heldout.audit` or `heldout.rank`, with the given changes."""
        others = {part.name for part in fields(Files)} | {"csv", "vocabulary", *HOOKS}  # the models have their words
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in others} | changes


@dataclass(frozen=True)
class AuditCommand(AuditOptions, Files):
    """Arguments of `heldout audit`.

    Attributes:
        models: read the fitted model in this file, or in LDA-C's folder.
        csv: write the documents' values, a row each; - writes them to standard output, in place of the report.
    """

    models: tuple[Path]
    _: KW_ONLY
    csv: OptionalOutput = None


@dataclass(frozen=True)
class RankCommand(RankOptions, Files):
    """Arguments of `heldout rank`.

    Attributes:
        models: read fitted models in these files, over one vocabulary.
    """


@dataclass(frozen=True)
class ChooseCommand(Outputs):
    """Arguments of `heldout choose`.

    Attributes:
        documents: divide the documents of this file, or folder of texts, into folds: a table of texts or of counts (CSV
            or Parquet), or any form that an audit reads.
        topics: compare these numbers of topics, between commas.
        model: fit lda or lda-online, of scikit-learn, or tomotopy's Gibbs sampler.
        column: take the texts of this column of a table (default: the only one that holds texts).
        folds: divide the documents into this many parts, each scored by models of the others.
        restarts: fit each number of topics in each fold so often, by other seeds.
        estimator: estimate the likelihood by one of LIKELIHOODS.
        samples: draw this many samples per document, or sweep at most so often by reference (default: 1000; of another
            estimator 20).
        random_state: derive folds and every random draw from this number.
        n_jobs: run this many processes, -1 for all cores.
        store: keep finished fits in this folder, from which the same command goes on (default: the user's cache).
        csv: write the numbers of topics, a row each.
    """

    documents: Path
    _: KW_ONLY
    topics: str
    model: str = "lda"
    column: str | None = None
    folds: int = 5
    restarts: int = 1
    estimator: str = REFERENCE
    samples: int | None = None
    random_state: int = 0
    n_jobs: int = 1
    store: Annotated[Path | None, "written"] = None
    csv: OptionalOutput = None

    @property
    def folder(self) -> Path | None:
        """The folder of finished fits; None for the user's cache."""
        return self.store

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the keyword arguments of `heldout.choose`, with the given changes."""
        names = ("folds", "restarts", "estimator", "samples", "random_state", "n_jobs")
        return {name: getattr(self, name) for name in names} | {"topics": self._numbers()} | changes

    def _numbers(self) -> list[int]:
        try:
            return [int(number) for number in self.topics.split(",")]
        except ValueError as error:
            raise InputError(f"--topics {self.topics}: give whole numbers between commas, such as 2,5,10,20") from error


ChooseCommand.__doc__ = f"{ChooseCommand.__doc__}".replace("LIKELIHOODS", ", ".join(LIKELIHOODS))
