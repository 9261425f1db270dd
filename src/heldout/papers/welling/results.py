"""Results of Welling et al.'s experiments: curves over numbers of topics, documents' exact values, training courses.

All are computed from the tables of scores and measurements. Perplexities are per token, log-likelihoods in nats.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from heldout.effects import chosen, per_token
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
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

BY_DOCUMENT = ("bounds", "point-posterior", "discrete-latents")  # variants with exact values of documents
# readings of LDA's prior, beside the study's own: variants of the study
SPARSE, FITTED = "sparse-prior", "fitted-prior"
CHAINS = ("none", "0")  # chains under which documents are measured: of several the first

At = tuple[int, int]  # topics, seed


@dataclass(frozen=True)
class Curve:
    """Perplexity per token by number of topics, under one smoothing constant.

    Attributes:
        smoothing: the constant added to p(w | z); 0 for a model that is not smoothed.
        points: perplexity by (topics, seed).
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
        """Return this curve's perplexity over another's by (topics, seed), where both have a point."""
        return {at: self.points[at] / other.points[at] for at in sorted(self.points.keys() & other.points.keys())}

    def lowest(self) -> "Lowest":
        """Return the lowest point of the mean curve (with the fewest topics in a tie)."""
        perplexity, topics = min(zip(self.means, self.topics, strict=True))
        return Lowest(self.smoothing, topics, perplexity)


class Lowest(NamedTuple):
    """The lowest point of a mean curve: its constant, K and mean perplexity."""

    smoothing: float
    topics: int
    perplexity: float


class Steps(NamedTuple):
    """Counts of steps from one number of topics to the next, over curves and seeds, by the change in perplexity."""

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
    """Return a variant's curves, one per constant, ascending, at the given topics and seeds (all if empty).

    Raises:
        InputError: if two rows report the same point.
    """
    rows = select(scores, corpus=corpus, model=model, variant=variant, evaluator=evaluator)
    rows = rows[rows["chain"].isin(REPORTED_CHAINS)]
    points: dict[float, dict[At, float]] = {}
    columns = ("smoothing", "topics", "seed", "perplexity")
    for smoothing, k, seed, perplexity in zip(*(rows[column].tolist() for column in columns), strict=True):
        if (topics and k not in topics) or (seeds and seed not in seeds):
            continue
        curve = points.setdefault(float(smoothing), {})
        if (int(k), int(seed)) in curve:
            raise InputError(
                f"scores: {corpus}, {model}, {variant}, {evaluator}, {k} topics, constant {smoothing}, seed {seed}"
                " is reported twice"
            )
        curve[int(k), int(seed)] = float(perplexity)
    return [Curve(smoothing, points[smoothing]) for smoothing in sorted(points)]


def points(
    inputs: Inputs,
    corpora: Sequence[str],
    model: str,
    evaluator: str,
    variants: Sequence[str] = (),
    *,
    topics: Sequence[int] = (),
    seeds: Sequence[int] = (),
) -> "pd.DataFrame":
    """Return a model's scores per token on the study's grid and seeds: "value" and "error", nats, at every constant.

    Args:
        inputs: the scores.
        corpora: their names.
        model: its name.
        evaluator: full or half folding-in.
        variants: of the model; its main one where empty.
        topics: other numbers of topics than the study's.
        seeds: other seeds than the study's.
    """
    settings = inputs.settings
    selector: dict[str, object] = {
        **{"corpus": tuple(corpora), "model": model, "evaluator": evaluator, "chain": REPORTED_CHAINS},
        "variant": tuple(variants) or (settings.variant(model),),
        "topics": tuple(topics or settings.topics_of(model)),
        "seed": tuple(seeds or settings.seeds_of(model)),
    }
    return per_token(chosen(inputs.scores, selector))


def best_points(
    inputs: Inputs, corpora: Sequence[str], model: str, evaluator: str, variant: str = ""
) -> "pd.DataFrame":
    """Return the points of a model's best curve on each corpus (see `best_curve`)."""
    import pandas as pd

    named = {corpus: best_curve(inputs, corpus, model, evaluator, variant) for corpus in corpora}
    parts = [
        select(points(inputs, [corpus], model, evaluator, [found[0]]), smoothing=found[1].smoothing)
        for corpus, found in named.items()
        if found is not None
    ]
    return pd.concat(parts) if parts else points(inputs, (), model, evaluator)


def study_curves(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = "") -> list[Curve]:
    """Return a model's curves over the study's grid and seeds, of its main variant or of the named one."""
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
    """Return the curve whose mean has the lowest value at any number of topics (the smallest constant in a tie).

    Welling et al. (2008, section 5) define the best curve so. The choice uses the scored test documents, so the best
    curve is optimistic.
    """
    return min(candidates, key=lambda curve: (curve.lowest().perplexity, curve.smoothing), default=None)


