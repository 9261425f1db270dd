"""The likelihood of binary data under a restricted Boltzmann machine, log p(v) = -F(v) - log Z.

log Z is exact where a layer has at most `EXACT_UNITS` units (`heldout.evaluators.log_partition`), and else annealed
from independent units with the data's own means (`heldout.evaluators.log_partition_annealed`). All rows share its
error, the evaluation's `bias`.
"""

import numpy as np

from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.log_partition import log_likelihood, log_partition
from heldout.evaluators.log_partition_annealed import log_partition_annealed
from heldout.models.harmonium_units import BINARY
from heldout.models.rbm import RBM

EXACT_UNITS = 20  # units of the smaller layer up to which its states are summed over: a second for 1,000 other units
CHAINS = 100


def rbm_marginal(
    model: RBM, X: object, temperatures: int, random: np.random.Generator, *, exact: bool = False
) -> Evaluation:
    """Return log p(v) of (N, R) binary rows, (N,) nats; log Z is `exact` up to 24 units, or as the module says.

    Raises:
        InputError: for units or data that are not binary, other columns, or too many units to be exact.

    Examples:
        >>> from heldout.models.rbm import RBM
        >>> v = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> model = RBM(1, epochs=5, random_state=0).fit(v)
        >>> round(float(np.exp(rbm_marginal(model, v, 1000, np.random.default_rng(0)).log_likelihood).sum()), 12)
        1.0
    """
    R, K = model.weights_.shape
    if (model.visible, model.hidden) != (BINARY, BINARY):
        raise InputError(f"RBM: {model.visible} visible and {model.hidden} hidden units; both must be binary here")
    v = model.visible_units.check(X)
    if v.shape[1] != R:
        raise InputError(f"binary units: {v.shape[1]} columns, but the machine has {R} visible units; give its own")
    if exact or min(R, K) <= EXACT_UNITS:
        return log_likelihood(model, v, log_partition(model))
    base = model.visible_units.bias(v)
    return log_likelihood(model, v, *log_partition_annealed(model, CHAINS, temperatures, random, base=base))
