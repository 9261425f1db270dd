"""What Welling et al.'s experiments gave: curves over numbers of topics, documents beside their exact values, courses.

Tables of scores and measurements go in; perplexities are per token, log-likelihoods in nats.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF
from heldout.inputs import Inputs
from heldout.models import PLSA
from heldout.papers.welling.experiments.bounds import TOKENS
from heldout.papers.welling.experiments.normaliser_limits import LIMIT
from heldout.papers.welling.experiments.normaliser_limits import MODEL as WORD_TOPICS
from heldout.papers.welling.experiments.normalisers import QUANTITY as LOG_NORMALISER
from heldout.papers.welling.experiments.point_posteriors import LOG_LIKELIHOOD, OBJECTIVE, POINT
from heldout.points import REPORTED_CHAINS, select
from heldout.scores import perplexity as perplexity_of
from heldout.study import SECOND_READING

if TYPE_CHECKING:
    import pandas as pd

BY_DOCUMENT = ("bounds", "point-posterior", "discrete-latents")  # the variants whose documents have exact values
CHAINS = ("none", "0")  # the one chain whose documents are measured, where there are several

At = tuple[int, int]  # topics, seed


@dataclass(frozen=True)
class Curve:
    """Perplexity per token against the number of topics, under one constant.

    Attributes:
        smoothing: the constant added to p(w | z); 0 for a model without.
        points: (topics, seed) to perplexity.
    """

    smoothing: float
    points: Mapping[At, float]

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

    def of_seed(self, seed: int) -> dict[int, float]:
        """Return a seed's perplexities by number of topics, ascending."""
        return {k: value for (k, its), value in sorted(self.points.items()) if its == seed}

    def over(self, other: "Curve") -> dict[At, float]:
        """Return the ratios to another curve by (topics, seed), where both have a point."""
        return {at: self.points[at] / other.points[at] for at in sorted(self.points.keys() & other.points.keys())}

    def lowest(self) -> "Lowest":
        """Return where the mean curve is lowest (the fewest topics, if several are)."""
        perplexity, topics = min(zip(self.means, self.topics, strict=True))
        return Lowest(self.smoothing, topics, perplexity)


class Lowest(NamedTuple):
    """The lowest point of a mean curve."""

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
    rows = select(scores, corpus=corpus, model=model, variant=variant, evaluator=evaluator)
    rows = rows[rows["chain"].isin(REPORTED_CHAINS)]
    points: dict[float, dict[At, float]] = {}
    columns = ("smoothing", "topics", "seed", "perplexity")
    for smoothing, k, seed, perplexity in zip(*(rows[column].tolist() for column in columns), strict=True):
        if (topics and k not in topics) or (seeds and seed not in seeds):
            continue
        of_constant = points.setdefault(float(smoothing), {})
        if (int(k), int(seed)) in of_constant:
            raise InputError(
                f"scores: {corpus}, {model}, {variant}, {evaluator}, {k} topics, constant {smoothing}, seed {seed}"
                " is reported twice"
            )
        of_constant[int(k), int(seed)] = float(perplexity)
    return [Curve(smoothing, points[smoothing]) for smoothing in sorted(points)]


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


def best(candidates: Iterable[Curve]) -> Curve | None:
    """Return the curve whose mean has the lowest value anywhere (the smallest constant, if several have).

    That is how Welling et al. (2008, section 5) define the best curve. The choice looks at the scored test
    documents, so what it chooses is optimistic.
    """
    return min(candidates, key=lambda curve: (curve.lowest().perplexity, curve.smoothing), default=None)


def best_curve(inputs: Inputs, corpus: str, model: str, evaluator: str) -> tuple[str, Curve] | None:
    """Return a model's best curve (see `best`) over its variants and constants, with its variant's name."""
    settings = inputs.settings
    candidates = {
        variant: chosen
        for variant in (settings.variant(model), *settings.further_variants(model))
        if (chosen := best(study_curves(inputs, corpus, model, evaluator, variant))) is not None
    }
    return min(candidates.items(), key=lambda named: (named[1].lowest().perplexity, named[0]), default=None)


