r"""Mixture of multinomials with a point posterior (classification EM), and its exact EM (Welling et al. 2008, 4.1).

Each document has one discrete latent variable, its component (in PLSA each token has one):

    log p(x, h = k) = log pi_k + sum_w n(w) log phi[k, w]
    log p(x)        = logsumexp_k log p(x, k)          exact
    max_k log p(x, k) <= log p(x)                      the bound of a point posterior, equation 4.30

x is the document's stream of tokens, so there is no multinomial coefficient: perplexities are per token. VE step: the
best component of each document (or q(k) = p(k | x)). VM step: pi_k ∝ sum_d q_d(k), phi[k, w] ∝ sum_d q_d(k) n(d, w). A
component without tokens keeps its phi, which no longer affects the objective.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from heldout.errors import InputError
from heldout.models.estimator import checked_counts
from heldout.models.vem import Family, PointMixture, shares
from heldout.typing import Floats


class Multinomials(NamedTuple):
    """Parameters of a mixture of multinomials: pi (K,) and phi (K, V); pi and every row of phi sum to 1."""

    weights: Floats
    phi: Floats

    def smoothed(self, constant: float) -> "Multinomials":
        """Return the parameters with `constant` added to every phi[k, w] and renormalised (section 5)."""
        return self._replace(phi=(self.phi + constant) / (1.0 + constant * self.phi.shape[1]))


class MultinomialMixture(PointMixture[sp.csr_array, Multinomials]):
    """Mixture of multinomials on a matrix of counts.

    Arguments as of `DiscreteVEM`, attributes as of `PointVEM`; `parameters_` is a `Multinomials`.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> model = MultinomialMixture(2, random_state=0).fit(counts)
        >>> model.parameters_.phi
        array([[0.5, 0.5, 0. , 0. ],
               [0. , 0. , 0.5, 0.5]])
        >>> model.log_likelihood(counts).round(3)  # log p(x_d) in nats
        array([-4.159, -4.159, -4.159, -4.159])
    """

    family = Family("mixture of multinomials", "discrete", r"h \in \{1, \dots, K\}", r"\prod_w \phi_{hw}^{n_w}", "4.30")

    def check(self, X: Any) -> sp.csr_array:
        """Return X, (D, V) counts, as a sparse array without stored zeros."""
        self.check_posterior()
        return checked_counts(X, self.family.name)

    def start(self, data: sp.csr_array, random: np.random.Generator) -> Multinomials:
        """Return equal weights; each phi_k is the mean of one random document's and the corpus's word frequencies."""
        full = np.flatnonzero(data.sum(axis=1) > 0.0)
        K = self.n_components
        if len(full) < K:
            raise InputError(f"{self.family.name}: {K} components cannot start from {len(full)} documents; take fewer")
        phi = data[np.sort(random.choice(full, K, replace=False))].toarray()
        phi /= phi.sum(axis=1, keepdims=True)
        together = data.sum(axis=0)
        return Multinomials(np.full(K, 1.0 / K), 0.5 * (phi + together / together.sum()))

    def log_joint(self, data: sp.csr_array, parameters: Multinomials) -> Floats:
        """Return log pi_k + sum_w n(d, w) log phi[k, w], (D, K) nats; -inf where a word has probability 0."""
        with np.errstate(divide="ignore"):
            # a sparse product uses stored, positive counts only, so that 0 log 0 does not arise
            return np.asarray(data @ np.log(parameters.phi).T + np.log(parameters.weights))

    def vm_step(self, data: sp.csr_array, latent: Floats, parameters: Multinomials) -> Multinomials:
        """Return the weights and word probabilities that maximise the objective."""
        phi = shares(np.asarray((data.T @ latent).T), parameters.phi)
        return Multinomials(latent.sum(axis=0) / data.shape[0], phi)
