"""The summary of a choice's fits: one candidate for each number of topics, over the same documents."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import Work
from heldout.auditing.choice.fits import Fit, Scored
from heldout.auditing.choice.report import Choice, failed
from heldout.auditing.choice.result import Candidate, share_again
from heldout.auditing.formats import amount
from heldout.auditing.rank.result import in_order
from heldout.errors import InputError
from heldout.evaluators.priors import PRIORS
from heldout.libraries import Reported
from heldout.topics import perplexity
from heldout.typing import Floats, Ints


def summarise(
    done: Mapping[Fit, Scored], fold_of: Ints, work: Work, settings: dict[str, Any], failures: tuple[str, ...]
) -> Choice:
    """Return the choice over the folds in which every number of topics has a fit.

    Args:
        done: the fits; a number of topics without one is left out.
        fold_of: (D,) the fold of every document.
        work: the estimator.
        settings: of the choice, "unknown" among them.
        failures: a line for each fit that failed.

    Raises:
        InputError: where there is no such fold, or one number of topics alone.
    """
    numbers, unknown = sorted({fit.topics for fit in done}), settings["unknown"]
    folds = [int(f) for f in np.unique(fold_of) if {fit.topics for fit in done if fit.fold == f} == set(numbers)]
    if len(numbers) < 2 or not folds:
        raise InputError(
            f"fewer than two numbers of topics have a fit of one fold, and do not compare: {failed(failures)}"
        )
    lengths, left_out = np.zeros(len(fold_of), np.int64), np.zeros(len(fold_of), np.int64)
    for fit, scored in done.items():
        lengths[fold_of == fit.fold] = scored.lengths(unknown)
        left_out[fold_of == fit.fold] = scored.absent if unknown is None else 0
    used = np.isin(fold_of, folds)
    candidates = []
    for K in numbers:
        fits = {fit: scored for fit, scored in done.items() if fit.topics == K and fit.fold in folds}
        candidates.append(_candidate(fits, fold_of, used, lengths, settings))
    notes = [note for scored in done.values() if (note := scored.facts["note"])]
    return Choice(
        in_order(candidates),
        amount(len(folds), "held-out fold"),
        lengths[used],
        int(left_out[used].sum()),
        work,
        notes[0] if notes else "",
        work.settings() | settings,
        fold_of[used],
        failures,
    )


def _candidate(
    fits: Mapping[Fit, Scored], fold_of: Ints, used: NDArray[np.bool_], lengths: Ints, settings: Mapping[str, Any]
) -> Candidate:
    """Return a number of topics, its documents' values averaged over seeds and all else over its fits."""
    K, R, unknown = next(iter(fits)).topics, settings["restarts"], settings["unknown"]
    values = np.full((4, R, len(fold_of)), np.nan)
    for fit, scored in fits.items():
        absent = np.outer([1.0, 0.0, 0.0, 1.0], scored.absent * math.log(unknown) if unknown else 0.0 * scored.absent)
        values[:, fit.restart, fold_of == fit.fold] = scored.columns + absent
    values, lengths = values[:, :, used], lengths[used]
    nats, _, biases, folded = np.nanmean(values, axis=1)
    squares, seeds = np.nansum(values[1] ** 2, axis=0), np.isfinite(values[1]).sum(axis=0)
    numbers = Counter(fit.fold for fit in fits)
    weights, facts = np.array([1.0 / numbers[fit.fold] for fit in fits]), [scored.facts for scored in fits.values()]
    tokens = np.array([each["tokens"] for each in facts]) * weights

    def mean(name: str) -> float:
        return float(np.average([each[name] for each in facts], weights=weights))

    folds = [[scored for fit, scored in fits.items() if fit.fold == f] for f in numbers]
    scores = [np.array([scored.columns[0].sum() / scored.tokens.sum() for scored in fold]) for fold in folds]
    spreads = [score.var(ddof=1) for score in scores if len(score) > 1 and np.isfinite(score).all()]
    again = [share for fold in folds if not math.isnan(share := share_again([scored.phi for scored in fold]))]
    possible = np.isfinite(nats) & np.isfinite(folded)
    return Candidate(
        **{"name": amount(K, "topic"), "library": facts[0]["library"], "topics": K, "stand_in": facts[0]["stand_in"]},
        **{"nats": nats, "errors": np.sqrt(squares) / seeds, "biases": biases},
        reported=_reported([each["reported"] for each in facts], tokens),
        coherence=mean("coherence"),
        prior=next(prior for prior in PRIORS.values() if prior.name == facts[0]["prior"]),
        by_seed=values[0] if R > 1 else np.zeros((0, 0)),
        exclusivity=mean("exclusivity"),
        folding_in=float(folded[possible].sum()) / max(int(lengths[possible].sum()), 1),
        most_excess=float(np.sum([each["most_excess"] for each in facts] * weights)) / max(float(tokens.sum()), 1.0),
        seed_spread=math.sqrt(float(np.mean(spreads))) if spreads else math.nan,
        again=float(np.mean(again)) if again else math.nan,
    )


def _reported(numbers: Sequence[Mapping[str, Any]], tokens: Floats) -> Reported:
    """Return the library's own number of all documents: the mean over tokens of its nats per token."""
    first = Reported(**numbers[0])
    values = [Reported(**number).nats_per_token for number in numbers]
    nats = float(np.average(values, weights=tokens)) if tokens.any() else math.nan
    whole = replace(first, value=math.nan, perplexity=math.nan, nats_per_token=nats, terms=())
    return replace(whole, perplexity=perplexity(-whole.log_perplexity, 1)) if math.isfinite(nats) else whole
