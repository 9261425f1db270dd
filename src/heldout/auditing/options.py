"""The options of `heldout audit` and `heldout recommend`: said once, for the command line and for Python.

The parsers leave out what was not typed, so that every default stands here alone. Nothing here imports numpy: the help
has to be quick.
"""

import argparse
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self

from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS

LIMIT = 1e11  # updates; some two minutes of one core
AUTO = "auto"
LIKELIHOODS = [name for name, known in ESTIMATORS.items() if known.behaviour != "other"]

Per = Literal["document", "corpus"]


@dataclass(frozen=True)
class _Typed:
    """Options that a parsed command line gives."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Self:
        """Return the options that were typed, with the defaults of the others."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in vars(args).items() if name in known})


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What may be chosen of an audit.

    Attributes:
        estimator: of the truth: "auto", or one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: of the estimator, per document; None for what is recommended ("auto") or 20.
        standard_error: the standard error that a document's log-likelihood may have, nats; with "auto" alone.
        limit: updates that the exact likelihood of all documents may cost ("auto" and "exact-marginal").
        seed: names the order of a bag's tokens, the halves and the estimator's draws.
        cores: processes. More than one are started afresh (spawn), so that a script that asks for them needs the usual
            `if __name__ == "__main__":`.
        store: a folder for what is done: an interrupted audit loses nothing, and the same call goes on from there.
        so_far: nothing is run; the audit is of the documents in `store`.
        other_corpus: whether documents may be unlike those of the model's own corpus
            (`heldout.auditing.matching.unlike`).
        reported: whether the library's own number is asked for.

    Raises:
        InputError: when they make no sense, alone or together.
    """

    estimator: str = AUTO
    samples: int | None = None
    standard_error: float | None = None
    limit: float = LIMIT
    seed: int = 0
    cores: int = 1
    store: Path | None = None
    so_far: bool = False
    other_corpus: bool = False
    reported: bool = True

    def __post_init__(self) -> None:
        name, samples, error = self.estimator, self.samples, self.standard_error
        if name != AUTO and name not in ESTIMATORS:
            raise InputError(f"there is no estimator {name}; there are {AUTO}, {', '.join(ESTIMATORS)}")
        if name != AUTO and ESTIMATORS[name].behaviour == "other":
            raise InputError(f"{name}: estimates another quantity than the documents' likelihood; choose another")
        if samples is not None and samples < 1:
            raise InputError(f"{samples} samples; draw 1 or more")
        if samples is not None and name != AUTO and ESTIMATORS[name].deterministic:
            raise InputError(f"{name}: draws no samples; leave their number out")
        if samples is not None and name == AUTO:
            raise InputError(f"{samples} samples of an estimator that is not named; name it, or leave the number out")
        if error is not None and not 0.0 < error < math.inf:
            raise InputError(f"a standard error of {error} nats; it must be above 0")
        if error is not None and name != AUTO:
            raise InputError(f"a standard error is reached by choosing the estimator; leave {name} out, or the error")
        if self.cores < 1:
            raise InputError(f"{self.cores} cores; take 1 or more")
        if not self.limit >= 0.0:
            raise InputError(f"a limit of {self.limit} updates; it must be 0 or more")


@dataclass(frozen=True, kw_only=True)
class AuditCommand(AuditOptions, _Typed):
    """`heldout audit` as it was typed.

    Attributes:
        model: the model's file, or LDA-C's folder.
        documents: the documents' file, or a folder of texts.
        model_format: one of `heldout.libraries.read.FORMS`; guessed where it is None.
        format: of the documents, one of `heldout.corpora.stream.FORMS`; guessed where it is None.
        vocabulary: a file of the model's words, one per line, for a model that names none.
        documents_vocabulary: a file of the documents' words, one per line, for documents that name none.
        stem: whether words of texts are stemmed.
        trust_pickle: whether the model may be unpickled.
        calibration: measurements to recommend an estimator from; None for the reference results.
        timings: the estimators' times; None for the reference results.
        html: where the page goes.
        json: where the JSON goes; "-" for the output, in place of the table.
        typed: the arguments as they were typed, for the page.
    """

    model: Path
    documents: Path
    model_format: str | None = None
    format: str | None = None
    vocabulary: Path | None = None
    documents_vocabulary: Path | None = None
    stem: bool = False
    trust_pickle: bool = False
    calibration: Path | None = None
    timings: Path | None = None
    html: Path | None = None
    json: str | None = None
    typed: Sequence[str] = ()

    @property
    def json_file(self) -> Path | None:
        """The file that the JSON goes to; None where it goes to the output, or nowhere."""
        return None if self.json in (None, "-") else Path(str(self.json))

    @property
    def line(self) -> str:
        """The command as a shell takes it; empty where none was typed."""
        return shlex.join(["heldout", *self.typed]) if self.typed else ""

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return those that `heldout.audit` takes, by name."""
        return {field.name: getattr(self, field.name) for field in fields(AuditOptions)} | changes


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout audit`: the attributes of `AuditCommand`."""
    parser.argument_default = argparse.SUPPRESS
    add = parser.add_argument
    add("model", type=Path, help="a fitted model's file, or LDA-C's folder")
    add("documents", type=Path, metavar="CORPUS", help="held-out documents: a file, or a folder of texts")
    add("--model-format", help="skops, pickle, gensim, tomotopy, mallet, lda-c, npz or csv; guessed where not given")
    add("--format", help="of the documents: scipy, mm, uci, ldac, text or heldout; guessed where not given")
    add("--vocabulary", type=Path, help="the model's words, one per line, where it does not name them")
    add("--documents-vocabulary", type=Path, help="the documents' words, where they are numbers")
    add("--stem", action="store_true", help="texts only: stem as Cranfield and Medline are")
    add("--trust-pickle", action="store_true", help="unpickle the model: it may run any code it holds")
    add("--estimator", help=f"of the likelihood: {AUTO}, {', '.join(LIKELIHOODS)}")
    add("--samples", type=int, help="of that estimator, per document")
    add("--standard-error", type=float, help="that a document's log-likelihood may have, nats; with auto")
    add("--limit", type=float, help="updates that the exact likelihood may cost")
    add("--seed", type=int, help="names every random draw; 0 where not given")
    add("--cores", type=int, help="processes; 1 where not given")
    add("--store", type=Path, help="keep what is done in this folder, not in the user's cache")
    add("--so-far", action="store_true", help="run nothing: report what an interrupted audit has kept")
    add("--other-corpus", action="store_true", help="documents that are unlike the model's own are meant")
    add("--no-library", action="store_false", dest="reported", help="leave the library's own number out")
    _add_calibration(parser)
    add("--html", type=Path, metavar="FILE", help="write a page with figures")
    add("--json", metavar="FILE", help="write JSON; - for standard output, in place of the table")


@dataclass(frozen=True, kw_only=True)
class RecommendCommand(_Typed):
    """`heldout recommend` as it was typed.

    Attributes:
        topics: K.
        length: tokens of every document.
        corpus: or a file of documents, in any form that `heldout.corpora.stream` opens.
        standard_error: the error that a document's log-likelihood may have, nats.
        perplexity_error: or that its perplexity per token may have, percent; 1 where neither is given.
        documents: how many documents of `length` tokens.
        per: whose error that is, a document's or that of the documents' mean.
        cores: over which the documents are divided.
        alpha: the mean of the prior's K parameters; None where it is not known.
        consistent: True for those estimators alone that have no bias left at many samples.
        calibration: measurements; None for the reference results.
        timings: the estimators' times; None for the reference results.
        json: whether JSON is printed in place of the table.

    Raises:
        InputError: for both or neither of length and corpus, or both errors.
    """

    topics: int
    length: int | None = None
    corpus: Path | None = None
    standard_error: float | None = None
    perplexity_error: float | None = None
    documents: int = 1
    per: Per = "document"
    cores: int = 1
    alpha: float | None = None
    consistent: bool = False
    calibration: Path | None = None
    timings: Path | None = None
    json: bool = False

    def __post_init__(self) -> None:
        if (self.length is None) == (self.corpus is None):
            raise InputError("recommend: give --length or a corpus, one of them")
        if self.standard_error is not None and self.perplexity_error is not None:
            raise InputError("recommend: give --standard-error or --perplexity-error, one of them")


def add_recommend(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `heldout recommend`: the attributes of `RecommendCommand`."""
    parser.argument_default = argparse.SUPPRESS
    add = parser.add_argument
    add("--topics", type=int, required=True, help="K")
    add("--length", type=int, help="tokens of a document")
    add("--corpus", type=Path, help="or documents, in any form that `audit` reads")
    add("--standard-error", type=float, help="that a document's log-likelihood may have, nats")
    add("--perplexity-error", type=float, help="or that its perplexity per token may have, percent")
    add("--documents", type=int, help="how many documents of that length; 1 where not given")
    add("--per", choices=["document", "corpus"], help="whose error: a document's, or that of the documents' mean")
    add("--cores", type=int, help="over which the documents are divided; 1 where not given")
    add("--alpha", type=float, help="the mean Dirichlet parameter, where it is known")
    add("--consistent", action="store_true", help="only estimators whose bias vanishes with more samples")
    _add_calibration(parser)
    add("--json", action="store_true", help="print JSON in place of the table")


def _add_calibration(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calibration", type=Path, help="a table of measurements, plain or gzipped")
    parser.add_argument("--timings", type=Path, help="the estimators' milliseconds per document")
