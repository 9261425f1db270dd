r"""Mixture of Poissons on vectors of counts (Murphy 2012, section 27.2.1), by point or exact EM.

    p(n | q = k) = prod_v Poi(n_v | lambda_vk)                                                     (27.5)
    L = sum_v n_v,   L | q = k ~ Poi(Lambda_k),   Lambda_k = sum_v lambda_vk.

With b_k = lambda_k / Lambda_k this is a Poisson length times the multinomial of 27.4, and the mixture is

    p(n) = sum_k pi_k Poi(L | Lambda_k) Mu(n | L, b_k):

the multinomial mixture, were the length not evidence on the component. The VM step is the mean count of each word,
lambda_vk = sum_d q_d(k) n_dv / sum_d q_d(k). A component without documents keeps its rates.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.models.sparse_products import with_values
from heldout.models.vem import Family, PointMixture
from heldout.typing import Floats


class Poissons(NamedTuple):
    """Parameters of a mixture of Poissons: pi, (K,), which sums to 1, and the rates lambda, (K, V)."""

    weights: Floats
    rates: Floats

    def smoothed(self, constant: float) -> "Poissons":
        """Return the parameters with every b_k smoothed as in `Multinomials`, the expected lengths kept."""
        lengths = self.rates.sum(axis=1, keepdims=True)
        return self._replace(rates=(self.rates + constant * lengths) / (1.0 + constant * self.rates.shape[1]))


class PoissonMixture(PointMixture[sp.csr_array, Poissons]):
    """Mixture of Poissons on a (D, V) matrix of counts; log-likelihoods are of the vector of counts, in nats.

    Arguments as of `DiscreteVEM`, attributes as of `PointVEM`; `parameters_` is a `Poissons`.

    Examples:
        >>> counts = np.array([[3, 2, 0], [1, 4, 0], [0, 0, 6], [0, 0, 4]])  # documents by words
        >>> PoissonMixture(2, posterior="exact", random_state=0).fit(counts).parameters_.rates.round(2)
        array([[0., 0., 5.],
               [2., 3., 0.]])
    """

    family = Family(
        "mixture of Poissons", "discrete", r"h \in \{1, \dots, K\}", r"\prod_v \mathrm{Poisson}(n_v; \lambda_{vh})", ""
    )

    def check(self, X: Any) -> sp.csr_array:
        """Return X, (D, V) whole counts, as a sparse array without stored zeros."""
        self.check_posterior()
        return checked_counts(X, self.family.name, whole=True)

    def start(self, data: sp.csr_array, random: np.random.Generator) -> Poissons:
        """Return equal weights; each component's rates are the mean of one random document's and the corpus's."""
        if data.shape[0] < self.n_components:
            raise InputError(
                f"{self.family.name}: {self.n_components} components cannot start from {data.shape[0]} documents; take"
                " fewer"
            )
        chosen = np.sort(random.choice(data.shape[0], self.n_components, replace=False))
        rates = 0.5 * (data[chosen].toarray() + data.sum(axis=0) / data.shape[0])
        return Poissons(np.full(self.n_components, 1.0 / self.n_components), rates)

    def log_joint(self, data: sp.csr_array, parameters: Poissons) -> Floats:
        """Return log pi_k + sum_v log Poi(n_v | lambda_vk), (D, K) nats; -inf where a word has rate 0."""
        factorials = with_values(data, gammaln(data.data + 1.0)).sum(axis=1)
        with np.errstate(divide="ignore"):
            prior, log_rates = np.log(parameters.weights), np.log(parameters.rates)
        # a sparse product uses stored, positive counts only, so that 0 log 0 does not arise
        return np.asarray(data @ log_rates.T + prior - parameters.rates.sum(axis=1) - factorials[:, None])

    def vm_step(self, data: sp.csr_array, latent: Floats, parameters: Poissons) -> Poissons:
        """Return the weights and rates that maximise the objective."""
        documents = latent.sum(axis=0)
        rates = np.asarray((data.T @ latent).T) / np.where(documents > 0.0, documents, 1.0)[:, None]
        return Poissons(documents / data.shape[0], np.where(documents[:, None] > 0.0, rates, parameters.rates))
