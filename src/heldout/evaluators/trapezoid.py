r"""The trapezoid rule for exp(f) in few dimensions, where exp(f) is smooth and may be narrow.

Of an analytic integrand that vanishes at the ends the rule converges geometrically (Trefethen and Weideman, 2014); of
a Gaussian of standard deviation s the relative error is 2 exp(-2 (pi s / h)^2) at spacing h. So the spacing is halved
until two values agree, on the box where the integrand is not negligible, which is found on the way: it shrinks to what
lies within `NEGLIGIBLE` of the highest value, and grows again where that is cut off.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from heldout.typing import Floats

NEGLIGIBLE = 60.0  # nats below the highest value
SETTLED = 1e-8  # nats between the values at two spacings


def grid(low: Floats, high: Floats, spacing: float) -> Floats:
    """Return the points, (J, n), of a box from low to high, (n,) each, or a little more."""
    axes = [np.arange(a, b + spacing / 2.0, spacing) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low))


def log_integral(
    f: Callable[[Floats], Floats],
    low: Floats,
    high: Floats,
    spacing: float,
    *,
    most_nodes: int,
    mode: Floats | None = None,
) -> float | None:
    """Return log of the integral of exp(f) over a box, nats; None where it does not settle.

    `f` gives the (J,) values of (J, n) points, nats; the integrand is negligible beyond the (n,) ends of the box.
    `spacing` is the first grid's, and none has more than `most_nodes`; `mode` is the mode, or near it, where the
    first grid might miss it; of a concave f it does not.

    Examples:
        >>> ends = np.full(1, 30.0)
        >>> narrow = log_integral(lambda z: -5e3 * z[:, 0] ** 2, -ends, ends, 0.4, most_nodes=10**4)
        >>> abs(narrow - 0.5 * math.log(2.0 * math.pi / 1e4)) < 1e-7
        True
    """
    first, last, n = low, high, len(low)
    previous = math.nan
    while np.prod((high - low) / spacing + 2.0) <= most_nodes:
        nodes = grid(low, high, spacing)
        values = f(nodes)
        if mode is None:
            kept_nodes = nodes[values > values.max() - NEGLIGIBLE]
        else:
            kept_nodes = np.vstack([nodes[values > max(values.max(), f(mode[None])[0]) - NEGLIGIBLE], mode])
        lowest, highest = kept_nodes.min(axis=0), kept_nodes.max(axis=0)
        cut = ((lowest < low + spacing / 2.0) & (low > first)) | ((highest > high - spacing / 2.0) & (high < last))
        if not cut.any():
            total = float(logsumexp(values)) + n * math.log(spacing)
            if abs(total - previous) < SETTLED:
                return total
            previous = total
        margin = np.where(cut, (high - low) / 2.0, spacing)
        low, high = np.maximum(lowest - margin, first), np.minimum(highest + margin, last)
        spacing = spacing if cut.any() else spacing / 2.0
    return None
