"""Perplexity against the number of topics: the curves of the figures and what can be said of them in words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.scores import perplexity as perplexity_of
from heldout.study import SECOND_READING

if TYPE_CHECKING:
    import pandas as pd

# a deterministic model's only "chain", and a sampled model's predictive distribution averaged over its chains
REPORTED_CHAINS = ("none", "all")
NORMALISED = "normalised-folding-in"  # the evaluator of the model with a topic per word


@dataclass(frozen=True)
class Curve:
    """Perplexity per token against topics, under one constant.

    Attributes:
        smoothing: the constant added to p(w | z); 0 for a model without.
        points: (topics, seed) to perplexity.
    """

    smoothing: float
    points: Mapping[tuple[int, int], float]

    @property
    def topics(self) -> tuple[int, ...]:
        """The numbers of topics, ascending."""
        return tuple(sorted({topics for topics, _ in self.points}))

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, ascending."""
        return tuple(sorted({seed for _, seed in self.points}))

    def at(self, topics: int) -> list[float]:
        """Return the perplexities of all seeds at one number of topics."""
        return [value for (k, _), value in sorted(self.points.items()) if k == topics]

    def mean(self, topics: int) -> float:
        """Return the mean perplexity over seeds."""
        values = self.at(topics)
        return math.fsum(values) / len(values)

    @property
    def means(self) -> list[float]:
        """The mean perplexity over seeds at each of `topics`."""
        return [self.mean(k) for k in self.topics]

    @property
    def low(self) -> list[float]:
        """The lowest perplexity of any seed at each of `topics`."""
        return [min(self.at(k)) for k in self.topics]

    @property
    def high(self) -> list[float]:
        """The highest perplexity of any seed at each of `topics`."""
        return [max(self.at(k)) for k in self.topics]

    def lowest(self) -> "Point":
        """Return where the mean curve is lowest (the fewest topics, if several are)."""
        perplexity, topics = min(zip(self.means, self.topics, strict=True))
        return Point(self.smoothing, topics, perplexity)


class Point(NamedTuple):
    """A point of a mean curve."""

    smoothing: float
    topics: int
    perplexity: float


class Steps(NamedTuple):
    """Steps from one number of topics to the next, over curves and seeds."""

    falls: int
    rises: int
    total: int

    def __add__(self, other: object) -> "Steps":
        if not isinstance(other, Steps):
            return NotImplemented
        return Steps(self.falls + other.falls, self.rises + other.rises, self.total + other.total)


def curves(
    scores: "pd.DataFrame",
    *,
    corpus: str,
    model: str,
    variant: str,
    evaluator: str,
    topics: Sequence[int] = (),
    seeds: Sequence[int] = (),
) -> list[Curve]:
    """Return a variant's curves, one per constant, ascending; of the given topics and seeds (all, if none is given).

    Raises:
        InputError: when two rows report the same point.
    """
    chosen = scores[
        (scores["corpus"] == corpus)
        & (scores["model"] == model)
        & (scores["variant"] == variant)
        & (scores["evaluator"] == evaluator)
        & scores["chain"].isin(REPORTED_CHAINS)
    ]
    found: dict[float, dict[tuple[int, int], float]] = {}
    columns = ("smoothing", "topics", "seed", "perplexity")
    for smoothing, k, seed, perplexity in zip(*(chosen[column].tolist() for column in columns), strict=True):
        if (topics and k not in topics) or (seeds and seed not in seeds):
            continue
        curve = found.setdefault(float(smoothing), {})
        if (int(k), int(seed)) in curve:
            raise InputError(
                f"scores: {corpus}, {model}, {variant}, {evaluator}, {k} topics, constant {smoothing}, seed {seed}"
                " is reported twice"
            )
        curve[int(k), int(seed)] = float(perplexity)
    return [Curve(smoothing, found[smoothing]) for smoothing in sorted(found)]


