"""Hofmann's claims (1999, section 3.6 and Figure 5a), judged by his score and again by other scores.

His score is the perplexity of the document-specific unigram p(w | d) on test tokens of documents that the model was
trained on. Full folding-in lets p(z | d) see the test tokens too. Half folding-in and the truth treat the test tokens
as new documents of unknown weights, though the topics were fitted to other tokens of the same documents, as they could
not be for a truly new one. The posterior predictive integrates out the weights given the training tokens. It and the
truth need a prior, Dirichlet(1) or a symmetric one chosen on the validation tokens; there is a claim for each. All
scores are in nats per test token. Under a sparse prior, as the chosen one is with many dimensions, the sampled
posterior predictive is too low by a few of its standard errors. No run has measured that bias, so no interval holds it;
it is against models with many dimensions, and the tests that rest on it say so.

The source compares inverse annealing, a coarse schedule, with careful annealing, a fine one: that is the first part of
the claims about it. The others have both on the same schedule (`SCHEDULES`).

Seeds redraw the tokens that are held out, and all documents take part in each. Of a baseline's variants the best one
counts.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.experiments.tempering import ITERATIONS
from artifact.papers.hofmann.results import (
    COOLED,
    COUNTS,
    EARLY,
    FOLDED_IN,
    HEATED,
    PREDICTIVE,
    READINGS,
    SCHEDULES,
    SPECIFIC,
    SPEED_UP,
    TEMPERING,
    UNIGRAMS,
    VALIDATED,
    Model,
    highest,
    points,
    rank,
    scores,
    selector,
)
from artifact.results.reading import TRUTH, select
from artifact.verdicts.claims import Claim, Measure
from artifact.verdicts.effects import ON, effects, less, paired, values_of
from artifact.verdicts.verdicts import ANY, MODELS, Effect
from heldout.evaluators import HALF

if TYPE_CHECKING:
    import pandas as pd

NO_WORSE: dict[str, Any] = {"margin": ANY, "threshold": -MODELS.value}
# heated and annealed model by part: coarse heating and careful annealing, as the source has them; then like with like
AS_THE_SOURCE = {"": (HEATED, COOLED)}
ON_EQUAL_SCHEDULES = {f"both {name}": models for name, models in SCHEDULES.items()}
Compared = Mapping[str, tuple[Model, Model]]


def _effects(inputs: Inputs, pairs: "pd.DataFrame", **how: Any) -> list[Effect]:
    """Return effects over seeds, which hold out the same share of all tokens."""
    shares = inputs.settings.experiment(TEMPERING).get("settings", {}).get("shares", (0.0,))
    return effects(pairs, held_out=float(shares[-1]), **{"unit": MODELS.unit, **how})


def _under(model: Model, prior: str) -> Model:
    return model[0], model[1] + prior


def _pairs(inputs: Inputs, corpora: Sequence[str], one: tuple[Model, str], other: tuple[Model, str]) -> "pd.DataFrame":
    """Return the gains of one (model, evaluator) over another at the same dimensions and seed."""
    at = {"corpus": tuple(corpora)}
    pairs = paired(scores(inputs), at | selector(*one), at | selector(*other))
    return pairs[np.isfinite(pairs["gain"].astype(float))]  # a folded-in point may give a word nothing


def below(
    inputs: Inputs,
    corpora: Sequence[str],
    *,
    evaluator: str = SPECIFIC,
    prior: str = "",
    baseline: Sequence[Model] = UNIGRAMS,
) -> list[Effect]:
    """Measure by how much tempered EM's highest score lies above a baseline's, on seeds with the whole grid."""
    own = highest(points(inputs, corpora, [_under(HEATED, prior)], evaluator, whole=True))
    return _effects(inputs, less(own, highest(points(inputs, corpora, baseline)), ["corpus", "seed"]), margin=MODELS)


def below_at_same(inputs: Inputs, corpora: Sequence[str]) -> list[Effect]:
    """Measure by how much tempered EM lies above LSA with as many dimensions: its best and its main reading."""
    own = points(inputs, corpora, [HEATED])
    found = []
    for part, readings in (("best of four readings", READINGS), ("main reading", READINGS[:1])):
        gains = less(own, highest(points(inputs, corpora, readings), ON))
        found += _effects(inputs, gains, margin=MODELS, part=part)
    return found


def tempered_below_early(
    inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = ""
) -> list[Effect]:
    """Measure by how much tempering improves on early stopping at the same number of dimensions."""
    pairs = _pairs(inputs, corpora, *((_under(model, prior), evaluator) for model in (HEATED, EARLY)))
    return _effects(inputs, pairs, margin=MODELS)


def _leads(table: "pd.DataFrame", limit: Callable[[str], float] | None = None) -> "pd.DataFrame":
    """Return the score at every number of dimensions less the highest at fewer, by corpus and seed.

    With a limit by corpus the highest is taken of so many dimensions at most, and those beyond alone are compared.
    """
    import pandas as pd

    rows, names = [], values_of(table)
    for (corpus, seed), own in table.groupby(["corpus", "seed"]):
        most = limit(str(corpus)) if limit else math.inf
        values, errors = own[names].to_numpy(float), own["error"].to_numpy(float)
        topics = own["topics"].to_numpy(int)
        for at, k in enumerate(topics):
            before = np.flatnonzero((topics < k) & (topics <= most))
            if len(before) and (limit is None or k > most):
                error = math.hypot(errors[at], errors[before[np.argmax(values[before, 0])]])
                rows.append((corpus, k, seed, error, *(values[at] - values[before].max(axis=0))))
    return pd.DataFrame(rows, columns=["corpus", "topics", "seed", "error", "gain", *names[1:]])


def no_overfitting(
    inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = ""
) -> list[Effect]:
    """Measure the worst number of dimensions of tempered EM against the best of fewer."""
    leads = _leads(points(inputs, corpora, [_under(HEATED, prior)], evaluator))
    return _effects(inputs, leads, summary="least", **NO_WORSE)


def beyond_rank(inputs: Inputs, corpora: Sequence[str], *, evaluator: str = SPECIFIC, prior: str = "") -> list[Effect]:
    """Measure the worst number of dimensions beyond the rank against the best up to it."""
    table = points(inputs, corpora, [_under(HEATED, prior)], evaluator)
    return _effects(inputs, _leads(table, lambda corpus: rank(inputs, corpus)), summary="least", **NO_WORSE)


def heated_no_worse(inputs: Inputs, corpora: Sequence[str], *, compared: Compared) -> list[Effect]:
    """Measure by how much inverse annealing lies above annealing at the same dimensions and seed."""
    return [
        effect
        for part, (heated, annealed) in compared.items()
        for effect in _effects(
            inputs, _pairs(inputs, corpora, (heated, SPECIFIC), (annealed, SPECIFIC)), part=part, **NO_WORSE
        )
    ]


def faster(inputs: Inputs, corpora: Sequence[str], *, compared: Compared) -> list[Effect]:
    """Measure how many times as many EM iterations annealing takes as inverse annealing, in the median over K."""
    table = select(inputs.measurements, axis="topics", quantity=ITERATIONS)
    table = table[table["corpus"].isin(list(corpora))]
    found = []
    for part, models in compared.items():
        heated, annealed = (select(table, model=model, variant=variant) for model, variant in models)
        both = annealed.merge(heated, on=list(ON), suffixes=("", "_heated"))
        ratios = both[list(ON)].assign(gain=(both["value"] / both["value_heated"]).map(math.log), error=0.0)
        how: dict[str, Any] = {"threshold": math.log(SPEED_UP[0]), "summary": "median", "unit": "times the iterations"}
        found += effects(ratios, margin=ANY, part=part, factor=True, **how)
    return found


_SECTION, _FIGURE, _BEYOND = "section 3.6", "section 3.6; Figure 5a", "beyond the original"
_ABSTRACT, _OTHERWISE = f"{_FIGURE}, and the abstract", f"{_FIGURE}, evaluated otherwise"
_BEST = "lowest perplexity of either over all dimensions, seeds with the whole grid: log ratio"
_SAME = "the same dimensions, mean over them: log ratio of perplexities"
_LEAST = f"least gain over the best of fewer dimensions is above -{MODELS.value:g} nats per token"
_TOO_LOW = (
    "; the sampled estimate is too low by a few of its standard errors under a sparse prior, which the interval does"
    " not hold: a bias against many dimensions"
)
# (end of a claim's name, end of a variant, how a statement says it)
_PRIORS = (("flat", "", "under the flat prior"), ("chosen", VALIDATED, "under the prior that validation tokens choose"))


def _otherwise(
    name: str, statement: str, test: str, measure: Callable[..., list[Effect]], of_half: str = ""
) -> list[Claim]:
    """Return one claim for each of the other scores and, where one needs a prior, for each prior.

    Names and statements begin with those given; `measure` takes `evaluator` and `prior`, and `of_half` is what the test
    by half folding-in says besides.
    """

    def claim(end: str, score: str, how: Measure, caution: str) -> Claim:
        return Claim(f"hofmann-{name}-{end}", _OTHERWISE, f"{statement}, by {score}.", test + caution, how)

    sampled = (("predictive", PREDICTIVE, "the posterior predictive"), ("truth", TRUTH, "the marginal likelihood"))
    return [claim("half", "half folding-in", partial(measure, evaluator=HALF), of_half)] + [
        claim(
            f"{score}-{end}",
            f"{called} {under}",
            partial(measure, evaluator=evaluator, prior=prior),
            _TOO_LOW if (evaluator, prior) == (PREDICTIVE, VALIDATED) else "",
        )
        for score, evaluator, called in sampled
        for end, prior, under in _PRIORS
    ]


CLAIMS = (
    Claim("hofmann-below-unigram", _FIGURE, "PLSA lies below the unigram.", _BEST, below),
    *_otherwise("below-unigram", "PLSA lies below the unigram", _BEST, below),
    Claim(
        "hofmann-below-lsa",
        _ABSTRACT,
        "With as many dimensions PLSA lies below LSA.",
        f"{_SAME}, LSA's in the best of its readings at each, and in the main one",
        below_at_same,
    ),
    Claim(
        "hofmann-below-lsa-at-best",
        _ABSTRACT,
        "At its best PLSA lies below LSA at its best.",
        f"{_BEST}; all readings and ranks of LSA",
        partial(below, baseline=READINGS),
    ),
    Claim(
        "hofmann-tem-below-early",
        _FIGURE,
        "Tempered EM lies below EM with early stopping.",
        _SAME,
        tempered_below_early,
    ),
    Claim(
        "hofmann-tem-below-early-folded-in",
        _OTHERWISE,
        "Tempered EM lies below EM with early stopping, by full folding-in.",
        _SAME,
        partial(tempered_below_early, evaluator=FOLDED_IN),
    ),
    *_otherwise(
        "tem-below-early",
        "Tempered EM lies below EM with early stopping",
        _SAME,
        tempered_below_early,
        "; cells in which a folded-in point gives a scored word no probability are left out",
    ),
    Claim("hofmann-no-overfitting", _FIGURE, "Under tempered EM more dimensions never hurt.", _LEAST, no_overfitting),
    *_otherwise("no-overfitting", "Under tempered EM more dimensions never hurt", _LEAST, no_overfitting),
    Claim(
        "hofmann-beyond-rank",
        _FIGURE,
        "More dimensions than the rank of the counts do not hurt tempered EM.",
        f"{_LEAST}, of those up to the rank",
        beyond_rank,
    ),
    *_otherwise(
        "beyond-rank",
        "More dimensions than the rank of the counts do not hurt tempered EM",
        f"{_LEAST}, of those up to the rank",
        beyond_rank,
    ),
    *(
        Claim(
            f"hofmann-{name}{end}", source, f"{statement}{with_schedules}.", test, partial(measure, compared=compared)
        )
        for end, source, compared, with_schedules in (
            ("", _SECTION, AS_THE_SOURCE, ""),
            ("-on-equal-schedules", _BEYOND, ON_EQUAL_SCHEDULES, ", on equal schedules"),
        )
        for name, statement, test, measure in (
            (
                "heated-no-worse",
                "Heated models are no worse than carefully annealed ones",
                f"{_SAME}, annealed over heated, above -{MODELS.value:g}",
                heated_no_worse,
            ),
            (
                "faster",
                f"Inverse annealing is faster than careful annealing by a factor of {SPEED_UP[0]:g} to {SPEED_UP[1]:g}",
                f"iterations of annealing over those of heating, median over dimensions, above {SPEED_UP[0]:g}",
                faster,
            ),
        )
    ),
    Claim(
        "hofmann-below-counts",
        _BEYOND,
        "PLSA lies below a document's own counts mixed with the unigram, which have no latent dimension.",
        _BEST,
        partial(below, baseline=(COUNTS,)),
    ),
)
