"""Ranking of several models on the same held-out documents, by their likelihood."""

import importlib.metadata
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, Float, Work
from heldout.auditing.cost import duration
from heldout.auditing.matching import model_digest, opened, unlike
from heldout.auditing.options import AUTO, RankOptions
from heldout.auditing.plan import Plan, plan_of
from heldout.auditing.ranking import RankedModel, Ranking, in_order
from heldout.auditing.result import TRUTH
from heldout.auditing.runner import Runner
from heldout.auditing.scorer import check_settings, samples_of
from heldout.auditing.store import Store
from heldout.auditing.survey import Survey, survey
from heldout.auditing.truth import affordable, check_estimator
from heldout.corpora.stream import DocumentStream
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE
from heldout.libraries import Fitted, Reported
from heldout.libraries.coherence import npmi
from heldout.topics import Topics

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


@dataclass
class _Candidate:
    """A model on its way through a ranking."""

    name: str
    fitted: Fitted
    stream: DocumentStream
    read: Survey
    values: Float
    done: NDArray[np.bool_]
    store: Store | None = None


def rank(
    models: Sequence[Any] | Mapping[str, Any],
    documents: Any,
    *,
    vocabulary: Any = None,
    announce: Callable[[RankPlan], None] | None = None,
    progress: Callable[[int, float], None] | None = None,
    apart: bool = False,
    **options: Any,
) -> Ranking:
    """Rank models by the likelihood of the same held-out documents, with paired differences and their errors.

    Args:
        models: two or more of the models that `heldout.audit` takes, over the same words; a mapping names them.
        documents: see `heldout.audit`.
        vocabulary: the models' words, where they do not name them.
        announce: is called with the plan, including its cost, before anything runs.
        progress: is called after every block with the number of documents done, of all models together, and the share
            of the estimated work.
        apart: whether more than a few seconds of work get processes of their own even on one core, as in `audit`.
        **options: estimator, samples, limit, smoothing, seed, cores, store, other_corpus, reported and coherence; see
            `heldout.auditing.options.RankOptions`.

    Returns:
        The ranking. It depends neither on `cores` nor on interruptions.

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
    chosen = RankOptions(**options)
    check_settings(EXACT if chosen.estimator == AUTO else chosen.estimator, chosen.samples, chosen.smoothing)
    candidates = _opened(models, documents, vocabulary, chosen)
    for one in candidates:
        check_estimator(chosen.estimator, one.fitted.topics)
    work = _work(candidates, chosen)
    for one in candidates:
        _load(one, work, chosen)
    cores = chosen.cores or available_cores()
    plan = RankPlan({o.name: plan_of(o.fitted.topics, work, o.read, o.done, cores) for o in candidates}, cores)
    if announce is not None:
        announce(plan)
    _run(candidates, work, plan, progress, apart=apart)
    note, coherences = "", [math.nan] * len(candidates)
    if chosen.coherence:
        try:
            coherences = npmi([one.fitted.topics for one in candidates], candidates[0].stream)
        except InputError as error:
            note = str(error)
    ranked = [_ranked(one, coherence, chosen) for one, coherence in zip(candidates, coherences, strict=True)]
    read = candidates[0].read
    settings = settings_of(work, chosen) | {"limit": chosen.limit}
    return Ranking(
        in_order(ranked), candidates[0].stream.name, read.lengths, int(read.left_out.sum()), work, note, settings
    )


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _opened(models: Any, documents: Any, vocabulary: Any, chosen: RankOptions) -> list[_Candidate]:
    """Return the models and the documents over their words.

    Raises:
        InputError: for fewer than two models, models of other words, or documents that are unlike the models' own.
    """
    if isinstance(models, str | Path) or not isinstance(models, Mapping | Sequence):
        raise InputError(f"models to rank: a {type(models).__name__}; give a list of two or more, or a mapping by name")
    named = models.items() if isinstance(models, Mapping) else [("", model) for model in models]
    candidates: list[_Candidate] = []
    for given, model in named:
        fitted, name, stream = opened(model, documents, vocabulary, chosen.seed)
        if chosen.smoothing:
            fitted = replace(fitted, topics=fitted.topics.smoothed(chosen.smoothing))
        name = str(given or name)
        read = survey(stream, fitted.topics, chosen.limit)
        difference = "" if chosen.other_corpus else unlike(fitted.topics, read.words)
        if difference:
            raise InputError(
                f"{name}: {stream.name} has not documents like the model's own: {difference}; say --other-corpus"
                " (other_corpus=True) where they are meant to be of another"
            )
        D = len(read.lengths)
        candidates.append(_Candidate(name, fitted, stream, read, np.zeros((D, len(COLUMNS))), np.zeros(D, bool)))
    _named_apart(candidates)
    if len(candidates) < 2:
        raise InputError(f"{len(candidates)} model to rank; give two or more, and audit one (heldout audit)")
    first = candidates[0]
    words = set(first.fitted.topics.vocabulary)
    for other in candidates[1:]:
        if set(other.fitted.topics.vocabulary) != words or not np.array_equal(other.read.lengths, first.read.lengths):
            here, there = len(words), len(other.fitted.topics.vocabulary)
            raise InputError(
                f"{first.name} and {other.name} have other words ({here:,} and {there:,}), and likelihoods of other"
                " tokens do not compare; fit all models on one vocabulary"
            )
    return candidates


def _named_apart(candidates: list[_Candidate]) -> None:
    """Give models of one name their numbers of topics, and count those that are still of one."""
    names = Counter(one.name for one in candidates)
    for one in candidates:
        if names[one.name] > 1:
            one.name = f"{one.name}, {one.fitted.topics.n_topics} topics"
    names, counted = Counter(one.name for one in candidates), Counter[str]()
    for one in candidates:
        if names[name := one.name] > 1:
            counted[name] += 1
            one.name = f"{name} ({counted[name]})"


def _work(candidates: list[_Candidate], chosen: RankOptions) -> Work:
    """Return the estimator of all models: chosen once, for the hardest.

    Raises:
        InputError: when exact values were asked for and cost too much.
    """
    updates = sum(one.read.updates for one in candidates)
    exact = updates <= chosen.limit
    if chosen.estimator == EXACT and not exact:
        hardest = max(candidates, key=lambda one: one.fitted.topics.n_topics)
        raise InputError(
            f"{EXACT}: these documents take more than {chosen.limit:.1e} updates under {hardest.name}; take another"
            " estimator, fewer topics, or fewer or shorter documents"
        )
    if exact and chosen.estimator in (AUTO, EXACT):
        reason = f"Exact likelihoods of all models take {updates:.1e} updates, and {chosen.limit:.1e} are allowed."
        return Work(EXACT, 0, chosen.seed, reason, parts=(TRUTH,))
    estimator = REFERENCE if chosen.estimator == AUTO else chosen.estimator
    reason = (
        "It was asked for by name."
        if chosen.estimator != AUTO
        else ("Exact values cost too much under one of the models, and all are to be estimated alike.")
    )
    samples = samples_of(estimator, chosen.samples)
    if estimator == REFERENCE and chosen.samples is None:  # more where few documents leave the time
        samples = max(samples, min(affordable(one.fitted.topics, one.read) for one in candidates))
    return Work(estimator, samples, chosen.seed, reason, parts=(TRUTH,))


def settings_of(work: Work, chosen: RankOptions) -> dict[str, Any]:
    """Return the settings that the values depend on, beside models and documents, JSON-compatible."""
    return {
        "seed": work.seed,
        "estimator": work.estimator,
        "samples": work.samples,
        "smoothing": chosen.smoothing,
        "parts": list(work.parts),
        "heldout": importlib.metadata.version("heldout"),
    }


def _load(one: _Candidate, work: Work, chosen: RankOptions) -> None:
    """Take the values that an earlier run has kept."""
    if chosen.store is not None:
        model = model_digest(one.fitted)
        key = {"model": model, "documents": one.stream.digest, "settings": settings_of(work, chosen)}
        one.store = Store(Path(chosen.store) / f"model-{model[:16]}", key, len(COLUMNS))
        one.values, one.done = one.store.load(len(one.read.lengths))


def _run(
    candidates: list[_Candidate],
    work: Work,
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

    for one in candidates:
        seconds = sum(plan.plans[one.name].seconds.values())
        if not one.done.all():
            short = seconds < SHORT
            runner = Runner(one.fitted.topics, one.stream, work, one.read, one.values, one.done, one.store, moved)
            runner.run(1 if short else plan.cores, apart=apart and not short)
        past = [past[0] + seconds, past[1] + len(one.done)]


def _ranked(one: _Candidate, coherence: float, chosen: RankOptions) -> RankedModel:
    """Return a model with its values and its library's own number."""
    if chosen.reported:
        from heldout.libraries import reported as library

        reported = library.reported(one.fitted, one.stream)
    else:
        reported = Reported("", note="the library was not asked")
    column = dict(zip(COLUMNS, one.values.T, strict=True))
    return RankedModel(
        name=one.name,
        library=one.fitted.library,
        topics=one.fitted.topics.n_topics,
        nats=column[TRUTH],
        errors=np.nan_to_num(column[ERROR]),
        biases=np.nan_to_num(column[BIAS]),
        reported=reported,
        coherence=coherence,
        dirichlet=isinstance(one.fitted.topics, Topics),
    )
