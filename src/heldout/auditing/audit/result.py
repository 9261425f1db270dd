"""An audit's result: totals by evaluator, the library's own number, and every document's values."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from heldout.auditing.blocks import LIKELIHOOD, REPORTED, sum_error
from heldout.auditing.formats import json_compatible
from heldout.errors import InputError
from heldout.evaluators.is_probability import Excess
from heldout.evaluators.priors import DIRICHLET, Prior
from heldout.libraries import THESE, Reported
from heldout.topics import perplexity
from heldout.typing import Floats, Ints

CHANCE = 1e-6  # a number is refuted as a probability that had at most this chance of it
LEVEL = 0.95  # coverage of the interval over documents
JSON_VERSION = 2
UNUSED = 0.1  # share of T / K tokens below which a topic is unused


@dataclass(frozen=True)
class Line:
    """One evaluator's total over the documents.

    Attributes:
        evaluator: "likelihood", "mean-field-bound", "full-folding-in", "half-folding-in", or the baselines "unigram"
            and "uniform".
        label: its printed name.
        estimator: the evaluator itself or, for "likelihood", the estimator used ("exact-marginal" if exact).
        log_likelihood: nats, over the scored tokens.
        standard_error: of log_likelihood, nats, including the bias that may be left in it (`sum_error`); 0 if
            deterministic, NaN if none is stated.
        tokens: the number of scored tokens (half of all for half folding-in).
        samples: per document, at most; 0 for a deterministic evaluator.
        documents: the number of scored documents.
        documents_error: the standard error of `nats_per_token` over documents, the model fixed (`ratio_error`).
        kind: what the number is, in a few words.
    """

    evaluator: str
    label: str
    estimator: str
    log_likelihood: float
    standard_error: float
    tokens: int
    samples: int = 0
    documents: int = 0
    documents_error: float = math.inf
    kind: str = ""

    @property
    def nats_per_token(self) -> float:
        """log_likelihood / tokens; NaN without tokens."""
        return self.log_likelihood / self.tokens if self.tokens else math.nan

    @property
    def error_per_token(self) -> float:
        """standard_error / tokens; NaN without tokens."""
        return self.standard_error / self.tokens if self.tokens else math.nan

    @property
    def perplexity(self) -> float:
        """exp(-nats per token); inf if a token has probability 0."""
        return perplexity(self.nats_per_token, 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the perplexity's 95 % interval over documents, the model fixed; NaN without one.

        They are exp of -nats per token -/+ Student's quantile at D - 1 degrees of freedom times `documents_error`.
        """
        return interval(self.nats_per_token, self.documents_error, self.documents - 1.0)


def interval(nats_per_token: float, error: float, freedom: float) -> tuple[float, float]:
    """Return the ends of the interval, by degrees of freedom, of exp(-nats per token); see `Line.interval`."""
    if freedom <= 0.0 or not math.isfinite(nats_per_token + error):
        return math.nan, math.nan
    half = float(stdtrit(freedom, 0.5 + 0.5 * LEVEL)) * error
    return perplexity(nats_per_token + half, 1), perplexity(nats_per_token - half, 1)


class Row(NamedTuple):
    """A row of the table of numbers: of the library's own number, "reported", or of a `Line`.

    Attributes:
        evaluator, label, kind: as of `Line`.
        perplexity: per token.
        ratio: its ratio to the likelihood's; below 1 it flatters the model.
        low, high: the ends of its 95 % interval over documents, the model fixed; NaN without one.
        standard_error: of the perplexity, of its estimator alone; 0 where it draws nothing.
        nats_per_token: as of `Line`.
    """

    evaluator: str
    label: str
    perplexity: float
    ratio: float
    low: float
    high: float
    standard_error: float
    nats_per_token: float
    kind: str


class Topic(NamedTuple):
    """A topic as the audited documents use it.

    Attributes:
        number: from 0, as the model counts.
        share: of the tokens, folded in fully; NaN where nothing is scored.
        unused: whether it is nearly uniform, or its share below a tenth of 1 / K.
        exclusivity: of its top words, the mean of phi[k, w] / sum_j phi[j, w].
        words: the top words, most probable first.
    """

    number: int
    share: float
    unused: bool
    exclusivity: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class Different:
    """A document on which the evaluators differ most.

    Attributes:
        name: its name in the corpus.
        tokens: scored tokens.
        left_out: tokens outside the vocabulary.
        nats_per_token: by evaluator, as in `Line.evaluator`.
        words: its most frequent words, at most ten, most frequent first.
    """

    name: str
    tokens: int
    left_out: int
    nats_per_token: dict[str, float]
    words: tuple[str, ...]


class FoldingInExcess(NamedTuple):
    """Excess of full folding-in over the likelihood, nats, summed over the documents of positive likelihood.

    Attributes:
        measured: full folding-in's log-likelihood less the likelihood's.
        expected: the law, the mean for documents of these lengths that are drawn from the prior and from topics that
            share no word (`heldout.evaluators.expected_excess`); NaN where that takes too long.
        largest: the most that any topics allow under the prior (`heldout.evaluators.excess`); NaN where that takes too
            long. `measured` is no more, but for the error of an estimated likelihood.
    """

    measured: float
    expected: float
    largest: float


