"""The options of `heldout audit` and `heldout rank`, for the command line and for Python.

The parsers omit options that were not typed, so defaults are defined only here. Nothing here imports numpy, so that the
help is quick.
"""

import argparse
import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, EXACT

LIMIT = 1e11  # updates; about two minutes of one core
MOST_SAMPLES = 10**7  # per document
LEAST_ERROR = 1e-6  # nats; less is lost in the rounding of a sum of logarithms
AUTO = "auto"
LIKELIHOODS = [name for name, known in ESTIMATORS.items() if known.behaviour != "other"]


def check_smoothing(constant: float) -> None:
    """Check a constant that is added to every p(w | z).

    Raises:
        InputError: for one that is negative or above 1.
    """
    if not 0.0 <= constant <= 1.0:
        raise InputError(f"a smoothing constant of {constant}; it must be 0 to 1, such as 1e-6")


@dataclass(frozen=True)
class _Typed:
    """Options that can be read from a parsed command line."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Self:
        """Return the typed options, and the defaults of the others."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in vars(args).items() if name in known})


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The options of an audit.

    Attributes:
        estimator: of the truth: "auto", or one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: per document; None for 20, or for "reference" what some ten seconds allow.
        standard_error: that a document's log-likelihood may have (root mean square), nats; only with "auto". None
            for some ten seconds of work.
        limit: the largest number of updates for the exact likelihood of all documents ("auto" and "exact-marginal").
        seed: determines the order of a bag's tokens, the halves and the estimator's draws.
        cores: the number of processes. Several are spawned, so a script needs the usual `if __name__ == "__main__":`.
        store: a folder that keeps the values, so that the same call resumes an interrupted audit.
        so_far: if True, nothing is run; the audit covers the documents in `store`.
        smoothing: a constant that is added to every p(w | z) before the documents are scored, for a model that gives
            some of their words probability 0 (`heldout.topics.Topics.smoothed`); the library's own number is without.
        other_corpus: whether to accept documents unlike the model's own corpus (`heldout.auditing.matching.unlike`).
        reported: whether to ask the library for its own number.
        probability: whether to draw documents from the model, to see which numbers a probability could have given.

    Raises:
        InputError: for an invalid option or combination.
    """

    estimator: str = AUTO
    samples: int | None = None
    standard_error: float | None = None
    limit: float = LIMIT
    seed: int = 0
    cores: int = 1
    store: Path | None = None
    so_far: bool = False
    smoothing: float = 0.0
    other_corpus: bool = False
    reported: bool = True
    probability: bool = True

    def __post_init__(self) -> None:
        name, samples, error = self.estimator, self.samples, self.standard_error
        if name != AUTO and name not in ESTIMATORS:
            raise InputError(f"there is no estimator {name}; there are {AUTO}, {', '.join(ESTIMATORS)}")
        if name != AUTO and ESTIMATORS[name].behaviour == "other":
            raise InputError(f"{name}: estimates another quantity than the documents' likelihood; choose another")
        fewest = ESTIMATORS[name].fewest if name in ESTIMATORS else 1
        if samples is not None and not fewest <= samples <= MOST_SAMPLES:
            raise InputError(f"{samples} samples; draw {fewest} or more, {MOST_SAMPLES} at most")
        if samples is not None and name != AUTO and ESTIMATORS[name].deterministic:
            raise InputError(f"{name}: draws no samples; leave their number out")
        if samples is not None and name == AUTO:
            raise InputError(f"{samples} samples of an estimator that is not named; name it, or leave the number out")
        if error is not None and not LEAST_ERROR <= error < math.inf:
            raise InputError(f"a standard error of {error} nats; it must be above 0, {LEAST_ERROR:g} or more")
        if error is not None and name != AUTO:
            raise InputError(f"a standard error is reached by choosing the estimator; leave {name} out, or the error")
        check_smoothing(self.smoothing)
        if self.cores < 1:
            raise InputError(f"{self.cores} cores; take 1 or more")
        if not self.limit >= 0.0:
            raise InputError(f"a limit of {self.limit} updates; it must be 0 or more")


@dataclass(frozen=True, kw_only=True)
class RankOptions:
    """The options of a ranking.

    Attributes:
        estimator: of every model's likelihood: "auto" (exact where that costs at most `limit`, or else "reference"),
            or one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: per document; None for what some ten seconds allow, and at least `heldout.auditing.scorer.SAMPLES`.
        limit: the largest number of updates for the exact likelihoods of all documents under all models.
        smoothing: a constant added to every p(w | z), renormalised; 0 for none.
        seed: determines the order of a bag's tokens and the estimator's draws.
        cores: the number of processes; None for all cores. Several are spawned, as in `AuditOptions`.
        store: a folder that keeps the values, so that the same call resumes an interrupted ranking.
        other_corpus: whether to accept documents unlike a model's own corpus.
        reported: whether to ask the libraries for their own numbers.
        coherence: whether to compute the topics' coherence.

    Raises:
        InputError: for an invalid option.
    """

    estimator: str = AUTO
    samples: int | None = None
    limit: float = LIMIT
    smoothing: float = 0.0
    seed: int = 0
    cores: int | None = None
    store: Path | None = None
    other_corpus: bool = False
    reported: bool = True
    coherence: bool = True

    def __post_init__(self) -> None:
        if self.cores is not None and self.cores < 1:
            raise InputError(f"{self.cores} cores; take 1 or more")
        if not self.limit >= 0.0:
            raise InputError(f"a limit of {self.limit} updates; it must be 0 or more")
        if self.samples is not None and self.estimator in (AUTO, EXACT):
            raise InputError(f"{self.samples} samples of an estimator that is not named; name it, or leave them out")


@dataclass(frozen=True, kw_only=True)
class _Files(_Typed):
    """The files that a command reads and writes.

    Attributes:
        documents: the documents' file, or a folder of texts.
        model_format: one of `heldout.libraries.read.FORMS`; None to guess.
        format: the documents' format, one of `heldout.corpora.stream.FORMS`; None to guess.
        vocabulary: a file of the model's words, one per line, for a model that names none.
        documents_vocabulary: a file of the documents' words, one per line, for documents that name none.
        stem: whether to stem the words of texts.
        trust_pickle: whether to unpickle the model, which can run any code.
        html: the page's file; None for no page.
        json: the JSON's file; "-" for standard output, instead of the table; None for no JSON.
        typed: the arguments as they were typed, for the page.
    """

    documents: Path
    model_format: str | None = None
    format: str | None = None
    vocabulary: Path | None = None
    documents_vocabulary: Path | None = None
    stem: bool = False
    trust_pickle: bool = False
    html: Path | None = None
    json: str | None = None
    typed: Sequence[str] = ()

    @property
    def json_file(self) -> Path | None:
        """The JSON's file; None for standard output or no JSON."""
        return None if self.json in (None, "-") else Path(str(self.json))

    @property
    def line(self) -> str:
        """The command as typed in a shell; empty if none was."""
        return shlex.join(["heldout", *self.typed]) if self.typed else ""