def study_curves(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = "") -> list[Curve]:
    """Return a model's curves over the study's grid and seeds: its main variant, or the one named."""
    settings = inputs.settings
    return curves(
        inputs.scores,
        corpus=corpus,
        model=model,
        variant=variant or settings.variant(model),
        evaluator=evaluator,
        topics=settings.topics_of(model),
        seeds=settings.second_reading_seeds if variant == SECOND_READING else settings.seeds_of(model),
    )


def best_curve(inputs: Inputs, corpus: str, model: str, evaluator: str) -> tuple[str, Curve] | None:
    """Return a model's best curve (see `best`) over its variants and constants, with its variant's name."""
    settings = inputs.settings
    candidates = [
        (variant, chosen)
        for variant in (settings.variant(model), *settings.further_variants(model))
        if (chosen := best(study_curves(inputs, corpus, model, evaluator, variant))) is not None
    ]
    return min(candidates, key=lambda found: (found[1].lowest().perplexity, found[0]), default=None)


def swept_lowest(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variants: Sequence[str]
) -> dict[tuple[int, int], tuple[float, str]]:
    """Return (perplexity, variant) by (topics, seed): the lowest over some variants of a sweep and over the constants.

    The choice is made point by point on the scored test documents, so it is an upper bound on performance.
    """
    found: dict[tuple[int, int], tuple[float, str]] = {}
    for variant in variants:
        for curve in study_curves(inputs, corpus, model, evaluator, variant):
            for at, value in curve.points.items():
                found[at] = min(found.get(at, (math.inf, "")), (value, variant))
    return found


def beyond_ends(inputs: Inputs) -> tuple[int, int] | None:
    """Return the last number of topics within the vocabulary and the largest beyond it, where the study has both."""
    settings = inputs.settings
    if not settings.beyond_corpus:
        return None
    vocabulary = int(inputs.corpus(settings.beyond_corpus)["vocabulary"])
    grid = sorted({*settings.topics, *settings.beyond_topics})
    within = [k for k in grid if k <= vocabulary]
    return (within[-1], grid[-1]) if within and grid[-1] > vocabulary else None


def beyond_curves(inputs: Inputs, evaluator: str, topics: Sequence[int] = ()) -> list[Curve]:
    """Return PLSA's curves beyond the vocabulary, at some numbers of topics (all of the study's, if none is given)."""
    settings = inputs.settings
    return curves(
        inputs.scores,
        corpus=settings.beyond_corpus,
        model=PLSA,
        variant=settings.variant(PLSA),
        evaluator=evaluator,
        topics=topics or (*settings.topics, *settings.beyond_topics),
        seeds=settings.beyond_seeds,
    )


def best(candidates: Iterable[Curve]) -> Curve | None:
    """Return the curve whose mean has the lowest value anywhere (the smallest constant, if several have).

    That is how Welling et al. (2008, section 5) define the best curve. The choice looks at the scored test
    documents, so what it chooses is optimistic.
    """
    return min(candidates, key=lambda curve: (curve.lowest().perplexity, curve.smoothing), default=None)


def held_back_choice(inputs: Inputs, corpus: str, evaluator: str) -> list[float]:
    """Return, per seed, the lowest perplexity under the constant that the other seeds choose, over its own choice.

    Each is other / own - 1, never negative: how optimistic it is to choose on the scored documents.
    """
    found = study_curves(inputs, corpus, PLSA, evaluator)
    seeds = sorted({seed for curve in found for seed in curve.seeds})
    result = []
    for seed in seeds if len(seeds) > 1 else ():
        lowest = {c.smoothing: min(v for (_, s), v in c.points.items() if s == seed) for c in found if seed in c.seeds}
        others = [type(c)(c.smoothing, {at: v for at, v in c.points.items() if at[1] != seed}) for c in found]
        chosen = best(c for c in others if c.points and c.smoothing in lowest)
        if chosen is not None:
            result.append(lowest[chosen.smoothing] / min(lowest.values()) - 1.0)
    return result


