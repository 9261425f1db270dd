"""Contrasts: two sides of a comparison, and the margin beyond which their difference counts.

A contrast is a row of a paper's table `CONTRASTS`: side A less side B on the same documents, by corpus and number of
topics. Its effects (`artifact.contrasts.effect`) are estimated by `artifact.contrasts.estimates`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from artifact.contrasts.effect import NATS

if TYPE_CHECKING:
    import pandas as pd

    from artifact.contrasts.inputs import Inputs

# the questions of the paper, by the name that contrasts have them by
QUESTIONS: Mapping[str, str] = {
    "gap": "How far is folding in off?",
    "prior": "What share of it is the prior's?",
    "choice": "What does each chooser of the number of topics cost?",
    "models": "LDA, PLSA and EPCA by the likelihood",
    "estimators": "Which estimator of the likelihood?",
    "reference": "Is the reference right where it is used?",
}


@dataclass(frozen=True)
class Margin:
    """The least effect that counts, the same for every quantity of one kind.

    Attributes:
        value: in `unit`.
        unit: of the effects that it is held to.
        reason: why this much.
        since: the day on which it was set, and how much of the data was known.
    """

    value: float
    unit: str
    reason: str
    since: str


_STATED = "2026-11-23, with the committed reference in view"
MODELS = Margin(0.01, NATS, "one percent of perplexity between models: what a reader would act on", _STATED)
ESTIMATORS = Margin(0.001, NATS, "a tenth of the margin between models: it cannot overturn their comparison", _STATED)
SIMILAR = Margin(0.05, NATS, "a source's 'similar' or 'no advantage', read off figures", _STATED)
MORE_SAMPLES = Margin(math.log(1.25), "times", "half as many samples again make up for it", _STATED)
ANY = Margin(0.0, "", "any: the sign counts", _STATED)


@dataclass(frozen=True)
class Side:
    """One side of a contrast.

    Attributes:
        name: in words, such as "full folding-in".
        rows: its values from the results. Columns: "corpus", the columns that the contrast is `by` and `over`, "seed",
            the replicate; "value", its "error", the evaluator's, and `artifact.contrasts.estimates.WITHOUT` where
            groups of documents are known. A side that states its own error over documents has no seeds: "freedom" and
            "replicates" in their place.
    """

    name: str
    rows: "Callable[[Inputs], pd.DataFrame]"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A row of a paper's table of contrasts.

    Attributes:
        name: a short name, by which sentences print its effects.
        question: of `QUESTIONS`.
        says: the statement that it examines, a sentence.
        source: the place in the original; empty where it is this paper's own.
        one, other: the sides, "one less other"; without the other, one is held to `null`.
        estimand: "difference"; "share", one over other; or "factor", a difference of logarithms shown as a ratio.
        by: the columns that tell effects apart, besides the corpus.
        over: the columns, besides the seed, over which values of a replicate are averaged.
        margin: the least effect that counts.
        wanted: the half width of the interval that it was planned for; the margin where it is 0.
        null: the value that it is held against.
        unit: of the estimate; the margin's where it is empty.
        held_out: the share of documents held out by every split of a corpus that the study's table does not have.
    """

    name: str
    question: str
    says: str
    one: Side
    other: Side | None = None
    source: str = ""
    estimand: Literal["difference", "share", "factor"] = "difference"
    by: tuple[str, ...] = ("topics",)
    over: tuple[str, ...] = ()
    margin: Margin = MODELS
    wanted: float = 0.0
    null: float = 0.0
    unit: str = ""
    held_out: float = 0.0
