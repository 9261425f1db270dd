"""Hofmann's claims (1999, section 3.6 and Figure 5a), tested with his score and again with other scores.

His score is the perplexity of the document-specific unigram p(w | d) on test tokens of documents that the model was
trained on. Full folding-in lets p(z | d) see the test tokens too. Half folding-in and the truth treat the test tokens
as new documents of unknown weights, though the topics were fitted to other tokens of the same documents, as they could
not be for a truly new one. The posterior predictive integrates out the weights given the training tokens. It and the
truth need a prior, Dirichlet(1) or a symmetric one chosen on the validation tokens; there is a claim for each. All
scores are in nats per test token. If a score is
sampled, a difference counts only above `SEEN` of its standard errors. These do not include the spread over seeds: every
seed is a separate comparison. Under a sparse prior both sampled scores can be too low by more than the standard error.

Heating and annealing are compared on the same schedule, once on the coarse one and once on the fine one (`SCHEDULES`);
the effects also say what heating on the coarse one gives against annealing on the fine one, as the source has it.

"Far below" is the step between the two lowest labels of his figure's axis, a factor of `FAR`. It and `WITHIN` were set
before any score of this experiment was seen; the two claims about a document's own counts were added afterwards. Of a
baseline's variants the best one counts.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from heldout.claims import Claim
from heldout.evaluators import HALF
from heldout.inputs import Inputs
from heldout.papers.hofmann.experiments.tempering import ITERATIONS, TO_BEST
from heldout.papers.hofmann.results import (
    ANNEALED,
    AXIS,
    COARSE_ANNEALED,
    COUNTS,
    EARLY,
    FINE_HEATED,
    FOLDED_IN,
    HEATED,
    PREDICTIVE,
    READINGS,
    SCHEDULES,
    SPECIFIC,
    SPEED_UP,
    TEMPERING,
    TRUTH,
    UNIGRAMS,
    VALIDATED,
    Cell,
    Model,
    cells,
    rank,
)
from heldout.points import Point, select
from heldout.verdicts import ALWAYS, SEEN, WITHIN, Finding, above, counted, median

FAR = AXIS[1] / AXIS[0]


class Curve(NamedTuple):
    """An evaluator's points of one model on one corpus with one seed, by number of dimensions."""

    corpus: str
    seed: int
    points: dict[int, Point]

    def best(self, dimensions: Iterable[int]) -> Point:
        """Return the point with the highest score at the given numbers of dimensions."""
        return max((self.points[k] for k in dimensions), key=lambda point: point.value)


def _curves(inputs: Inputs, corpora: Sequence[str], model: Model, evaluator: str) -> list[Curve]:
    """Return the curves of every measured corpus and seed."""
    curves = []
    for corpus in inputs.settings.experiment(TEMPERING).get("corpora", ()):
        points = cells(inputs, corpus, model, evaluator) if corpus in corpora else {}
        for seed in sorted({seed for _, seed in points}):
            curves.append(Curve(corpus, seed, {k: point for (k, s), point in points.items() if s == seed}))
    return curves


