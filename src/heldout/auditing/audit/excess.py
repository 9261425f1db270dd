"""The excess of full folding-in over the likelihood, beside the law's expectation and the most that any topics allow.

The law and the bound are functions of the documents' lengths and the prior (`heldout.evaluators.expected_excess`,
`heldout.evaluators.excess`). The mean-field bound, which an audit has, is mostly nearer, by these topics and words.
"""

from collections.abc import Callable

import numpy as np

from heldout.auditing.audit.result import FoldingInExcess
from heldout.auditing.blocks import LIKELIHOOD
from heldout.evaluators import FULL
from heldout.evaluators.excess import CONVEX, largest_excess
from heldout.evaluators.expected_excess import expected_excess
from heldout.typing import Floats, Ints

LAW_STEPS, BOUND_STEPS = 3e7, 1e9  # the most steps, some seconds of one core
LAW_CALL, BOUND_CALL = 200.0, 2_000.0  # steps in the time of a call of NumPy


def folding_in_excess(parameters: dict[str, Floats], lengths: Ints, nats: dict[str, Floats]) -> FoldingInExcess | None:
    """Return the excess summed over the documents that have tokens and a finite likelihood.

    Args:
        parameters: the prior's; None is returned for another than a Dirichlet, of all documents or of each its own.
        lengths: (D,) their tokens.
        nats: by evaluator, (D,) their log-likelihoods.
    """
    alphas = parameters.get("alphas", parameters.get("alpha"))
    if alphas is None:
        return None
    with np.errstate(invalid="ignore"):  # of an impossible document
        gaps = nats[FULL] - nats[LIKELIHOOD]
    scored = (lengths > 0) & np.isfinite(gaps)
    priors, numbers = np.unique(np.atleast_2d(alphas), axis=0, return_inverse=True)
    group_of = np.broadcast_to(numbers.ravel(), len(lengths))
    groups = [(lengths[scored & (group_of == g)], alpha[alpha > 0.0]) for g, alpha in enumerate(priors)]

    def total(excess: Callable[[Ints, Floats], Floats], cost: Callable[[Ints, Floats], float], most: float) -> float:
        steps = sum(cost(n, alpha) for n, alpha in groups)
        return float(sum(excess(n, alpha).sum() for n, alpha in groups)) if steps <= most else np.nan

    return FoldingInExcess(
        measured=float(gaps[scored].sum()),
        expected=total(expected_excess, _law_cost, LAW_STEPS),
        largest=total(largest_excess, _bound_cost, BOUND_STEPS),
    )


def _law_cost(lengths: Ints, alpha: Floats) -> float:
    return float((np.unique(lengths) + LAW_CALL).sum()) * len(np.unique(alpha))


def _bound_cost(lengths: Ints, alpha: Floats) -> float:
    """Return the steps of the recurrence over topics below `CONVEX` and one more (`heldout.evaluators.excess`, 1.)."""
    longest = int(lengths.max(initial=0))
    topics = min(longest, len(alpha), int((alpha < CONVEX).sum()) + 1)
    return longest * (longest / 2.0 + BOUND_CALL) * float((1.0 / np.arange(2, topics + 1)).sum())
