"""Random numbers inside kernels: one stream per document, so that documents' draws are independent of each other.

SplitMix64 (Steele, Lea and Flood, 2014) advances a counter by an odd constant and mixes it by a bijection. Its state is
one 64-bit word and it does not branch, which suits an inner loop of a few nanoseconds.
"""

import numba as nb
import numpy as np
from numpy.typing import NDArray

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


def starts(rng: np.random.Generator, documents: int) -> NDArray[np.uint64]:
    """Return the (D, 1) initial states of one stream per document; `uniform` takes a row."""
    return rng.integers(0, 2**64, size=(documents, 1), dtype=np.uint64)


@nb.njit("float64(uint64[::1])", cache=True)
def uniform(state):  # type: ignore[no-untyped-def]
    """Return the stream's next number, uniform on [0, 1) with 53 bits, and advance `state`."""
    state[0] += STEP
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * UNIT


@nb.njit("int64(float64[::1], float64)", cache=True, nogil=True)
def first_above(sums, x):  # type: ignore[no-untyped-def]
    """Return the first k at which the cumulative sums, (K,), exceed x; the last if none does."""
    low, high = 0, sums.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low
