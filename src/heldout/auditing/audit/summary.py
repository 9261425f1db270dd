"""An audit's result from its documents' values: totals, labels, and the documents on which the numbers differ most."""

import importlib.metadata
import math
import platform
from typing import Any

import numpy as np

from heldout.auditing.audit.excess import folding_in_excess
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
    batches,
    fold_in,
    local,
    ratio_error,
    sum_error,
)
from heldout.auditing.co_occurrence import flat_topics
from heldout.auditing.survey import Subject
from heldout.auditing.word_order import mixed
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


def summarise(subject: Subject, work: Work, values: Floats, reported: Reported, settings: dict[str, Any]) -> Audit:
    """Return the audit of documents.

    Args:
        subject: the model and D documents.
        work: the likelihood's estimator and its settings.
        values: (D, C) the documents' values, one column per `heldout.auditing.blocks.COLUMNS`.
        reported: the library's own number.
        settings: the audit's settings.
    """
    topics, read = subject.topics, subject.read
    lengths = read.lengths
    scored = lengths > 0
    column = dict(zip(COLUMNS, values.T, strict=True))
    prior = prior_of(topics)
    nats = {name: column[name] for name in work.parts}
    nats |= {UNIGRAM: _unigram(subject), UNIFORM: -math.log(len(topics.vocabulary)) * lengths}
    errors = {name: np.zeros(len(lengths)) for name in nats}
    errors |= {LIKELIHOOD: np.hypot(column[ERROR], column[BIAS])}
    half_tokens = column[HALF_TOKENS].astype(np.int64)
    versions = {package: importlib.metadata.version(package) for package in ("heldout", "numba", "numpy", "scipy")}

    def line(evaluator: str) -> Line:
        if evaluator == LIKELIHOOD:
            return likelihood_line(work, prior, values, lengths)
        tokens = half_tokens if evaluator == HALF else lengths
        sizes = tokens[tokens > 0]
        with np.errstate(invalid="ignore"):  # of an impossible document
            over_documents = ratio_error(nats[evaluator][tokens > 0], sizes)
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
        corpus=subject.documents.name,
        documents=int(scored.sum()),
        empty=int((~scored).sum()),
        tokens=int(lengths.sum()),
        left_out=int(read.left_out.sum()),
        lines=tuple(line(name) for name in (*evaluators, UNIGRAM, UNIFORM)),
        reported=reported,
        exact=work.estimator == EXACT,
        reason=work.reason,
        lengths=lengths,
        nats=nats,
        errors=errors,
        bias=column[BIAS],
        most_different=_most_different(subject, values, work.parts),
        settings={
            **settings,
            "impossible": int(np.isneginf(column[LIKELIHOOD]).sum()),
            "versions": {**versions, "python": platform.python_version()},
        },
        prior=prior,
        stand_in=str(topics.provenance.get("prior", "")),
        flat_topics=tuple(flat_topics(topics.phi).tolist()),
        topics_used=_topics_used(subject),
        diversity=diversity(topics.phi),
        names=subject.documents.documents,
        excess=folding_in_excess(topics.parameters, lengths, nats),
        words_left_out=tuple(subject.documents.provenance.get("words_left_out", ())),
        uncut=tuple(subject.documents.provenance.get("uncut", ())),
    )


def _unigram(subject: Subject) -> Floats:
    """Return the documents' log-likelihoods under the unigram model, (D,), nats."""
    phi, documents = subject.topics.phi, subject.documents
    with np.errstate(divide="ignore"):
        logs = np.log(mixed(phi, subject.read.words) @ phi)
    rows = np.repeat(np.arange(documents.n_documents), documents.lengths)
    return np.bincount(rows, logs[documents.tokens], documents.n_documents).astype(np.float64)


def _topics_used(subject: Subject) -> tuple[Topic, ...]:
    """Return the topics with their shares of at most `BLOCKS` blocks of the documents, the largest first."""
    topics, K = subject.topics, subject.topics.n_topics
    every = max(1, math.ceil(len(subject.read.lengths) / BLOCK / BLOCKS))
    tokens = np.zeros(K)
    for first, block in batches(subject.documents, BLOCK):
        if first // BLOCK % every == 0:
            here, documents = local(topics, block, first)
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


def _most_different(subject: Subject, values: Floats, parts: tuple[str, ...]) -> tuple[Different, ...]:
    """Return the documents on which full folding-in and the likelihood differ most per token."""
    read, documents = subject.read, subject.documents
    column = dict(zip(COLUMNS, values.T, strict=True))
    places = np.flatnonzero(read.lengths > 0)
    with np.errstate(invalid="ignore"):  # -inf less -inf is no difference
        gap = np.abs(column[FULL][places] - column[LIKELIHOOD][places]) / read.lengths[places]
    places, gap = places[np.isfinite(gap)], gap[np.isfinite(gap)]

    def different(d: int) -> Different:
        words, counts = np.unique(documents.document(d), return_counts=True)
        most_frequent = words[np.argsort(-counts, kind="stable")[:MOST_WORDS]].tolist()
        tokens = {name: float(column[HALF_TOKENS][d] if name == HALF else read.lengths[d]) for name in parts}
        return Different(
            name=documents.documents[d],
            tokens=int(read.lengths[d]),
            left_out=int(read.left_out[d]),
            nats_per_token={
                name: float(column[name][d]) / tokens[name] if tokens[name] else math.nan for name in parts
            },
            words=tuple(documents.vocabulary[word] for word in most_frequent),
        )

    return tuple(map(different, places[np.argsort(-gap, kind="stable")[:MOST_DIFFERENT]].tolist()))
