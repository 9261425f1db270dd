r"""LDA by variational EM with a point estimate of the topics (Murphy 2012, section 27.3.6, equations 27.38 to 27.46).

In its version for counts, with E log pi_ik = psi(pi~_ik) - psi(sum_k' pi~_ik') (27.40):

    q(pi_i, c_i) = Dir(pi_i | pi~_i) prod_v Mu(c_iv | n_iv, c~_iv)                               (27.43)
    pi~_ik = alpha_k + sum_v n_iv c~_ivk,     c~_ivk ∝ b_vk exp(E log pi_ik)                     (27.44, 27.45)
    b_vk   ∝ gamma_v + sum_i n_iv c~_ivk                                                         (27.46)

27.46 is the mode under the prior Dir(gamma + 1) of a topic. So the objective

    sum_i bound_i + gamma sum_kv log b_vk,     bound_i <= log p(w_i | alpha, b),

never falls: the E step (`gallery.tokens.models.lda_vb.e_step` with log b for its expectation) raises the first sum, the
M step both. The start is as in `gallery.tokens.models.lda_vb`, normalised.
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gallery.tokens.models.lda_vb import START_SHAPE, MeanField, document_bounds
from heldout.models.estimator import checked_counts, estimator
from heldout.topics import Topics
from heldout.typing import Floats


@estimator
class LDAVEM(MeanField):
    """LDA by variational EM on a (D, V) matrix of counts; arguments as in `MeanField`.

    Attributes (after `fit`):
        components_: (K, V), the topics.
        document_topics_: (D, K), pi~.
        objective_: nats, after each round's E step.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> LDAVEM(2, alpha=0.5, gamma=0.1, random_state=0).fit(counts).components_.round(2)
        array([[0.01, 0.01, 0.49, 0.49],
               [0.49, 0.49, 0.01, 0.01]])
    """

    name = "LDA by variational EM"

    def fit(self, X: sp.sparray | NDArray[Any], y: None = None) -> Self:  # noqa: ARG002
        """Run the rounds on (D, V) counts X, an E step and an M step each, and an E step at the end.

        A document's E step starts where its last one ended.

        Raises:
            InputError: for a negative or undefined count, counts without tokens, or a setting out of range.
        """
        self.check()
        counts = checked_counts(X, self.name)
        random, tokens = np.random.default_rng(self.random_state), float(counts.sum())
        b = random.gamma(START_SHAPE, 1.0 / START_SHAPE, (self.n_components, counts.shape[1]))
        log_b, objectives = np.log(b / b.sum(axis=1, keepdims=True)), list[float]()
        pseudo: Floats | None = None
        for last in range(self.iterations + 1):
            pseudo, expected = self._e_step(counts, log_b, start=pseudo)
            self.document_topics_ = pseudo
            bounds = document_bounds(counts, log_b, self._alphas(), pseudo)
            objectives.append(float(bounds.sum() + self.gamma * log_b.sum()))
            if last == self.iterations or (last and objectives[-1] - objectives[-2] < self.tolerance * tokens):
                break
            b = self.gamma + expected
            log_b = np.log(b / b.sum(axis=1, keepdims=True))
        self.components_, self.objective_ = np.exp(log_b), np.array(objectives)
        return self

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return the topics with the documents' prior, as the evaluators take them."""
        return Topics(self.components_, self._alphas(), vocabulary)