def lda_variants(inputs: Inputs) -> tuple[str, ...]:
    """Return the study's variants of LDA that differ by the prior, the main one first."""
    further = inputs.settings.further_variants(LDA)
    return (inputs.settings.variant(LDA), *(variant for variant in (SPARSE, FITTED) if variant in further))


def best_curve(inputs: Inputs, corpus: str, model: str, evaluator: str, variant: str = "") -> tuple[str, Curve] | None:
    """Return a model's best curve (see `best`) over its constants, with its variant's name.

    Without a named variant all compete, but for LDA: its variants are readings of the original, each judged by itself,
    and the main one is taken.
    """
    settings = inputs.settings
    main = variant or settings.variant(model)
    candidates = {
        variant: chosen
        for variant in (main, *(() if variant or model == LDA else settings.further_variants(model)))
        if (chosen := best(study_curves(inputs, corpus, model, evaluator, variant))) is not None
    }
    return min(candidates.items(), key=lambda named: (named[1].lowest().perplexity, named[0]), default=None)


def held_back_choice(inputs: Inputs, corpus: str, evaluator: str) -> list[float]:
    """Return, per seed, the relative loss of using the constant chosen on the other seeds.

    The loss is (lowest perplexity under their constant) / (under the seed's own choice) - 1, never negative. It
    measures the optimism of choosing on the scored documents.
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
    """Return the lowest (perplexity, variant) of the given variants of a sweep, over all constants, by (topics, seed).

    The choice is made point by point on the scored test documents, so it bounds the sweep's performance from above.
    """
    lowest: dict[At, tuple[float, str]] = {}
    for variant in variants:
        for curve in study_curves(inputs, corpus, model, evaluator, variant):
            for at, value in curve.points.items():
                lowest[at] = min(lowest.get(at, (math.inf, "")), (value, variant))
    return lowest


def beyond_ends(inputs: Inputs) -> tuple[int, int] | None:
    """Return the largest number of topics within the vocabulary and the largest beyond it; None without either."""
    settings = inputs.settings
    if not settings.beyond.corpus:
        return None
    vocabulary = int(inputs.corpus(settings.beyond.corpus)["vocabulary"])
    grid = sorted({*settings.topics, *settings.beyond.topics})
    within = [k for k in grid if k <= vocabulary]
    return (within[-1], grid[-1]) if within and grid[-1] > vocabulary else None


def beyond_curves(inputs: Inputs, evaluator: str, topics: Sequence[int] = ()) -> list[Curve]:
    """Return PLSA's curves that go beyond the vocabulary, at the given numbers of topics (all if empty)."""
    settings = inputs.settings
    return curves(
        inputs.scores,
        corpus=settings.beyond.corpus,
        model=PLSA,
        variant=settings.variant(PLSA),
        evaluator=evaluator,
        topics=topics or (*settings.topics, *settings.beyond.topics),
        seeds=settings.beyond.seeds,
    )


def steps(curves: Iterable[Curve]) -> Steps:
    """Count where perplexity falls and rises from one number of topics to the next, on each seed's own curve."""
    falls = rises = total = 0
    for curve in curves:
        for seed in curve.seeds:
            grid = [k for k in curve.topics if (k, seed) in curve.points]
            for before, after in pairwise(grid):
                change = curve.points[after, seed] - curve.points[before, seed]
                falls += change < 0.0
                rises += change > 0.0
                total += 1
    return Steps(int(falls), int(rises), total)


def lies_below(curve: Curve | None, other: Curve | None) -> Steps:
    """Count the numbers of topics at which one mean curve is below ("falls") or above ("rises") another."""
    if curve is None or other is None:
        return Steps(0, 0, 0)
    shared = sorted(set(curve.topics) & set(other.topics))
    differences = [curve.mean(k) - other.mean(k) for k in shared]
    return Steps(sum(d < 0.0 for d in differences), sum(d > 0.0 for d in differences), len(shared))


def ends_above_its_lowest(curve: Curve) -> bool:
    """Return whether the mean curve is higher at its last number of topics than at its lowest."""
    return curve.mean(curve.topics[-1]) > curve.lowest().perplexity


class Band(NamedTuple):
    """One seed's perplexity by folding-in, and an upper limit on it after normalisation."""

    folded: float
    limit: float


