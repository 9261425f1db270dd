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
from typing import TYPE_CHECKING, NamedTuple

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
from heldout.typing import Bools, Floats, Ints

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
        of_truth, of_score = _by_seed(truth), _by_seed(score)
        for seed in sorted(of_truth.keys() & of_score.keys()):
            grid, judging, choosing = np.intersect1d(of_truth[seed].topics, of_score[seed].topics, return_indices=True)
            judge_values, errors = of_truth[seed].groups[:, judging], of_truth[seed].errors[judging]
            if not len(grid) or np.isnan(judge_values).any():
                continue
            choice_values = of_score[seed].groups[:, choosing]
            if by is not None and by[0] == REPORTED:  # a score of all documents: all groups have its value per token
                tokens = judge_values[1]
                choice_values = np.array([of_score[seed].nats[choosing, None] * tokens, tokens])
            for at, half in enumerate(HALVES):
                places, others, gains = _regrets(judge_values, choice_values, half, by is None)
                chosen, judged = int(places[0]), int(others[0])
                error = 0.0 if chosen == judged else float(np.hypot(*errors[[chosen, judged]]))
                row = {"corpus": corpus, "seed": seed, "half": at, "gain": float(gains[0]), "error": error}
                row |= {"chosen": int(grid[chosen]), "judged": int(grid[judged]), "step": _step(judge_values, half)}
                rows.append(row | dict(zip(WITHOUT, map(float, gains[1:]), strict=True)))
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


_KEPT = ~np.eye(GROUPS + 1, GROUPS, -1, dtype=bool)  # (1 + GROUPS, GROUPS): all groups, then all without each


def _regrets(truth: Floats, score: Floats, half: Bools, last: bool) -> tuple[Ints, Ints, Floats]:
    """Return a score's choices, the likelihood's, and regrets, nats per token: of all groups, and without each.

    Choices are places in the grid; (1 + GROUPS,) each.
    """
    of_truth, other = _per_token(truth, half), _per_token(truth, ~half)
    judged = of_truth.argmax(axis=1)
    chosen = np.full_like(judged, len(truth[0]) - 1) if last else _per_token(score, half).argmax(axis=1)
    rows = np.arange(len(_KEPT))
    return chosen, judged, other[rows, judged] - other[rows, chosen]


def _per_token(values: Floats, half: Bools) -> Floats:
    """Return nats per token on a half of the groups, by groups kept and number of topics, (1 + GROUPS, K)."""
    sums = np.zeros((2, len(_KEPT), values.shape[1]))
    for group in np.flatnonzero(half):  # one after the other: a sum does not depend on the groups left out before it
        sums += np.where(_KEPT[:, group, None], values[:, None, :, group], 0.0)
    return np.asarray(sums[0] / sums[1])


def _step(truth: Floats, half: Bools) -> float:
    """Return how far the number of topics that the likelihood likes second lies from its first, on the other half."""
    of_truth, other = (truth[0][:, part].sum(axis=1) / truth[1][:, part].sum(axis=1) for part in (half, ~half))
    first = np.argsort(-of_truth, kind="stable")[:2]
    return float(np.abs(np.diff(other[first])).sum())
