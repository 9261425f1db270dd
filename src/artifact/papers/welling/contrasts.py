"""The contrasts of Welling et al. (2008): versions of PLSA, folding in, LDA and EPCA, and the theorems of section 4.

Scores are nats per token, so that the better side is the higher one. A best curve is, as the original has it, that of
the constant with the lowest perplexity on the scored documents. LDA is under two priors, since the original does not
say which it has; EPCA is without a penalty, as the original has it.
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
SMALL_CONSTANT = 1e-6  # the largest of the small ones: the lower half of the original's constants
TOLERANCE = 1e-9  # nats: the sides of a theorem may be equal
SHRUNK = 0.1  # share of its initial size to which a collapsing H shrinks


def _at_best_constant(inputs: Inputs, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the points under the constant of PLSA's best curve by half folding-in on their corpus."""
    curves = best(points(inputs, inputs.settings.corpora, PLSA, HALF))
    return table[table["smoothing"] == table["corpus"].map(curves.groupby("corpus")["smoothing"].first())]


def folded_in(model: str, evaluator: str) -> Side:
    """Return a version of PLSA under the constant that suits PLSA-HOF by half folding-in, by K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = points(inputs, inputs.settings.corpora, model, evaluator)
        return with_groups(_at_best_constant(inputs, table), "topics")

    return Side(f"{NAMES[model]} by {SCORES[evaluator]}", rows)


def tempered(name: str, *, plain: bool) -> Side:
    """Return PLSA-TEM by half folding-in at the temperature and constant that other documents chose, by K.

    The `plain` one is not tempered and chooses the constant alone.
    """

    def rows(inputs: Inputs) -> "pd.DataFrame":
        variants = inputs.settings.swept_variants(TEM)[-1 if plain else 0 :]
        return at_own_choice(points(inputs, inputs.settings.corpora, TEM, HALF, variants), ["corpus", "topics", "seed"])

    return Side(name, rows)


def half_under_small(inputs: Inputs) -> "pd.DataFrame":
    """Return PLSA by half folding-in under the largest of the small constants, by K."""
    table = points(inputs, inputs.settings.corpora, PLSA, HALF)
    table = table[table["smoothing"] <= SMALL_CONSTANT]
    return with_groups(table[table["smoothing"] == table["smoothing"].max()], "topics")


def full_by_topics(inputs: Inputs, *, following: bool) -> "pd.DataFrame":
    """Return PLSA by full folding-in under the constant of `folded_in`, by K, beyond the vocabulary as well.

    With `following` every value has the next larger K of its corpus in the place of its own.
    """
    import pandas as pd

    table = points(inputs, inputs.settings.corpora, PLSA, FULL)
    if inputs.settings.beyond.corpus:
        table = pd.concat([table, beyond_points(inputs, FULL)]).drop_duplicates(["corpus", *POINT_OF])
    table = _at_best_constant(inputs, table).sort_values("topics")
    if following:
        table["topics"] = table.groupby(["corpus", "seed"])["topics"].shift(-1)
        table = table.dropna(subset=["topics"]).astype({"topics": int})
    return with_groups(table, "topics")


def best_curve(model: str, variant: str = "") -> Side:
    """Return the best curve of a model's variant, the main one where none is named, by half folding-in, by K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        named = variant or inputs.settings.variant(model)
        return with_groups(best_points(inputs, inputs.settings.corpora, model, HALF, named), "topics")

    return Side(f"{NAMES[model]} by {SCORES[HALF]}", rows)


def by_prior(sides: Mapping[str, Side]) -> Side:
    """Return sides as one, each under the name of a prior of LDA's."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        tables = [side.rows(inputs).assign(prior=name) for name, side in sides.items()]
        return pd.concat(tables, ignore_index=True)

    return Side(next(iter(sides.values())).name, rows)


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
_SMALL = Side("PLSA by half folding-in, a small constant", half_under_small)
_LDA = {name: best_curve(LDA, variant) for variant, name in PRIORS.items()}
_OTHERS = {"plsa": best_curve(PLSA), "epca": best_curve(EPCA, UNPENALISED)}

CONTRASTS = (
    *(
        Contrast(
            name=f"vem-{end}",
            question="models",
            says=says,
            source=source,
            one=folded_in(VEM, evaluator),
            other=folded_in(PLSA, evaluator),
            margin=SIMILAR,
        )
        for end, evaluator, says, source in (
            ("half", HALF, "PLSA-HOF and PLSA-VEM give similar results.", f"section 3.4; {_VERSIONS}"),
            ("full", FULL, "So they do by full folding-in.", ""),
        )
    ),
    Contrast(
        name="tempering",
        question="models",
        says="Tempering brings no advantage.",
        source=_VERSIONS,
        one=tempered("PLSA-TEM by half folding-in, temperature and constant chosen on other documents", plain=False),
        other=tempered("that at temperature 1, its constant chosen so", plain=True),
        over=("half",),
        margin=SIMILAR,
    ),
    Contrast(
        name="full-more-topics",
        question="models",
        says="Full folding-in improves with every number of topics, even beyond the vocabulary.",
        source=f"section 4.4; {_FOLDING_IN}",
        one=Side("PLSA by full folding-in", partial(full_by_topics, following=False)),
        other=Side("that with the next smaller K", partial(full_by_topics, following=True)),
    ),
    Contrast(
        name="half-overfits",
        question="models",
        says="Half folding-in overfits under small constants on short documents.",
        source=_FOLDING_IN,
        one=at_best(_SMALL),
        other=at_most(_SMALL),
        by=(),
    ),
    Contrast(
        name="full-half",
        question="models",
        says="Half folding-in gives the higher perplexities.",
        source=_FOLDING_IN,
        one=at_most(folded_in(PLSA, FULL)),
        other=at_most(folded_in(PLSA, HALF)),
        by=(),
    ),
    *(
        Contrast(
            name=f"lda-{name}-half-best",
            question="models",
            says=f"LDA is generally better than {name.upper()}.",
            source=_COMPARISON,
            one=at_best(by_prior(_LDA), ["prior"]),
            other=at_best(by_prior(dict.fromkeys(_LDA, other)), ["prior"]),
            by=("prior",),
        )
        for name, other in _OTHERS.items()
    ),
    *(
        Contrast(
            name=f"lda-{name}-half",
            question="models",
            says=f"Under a fitted prior LDA is better than {name.upper()} with as many topics.",
            one=_LDA[PRIORS[FITTED]],
            other=other,
        )
        for name, other in _OTHERS.items()
    ),
    Contrast(
        name="epca-plsa-half-best",
        question="models",
        says="EPCA gives results similar to PLSA's.",
        source=_COMPARISON,
        one=at_best(_OTHERS["epca"]),
        other=at_best(_OTHERS["plsa"]),
        by=(),
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
        says="Folding in is optimistic for continuous latents and pessimistic for discrete ones, by theory.",
        one=Side("the least distance of a document from log p on the side that theory names", theorem_distances),
        by=("score",),
        margin=ANY,
        null=-TOLERANCE,
        unit="nats",
    ),
)
