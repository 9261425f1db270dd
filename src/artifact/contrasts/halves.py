"""Choices on one half of the documents, judged by the other half.

The groups of documents of a split are halved. On one half a score chooses the candidate where it is highest; the other
half, which has not been seen, judges; then the halves change roles.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from artifact.contrasts.estimates import LEFT_OUT
from artifact.results.scores import GROUP_COLUMNS, GROUPS, NATS_COLUMNS, TOKENS_COLUMNS
from heldout.typing import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

_FIRST = np.arange(GROUPS) % 2 == 0
HALVES = (_FIRST, ~_FIRST)  # (GROUPS,) bool
_KEPT = ~np.eye(GROUPS + 1, GROUPS, -1, dtype=bool)  # (1 + GROUPS, GROUPS): all groups, then all without each


def at_own_choice(scores: "pd.DataFrame", keys: Sequence[str]) -> "pd.DataFrame":
    """Return scores at their own choice among the rows of equal keys, by half.

    Returns:
        The keys; "half", which chose; "value" on the other half, "error", 0; and `LEFT_OUT`. No rows where scores have
        no groups of documents.
    """
    import pandas as pd

    found = []
    for key, rows in scores.groupby(list(keys)) if set(GROUP_COLUMNS) <= set(scores.columns) else ():
        groups = np.array([rows[list(names)].to_numpy(float) for names in (NATS_COLUMNS, TOKENS_COLUMNS)])
        for place, half in enumerate(HALVES):
            _, values = at_choice(groups, groups, half)
            found.append((*key, place, float(values[0]), 0.0, *map(float, values[1:])))
    return pd.DataFrame(found, columns=[*keys, "half", "value", "error", *LEFT_OUT])


def at_choice(judge: Floats, score: Floats, half: Bools, *, last: bool = False) -> tuple[Ints, Floats]:
    """Return a score's choices on a half and the judge's values there on the other, of all groups and without each.

    Args:
        judge: (2, K, GROUPS), nats and tokens of groups by candidate.
        score: the same, of the score that chooses.
        half: (GROUPS,), the groups by which it chooses.
        last: whether the last candidate is always chosen.

    Returns:
        Places among the candidates, and nats per token; (1 + GROUPS,) each.
    """
    other = _per_token(judge, ~half)
    rows = np.arange(len(_KEPT))
    chosen = np.full(len(_KEPT), len(judge[0]) - 1) if last else _per_token(score, half).argmax(axis=1)
    return chosen, other[rows, chosen]


def _per_token(values: Floats, half: Bools) -> Floats:
    """Return nats per token on a half of the groups, by groups kept and candidate, (1 + GROUPS, K)."""
    sums = np.zeros((2, len(_KEPT), values.shape[1]))
    for group in np.flatnonzero(half):  # one after the other: a sum does not depend on the groups left out before it
        sums += np.where(_KEPT[:, group, None], values[:, None, :, group], 0.0)
    return np.asarray(sums[0] / sums[1])
