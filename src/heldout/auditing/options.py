"""The options of `heldout audit` and `heldout rank`, for the command line and for Python.

Each is said once: a field has its name, type, default and meaning, and the commands' parsers are made from the fields.
The parsers omit options that were not typed. Nothing here imports numpy, so that the help is quick.
"""

import argparse
import difflib
import inspect
import math
import operator
import os
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any, Self, TypedDict, TypeVar

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, REFERENCE

LIMIT = 1e11  # updates; about two minutes of one core
MOST_SAMPLES = 10**7  # per document
LEAST_ERROR = 1e-6  # nats; less is lost in the rounding of a sum of logarithms
AUTO = "auto"
MEASURES = {"npmi": "NPMI", "c_v": "C_v"}  # measures of coherence, and their labels
RENAMED = {"seed": "random_state", "cores": "n_jobs"}  # former names of options, and the names
F = TypeVar("F", bound=Callable[..., Any])
LIKELIHOODS = [name for name, known in ESTIMATORS.items() if known.behaviour != "other"]


def option(
    default: Any, meaning: str, kind: Callable[[str], Any] | None = None, *, flag: str = "", **argument: Any
) -> Any:
    """Return a field of a class of options.

    Args:
        default: its value where none is given.
        meaning: an imperative with an object, as the command's help says it.
        kind: makes the value of the text that was typed; None for a switch.
        flag: what is typed, where it is not the field's name.
        argument: further arguments of `argparse.ArgumentParser.add_argument`.
    """
    switch = {"action": "store_false" if default else "store_true"}
    argument |= {"help": meaning, **(switch if kind is None else {"type": kind})}
    return field(default=default, metadata={"flag": flag, "argument": argument})


def valid(name: str, value: Any, kind: Callable[[str], Any] | None) -> Any:
    """Return an option's value as the kind that it is of, whatever number, path or switch Python gave.

    Raises:
        InputError: when it is of another kind.
    """
    of = type(value).__name__
    if kind is int:
        try:
            return operator.index(value)
        except TypeError as error:
            raise InputError(f"{name}: {value!r:.40} is a {of}; give a whole number") from error
    if kind is float:
        if not isinstance(value, Real):
            raise InputError(f"{name}: {value!r:.40} is a {of}; give a number")
        return float(value)
    if kind is Path:
        if not isinstance(value, str | os.PathLike):
            raise InputError(f"{name}: {value!r:.40} is a {of}; give a folder or a file")
        return Path(value)
    if kind is str and not isinstance(value, str):
        raise InputError(f"{name}: {value!r:.40} is a {of}; give a name")
    return value if kind is not None else bool(value)


def _documents(text: str) -> Any:
    return Path(text)


def drawn(random_state: Any) -> Any:
    """Return the seed that a RandomState or a Generator of numpy draws; anything else as it is."""
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    return random_state if draw is None else int(draw(2**31 - 1))


def _warned(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if name in RENAMED:
            warnings.warn(f"{name}: is called {RENAMED[name]}", DeprecationWarning, stacklevel=4)
        yield name, value


class Keywords(TypedDict, total=False):
    """The types of the options of `Options` from Python, and their former names."""

    estimator: str
    samples: int | None
    limit: float
    smoothing: float
    random_state: Any
    n_jobs: int | None
    store: str | Path | None
    other_corpus: bool
    labels: Any
    metadata: Any
    reported: bool
    seed: int
    cores: int


class AuditKeywords(Keywords, total=False):
    """The types of the options of `AuditOptions`."""

    standard_error: float | None
    probability: bool


class RankKeywords(Keywords, total=False):
    """The types of the options of `RankOptions`."""

    coherence: bool
    coherence_documents: Any
    coherence_measure: str


def shown(function: F, options: Any) -> F:
    """Give a function of `**options` the options' names and defaults in its signature, for help and completion."""
    own = inspect.signature(function)
    named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    named += [inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default) for p in fields(options)]
    function.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
    return function


