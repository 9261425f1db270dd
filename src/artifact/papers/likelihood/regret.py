"""The likelihood at the number of topics that a score has chosen, on documents that it has not seen.

The groups of documents of a split are halved. On one half A a score X chooses K_X(A), the number of topics at which it
is highest. The other half B judges, which has not been seen, by log p(B | K_X(A)) / tokens of B, nats per token; then
the halves change roles. What a score's choice costs is that of the likelihood's own choice less that of the score's: 0
where both choose alike, negative where the score's choice happens to be the better one on B. A package's number is of
all documents: its choice has seen B, which favours it.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from artifact.contrasts.estimates import LEFT_OUT
from artifact.contrasts.halves import HALVES
from artifact.contrasts.halves import at_choice as choices
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.choice import KIND as CHOICE
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.experiments.same_halves import FITTED as UNDER_FITTED
from artifact.papers.likelihood.experiments.same_halves import KIND as SAME_HALVES
from artifact.papers.likelihood.prior_share import TODAY
from artifact.papers.likelihood.results import FITTED, OPTIMISM, PACKAGES, points
from artifact.results.reading import TRUTH
from artifact.results.scores import GROUP_COLUMNS, NATS_COLUMNS, TOKENS_COLUMNS
from heldout.evaluators import COMPLETION, FULL, HALF, MEAN_FIELD_BOUND
from heldout.typing import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

NUMBER, MODELS_PRIOR = "number of topics", "likelihood, model's prior"
ITSELF = "the likelihood itself"  # the one that judges
PACKAGES_NUMBER, PACKAGES_PRIOR = (
    "package's number",
    "package's prior",
)  # chooser and judge of the experiment `packages`
HALF_OF_COMPLETION, COMPLETION_JUDGES = "half folding-in, same halves", "second half given the first"
# scores that choose, by the evaluators and variants that have them; `NUMBER` and `ITSELF` need none
CHOOSERS: Mapping[str, tuple[str, str]] = {
    "full folding-in": (FULL, OPTIMISM),
    "half folding-in": (HALF, OPTIMISM),
    "mean-field bound": (MEAN_FIELD_BOUND, OPTIMISM),
    MODELS_PRIOR: (TRUTH, OPTIMISM),
    PACKAGES_NUMBER: (REPORTED, PACKAGES),
    HALF_OF_COMPLETION: (HALF, SAME_HALVES),
}
JUDGES = {"model's prior": OPTIMISM, "fitted prior": FITTED}  # variants of the likelihood that judges
# evaluators and variants that judge
_JUDGES = {name: (TRUTH, variant) for name, variant in {**JUDGES, PACKAGES_PRIOR: PACKAGES}.items()} | {
    COMPLETION_JUDGES: (COMPLETION, f"{SAME_HALVES}-{UNDER_FITTED}")
}


@lru_cache(maxsize=256)  # the same choice is a side of several contrasts
def at_choice(inputs: Inputs, corpora: tuple[str, ...], model: str, chooser: str, judge: str) -> "pd.DataFrame":
    """Return the likelihood that judges at a score's choice, by corpus, seed and half, as a side of a contrast.

    `ITSELF` is the likelihood that judges. Also "chosen", the number of topics: two sides that chose alike are one
    number. No rows where scores have no groups of documents.
    """
    import pandas as pd

    rows = []
    for corpus in corpora:
        truth = points(inputs, corpus, model, *measured_as(corpus, *_JUDGES[judge]))
        asked = CHOOSERS.get(chooser)
        score = truth if asked is None else points(inputs, corpus, model, *measured_as(corpus, *asked))
        if not set(GROUP_COLUMNS) <= set(truth.columns):
            continue
        judge_curves, chooser_curves = _by_seed(truth), _by_seed(score)
        for seed in sorted(judge_curves.keys() & chooser_curves.keys()):
            judged, scored = judge_curves[seed], chooser_curves[seed]
            grid, judging, choosing = np.intersect1d(judged.topics, scored.topics, return_indices=True)
            judge_values, errors = judged.groups[:, judging], judged.errors[judging]
            if not len(grid) or np.isnan(judge_values).any():
                continue
            choice_values = scored.groups[:, choosing]
            if asked is not None and asked[0] == REPORTED:  # of all documents: all groups have its value
                tokens = judge_values[1]
                choice_values = np.array([scored.nats[choosing, None] * tokens, tokens])
            for place, half in enumerate(HALVES):
                places, values = choices(judge_values, choice_values, half, last=chooser == NUMBER)
                row = {"corpus": corpus, "seed": seed, "half": place, "value": float(values[0])}
                row |= {"error": float(errors[places[0]]), "chosen": int(grid[places[0]])}
                rows.append(row | dict(zip(LEFT_OUT, map(float, values[1:]), strict=True)))
    return pd.DataFrame(rows, columns=["corpus", "seed", "half", "value", "error", "chosen", *LEFT_OUT])


def measured_as(corpus: str, evaluator: str, variant: str) -> tuple[str, str]:
    """Return an evaluator and its variant on a corpus; corpora of today's size have an experiment of their own."""
    return evaluator, variant.replace(OPTIMISM, CHOICE, 1) if corpus in TODAY else variant


class _Curve(NamedTuple):
    """A score's values by number of topics: one seed of one corpus.

    Attributes:
        topics: (K,), ascending.
        nats: (K,), per token.
        errors: (K,), of them.
        groups: (2, K, GROUPS), nats and tokens of groups of documents.
    """

    topics: Ints
    nats: Floats
    errors: Floats
    groups: Floats


def _by_seed(table: "pd.DataFrame") -> dict[int, _Curve]:
    """Return a table of points as curves by seed."""
    seeds, topics = table["seed"].to_numpy(int), table["topics"].to_numpy(int)
    values, errors = table["value"].to_numpy(float), table["error"].to_numpy(float)
    groups = np.array([table[list(names)].to_numpy(float) for names in (NATS_COLUMNS, TOKENS_COLUMNS)])
    curves = {}
    for seed in np.unique(seeds):
        rows = np.flatnonzero(seeds == seed)
        rows = rows[np.argsort(topics[rows], kind="stable")]
        curves[int(seed)] = _Curve(topics[rows], values[rows], errors[rows], groups[:, rows])
    return curves
