"""LDA by longer chains: convergence, changes and conclusions, for the exhibits and the claim."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from artifact.contrasts.contrast import MODELS, Effect
from artifact.contrasts.estimates import effects, paired, steps
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.long_chains import LONG, R_HAT, SHORT
from artifact.results.reading import select
from heldout.evaluators import FULL, HALF, REFERENCE

if TYPE_CHECKING:
    import pandas as pd

SCORES = {FULL: "full folding-in", HALF: "half folding-in", REFERENCE: "likelihood"}
# claims and parts that compare LDA with another model by a score, and the table's words for it
COMPARISONS = (
    ("lda-better", "full, than PLSA", FULL, "than PLSA, full folding-in"),
    ("lda-better-fitted-prior", "full, than PLSA", FULL, "the same, fitted prior"),
    ("lda-better", "full, than EPCA", FULL, "than EPCA, full folding-in"),
    ("lda-better", "half, than PLSA", HALF, "than PLSA, half folding-in"),
    ("lda-better-fitted-prior", "half, than PLSA", HALF, "the same, fitted prior"),
    ("lda-better", "half, than EPCA", HALF, "than EPCA, half folding-in"),
    ("lda-better-fitted-prior", "half, than EPCA", HALF, "the same, fitted prior"),
    ("lda-better-by-half", "than PLSA", HALF, "best, than PLSA's, half"),
    ("lda-better-by-half-fitted-prior", "than PLSA", HALF, "the same, fitted prior"),
    ("lda-better-by-half", "than EPCA", HALF, "best, than EPCA's, half"),
    ("lda-better-by-half-fitted-prior", "than EPCA", HALF, "the same, fitted prior"),
)


class Conclusion(NamedTuple):
    """A conclusion on LDA on one corpus, and its effect after the shorter and after the longer chains."""

    says: str
    short: Effect
    long: Effect


def changes(inputs: Inputs, evaluator: str) -> "pd.DataFrame":
    """Return one score of the longer chains less the shorter ones', as pairs of effects have it, nats per token."""
    long, short = ({"evaluator": evaluator, "variant": variant} for variant in (LONG, SHORT))
    return paired(inputs.scores, long, short)


def r_hats(inputs: Inputs) -> "pd.DataFrame":
    """Return split R-hat of log p(w, z), columns for shorter and longer chains, by corpus and K, means over splits."""
    rows = select(inputs.measurements, quantity=R_HAT)
    rows = rows[rows["variant"].isin([SHORT, LONG])]
    return rows.pivot_table(values="value", index=["corpus", "topics"], columns="variant", observed=True)


def conclusions(inputs: Inputs) -> Iterator[Conclusion]:
    """Yield the conclusions on LDA after either length of chains.

    Full folding-in less the likelihood is taken from these chains' scores. Comparisons with other models are the
    claims' own, and after longer chains as if LDA's score gained at every number of topics and under every prior what
    it gains here.
    """
    gaps = [
        paired(inputs.scores, {"evaluator": FULL, "variant": name}, {"evaluator": REFERENCE, "variant": name})
        for name in (SHORT, LONG)
    ]
    for says, rows in (
        ("full less likelihood", gaps),
        ("its step to more topics", [steps(pairs) for pairs in gaps]),
    ):
        by_length = [effects(pairs, held_out=inputs.held_out, margin=MODELS) for pairs in rows]
        yield from (Conclusion(says, *both) for both in zip(*by_length, strict=True))
    gained = {
        score: {e.corpus: e for e in effects(changes(inputs, score), held_out=inputs.held_out, margin=MODELS)}
        for score in (FULL, HALF)
    }
    for claim, part, score, says in COMPARISONS:
        for effect in inputs.judged(claim).effects:
            more = gained[score].get(effect.corpus)
            if effect.part == part and more is not None:
                estimate, error = effect.estimate + more.estimate, math.hypot(effect.error, more.error)
                freedom = min(effect.freedom, more.freedom)
                yield Conclusion(says, effect, replace(effect, estimate=estimate, error=error, freedom=freedom))
