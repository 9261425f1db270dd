"""An audit's result from its documents' values: totals, labels, and the documents on which the numbers differ most."""

import importlib.metadata
import math
import platform
from typing import Any

import numpy as np

from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.result import UNUSED, Different, Line, Topic
from heldout.auditing.audit.wording import BEHAVIOURS, EVALUATORS, kind
from heldout.auditing.blocks import (
    BIAS,
    BLOCK,
    COLUMNS,
    ERROR,
    HALF_TOKENS,
    LIKELIHOOD,
    UNIFORM,
    UNIGRAM,
    Work,
    blocks,
    fold_in,
    local,
    ratio_error,
    sum_error,
)
from heldout.auditing.co_occurrence import flat_topics
from heldout.auditing.matching import mixed
from heldout.auditing.store import Kept
from heldout.auditing.survey import Subject
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, MEAN_FIELD_BOUND
from heldout.evaluators.priors import DIRICHLET, Prior, prior_of
from heldout.libraries import Reported
from heldout.libraries.coherence import diversity, exclusivity, top_words
from heldout.typing import Floats, Ints

MOST_DIFFERENT, MOST_WORDS = 10, 10
BLOCKS = 32  # the most blocks on which topics' shares are measured


def likelihood_label(estimator: str, prior: Prior = DIRICHLET) -> str:
    """Return the label of the likelihood's line: the estimator's name under the prior, and its bias where it has one.

    Examples:
        >>> likelihood_label("harmonic-mean")
        'harmonic mean (biased high)'
        >>> from heldout.evaluators.priors import LOGISTIC_NORMAL
        >>> likelihood_label("reference", LOGISTIC_NORMAL)
        'likelihood, annealing from the Laplace approximation'
    """
    label, bias = prior.label(estimator), BEHAVIOURS[ESTIMATORS[estimator].behaviour].label
    return f"{label} ({bias})" if bias else f"likelihood, {label}"


def likelihood_line(work: Work, prior: Prior, values: Floats, lengths: Ints) -> Line:
    """Return the likelihood's total.

    Args:
        work: its estimator and settings.
        prior: of the model.
        values: (D, C) the documents' values, one column per `heldout.auditing.blocks.COLUMNS`.
        lengths: (D,) their tokens.
    """
    column = dict(zip(COLUMNS, values[lengths > 0].T, strict=True))
    nats, sizes = column[LIKELIHOOD], lengths[lengths > 0]
    with np.errstate(invalid="ignore"):  # of an impossible document
        over_documents = ratio_error(nats, sizes)
    return Line(
        evaluator=LIKELIHOOD,
        label=likelihood_label(work.estimator, prior),
        estimator=work.estimator,
        log_likelihood=float(nats.sum()),
        standard_error=sum_error(np.hypot(column[ERROR], column[BIAS]), column[BIAS]),
        tokens=int(sizes.sum()),
        samples=work.samples,
        documents=len(sizes),
        documents_error=over_documents,
        kind=kind(LIKELIHOOD, work.estimator),
    )


