"""Random numbers inside kernels: one stream per document, so that no document's draws depend on another's.

SplitMix64 (Steele, Lea and Flood, 2014): a counter in steps of an odd constant, mixed by a bijection. One 64-bit word
of state and no branch suit an inner loop of a few nanoseconds.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


def starts(rng: np.random.Generator, documents: int) -> NDArray[np.uint64]:
    """Return (D, 1) states, one stream per document; a row is what `uniform` takes."""
    return rng.integers(0, 2**64, size=(documents, 1), dtype=np.uint64)


@nb.njit("float64(uint64[::1])", cache=True, inline="always")
def uniform(state):  # type: ignore[no-untyped-def]
    """Return the stream's next number, uniform on [0, 1) with 53 bits, and move on."""
    state[0] += STEP
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * UNIT