def held_back_choice(inputs: Inputs, corpus: str, evaluator: str) -> list[float]:
    """Return, per seed, the lowest perplexity under the constant that the other seeds choose, over its own choice.

    Each is other / own - 1, never negative: how optimistic it is to choose on the scored documents.
    """
    every = study_curves(inputs, corpus, PLSA, evaluator)
    seeds = sorted({seed for curve in every for seed in curve.seeds})
    excesses = []
    for seed in seeds if len(seeds) > 1 else ():
        lowest = {curve.smoothing: min(curve.of_seed(seed).values()) for curve in every if seed in curve.seeds}
        others = [Curve(c.smoothing, {at: v for at, v in c.points.items() if at[1] != seed}) for c in every]
        chosen = best(curve for curve in others if curve.points and curve.smoothing in lowest)
        if chosen is not None:
            excesses.append(lowest[chosen.smoothing] / min(lowest.values()) - 1.0)
    return excesses


def swept_lowest(
    inputs: Inputs, corpus: str, model: str, evaluator: str, variants: Sequence[str]
) -> dict[At, tuple[float, str]]:
    """Return (perplexity, variant) by (topics, seed): the lowest over some variants of a sweep and over the constants.

    The choice is made point by point on the scored test documents, so it is an upper bound on performance.
    """
    lowest: dict[At, tuple[float, str]] = {}
    for variant in variants:
        for curve in study_curves(inputs, corpus, model, evaluator, variant):
            for at, value in curve.points.items():
                lowest[at] = min(lowest.get(at, (math.inf, "")), (value, variant))
    return lowest


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


class Band(NamedTuple):
    """Perplexities of one seed: folded in, and the limit that normalising can raise it to."""

    folded: float
    limit: float


def bands(inputs: Inputs, corpus: str) -> dict[At, Band]:
    """Return the band by (topics, seed) of PLSA, under the constant that suits half folding-in best."""
    chosen = best(study_curves(inputs, corpus, PLSA, HALF))
    if chosen is None:
        return {}
    rows = select(inputs.measurements, quantity=LIMIT, corpus=corpus)
    limits = {
        (int(k), int(s)): perplexity_of(float(nats), int(tokens))
        for k, s, nats, tokens in zip(*(rows[c].tolist() for c in ("topics", "seed", "value", "at")), strict=True)
    }
    full = curves(inputs.scores, corpus=corpus, model=PLSA, variant=inputs.settings.variant(PLSA), evaluator=FULL)
    same = next((curve.points for curve in full if curve.smoothing == chosen.smoothing), {})
    return {at: Band(value, value / limits[at]) for at, value in same.items() if at in limits}


def word_topics(inputs: Inputs, corpus: str) -> dict[str, dict[int, float]]:
    """Return the perplexity of the model with a topic per word, by evaluator and seed."""
    rows = select(inputs.scores, model=WORD_TOPICS, corpus=corpus)
    perplexities: dict[str, dict[int, float]] = {}
    for evaluator, seed, value in zip(*(rows[c].tolist() for c in ("evaluator", "seed", "perplexity")), strict=True):
        perplexities.setdefault(str(evaluator), {})[int(seed)] = float(value)
    return perplexities


class Document(NamedTuple):
    """One document under one model."""

    corpus: str
    model: str
    topics: int
    seed: int
    number: int


def documents(inputs: Inputs, corpora: Sequence[str], quantity: str) -> dict[Document, float]:
    """Return a quantity of every document whose exact value section 4.1 is tested on, sorted; log-likelihoods in nats.

    Raises:
        InputError: when a document is reported twice.
    """
    rows = select(inputs.measurements, quantity=quantity, axis="document")
    rows = rows[rows["variant"].isin(BY_DOCUMENT) & rows["corpus"].isin(list(corpora)) & rows["chain"].isin(CHAINS)]
    columns = ("corpus", "model", "topics", "seed", "at", "value")
    values: dict[Document, float] = {}
    for corpus, model, topics, seed, number, value in sorted(zip(*(rows[c].tolist() for c in columns), strict=True)):
        document = Document(corpus, model, int(topics), int(seed), int(number))
        if document in values:
            raise InputError(
                f"bounds: {corpus}, {model}, {topics} topics: {quantity} of a document is reported twice; measure one"
                " variant and one constant"
            )
        values[document] = float(value)
    return values


