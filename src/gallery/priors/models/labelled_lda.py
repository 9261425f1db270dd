r"""Labelled LDA and partially labelled LDA (Ramage et al. 2009, 2011; Murphy 2012, section 27.4.4.2).

LDA whose documents have the topics of their labels alone. With x_i in {0, 1}^labels

    pi_i ~ Dir(alpha ⊙ x_i),                                                                         (labelled LDA)

a topic to each label. Partially labelled LDA gives every label `subtopics` topics, and all documents `common` topics
besides, which are no label's. Topics stand in the order common, then label by label. By collapsed Gibbs sampling
(`gallery.priors.models.lda_own_priors`).

Special cases, by the same kernel and so to the last digit: with all labels on every document labelled LDA is LDA;
one subtopic and no common topic make labelled LDA of partially labelled LDA, one label on all documents, or common
topics alone, LDA; and with one label to a document and one subtopic every token's topic is known: a mixture of
multinomials whose components are given, b_k = (gamma + c_vk) / (V gamma + c_k).
"""

from dataclasses import field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gallery.priors.models.lda_own_priors import OwnPriors
from heldout.errors import InputError
from heldout.models.estimator import Estimator, estimator
from heldout.typing import Floats


@estimator
class LabelledLDA(Estimator):
    """Labelled LDA; with subtopics or common topics, partially labelled LDA.

    Args:
        n_components: subtopics of a label.
        common: topics that all documents have.
        alpha: the Dirichlet parameter of the topics that a document has, one number.
        gamma: the Dirichlet parameter of b, one number.
        sweeps: Gibbs sweeps; `components_` averages the last half of them.
        random_state: the chain's generator, or its seed.

    Attributes (after `fit`):
        components_: (K, V), the mean over sweeps of (gamma + c_vk) / sum_v'; K = common + labels * subtopics.
        assignments_: (N,), the topics of the tokens in the last sample, document by document, a document's by word.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
        >>> labels = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
        >>> LabelledLDA(1, gamma=0.1, random_state=0).fit(counts, labels).components_.round(2)
        array([[0.49, 0.49, 0.01, 0.01],
               [0.01, 0.01, 0.49, 0.49]])
    """

    n_components: int = field(default=1, kw_only=False)
    common: int = 0
    alpha: float = 0.1
    gamma: float = 0.1
    sweeps: int = 200

    def fit(self, X: sp.sparray | NDArray[Any], y: Floats) -> Self:
        """Run the chain on (N, V) counts X and (N, labels) indicators y.

        Raises:
            InputError: for bad counts, labels that do not fit, a document without a topic, or a setting out of range.
        """
        if self.n_components < 1 or self.common < 0 or self.sweeps < 1 or not 0.0 < self.alpha < np.inf:
            raise InputError(
                f"labelled LDA: {self.n_components} subtopics, {self.common} common topics, {self.sweeps} sweeps, alpha"
                f" {self.alpha}; these must be at least 1, 0, 1, and positive"
            )
        chain = OwnPriors(X, self.priors(y), self.gamma, "labelled LDA")
        random, total = np.random.default_rng(self.random_state), np.zeros(0)
        for sweep in range(self.sweeps):
            chain.sweep(random)
            if 2 * sweep >= self.sweeps - 1:
                total = total + chain.components if len(total) else chain.components
        self.components_ = total / total.sum(axis=1, keepdims=True)
        self.assignments_, self.log_joint_ = chain.assignments, chain.log_joint()
        return self

    def priors(self, y: Floats) -> Floats:
        """Return the priors, (N, K), of documents with (N, labels) indicators: alpha on their topics, 0 elsewhere.

        Raises:
            InputError: for indicators that are not 0 and 1.
        """
        labels = np.asarray(y, dtype=np.float64)
        if labels.ndim != 2 or not np.isin(labels, (0.0, 1.0)).all():
            raise InputError("labelled LDA: give 0 or 1 for each document and label")
        own = np.repeat(labels, self.n_components, axis=1)
        return self.alpha * np.column_stack([np.ones((len(labels), self.common)), own])
