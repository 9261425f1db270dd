r"""LDA by online variational Bayes (Murphy 2012, section 27.3.7, algorithm 27.2; Hoffman et al. 2010).

At step t = 0, 1, .. a batch S of documents is drawn, its E step is done with the current b~, and

    rho_t = (tau_0 + t)^-kappa,
    b~_vk <- (1 - rho_t) b~_vk + rho_t (gamma_v + (N / |S|) sum_{i in S} n_iv c~_ivk):

a natural gradient step on the bound of `heldout.models.lda_vb`, taken as if the whole corpus were like the batch. With
all documents in one batch and kappa = 0 it is a round of batch VB. tau_0 is at least 1: then rho_t is at most 1.
(Algorithm 27.2 counts from 1 with batches of one document; Hoffman et al. and scikit-learn count from 0 and 1.)
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.models.lda_vb import LDAVB, Float, Record


class OnlineLDAVB(LDAVB):
    """LDA by online variational Bayes on a (D, V) matrix of counts; see `LDAVB` for what is not here.

    Args:
        n_components: K.
        alpha: the Dirichlet parameter of pi.
        gamma: the Dirichlet parameter of b.
        batch: documents of a batch.
        tau: tau_0, at least 1.
        kappa: the decay of the step; in (1/2, 1] the steps' sum diverges and that of their squares does not.
        passes: how often every document is visited, in a new random order each time.
        document_iterations: see `LDAVB`.
        document_tolerance: see `LDAVB`.
        random_state: generator of the start and the orders.

    Attributes (after `fit`): those of `LDAVB`; bound_ has one value a pass.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> model = OnlineLDAVB(2, alpha=0.5, gamma=0.1, batch=2, passes=20, random_state=0).fit(counts)
        >>> model.components_.max(axis=1).round(1)
        array([0.5, 0.5])
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        gamma: float = 0.1,
        batch: int = 64,
        tau: float = 1.0,
        kappa: float = 0.7,
        passes: int = 1,
        document_iterations: int = 100,
        document_tolerance: float = 1e-3,
        random_state: np.random.Generator | int | None = None,
    ) -> None:
        super().__init__(
            n_components,
            alpha=alpha,
            gamma=gamma,
            document_iterations=document_iterations,
            document_tolerance=document_tolerance,
            random_state=random_state,
        )
        self.batch = batch
        self.tau = tau
        self.kappa = kappa
        self.passes = passes

    def fit(
        self,
        X: sp.sparray | NDArray[Any],
        y: None = None,  # noqa: ARG002
        *,
        pseudo_counts: Float | None = None,
        record: Record | None = None,
    ) -> Self:
        """Run the passes on counts X; the arguments are those of `LDAVB.fit`, `record` is called after every batch.

        Raises:
            InputError: as `LDAVB.fit` does.
        """
        counts = checked_counts(X, "LDA by online variational Bayes")
        if not (self.batch >= 1 and self.passes >= 0 and self.tau >= 1.0 and self.kappa >= 0.0):
            raise InputError(
                f"LDA by online variational Bayes: batches of {self.batch}, {self.passes} passes, tau {self.tau},"
                f" kappa {self.kappa}; these must be at least 1, 0, 1 and 0"
            )
        random = np.random.default_rng(self.random_state)
        b = self.start(counts.shape[1], random)
        b = b if pseudo_counts is None else pseudo_counts
        D, t, analysed, bounds = counts.shape[0], 0, 0, []
        for _ in range(self.passes):
            order = random.permutation(D)
            for first in range(0, D, self.batch):
                chosen = order[first : first + self.batch]
                _, expected = self._e_step(counts[chosen], b)
                step = (self.tau + t) ** -self.kappa
                b = (1.0 - step) * b + step * (self.gamma + D / len(chosen) * expected)
                t, analysed = t + 1, analysed + len(chosen)
                if record is not None:
                    record(analysed, b)
            bounds.append(self.bound(counts, b))
        self.pseudo_counts_, self.bound_ = b, np.array(bounds)
        self.document_topics_ = self.transform(counts)
        return self
