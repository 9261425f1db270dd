"""The contrasts of Hofmann (1999): his score of tempered EM beside its baselines, and how tempering is scheduled.

His score is the perplexity of the document-specific unigram p(w | d) on test tokens of documents that the model was
trained on; here it is in nats per test token, so that the better side is the higher one. The posterior predictive under
the flat prior, with weights integrated out, is the second score where it says otherwise. Seeds redraw the tokens that
are held out, and all documents take part in each.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from artifact.contrasts.contrast import ANY, Contrast, Side
from artifact.contrasts.inputs import Inputs
from artifact.contrasts.sides import at_best, at_most, with_groups
from artifact.papers.hofmann.experiments.tempering import ITERATIONS
from artifact.papers.hofmann.results import (
    COOLED,
    COUNTS,
    EARLY,
    FINE_HEATED,
    HEATED,
    PREDICTIVE,
    READINGS,
    SPECIFIC,
    SPEED_UP,
    UNIGRAMS,
    Model,
    points,
    run_corpora,
)
from artifact.results.reading import select
from artifact.study.study import HELD_OUT

if TYPE_CHECKING:
    import pandas as pd


def _points(inputs: Inputs, model: Model, evaluator: str = SPECIFIC, *, whole: bool = False) -> "pd.DataFrame":
    """Return a model's scores by K; with `whole` of the seeds that have every K."""
    return with_groups(points(inputs, run_corpora(inputs), [model], evaluator, whole=whole), "topics")


def scored(name: str, model: Model, *, whole: bool = False) -> Side:
    """Return a model by his score, by K."""
    return Side(name, partial(_points, model=model, whole=whole))


def best_of(name: str, models: Sequence[Model], *, by_topics: bool = False) -> Side:
    """Return the best of some models: at every K, or over all K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        tables = [_points(inputs, model).assign(reading=model[1]) for model in models]
        return pd.concat(tables, ignore_index=True)

    side = Side(name, rows)
    return at_best(side, ["topics"], ["reading"], "best") if by_topics else at_best(side, (), ["reading", "topics"])


def iterations(name: str, model: Model) -> Side:
    """Return the logarithm of the iterations of EM that a model takes, by K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = select(inputs.measurements, axis="topics", quantity=ITERATIONS, model=model[0], variant=model[1])
        table = table[table["corpus"].isin(run_corpora(inputs))]
        return with_groups(table.assign(value=table["value"].astype(float).map(math.log), error=0.0), "topics")

    return Side(name, rows)


_SECTION, _FIGURE = "section 3.6", "section 3.6; Figure 5"
_TEM, _BEST_TEM = scored("tempered EM", HEATED), at_best(scored("tempered EM", HEATED, whole=True))
_PREDICTED = Side("tempered EM by the predictive", partial(_points, model=HEATED, evaluator=PREDICTIVE, whole=True))

CONTRASTS = (
    *(
        Contrast(
            name=f"tem-{name}",
            question="models",
            says=says,
            source=source,
            one=_BEST_TEM,
            other=other,
            by=(),
        )
        for name, says, source, other in (
            ("unigram", "PLSA lies below the unigram.", _FIGURE, best_of("the unigram", UNIGRAMS)),
            ("lsa-best", "At its best PLSA lies below LSA.", f"abstract, {_FIGURE}", best_of("LSA", READINGS)),
            ("counts", "A document's own counts, mixed with the unigram, do worse.", "", best_of("counts", [COUNTS])),
        )
    ),
    Contrast(
        name="tem-lsa",
        question="models",
        says="With as many dimensions PLSA lies below LSA.",
        source=f"abstract, {_FIGURE}",
        one=_TEM,
        other=best_of("LSA", READINGS, by_topics=True),
    ),
    Contrast(
        name="tem-early",
        question="models",
        says="Tempered EM lies below EM with early stopping.",
        source=_FIGURE,
        one=_TEM,
        other=scored("EM with early stopping", EARLY),
    ),
    *(
        Contrast(
            name=f"tem-overfits{end}",
            question="models",
            says=says,
            source=source,
            one=at_best(side),
            other=at_most(side),
            by=(),
        )
        for end, says, source, side in (
            ("", "More dimensions never hurt tempered EM.", _FIGURE, scored("tempered EM", HEATED, whole=True)),
            ("-predictive", "By the posterior predictive under the flat prior they do.", "", _PREDICTED),
        )
    ),
    Contrast(
        name="heating",
        question="models",
        says="Models found by inverse annealing are no worse than carefully annealed ones.",
        source=_SECTION,
        one=scored("inverse annealing, coarse", HEATED),
        other=scored("annealing, fine", COOLED),
    ),
    Contrast(
        name="heating-fine",
        question="models",
        says="On an equal schedule the two do not differ.",
        one=scored("inverse annealing, fine", FINE_HEATED),
        other=scored("annealing, fine", COOLED),
    ),
    Contrast(
        name="heating-iterations",
        question="models",
        says=f"Inverse annealing is faster by a factor of {SPEED_UP[0]:g} to {SPEED_UP[1]:g}.",
        source=_SECTION,
        one=iterations("iterations of annealing, fine", COOLED),
        other=iterations("of inverse annealing, coarse", HEATED),
        estimand="factor",
        margin=ANY,
        null=math.log(SPEED_UP[0]),
        held_out=HELD_OUT,
        unit="times the iterations",
    ),
)
