"""Ranking of several models on the same held-out documents, by their likelihood."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, LIKELIHOOD, Work
from heldout.auditing.co_occurrence import flat_topics
from heldout.auditing.estimator import affordable, check_estimator
from heldout.auditing.formats import clean
from heldout.auditing.matching import opened
from heldout.auditing.options import AUTO, MEASURES, RankOptions, takes
from heldout.auditing.plan import Plan
from heldout.auditing.progress import reporting
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import RankedModel, in_order
from heldout.auditing.runner import Task, run
from heldout.auditing.scorer import samples_of
from heldout.auditing.store import Values
from heldout.auditing.survey import Subject, subject_of
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE
from heldout.evaluators.priors import prior_of
from heldout.libraries.coherence import check_ordered, coherence
from heldout.libraries.priors import check_used


@takes(RankOptions)
def rank(models: Sequence[Any] | Mapping[str, Any], documents: Any, options: RankOptions) -> Ranking:
    """Rank models by the likelihood of the same held-out documents, with paired differences and their errors.

    Args:
        models: two or more of the models that `heldout.audit` takes, over the same words; a mapping names them.
        documents: see `heldout.audit`.
        vocabulary: the models' words, where they do not name them.
        announce: as of `heldout.audit`.
        progress: as of `heldout.audit`; of documents those of all models together.
        options: the others, by name as well; see `heldout.auditing.options.RankOptions`.

    Returns:
        The ranking. It depends neither on `n_jobs` nor on interruptions.

    Raises:
        InputError: for bad input, or models that do not compare.
        KeyboardInterrupt: finished blocks are in `store`, from which the same call goes on.

    Examples:
        >>> import heldout
        >>> near, far = [[0.4, 0.4, 0.2], [0.2, 0.2, 0.6]], [[0.1, 0.1, 0.8], [0.2, 0.1, 0.7]]
        >>> documents = [["ape", "bear"], ["cat", "bear"], ["ape", "bear", "ape"]]
        >>> models = {"far": (far, 1.0), "near": (near, 1.0)}
        >>> ranking = heldout.rank(models, documents, vocabulary=["ape", "bear", "cat"], coherence=False)
        >>> ranking.best.name, [model.name for model in ranking.ties]
        ('near', ['near', 'far'])
    """
    subjects = _opened(models, documents, options)
    check_used([one.own for one in subjects], options.labels, options.metadata)
    for one in subjects:
        check_estimator(options.estimator, one.topics)
    work = _work(subjects, options)
    documents = subjects[0].documents
    if options.coherence:
        if options.coherence_documents is not None:
            _, _, documents, _ = opened(subjects[0].own, options.coherence_documents, None, options.random_state)
        check_ordered([documents], options.coherence_measure)
    settings = work.settings() | {"smoothing": options.smoothing, "parts": list(work.parts)}
    keys = [one.key(settings) for one in subjects]
    tasks = [
        Task(one, work, Values(len(one.read.lengths), len(COLUMNS), options.folder, key))
        for one, key in zip(subjects, keys, strict=True)
    ]
    with reporting(options.announce, options.progress) as (announce, moved):
        if announce is not None:
            announce(Plan.of(tasks))
        run(tasks, options.cores, moved)
    read = subjects[0].read
    note, coherences = "", [math.nan] * len(subjects)
    if options.coherence:
        try:
            measured = coherence([one.topics for one in subjects], [documents], options.coherence_measure)
            coherences = measured.values
            if options.coherence_documents is not None or measured.found < measured.words:
                note = (
                    f"coherence is in {clean(documents.name)}, which has {measured.found:,} of the"
                    f" {measured.words:,} top words"
                )
        except InputError as error:
            note = str(error)
    ranked = [_ranked(task, value, options) for task, value in zip(tasks, coherences, strict=True)]
    settings |= {"limit": options.limit, "coherence": MEASURES[options.coherence_measure]}
    return Ranking(
        in_order(ranked), subjects[0].documents.name, read.lengths, int(read.left_out.sum()), work, note, settings
    )


def _opened(models: Any, documents: Any, chosen: RankOptions) -> list[Subject]:
    """Return every model with the documents over its words.

    Raises:
        InputError: for fewer than two models, models of other words, or documents that are unlike the models' own.
    """
    if isinstance(models, str | Path) or not isinstance(models, Mapping | Sequence):
        raise InputError(f"models to rank: a {type(models).__name__}; give a list of two or more, or a mapping by name")
    named = models.items() if isinstance(models, Mapping) else [("", model) for model in models]
    words = chosen.vocabulary
    subjects = _named_apart([subject_of(model, documents, words, chosen, name=str(name)) for name, model in named])
    if len(subjects) < 2:
        raise InputError(f"{len(subjects)} model to rank; give two or more, and audit one (heldout audit)")
    first = subjects[0]
    words = set(first.fitted.topics.vocabulary)
    for other in subjects[1:]:
        if set(other.fitted.topics.vocabulary) != words or not np.array_equal(other.read.lengths, first.read.lengths):
            here, there = len(words), len(other.fitted.topics.vocabulary)
            raise InputError(
                f"{first.name} and {other.name} have other words ({here:,} and {there:,}), and likelihoods of other"
                " tokens do not compare; fit all models on one vocabulary"
            )
    return subjects


def _named_apart(subjects: list[Subject]) -> list[Subject]:
    """Give models of one name their numbers of topics, and number the models that still share a name."""
    names = Counter(one.name for one in subjects)
    subjects = [
        one._replace(name=f"{one.name}, {one.topics.n_topics} topics") if names[one.name] > 1 else one
        for one in subjects
    ]
    names, counted = Counter(one.name for one in subjects), Counter[str]()
    for i, one in enumerate(subjects):
        if names[one.name] > 1:
            counted[one.name] += 1
            subjects[i] = one._replace(name=f"{one.name} ({counted[one.name]})")
    return subjects


def _work(subjects: list[Subject], chosen: RankOptions) -> Work:
    """Return the estimator of all models: chosen once, for the hardest.

    Raises:
        InputError: when exact values were asked for and cost too much.
    """
    updates = sum(one.read.updates for one in subjects)
    exact = updates <= chosen.limit
    if chosen.estimator == EXACT and not exact:
        hardest = max(subjects, key=lambda one: one.topics.n_topics)
        raise InputError(
            f"{EXACT}: these documents take more than {chosen.limit:.1e} updates under {hardest.name}; take another"
            " estimator, fewer topics, or fewer or shorter documents"
        )
    if exact and chosen.estimator in (AUTO, EXACT):
        reason = f"Exact likelihoods of all models take {updates:.1e} updates, and {chosen.limit:.1e} are allowed."
        return Work(EXACT, 0, chosen.random_state, reason, parts=(LIKELIHOOD,))
    estimator = REFERENCE if chosen.estimator == AUTO else chosen.estimator
    reason = "It was asked for by name."
    if chosen.estimator == AUTO:
        reason = "Exact values cost too much under one of the models, and all are to be estimated alike."
    samples = samples_of(estimator, chosen.samples)
    if estimator == REFERENCE and chosen.samples is None:  # more where few documents leave the time
        samples = max(samples, min(affordable(one.topics, one.read) for one in subjects))
    return Work(estimator, samples, chosen.random_state, reason, parts=(LIKELIHOOD,))


def _ranked(task: Task, coherence: float, chosen: RankOptions) -> RankedModel:
    """Return a model with its values and its library's own number."""
    subject, column = task.subject, dict(zip(COLUMNS, task.kept.values.T, strict=True))
    return RankedModel(
        name=subject.name,
        library=subject.fitted.library,
        topics=subject.topics.n_topics,
        nats=column[LIKELIHOOD],
        errors=np.nan_to_num(column[ERROR]),
        biases=np.nan_to_num(column[BIAS]),
        reported=subject.reported(ask=chosen.reported),
        coherence=coherence,
        prior=prior_of(subject.topics),
        flat_topics=tuple(flat_topics(subject.topics.phi).tolist()),
        stand_in=str(subject.topics.provenance.get("prior", "")),
    )
