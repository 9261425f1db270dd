r"""Agreement of Markov chains with one another and with their own past.

Split R-hat (Gelman et al., Bayesian Data Analysis, third edition, section 11.4). Each chain's last half is cut into
two halves of n values psi[i, j], i = 1..n, j = 1..m, m twice the number of chains. With the means psi[., j] of the
halves, their mean psi[., .] and the variances s[j]^2 = sum_i (psi[i, j] - psi[., j])^2 / (n - 1),

    B = n / (m - 1) sum_j (psi[., j] - psi[., .])^2,        W = 1 / m sum_j s[j]^2,
    R-hat = sqrt( ((n - 1) / n W + B / n) / W ),

near 1 where chains agree with one another and with their own past. It compares variances: chains that stay in
different modes give a large value even where the modes' heights hardly differ.
"""

import numpy as np

from heldout.errors import InputError
from heldout.typing import Floats

SMALLEST_HALF = 2  # values that a variance needs


def split_r_hat(traces: Floats) -> float:
    """Return split R-hat (BDA3, section 11.4) of (chains, records) values; an odd record in the middle is left out.

    It is 1 where no value differs from any other, infinity where the halves differ but nothing varies within them.

    Raises:
        InputError: when a chain has fewer than 4 records.
    """
    n = traces.shape[1] // 2
    if n < SMALLEST_HALF:
        raise InputError(f"R-hat: {traces.shape[1]} records per chain; run more sweeps, so that there are 4 or more")
    halves = np.concatenate([traces[:, :n], traces[:, -n:]])
    variance_within = float(halves.var(axis=1, ddof=1).mean())
    variance_between = n * float(halves.mean(axis=1).var(ddof=1))
    if variance_within == 0.0:
        return 1.0 if variance_between == 0.0 else float("inf")
    return float(np.sqrt(((n - 1) / n * variance_within + variance_between / n) / variance_within))