def bands(inputs: Inputs, corpus: str) -> dict[At, Band]:
    """Return PLSA's band by (topics, seed), under the constant of half folding-in's best curve."""
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
    """Return the perplexity of the model with one topic per word, by evaluator and seed."""
    rows = select(inputs.scores, model=WORD_TOPICS, corpus=corpus)
    perplexities: dict[str, dict[int, float]] = {}
    for evaluator, seed, value in zip(*(rows[c].tolist() for c in ("evaluator", "seed", "perplexity")), strict=True):
        perplexities.setdefault(str(evaluator), {})[int(seed)] = float(value)
    return perplexities


def bounds_corpus(inputs: Inputs) -> str:
    """Return the first of the study's corpora whose documents have exact values.

    Raises:
        InputError: if there is none.
    """
    rows = select(inputs.measurements, quantity=EXACT, axis="document")
    corpora = set(rows.loc[rows["variant"].isin(BY_DOCUMENT), "corpus"])
    for corpus in inputs.settings.corpora:
        if corpus in corpora:
            return corpus
    raise InputError("bounds: there are no exact marginals of documents among the measurements; measure the bounds")


def differences(inputs: Inputs, corpus: str, estimates: Sequence[tuple[str, str]]) -> "pd.DataFrame":
    """Return (estimate - exact marginal) / tokens of every document and seed, nats per token.

    Args:
        inputs: the measurements of the experiments `bounds` and `discrete-latents`.
        corpus: its name.
        estimates: (model, quantity).

    Returns:
        "model", "quantity", "topics", "seed", "at" (the document's index) and "gain", sorted.

    Raises:
        InputError: if a document is reported twice, lacks its exact value or length, or has a value that is not finite.
    """
    import pandas as pd

    keys = ["model", "topics", "seed", "at"]
    rows = select(inputs.measurements, corpus=corpus, axis="document")
    rows = rows[rows["variant"].isin(BY_DOCUMENT) & rows["chain"].isin(CHAINS)]
    asked = pd.DataFrame(estimates, columns=["model", "quantity"]).merge(rows, on=["model", "quantity"])
    exact, lengths = select(rows, quantity=EXACT), select(rows, quantity=TOKENS)

    def refuse(wrong: "pd.DataFrame", what: str) -> None:
        for model, topics, quantity in wrong[["model", "topics", "quantity"]].head(1).to_numpy():
            raise InputError(f"bounds: {corpus}, {model}, {topics} topics: {quantity} of {what}")

    every = pd.concat([exact, lengths, asked])
    again = every[every.duplicated([*keys, "quantity"])]
    refuse(again, "a document is reported twice; measure one variant and one constant")
    both = asked.merge(exact[[*keys, "value"]], how="left", on=keys, suffixes=("", "_exact"))
    tokens = lengths.drop_duplicates(["seed", "at"])[["seed", "at", "value"]]
    both = both.merge(tokens, how="left", on=["seed", "at"], suffixes=("", "_tokens"))
    lacking = both[both[["value_exact", "value_tokens"]].isna().any(axis=1)]
    refuse(lacking, f"{len(lacking)} documents, which lack their exact marginal or their number of tokens")
    gains = both.assign(gain=(both["value"] - both["value_exact"]) / both["value_tokens"])
    impossible = gains[~(gains["gain"].abs() < math.inf)]
    refuse(impossible, "a document that has probability 0; add a constant to p(w | z)")
    return gains[[*keys, "quantity", "gain"]].sort_values([*keys, "quantity"], ignore_index=True)


def learned_normalisers(inputs: Inputs) -> "pd.DataFrame":
    """Return log Z per document of learned PLSA models, for the first of the study's corpora with measurements.

    Returns:
        The rows of all seeds, sorted by topics, length and seed.

    Raises:
        InputError: if there are none.
    """
    every = select(inputs.measurements, quantity=LOG_NORMALISER, axis="length", model=PLSA)
    for corpus in inputs.settings.corpora:
        rows = select(every, corpus=corpus)
        if len(rows):
            return rows.sort_values(["topics", "at", "seed"], kind="stable")
    raise InputError("normaliser: there is no log Z of a learned model among the measurements; measure the normalisers")


class Course(NamedTuple):
    """A quantity's values at the iterations of one training."""

    iterations: list[int]
    numbers: list[float]


def course(inputs: Inputs, corpus: str, model: str, variant: str, quantity: str, seed: int) -> Course:
    """Return a quantity at every iteration, in order.

    Raises:
        InputError: if it was not measured.
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
        InputError: if either was not measured, or not at the same iterations.
    """
    objective, exact = (course(inputs, corpus, model, POINT, name, seed) for name in (OBJECTIVE, LOG_LIKELIHOOD))
    if objective.iterations != exact.iterations:
        raise InputError(f"measurements: {model} on {corpus}: objective and log-likelihood have other iterations")
    return Course(exact.iterations, [e - o for e, o in zip(exact.numbers, objective.numbers, strict=True)])
