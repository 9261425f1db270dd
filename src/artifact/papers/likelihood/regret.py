"""Regret: the likelihood that is lost where another score chooses the number of topics.

The groups of documents of a split are halved. On one half A a score X chooses K_X(A), the number of topics at which it
is highest, and so does the likelihood itself, K(A). The other half B, which neither has seen, judges both:

    regret = [log p(B | K(A)) - log p(B | K_X(A))] / tokens of B,

in nats per token, and the halves change roles. Zero where both choose alike; negative where the score's choice happens
to be the better one on B. A library's or package's number is of all documents: its choice has seen B, which favours it.

A choice on a grid takes few values: where all halves of all splits choose alike, neither splits nor groups of documents
vary, and what one half more might choose is not known. So the spread over splits is taken to be at least what it would
be had one half of one split chosen the likelihood's second best (`resolutions`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from artifact.papers.likelihood.experiments.choice import KIND as CHOICE
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.experiments.same_halves import FITTED as UNDER_FITTED
from artifact.papers.likelihood.experiments.same_halves import KIND as SAME_HALVES
from artifact.papers.likelihood.prior_share import TODAY
from artifact.papers.likelihood.results import FITTED, OPTIMISM, PACKAGES, PEERS, points
from artifact.results.reading import TRUTH
from artifact.results.scores import GROUP_COLUMNS, GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from artifact.verdicts.effects import WITHOUT
from artifact.verdicts.inputs import Inputs
from heldout.evaluators import COMPLETION, FULL, HALF, MEAN_FIELD_BOUND
from heldout.typing import Bools, Floats

if TYPE_CHECKING:
    import pandas as pd

NUMBER, MODELS_PRIOR = "number of topics", "likelihood, model's prior"
LIBRARYS, LIBRARYS_PRIOR = "library's number", "library's prior"
PACKAGES_NUMBER, PACKAGES_PRIOR = "package's number", "package's prior"  # chooser and judge of the study `packages`
HALF_OF_COMPLETION, COMPLETION_JUDGES = "half folding-in, same halves", "second half given the first"
# scores that choose, by the evaluators and variants that have them; the number itself needs none
CHOOSERS: Mapping[str, tuple[str, str] | None] = {
    NUMBER: None,
    "full folding-in": (FULL, OPTIMISM),
    "half folding-in": (HALF, OPTIMISM),
    "mean-field bound": (MEAN_FIELD_BOUND, OPTIMISM),
    MODELS_PRIOR: (TRUTH, OPTIMISM),
    LIBRARYS: (REPORTED, PEERS),
    PACKAGES_NUMBER: (REPORTED, PACKAGES),
    HALF_OF_COMPLETION: (HALF, SAME_HALVES),
}
JUDGES = {"model's prior": OPTIMISM, "fitted prior": FITTED}  # variants of the likelihood that judges
# evaluators and variants that judge
_JUDGES = {
    name: (TRUTH, variant) for name, variant in {**JUDGES, LIBRARYS_PRIOR: PEERS, PACKAGES_PRIOR: PACKAGES}.items()
} | {COMPLETION_JUDGES: (COMPLETION, f"{SAME_HALVES}-{UNDER_FITTED}")}
_FIRST = np.arange(GROUPS) % 2 == 0
HALVES = (_FIRST, ~_FIRST)  # (GROUPS,) bool


def regrets(inputs: Inputs, corpora: Sequence[str], model: str, chooser: str, judge: str) -> "pd.DataFrame":
    """Return the regret of a chooser, by corpus, seed and half: "gain", nats per token, as pairs of effects have it.

    The likelihood that judges also makes the choice that the chooser is held to. Also "chosen", the chooser's number of
    topics; "judged", the likelihood's; "step", the distance of the likelihood's second best from it on B, nats per
    token; "error", of both values; and `WITHOUT`, each group left out of both halves. No rows where scores have no
    groups of documents.
    """
    import pandas as pd

    rows = []
    for corpus in corpora:
        truth = points(inputs, corpus, model, *_on(corpus, _JUDGES[judge]))
        by = CHOOSERS[chooser]
        score = truth if by is None else points(inputs, corpus, model, *_on(corpus, by))
        if not set(GROUP_COLUMNS) <= set(truth.columns):
            continue
        for seed in sorted({int(s) for s in truth["seed"]}):
            of_truth, of_score = (
                table[table["seed"] == seed].set_index("topics").sort_index() for table in (truth, score)
            )
            grid = of_truth.index.intersection(of_score.index)
            of_truth, of_score = of_truth.loc[grid], of_score.loc[grid]
            if grid.empty or of_truth[list(GROUP_COLUMNS)].isna().any(axis=None):
                continue
            if by is not None and by[0] == REPORTED:
                of_score = _spread(of_score, of_truth)
            values = _values(of_truth), _values(of_score)
            for at, half in enumerate(HALVES):
                chosen, judged, gain = _regret(*values, half, by is None)
                error = 0.0 if chosen == judged else float(np.hypot(*of_truth["error"].iloc[[chosen, judged]]))
                row = {"corpus": corpus, "seed": seed, "half": at, "gain": gain, "error": error}
                row |= {"chosen": int(grid[chosen]), "judged": int(grid[judged]), "step": _step(values[0], half)}
                for group, name in enumerate(WITHOUT):
                    row[name] = _regret(*values, half, by is None, without=group)[2]
                rows.append(row)
    return pd.DataFrame(rows, columns=["corpus", "seed", "half", "gain", "error", "chosen", "judged", "step", *WITHOUT])


def resolutions(rows: "pd.DataFrame") -> dict[str, float]:
    """Return by corpus the spread of splits' regrets had one half of one of them chosen the likelihood's second best.

    Of S splits, each the mean of two halves, one then has half a "step" and the others 0: a standard deviation of step
    / (2 sqrt(S)).
    """
    by_corpus = rows.groupby("corpus")
    least = by_corpus["step"].mean() / (2.0 * by_corpus["seed"].nunique() ** 0.5)
    return {str(corpus): float(spread) for corpus, spread in least.items()}


def _on(corpus: str, named: tuple[str, str]) -> tuple[str, str]:
    """Return an evaluator and its variant on a corpus; corpora of today's size have an experiment of their own."""
    evaluator, variant = named
    return evaluator, variant.replace(OPTIMISM, CHOICE, 1) if corpus in TODAY else variant