class Band(NamedTuple):
    """Perplexities of one seed: folded in, and the limit that normalising can raise it to."""

    folded: float
    limit: float


def bands(inputs: Inputs, corpus: str) -> dict[tuple[int, int], Band]:
    """Return the band by (topics, seed) of PLSA, under the constant that suits half folding-in best."""
    chosen = best(study_curves(inputs, corpus, PLSA, HALF))
    if chosen is None or inputs.measurements is None:
        return {}
    table = inputs.measurements
    table = table[(table["quantity"] == "log-nml") & (table["corpus"] == corpus)]
    limits = {
        (int(k), int(s)): (float(v), int(n))
        for k, s, v, n in zip(*(table[c].tolist() for c in ("topics", "seed", "value", "at")), strict=True)
    }
    found = {}
    for curve in curves(
        inputs.scores, corpus=corpus, model=PLSA, variant=inputs.settings.variant(PLSA), evaluator=FULL
    ):
        if curve.smoothing != chosen.smoothing:
            continue
        for at, value in curve.points.items():
            if at in limits:
                nats, tokens = limits[at]
                found[at] = Band(value, value / perplexity_of(nats, tokens))
    return found


def word_topics(inputs: Inputs, corpus: str) -> dict[str, dict[int, float]]:
    """Return the perplexity of the model with a topic per word, by evaluator and seed."""
    rows = inputs.scores[(inputs.scores["model"] == "word-topics") & (inputs.scores["corpus"] == corpus)]
    found: dict[str, dict[int, float]] = {}
    for evaluator, seed, value in zip(*(rows[c].tolist() for c in ("evaluator", "seed", "perplexity")), strict=True):
        found.setdefault(str(evaluator), {})[int(seed)] = float(value)
    return found


def steps(of: Iterable[Curve]) -> Steps:
    """Count where perplexity falls and rises from one number of topics to the next, on each seed's own curve."""
    falls = rises = total = 0
    for curve in of:
        for seed in curve.seeds:
            grid = [k for k in curve.topics if (k, seed) in curve.points]
            for before, after in pairwise(grid):
                change = curve.points[after, seed] - curve.points[before, seed]
                falls += change < 0.0
                rises += change > 0.0
                total += 1
    return Steps(int(falls), int(rises), total)


def lies_below(one: Curve | None, other: Curve | None) -> Steps:
    """Count the numbers of topics at which one mean curve lies below ("falls") and above ("rises") another."""
    if one is None or other is None:
        return Steps(0, 0, 0)
    shared = sorted(set(one.topics) & set(other.topics))
    differences = [one.mean(k) - other.mean(k) for k in shared]
    return Steps(sum(d < 0.0 for d in differences), sum(d > 0.0 for d in differences), len(shared))


def ends_above_its_lowest(curve: Curve) -> bool:
    """Say whether the mean curve is higher at its last number of topics than somewhere before."""
    return curve.mean(curve.topics[-1]) > curve.lowest().perplexity


def spread(curve: Curve) -> float:
    """Return the widest band over seeds, highest over lowest perplexity minus 1, as a fraction."""
    return max(high / low - 1.0 for high, low in zip(curve.high, curve.low, strict=True))


def in_words(verb: str, count: int, total: int, what: str = "steps") -> str:
    """Say how often something happens: "falls at every step", "falls at 3 of 7 steps", "falls at no step".

    Args:
        verb: what happens, such as "falls".
        count: how often.
        total: of how many.
        what: the plural of what is counted; the singular lacks the "s".
    """
    if total == 0:
        return f"{verb} nowhere, for there are no {what} to compare"
    if count == total:
        return f"{verb} at every one of {total} {what}" if total > 1 else f"{verb} at the only {what.removesuffix('s')}"
    if count == 0:
        return f"{verb} at none of {total} {what}"
    return f"{verb} at {count} of {total} {what}"
