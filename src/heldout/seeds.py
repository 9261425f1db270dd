"""Random numbers from named axes, never from job order.

A generator is determined by its purpose and by the axes that it varies over, for example `generator("half-split",
corpus="cranfield", seed=0)`. Two jobs with the same purpose and axes draw the same numbers wherever and whenever they
run; nothing else changes a draw.
"""

import hashlib
import json

import numpy as np

Axes = dict[str, str | int | float]  # axes over which numbers vary


def entropy(purpose: str, **axes: str | int | float) -> int:
    """Return the 256-bit integer of a purpose and axes (in any order)."""
    name = json.dumps({"purpose": purpose, "axes": axes}, sort_keys=True)
    return int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")


def generator(purpose: str, **axes: str | int | float) -> np.random.Generator:
    """Return the PCG64 generator of a purpose and axes.

    Examples:
        >>> once = generator("half-split", corpus="cranfield", seed=0)
        >>> again = generator("half-split", seed=0, corpus="cranfield")
        >>> once.random() == again.random()
        True
    """
    return np.random.default_rng(np.random.SeedSequence(entropy(purpose, **axes)))
