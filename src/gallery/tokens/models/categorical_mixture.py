r"""Mixture of vectors of categorical responses with gaps: naive Bayes without labels (Murphy 2012, section 27.2.1).

    p(y_1 .. y_R | q = k) = prod_r Cat(y_r | b_k^(r))                                              (27.3)

A missing response (-1) drops out of the product: it is integrated out, taken as missing at random. With the responses
in 1-of-M coding, x_rm = [y_r = m], log p(x, q = k) = log pi_k + sum_rm x_rm log b_km^(r) is that of a mixture of
multinomials whose words are the pairs (r, m); only the normalisation differs, which is over m for each r. A table
without responses keeps its entries.
"""

from typing import Any, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.models.estimator import estimator
from heldout.models.vem import Family, PointMixture, shares
from heldout.typing import Floats, Ints


class Tables(NamedTuple):
    """Parameters of a mixture of categorical vectors: pi, (K,), and b, (K, R, M); pi and every b[k, r] sum to 1."""

    weights: Floats
    b: Floats

    def smoothed(self, constant: float) -> "Tables":
        """Return the parameters with `constant` added to every b[k, r, m] and renormalised."""
        return self._replace(b=(self.b + constant) / (1.0 + constant * self.b.shape[2]))


def indicators(responses: Any, model: str, values: int | None = None) -> Floats:
    """Return the 1-of-M coding, (N, R, M), of (N, R) responses 0 .. M - 1; a gap (-1) is all 0.

    M is the largest response and one, where `values` is None; `model` is the model's name, for the message of an
    InputError for anything else, or no response at all.
    """
    array = np.asarray(responses)
    if array.ndim != 2 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{model}: the responses must be a matrix of whole numbers; this one is {array.shape}")
    M = int(array.max()) + 1 if values is None else values
    if array.min() < -1 or array.max() >= M or array.max() < 0:
        raise InputError(
            f"{model}: responses go from 0 to {M - 1}, -1 is a gap; there are {array.min()}..{array.max()}"
        )
    return np.asarray(array[:, :, None] == np.arange(M), dtype=float)


@estimator
class CategoricalMixture(PointMixture[Floats, Tables]):
    """Mixture of vectors of categorical responses.

    Other arguments are as of `DiscreteVEM`, attributes as of `PointVEM`; `parameters_` is a `Tables`.

    Args:
        values: M, the number of values of a response; None for as many as the data show.

    Examples:
        >>> votes = np.array([[0, 0, -1], [0, 0, 1], [1, -1, 0], [1, 1, 0]])  # -1: did not vote
        >>> model = CategoricalMixture(2, posterior="exact", random_state=0).fit(votes)
        >>> model.log_likelihood(np.array([[0, 0, 1], [-1, -1, -1]])).round(3)
        array([-0.693,  0.   ])
    """

    family = Family(
        "mixture of categorical vectors", "discrete", r"h \in \{1, \dots, K\}", r"\prod_r b^{(r)}_{h y_r}", ""
    )

    values: int | None = None

    def check(self, X: Ints) -> Floats:
        """Return the 1-of-M coding, (N, R, M), of the (N, R) responses X; raises as `indicators` does."""
        self.check_posterior()
        fitted = self.parameters_.b.shape[2] if hasattr(self, "parameters_") else None
        return indicators(X, self.family.name, self.values or fitted)

    def start(self, data: Floats, random: np.random.Generator) -> Tables:
        """Return equal weights, and tables drawn near the shares of all responses."""
        _, R, M = data.shape
        shares = data.sum(axis=0) + 1.0
        shares /= shares.sum(axis=1, keepdims=True)
        b = shares * random.uniform(0.5, 1.5, (self.n_components, R, M))
        return Tables(np.full(self.n_components, 1.0 / self.n_components), b / b.sum(axis=2, keepdims=True))

    def log_joint(self, data: Floats, parameters: Tables) -> Floats:
        """Return log pi_k + sum_r log b_k^(r)[y_r], (N, K) nats; -inf where a response has probability 0."""
        flat = data.reshape(len(data), -1)
        with np.errstate(divide="ignore"):
            prior, logs = np.log(parameters.weights), np.log(parameters.b).reshape(len(parameters.b), -1)
        possible = np.isfinite(logs)
        joint: Floats = prior + flat @ np.where(possible, logs, 0.0).T
        joint[flat @ ~possible.T > 0.0] = -np.inf
        return joint

    def vm_step(self, data: Floats, latent: Floats, parameters: Tables) -> Tables:
        """Return the weights and tables that maximise the objective."""
        b = shares(np.einsum("nk,nrm->krm", latent, data), parameters.b)
        return Tables(latent.sum(axis=0) / len(data), b)
