r"""The user rating profile, or simplex factor model, by variational EM (Murphy 2012, 27.14; Marlin 2003).

    p(y_1 .. y_R | pi) = prod_r Cat(y_r | B^(r) pi),      pi ~ Dir(alpha)                          (27.14)

LDA whose every response r has tables of its own: response r draws its component z_r ~ pi and its value from
b^(r)[z_r]. A missing response (-1) drops out. With the pairs (r, m) as words, q(pi, z) = Dir(pi~) prod_r Cat(z~_r) has
the E step 27.44 and 27.45 of LDA, and the M step is 27.46 with the normalisation over m for each r,

    b_km^(r) ∝ gamma + sum_i z~_irk [y_ir = m],

which maximises the bound plus gamma sum log b: the pseudo-counts are those of a Dirichlet of parameter gamma + 1.
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gallery.tokens.models.categorical_mixture import indicators
from gallery.tokens.models.lda_vb import MeanField, document_bounds
from heldout.models.estimator import estimator
from heldout.typing import Floats, Ints

ROUND_ITERATIONS = 10  # iterations of a round's E step, which starts where the last one ended


@estimator
class UserRatingProfile(MeanField):
    """The user rating profile on (N, R) responses 0 .. M - 1, with -1 where there is none.

    Other arguments are as of `MeanField`, with pseudo-counts `gamma` of every value, and the tolerance per response.

    Args:
        values: M; None is as many as the data show.

    Attributes (after `fit`):
        tables_: (R, K, M), b; `heldout.evaluators.count_polynomial.rating_profile_marginal` takes them with alpha_.
        alpha_: (K,).
        objective_: the bound plus gamma sum log b, nats, after each round.

    Examples:
        >>> ratings = np.array([[4, 4, -1], [4, 3, 0], [0, -1, 4], [0, 0, 4]])  # users by items
        >>> model = UserRatingProfile(2, values=5, random_state=0).fit(ratings)
        >>> model.tables_.shape
        (3, 2, 5)
    """

    name = "user rating profile"

    values: int | None = None
    alpha: float = 0.5
    document_tolerance: float = 1e-4

    def fit(self, X: Ints, y: None = None) -> Self:  # noqa: ARG002
        """Run the rounds on responses X; raises InputError for bad responses or a setting out of range."""
        self.check()
        coded = indicators(X, self.name, self.values)
        N, R, M = coded.shape
        counts = sp.csr_array(coded.reshape(N, R * M))
        self.alpha_ = self._alphas()
        random, objective = np.random.default_rng(self.random_state), []
        shares = coded.sum(axis=0)[:, None, :] + 1.0
        expected = shares * random.uniform(0.5, 1.5, (R, self.n_components, M))
        pseudo = None
        for _ in range(self.iterations):
            self.tables_ = (self.gamma + expected) / (self.gamma + expected).sum(axis=2, keepdims=True)
            pseudo, sums = self._e_step(counts, self._log_b(), ROUND_ITERATIONS, pseudo)
            bound = document_bounds(counts, self._log_b(), self.alpha_, pseudo).sum()
            objective.append(float(bound + self.gamma * np.log(self.tables_).sum()))
            if len(objective) > 1 and objective[-1] - objective[-2] < self.tolerance * counts.nnz:
                break
            expected = sums.reshape(self.n_components, R, M).transpose(1, 0, 2)
        self.objective_ = np.array(objective)
        return self

    def bound(self, X: Ints) -> Floats:
        """Return the variational bound on log p(y | alpha, b), (N,) nats, of responses X."""
        coded = indicators(X, self.name, self.tables_.shape[2])
        counts: Any = sp.csr_array(coded.reshape(len(coded), -1))
        log_b = self._log_b()
        return document_bounds(counts, log_b, self.alpha_, self._e_step(counts, log_b)[0])

    def _log_b(self) -> Floats:
        """Return log b with a column for each pair (r, m), (K, R M)."""
        return np.asarray(np.log(self.tables_).transpose(1, 0, 2).reshape(self.n_components, -1))
