r"""LDA by online variational Bayes (Murphy 2012, section 27.3.7, algorithm 27.2; Hoffman et al. 2010).

At step t = 0, 1, .. a batch S of documents is drawn, its E step is done with the current b~, and

    rho_t = (tau_0 + t)^-kappa,
    b~_vk <- (1 - rho_t) b~_vk + rho_t (gamma_v + (N / |S|) sum_{i in S} n_iv c~_ivk):

a natural gradient step on the bound of `gallery.tokens.models.lda_vb`, taken as if the whole corpus were like the
batch. With all documents in one batch and kappa = 0 it is a round of batch VB. tau_0 is at least 1: then rho_t is at
most 1. (Algorithm 27.2 counts from 1 with batches of one document; Hoffman et al. and scikit-learn count from 0 and 1.)
"""

from collections.abc import Iterator
from dataclasses import field

import numpy as np
import scipy.sparse as sp

from gallery.tokens.models.lda_vb import LDAVB, Record, expected_log
from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.typing import Floats


@estimator
class OnlineLDAVB(LDAVB):
    """LDA by online variational Bayes on a (D, V) matrix of counts; see `LDAVB` for its other arguments.

    Args:
        batch: documents of a batch.
        tau: tau_0, at least 1.
        kappa: the decay of the step; in (1/2, 1] the sum of the steps diverges, and the sum of their squares does not.
        passes: how often every document is visited, in a new random order each time.
        random_state: generator of the start and the orders.

    Attributes (after `fit`): as in `LDAVB`; bound_ has one value a pass.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = OnlineLDAVB(2, alpha=0.5, gamma=0.1, batch=2, passes=20, random_state=0).fit(counts)
        >>> model.components_.max(axis=1).round(1)
        array([0.5, 0.5])
    """

    name = "LDA by online variational Bayes"

    iterations: int = field(default=1, init=False)  # no limit but `passes`
    tolerance: float = field(default=-np.inf, init=False)
    batch: int = 64
    tau: float = 1.0
    kappa: float = 0.7
    passes: int = 1

    def check(self) -> None:
        """Raise InputError for a setting out of range."""
        super().check()
        if not (self.batch >= 1 and self.passes >= 0 and self.tau >= 1.0 and self.kappa >= 0.0):
            raise InputError(
                f"{self.name}: batches of {self.batch}, {self.passes} passes, tau {self.tau}, kappa {self.kappa}; these"
                " must be at least 1, 0, 1 and 0"
            )

    def rounds(self, counts: sp.csr_array, b: Floats, random: np.random.Generator, record: Record) -> Iterator[Floats]:
        """Yield b~ after each pass from b on; `record` is called after every batch."""
        D, t, analysed = counts.shape[0], 0, 0
        for _ in range(self.passes):
            order = random.permutation(D)
            for first in range(0, D, self.batch):
                chosen = order[first : first + self.batch]
                _, expected = self._e_step(counts[chosen], expected_log(b))
                step = (self.tau + t) ** -self.kappa
                b = (1.0 - step) * b + step * (self.gamma + D / len(chosen) * expected)
                t, analysed = t + 1, analysed + len(chosen)
                record(analysed, b)
            yield b