def _spread(score: "pd.DataFrame", truth: "pd.DataFrame") -> "pd.DataFrame":
    """Return a score of all documents as one of groups that all have its value per token."""
    groups = {name: truth[name] for name in TOKENS_COLUMNS}
    for tokens, nats in zip(TOKENS_COLUMNS, NATS_COLUMNS, strict=True):
        groups[nats] = score["value"] * truth[tokens]
    return score.assign(**groups)


def _values(table: "pd.DataFrame") -> Floats:
    """Return nats and tokens of groups of documents, by number of topics, (2, K, GROUPS)."""
    return np.array([table[list(names)].to_numpy(float) for names in (NATS_COLUMNS, TOKENS_COLUMNS)])


def _regret(truth: Floats, score: Floats, half: Bools, last: bool, without: int = -1) -> tuple[int, int, float]:
    """Return the places in the grid of the score's choice and of the likelihood's, and the regret, nats per token."""
    keep = np.arange(GROUPS) != without
    (of_score, _), (of_truth, other) = (
        [of[0][:, part & keep].sum(axis=1) / of[1][:, part & keep].sum(axis=1) for part in (half, ~half)]
        for of in (score, truth)
    )
    chosen = len(other) - 1 if last else int(np.argmax(of_score))
    judged = int(np.argmax(of_truth))
    return chosen, judged, float(other[judged] - other[chosen])


def _step(truth: Floats, half: Bools) -> float:
    """Return how far the number of topics that the likelihood likes second lies from its first, on the other half."""
    of_truth, other = (truth[0][:, part].sum(axis=1) / truth[1][:, part].sum(axis=1) for part in (half, ~half))
    first = np.argsort(-of_truth, kind="stable")[:2]
    return float(np.abs(np.diff(other[first])).sum())