@dataclass(frozen=True, kw_only=True)
class AuditCommand(AuditOptions, _Files):
    """The command line of `heldout audit`.

    Attributes:
        model: the model's file, or a folder of LDA-C's.
    """

    model: Path

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the keyword arguments of `heldout.audit`, with the given changes."""
        return {field.name: getattr(self, field.name) for field in fields(AuditOptions)} | changes


@dataclass(frozen=True, kw_only=True)
class RankCommand(RankOptions, _Files):
    """The command line of `heldout rank`.

    Attributes:
        models: the models' files, or folders of LDA-C's.
    """

    models: Sequence[Path]

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return the keyword arguments of `heldout.rank`, with the given changes."""
        return {field.name: getattr(self, field.name) for field in fields(RankOptions)} | changes


class _ModelForms:
    """The forms of a model's file; importing them takes a second, which only those who ask for help should wait."""

    def __iter__(self) -> Iterator[str]:
        from heldout.libraries.read import FORMS

        return iter(FORMS)

    def __contains__(self, form: object) -> bool:
        return True  # `read_model` refuses others, in one line


def _add_files(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("documents", type=Path, metavar="CORPUS", help="held-out documents: a file, or a folder of texts")
    add(
        "--model-format",
        metavar="FORM",
        choices=_ModelForms(),
        help="name the form of the model's file: %(choices)s (default: guessed)",
    )
    add("--format", help="of the documents: scipy, mm, uci, ldac, text or heldout; guessed where not given")
    add("--vocabulary", type=Path, help="the model's words, one per line, where it does not name them")
    add("--documents-vocabulary", type=Path, help="the documents' words, where they are numbers")
    add("--stem", action="store_true", help="texts only: stem as Cranfield and Medline are")
    add("--trust-pickle", action="store_true", help="unpickle the model: it may run any code it holds")
    add("--html", type=Path, metavar="FILE", help="write a page with figures")
    add("--json", metavar="FILE", help="write JSON; - for standard output, in place of the table")


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout audit`: the attributes of `AuditCommand`."""
    parser.argument_default = argparse.SUPPRESS
    add = parser.add_argument
    add("model", type=Path, help="a fitted model's file, or LDA-C's folder")
    _add_files(parser)
    add("--estimator", help=f"of the likelihood: {AUTO}, {', '.join(LIKELIHOODS)}")
    add("--samples", type=int, help="of that estimator, per document")
    add("--standard-error", type=float, help="that a document's log-likelihood may have, nats; with auto")
    add("--limit", type=float, help="updates that the exact likelihood may cost")
    add("--smoothing", type=float, help="add this to every p(w | z), where words have probability 0")
    add("--seed", type=int, help="names every random draw; 0 where not given")
    add("--cores", type=int, help="processes; 1 where not given")
    add("--store", type=Path, help="keep what is done in this folder, not in the user's cache")
    add("--so-far", action="store_true", help="run nothing: report what an interrupted audit has kept")
    add("--other-corpus", action="store_true", help="documents that are unlike the model's own are meant")
    add("--no-library", action="store_false", dest="reported", help="leave the library's own number out")
    add("--no-probability", action="store_false", dest="probability", help="do not test which numbers are one")


def add_rank(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout rank`: the attributes of `RankCommand`."""
    parser.argument_default = argparse.SUPPRESS
    add = parser.add_argument
    add("models", type=Path, nargs="+", metavar="MODEL", help="fitted models' files, over one vocabulary")
    _add_files(parser)
    add("--estimator", help=f"of every model's likelihood: {AUTO}, {', '.join(LIKELIHOODS)}")
    add("--samples", type=int, help="of that estimator, per document")
    add("--limit", type=float, help="updates that the exact likelihoods may cost")
    add("--smoothing", type=float, help="a constant added to every p(w | z), where documents are impossible without")
    add("--seed", type=int, help="names every random draw; 0 where not given")
    add("--cores", type=int, help="processes; all cores where not given")
    add("--store", type=Path, help="keep what is done in this folder, not in the user's cache")
    add("--other-corpus", action="store_true", help="documents that are unlike the models' own are meant")
    add("--no-library", action="store_false", dest="reported", help="leave the libraries' own numbers out")
    add("--no-coherence", action="store_false", dest="coherence", help="leave the topics' coherence out")
