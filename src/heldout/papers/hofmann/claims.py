"""Hofmann's claims (1999, section 3.6 and Figure 5a), as he scored them and once more under other evaluations.

His score is the perplexity of the document-specific unigram p(w | d) on tokens of documents that the model was trained
on. Half folding-in and the truth take the same test tokens for documents of their own, whose weights are not known; the
topics have been fitted to other tokens of the same documents, which no new document has to offer. The posterior
predictive integrates over the weights given the training tokens. It and the truth have a prior, Dirichlet(1) or a
symmetric one that the validation tokens choose, which are comparisons of their own. All scores are in nats per test
token; where one is sampled a difference counts that exceeds `SEEN` of its standard errors. The seeds' own spread is not
among these errors: every seed is a comparison. Under a sparse prior both sampled scores can lie below what they
estimate by more than that error, so that the effects tell the two priors apart.

"Far below" is a step between the two lowest labels of his figure's axis, a factor of `FAR`. That and `WITHIN` were set
before any score of this experiment was seen; the two claims about a document's own counts were added after. A baseline
enters with the best of its variants.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from heldout.evaluators import HALF
from heldout.inputs import Inputs
from heldout.papers.hofmann.exhibits.hofmann import (
    ANNEALED,
    AXIS,
    COUNTS,
    EARLY,
    HEATED,
    KIND,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    SPEED_UP,
    TRUTH,
    UNIGRAMS,
    VALIDATED,
    Cell,
    Model,
    cells,
    rank,
)
from heldout.papers.likelihood.claims import SEEN, WITHIN
from heldout.points import Point
from heldout.verdicts import ALWAYS, Claim, Finding, counted, median

FAR = AXIS[1] / AXIS[0]
ITERATIONS, TO_BEST = "iterations", "iterations-to-best"


class Curve(NamedTuple):
    """An evaluator's points of one model on one corpus with one seed, by number of dimensions."""

    corpus: str
    seed: int
    prior: str
    points: dict[int, Point]

    def best(self, dimensions: Iterable[int]) -> Point:
        """Return the highest of some points."""
        return max((self.points[k] for k in dimensions), key=lambda point: point.value)


def _priors(evaluator: str) -> tuple[str, ...]:
    return ("", VALIDATED) if evaluator in (TRUTH, PREDICTIVE) else ("",)


def _curves(inputs: Inputs, corpora: Sequence[str], model: Model, evaluator: str) -> Iterator[Curve]:
    """Yield the curves of every measured corpus, prior and seed."""
    for corpus in inputs.study.get("measures", {}).get(KIND, {}).get("corpora", ()):
        for prior in _priors(evaluator) if corpus in corpora else ():
            found = cells(inputs, corpus, (model[0], model[1] + prior), evaluator)
            for seed in sorted({seed for _, seed in found}):
                yield Curve(corpus, seed, prior, {k: point for (k, s), point in found.items() if s == seed})


def _whole(curves: Iterable[Curve]) -> list[Curve]:
    """Return the curves that go as far as any of their corpus: some seeds have the fewer dimensions only."""
    found = list(curves)
    return [
        curve for curve in found if max(curve.points) == max(max(c.points) for c in found if c.corpus == curve.corpus)
    ]


def _error(one: Point, other: Point) -> float:
    return math.hypot(one.error, other.error)


def _strongest(inputs: Inputs, corpus: str, models: Iterable[Model]) -> dict[Cell, Point]:
    """Return, at each number of dimensions and seed, the highest score of any of these models."""
    found: dict[Cell, Point] = {}
    for model in models:
        for at, point in cells(inputs, corpus, model).items():
            if at not in found or point.value > found[at].value:
                found[at] = point
    return found


def _named(corpus: str, prior: str) -> str:
    return f"{corpus}, chosen prior" if prior else corpus


