"""An audit's result: totals by evaluator, the library's own number, and every document's values."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import TRUTH, sum_error
from heldout.auditing.formats import json_compatible
from heldout.errors import InputError
from heldout.evaluators.is_probability import Excess
from heldout.evaluators.priors import DIRICHLET, Prior
from heldout.libraries import Reported
from heldout.scores import perplexity
from heldout.typing import Floats, Ints

CHANCE = 1e-6  # a number is refuted as a probability that had at most this chance of it


@dataclass(frozen=True)
class Line:
    """One evaluator's total over the documents.

    Attributes:
        evaluator: "full-folding-in", "half-folding-in", "mean-field-bound" or "truth".
        label: its printed name.
        estimator: the evaluator itself or, for "truth", the estimator used ("exact-marginal" if exact).
        log_likelihood: nats, over the scored tokens.
        standard_error: of log_likelihood, nats, including the bias that may be left in it (`sum_error`); 0 if
            deterministic, NaN if none is stated.
        tokens: the number of scored tokens (half of all for half folding-in).
        samples: per document, at most; 0 for a deterministic evaluator.
    """

    evaluator: str
    label: str
    estimator: str
    log_likelihood: float
    standard_error: float
    tokens: int
    samples: int = 0

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


@dataclass(frozen=True)
class ProbabilityTest:
    """What the documents that were drawn from the model say of every number.

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


@dataclass(frozen=True, eq=False)
class AuditResult:
    """An audit's result; `heldout.auditing.audit.report.Audit` prints it.

    Attributes:
        model: the model's file name or class.
        library, version, topics, words: the model's library and its version, K, V.
        parameters: the prior's, by name: alpha (K,) of a Dirichlet; mean (K - 1,) mu and covariance (K - 1, K - 1)
            Sigma of a logistic normal (`heldout.topics.LogisticNormalTopics`).
        corpus: the documents' name.
        documents, empty: the number of scored documents, and of those without tokens in the vocabulary.
        tokens, left_out: the number of scored tokens, and of tokens outside the model's vocabulary.
        lines: one per evaluator; "truth" is always there.
        reported: the library's own number.
        truth_exact: whether the truth is exact; otherwise it is estimated.
        reason: why this estimator and this many samples, one sentence.
        lengths: (D,) scored tokens of each document, in the corpus's order, empty ones included.
        nats: by evaluator, (D,) log-likelihoods of the documents, nats.
        errors: by evaluator, (D,) standard errors, nats, including the bias that may be left.
        bias: (D,) that part of the truth's errors, nats, which adds up over documents.
        most_different: at most ten documents, the largest |full folding-in - truth| per token first.
        settings: the audit's settings, JSON-compatible: seed, samples, split, fold-in settings.
        probability: which numbers a probability could have given; None where that was left out.
        complete: False after an interruption; then the audit covers the documents done so far.
        prior: the kind of prior of a document's weights.
        flat_topics: the nearly uniform topics, counted from 0.
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
    truth_exact: bool
    reason: str
    lengths: Ints
    nats: dict[str, Floats]
    errors: dict[str, Floats]
    bias: Floats
    most_different: tuple[Different, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    complete: bool = True
    probability: ProbabilityTest | None = None
    prior: Prior = DIRICHLET
    flat_topics: tuple[int, ...] = ()

    @property
    def alpha(self) -> Floats | None:
        """(K,), of a Dirichlet prior; None for another."""
        return self.parameters.get("alpha")

    @property
    def mean(self) -> Floats | None:
        """(K - 1,) mu, of a logistic-normal prior; None for another."""
        return self.parameters.get("mean")

    @property
    def covariance(self) -> Floats | None:
        """(K - 1, K - 1) Sigma, of a logistic-normal prior; None for another."""
        return self.parameters.get("covariance")

    def line(self, evaluator: str) -> Line:
        """Return one evaluator's total.

        Raises:
            InputError: for one that the audit has not; lists those it has.
        """
        for line in self.lines:
            if line.evaluator == evaluator:
                return line
        there = ", ".join(line.evaluator for line in self.lines)
        raise InputError(f"there is no line {evaluator!r}; there are {there}")

    def total_error(self, documents: NDArray[np.bool_]) -> float:
        """Return the error of the sum of the truth over some documents, (D,) whether it counts, nats.

        See `sum_error`.
        """
        return sum_error(self.errors[TRUTH][documents], self.bias[documents])

    def to_json(self) -> dict[str, Any]:
        """Return the audit as JSON-compatible values; non-finite numbers are null.

        Keys: "model", "library", "version", "topics", "words", "alpha" (a list of K), "mean",
        "covariance" (of a logistic-normal prior; null are those of the other prior), "corpus", "documents", "empty",
        "tokens", "left_out", "complete", "truth_exact", "reason", "settings", "flat_topics" (from 0); "lines", a list
        of objects with the attributes of `Line` and "nats_per_token", "error_per_token", "perplexity"; "reported", an
        object with the
        attributes of `Reported`, its "terms" a list; "probability", null or an object with the attributes of
        `ProbabilityTest`, its "excesses" objects with "nats", "standard_error", "log_chance" and "refuted";
        "most_different", a list of objects with the attributes of
        `Different`; and "per_document", an object with "lengths", the truth's "bias" and, by evaluator, "nats" and
        "errors", lists of the documents in their order. Log-likelihoods, errors and biases are in nats.
        """
        derived = ("nats_per_token", "error_per_token", "perplexity")
        per_document = {"lengths": self.lengths, "nats": self.nats, "errors": self.errors, "bias": self.bias}
        plain = {
            name: value for name, value in vars(self).items() if name not in (*per_document, "prior", "parameters")
        }
        plain |= (
            dict.fromkeys(("alpha", "mean", "covariance"))
            | self.parameters
            | {
                "lines": [vars(line) | {name: getattr(line, name) for name in derived} for line in self.lines],
                "reported": vars(self.reported) | {"terms": [vars(term) for term in self.reported.terms]},
                "probability": self.probability and self.probability.to_json(),
                "most_different": [vars(document) for document in self.most_different],
                "per_document": per_document,
            }
        )
        values: dict[str, Any] = json_compatible(plain)
        return values