def summarise(subject: Subject, work: Work, kept: Kept, reported: Reported, settings: dict[str, Any]) -> Audit:
    """Return the audit of the documents that are done.

    Args:
        subject: the model and D documents.
        work: the likelihood's estimator and its settings.
        kept: the documents' values, one column per `heldout.auditing.blocks.COLUMNS`.
        reported: the library's own number.
        settings: the audit's settings.
    """
    topics, read, done = subject.topics, subject.read, kept.done
    lengths = read.lengths[done]
    scored = lengths > 0
    column = dict(zip(COLUMNS, kept.values[done].T, strict=True))
    prior = prior_of(topics)
    names, unigram = _named(subject)
    nats = {name: column[name] for name in work.parts}
    nats |= {UNIGRAM: unigram[done], UNIFORM: -math.log(len(topics.vocabulary)) * lengths}
    errors = {name: np.zeros(len(lengths)) for name in nats}
    errors |= {LIKELIHOOD: np.hypot(column[ERROR], column[BIAS])}
    half_tokens = column[HALF_TOKENS].astype(np.int64)
    versions = {package: importlib.metadata.version(package) for package in ("heldout", "numba", "numpy", "scipy")}

    def line(evaluator: str) -> Line:
        if evaluator == LIKELIHOOD:
            return likelihood_line(work, prior, kept.values[done], lengths)
        tokens = half_tokens if evaluator == HALF else lengths
        values, sizes = nats[evaluator][tokens > 0], tokens[tokens > 0]
        with np.errstate(invalid="ignore"):  # of an impossible document
            over_documents = ratio_error(values, sizes)
        return Line(
            evaluator=evaluator,
            label=EVALUATORS[evaluator].label,
            estimator=evaluator,
            log_likelihood=float(nats[evaluator][scored].sum()),
            standard_error=0.0,
            tokens=int(sizes.sum()),
            documents=len(sizes),
            documents_error=over_documents,
            kind=kind(evaluator, evaluator),
        )

    evaluators = [name for name in (LIKELIHOOD, MEAN_FIELD_BOUND, FULL, HALF) if name in work.parts]
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
        lines=tuple(line(name) for name in (*evaluators, UNIGRAM, UNIFORM)),
        reported=reported,
        exact=work.estimator == EXACT,
        reason=work.reason,
        lengths=lengths,
        nats=nats,
        errors=errors,
        bias=column[BIAS],
        most_different=_most_different(subject, kept, work.parts),
        settings={
            **settings,
            "impossible": int(np.isneginf(column[LIKELIHOOD]).sum()),
            "versions": {**versions, "python": platform.python_version()},
        },
        complete=bool(done.all()),
        prior=prior,
        stand_in=str(topics.provenance.get("prior", "")),
        flat_topics=tuple(flat_topics(topics.phi).tolist()),
        topics_used=_topics_used(subject) if done.all() else (),
        diversity=diversity(topics.phi),
        names=tuple(names[d] for d in np.flatnonzero(done)),
    )


def _named(subject: Subject) -> tuple[list[str], Floats]:
    """Return the documents' names, and their log-likelihoods under the unigram model, (D,), nats."""
    phi, words = subject.topics.phi, subject.read.words
    with np.errstate(divide="ignore"):
        logs = np.log(mixed(phi, words) @ phi)
    names, sums = list[str](), list[Floats]([np.zeros(0)])
    for batch in subject.stream:
        names += batch.documents
        places = np.repeat(np.arange(batch.n_documents), batch.lengths)
        sums.append(np.bincount(places, logs[batch.tokens], batch.n_documents).astype(np.float64))
    return names, np.concatenate(sums)


def _topics_used(subject: Subject) -> tuple[Topic, ...]:
    """Return the topics with their shares of at most `BLOCKS` blocks of the documents, the largest first."""
    topics, K = subject.topics, subject.topics.n_topics
    every = max(1, math.ceil(len(subject.read.lengths) / BLOCK / BLOCKS))
    tokens = np.zeros(K)
    for at, block in enumerate(blocks(subject.stream)):
        if at % every == 0:
            here, documents = local(topics.phi_by_word, topics, block)
            tokens += documents.lengths @ fold_in(here, documents)
    shares, flat = tokens / max(tokens.sum(), 1.0), set(flat_topics(topics.phi).tolist())
    words, exclusive = top_words(topics.phi), exclusivity(topics.phi)
    return tuple(
        Topic(
            *(k, float(shares[k]), k in flat or float(shares[k]) < UNUSED / K, float(exclusive[k])),
            tuple(topics.vocabulary[word] for word in words[k]),
        )
        for k in np.argsort(-shares, kind="stable").tolist()
    )


def _most_different(subject: Subject, kept: Kept, parts: tuple[str, ...]) -> tuple[Different, ...]:
    """Return the documents on which full folding-in and the likelihood differ most per token."""
    read = subject.read
    column = dict(zip(COLUMNS, kept.values.T, strict=True))
    at = np.flatnonzero(kept.done & (read.lengths > 0))
    with np.errstate(invalid="ignore"):  # -inf less -inf is no difference
        gap = np.abs(column[FULL][at] - column[LIKELIHOOD][at]) / read.lengths[at]
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
