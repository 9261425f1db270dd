"""Ranking of several models on the same held-out documents, by their likelihood."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, LIKELIHOOD, Work
from heldout.auditing.co_occurrence import flat_topics
from heldout.auditing.estimator import affordable, check_estimator
from heldout.auditing.formats import clean, duration
from heldout.auditing.matching import opened
from heldout.auditing.options import AUTO, MEASURES, RankOptions, takes
from heldout.auditing.plan import Plan, plan_of
from heldout.auditing.progress import told
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import RankedModel, in_order
from heldout.auditing.runner import Runner
from heldout.auditing.scorer import samples_of
from heldout.auditing.store import MODEL, Kept, kept
from heldout.auditing.survey import Subject, subject_of
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE
from heldout.evaluators.priors import prior_of
from heldout.libraries.coherence import coherence
from heldout.libraries.priors import check_used

SHORT = 5.0  # seconds of a model's work, below which starting processes takes longer


@dataclass(frozen=True)
class RankPlan:
    """What a ranking is going to do.

    Attributes:
        plans: by model.
        cores: the number of processes.
    """

    plans: dict[str, Plan]
    cores: int

    @property
    def seconds(self) -> float:
        """Seconds of one core, of all models."""
        return sum(sum(plan.seconds.values()) for plan in self.plans.values())

    @property
    def kept(self) -> int:
        """The number of documents, of all models, that an earlier run has done."""
        return sum(plan.kept for plan in self.plans.values())

    def __str__(self) -> str:
        """Return a few lines on the models, the documents, the work and its cost."""
        one = next(iter(self.plans.values()))
        work = one.work
        topics = ", ".join(f"{plan.topics:,}" for plan in self.plans.values())
        lines = [
            f"{len(self.plans)} models of {topics} topics; {one.documents:,} documents of {one.tokens:,} tokens;"
            f" {one.left_out:,} tokens outside the vocabulary; {one.empty:,} empty documents",
            f"every model: {work.estimator}{f', {work.samples:,} samples' if work.samples else ''}. {work.reason}",
            f"cost: about {duration(self.seconds / self.cores)} on {self.cores} core{'s' if self.cores > 1 else ''},"
            " beside the libraries' own numbers",
        ]
        if self.kept:
            lines.append(f"{self.kept:,} documents are kept from an earlier run, of {len(self.plans)} models")
        return "\n".join(lines)


@takes(RankOptions)
def rank(models: Sequence[Any] | Mapping[str, Any], documents: Any, options: RankOptions) -> Ranking:
    """Rank models by the likelihood of the same held-out documents, with paired differences and their errors.

    Args:
        models: two or more of the models that `heldout.audit` takes, over the same words; a mapping names them.
        documents: see `heldout.audit`.
        vocabulary: the models' words, where they do not name them.
        announce: as of `heldout.audit`.
        progress: as of `heldout.audit`; of documents those of all models together.
        apart: whether more than a few seconds of work get processes of their own even on one core, as in `audit`.
        options: the others, by name as well; see `heldout.auditing.options.RankOptions`.

    Returns:
        The ranking. It depends neither on `n_jobs` nor on interruptions.

    Raises:
        InputError: for bad input, or models that do not compare.
        KeyboardInterrupt: after the values so far have been written to `store`.

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
    settings = work.settings() | {"smoothing": options.smoothing, "parts": list(work.parts)}
    so_far = [_kept(one, settings, options.folder) for one in subjects]
    plans = {one.name: plan_of(one, work, of.done, options.cores) for one, of in zip(subjects, so_far, strict=True)}
    plan = RankPlan(plans, options.cores)
    with told(options.announce, options.progress) as (announce, moved, _):
        if announce is not None:
            announce(plan)
        _run(subjects, work, so_far, plan, moved, apart=options.apart)
    stream, read = subjects[0].stream, subjects[0].read
    note, coherences = "", [math.nan] * len(subjects)
    if options.coherence:
        try:
            if options.coherence_documents is not None:
                _, _, stream = opened(subjects[0].own, options.coherence_documents, None, options.random_state)
            measured = coherence([one.topics for one in subjects], stream, options.coherence_measure)
            coherences = measured.values
            if options.coherence_documents is not None or measured.found < measured.words:
                note = (
                    f"coherence is in {clean(stream.name)}, which has {measured.found:,} of the"
                    f" {measured.words:,} top words"
                )
        except InputError as error:
            note = str(error)
    ranked = [_ranked(one, of, value, options) for one, of, value in zip(subjects, so_far, coherences, strict=True)]
    settings |= {"limit": options.limit, "coherence": MEASURES[options.coherence_measure]}
    return Ranking(
        in_order(ranked), subjects[0].stream.name, read.lengths, int(read.left_out.sum()), work, note, settings
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


def _kept(subject: Subject, settings: dict[str, Any], folder: Path | None) -> Kept:
    """Return the values that an earlier run has kept of a model."""
    key = subject.key(settings)
    place = None if folder is None else Path(folder) / f"{MODEL}{key['model'][:16]}"
    return kept(place, key, len(subject.read.lengths), len(COLUMNS))


def _named_apart(subjects: list[Subject]) -> list[Subject]:
    """Give models of one name their numbers of topics, and count those that are still of one."""
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


def _run(
    subjects: list[Subject],
    work: Work,
    so_far: list[Kept],
    plan: RankPlan,
    progress: Callable[[int, float], None] | None,
    *,
    apart: bool,
) -> None:
    """Evaluate what is not done, a model after the other."""
    all_seconds = plan.seconds or 1.0
    past = [0.0, 0]  # seconds and documents of the models before

    def moved(documents: int, share: float) -> None:
        if progress is not None:
            progress(int(past[1]) + documents, min(1.0, (past[0] + share * seconds) / all_seconds))

    for subject, of in zip(subjects, so_far, strict=True):
        seconds = sum(plan.plans[subject.name].seconds.values())
        if not of.done.all():
            short = seconds < SHORT
            Runner(subject, work, of, moved).run(1 if short else plan.cores, apart=apart and not short)
        past = [past[0] + seconds, past[1] + len(of.done)]


def _ranked(subject: Subject, of: Kept, coherence: float, chosen: RankOptions) -> RankedModel:
    """Return a model with its values and its library's own number."""
    column = dict(zip(COLUMNS, of.values.T, strict=True))
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