def far_below(
    inputs: Inputs,
    corpora: Sequence[str],
    *,
    evaluator: str = SPECIFIC,
    baseline: Sequence[Model] = UNIGRAMS,
    factor: float = FAR,
) -> Finding:
    """Compare the lowest perplexity of tempered EM with the lowest of a baseline, seed by seed."""
    agree, seeds = [], []
    parts: dict[str, list[tuple[float, str]]] = {}
    for curve in _whole(_curves(inputs, corpora, HEATED, evaluator)):
        others = [p for (_, s), p in _strongest(inputs, curve.corpus, baseline).items() if s == curve.seed]
        if others:
            best, other = curve.best(curve.points), max(others, key=lambda point: point.value)
            gain = best.value - other.value
            agree.append(gain - SEEN * _error(best, other) >= math.log(factor))
            ranks = f" (rank {other.topics})" if other.topics else ""
            words = f"{math.exp(-other.value):,.0f}{ranks} over {math.exp(-best.value):,.0f} (K={best.topics})"
            parts.setdefault(_named(curve.corpus, curve.prior), []).append((gain, words))
            seeds.append(curve.seed)
    least = [f"{name} {min(found)[1]} is {math.exp(min(found)[0]):.2f}" for name, found in parts.items()]
    return counted(agree, f"lowest perplexities, the seed with the least factor: {'; '.join(least)}", seeds, **ALWAYS)


