"""The contrasts of Welling et al. (2008): versions of PLSA, folding in, LDA and EPCA, and the theorems of section 4.

Scores are nats per token, so that the better side is the higher one. A best curve is, as the original has it, that of
the constant with the lowest perplexity on the scored documents. LDA is under two priors, since the original does not
say which it has; EPCA is without a penalty, as the original has it, and under a Gaussian prior.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from artifact.contrasts.contrast import ANY, SIMILAR, Contrast, Side
from artifact.contrasts.estimates import per_token
from artifact.contrasts.halves import at_own_choice
from artifact.contrasts.inputs import Inputs
from artifact.contrasts.sides import at_best, at_most, with_groups
from artifact.papers.welling.experiments.normaliser_limits import LIMIT, NORMALISED
from artifact.papers.welling.experiments.normaliser_limits import MODEL as WORD_TOPICS
from artifact.papers.welling.results import (
    FITTED,
    POINT_OF,
    UNPENALISED,
    best,
    best_points,
    beyond_points,
    latent_shrinkage,
    points,
    theorem_distances,
)
from artifact.results.reading import select
from heldout.evaluators import FULL, HALF
from heldout.models import EPCA, LDA, PLSA, TEM, VEM

if TYPE_CHECKING:
    import pandas as pd

SCORES = {HALF: "half folding-in", FULL: "full folding-in"}
NAMES = {PLSA: "PLSA", VEM: "PLSA-VEM", EPCA: "EPCA", LDA: "LDA"}
PRIORS = {"": "first prior", FITTED: "fitted prior"}  # variants of LDA
PENALTIES = {UNPENALISED: "no penalty", "": "Gaussian prior"}  # variants of EPCA
SMALL_CONSTANT = 1e-6  # the largest of the small ones: the lower half of the original's constants
TOLERANCE = 1e-9  # nats: the sides of a theorem may be equal
SHRUNK = 0.1  # share of its initial size to which a collapsing H shrinks


def _stacked(tables: "Mapping[str, pd.DataFrame]", column: str) -> "pd.DataFrame":
    """Return tables as one, with their names in a column."""
    import pandas as pd

    return pd.concat([table.assign(**{column: name}) for name, table in tables.items()], ignore_index=True)


def _at_best_constant(inputs: Inputs, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the points under the constant of PLSA's best curve by half folding-in on their corpus."""
    curves = best(points(inputs, inputs.settings.corpora, PLSA, HALF))
    return table[table["smoothing"] == table["corpus"].map(curves.groupby("corpus")["smoothing"].first())]


def folded_in(model: str, *evaluators: str) -> Side:
    """Return a version of PLSA under the constant that suits PLSA-HOF by half folding-in, by score and K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        tables = {SCORES[name]: points(inputs, inputs.settings.corpora, model, name) for name in evaluators}
        return with_groups(_at_best_constant(inputs, _stacked(tables, "score")), "score", "topics")

    return Side(f"{NAMES[model]} by {' and '.join(SCORES[name] for name in evaluators)}", rows)


def tempered(name: str, *, plain: bool) -> Side:
    """Return PLSA-TEM at the temperature and constant that other documents chose, by score and K.

    The `plain` one is not tempered and chooses the constant alone.
    """

    def rows(inputs: Inputs) -> "pd.DataFrame":
        variants = inputs.settings.swept_variants(TEM)[-1 if plain else 0 :]
        tables = {
            score: points(inputs, inputs.settings.corpora, TEM, evaluator, variants)
            for evaluator, score in SCORES.items()
        }
        return at_own_choice(_stacked(tables, "score"), ["corpus", "score", "topics", "seed"])

    return Side(name, rows)


def half_under_small(inputs: Inputs) -> "pd.DataFrame":
    """Return PLSA by half folding-in under the smallest and the largest of the small constants, by constant and K."""
    table = points(inputs, inputs.settings.corpora, PLSA, HALF)
    table = table[table["smoothing"] <= SMALL_CONSTANT]
    table = table[table["smoothing"].isin([table["smoothing"].min(), table["smoothing"].max()])]
    return with_groups(table.assign(constant=table["smoothing"].map("constant {:g}".format)), "constant", "topics")


def full_by_topics(inputs: Inputs, *, following: bool) -> "pd.DataFrame":
    """Return PLSA by full folding-in under the smallest and its best constant, by K, beyond the vocabulary as well.

    With `following` every value has the next larger K of its corpus in the place of its own.
    """
    import pandas as pd

    table = points(inputs, inputs.settings.corpora, PLSA, FULL)
    if inputs.settings.beyond.corpus:
        table = pd.concat([table, beyond_points(inputs, FULL)]).drop_duplicates(["corpus", *POINT_OF])
    smallest = table[table["smoothing"] == table["smoothing"].min()]
    tables = {"smallest constant": smallest, "best constant": _at_best_constant(inputs, table)}
    both = _stacked(tables, "constant").sort_values("topics")
    if following:
        both["topics"] = both.groupby(["corpus", "constant", "seed"])["topics"].shift(-1)
        both = both.dropna(subset=["topics"]).astype({"topics": int})
    return with_groups(both, "constant", "topics")


def best_curves(model: str, variants: Mapping[str, str], column: str) -> Side:
    """Return a model's best curves by half folding-in, by K and, in a column, the name of the variant."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        corpora, main = inputs.settings.corpora, inputs.settings.variant(model)
        curves = {name: best_points(inputs, corpora, model, HALF, end or main) for end, name in variants.items()}
        return with_groups(_stacked(curves, column), column, "topics")

    return Side(f"{NAMES[model]} by {SCORES[HALF]}", rows)