@dataclass(frozen=True)
class ProbabilityTest:
    """Excess of every number over the likelihood of documents that were drawn from the model.

    Attributes:
        documents, tokens: how many were drawn.
        exact: whether their likelihood is exact; otherwise an upper limit, 1 / p estimated without bias, stands for it.
        excesses: by evaluator, the library's number as "reported", how far its logarithm lies above the likelihood's:
            the logarithms of e-values.
    """

    documents: int
    tokens: int
    exact: bool
    excesses: dict[str, Excess]

    def refutes(self, evaluator: str) -> bool:
        """Return whether the e-value refutes that this evaluator's number is a probability; False without a test."""
        return evaluator in self.excesses and self.excesses[evaluator].refutes(CHANCE)

    def to_json(self) -> dict[str, Any]:
        """Return the test as in `AuditResult.to_json`."""
        excesses = {
            name: vars(found) | {"log_chance": found.log_chance, "refuted": self.refutes(name)}
            for name, found in self.excesses.items()
        }
        return vars(self) | {"excesses": excesses}


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """An audit's result; `heldout.auditing.audit.report.Audit` prints it.

    Attributes:
        model: the model's file name or class.
        library, version, topics, words: the model's library and its version, K, V.
        parameters: the prior's, by name: alpha (K,) of a Dirichlet; alphas (D, K) of the documents'
            own; mean (K - 1,) mu, or (D, K - 1), and covariance (K - 1, K - 1) Sigma of a logistic normal
            (`heldout.topics.LogisticNormalTopics`).
        corpus: the documents' name.
        documents, empty: the number of scored documents, and of those without tokens in the vocabulary.
        tokens, left_out: the number of scored tokens, and of tokens outside the model's vocabulary.
        lines: one per evaluator; "likelihood" is always there.
        reported: the library's own number.
        exact: whether the likelihood is exact; otherwise it is estimated.
        reason: why this estimator and this many samples, one sentence.
        lengths: (D,) scored tokens of each document, in the corpus's order, empty ones included.
        nats: by evaluator, (D,) log-likelihoods of the documents, nats.
        errors: by evaluator, (D,) standard errors, nats, including the bias that may be left.
        bias: (D,) that part of the likelihood's errors, nats, which adds up over documents.
        most_different: at most ten documents, the largest gap of full folding-in and likelihood per token first.
        settings: the audit's settings, JSON-compatible: seed, samples, split, fold-in settings.
        probability: which numbers a probability could have given; None where that was left out.
        prior: the kind of prior of a document's weights.
        stand_in: why the prior is one that was chosen here, of a model without one; empty where it is the model's own.
        flat_topics: the nearly uniform topics, counted from 0.
        topics_used: the topics, those with the most tokens first.
        diversity: the share of different words among the topics' top words; NaN without topics.
        names: (D,) the documents' names.
        excess: of full folding-in over the likelihood; None under a prior that is no Dirichlet.
        words_left_out: the documents' most frequent words that the model lacks, where the documents name their words.
        uncut: the model's words that the rule by which a folder of texts is cut never makes.
    """

    model: str
    library: str
    version: str
    topics: int
    words: int
    parameters: dict[str, Floats]
    corpus: str
    documents: int
    empty: int
    tokens: int
    left_out: int
    lines: tuple[Line, ...]
    reported: Reported
    exact: bool
    reason: str
    lengths: Ints
    nats: dict[str, Floats]
    errors: dict[str, Floats]
    bias: Floats
    most_different: tuple[Different, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    probability: ProbabilityTest | None = None
    prior: Prior = DIRICHLET
    stand_in: str = ""
    flat_topics: tuple[int, ...] = ()
    topics_used: tuple[Topic, ...] = ()
    diversity: float = math.nan
    names: tuple[str, ...] = ()
    excess: FoldingInExcess | None = None
    words_left_out: tuple[str, ...] = ()
    uncut: tuple[str, ...] = ()

    @property
    def alpha(self) -> Floats | None:
        """(K,), of a Dirichlet prior; None for another."""
        return self.parameters.get("alpha")

    @property
    def mean(self) -> Floats | None:
        """(K - 1,) mu, of a logistic-normal prior, or (D, K - 1) of each document; None for another."""
        return self.parameters.get("mean")

    @property
    def covariance(self) -> Floats | None:
        """(K - 1, K - 1) Sigma, of a logistic-normal prior; None for another."""
        return self.parameters.get("covariance")

    def line(self, evaluator: str) -> Line:
        """Return one evaluator's total; `audit[evaluator]` is the same.

        Raises:
            InputError: for one that the audit has not; lists those it has.
        """
        for line in self.lines:
            if line.evaluator == evaluator:
                return line
        there = ", ".join(line.evaluator for line in self.lines)
        raise InputError(f"there is no line {evaluator!r}; there are {there}")

    __getitem__ = line

    @property
    def comparable(self) -> bool:
        """Whether the library's number is of the audited documents."""
        return self.reported.about == THESE and not math.isnan(self.reported.perplexity)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The numbers side by side: the library's own where it is of these documents, and one per line."""
        own, reported = self.line(LIKELIHOOD), self.reported

        def ratio(value: float) -> float:
            gap = own.nats_per_token - value if own.perplexity < math.inf else math.nan
            return math.exp(gap) if gap < 700.0 else math.inf if gap == gap else math.nan

        rows = [
            Row(
                *(line.evaluator, LIKELIHOOD if line is own else line.label, line.perplexity),
                *(ratio(line.nats_per_token), *line.interval, line.perplexity * line.error_per_token),
                *(line.nats_per_token, line.kind),
            )
            for line in sorted(self.lines, key=lambda line: line is not own)
        ]
        if self.comparable:
            value, per_token = ratio(-reported.log_perplexity), reported.nats_per_token
            numbers = (reported.perplexity, value, math.nan, math.nan, 0.0, per_token)
            rows.insert(0, Row(REPORTED, self.library, *numbers, "as printed"))
        return tuple(rows)

    def records(self, what: str = "numbers") -> Iterator[dict[str, Any]]:
        """Yield rows: of the "numbers" (`Row`), the "topics" (`Topic`), or the "documents".

        A document's are its name, its tokens, and by evaluator its log-likelihood and, of the likelihood, the error of
        the estimate, nats.

        Raises:
            InputError: for another name.
        """
        if what == "documents":
            for d, (name, tokens) in enumerate(zip(self.names, self.lengths.tolist(), strict=True)):
                nats = {evaluator: float(values[d]) for evaluator, values in self.nats.items()}
                yield {"document": name, "tokens": tokens, **nats, "error": float(self.errors[LIKELIHOOD][d])}
        elif what == "topics":
            yield from ({**topic._asdict(), "words": " ".join(topic.words)} for topic in self.topics_used)
        elif what == "numbers":
            yield from (row._asdict() for row in self.rows)
        else:
            raise InputError(f"there is no table {what!r}; there are numbers, topics, documents")

    def total_error(self, documents: NDArray[np.bool_]) -> float:
        """Return the error of the likelihood's sum over the documents in a (D,) mask, nats.

        See `sum_error`.
        """
        return sum_error(self.errors[LIKELIHOOD][documents], self.bias[documents])

    def to_json(self, arrays: bool = False) -> dict[str, Any]:
        """Return the audit as JSON-compatible values, or with arrays as they are; non-finite numbers are null.

        Keys: "json_version", 2; "model", "library", "version", "topics", "words", "alpha" (a list of K), "alphas" (of
        priors of the documents' own, K to each document, in their order), "mean", "covariance" (of a logistic-normal
        prior; null are those of the other priors), "stand_in", "corpus", "documents", "empty", "tokens", "left_out",
        "complete", "exact", "reason", "settings", "flat_topics" (from 0), "diversity", "words_left_out", "uncut";
        "lines", a list of objects with the attributes of `Line` and "nats_per_token", "error_per_token", "perplexity",
        "interval"; "reported", an object with the attributes of `Reported`, its "terms" a list; "probability", null or
        an object with the attributes of `ProbabilityTest`, its "excesses" objects with "nats", "standard_error",
        "log_chance" and "refuted"; "excess", null or an object with the attributes of `FoldingInExcess`; "topics_used",
        a list of objects with the attributes of `Topic`; "most_different", of `Different`; and "per_document", an
        object with "names", "lengths", the likelihood's "bias" and, by evaluator, "nats" and "errors", lists of the
        documents in their order. Log-likelihoods, errors and biases are in nats.
        """
        derived = ("nats_per_token", "error_per_token", "perplexity", "interval")
        per_document = {name: getattr(self, name) for name in ("names", "lengths", "nats", "errors", "bias")}
        plain = {
            name: value for name, value in vars(self).items() if name not in (*per_document, "prior", "parameters")
        }
        plain |= (
            dict.fromkeys(("alpha", "alphas", "mean", "covariance"))
            | self.parameters
            | {
                "json_version": JSON_VERSION,
                "complete": True,
                "topics_used": [topic._asdict() for topic in self.topics_used],
                "lines": [vars(line) | {name: getattr(line, name) for name in derived} for line in self.lines],
                "reported": vars(self.reported) | {"terms": [vars(term) for term in self.reported.terms]},
                "probability": self.probability and self.probability.to_json(),
                "excess": self.excess and self.excess._asdict(),
                "most_different": [vars(document) for document in self.most_different],
                "per_document": per_document,
            }
        )
        values: dict[str, Any] = json_compatible(plain, arrays)
        return values