def below_at_same(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare tempered EM with the best reading of LSA at every number of dimensions that both have."""
    agree, seeds, above, gains, main = [], [], [], [], []
    for curve in _curves(inputs, corpora, HEATED, SPECIFIC):
        others, clipped = _strongest(inputs, curve.corpus, READINGS), cells(inputs, curve.corpus, READINGS[0])
        for k, point in curve.points.items():
            if (k, curve.seed) in others:
                gains.append(point.value - others[k, curve.seed].value)
                agree.append(gains[-1] > 0.0)
                seeds.append(curve.seed)
                if gains[-1] <= 0.0:
                    above.append((curve.corpus, k))
            if (k, curve.seed) in clipped:
                main.append(point.value > clipped[k, curve.seed].value)
    effect = f"LSA's perplexity over that of PLSA: median {math.exp(median(gains)):.2f}"
    if above:
        effect += f"; not below at {', '.join(f'{corpus} K={k}' for corpus, k in sorted(set(above)))}"
    return counted(agree, f"{effect}; below the clipped reading in {sum(main)} of {len(main)}", seeds)


def tempered_below_early(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC) -> Finding:
    """Count the models that tempering improves, by more than the evaluator's error."""
    agree, seeds, gains = [], [], []
    early = {(c.corpus, c.seed, c.prior): c.points for c in _curves(inputs, corpora, EARLY, evaluator)}
    for curve in _curves(inputs, corpora, HEATED, evaluator):
        before = early.get((curve.corpus, curve.seed, curve.prior), {})
        for k in sorted(curve.points.keys() & before.keys()):
            gain, error = curve.points[k].value - before[k].value, _error(curve.points[k], before[k])
            agree.append(gain > SEEN * error)
            gains.append((gain, f"{_named(curve.corpus, curve.prior)} K={k}"))
            seeds.append(curve.seed)
    low, high = min(gains, default=(0.0, "")), max(gains, default=(0.0, ""))
    effect = (
        f"TEM less early stopping, nats per token: median {median(gain for gain, _ in gains):+.3f},"
        f" {low[0]:+.3f} ({low[1]}) to {high[0]:+.3f} ({high[1]})"
    )
    return counted(agree, effect, seeds)


def _losses(
    curves: Iterable[Curve], before: Iterable[Iterable[int]], after: Iterable[Iterable[int]]
) -> Iterator[tuple[Curve, Point, float, bool]]:
    """Yield (curve, point, nats per token lost, seen) of the points of `after` against the best of those before."""
    for curve, earlier, later in zip(curves, before, after, strict=True):
        for k in later:
            best = curve.best(j for j in earlier if j < k)
            loss = best.value - curve.points[k].value
            yield curve, curve.points[k], loss, loss > max(WITHIN, SEEN * _error(best, curve.points[k]))


def _no_loss(found: Iterable[tuple[Curve, Point, float, bool]]) -> Finding:
    rows = list(found)
    worst: dict[str, tuple[float, int]] = {}
    for curve, point, loss, _ in rows:
        name = _named(curve.corpus, curve.prior)
        worst[name] = max(worst.get(name, (-math.inf, 0)), (loss, point.topics))
    parts = [f"{name} {math.exp(loss):.3f} (K={k})" for name, (loss, k) in worst.items()]
    effect = f"largest perplexity over the lowest of fewer dimensions: {'; '.join(parts)}"
    return counted((not seen for *_, seen in rows), effect, (curve.seed for curve, *_ in rows))


def no_overfitting(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC) -> Finding:
    """Count the numbers of dimensions at which tempered EM is no worse than at the best of all smaller ones."""
    curves = list(_curves(inputs, corpora, HEATED, evaluator))
    dimensions = [sorted(curve.points) for curve in curves]
    return _no_loss(_losses(curves, dimensions, [found[1:] for found in dimensions]))


def beyond_rank(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC) -> Finding:
    """Count the numbers of dimensions beyond the rank that are no worse than the best up to it."""
    curves, up_to, beyond = [], [], []
    for curve in _curves(inputs, corpora, HEATED, evaluator):
        limit = rank(inputs, curve.corpus)
        within, more = [k for k in curve.points if k <= limit], [k for k in curve.points if k > limit]
        if within and more:
            curves.append(curve)
            up_to.append(within)
            beyond.append(more)
    return _no_loss(_losses(curves, up_to, beyond))


def heated_no_worse(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare the models of inverse annealing with annealed ones, one by one."""
    annealed = {(c.corpus, c.seed): c.points for c in _curves(inputs, corpora, ANNEALED, SPECIFIC)}
    losses, seeds = [], []
    for curve in _curves(inputs, corpora, HEATED, SPECIFIC):
        others = annealed.get((curve.corpus, curve.seed), {})
        for k in sorted(curve.points.keys() & others.keys()):
            losses.append((others[k].value - curve.points[k].value, f"{curve.corpus} K={k}"))
            seeds.append(curve.seed)
    worst, lead = max(losses, default=(0.0, "")), min(losses, default=(0.0, ""))
    effect = (
        f"heated over annealed perplexity: median {math.exp(median(loss for loss, _ in losses)):.3f},"
        f" {math.exp(lead[0]):.3f} ({lead[1]}) to {math.exp(worst[0]):.3f} ({worst[1]})"
    )
    return counted((loss <= WITHIN for loss, _ in losses), effect, seeds)


def faster(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare the iterations of EM that annealing and inverse annealing take in all."""
    if inputs.measurements is None:
        return counted([], "", [])
    table = inputs.measurements
    table = table[table["corpus"].isin(list(corpora)) & (table["axis"] == "topics")]

    def ratios(quantity: str) -> dict[tuple[str, int, int], float]:
        rows = table[table["quantity"] == quantity]
        slow, fast = (
            {
                (str(row["corpus"]), int(row["topics"]), int(row["seed"])): float(row["value"])
                for row in rows[(rows["model"] == model) & (rows["variant"] == variant)].to_dict("records")
            }
            for model, variant in (ANNEALED, HEATED)
        )
        return {at: slow[at] / fast[at] for at in sorted(slow.keys() & fast.keys())}

    found, best = ratios(ITERATIONS), ratios(TO_BEST)
    values = list(found.values())
    effect = (
        f"iterations, annealed over inversely annealed: median {median(values):.1f},"
        f" {min(values, default=0.0):.1f} to {max(values, default=0.0):.1f}; to each one's best:"
        f" median {median(best.values()):.1f}"
    )
    return counted((value >= SPEED_UP[0] for value in values), effect, (seed for *_, seed in found))


def predictive_better(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare the posterior predictive with the document-specific unigram of the same model, prior by prior."""
    agree, seeds = [], []
    gains: dict[str, list[tuple[float, int]]] = {}
    points = {(c.corpus, c.seed): c.points for c in _curves(inputs, corpora, HEATED, SPECIFIC)}
    for curve in _curves(inputs, corpora, HEATED, PREDICTIVE):
        plugged = points.get((curve.corpus, curve.seed), {})
        for k in sorted(curve.points.keys() & plugged.keys()):
            gain = curve.points[k].value - plugged[k].value
            agree.append(gain > SEEN * curve.points[k].error)
            gains.setdefault(_named(curve.corpus, curve.prior), []).append((gain, k))
            seeds.append(curve.seed)
    parts = [
        f"{name} {min(found)[0]:+.3f} (K={min(found)[1]}) to {max(found)[0]:+.3f} (K={max(found)[1]})"
        for name, found in gains.items()
    ]
    return counted(agree, f"predictive less document-specific, nats per token: {'; '.join(parts)}", seeds)


def prefers_more(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare the number of dimensions that the document-specific unigram prefers with the truth's."""
    agree, parts, seeds = [], [], []
    own = {(c.corpus, c.seed): c for c in _whole(_curves(inputs, corpora, HEATED, SPECIFIC))}
    for curve in _whole(_curves(inputs, corpora, HEATED, TRUTH)):
        other = own.get((curve.corpus, curve.seed))
        shared = sorted(curve.points.keys() & other.points.keys()) if other else []
        if other and shared:
            preferred, true = other.best(shared).topics, curve.best(shared).topics
            agree.append(preferred > true)
            parts.append(f"{_named(curve.corpus, curve.prior)} {preferred} against {true}")
            seeds.append(curve.seed)
    return counted(agree, "; ".join(dict.fromkeys(parts)), seeds)


_FIGURE, _SECTION = "Hofmann, Figure 5a", "Hofmann, section 3.6"
_MODEL = "every corpus, number of dimensions and seed"
_EACH_PRIOR = f"{_MODEL}, under Dirichlet(1) and under the prior that validation tokens choose"
_BY_MORE = f"by more than {SEEN:g} standard errors"
_LARGEST = "every corpus and seed with the whole grid"
_ONE_PERCENT = (
    f"the log-likelihood is at most {WITHIN:g} nats per token, or {SEEN:g} standard errors where that is more, below"
    " the highest of"
)

# (name's end, evaluator, what it is called after a statement)
_OTHERWISE = (
    ("half", HALF, "under half folding-in"),
    ("predictive", PREDICTIVE, "by the posterior predictive"),
    ("truth", TRUTH, "under the marginal likelihood"),
)


def _each(evaluator: str) -> str:
    return _EACH_PRIOR if len(_priors(evaluator)) > 1 else _MODEL


CLAIMS = (
    Claim(
        "hofmann-far-below-unigram",
        _FIGURE,
        "PLSA lies far below the unigram.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is at most 1/{FAR:g} of the lower unigram's; all must",
        far_below,
    ),
    Claim(
        "hofmann-far-below-lsa",
        f"{_FIGURE}, and the abstract",
        "PLSA lies far below LSA.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is at most 1/{FAR:g} of the lowest of LSA, of all its"
        " readings and ranks; all must",
        partial(far_below, baseline=READINGS),
    ),
    Claim(
        "hofmann-below-lsa",
        f"{_FIGURE}, and the abstract",
        "With as many dimensions PLSA lies below LSA.",
        f"{_MODEL} that both have: tempered EM is below the lowest of LSA's readings",
        below_at_same,
    ),
    *(
        Claim(
            f"hofmann-far-below-unigram-{end}",
            f"{_FIGURE}, evaluated otherwise",
            f"PLSA lies far below the unigram {otherwise}.",
            f"{_LARGEST}{', each prior' if len(_priors(evaluator)) > 1 else ''}: its lowest perplexity is at most"
            f" 1/{FAR:g} of the lower unigram's, {_BY_MORE}; all must",
            partial(far_below, evaluator=evaluator),
        )
        for end, evaluator, otherwise in _OTHERWISE
    ),
    Claim(
        "hofmann-tem-below-early",
        _FIGURE,
        "Tempered EM lies below EM with early stopping.",
        f"{_MODEL}: lower perplexity",
        tempered_below_early,
    ),
    *(
        Claim(
            f"hofmann-tem-below-early-{end}",
            f"{_FIGURE}, evaluated otherwise",
            f"Tempered EM lies below EM with early stopping {otherwise}.",
            f"{_each(evaluator)}: lower{f', {_BY_MORE}' if evaluator != HALF else ''}",
            partial(tempered_below_early, evaluator=evaluator),
        )
        for end, evaluator, otherwise in _OTHERWISE
    ),
    Claim(
        "hofmann-no-overfitting",
        _FIGURE,
        "Under tempered EM more dimensions never hurt.",
        f"{_MODEL} but the smallest: {_ONE_PERCENT} all smaller numbers",
        no_overfitting,
    ),
    *(
        Claim(
            f"hofmann-no-overfitting-{end}",
            f"{_FIGURE}, evaluated otherwise",
            f"Under tempered EM more dimensions never hurt {otherwise}.",
            f"{_each(evaluator)} but the smallest number: {_ONE_PERCENT} all smaller numbers",
            partial(no_overfitting, evaluator=evaluator),
        )
        for end, evaluator, otherwise in _OTHERWISE
    ),
    Claim(
        "hofmann-beyond-rank",
        _FIGURE,
        "More dimensions than the rank of the counts do not hurt tempered EM.",
        f"{_MODEL} beyond the rank: {_ONE_PERCENT} those up to the rank",
        beyond_rank,
    ),
    *(
        Claim(
            f"hofmann-beyond-rank-{end}",
            f"{_FIGURE}, evaluated otherwise",
            f"More dimensions than the rank of the counts do not hurt tempered EM {otherwise}.",
            f"{_each(evaluator)}, beyond the rank: {_ONE_PERCENT} those up to the rank",
            partial(beyond_rank, evaluator=evaluator),
        )
        for end, evaluator, otherwise in _OTHERWISE
    ),
    Claim(
        "hofmann-heated-no-worse",
        _SECTION,
        "Heated models are no worse than annealed ones.",
        f"{_MODEL} that was annealed too: at most {WITHIN:g} nats per token below the annealed model",
        heated_no_worse,
    ),
    Claim(
        "hofmann-faster",
        _SECTION,
        f"Inverse annealing is faster than annealing by a factor of {SPEED_UP[0]:g} to {SPEED_UP[1]:g}.",
        f"{_MODEL} that was annealed too: annealing takes at least {SPEED_UP[0]:g} times the iterations, all counted",
        faster,
    ),
    Claim(
        "hofmann-below-counts",
        "beyond the original",
        "PLSA lies below a document's own counts mixed with the unigram, which have no latent dimension.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is lower; all must",
        partial(far_below, baseline=(COUNTS,), factor=1.0),
    ),
    Claim(
        "hofmann-far-below-counts",
        "beyond the original",
        "PLSA lies far below a document's own counts mixed with the unigram.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is at most 1/{FAR:g} of theirs; all must",
        partial(far_below, baseline=(COUNTS,)),
    ),
    Claim(
        "hofmann-predictive-better",
        "beyond the original",
        "To integrate over a document's weights predicts its other words better than the fitted point does.",
        f"{_EACH_PRIOR}: the posterior predictive is above the document-specific unigram, {_BY_MORE}",
        predictive_better,
    ),
    Claim(
        "hofmann-prefers-more-dimensions",
        "beyond the original",
        "The document-specific unigram prefers more dimensions than the marginal likelihood does.",
        f"{_LARGEST}, each prior: the number of dimensions that it scores highest is larger",
        prefers_more,
    ),
)