def check_settings(estimator: str, samples: int | None, smoothing: float, names: Sequence[str] = LIKELIHOODS) -> None:
    """Check an estimator of the likelihood, its samples per document, and a constant added to every p(w | z).

    Raises:
        InputError: for one that is none; of an unknown estimator it lists the names.
    """
    if estimator not in ESTIMATORS:
        raise InputError(f"there is no estimator {estimator}; there are {', '.join(names)}")
    known = ESTIMATORS[estimator]
    if known.behaviour == "other":
        raise InputError(
            f"{estimator}: estimates another quantity than the documents' likelihood; there are {', '.join(names)}"
        )
    if samples is not None and not known.fewest <= samples <= MOST_SAMPLES:
        raise InputError(f"{estimator}: {samples} samples; draw {known.fewest} or more, {MOST_SAMPLES} at most")
    if not 0.0 <= smoothing <= 1.0:
        raise InputError(f"a smoothing constant of {smoothing}; it must be 0 to 1, such as 1e-6")


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of an audit and of a ranking; see the fields.

    Raises:
        InputError: for an invalid option or combination.
    """

    estimator: str = option(
        AUTO,
        f"estimate the likelihood by one of {', '.join(LIKELIHOODS)}, or {AUTO}: exactly where that costs at most"
        " --limit, elsewhere by reference (default: auto)",
        str,
        metavar="NAME",
    )
    samples: int | None = option(
        None,
        "draw this many samples per document by a named estimator, or sweep at most so often by reference, 240 or more"
        " (default: 20; of reference what some ten seconds allow, in a ranking at least 1000)",
        int,
    )
    limit: float = option(
        LIMIT, f"allow this many updates for the exact likelihoods of all documents (default: {LIMIT:g})", float
    )
    smoothing: float = option(
        0.0,
        "add this to every p(w | z), for a model that gives words of the documents probability 0; the library's own"
        " number is without (default: 0)",
        float,
    )
    random_state: int = option(0, "derive every random draw from this number (default: 0)", int, flag="--seed")
    n_jobs: int = option(
        1,
        "run this many processes, -1 for all cores (default: 1)",
        int,
        flag="--cores",
    )
    store: Path | None = option(
        None,
        "keep what is done in this folder, from which the same call goes on (default: the user's cache; in Python"
        " nowhere)",
        Path,
    )
    other_corpus: bool = option(False, "accept documents that are unlike the corpus that the model was fitted to")
    labels: Any = option(
        None,
        "give every document its labels, one document's per line, between tabs (between spaces where there is no tab);"
        " an empty line is a document without, which has all topics, as in tomotopy (default: none)",
        _documents,
        metavar="FILE",
    )
    metadata: Any = option(
        None,
        "give every document its metadata, one document's per line, then any multi_metadata, between tabs"
        " (default: none)",
        _documents,
        metavar="FILE",
    )
    reported: bool = option(True, "leave the library's own number out", flag="--no-library")

    @classmethod
    def named(cls, options: Mapping[str, Any]) -> Self:
        """Return the options of these names.

        Raises:
            InputError: for a name that is none, or an invalid option; names what comes near it.
        """
        names = [part.name for part in fields(cls)]
        options = {RENAMED.get(name, name): value for name, value in _warned(options)}
        for name in options:
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                known = f"perhaps {near[0]}" if near else f"there are {', '.join(names)}"
                raise InputError(f"there is no option {name}; {known}")
        return cls(**options)

    def __post_init__(self) -> None:
        for part in fields(self):
            value = drawn(getattr(self, part.name)) if part.name == "random_state" else getattr(self, part.name)
            value = 1 if part.name == "n_jobs" and value is None else value
            if "flag" in part.metadata and not (value is None and part.default is None):
                object.__setattr__(self, part.name, valid(part.name, value, part.metadata["argument"].get("type")))
        name, samples = self.estimator, self.samples
        check_settings(REFERENCE if name == AUTO else name, samples, self.smoothing, [AUTO, *LIKELIHOODS])
        if samples is not None and name != AUTO and ESTIMATORS[name].deterministic:
            raise InputError(f"{name}: draws no samples; leave their number out")
        if self.n_jobs == -1:
            object.__setattr__(self, "n_jobs", os.cpu_count() or 1)
        if self.n_jobs < 1:
            raise InputError(f"{self.n_jobs} processes (n_jobs, --cores); take 1 or more, or -1 for all cores")
        if not self.limit >= 0.0:
            raise InputError(f"a limit of {self.limit} updates; it must be 0 or more")


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Options):
    """The options of an audit: those of `Options`, and its own."""

    standard_error: float | None = option(
        None,
        f"choose the sweeps for this standard error of a document's log-likelihood, nats (root mean square), under"
        f" {AUTO} (default: what some ten seconds give)",
        float,
    )
    probability: bool = option(True, "skip the test of which numbers could be probabilities", flag="--no-probability")

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
    """The options of a ranking: those of `Options`, and its own."""

    coherence: bool = option(True, "leave the topics' coherence out", flag="--no-coherence")
    coherence_documents: Any = option(
        None, "measure coherence in these documents (default: the held-out ones)", _documents, metavar="CORPUS"
    )
    coherence_measure: str = option(
        "npmi", "measure coherence by npmi, over documents, or by c_v, over windows of texts (default: npmi)", str
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coherence_measure not in MEASURES:
            raise InputError(f"there is no coherence {self.coherence_measure}; there are {', '.join(MEASURES)}")


class _ModelForms:
    """The forms of a model's file; importing them takes a second, which only those who ask for help should wait."""

    def __iter__(self) -> Iterator[str]:
        from heldout.libraries.read import FORMS

        return iter(FORMS)

    def __contains__(self, form: object) -> bool:
        return True  # `read_model` refuses others, in one line


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files that a command reads and writes; see the fields.

    Attributes:
        models: the models' files, or folders of LDA-C's.
        documents: the documents' file, or a folder of texts.
        typed: the arguments as they were typed, for the page.
    """

    models: Sequence[Path]
    documents: Path
    typed: Sequence[str] = ()
    model_format: str | None = option(
        None,
        "name the form of the models' files: %(choices)s (default: guessed)",
        str,
        metavar="FORM",
        choices=_ModelForms(),
    )
    format: str | None = option(
        None,
        "name the form of the documents: scipy, mm, uci, ldac, text or heldout (default: guessed)",
        str,
        metavar="FORM",
    )
    vocabulary: Path | None = option(
        None, "read the model's words, one per line, where it does not name them (default: none)", Path
    )
    documents_vocabulary: Path | None = option(
        None, "read the documents' words, one per line, where they are numbers (default: none)", Path
    )
    stem: bool = option(False, "stem the words of texts, as those of Cranfield and Medline are")
    trust_pickle: bool = option(False, "unpickle a model, which may run any code that it holds")
    html: Path | None = option(None, "write a page with figures (default: none)", Path, metavar="FILE")
    json: str | None = option(
        None, "write JSON; - writes it to standard output, in place of the table (default: none)", str, metavar="FILE"
    )

    @classmethod
    def of(cls, args: argparse.Namespace) -> Self:
        """Return the typed options, and the defaults of the others."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in vars(args).items() if name in known})

    @property
    def json_file(self) -> Path | None:
        """The JSON's file; None for standard output or no JSON."""
        return None if self.json in (None, "-") else Path(str(self.json))

    @property
    def line(self) -> str:
        """The command as typed in a shell; empty if none was."""
        return shlex.join(["heldout", *self.typed]) if self.typed else ""

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the keyword arguments of `heldout.audit` or `heldout.rank`, with the given changes."""
        files = {field.name for field in fields(Files)} | {"csv"}
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in files} | changes


@dataclass(frozen=True, kw_only=True)
class AuditCommand(AuditOptions, Files):
    """The command line of `heldout audit`, of one model."""

    csv: Path | None = option(None, "write the documents' values, a row each (default: none)", Path, metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class RankCommand(RankOptions, Files):
    """The command line of `heldout rank`."""


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout audit`: the attributes of `AuditCommand`."""
    _add(parser, AuditCommand, nargs=1, help="a fitted model's file, or LDA-C's folder")


def add_rank(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout rank`: the attributes of `RankCommand`."""
    _add(parser, RankCommand, nargs="+", help="fitted models' files, over one vocabulary")


def _add(parser: argparse.ArgumentParser, command: type[AuditCommand] | type[RankCommand], **models: Any) -> None:
    parser.argument_default = argparse.SUPPRESS
    parser.add_argument("models", type=Path, metavar="MODEL", **models)
    parser.add_argument("documents", type=Path, metavar="CORPUS", help="held-out documents: a file, a folder of texts")
    for part in fields(command):
        if "flag" in part.metadata:
            flag = part.metadata["flag"] or f"--{part.name.replace('_', '-')}"
            parser.add_argument(flag, dest=part.name, **part.metadata["argument"])
