r"""Supervised LDA by Monte Carlo EM (Murphy 2012, equations 27.65 and 27.66; Blei and McAuliffe 2010).

LDA's topics q_il of a document's tokens draw its label, too,

    p(c_i = 1 | q-bar_i) = sigm(w^T q-bar_i)                                                       (27.65)
    q-bar_ik = 1/L_i sum_l [q_il = k]                                                              (27.66)

The E step runs the collapsed Gibbs sampler, in which a token's topic has the label's probability as a further factor
(`gallery.extensions.models.response_kernel`), and averages q-bar; the M step is a logistic regression of the labels on
these means (section 27.4.4.1). Without `feedback` the factor is left out: LDA, and a logistic regression on what it
finds. The first round is without it in any case, for w is not known yet.
"""

from typing import ClassVar, Self

import numpy as np

from gallery.extensions.models.logistic_regression import logistic_regression
from gallery.extensions.models.response_kernel import Responses, State, check, sweep, topics_of
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, estimator
from heldout.topics import Topics
from heldout.typing import Ints


@estimator
class SLDA(TopicEstimator):
    """Supervised LDA with a binary label for each document.

    Args:
        n_components: K.
        alpha: the Dirichlet parameter of the weights, one number.
        gamma: the Dirichlet parameter of the topics.
        penalty: precision of the Gaussian prior of w.
        rounds: E and M steps.
        sweeps: of each E step; q-bar is averaged over the last half of them.
        feedback: whether labels draw topics.
        random_state: the chain's generator, or its seed.

    Attributes (after `fit`):
        components_: (K, V) the topics, from the mean of the counts over the last half of the last E step.
        alpha_: (K,).
        weights_: (K,) w.
        document_topics_: (D, K) the means of q-bar that w was fitted to.

    Examples:
        >>> texts = [("a", ["good", "fine"]), ("b", ["bad", "dull"]), ("c", ["good", "good"])]
        >>> model = SLDA(2, rounds=3, sweeps=10, random_state=0)
        >>> model.fit(Corpus.from_documents("tiny", texts), np.array([1, 0, 1])).weights_.shape
        (2,)
    """

    name: ClassVar[str] = "supervised LDA"

    alpha: float = 0.1
    gamma: float = 0.1
    penalty: float = 0.01
    rounds: int = 20
    sweeps: int = 10
    feedback: bool = True

    def fit(self, X: Corpus, y: Ints) -> Self:
        """Run Monte Carlo EM on documents X and (D,) labels 0 and 1.

        Raises:
            InputError: for other labels, a corpus without tokens, or a setting out of range.
        """
        check(self.name, self.alpha, self.gamma, self.rounds, self.sweeps)
        if len(y) != X.n_documents or X.n_tokens == 0:
            raise InputError(f"{self.name}: {len(y)} labels of {X.n_documents} documents, {X.n_tokens} tokens")
        D, K, random = X.n_documents, self.n_components, np.random.default_rng(self.random_state)
        self.alpha_, self.weights_ = np.full(K, self.alpha), np.zeros(K)
        pairs = np.column_stack([np.arange(D), np.full(D, D)])
        responses = Responses.of(pairs, y, D) if self.feedback else Responses.of(pairs[:0], y[:0], D)
        state = State.of(X, random.integers(K, size=X.n_tokens), K)
        for _ in range(self.rounds):
            shares, in_word, averaged = np.zeros((D, K)), np.zeros((X.n_words, K)), 0
            for number in range(self.sweeps):
                sweep(X, state, responses, self.weights_, 0.0, self.alpha_, self.gamma, random)
                if 2 * number >= self.sweeps - 1:
                    shares, in_word, averaged = shares + state.shares[:D], in_word + state.in_word, averaged + 1
            self.document_topics_ = shares / averaged
            self.weights_, _ = logistic_regression(self.document_topics_, y, self.penalty)
        self.components_ = topics_of(in_word / averaged, self.gamma)
        return self

    def topics(self, vocabulary: tuple[str, ...]) -> Topics:
        """Return the topics, as the evaluators take them."""
        return Topics(self.components_, self.alpha_, vocabulary)