def repeated(side: Side, names: Mapping[str, str], column: str) -> Side:
    """Return a side once for every name, which a column holds: the contrast's other side differs by it."""
    return Side(side.name, lambda inputs: _stacked(dict.fromkeys(names.values(), side.rows(inputs)), column))


def word_topics(name: str, evaluator: str) -> Side:
    """Return the model with a topic per word, which has learned nothing."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        return with_groups(per_token(select(inputs.scores, model=WORD_TOPICS, evaluator=evaluator)))

    return Side(name, rows)


def normalised_limit(inputs: Inputs) -> "pd.DataFrame":
    """Return the lower limit on the normalised score of PLSA with the fewest topics."""
    limits = select(inputs.measurements, quantity=LIMIT)
    both = folded_in(PLSA, FULL).rows(inputs).merge(limits, on=["corpus", "topics", "seed"], suffixes=("", "_limit"))
    both = both[both["topics"] == both.groupby("corpus")["topics"].transform("min")]
    return both[["corpus", "seed", "error"]].assign(value=both["value"] - both["value_limit"] / both["at"])


_VERSIONS, _FOLDING_IN, _COMPARISON = (f"section 5; Figures {figures}" for figures in ("1-3", "4-6", "7-9"))
_SMALL = Side(f"PLSA by {SCORES[HALF]}", half_under_small)
_LDA, _CURVE = best_curves(LDA, PRIORS, "prior"), best_curves(PLSA, {"": ""}, "own")
_OTHERS = {PLSA: _CURVE, EPCA: best_curves(EPCA, {UNPENALISED: ""}, "own")}

CONTRASTS = (
    Contrast(
        name="vem",
        question="models",
        says="PLSA-HOF and PLSA-VEM give similar results.",
        source=f"section 3.4; {_VERSIONS}",
        one=folded_in(VEM, *SCORES),
        other=folded_in(PLSA, *SCORES),
        by=("score", "topics"),
        margin=SIMILAR,
    ),
    Contrast(
        name="tempering",
        question="models",
        says="Tempering brings no advantage.",
        source=_VERSIONS,
        one=tempered("PLSA-TEM, temperature and constant chosen on other documents", plain=False),
        other=tempered("PLSA-TEM at temperature 1, constant chosen so", plain=True),
        by=("score", "topics"),
        over=("half",),
        margin=SIMILAR,
    ),
    Contrast(
        name="full-more-topics",
        question="models",
        says="Full folding-in improves with every number of topics under every constant, even beyond the vocabulary.",
        source=f"section 4.4; {_FOLDING_IN}",
        one=Side("PLSA by full folding-in", partial(full_by_topics, following=False)),
        other=Side("that with the next smaller K", partial(full_by_topics, following=True)),
        by=("constant", "topics"),
    ),
    Contrast(
        name="half-overfits",
        question="models",
        says="Half folding-in overfits under small constants on short documents.",
        source=_FOLDING_IN,
        one=at_best(_SMALL, ["constant"]),
        other=at_most(_SMALL, ["constant"]),
        by=("constant",),
    ),
    Contrast(
        name="full-half",
        question="models",
        says="Half folding-in gives the higher perplexities.",
        source=_FOLDING_IN,
        one=folded_in(PLSA, FULL),
        other=folded_in(PLSA, HALF),
    ),
    *(
        Contrast(
            name=f"lda-{NAMES[model].lower()}-half-best",
            question="models",
            says=f"LDA is generally better than {NAMES[model]}.",
            source=_COMPARISON,
            one=at_best(_LDA, ["prior"]),
            other=at_best(repeated(other, PRIORS, "prior"), ["prior"]),
            by=("prior",),
        )
        for model, other in _OTHERS.items()
    ),
    *(
        Contrast(
            name=f"lda-{NAMES[model].lower()}-half",
            question="models",
            says=f"Under a fitted prior LDA is better than {NAMES[model]} with as many topics.",
            one=best_curves(LDA, {FITTED: ""}, "own"),
            other=other,
        )
        for model, other in _OTHERS.items()
    ),
    Contrast(
        name="epca-plsa-half-best",
        question="models",
        says="EPCA gives results similar to PLSA's.",
        source=_COMPARISON,
        one=at_best(best_curves(EPCA, PENALTIES, "penalty"), ["penalty"]),
        other=at_best(repeated(_CURVE, PENALTIES, "penalty"), ["penalty"]),
        by=("penalty",),
        margin=SIMILAR,
    ),
    Contrast(
        name="word-topics",
        question="gap",
        says="Folded in, a model that has learned nothing looks best.",
        source="section 4.4",
        one=word_topics("a topic per word, folded in", FULL),
        other=at_most(folded_in(PLSA, FULL)),
        by=(),
    ),
    Contrast(
        name="word-topics-normalised",
        question="gap",
        says="Normalised, it does not.",
        source="section 4.4",
        one=word_topics("a topic per word, normalised", NORMALISED),
        other=Side("the limit on PLSA with the fewest topics, normalised", normalised_limit),
        by=(),
    ),
    Contrast(
        name="ica",
        question="models",
        says="Without unit columns the latent vectors of ICA collapse to zero, with them they do not.",
        source="section 3.2",
        one=Side("the norm of ICA's latent vectors at the start over that at the end", latent_shrinkage),
        estimand="factor",
        by=("columns",),
        margin=ANY,
        null=-math.log(SHRUNK),
        unit="times",
    ),
    Contrast(
        name="theorems",
        question="gap",
        says="Folding in is optimistic where latents are continuous, and pessimistic where they are discrete.",
        source="sections 3.1, 4.1; equations 4.29-4.31",
        one=Side("the least distance of a document from log p on the side that theory names", theorem_distances),
        by=("score",),
        margin=ANY,
        null=-TOLERANCE,
        unit="nats",
    ),
)
