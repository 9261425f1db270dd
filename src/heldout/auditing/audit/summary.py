"""An audit's result from its documents' values: totals, labels, and the documents on which the numbers differ most."""

import importlib.metadata
import math
import platform
from typing import Any

import numpy as np

from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.result import Different, Line
from heldout.auditing.audit.wording import BEHAVIOURS, EVALUATORS
from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, HALF_TOKENS, TRUTH, Work, sum_error
from heldout.auditing.matching import flat_topics
from heldout.auditing.store import Kept
from heldout.auditing.survey import Subject
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, MEAN_FIELD_BOUND
from heldout.evaluators.priors import DIRICHLET, Prior, prior_of
from heldout.libraries import Reported

MOST_DIFFERENT, MOST_WORDS = 10, 10


def truth_label(estimator: str, prior: Prior = DIRICHLET) -> str:
    """Return the label of the likelihood's line: the estimator's name under the prior, and its bias where it has one.

    Examples:
        >>> truth_label("harmonic-mean")
        'harmonic mean (biased high)'
        >>> from heldout.evaluators.priors import LOGISTIC_NORMAL
        >>> truth_label("reference", LOGISTIC_NORMAL)
        'likelihood, annealing from the Laplace approximation'
    """
    label, bias = prior.label(estimator), BEHAVIOURS[ESTIMATORS[estimator].behaviour].label
    return f"{label} ({bias})" if bias else f"likelihood, {label}"


def summarise(subject: Subject, work: Work, kept: Kept, reported: Reported, settings: dict[str, Any]) -> Audit:
    """Return the audit of the documents that are done.

    Args:
        subject: the model and D documents.
        work: the truth's estimator and its settings.
        kept: the documents' values, one column per `heldout.auditing.blocks.COLUMNS`.
        reported: the library's own number.
        settings: the audit's settings.
    """
    topics, read, done = subject.topics, subject.read, kept.done
    lengths = read.lengths[done]
    scored = lengths > 0
    column = dict(zip(COLUMNS, kept.values[done].T, strict=True))
    prior = prior_of(topics)
    errors = {name: np.zeros(len(lengths)) for name in work.parts}
    errors |= {TRUTH: np.hypot(column[ERROR], column[BIAS])}
    half_tokens = column[HALF_TOKENS].astype(np.int64)
    versions = {package: importlib.metadata.version(package) for package in ("heldout", "numba", "numpy", "scipy")}
    impossible = int(np.isneginf(column[TRUTH]).sum())

    likelihood = truth_label(work.estimator, prior)

    def line(evaluator: str) -> Line:
        is_truth = evaluator == TRUTH
        return Line(
            evaluator=evaluator,
            label=likelihood if is_truth else EVALUATORS[evaluator].label,
            estimator=work.estimator if is_truth else evaluator,
            log_likelihood=float(column[evaluator][scored].sum()),
            standard_error=sum_error(errors[TRUTH][scored], column[BIAS][scored]) if is_truth else 0.0,
            tokens=int((half_tokens if evaluator == HALF else lengths)[scored].sum()),
            samples=work.samples if is_truth else 0,
        )

    return Audit(
        model=subject.name,
        library=subject.fitted.library,
        version=str(topics.provenance.get("version", "")),
        topics=topics.n_topics,
        words=len(topics.vocabulary),
        parameters=topics.parameters,
        corpus=subject.stream.name,
        documents=int(scored.sum()),
        empty=int((~scored).sum()),
        tokens=int(lengths.sum()),
        left_out=int(read.left_out[done].sum()),
        lines=tuple(line(name) for name in (TRUTH, MEAN_FIELD_BOUND, FULL, HALF) if name in work.parts),
        reported=reported,
        truth_exact=work.estimator == EXACT,
        reason=work.reason,
        lengths=lengths,
        nats={name: column[name] for name in work.parts},
        errors=errors,
        bias=column[BIAS],
        most_different=_most_different(subject, kept, work.parts),
        settings={
            **settings,
            "impossible": impossible,
            "versions": {**versions, "python": platform.python_version()},
        },
        complete=bool(done.all()),
        prior=prior,
        flat_topics=tuple(flat_topics(topics.phi).tolist()),
    )


def _most_different(subject: Subject, kept: Kept, parts: tuple[str, ...]) -> tuple[Different, ...]:
    """Return the documents on which full folding-in and the truth differ most per token."""
    read = subject.read
    column = dict(zip(COLUMNS, kept.values.T, strict=True))
    at = np.flatnonzero(kept.done & (read.lengths > 0))
    with np.errstate(invalid="ignore"):  # -inf less -inf is no difference
        gap = np.abs(column[FULL][at] - column[TRUTH][at]) / read.lengths[at]
    at, gap = at[np.isfinite(gap)], gap[np.isfinite(gap)]
    chosen = at[np.argsort(-gap, kind="stable")[:MOST_DIFFERENT]]
    different: dict[int, Different] = {}
    for batch in subject.stream if len(chosen) else ():
        for d in chosen[(chosen >= batch.first) & (chosen < batch.first + batch.n_documents)].tolist():
            words, counts = np.unique(batch.document(d - batch.first), return_counts=True)
            most_frequent = words[np.argsort(-counts, kind="stable")[:MOST_WORDS]].tolist()
            tokens = {name: float(column[HALF_TOKENS][d] if name == HALF else read.lengths[d]) for name in parts}
            different[d] = Different(
                name=batch.documents[d - batch.first],
                tokens=int(read.lengths[d]),
                left_out=int(read.left_out[d]),
                nats_per_token={
                    name: float(column[name][d]) / tokens[name] if tokens[name] else math.nan for name in parts
                },
                words=tuple(batch.vocabulary[word] for word in most_frequent),
            )
        if len(different) == len(chosen):
            break
    return tuple(different[d] for d in chosen.tolist())