def _whole(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves that reach their corpus's largest number of dimensions; some seeds stop at fewer."""
    ends = {c.corpus: max(max(other.points) for other in curves if other.corpus == c.corpus) for c in curves}
    return [curve for curve in curves if max(curve.points) == ends[curve.corpus]]


def _pairs(
    inputs: Inputs, corpora: Sequence[str], one: tuple[Model, str], other: tuple[Model, str]
) -> Iterator[tuple[Curve, Point, Point]]:
    """Yield (curve, point, other point) of two (model, evaluator), matched by dimensions and seed."""
    others = {(c.corpus, c.seed): c.points for c in _curves(inputs, corpora, *other)}
    for curve in _curves(inputs, corpora, *one):
        points = others.get((curve.corpus, curve.seed), {})
        yield from ((curve, point, points[k]) for k, point in curve.points.items() if k in points)


def _under(model: Model, prior: str) -> Model:
    return model[0], model[1] + prior


def _error(one: Point, other: Point) -> float:
    return math.hypot(one.error, other.error)


def _strongest(inputs: Inputs, corpus: str, models: Iterable[Model]) -> dict[Cell, Point]:
    """Return the highest score of any of the models, by number of dimensions and seed."""
    strongest: dict[Cell, Point] = {}
    for model in models:
        for at, point in cells(inputs, corpus, model).items():
            if at not in strongest or point.value > strongest[at].value:
                strongest[at] = point
    return strongest


def far_below(
    inputs: Inputs,
    corpora: Sequence[str],
    *,
    evaluator: str = SPECIFIC,
    prior: str = "",
    baseline: Sequence[Model] = UNIGRAMS,
    factor: float = FAR,
) -> Finding:
    """Compare the lowest perplexity of tempered EM with the lowest of a baseline, seed by seed."""
    agree, seeds, errors = [], [], []
    by_name: dict[str, list[tuple[float, str]]] = {}
    for curve in _whole(_curves(inputs, corpora, _under(HEATED, prior), evaluator)):
        others = [p for (_, s), p in _strongest(inputs, curve.corpus, baseline).items() if s == curve.seed]
        if others:
            best, other = curve.best(curve.points), max(others, key=lambda point: point.value)
            gain = best.value - other.value
            errors.append(_error(best, other))
            agree.append(above(gain, errors[-1], math.log(factor)))
            ranks = f" (rank {other.topics})" if other.topics else ""
            words = f"{math.exp(-other.value):,.0f}{ranks} over {math.exp(-best.value):,.0f} (K={best.topics})"
            by_name.setdefault(curve.corpus, []).append((gain, words))
            seeds.append(curve.seed)
    least = {name: min(gains) for name, gains in by_name.items()}
    parts = [f"{name} {words} is {math.exp(gain):.2f}" for name, (gain, words) in least.items()]
    effect = f"lowest perplexities, the seed with the least factor: {'; '.join(parts)}"
    return counted(agree, effect, seeds, errors=errors, **ALWAYS)


def below_at_same(inputs: Inputs, corpora: Sequence[str]) -> Finding:
    """Compare tempered EM with the best reading of LSA at every common number of dimensions."""
    higher, gains, seeds, main = set(), [], [], []
    for curve in _curves(inputs, corpora, HEATED, SPECIFIC):
        others, clipped = _strongest(inputs, curve.corpus, READINGS), cells(inputs, curve.corpus, READINGS[0])
        for k, point in curve.points.items():
            if (k, curve.seed) in others:
                gains.append(point.value - others[k, curve.seed].value)
                seeds.append(curve.seed)
                if gains[-1] <= 0.0:
                    higher.add((curve.corpus, k))
            if (k, curve.seed) in clipped:
                main.append(point.value > clipped[k, curve.seed].value)
    effect = f"LSA's perplexity over that of PLSA: median {math.exp(median(gains)):.2f}"
    if higher:
        effect += f"; not below at {', '.join(f'{corpus} K={k}' for corpus, k in sorted(higher))}"
    effect += f"; below the clipped reading in {sum(main)} of {len(main)}"
    return counted((gain > 0.0 for gain in gains), effect, seeds)


def tempered_below_early(
    inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = ""
) -> Finding:
    """Count the models that tempering improves by more than the evaluator's error."""
    models = (_under(model, prior) for model in (HEATED, EARLY))
    pairs = list(_pairs(inputs, corpora, *((model, evaluator) for model in models)))
    errors = [_error(tempered, early) for _, tempered, early in pairs]
    agree = (above(pair[1].value - pair[2].value, error) for pair, error in zip(pairs, errors, strict=True))
    gains = [(tempered.value - early.value, f"{curve.corpus} K={tempered.topics}") for curve, tempered, early in pairs]
    low, high = min(gains, default=(0.0, "")), max(gains, default=(0.0, ""))
    effect = (
        f"TEM less early stopping, nats per token: median {median(gain for gain, _ in gains):+.3f},"
        f" {low[0]:+.3f} ({low[1]}) to {high[0]:+.3f} ({high[1]})"
    )
    return counted(agree, effect, (curve.seed for curve, *_ in pairs), errors=errors)


def _no_loss(parts: Iterable[tuple[Curve, Sequence[int], Sequence[int]]]) -> Finding:
    """Count the later numbers of dimensions of each curve that are no worse than the best of its earlier ones."""
    agree, seeds, errors = [], [], []
    worst: dict[str, tuple[float, int]] = {}
    for curve, earlier, later in parts:
        for k in later:
            best = curve.best(j for j in earlier if j < k)
            loss = best.value - curve.points[k].value
            errors.append(_error(best, curve.points[k]))
            agree.append(above(WITHIN - loss, errors[-1]))
            seeds.append(curve.seed)
            worst[curve.corpus] = max(worst.get(curve.corpus, (-math.inf, 0)), (loss, k))
    words = [f"{name} {math.exp(loss):.3f} (K={k})" for name, (loss, k) in worst.items()]
    effect = f"largest perplexity over the lowest of fewer dimensions: {'; '.join(words)}"
    return counted(agree, effect, seeds, errors=errors)


def no_overfitting(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = "") -> Finding:
    """Count the numbers of dimensions at which tempered EM is no worse than at the best smaller one."""
    curves = _curves(inputs, corpora, _under(HEATED, prior), evaluator)
    return _no_loss((curve, list(curve.points), list(curve.points)[1:]) for curve in curves)


def beyond_rank(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = "") -> Finding:
    """Count the numbers of dimensions beyond the rank that are no worse than the best up to it."""
    parts = []
    for curve in _curves(inputs, corpora, _under(HEATED, prior), evaluator):
        limit = rank(inputs, curve.corpus)
        up_to, beyond = [k for k in curve.points if k <= limit], [k for k in curve.points if k > limit]
        if up_to:
            parts.append((curve, up_to, beyond))
    return _no_loss(parts)


def _losses(inputs: Inputs, corpora: Sequence[str], heated: Model, other: Model) -> dict[tuple[str, int, int], float]:
    """Return by how many nats per token the first model lies below the second, by corpus, K and seed."""
    pairs = _pairs(inputs, corpora, (heated, SPECIFIC), (other, SPECIFIC))
    return {(curve.corpus, one.topics, curve.seed): two.value - one.value for curve, one, two in pairs}


def heated_no_worse(inputs: Inputs, corpora: Sequence[str], *, schedule: str) -> Finding:
    """Compare inverse annealing with annealing on the same schedule, at the same dimensions and seed."""
    losses = _losses(inputs, corpora, *SCHEDULES[schedule])
    unmatched = _losses(inputs, corpora, HEATED, ANNEALED).values()
    slower = _losses(inputs, corpora, FINE_HEATED, HEATED).values()
    none = ("", 0, 0)
    lead, worst = (function(losses, key=losses.__getitem__, default=none) for function in (min, max))
    low, high = (f"{math.exp(losses.get(at, 0.0)):.3f} ({at[0]} K={at[1]})" for at in (lead, worst))
    effect = (
        f"heated over annealed perplexity: median {math.exp(median(losses.values())):.3f}, {low} to {high}; coarsely"
        f" heated over finely annealed: median {math.exp(median(unmatched)):.3f}, no worse in"
        f" {sum(loss <= WITHIN for loss in unmatched)} of {len(unmatched)}; finely over coarsely heated: median"
        f" {math.exp(median(slower)):.3f}"
    )
    return counted((loss <= WITHIN for loss in losses.values()), effect, (seed for *_, seed in losses))


def faster(inputs: Inputs, corpora: Sequence[str], *, schedule: str) -> Finding:
    """Compare the total numbers of EM iterations of annealing and inverse annealing on the same schedule."""
    table = select(inputs.measurements, axis="topics")
    table = table[table["corpus"].isin(list(corpora))]

    def ratios(slow: Model, fast: Model, quantity: str = ITERATIONS) -> dict[tuple[str, int, int], float]:
        over, under = (
            {
                (str(row["corpus"]), int(row["topics"]), int(row["seed"])): float(row["value"])
                for row in select(table, quantity=quantity, model=model, variant=variant).to_dict("records")
            }
            for model, variant in (slow, fast)
        )
        return {at: over[at] / under[at] for at in sorted(over.keys() & under.keys())}

    heated, annealed = SCHEDULES[schedule]
    in_all = ratios(annealed, heated)
    low, high = min(in_all.values(), default=0.0), max(in_all.values(), default=0.0)
    to_best, unmatched, slower, annealing_slower = (
        median(ratios(*models).values())
        for models in (
            (annealed, heated, TO_BEST),
            (ANNEALED, HEATED),
            (FINE_HEATED, HEATED),
            (ANNEALED, COARSE_ANNEALED),
        )
    )
    effect = (
        f"iterations, annealed over inversely annealed: median {median(in_all.values()):.1f}, {low:.1f} to {high:.1f};"
        f" to each one's best: median {to_best:.1f}; finely annealed over coarsely heated: median {unmatched:.1f}; fine"
        f" over coarse: median {slower:.1f} heated, {annealing_slower:.1f} annealed"
    )
    return counted((ratio >= SPEED_UP[0] for ratio in in_all.values()), effect, (seed for *_, seed in in_all))


def predictive_better(inputs: Inputs, corpora: Sequence[str], *, prior: str = "") -> Finding:
    """Compare the posterior predictive with the document-specific unigram of the same model."""
    agree, seeds, errors = [], [], []
    by_name: dict[str, list[tuple[float, int]]] = {}
    for curve, predictive, plugged in _pairs(inputs, corpora, (_under(HEATED, prior), PREDICTIVE), (HEATED, SPECIFIC)):
        gain = predictive.value - plugged.value
        errors.append(_error(predictive, plugged))
        agree.append(above(gain, errors[-1]))
        by_name.setdefault(curve.corpus, []).append((gain, predictive.topics))
        seeds.append(curve.seed)
    parts = [
        f"{name} {' to '.join(f'{gain:+.3f} (K={k})' for gain, k in (min(gains), max(gains)))}"
        for name, gains in by_name.items()
    ]
    effect = f"predictive less document-specific, nats per token: {'; '.join(parts)}"
    return counted(agree, effect, seeds, errors=errors)


def prefers_more(inputs: Inputs, corpora: Sequence[str], *, prior: str = "") -> Finding:
    """Compare the numbers of dimensions with the highest document-specific score and with the highest truth."""
    agree, parts, seeds = [], [], []
    own = {(c.corpus, c.seed): c for c in _whole(_curves(inputs, corpora, HEATED, SPECIFIC))}
    for curve in _whole(_curves(inputs, corpora, _under(HEATED, prior), TRUTH)):
        other = own.get((curve.corpus, curve.seed))
        shared = sorted(curve.points.keys() & other.points.keys()) if other else []
        if other and shared:
            preferred, best = other.best(shared).topics, curve.best(shared)
            true, there = best.topics, curve.points[preferred]
            known = preferred == true or above(best.value - there.value, _error(best, there))
            agree.append(preferred > true if known else None)
            parts.append(f"{curve.corpus} {preferred} against {true}")
            seeds.append(curve.seed)
    return counted(agree, "; ".join(dict.fromkeys(parts)), seeds)


_FIGURE, _SECTION, _BEYOND = "Hofmann, Figure 5a", "Hofmann, section 3.6", "beyond the original"
_ABSTRACT, _OTHERWISE = f"{_FIGURE}, and the abstract", f"{_FIGURE}, evaluated otherwise"
_MODEL = "every corpus, number of dimensions and seed"
# (end of a claim's name, of a variant, how a statement and how a test says it)
_PRIORS = (
    ("flat", "", "under the flat prior", "under Dirichlet(1)"),
    ("chosen", VALIDATED, "under the chosen prior", "under the prior that validation tokens choose"),
)
_BY_MORE = f"by more than {SEEN:g} standard errors"
_LARGEST = "every corpus and seed with the whole grid"
_ONE_PERCENT = (
    f"the log-likelihood is at most {WITHIN:g} nats per token below, undecided within {SEEN:g} standard errors of that,"
    " the highest of"
)


def _otherwise(name: str, statement: str, what: str, test: str, check: Callable[..., Finding]) -> list[Claim]:
    """Return one claim for each of the other scores and, where one needs a prior, for each prior.

    Args:
        name: the beginning of the claims' names.
        statement: the beginning of their statements.
        what: which models the test compares, to which the prior is added.
        test: what it asks of them; {by_more} stands for the error by which they must differ, if the score has one.
        check: takes `evaluator` and `prior`.
    """
    half = Claim(
        f"hofmann-{name}-half",
        _OTHERWISE,
        f"{statement}, by half folding-in.",
        f"{what}: {test.format(by_more='')}",
        partial(check, evaluator=HALF),
    )
    sampled = (("predictive", PREDICTIVE, "posterior predictive"), ("truth", TRUTH, "marginal likelihood"))
    return [half] + [
        Claim(
            f"hofmann-{name}-{score}-{end}",
            _OTHERWISE,
            f"{statement}, by the {called} {under}.",
            f"{what}, {where}: {test.format(by_more=f', {_BY_MORE}')}",
            partial(check, evaluator=evaluator, prior=prior),
        )
        for score, evaluator, called in sampled
        for end, prior, under, where in _PRIORS
    ]


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
        _ABSTRACT,
        "PLSA lies far below LSA.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is at most 1/{FAR:g} of the lowest of LSA, of all its"
        " readings and ranks; all must",
        partial(far_below, baseline=READINGS),
    ),
    Claim(
        "hofmann-below-lsa",
        _ABSTRACT,
        "With as many dimensions PLSA lies below LSA.",
        f"{_MODEL} that both have: tempered EM is below the lowest of LSA's readings",
        below_at_same,
    ),
    *_otherwise(
        "far-below-unigram",
        "PLSA lies far below the unigram",
        _LARGEST,
        f"its lowest perplexity is at most 1/{FAR:g} of the lower unigram's{{by_more}}; all must",
        far_below,
    ),
    Claim(
        "hofmann-tem-below-early",
        _FIGURE,
        "Tempered EM lies below EM with early stopping.",
        f"{_MODEL}: lower perplexity",
        tempered_below_early,
    ),
    Claim(
        "hofmann-tem-below-early-folded-in",
        _OTHERWISE,
        "Tempered EM lies below EM with early stopping, by full folding-in.",
        f"{_MODEL} that was folded in on all tokens: lower",
        partial(tempered_below_early, evaluator=FOLDED_IN),
    ),
    *_otherwise(
        "tem-below-early",
        "Tempered EM lies below EM with early stopping",
        _MODEL,
        "lower{by_more}",
        tempered_below_early,
    ),
    Claim(
        "hofmann-no-overfitting",
        _FIGURE,
        "Under tempered EM more dimensions never hurt.",
        f"{_MODEL} but the smallest: {_ONE_PERCENT} all smaller numbers",
        no_overfitting,
    ),
    *_otherwise(
        "no-overfitting",
        "Under tempered EM more dimensions never hurt",
        f"{_MODEL} but the smallest number",
        f"{_ONE_PERCENT} all smaller numbers",
        no_overfitting,
    ),
    Claim(
        "hofmann-beyond-rank",
        _FIGURE,
        "More dimensions than the rank of the counts do not hurt tempered EM.",
        f"{_MODEL} beyond the rank: {_ONE_PERCENT} those up to the rank",
        beyond_rank,
    ),
    *_otherwise(
        "beyond-rank",
        "More dimensions than the rank of the counts do not hurt tempered EM",
        f"{_MODEL} beyond the rank",
        f"{_ONE_PERCENT} those up to the rank",
        beyond_rank,
    ),
    *(
        Claim(
            f"hofmann-heated-no-worse-{schedule}",
            _SECTION,
            f"Heated models are no worse than annealed ones, both on the {schedule} schedule.",
            f"{_MODEL} that was annealed too: at most {WITHIN:g} nats per token below the annealed model",
            partial(heated_no_worse, schedule=schedule),
        )
        for schedule in SCHEDULES
    ),
    *(
        Claim(
            f"hofmann-faster-{schedule}",
            _SECTION,
            f"Inverse annealing is faster than annealing by a factor of {SPEED_UP[0]:g} to {SPEED_UP[1]:g}, both on the"
            f" {schedule} schedule.",
            f"{_MODEL} that was annealed too: annealing takes at least {SPEED_UP[0]:g} times the iterations, all"
            " counted",
            partial(faster, schedule=schedule),
        )
        for schedule in SCHEDULES
    ),
    Claim(
        "hofmann-below-counts",
        _BEYOND,
        "PLSA lies below a document's own counts mixed with the unigram, which have no latent dimension.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is lower; all must",
        partial(far_below, baseline=(COUNTS,), factor=1.0),
    ),
    Claim(
        "hofmann-far-below-counts",
        _BEYOND,
        "PLSA lies far below a document's own counts mixed with the unigram.",
        f"{_LARGEST}: the lowest perplexity of tempered EM is at most 1/{FAR:g} of theirs; all must",
        partial(far_below, baseline=(COUNTS,)),
    ),
    *(
        Claim(
            f"hofmann-predictive-better-{end}",
            _BEYOND,
            "To integrate over a document's weights predicts its other words better than the fitted point does,"
            f" {under}.",
            f"{_MODEL}, {where}: the posterior predictive is above the document-specific unigram, {_BY_MORE}",
            partial(predictive_better, prior=prior),
        )
        for end, prior, under, where in _PRIORS
    ),
    *(
        Claim(
            f"hofmann-prefers-more-dimensions-{end}",
            _BEYOND,
            f"The document-specific unigram prefers more dimensions than the marginal likelihood does, {under}.",
            f"{_LARGEST}, {where}: the number of dimensions that it scores highest is larger",
            partial(prefers_more, prior=prior),
        )
        for end, prior, under, where in _PRIORS
    ),
)