def bounds_corpus(inputs: Inputs) -> str:
    """Return the first of the study's corpora whose documents have exact values.

    Raises:
        InputError: when none was measured.
    """
    rows = select(inputs.measurements, quantity=EXACT, axis="document")
    corpora = set(rows.loc[rows["variant"].isin(BY_DOCUMENT), "corpus"])
    for corpus in inputs.settings.corpora:
        if corpus in corpora:
            return corpus
    raise InputError("bounds: there are no exact marginals of documents among the measurements; measure the bounds")


def differences(
    inputs: Inputs, corpus: str, estimates: Iterable[tuple[str, str]]
) -> dict[tuple[str, str, int], list[float]]:
    """Return (estimate - exact marginal) / tokens of every document and seed, nats per token.

    Args:
        inputs: the measurements of the experiments `bounds` and `discrete-latents`.
        corpus: its name.
        estimates: (model, quantity).

    Returns:
        By (model, quantity, topics), in the order of seeds and documents.

    Raises:
        InputError: when a document is reported twice, lacks its exact value or its length, or has none that is finite.
    """
    exact, lengths = documents(inputs, [corpus], EXACT), documents(inputs, [corpus], TOKENS)
    tokens = {(document.seed, document.number): value for document, value in lengths.items()}
    result: dict[tuple[str, str, int], list[float]] = {}
    for model, quantity in estimates:
        values = {at: value for at, value in documents(inputs, [corpus], quantity).items() if at.model == model}
        for topics in sorted({document.topics for document in values}):
            own = {document: value for document, value in values.items() if document.topics == topics}
            what = f"bounds: {corpus}, {model}, {topics} topics"
            missing = [at for at in own if at not in exact or (at.seed, at.number) not in tokens]
            if missing:
                raise InputError(
                    f"{what}: {len(missing)} documents lack their exact marginal or their number of tokens"
                )
            per_token = [(value - exact[at]) / tokens[at.seed, at.number] for at, value in own.items()]
            result[model, quantity, topics] = per_token
            if not all(map(math.isfinite, per_token)):
                raise InputError(f"{what}: a document has probability 0; add a constant to p(w | z)")
    return result


def learned_normalisers(inputs: Inputs) -> "pd.DataFrame":
    """Return log Z of the learned models of PLSA, per document, of the first of the study's corpora that has any.

    Returns:
        The rows of all seeds, sorted by topics, length and seed.

    Raises:
        InputError: when there are none.
    """
    every = select(inputs.measurements, quantity=LOG_NORMALISER, axis="length", model=PLSA)
    for corpus in inputs.settings.corpora:
        rows = select(every, corpus=corpus)
        if len(rows):
            return rows.sort_values(["topics", "at", "seed"], kind="stable")
    raise InputError("normaliser: there is no log Z of a learned model among the measurements; measure the normalisers")


class Course(NamedTuple):
    """A quantity along the iterations of one training."""

    iterations: list[int]
    numbers: list[float]


def course(inputs: Inputs, corpus: str, model: str, variant: str, quantity: str, seed: int) -> Course:
    """Return a quantity at every iteration, in order.

    Raises:
        InputError: when it has not been measured.
    """
    if inputs.measurements is None:
        raise InputError("point posteriors: there are no measurements; run the study's measurement jobs first")
    run = {"corpus": corpus, "model": model, "variant": variant, "seed": seed}
    rows = select(inputs.measurements, quantity=quantity, axis="iteration", **run)
    if rows.empty:
        raise InputError(f"measurements: no {quantity} of {model}, {variant}, on {corpus}; run that measurement first")
    rows = rows.sort_values("at")
    return Course([int(i) for i in rows["at"]], [float(value) for value in rows["value"]])


def gap(inputs: Inputs, corpus: str, model: str, seed: int) -> Course:
    """Return the log-likelihood minus the point posterior's objective at every iteration, in nats.

    Raises:
        InputError: when either has not been measured, or not at the same iterations.
    """
    objective, exact = (course(inputs, corpus, model, POINT, name, seed) for name in (OBJECTIVE, LOG_LIKELIHOOD))
    if objective.iterations != exact.iterations:
        raise InputError(f"measurements: {model} on {corpus}: objective and log-likelihood have other iterations")
    return Course(exact.iterations, [e - o for e, o in zip(exact.numbers, objective.numbers, strict=True)])
